"""Whole sources of each kind: what they become, that nothing of them is passed over, and that no secret gets out."""

import copy
import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from config import Settings
from config.loading import load_entries
from config.plain_yaml import Loader
from operations.importing.convert import Imported, drafted, imported
from operations.importing.field import OUTCOMES
from operations.importing.source import parse, read
from operations.problem import Problem
from slurm.render import render

HERE = Path(__file__).parent
SOURCES = {
    "slurm-cluster": ["slurm-cluster"],
    "soperator-charts": ["soperator-values", "soperator-nodesets-values"],
    "slurm-operator-values": ["slurm-operator-values"],
    "slurm-operator-objects": ["slurm-operator-objects"],
    "slurm-operator-0-values": ["slurm-operator-0-values"],
}
SECRETS = ("hunter2", "aHVudGVyMg")  # what stands in the sources for passwords, keys and tokens


def texts(name: str) -> dict[str, str]:
    return {each: (HERE / "sources" / f"{each}.yaml").read_text() for each in SOURCES[name]}


@cache
def parsed(name: str) -> dict[str, list[Any]]:
    return {each: parse(each, text) for each, text in texts(name).items()}


def of(files: dict[str, list[Any]]) -> Imported:
    return imported(copy.deepcopy(files))


def loaded(made: Imported, folder: Path) -> Settings:
    file = folder / "Pulumi.x.yaml"
    file.write_text(made.text)
    return Settings.from_stack_file(file)


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_becomes_a_stack_that_can_be_rendered(name: str, tmp_path: Path) -> None:
    made = of(parsed(name))
    golden = HERE / "golden" / f"{name}.yaml"
    if os.environ.get("SLIPWAY_GOLDEN"):
        golden.write_text(made.text)
    assert made.text == golden.read_text()
    assert "slurm.conf" in render(loaded(made, tmp_path))


@pytest.mark.parametrize("name", SOURCES)
def test_no_secret_is_written_or_told(name: str) -> None:
    made = of(parsed(name))
    for secret in SECRETS:
        assert secret not in made.text
        assert secret not in repr(made.rows)
        assert secret not in repr(made.todo)


def test_the_sources_have_secrets_that_could_get_out() -> None:
    everything = "".join(text for name in SOURCES for text in texts(name).values())
    assert all(secret in everything for secret in SECRETS)


def sections(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where keys and values stand."""
    if isinstance(value, dict):
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in members:
        yield from sections(member, (*path, step))


def put(value: Any, path: tuple[str | int, ...], more: Any) -> Any:
    changed = copy.deepcopy(value)
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = more
    return changed


# Whatever is in them is Kubernetes', or names that the user has chosen.
FREE = {
    "affinity",
    "nodeAffinity",
    "metadata",
    "nodeSelector",
    "annotations",
    "sshdServiceAnnotations",
    "labels",
    "data",
}
NEW = "zebra"


@pytest.mark.parametrize("name", SOURCES)
def test_a_field_that_nobody_has_thought_of_is_told(name: str) -> None:
    """At each place of a source, one more: it is unknown, left out by its name, or in a part that is left out whole."""
    files = dict(parsed(name))
    tried = 0
    for file, documents in files.items():
        for path in sections(documents):
            words = [str(step) for step in path]
            if len(path) < 1 or FREE & {*words} or words[-1] in ("status",) or path[-2:-1] == ("items",):
                continue
            if isinstance(documents[0], dict) and "kind" in documents[0] and "spec" not in words:
                continue
            changed = {**files, file: put(documents, (*path, NEW), 1)}
            made = drafted(read(copy.deepcopy(changed)))
            tried += 1
            told = [row for row in made.rows if NEW in row.field or NEW in row.into or NEW in row.about]
            spelled = spellings(documents, path)
            whole = [row for row in made.rows if row.outcome in OUTCOMES[2:] and covers(row.field, spelled)]
            assert told or whole, f"{file}: {'.'.join(words)}.{NEW} is passed over"
    assert tried > 10


def covers(field: str, spellings: list[str]) -> bool:
    """Whether a row is about a section or one above it. `a.b, c` is about a.b and a.c."""
    first, *others = field.rpartition(": ")[2].split(", ")
    fields = [first, *(f"{first.rpartition('.')[0]}.{other}" for other in others)]
    return any(f"{each}.".startswith(f"{known}.") for each in spellings for known in fields)


def spellings(documents: Any, path: tuple[str | int, ...]) -> list[str]:
    """A path with the numbers of entries, and with their names; of an object, from its spec on."""
    named = [
        str(_at(documents, path[: at + 1]).get("name", step)) if isinstance(step, int) and at else str(step)
        for at, step in enumerate(path)
        if not isinstance(step, int) or isinstance(_at(documents, path[: at + 1]), dict)
    ]
    spelled = [[str(step) for step in path], named]
    starts = [words.index("spec") if "spec" in words else 1 for words in spelled]
    whole = [".".join(words[start:]) for words, start in zip(spelled, starts, strict=True)]
    return [each.replace("_defaults", "gpu") for each in whole]  # which are worked into each


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_whatever_stands_in_a_source_it_is_imported_or_refused_in_words(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(SOURCES)))
    files = dict(parsed(name))
    for _ in range(data.draw(st.integers(1, 3))):
        file = data.draw(st.sampled_from(list(files)))
        places = [
            (*path, key)
            for path in sections(files[file])
            for key in _at(files[file], path)
            if path  # not the list of documents
        ]
        files[file] = put(files[file], data.draw(st.sampled_from(places)), data.draw(json_values))
    try:
        made = of(json.loads(json.dumps(files)))
    except Problem:
        return
    assert {row.outcome for row in made.rows} <= {*OUTCOMES}
    stated = yaml.load(made.text, Loader)["config"]  # noqa: S506 -- a SafeLoader
    load_entries({key.removeprefix("slipway:"): value for key, value in stated.items()})


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@example("PartitionName=x")
@example("A=\n")
@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_any_text_may_stand_where_slurm_conf_is_expected(text: str) -> None:
    source = {"clusterName": "x", "nodesets": {"a": {"extraConf": text}}, "controller": {"extraConf": text}}
    assert of({"values": [source]}).cluster == "x"
