"""Where things are inside the cluster: DNS names of the pods, and the paths that their files are mounted at."""

from config import Settings

CONTROLLER = "controller"  # the StatefulSet, its headless Service, and the first half of its pod's name
ACCOUNTING = "accounting"
REST = "rest"
DATABASE = "database"

STATE = "/var/spool/slurmctld"
SPOOL = "/var/spool/slurmd"
KEYS = "/etc/slurm-keys"
JAIL = "/mnt/jail"  # the shared root of all users
PRIVATE = "/var/spool/slurm-private"  # where the private folders of jobs really are; not in SPOOL, which jobs see
ARCHIVE = "/var/spool/slurm-archive"
# Prints the database's password, which is in a file that is mounted from a Secret.
PASSWORD_SCRIPT = "/run/slurmdbd/database-password"  # noqa: S105 -- no password, but where one is
# Authorities that the certificate of a database may be signed by: those of a Secret, or all that the image knows.
DATABASE_CA = "/etc/slurm-database/ca.crt"
PUBLIC_CAS = "/etc/ssl/certs/ca-certificates.crt"
# No key of slurm.conf says where auth/slurm finds its key: this variable does, for every daemon and command. With
# auth/munge it must not be set, or slurmctld takes slurm.conf for a changed AuthType and ends.
SLURM_KEY = ("SLURM_SACK_KEY", f"{KEYS}/slurm.key")

POWER = "/usr/local/sbin/power"  # in the controller's image: gives worker pods to the nodes that Slurm wants to run
HEALTH = "/usr/local/sbin/health"  # in the worker's image: finds out whether a node can run jobs

MAIL = "/usr/local/sbin/mail"  # in the controller's image: sends mail as mail.conf says, or runs the user's own program

SLURMCTLD_PORT = 6817
SLURMD_PORT = 6818
SLURMDBD_PORT = 6819
SLURMRESTD_PORT = 6820
MARIADB_PORT = 3306


def service(settings: Settings, name: str) -> str:
    """The DNS name of a Service, fully qualified: no search list is asked, and no resolver outside the cluster."""
    return f"{name}.{settings.cluster.namespace}.svc.{settings.cluster.domain}"


def pod(settings: Settings, stateful_set: str, ordinal: str = "0") -> str:
    """The DNS name of a pod of a StatefulSet, or of several with a hostlist range as `ordinal`."""
    return f"{stateful_set}-{ordinal}.{service(settings, stateful_set)}"


def controllers(settings: Settings) -> list[tuple[str, str]]:
    """Name and address of the pod of each slurmctld, the one that is asked first in front."""
    ordinals = ("0", "1") if settings.controller.backup else ("0",)
    return [(f"{CONTROLLER}-{ordinal}", pod(settings, CONTROLLER, ordinal)) for ordinal in ordinals]


def slurmdbd(settings: Settings) -> str:
    """Where slurmdbd is found."""
    return pod(settings, ACCOUNTING)


def slurmctld(settings: Settings) -> str:
    """Where slurmctld listens, as `host:port`, and where its backup does."""
    return ",".join(f"{address}:{SLURMCTLD_PORT}" for _, address in controllers(settings))
