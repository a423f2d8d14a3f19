"""Everything that is named exists."""

from collections.abc import Iterable, Iterator

from config.bridge import EXTERNAL
from config.checks.finding import Finding
from config.messages import did_you_mean
from config.partitions import ALL
from config.paths import Path
from config.settings import Settings

SERVING = ("controller", "login", "rest", "accounting", "bridge")
ROOT = "root"
NORMAL = "normal"


def _missing(kind: str, name: str, known: Iterable[str], path: Path, collection: str, more: str = "") -> Finding:
    names = list(known)
    guess = did_you_mean(name, names) or (f"; there are {', '.join(names)}" if names else "; there are none")
    end = "" if not more or guess.endswith("?") else "."
    return Finding(path, f"no {kind} is named `{name}`{guess}{end}{more and ' '}{more}", ((collection,),))


def node_filters_exist(settings: Settings) -> Iterator[Finding]:
    """Pods without a filter could land anywhere."""
    serving = {section: getattr(settings, section) for section in SERVING}
    named = {(name,): each.node_filter for name, each in serving.items() if getattr(each, "enabled", True)}
    named |= {settings.path_of(name): each.node_filter for name, each in settings.all_node_sets.items()}
    for path, name in named.items():
        if name not in settings.node_filters:
            more = f"Name one of them, or declare nodeFilters.{name}"
            yield _missing("node filter", name, settings.node_filters, (*path, "nodeFilter"), "nodeFilters", more)


def node_sets_exist(settings: Settings) -> Iterator[Finding]:
    """A partition over a NodeSet that is not there makes slurmctld refuse the whole file."""
    for partition, each in settings.partitions.items():
        path = ("partitions", partition, "nodeSets")
        for index, name in enumerate(each.node_sets):
            if name == ALL and len(each.node_sets) > 1:
                yield Finding((*path, index), "ALL stands alone; take the other names away")
            elif name == EXTERNAL and settings.bridge.external_nodes:
                continue
            elif name == EXTERNAL:
                message = "`bridge` stands for nodes of the bridge; say in bridge.externalNodes which ones"
                yield Finding((*path, index), message, (("bridge", "externalNodes"),))
            elif name != ALL and name not in settings.all_node_sets:
                yield _missing("NodeSet", name, settings.all_node_sets, (*path, index), "nodeSets")
            elif name in each.node_sets[:index]:
                yield Finding((*path, index), f"`{name}` is listed twice; keep it once")


def partitions_exist(settings: Settings) -> Iterator[Finding]:
    """Pods of the bridge wait in a partition, and a partition may point to another one."""
    bridge = settings.bridge.partition
    if bridge is not None and bridge not in settings.partitions:
        yield _missing("partition", bridge, settings.partitions, ("bridge", "partition"), "partitions")
    for name, each in settings.partitions.items():
        alternate = each.extra.get("Alternate")
        if alternate is not None and alternate not in settings.partitions:
            path = ("partitions", name, "extra", "Alternate")
            yield _missing("partition", alternate, settings.partitions, path, "partitions")


def users_exist(settings: Settings) -> Iterator[Finding]:
    """Rights are given to people who can log in."""
    users = [user.name for user in settings.users]
    accounting = settings.accounting
    lists: dict[Path, list[str]] = {
        ("accounting", "administrators"): accounting.administrators,
        ("accounting", "operators"): accounting.operators,
    }
    lists |= {("accounting", "accounts", name, "users"): each.users for name, each in accounting.accounts.items()}
    for path, names in lists.items():
        for index, name in enumerate(names):
            if name not in users:
                yield _missing("user", name, users, (*path, index), "users")


def groups_exist(settings: Settings) -> Iterator[Finding]:
    """A group that is not there has no members, so that a partition for it is a partition for nobody."""
    declared = [group.name for group in settings.groups]
    own = [user.name for user in settings.users if user.gid is None]
    lists: dict[Path, list[str]] = {
        ("users", index, "groups"): each.groups for index, each in enumerate(settings.users)
    }
    lists |= {("partitions", name, "allowGroups"): each.allow_groups for name, each in settings.partitions.items()}
    for path, names in lists.items():
        for index, name in enumerate(names):
            if name not in (ROOT, *declared, *own):
                more = f"Declare it in groups, with its gid, if the shared root has a group `{name}`"
                yield _missing("group", name, declared, (*path, index), "groups", more)
    gids = {group.gid for group in settings.groups} | {user.uid for user in settings.users if user.gid is None}
    for index, user in enumerate(settings.users):
        if user.gid is not None and user.gid not in gids:
            message = (
                f"no group has the gid {user.gid}; declare it in groups, or leave gid out for a group of their own"
            )
            yield Finding(("users", index, "gid"), message, (("groups",), ("users",)))


def qos_exist(settings: Settings) -> Iterator[Finding]:
    """slurmctld does not start with a partition whose QoS is not there."""
    accounting = settings.accounting
    known = [NORMAL, *accounting.qos]
    lists: dict[Path, list[str]] = {}
    for name, qos in accounting.qos.items():
        lists["accounting", "qos", name, "preempt"] = qos.preempt
    for name, account in accounting.accounts.items():
        lists["accounting", "accounts", name, "qos"] = account.qos
    for path, names in lists.items():
        for index, name in enumerate(names):
            if name not in known:
                yield _in_accounting("QoS", name, known, (*path, index), "qos")
    for partition, each in settings.partitions.items():
        if each.qos is not None and each.qos not in known:
            yield _in_accounting("QoS", each.qos, known, ("partitions", partition, "qos"), "qos")
        if accounting.qos:
            yield from _listed(partition, "QoS", {"allowQos": each.allow_qos, "denyQos": each.deny_qos}, known)


def accounts_exist(settings: Settings) -> Iterator[Finding]:
    """An account hangs below one that exists, and a partition is for such as exist. Where none is declared, they are
    managed elsewhere, and nobody can tell."""
    accounts = settings.accounting.accounts
    for name, each in accounts.items():
        if each.parent not in (ROOT, *accounts):
            path = ("accounting", "accounts", name, "parent")
            yield _in_accounting("account", each.parent, [ROOT, *accounts], path, "accounts")

    if accounts:
        for partition, each in settings.partitions.items():
            lists = {"allowAccounts": each.allow_accounts, "denyAccounts": each.deny_accounts}
            yield from _listed(partition, "account", lists, [ROOT, *accounts])


def _listed(partition: str, kind: str, lists: dict[str, list[str]], known: list[str]) -> Iterator[Finding]:
    """Names in the access lists of a partition that nobody has declared."""
    for key, names in lists.items():
        for index, name in enumerate(names):
            if name not in known:
                collection = "qos" if kind == "QoS" else "accounts"
                yield _in_accounting(kind, name, known, ("partitions", partition, key, index), collection)


def _in_accounting(kind: str, name: str, known: list[str], path: Path, collection: str) -> Finding:
    found = _missing(kind, name, known, path, collection, f"Declare it in accounting.{collection}")
    return Finding(found.path, found.message, (("accounting", collection),))
