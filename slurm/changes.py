"""What a change of the config files does to a running cluster: the plan that a preview shows and operations carry out.

`plan(old, new)` compares two sets of rendered files by what they mean. Comments, blanks, order, the case of keys, how
NodeName lines are split, and defaults that are written out are no changes. Every key that does change gets one step,
with the class that the table in `slurm.keys` gives it:

- `live`: scontrol changes the records of the running controller; the commands are in the step. Nodes of dynamic
  NodeSets that come need none.
- `reconfigure`: `scontrol reconfigure` brings it to all daemons.
- `restart-slurmdbd`: slurmdbd has to start anew; slurmctld keeps what it has to record until it is back.
- `restart-controller`: slurmctld has to start anew.
- `restart-workers`: slurmd has to start anew; its pod holds its jobs, so each worker is drained in its turn.
- `drain-first`: running jobs would be lost, so what changes has to be empty before Slurm hears of it.
- `refused`: nothing is done, because state would be lost or Slurm would not start.

That is also the order of severity. Steps are in the order in which they are carried out: refused ones first, for then
nothing else is; then what has to be drained; then slurmdbd, live updates, the reconfigure, and other restarts.

Live edits revert at the next reconfigure unless the file says the same, so the new files are always written, whatever
the class of the plan.
"""

from collections.abc import Iterator, Mapping

from slurm.keys import EXECUTION
from slurm.planning.cluster import Cluster
from slurm.planning.cluster_keys import key_steps
from slurm.planning.files import file_steps
from slurm.planning.nodes import node_steps
from slurm.planning.partitions import nodeset_steps, partition_steps
from slurm.planning.step import Plan, Step

__all__ = ["Plan", "Step", "plan"]


def plan(old: Mapping[str, str] | None, new: Mapping[str, str]) -> Plan:
    """The steps from `old` files to `new` ones, both by name. Without old ones this is the first deploy: no steps."""
    if old is None:
        return Plan()
    steps = _steps(Cluster.read(old), Cluster.read(new))
    return Plan(tuple(sorted(steps, key=lambda step: EXECUTION.index(step.cls))))


def _steps(old: Cluster, new: Cluster) -> Iterator[Step]:
    yield from key_steps(old, new)
    yield from node_steps(old, new)
    yield from nodeset_steps(old, new)
    yield from partition_steps(old, new)
    yield from file_steps(old, new)
