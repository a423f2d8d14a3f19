"""What slurmdbd has: asked in its own pod, with its own sacctmgr, and read into the words of `slurm.accounts`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from operations.kubectl import ACCOUNTING, Cluster, last_line
from operations.problem import Problem
from operations.progress import wait
from operations.rolling import outdated, revisions
from slurm import places
from slurm.accounts import LEVELS, TRES, Things

SECONDS = 600  # a new version may have tables to convert
PODS = f"app.kubernetes.io/name={places.ACCOUNTING}"

SHOW = r"""
set -e
show() { echo "=== $1"; sacctmgr --noheader --parsable2 show "$@"; }
show cluster format=Cluster,ControlHost,RPC
show tres format=Type,Name
show qos format=Name,Priority,MaxWall,MaxJobsPU,MaxSubmitPU,MaxTRESPU,GrpTRES,Preempt,Flags,Description
show account format=Account,Organization,Description
show assoc "cluster=$1" format=Account,User,ParentName,Share,QOS,DefaultQOS
show user format=User,DefaultAccount,AdminLevel
"""
_QOS = (
    *("Priority", "MaxWall", "MaxJobsPerUser", "MaxSubmitJobsPerUser"),
    *("MaxTRESPerUser", "GrpTRES", "Preempt", "Flags", "Description"),
)
_LISTS = ("Preempt", "Flags")
_COUNT = re.compile(r"([0-9]+)([KMGTP]?)")
_POWERS = {letter: power for power, letter in enumerate(["", *"KMGTP"])}


# A slurmctld that goes away takes its address back, and leaves which protocol it spoke.
Standing = Literal["registered", "away", "never seen"]


@dataclass(frozen=True)
class Seen:
    """The clusters that slurmdbd knows, by how their slurmctld stands with it; the resources that it counts; and all
    things that could be declared."""

    clusters: Mapping[str, Standing]
    tres: frozenset[str]
    things: Things


def read(cluster: Cluster, name: str) -> Seen:
    """Problem with sacctmgr's own words if it does not answer."""
    done = cluster.slurmdbd(SHOW, name)
    if done.returncode:
        raise Problem(f"slurmdbd's pod {ACCOUNTING} does not answer: {last_line(done)}")
    return parse(done.stdout)


def wait_for(cluster: Cluster, name: str) -> Seen:
    """Until slurmdbd runs as its template says, and answers from its database."""
    answers: list[Seen] = []
    [revision] = revisions(cluster, PODS).values()

    def look() -> str | None:
        if not any(not outdated(pod, revision) for pod in cluster.list("pods", PODS)):
            return f"{ACCOUNTING} to run as its template says"
        try:
            answers.append(read(cluster, name))
        except Problem as problem:
            return f"slurmdbd to answer ({problem})"
        return None

    hint = f"Look at it with: kubectl -n {cluster.namespace} logs {ACCOUNTING} --container slurmdbd"
    wait(look, SECONDS, hint, 0.5)
    return answers[0]


def parse(text: str) -> Seen:
    """The output of SHOW."""
    words = re.split(r"^=== (\w+)$", text, flags=re.MULTILINE)
    parts = {
        name: [line.split("|") for line in rows.splitlines() if line]
        for name, rows in zip(words[1::2], words[2::2], strict=True)
    }
    things: dict[str, dict[str, str]] = {}
    for name, *row in parts["qos"]:
        things[f"QOS {name}"] = {field: _value(field, value) for field, value in zip(_QOS, row, strict=True)}
    about = {row[0]: row[1:] for row in parts["account"]}
    for account, user, parent, share, qos, default in parts["assoc"]:
        if user:
            things[f"user {user} in {account}"] = {}
        else:
            organization, description = about.get(account, ["", ""])
            things[f"account {account}"] = {
                "Description": description.lower(),
                "Organization": organization.lower(),
                "Parent": parent,
                "Fairshare": share,
                "QOS": _sorted(qos.split(",")),
                "DefaultQOS": default,
            }
    for user, default, level in parts["user"]:
        things[f"user {user}"] = {"DefaultAccount": default, "AdminLevel": _level(level)}
    return Seen(
        {name: _standing(host, protocol) for name, host, protocol in parts["cluster"]},
        frozenset("/".join(each for each in row if each).lower() for row in parts["tres"]),
        things,
    )


def _standing(host: str, protocol: str) -> Standing:
    if host:
        return "registered"
    return "never seen" if protocol in ("", "0") else "away"


def _value(field: str, value: str) -> str:
    if field in TRES:
        return _sorted(map(_counted, value.split(",")))
    if field in _LISTS:
        return _sorted(value.split(","))
    return value.lower() if field == "Description" else value


def _counted(limit: str) -> str:
    """`mem=2G` as `mem=2048`: sacctmgr takes numbers and shows them with the largest unit that is exact."""
    name, _, value = limit.partition("=")
    count = _COUNT.fullmatch(value)
    if not count:
        return limit.lower()
    base = _POWERS["M"] if name.lower() == "mem" and count[2] else 0
    return f"{name.lower()}={int(count[1]) * 1024 ** (_POWERS[count[2]] - base)}"


def _level(shown: str) -> str:
    return next((level for level in LEVELS if level.lower().startswith(shown.lower()[:5])), shown)


def _sorted(each: Iterable[str]) -> str:
    return ",".join(sorted(filter(None, each)))
