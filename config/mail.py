"""`slurm.mail`: what becomes of the mail that users ask Slurm for."""

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from config.section import Section
from config.types import Choice, DnsName, Hostname, Port, Script, String
from config.types.names import Named

Tls = Annotated[Literal["none", "starttls", "tls"], Choice()]
Address = Annotated[
    String,
    Named("a mail address", r"[A-Za-z0-9._%+-]+@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?", 254, ("slurm@example.com",)),
]


class Smtp(Section):
    """A mail server that takes mail from the controller's pod without a password."""

    host: Hostname = Field(examples=["mail.example.com"])
    """Its name or address, as the controller's pod reaches it."""

    port: Port = Field(default=25, examples=[587])
    """Its port."""

    tls: Tls = Field(default="none", examples=["starttls"])
    """`none`, `starttls` (mail does not go without it), or `tls` from the first byte. The certificate is checked."""

    sender: Address = Field(examples=["slurm@example.com"])
    """Whom the mail is from."""


class Mail(Section):
    """How Slurm sends mail: through a server, or by a program of your own."""

    smtp: Smtp | None = Field(default=None, examples=[{"host": "mail.example.com", "sender": "slurm@example.com"}])
    """The mail server."""

    program: Script | None = Field(
        default=None, examples=['#!/bin/sh\ncurl --silent --data "$2" https://chat.example.com/$3\n']
    )
    """A script that is run in the controller's pod for each mail, with `-s`, the subject and the recipient, and what
    Slurm tells of the job in its environment. sh, python3 (its smallest modules) and curl are there."""

    domain: DnsName | None = Field(default=None, examples=["example.com"])
    """What follows the @ where a user names none (MailDomain)."""

    @model_validator(mode="after")
    def _one_way(self) -> "Mail":
        """A mail is sent once."""
        if (self.smtp is None) == (self.program is None):
            raise PydanticCustomError("slipway", "must say exactly one of smtp, program", {})
        if self.program and not self.program.startswith("#!/"):
            raise PydanticCustomError("slipway", "has a program that does not begin with #!/ and who runs it", {})
        return self
