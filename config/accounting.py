"""`accounting`: who used what, kept by slurmdbd in a database; and the accounts and QoS that limit it."""

from typing import Annotated, Literal

from pydantic import Field

from config.section import Section
from config.storage import OwnVolume
from config.types import (
    AccountName,
    Choice,
    Count,
    CpuQuantity,
    Duration,
    FilterName,
    Hostname,
    Integer,
    MemorySize,
    ObjectName,
    Port,
    SlurmName,
    String,
    Switch,
    Text,
    TresName,
    UserName,
)
from config.types.names import Named

Enforce = Annotated[Literal["associations", "limits", "qos", "safe", "wckeys", "nojobs", "nosteps"], Choice()]
QosFlag = Annotated[
    Literal["DenyOnLimit", "EnforceUsageThreshold", "NoDecay", "NoReserve", "OverPartQOS", "RequiresReservation"],
    Choice(),
]
Retention = Annotated[
    String,
    Named(
        "a time to keep records, such as 24hours, 90days or 12months",
        r"[1-9][0-9]{0,4}(hours?|days?|months?)",
        16,
        ("12months",),
    ),
]
Share = Annotated[Integer, Field(ge=1, le=2_147_483_646)]


SecretKey = Annotated[String, Named("a key of a Secret", r"[A-Za-z0-9._-]+", 253, ("password",))]


class PasswordSecret(Section):
    """A Kubernetes Secret in the cluster's namespace."""

    name: ObjectName = Field(examples=["slurm-database"])
    """The name of the Secret."""

    key: SecretKey = Field(default="password", examples=["password"])
    """The key in it that holds the password."""


class CaSecret(Section):
    """A Kubernetes Secret in the cluster's namespace."""

    name: ObjectName = Field(examples=["slurm-database-ca"])
    """The name of the Secret."""

    key: SecretKey = Field(default="ca.crt", examples=["ca.crt"])
    """The key in it that holds the certificates, in PEM format."""


class ExternalDatabase(Section):
    """A MariaDB or MySQL that exists already."""

    host: Hostname = Field(examples=["db.example.com"])
    """Its name or address."""

    port: Port = Field(default=3306, examples=[3306])
    """Its port."""

    name: SlurmName = Field(default="slurm_acct_db", examples=["slurm_acct_db"])
    """The database; slurmdbd makes its tables in it."""

    user: UserName = Field(default="slurm", examples=["slurm"])
    """The database user, with all rights on that database."""

    password_secret: PasswordSecret = Field(
        default=PasswordSecret(name="slurm-database"), examples=[{"name": "slurm-database"}]
    )
    """The Kubernetes Secret that holds the password: it stays out of the stack file and of slurm.conf."""

    tls: Switch = Field(default=False, examples=[True])
    """Talk to it only through TLS, and only if its certificate is for `host` and signed by a trusted authority:
    one of `caSecret`, or without that one of the public ones that the image of slurmdbd knows."""

    ca_secret: CaSecret | None = Field(default=None, examples=[{"name": "slurm-database-ca"}])
    """With `tls`: the Kubernetes Secret that holds the certificates of the authorities to trust, such as those of your
    cloud's databases. No others are trusted then."""


class Purge(Section):
    """How long records are kept; for ever where nothing is said."""

    events: Retention | None = Field(default=None, examples=["12months"])
    """Nodes going down and coming back."""

    jobs: Retention | None = Field(default=None, examples=["24months"])
    """Jobs."""

    steps: Retention | None = Field(default=None, examples=["6months"])
    """Steps of jobs."""

    reservations: Retention | None = Field(default=None, examples=["24months"])
    """Reservations."""

    suspensions: Retention | None = Field(default=None, examples=["6months"])
    """Times at which jobs were suspended."""

    transactions: Retention | None = Field(default=None, examples=["24months"])
    """What administrators changed."""

    usage: Retention | None = Field(default=None, examples=["60months"])
    """Sums of usage by account."""


