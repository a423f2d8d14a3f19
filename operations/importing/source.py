"""Reading what another operator was told, and finding out which one it was."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from config.plain_yaml import Loader
from operations.problem import Problem

SOPERATOR, SLINKY = "slurm.nebius.ai/", "slinky.slurm.net/"
_PRINTED = ("USER-SUPPLIED VALUES", "COMPUTED VALUES")  # what helm puts before values

KINDS = {
    "soperator": "Soperator",
    "soperator-nodesets": "Soperator",
    "slurm-operator": "slurm-operator 1.x",
    "slurm-operator-0": "slurm-operator 0.x",
}
# By what its top-level keys are, whose values a file without a kind holds; the first that has one of them.
_CHARTS: dict[str, frozenset[str]] = {
    "soperator": frozenset(("slurmNodes", "k8sNodeFilters", "populateJail", "partitionConfiguration", "volumeSources")),
    "slurm-operator-0": frozenset(("compute", "authcred", "jwt", "mariadb", "login", "slurm")),
    "slurm-operator": frozenset(
        ("nodesets", "loginsets", "controller", "restapi", "accounting", "partitions", "slurmKeyRef", "slurmKey")
    ),
}
_WANTED = (
    "name a SlurmCluster or the objects of slurm-operator (`kubectl get -o yaml`), or the values of their charts "
    "(`helm get values --all -o yaml`)"
)


@dataclass(frozen=True)
class Document:
    """A part of the source: values of a chart, or a Kubernetes object with its kind."""

    chart: str
    kind: str
    values: dict[str, Any]

    @property
    def name(self) -> str:
        return str(_of(self.values.get("metadata")).get("name") or "")

    @property
    def namespace(self) -> str:
        return str(_of(self.values.get("metadata")).get("namespace") or "")

    @property
    def spec(self) -> dict[str, Any]:
        return _of(self.values.get("spec"))


def _of(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def read(texts: Mapping[str, Sequence[Any]]) -> list[Document]:
    """All that files say, by their names. A Problem if it is not one cluster of an operator that is known."""
    documents = [found for name, parsed in texts.items() for found in _documents(name, parsed)]
    charts = {each.chart for each in documents if each.chart}
    if not charts:
        raise Problem(f"{', '.join(texts)}: there is no cluster in it; {_WANTED}.")
    if len({KINDS[chart].split()[0] for chart in charts}) > 1 or {"slurm-operator", "slurm-operator-0"} <= charts:
        raise Problem(f"{', '.join(texts)}: this is of several operators; import one cluster at a time.")
    for kind in ("SlurmCluster", "Controller", "Accounting", "RestApi"):
        names = [each.name for each in documents if each.kind == kind]
        if len(names) > 1:
            raise Problem(
                f"There are several objects of kind {kind} ({', '.join(names)}); import one cluster at a time."
            )
    values = [each.chart for each in documents if each.chart and not each.kind]
    if len(values) != len({*values}) or (values and any(each.kind and each.chart for each in documents)):
        raise Problem("Objects and chart values of one cluster say the same twice; give one of them.")
    return documents


def parse(name: str, text: str) -> list[Any]:
    """The documents of a file."""
    try:
        return [json.loads(json.dumps(each)) for each in yaml.load_all(text, Loader)]
    except yaml.MarkedYAMLError as error:  # its own words would show what is in the file
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise Problem(f"{name}: line {line} is not YAML: {error.problem}.") from None
    except (yaml.YAMLError, TypeError, ValueError, RecursionError):
        raise Problem(f"{name}: it is not plain YAML; {_WANTED}.") from None


def _documents(name: str, parsed: Sequence[Any]) -> Iterator[Document]:
    for each in parsed:
        if each is None:
            continue
        if not isinstance(each, dict):
            raise Problem(f"{name}: there are no keys and values in it; {_WANTED}.")
        yield from _recognised(name, each)


def _recognised(name: str, values: dict[str, Any]) -> Iterator[Document]:
    kind, version = values.get("kind"), str(values.get("apiVersion") or "")
    if isinstance(kind, str) and version:
        if isinstance(values.get("items"), list):
            for each in values["items"]:
                if isinstance(each, dict):
                    yield from _recognised(name, {"apiVersion": version, "kind": kind.removesuffix("List"), **each})
            return
        ours = "soperator" if version.startswith(SOPERATOR) else "slurm-operator" if version.startswith(SLINKY) else ""
        yield Document(ours, kind, values)
        return
    values = {key: value for key, value in values.items() if key not in _PRINTED}
    if isinstance(values.get("nodesets"), list) and not values.keys() & _CHARTS["soperator"]:
        yield Document("soperator-nodesets", "", values)
        return
    chart = next((chart for chart, keys in _CHARTS.items() if values.keys() & keys), None)
    if chart is None:
        raise Problem(f"{name}: these are no values of a chart of Soperator or slurm-operator; {_WANTED}.")
    yield Document(chart, "", values)


def objects(documents: Sequence[Document], kind: str) -> list[Document]:
    return [each for each in documents if each.kind == kind and each.chart]


def by_name(entries: Any) -> dict[str, Any]:
    """A list of things with names as a map."""
    if isinstance(entries, dict):
        return entries
    listed = [each for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []
    return {
        str(each.get("name") or f"unnamed{at}"): {k: v for k, v in each.items() if k != "name"}
        for at, each in enumerate(listed)
    }
