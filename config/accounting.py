"""`accounting`: who used what, kept by slurmdbd in a database; and the accounts and QoS that limit it."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

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
Record = Annotated[Literal["events", "jobs", "steps", "reservations", "suspensions", "transactions", "usage"], Choice()]


def _one_column(text: str) -> str:
    for character in "|'":
        if character in text:
            message = "contains {found}, which sacctmgr does not keep; leave it out"
            raise PydanticCustomError("slipway", message, {"found": character})
    return text


Description = Annotated[Text, AfterValidator(_one_column)]
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

    tls: Switch = Field(default=True, examples=[False])
    """Talk to it only through TLS, and only if its certificate is for `host` and signed by a trusted authority:
    one of `caSecret`, or without that one of the public ones that the image of slurmdbd knows."""

    ca_secret: CaSecret | None = Field(default=None, examples=[{"name": "slurm-database-ca"}])
    """With `tls`: the Kubernetes Secret that holds the certificates of the authorities to trust, such as those of your
    cloud's databases. No others are trusted then."""


class Mariadb(Section):
    """The database that the cluster brings along. It is not there where `database` names another."""

    cpus: CpuQuantity = Field(default=CpuQuantity(250), examples=[2])
    """CPUs that are set aside for it."""

    memory: MemorySize = Field(default=MemorySize.parse("512Mi"), examples=["8Gi"])
    """Memory that it may use. Half of it holds what was read and written last: a million jobs take about a gigabyte."""

    storage: OwnVolume = Field(default=OwnVolume(), examples=[{"storageClass": "fast", "size": "50Gi"}])
    """Where it keeps its data. It cannot be moved while accounting is enabled."""


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


class Archive(Section):
    """What is written to files before it is purged."""

    records: list[Record] = Field(default=[], examples=[["jobs", "steps"]])
    """Kinds of records, by their names in `purge`. Others are purged for good."""

    storage: OwnVolume = Field(default=OwnVolume(), examples=[{"storageClass": "cheap", "size": "100Gi"}])
    """Where the files are kept, if there are `records`. `sacctmgr archive load` reads them again."""


class Qos(Section):
    """A quality of service: a priority and limits that jobs run under."""

    description: Description | None = Field(default=None, examples=["Jobs of more than a day"])
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

    description: Description | None = Field(default=None, examples=["Solid state physics"])
    """What it is for."""

    organization: Description | None = Field(default=None, examples=["physics"])
    """Whom it belongs to."""

    parent: AccountName = Field(default="root", examples=["science"])
    """The account above it."""

    fairshare: Share = Field(default=1, examples=[10])
    """Its share, relative to the other accounts below its parent."""

    users: list[UserName] = Field(default=[], examples=[["researcher"]])
    """Users who may charge it, from `users`. Jobs that name no account are charged to the first of a user's."""

    qos: list[AccountName] = Field(default=[], examples=[["normal", "long"]])
    """QoS that its jobs may use. If empty, those of the account above that names some, or `normal`."""

    default_qos: AccountName | None = Field(default=None, examples=["normal"])
    """The QoS of its jobs that name none: `normal`, unless this or the parent says otherwise."""


class Accounting(Section):
    """Who used what, kept by slurmdbd in a database."""

    enabled: Switch = Field(default=False, examples=[True])
    """Run slurmdbd. Without it nothing is remembered of finished jobs, and there are no accounts, QoS or limits."""

    node_filter: FilterName = Field(default="system", examples=["system"])
    """The node filter that slurmdbd and its own database run under."""

    cpus: CpuQuantity = Field(default=CpuQuantity(100), examples=[2])
    """CPUs that are set aside for slurmdbd."""

    memory: MemorySize = Field(default=MemorySize.parse("1Gi"), examples=["4Gi"])
    """Memory that slurmdbd may use; 128 MiB are set aside. Whoever asks for the jobs of years needs gigabytes."""

    mariadb: Mariadb = Field(default=Mariadb(), examples=[{"memory": "8Gi", "storage": {"size": "50Gi"}}])
    """Its own database. Not together with `database`."""

    database: ExternalDatabase | None = Field(default=None, examples=[{"host": "db.example.com"}])
    """A database that exists already, instead of one of its own."""

    enforce: list[Enforce] | None = Field(default=None, examples=[["associations", "limits", "qos", "safe"]])
    """What is refused: jobs without an account (`associations`), over a limit (`limits`), with a QoS that is not
    theirs (`qos`). All three of them where nothing is said and there are `accounts`; `[]` refuses nothing."""

    purge: Purge = Field(default=Purge(), examples=[{"jobs": "24months"}])
    """How long records are kept."""

    archive: Archive = Field(default=Archive(), examples=[{"records": ["jobs"], "storage": {"size": "100Gi"}}])
    """What is kept of them in files."""

    qos: dict[AccountName, Qos] = Field(default={}, examples=[{"long": {"maxWall": "7-00:00:00"}}])
    """Qualities of service, by name. `normal` always exists."""

    accounts: dict[AccountName, Account] = Field(default={}, examples=[{"physics": {"users": ["researcher"]}}])
    """Accounts, by name. `root` always exists."""

    administrators: list[UserName] = Field(default=[], examples=[["alice"]])
    """Users, from `users`, who may change anything in Slurm. Those without an account are in `root`."""

    operators: list[UserName] = Field(default=[], examples=[["bob"]])
    """Users, from `users`, who may manage jobs, accounts and limits of others."""

    @property
    def enforced(self) -> list[Enforce]:
        """What is refused, said or not."""
        if self.enforce is not None:
            return self.enforce
        return ["associations", "limits", "qos"] if self.accounts else []
