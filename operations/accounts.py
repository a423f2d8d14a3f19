"""`operations/run accounts` and `settle-accounts`: bring slurmdbd to the accounts, QoS and users of the stack.

The first runs before slurmctld hears of new files: what a partition names is there then. The second runs after it: what
nobody names any more can go then, and slurmctld has told slurmdbd of the resources that limits may name.

Only what an update has declared is ever removed, so that what administrators add with sacctmgr stays; and nothing that
jobs use. What was declared is written down in the cluster, as `operations.record` does it for files."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO

from operations.kubectl import CONTROLLER, PATIENCE, Cluster, last_line, silent
from operations.problem import Problem
from operations.progress import say, wait
from operations.slurmdbd import Seen, read, wait_for
from slurm import places
from slurm.accounts import TRES, Things, account_steps, parts
from slurm.planning.step import Step

RECORD = "slurm-accounts"
FORGET_NUMBER = f"rm -f {places.STATE}/clustername"
QUEUE = "squeue --noheader --format='%i|%a|%u|%q|%T'"
ADD_CLUSTER = 'sacctmgr --immediate add cluster "$1"'
REGISTER_SECONDS = 180
SHOWN = 8


@dataclass(frozen=True)
class Wishes:
    """`name` is the cluster's name in Slurm; `things` all that the stack declares."""

    cluster: Cluster
    name: str
    things: Things

    @classmethod
    def read(cls, environment: Mapping[str, str], stdin: IO[str] = sys.stdin) -> "Wishes":
        namespace = environment["SLIPWAY_NAMESPACE"]
        return cls(Cluster(namespace, PATIENCE), environment["SLIPWAY_CLUSTER"], json.loads(stdin.read()))


@dataclass(frozen=True)
class Record:
    """What updates have declared and not yet taken back. `unfinished` while one is under way, or did not end."""

    things: Things | None = None
    unfinished: bool = False

    @classmethod
    def read(cls, cluster: Cluster, seconds: float = 60) -> "Record":
        words = ["get", "configmap", RECORD, "--output", "json", "--ignore-not-found"]
        shown = cluster.kubectl(*words, f"--request-timeout={seconds:.0f}s", seconds=seconds + 5)
        if shown.returncode:
            raise Problem(f"Kubernetes does not answer: {last_line(shown)}")
        data = json.loads(shown.stdout)["data"] if shown.stdout.strip() else {}
        return cls(json.loads(data["declared"]) if "declared" in data else None, "unfinished" in data)

    def write(self, cluster: Cluster) -> None:
        data = {"declared": json.dumps(dict(self.things or {}))}
        cluster.config_map(RECORD, data | ({"unfinished": "yes"} if self.unfinished else {}))


def declare(wishes: Wishes) -> None:
    """Add and change; remove nothing."""
    seen = _seen(wishes)
    record = Record.read(wishes.cluster)
    _refuse_removals(wishes, record, seen)
    steps = account_steps(_compared(wishes, seen, wishes.things), _countable(wishes, seen), wishes.name)
    gone = {key: fields for key, fields in (record.things or {}).items() if key not in wishes.things}
    if steps or gone or not record.things:
        Record({**gone, **wishes.things}, unfinished=True).write(wishes.cluster)
    _run(wishes, steps)
    say("slurmdbd answers, and has what the stack declares" if not steps else "slurmdbd has what the stack declares")


def settle(wishes: Wishes) -> None:
    """Remove what is declared no more, and see that slurmdbd has all the rest and nothing of that."""
    _wait_for_slurmctld(wishes)
    seen = _seen(wishes)
    record = Record.read(wishes.cluster)
    _refuse_removals(wishes, record, seen)
    ours = {**(record.things or {}), **wishes.things}
    steps = account_steps(_compared(wishes, seen, ours), wishes.things, wishes.name)
    _run(wishes, steps)
    if steps:
        left = account_steps(_compared(wishes, read(wishes.cluster, wishes.name), ours), wishes.things, wishes.name)
        if left:
            raise Problem("slurmdbd does not show what it was told:\n" + "\n".join(map(_told, left[:SHOWN])))
    Record(wishes.things).write(wishes.cluster)
    say("accounts are verified" if steps else "accounts are as the stack declares them")


def _seen(wishes: Wishes) -> Seen:
    """What slurmdbd has, with this cluster in it: before slurmctld first starts, nobody has told slurmdbd of it."""
    seen = wait_for(wishes.cluster, wishes.name)
    if seen.clusters.get(wishes.name, "never seen") == "never seen":
        _adopt(wishes.cluster)
    if wishes.name in seen.clusters:
        return seen
    say(f"adding cluster {wishes.name}")
    done = wishes.cluster.slurmdbd(ADD_CLUSTER, wishes.name)
    if done.returncode:
        raise Problem(f"slurmdbd does not take cluster {wishes.name}: {_words(done.stdout, done.stderr)}")
    return read(wishes.cluster, wishes.name)


def _adopt(cluster: Cluster) -> None:
    """A slurmctld that has run without this slurmdbd has given itself a number, and would not start with the one that
    slurmdbd gives it. It takes that one if it does not find its own. Where a slurmctld has registered before, numbers
    stay: the check keeps two clusters of one name from writing to one database."""
    done = cluster.controller(FORGET_NUMBER)
    if done.returncode and not silent(done):
        raise Problem(f"{CONTROLLER} does not forget the number of its cluster: {last_line(done)}")


