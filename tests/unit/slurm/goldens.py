"""The clusters whose files are kept, and the same without what only a whole deployment has."""

from collections.abc import Callable, Mapping
from pathlib import Path

from config import Settings
from config.accounting import Accounting
from config.node_sets import NodeSet
from config.partitions import Partition

HOUSE = Path(__file__).parents[3]


def large() -> Settings:
    """10,000 nodes in 200 NodeSets and 50 partitions."""
    sets = {
        f"rack{number}-n": NodeSet(size=50, cpus=64, features=["x"], weight=1 + number % 3) for number in range(200)
    }
    names = list(sets)
    queues = {f"p{number}": Partition(node_sets=names[number * 4 : number * 4 + 4]) for number in range(49)}
    return Settings(worker=NodeSet(size=0), node_sets=sets, partitions={"main": Partition(default=True), **queues})


CLUSTERS: Mapping[str, Callable[[], Settings]] = {
    "dev": lambda: Settings.from_stack_file(HOUSE / "Pulumi.dev.yaml"),
    "prod": lambda: Settings.from_stack_file(HOUSE / "Pulumi.prod.yaml"),
    "large": large,
}


def alone(settings: Settings) -> Settings:
    """Such that slurmctld can start with it beside no slurmdbd, and without the users' groups."""
    lists = ("allow_groups", "allow_accounts", "deny_accounts", "allow_qos", "deny_qos")
    free = {"qos": None, "tres_billing_weights": {}, **{key: [] for key in lists}}
    partitions = {name: each.model_copy(update=free) for name, each in settings.partitions.items()}
    extra = {key: value for key, value in settings.slurm.extra.items() if not key.startswith("PriorityWeight")}
    slurm = settings.slurm.model_copy(update={"extra": extra})
    return settings.model_copy(update={"accounting": Accounting(), "partitions": partitions, "slurm": slurm})
