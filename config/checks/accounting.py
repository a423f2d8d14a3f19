"""Accounts and limits that have somewhere to live."""

from collections.abc import Iterator

from config.accounting import Accounting
from config.checks.finding import Finding, circle_of
from config.checks.references import ROOT
from config.settings import Settings

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
    if accounting.database is not None and "storage" in accounting.model_fields_set:
        message = "is for a database of its own, and accounting.database names another; keep one of them"
        yield Finding(("accounting", "storage"), message, (("accounting", "database"),))


def certificates_are_looked_at(settings: Settings) -> Iterator[Finding]:
    """Whoever names a certificate believes that the connection is encrypted."""
    database = settings.accounting.database
    if database is not None and database.ca_secret is not None and not database.tls:
        path = ("accounting", "database")
        yield Finding((*path, "caSecret"), "has no effect without TLS; set tls: true beside it", ((*path, "tls"),))


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