def _wait_for_slurmctld(wishes: Wishes) -> None:
    """Until it has spoken to slurmdbd: from then on it hears of every change, and slurmdbd knows what it counts."""

    def look() -> str | None:
        try:
            standing = read(wishes.cluster, wishes.name).clusters.get(wishes.name)
        except Problem as problem:
            return f"slurmdbd to answer ({problem})"
        return None if standing == "registered" else "slurmctld to register with slurmdbd"

    hint = f"Look at what it says with: kubectl -n {wishes.cluster.namespace} logs {CONTROLLER} --container slurmctld"
    wait(look, REGISTER_SECONDS, hint, 0.5)


def _compared(wishes: Wishes, seen: Seen, ours: Things) -> Things:
    """Of what slurmdbd has, that which is ours. A user's choice among the accounts that the stack gives is theirs."""
    found = {key: dict(fields) for key, fields in seen.things.items() if key in ours}
    for key, fields in found.items():
        kind, user, account = parts(key)
        wanted = wishes.things.get(key)
        if kind == "user" and not account and wanted and f"user {user} in {fields['DefaultAccount']}" in wishes.things:
            fields["DefaultAccount"] = wanted["DefaultAccount"]
    return found


def _countable(wishes: Wishes, seen: Seen) -> Things:
    """Without limits of resources that slurmdbd has never heard of: slurmctld tells it of them when it starts."""
    found: dict[str, Mapping[str, str]] = {}
    for key, fields in wishes.things.items():
        limits = {field: fields[field].split(",") for field in TRES if fields.get(field)}
        known = {
            field: [each for each in limit if each.partition("=")[0] in seen.tres] for field, limit in limits.items()
        }
        if known != limits:
            say(f"{key}: limits of resources that slurmdbd does not know yet come when slurmctld has told it of them")
        found[key] = {**fields, **{field: ",".join(limit) for field, limit in known.items()}}
    return found


def _refuse_removals(wishes: Wishes, record: Record, seen: Seen) -> None:
    """Of what jobs use, or what holds something that nobody has declared."""
    going = [key for key in record.things or {} if key not in wishes.things and key in seen.things]
    reasons = [*_held(wishes, seen, going), *(_used(wishes.cluster, going) if going else ())]
    if reasons:
        raise Problem("\n".join(reasons))


def _held(wishes: Wishes, seen: Seen, going: list[str]) -> list[str]:
    """Accounts that others have put something below: it would go with them."""
    after = {key: wishes.things.get(key, fields) for key, fields in seen.things.items() if key not in going}
    below: dict[str, list[str]] = {}
    for key, fields in after.items():
        kind, name, account = parts(key)
        if above := account or (fields.get("Parent", "") if kind == "account" else ""):
            below.setdefault(f"account {above}", []).append(f"{kind} {name}")
    return [
        f"{key} cannot go: {_few(below[key])} in it is not of this stack. Remove that with sacctmgr, or keep the "
        "account in accounting.accounts."
        for key in going
        if key in below
    ]


def _used(cluster: Cluster, going: list[str]) -> list[str]:
    """What jobs use, running or waiting: slurmctld would hold or lose them."""
    done = cluster.slurm(QUEUE)
    used: dict[str, list[str]] = {}
    for line in done.splitlines():
        job, account, user, qos, state = line.split("|")
        for key in (f"QOS {qos}", f"account {account}", f"user {user} in {account}"):
            used.setdefault(key, []).append(f"{job} ({user}, {state.lower()})")
    return [
        f"{key} cannot go: jobs use it: {_few(used[key])}. Wait until they have ended, or cancel them, and run the "
        "update again; or keep it in the stack config."
        for key in going
        if key in used
    ]


def _few(names: list[str]) -> str:
    rest = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _run(wishes: Wishes, steps: tuple[Step, ...]) -> None:
    """One command after the other; the first that sacctmgr refuses ends it. The next run goes on from there."""
    if not steps:
        return
    for step in steps:
        say(_told(step))
    commands = list(dict.fromkeys(command for step in steps for command in step.commands))
    script = "\n".join(f"{command} || {{ echo {number} >&3; exit 1; }}" for number, command in enumerate(commands))
    done = wishes.cluster.slurmdbd(f"exec 3>&2 2>&1\n{script}\n", seconds=60 + 2 * len(commands))
    if done.returncode:
        number, *_ = done.stderr.split() or [""]
        if not number.isdigit():
            problem = f"slurmdbd's pod does not answer: {last_line(done)}"
            raise Problem(f"{problem}\nRun `pulumi up` again: it goes on from there.")
        raise Problem(f"sacctmgr refused `{commands[int(number)]}`: {_words(done.stdout[-2000:])}")


def _told(step: Step) -> str:
    if step.old is None:
        return f"{step.object}: new"
    if step.new is None:
        return f"{step.object}: gone"
    return f"{step.object}: {step.key} {step.old or '(none)'} -> {step.new or '(none)'}"


def _words(*said: str) -> str:
    """What sacctmgr said, in one line."""
    return " ".join(" ".join(said).split()) or "no word"
