"""Accounts and limits that have somewhere to live."""

from collections.abc import Iterator

from config.accounting import Accounting
from config.checks.finding import Finding, circle_of
from config.checks.references import NORMAL, ROOT
from config.settings import Settings
from config.types import MemorySize

LEAST_MEMORY = MemorySize.parse("256Mi")
ENABLED = ("accounting", "enabled")


def limits_have_a_database(settings: Settings) -> Iterator[Finding]:
    """Accounts and QoS exist only in slurmdbd: without it slurmctld refuses partitions that name one."""
    if settings.accounting.enabled:
        return
    for name, each in settings.partitions.items():
        lists = {
            "allowAccounts": each.allow_accounts,
            "denyAccounts": each.deny_accounts,
            "allowQos": each.allow_qos,
            "denyQos": each.deny_qos,
            "qos": each.qos,
        }
        for key in (key for key, value in lists.items() if value):
            yield Finding(("partitions", name, key), "needs accounting; set accounting.enabled: true", (ENABLED,))
    for key, field in Accounting.model_fields.items():
        if key != "enabled" and getattr(settings.accounting, key) != field.default:
            message = "has no effect without accounting; set accounting.enabled: true, or take it away"
            yield Finding(("accounting", field.alias or key), message, (ENABLED,))


def one_database_is_meant(settings: Settings) -> Iterator[Finding]:
    """Whoever states both would wonder for long which one is used."""
    accounting = settings.accounting
    if accounting.database is not None and "mariadb" in accounting.model_fields_set:
        message = "is for a database of its own, and accounting.database names another; keep one of them"
        yield Finding(("accounting", "mariadb"), message, (("accounting", "database"),))


def certificates_are_looked_at(settings: Settings) -> Iterator[Finding]:
    """Whoever names a certificate believes that the connection is encrypted."""
    database = settings.accounting.database
    if database is not None and database.ca_secret is not None and not database.tls:
        path = ("accounting", "database")
        yield Finding((*path, "caSecret"), "has no effect without TLS; set tls: true beside it", ((*path, "tls"),))


def archives_are_written(settings: Settings) -> Iterator[Finding]:
    """Records are archived when they are purged, and never otherwise."""
    accounting = settings.accounting
    for index, record in enumerate(accounting.archive.records):
        path = ("accounting", "archive", "records", index)
        if getattr(accounting.purge, record) is None:
            message = f"`{record}` are never purged, and so never archived; set accounting.purge.{record}"
            yield Finding(path, message, (("accounting", "purge"),))
        if record in accounting.archive.records[:index]:
            yield Finding(path, f"`{record}` is listed twice; keep it once")


def mariadb_has_room(settings: Settings) -> Iterator[Finding]:
    """With less it would be killed when somebody asks for much."""
    memory = settings.accounting.mariadb.memory
    if memory < LEAST_MEMORY:
        yield Finding(
            ("accounting", "mariadb", "memory"), f"{memory} is too little to work with; give it {LEAST_MEMORY}"
        )


def accounts_are_a_tree(settings: Settings) -> Iterator[Finding]:
    """An account below itself could never be made."""
    accounts = settings.accounting.accounts
    told: set[str] = set()
    for name in accounts:
        if name == ROOT:
            yield Finding(("accounting", "accounts", ROOT), "is there by itself; choose another name")
        circle = circle_of(name, {each: account.parent for each, account in accounts.items()})
        if circle and name not in told:
            message = f"goes round in a circle ({' below '.join([*circle, name])}); hang one below {ROOT}"
            yield Finding(("accounting", "accounts", name, "parent"), message)
        told.update(circle)


def default_qos_is_allowed(settings: Settings) -> Iterator[Finding]:
    """Jobs that name no QoS must not be refused for the one that they get."""
    for name, each in settings.accounting.accounts.items():
        if each.default_qos is not None and each.default_qos not in each.qos:
            path = ("accounting", "accounts", name)
            yield Finding((*path, "defaultQos"), f"`{each.default_qos}` is not in qos; add it there", ((*path, "qos"),))


def jobs_get_a_qos_that_is_theirs(settings: Settings) -> Iterator[Finding]:
    """A job that names no QoS gets `normal`, and would be refused where that is not among those of its account."""
    accounting = settings.accounting
    for name, each in accounting.accounts.items():
        if "qos" in accounting.enforced and each.qos and NORMAL not in each.qos and each.default_qos is None:
            path = ("accounting", "accounts", name)
            message = f"leaves out `{NORMAL}`, which jobs get that name none; set defaultQos, or add it"
            yield Finding((*path, "qos"), message, ((*path, "defaultQos"), ("accounting", "enforce")))


def administrators_are_not_operators_too(settings: Settings) -> Iterator[Finding]:
    """A user has one level."""
    for index, name in enumerate(settings.accounting.operators):
        if name in settings.accounting.administrators:
            message = f"`{name}` is an administrator, who may do all that and more; keep one of them"
            yield Finding(("accounting", "operators", index), message, (("accounting", "administrators"),))
