"""Where things are inside the cluster: DNS names of the pods, and the paths that their files are mounted at."""

from config import Settings

CONTROLLER = "controller"  # the StatefulSet, its headless Service, and the first half of its pod's name
ACCOUNTING = "accounting"

STATE = "/var/spool/slurmctld"
SPOOL = "/var/spool/slurmd"
KEYS = "/etc/slurm-keys"
JAIL = "/mnt/jail"  # the shared root of all users
PRIVATE = "/var/spool/slurm-private"  # where the private folders of jobs really are; not in SPOOL, which jobs see
# Authorities that the certificate of a database may be signed by: those of a Secret, or all that the image knows.
DATABASE_CA = "/etc/slurm-database/ca.crt"
PUBLIC_CAS = "/etc/ssl/certs/ca-certificates.crt"
# No key of slurm.conf says where auth/slurm finds its key: this variable does, for every daemon and command. With
# auth/munge it must not be set, or slurmctld takes slurm.conf for a changed AuthType and ends.
SLURM_KEY = ("SLURM_SACK_KEY", f"{KEYS}/slurm.key")

POWER = "/usr/local/sbin/power"  # in the controller's image: gives worker pods to the nodes that Slurm wants to run

SLURMCTLD_PORT = 6817
SLURMD_PORT = 6818
SLURMDBD_PORT = 6819


def service(settings: Settings, name: str) -> str:
    """The DNS name of a Service, fully qualified: no search list is asked, and no resolver outside the cluster."""
    return f"{name}.{settings.cluster.namespace}.svc.{settings.cluster.domain}"


def pod(settings: Settings, stateful_set: str, ordinal: str = "0") -> str:
    """The DNS name of a pod of a StatefulSet, or of several with a hostlist range as `ordinal`."""
    return f"{stateful_set}-{ordinal}.{service(settings, stateful_set)}"


def slurmctld(settings: Settings) -> str:
    """Where slurmctld listens, as `host:port`."""
    return f"{pod(settings, CONTROLLER)}:{SLURMCTLD_PORT}"
