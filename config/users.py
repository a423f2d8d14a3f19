"""`users` and `groups`: who may log in and run jobs."""

from typing import Annotated

from pydantic import Field

from config.section import Section
from config.types import AbsolutePath, Integer, String, UserName
from config.types.names import Named

# Below 1000 are the system's own users; 65534 is nobody, and the last values of 32 bits mean "no such user".
Id = Annotated[Integer, Field(ge=1000, le=2_147_483_647)]

_KEY_TYPES = (
    r"ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-ssh-ed25519@openssh\.com|sk-ecdsa-sha2-nistp256@openssh\.com"
)
SshKey = Annotated[
    String,
    Named(
        "a public ssh key: the one line of a .pub file, without options in front",
        rf"({_KEY_TYPES}) [A-Za-z0-9+/]{{40,}}={{0,3}}( [^\"\\]+)?",
        16384,
        ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExample1 alice@laptop",),
    ),
]


class User(Section):
    """Someone who may log in and run jobs. They have a home in the shared root and no password."""

    name: UserName = Field(examples=["researcher"])
    """The login name."""

    uid: Id = Field(examples=[10001])
    """The user id: files belong to it, so it stays the same for ever."""

    gid: Id | None = Field(default=None, examples=[10001])
    """The id of the user's primary group. If left out, a group of the user's own with the name and id of the user."""

    groups: list[UserName] = Field(default=[], examples=[["physics"]])
    """More groups, by name, from `groups`."""

    ssh_keys: list[SshKey] = Field(
        default=[],
        examples=[["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExample1 alice@laptop"]],
    )
    """Public keys that log in as the user. Without one the user exists but cannot log in."""

    shell: AbsolutePath = Field(default="/bin/bash", examples=["/bin/bash"])
    """The login shell, as a path in the shared root."""

    @property
    def primary_gid(self) -> int:
        """The id of the user's primary group."""
        return self.uid if self.gid is None else self.gid


class Group(Section):
    """A group that users share files and partitions by."""

    name: UserName = Field(examples=["physics"])
    """The name of the group."""

    gid: Id = Field(examples=[20001])
    """The group id: files belong to it, so it stays the same for ever."""
