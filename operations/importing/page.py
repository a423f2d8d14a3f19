"""The page `docs/coming-from.md`, from the tables that `slipway import` works by.

`python -m operations.importing.page > docs/coming-from.md` after a change; a test says so if it was forgotten.
"""

import sys
from collections.abc import Iterable, Sequence

from operations.importing import old_chart, slurm_operator_fields, soperator_fields
from operations.importing.field import Field

_PLACED = "nodeSelector, affinity, tolerations"

_HEAD = """\
# Coming from Soperator or slurm-operator

`slipway import` reads what the other operator was told and writes a stack file. It needs neither engine nor
cluster, writes nothing that the settings do not take, and says on stderr what became of each field.

```console
$ kubectl get slurmclusters,nodesets.slurm.nebius.ai -n slurm -o yaml > old.yaml        # Soperator
$ kubectl get controllers,nodesets,loginsets,accountings,restapis -o yaml > old.yaml    # slurm-operator 1.x
$ helm get values slurm -n slurm --all -o yaml > old.yaml       # or the values of the chart of either, and of 0.x
$ slipway import old.yaml --stack prod                          # writes Pulumi.prod.yaml
$ slipway render --stack prod --out rendered/                   # slurm.conf and friends, to compare with the old
```

Several files are read as one source, such as Soperator's `slurm-cluster` and `nodesets` charts; `-` is stdin. A
file that is there is left alone unless `--force` is given, and `--output` names another. With `--json`, what became
of each field goes to stdout. Values without `--all` say only what differs from the chart's defaults, and the rest
cannot be carried over.

| outcome | means |
|---|---|
| carried over | it means the same here |
| adapted | it is carried over, but look at the difference |
| left out | it has no counterpart, or Slipway decides it, or the settings refuse it; the reason says what to do |
| unknown | nobody has thought of this field yet: see whether it matters |

**Secrets** are never read or written. Slipway makes its own keys; a password of a database that exists stays in its
Secret, whose name is carried over. Keys that logged in as root stand in a comment of the stack file: root does not
log in here, and people are entries of `users`, with the uid that their files have.

## What is different

- **One program instead of an operator.** Nothing watches the cluster: a change is `slipway preview` and `slipway
  up`.
- **The shared root** is what Soperator calls the jail. It is made anew: filling the old one would mix two systems in
  it. The old one is mounted at `/old-root`, read-only, so that people's files can be copied. slurm-operator has none;
  volumes that were mounted into slurmd and login containers become paths in it.
- **NodeSets are whole.** A partition has NodeSets and not single nodes, and all nodes of a NodeSet are equal.
- **`worker`** is a NodeSet that is always there, with `size: 0` where the source has none of that name.
- **Nodes** are `<NodeSet>-0`, `<NodeSet>-1` and so on: names in scripts and reservations may change.

## Moving

1. Import, work through what is left out, and do what the head of the stack file says. `slipway preview` into a
   namespace of its own shows the rest.
2. Let the old queue run empty (`scontrol update PartitionName=… State=DRAIN`): waiting jobs do not come along.
3. With accounting: a database that exists is used on, if the cluster keeps its name. Else load a backup, see
   [accounting](accounting.md).
4. Claims that are used on must be in the namespace of the stack, and must stay when the old chart goes. Both clusters
   may have them for a while; two slurmdbd with one database, or two clusters with one load balancer, must not be.
5. `slipway up`, a job, copy what people need from `/old-root`, and only then take the old operator away.
"""


def page() -> str:
    """The whole page."""
    soperator = """\
Below `spec` of a SlurmCluster, or at the top of the values of the `slurm-cluster` chart. NodeSets (`nodesets.<name>`)
are objects of their own, or the values of the `nodesets` chart. `metadata` and `status` are Kubernetes' bookkeeping."""
    operator = """\
In the values of the chart of 1.x. Objects have the same fields below `spec`: a Controller those of `controller`, a
NodeSet those of `nodesets.<name>`, and so on, with `template.spec` for `podSpec`."""
    old = """\
Values of charts before 1.0 are moved to where 1.x has them, and then treated as above. Objects of 0.x are not read:
import the values."""
    return "\n".join(
        [
            _HEAD,
            f"## Soperator, field by field\n\n{soperator}\n",
            _table(soperator_fields.TABLE, {".placement": f".{_PLACED}", "namespace": "metadata.namespace"}),
            f"## slurm-operator 1.x, field by field\n\n{operator}\n",
            _table(
                slurm_operator_fields.TABLE, {".placement": f".podSpec.{_PLACED}", "namespace": "metadata.namespace"}
            ),
            f"## slurm-operator 0.x, field by field\n\n{old}\n",
            _rows(("0.x", "1.x"), ((_code(a), _code(b)) for a, b in old_chart.MOVES)),
            "And these, which 1.x does not have:\n",
            _table(old_chart.TABLE, {"accounting.mariadb": "mariadb"}),
        ]
    )


def _table(fields: Sequence[Field], shown: dict[str, str]) -> str:
    rows = ((_code(_source(each.path, shown)), _code(each.into) or "-", each.about) for each in fields)
    return _rows(("field", "becomes", "how, or why not"), rows)


def _source(path: str, shown: dict[str, str]) -> str:
    """A path as it stands in the source, where the tables have a word of their own for it."""
    for ours, theirs in shown.items():
        if path == ours or path.startswith(f"{ours}.") or (ours.startswith(".") and path.endswith(ours)):
            return path.replace(ours, theirs, 1)
    return path


def _code(keys: str) -> str:
    return ", ".join(f"`{key}`" for key in keys.replace("*", "<name>").split(", ")) if keys else ""


def _rows(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    lines += [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
