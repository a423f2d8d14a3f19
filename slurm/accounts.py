"""What a stack declares to slurmdbd: QoS, accounts, who may charge them, and administrators; and the way from one such
declaration to another, in sacctmgr's commands.

A thing is known by what it is and its name, such as `account physics`. Its fields are in the words of `sacctmgr modify`
with values as sacctmgr shows them, "" where there is none: so what is declared, what is written down and what slurmdbd
has can be compared with each other."""

import shlex
from collections.abc import Iterable, Iterator, Mapping

from config import Settings
from config.accounting import Account, Accounting, Qos
from config.types import Duration
from slurm.planning.step import Change, Step, written

Fields = Mapping[str, str]
Things = Mapping[str, Fields]

NORMAL = "normal"  # the QoS that slurmdbd makes by itself
ROOT = "root"
TRES = ("MaxTRESPerUser", "GrpTRES")
LEVELS = ("None", "Operator", "Administrator")

# What takes a value back to none.
_NONE = {"Priority": "0", "Preempt": ""}
_LIVE = "slurmdbd tells slurmctld at once. Jobs that run go on."
_GONE = "The update stops where jobs still use it. What was recorded stays."
_WHERE = {"QOS": "qos", "account": "account", "user": "user"}


def declared(settings: Settings) -> dict[str, dict[str, str]]:
    """In the order in which they can be made."""
    accounting = settings.accounting
    if not accounting.enabled:
        return {}
    found = {f"QOS {name}": _qos(name, accounting.qos[name]) for name in _preempted_first(accounting.qos)}
    for name in _parents_first(accounting.accounts):
        found[f"account {name}"] = _account(accounting, name, accounting.accounts[name])
    for user, charged in _charged(accounting).items():
        found |= {f"user {user} in {account}": {} for account in charged}
        found[f"user {user}"] = {"DefaultAccount": charged[0], "AdminLevel": _level(accounting, user)}
    return found


def _qos(name: str, qos: Qos) -> dict[str, str]:
    minutes = qos.max_wall.minutes if qos.max_wall else None
    return {
        "Description": (qos.description or ("Normal QOS default" if name == NORMAL else name)).lower(),
        "Priority": str(qos.priority),
        "MaxWall": "" if minutes is None else str(Duration(minutes * 60)),
        "MaxJobsPerUser": _number(qos.max_jobs_per_user),
        "MaxSubmitJobsPerUser": _number(qos.max_submit_jobs_per_user),
        "MaxTRESPerUser": _tres(qos.max_tres_per_user),
        "GrpTRES": _tres(qos.grp_tres),
        "Preempt": ",".join(sorted(qos.preempt)),
        "Flags": ",".join(sorted(qos.flags)),
    }


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _tres(counts: Mapping[str, int]) -> str:
    return ",".join(f"{name}={count}" for name, count in sorted((each.lower(), n) for each, n in counts.items()))


def _account(accounting: Accounting, name: str, account: Account) -> dict[str, str]:
    allowed, default = _allowed(accounting, name)
    return {
        "Description": (account.description or name).lower(),
        "Organization": (account.organization or name).lower(),
        "Parent": account.parent,
        "Fairshare": str(account.fairshare),
        "QOS": ",".join(sorted(allowed)),
        "DefaultQOS": default,
    }


def _allowed(accounting: Accounting, name: str) -> tuple[list[str], str]:
    """The QoS of an account, and its default: its own, or what it has from above. Slurm hands them down as well, but
    shows no difference between the two."""
    if name not in accounting.accounts:
        return [NORMAL], ""
    account = accounting.accounts[name]
    above, default = _allowed(accounting, account.parent)
    allowed = account.qos or above
    if account.default_qos is not None:
        return allowed, account.default_qos
    if not default or default in allowed:
        return allowed, default
    return allowed, NORMAL if NORMAL in allowed else allowed[0]


def _charged(accounting: Accounting) -> dict[str, list[str]]:
    """The accounts of each user. Who administers and has none is in root: slurmdbd knows nobody without one."""
    found: dict[str, list[str]] = {}
    for name, account in accounting.accounts.items():
        for user in account.users:
            if name not in found.setdefault(user, []):
                found[user].append(name)
    for user in (*accounting.administrators, *accounting.operators):
        found.setdefault(user, [ROOT])
    return found


def _level(accounting: Accounting, user: str) -> str:
    none, operator, administrator = LEVELS
    return administrator if user in accounting.administrators else operator if user in accounting.operators else none


def _preempted_first(qos: Mapping[str, Qos]) -> list[str]:
    return _before(qos, {name: each.preempt for name, each in qos.items()})


def _parents_first(accounts: Mapping[str, Account]) -> list[str]:
    return _before(accounts, {name: [each.parent] for name, each in accounts.items()})