class Qos(Section):
    """A quality of service: a priority and limits that jobs run under."""

    description: Text | None = Field(default=None, examples=["Jobs of more than a day"])
    """What it is for."""

    priority: Count = Field(default=0, examples=[100])
    """What it adds to a job's priority."""

    max_wall: Duration | None = Field(default=None, examples=["7-00:00:00"])
    """The longest run time of a job."""

    max_jobs_per_user: Count | None = Field(default=None, examples=[50])
    """Jobs that one user may have running."""

    max_submit_jobs_per_user: Count | None = Field(default=None, examples=[500])
    """Jobs that one user may have running and waiting."""

    max_tres_per_user: dict[TresName, Count] = Field(default={}, examples=[{"gres/gpu": 16}])
    """Resources that the jobs of one user may hold, by TRES name."""

    grp_tres: dict[TresName, Count] = Field(default={}, examples=[{"cpu": 4096}])
    """Resources that all jobs of the QoS together may hold, by TRES name."""

    preempt: list[AccountName] = Field(default=[], examples=[["scavenge"]])
    """QoS whose jobs it may preempt."""

    flags: list[QosFlag] = Field(default=[], examples=[["DenyOnLimit"]])
    """Slurm's flags of a QoS."""


class Account(Section):
    """An account: a project or group that usage is counted for."""

    description: Text | None = Field(default=None, examples=["Solid state physics"])
    """What it is for."""

    organization: Text | None = Field(default=None, examples=["physics"])
    """Whom it belongs to."""

    parent: AccountName = Field(default="root", examples=["science"])
    """The account above it."""

    fairshare: Share = Field(default=1, examples=[10])
    """Its share, relative to the other accounts below its parent."""

    users: list[UserName] = Field(default=[], examples=[["researcher"]])
    """Users who may charge it, from `users`."""

    qos: list[AccountName] = Field(default=[], examples=[["normal", "long"]])
    """QoS that its jobs may use; those of the parent if empty."""

    default_qos: AccountName | None = Field(default=None, examples=["normal"])
    """The QoS of its jobs that name none."""


class Accounting(Section):
    """Who used what, kept by slurmdbd in a database."""

    enabled: Switch = Field(default=False, examples=[True])
    """Run slurmdbd. Without it nothing is remembered of finished jobs, and there are no accounts, QoS or limits."""

    node_filter: FilterName = Field(default="system", examples=["system"])
    """The node filter that its pod runs under."""

    cpus: CpuQuantity = Field(default=CpuQuantity(500), examples=[2])
    """CPUs that are set aside for slurmdbd and its own database."""

    memory: MemorySize = Field(default=MemorySize.parse("1Gi"), examples=["8Gi"])
    """Memory that slurmdbd and its own database may use."""

    storage: OwnVolume = Field(default=OwnVolume(), examples=[{"storageClass": "fast", "size": "50Gi"}])
    """Where its own database lives. Not together with `database`."""

    database: ExternalDatabase | None = Field(default=None, examples=[{"host": "db.example.com", "tls": True}])
    """A database that exists already, instead of one of its own."""

    enforce: list[Enforce] = Field(default=[], examples=[["associations", "limits", "qos"]])
    """What is refused: jobs without an account (`associations`), over a limit (`limits`), with a QoS that is not
    theirs (`qos`)."""

    purge: Purge = Field(default=Purge(), examples=[{"jobs": "24months"}])
    """How long records are kept."""

    qos: dict[AccountName, Qos] = Field(default={}, examples=[{"long": {"maxWall": "7-00:00:00"}}])
    """Qualities of service, by name. `normal` always exists."""

    accounts: dict[AccountName, Account] = Field(default={}, examples=[{"physics": {"users": ["researcher"]}}])
    """Accounts, by name. `root` always exists."""

    administrators: list[UserName] = Field(default=[], examples=[["alice"]])
    """Users, from `users`, who may change anything in Slurm."""

    operators: list[UserName] = Field(default=[], examples=[["bob"]])
    """Users, from `users`, who may manage jobs, accounts and limits of others."""
