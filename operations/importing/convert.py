"""From documents of another operator to a stack file that is not written yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from operations.importing import old_chart, slurm_operator, slurm_operator_fields, soperator, soperator_fields, stack
from operations.importing.draft import Draft, fill
from operations.importing.field import OUTCOMES, Row
from operations.importing.source import KINDS, Document, read


@dataclass(frozen=True)
class Imported:
    """A stack file that is not written yet, and what is to be told of it."""

    source: str
    text: str
    cluster: str
    rows: tuple[Row, ...]
    todo: tuple[str, ...]


def imported(files: Mapping[str, Sequence[Any]]) -> Imported:
    """A stack file from the documents of files, by their names."""
    documents = read(files)
    draft = drafted(documents)
    source = KINDS[_chart(documents)]
    rows = sorted(dict.fromkeys(draft.rows), key=lambda row: OUTCOMES.index(row.outcome))
    name = str(draft.get("cluster", "name") or "imported")
    return Imported(source, stack.text(draft, source), name, tuple(rows), tuple(draft.todo))


def _chart(documents: Sequence[Document]) -> str:
    return next(each.chart for each in documents if each.chart)


def drafted(documents: Sequence[Document]) -> Draft:
    """The stack, complete and checked."""
    draft = Draft()
    _tell_others(draft, documents)
    chart = _chart(documents)
    if chart.startswith("soperator"):
        fill(draft, soperator.tree(documents, draft), soperator_fields.TABLE)
        soperator.finish(draft)
    elif chart == "slurm-operator-0":
        values = next(each.values for each in documents if each.chart)
        fill(
            draft, slurm_operator.settled(old_chart.moved(values), draft), old_chart.TABLE + slurm_operator_fields.TABLE
        )
        slurm_operator.finish(draft)
    else:
        fill(draft, slurm_operator.tree(documents, draft), slurm_operator_fields.TABLE)
        slurm_operator.finish(draft)
    stack.complete(draft)
    stack.settle(draft)
    draft.todo = list(dict.fromkeys(draft.todo))
    return draft


_ELSEWHERE = {
    "Account": "say it in accounting.accounts",
    "User": "say it in `users` and accounting.accounts",
    "SlurmQOS": "say it in accounting.qos",
    "ActiveCheck": "run it as a job, or say it in health.checks",
    "ConfigMap": "what is in a ConfigMap is not read: say it in slurm.extra, health.prolog or health.epilog",
}
_KNOWN = {"SlurmCluster", "NodeSet", "Controller", "RestApi", "Accounting", "LoginSet"}


def _tell_others(draft: Draft, documents: Sequence[Document]) -> None:
    for each in documents:
        if each.kind and (not each.chart or each.kind not in _KNOWN):
            secret = "secrets are not read: Slipway makes those that it needs"  # noqa: S105 -- a sentence
            why = secret if each.kind == "Secret" else _ELSEWHERE.get(each.kind, "an object of this kind is not read")
            draft.rows.append(Row(f"{each.kind} {each.name}", "left out", "", why))
        elif each.kind:
            why = "Kubernetes' own bookkeeping"
            draft.rows.append(Row(f"{each.kind} {each.name}: metadata, status", "left out", "", why))
