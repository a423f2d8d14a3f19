"""The committed schema is the one of the models, and says yes and no where the models do."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from pydantic import BaseModel, TypeAdapter

from config import Settings
from config.paths import shape_of
from config.schema import schema, text
from config.section import Section

HOUSE = Path(__file__).parents[3]
SCHEMA = schema()
TYPES = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": type(None),
}


def errors(value: Any, rule: Any, path: str = "") -> Iterator[str]:
    """What JSON Schema has against a value: as much of it as our schema uses."""
    if "$ref" in rule:
        yield from errors(value, SCHEMA["$defs"][rule["$ref"].rpartition("/")[2]], path)
    if "anyOf" in rule and all(list(errors(value, each, path)) for each in rule["anyOf"]):
        yield f"{path}: none of the alternatives"
    kinds = [rule["type"]] if isinstance(rule.get("type"), str) else rule.get("type", [])
    if kinds and not any(
        isinstance(value, TYPES[kind]) and (kind == "boolean") == isinstance(value, bool) for kind in kinds
    ):
        yield f"{path}: not {kinds}"
        return
    if "const" in rule and value != rule["const"]:
        yield f"{path}: not {rule['const']}"
    if "enum" in rule and value not in rule["enum"]:
        yield f"{path}: not one of {rule['enum']}"
    if isinstance(value, str) and not re.search(rule.get("pattern", ""), value):
        yield f"{path}: not like {rule['pattern']}"
    if isinstance(value, int | float) and not rule.get("minimum", value) <= value <= rule.get("maximum", value):
        yield f"{path}: out of range"
    if isinstance(value, list) and len(value) < rule.get("minItems", 0):
        yield f"{path}: too few"
    if isinstance(value, list) and "items" in rule:
        for index, each in enumerate(value):
            yield from errors(each, rule["items"], f"{path}.{index}")
    if isinstance(value, dict):
        yield from object_errors(value, rule, path)


def object_errors(value: dict[str, Any], rule: Any, path: str) -> Iterator[str]:
    yield from (f"{path}.{key}: missing" for key in rule.get("required", []) if key not in value)
    for key, each in value.items():
        yield from errors(key, rule.get("propertyNames", {}), f"{path}.{key}")
        matching = [found for pattern, found in rule.get("patternProperties", {}).items() if re.search(pattern, key)]
        matching += [rule["properties"][key]] if key in rule.get("properties", {}) else []
        more = rule.get("additionalProperties", True)
        if not matching and more is False:
            yield f"{path}.{key}: unknown"
        for found in matching or ([more] if isinstance(more, dict) else []):
            yield from errors(each, found, f"{path}.{key}")


def of(config: str) -> list[str]:
    return list(errors(yaml.safe_load(f"config: {config}"), SCHEMA))


def test_the_committed_schema_is_up_to_date() -> None:
    committed = (HOUSE / "config" / "schema.json").read_text()
    assert committed == text(), "run: python -m config.schema > config/schema.json"


@pytest.mark.parametrize("file", sorted(HOUSE.glob("Pulumi.*.yaml")), ids=lambda file: file.name)
def test_the_stack_files_keep_it_and_point_to_it(file: Path) -> None:
    assert file.read_text().startswith("# yaml-language-server: $schema=config/schema.json\n")
    assert not list(errors(yaml.safe_load(file.read_text()), SCHEMA))


@pytest.mark.parametrize(
    "config",
    [
        "{'slipway:worker': {size: 2, memory: 1Gi, maxUnavailable: 1}}",
        "{'slipway:worker.size': 2}",
        "{'slipway:worker.size': '2'}",
        "{'slipway:nodeSets.gpu.gpus.count': '8'}",
        "{'slipway:nodeSets.gpu': {size: 1}}",
        "{'slipway:users.0.name': alice, 'slipway:users[0].groups[1]': x}",
        "{'slipway:nodeFilters.a.nodeSelector.kubernetes.io/arch': amd64}",
        "{'slipway:slurm.extra.SchedulerParameters': bf_continue}",
        "{'slipway:partitions': {main: {nodeSets: ALL, default: true}}}",
        "{'kubernetes:context': x}",
        "{'slipway:worker': {size: '2'}}",
        "{'slipway:controller': {standby: 'true'}}",
        "{'slipway:partitions': {main: {nodeSets: worker, state: up, overSubscribe: 'no', default: true}}}",
        "{'worker.size': 2, worker: {cpus: 2}}",
        "{'slipway:cluster': {auth: MUNGE, namespace: 123}}",
        "{'slipway:nodeSets': {gpu: }, 'slipway:rest': }",
        "{'slipway:users': [{name: alice, uid: '10001'}]}",
        "{'slipway:nodeSets[\"gpu\"].size': 2}",
    ],
)
def test_what_is_right_passes(config: str) -> None:
    assert of(config) == []


@pytest.mark.parametrize(
    "config",
    [
        "{'slipway:clustr': {}}",
        "{'slipway:worker': {sise: 2}}",
        "{'slipway:worker.sise': 2}",
        "{'slipway:worker': {size: -1}}",
        "{'slipway:worker': {size: two}}",
        "{'slipway:worker.size': two}",
        "{'worker.sise': 2}",
        "{'slipway:controller': {standby: maybe}}",
        "{'slipway:cluster': {name: 123}}",
        "{'slipway:worker': {memory: lots}}",
        "{'slipway:nodeSets': {GPU: {}}}",
        "{'slipway:cluster': {auth: none}}",
        "{'slipway:users': [{name: alice}]}",
        "{'slipway:slurm': {extra: {NodeName: x}}}",
        "{'slipway:partitions': {main: {nodeSets: []}}}",
    ],
)
def test_what_is_wrong_is_marked(config: str) -> None:
    assert of(config)


def sections(model: type[BaseModel] = Settings) -> Iterator[type[Section]]:
    """Every section of the settings."""
    assert issubclass(model, Section)
    yield model
    for field in model.model_fields.values():
        shape = shape_of(field.annotation)
        inner = shape.model or (shape_of(shape.inner).model if shape.inner else None)
        if inner is not None:
            yield from sections(inner)


SECTIONS = {each.__name__: each for each in sections()}


@pytest.mark.parametrize("section", SECTIONS.values(), ids=SECTIONS)
def test_every_setting_is_documented_with_an_example_that_is_valid(section: type[Section]) -> None:
    assert section.__doc__
    for name, field in section.model_fields.items():
        assert field.description, f"{section.__name__}.{name} says nothing about itself"
        assert field.description.rstrip().endswith("."), f"{section.__name__}.{name}: a description is a sentence"
        if section is not Settings:
            assert field.examples, f"{section.__name__}.{name} has no example"
        for example in field.examples or []:
            kind: Any = Annotated[field.annotation, *field.metadata, "an example"]  # type: ignore[valid-type]
            TypeAdapter(kind).validate_python(example, by_alias=True, by_name=False)


def test_it_is_json_that_editors_read() -> None:
    assert json.loads(text())["$schema"].startswith("http://json-schema.org/")