def _before(names: Iterable[str], needs: Mapping[str, list[str]]) -> list[str]:
    """Each after what it needs; of a circle, in the order in which it stands."""
    found: dict[str, None] = {}

    def add(name: str, way: tuple[str, ...]) -> None:
        for other in needs.get(name, ()):
            if other in needs and other not in (*way, name):
                add(other, (*way, name))
        found.setdefault(name)

    for name in names:
        add(name, ())
    return list(found)


def account_steps(before: Things, after: Things, cluster: str) -> tuple[Step, ...]:
    """What is new, then what changes, then what goes: whatever is named exists. Steps of one thing share a command."""
    return (
        *(step for key in after if key not in before for step in _added(key, after[key], cluster)),
        *(step for key in after if key in before for step in _changed(key, before[key], after[key], cluster)),
        *(step for key in _leaving(before, after) for step in _removed(key, before[key], cluster)),
    )


def _added(key: str, fields: Fields, cluster: str) -> Iterator[Step]:
    kind, name, account = parts(key)
    set_ = {field: value for field, value in fields.items() if value}
    if kind == "user" and not account:
        # Made with its first account, which is its default then.
        if (level := fields["AdminLevel"]) != LEVELS[0]:
            command = _command("modify", key, cluster, {"AdminLevel": level})
            yield _step(key, "AdminLevel", (LEVELS[0], level), _LIVE, command)
        return
    words = [*([f"account={account}"] if account else []), *([f"cluster={cluster}"] if kind != "QOS" else [])]
    command = _line("add", _WHERE[kind], name, *words, *(f"{field}={value}" for field, value in set_.items()))
    yield _step(key, "(new)", (None, written(set_) or "may charge it"), _LIVE, command)


def _changed(key: str, before: Fields, after: Fields, cluster: str) -> Iterator[Step]:
    differing = {field: (before.get(field, ""), value) for field, value in after.items() if before.get(field) != value}
    if differing:
        command = _command("modify", key, cluster, {field: _new(field, *each) for field, each in differing.items()})
        for field, change in differing.items():
            yield _step(key, field, change, _LIVE, command)


def _removed(key: str, before: Fields, cluster: str) -> Iterator[Step]:
    kind, name, account = parts(key)
    if kind == "QOS" and name == NORMAL:
        yield from _changed(key, before, _qos(NORMAL, Qos()), cluster)
    elif kind == "user" and not account:
        # It goes with its last account. Where it has others, it keeps no rights that were given to it here.
        if (level := before.get("AdminLevel", LEVELS[0])) != LEVELS[0]:
            command = _command("modify", key, cluster, {"AdminLevel": LEVELS[0]})
            yield _step(key, "AdminLevel", (level, LEVELS[0]), _LIVE, command)
    else:
        shown = written({field: value for field, value in before.items() if value}) or "may charge it"
        yield _step(key, "(gone)", (shown, None), _GONE, _command("delete", key, cluster, {}))


def _leaving(before: Things, after: Things) -> list[str]:
    """Users before accounts, accounts before their parents, and QoS last; of a user, the default account last."""
    gone = [key for key in before if key not in after]
    users = [key for key in gone if parts(key)[0] == "user"]
    users.sort(key=lambda key: (bool(parts(key)[2]), _is_default(before, key)))
    accounts = {parts(key)[1]: before[key].get("Parent", ROOT) for key in gone if parts(key)[0] == "account"}
    ordered = reversed(_before(accounts, {name: [parent] for name, parent in accounts.items()}))
    return [*users, *(f"account {name}" for name in ordered), *(key for key in gone if parts(key)[0] == "QOS")]


def _is_default(things: Things, key: str) -> bool:
    _, user, account = parts(key)
    return things.get(f"user {user}", {}).get("DefaultAccount") == account


def parts(key: str) -> tuple[str, str, str]:
    """What it is, its name, and for a user in an account that account."""
    kind, name, *rest = key.split()
    return kind, name, rest[1] if rest else ""


def _command(verb: str, key: str, cluster: str, fields: Fields) -> str:
    kind, name, account = parts(key)
    where = [f"name={name}"]
    where += [f"account={account}"] if account else []
    # A level is a user's on all clusters that share slurmdbd, and so is a QoS.
    where += [f"cluster={cluster}"] if kind == "account" or account or "DefaultAccount" in fields else []
    set_ = ["set", *(f"{field}={value}" for field, value in fields.items())] if fields else []
    return _line(verb, _WHERE[kind], "where", *where, *set_)


def _line(*words: str) -> str:
    return shlex.join(["sacctmgr", "--immediate", *words])


def _new(field: str, old: str, new: str) -> str:
    """The value to set: what is to be none has to be said so, and of resources each by itself."""
    if field in TRES:
        gone = {each.partition("=")[0] for each in old.split(",") if each}
        gone -= {each.partition("=")[0] for each in new.split(",")}
        return ",".join([*([new] if new else []), *(f"{each}=-1" for each in sorted(gone))])
    return new or _NONE.get(field, "-1")


def _step(key: str, field: str, change: Change, reason: str, command: str) -> Step:
    return Step("live", key, field, *change, reason, (command,))
