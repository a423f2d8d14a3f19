"""The reference has every setting, says everything of each, and is found from wherever a setting is named."""

from collections.abc import Iterator

import pytest

from config import Settings
from config.paths import shape_of
from config.schema import schema
from config.section import Section
from handbook import classes, commands, reference, rules
from handbook.links import moved, with_settings
from handbook.wording import worded
from slurm.keys import FILES, LINES, SLURM_CONF

KEYS = reference.keys()
PAGE = reference.page()


def models(model: type[Section], seen: set[type[Section]]) -> Iterator[type[Section]]:
    """A section and all that are below it."""
    if model in seen:
        return
    seen.add(model)
    yield model
    for field in model.model_fields.values():
        shape = shape_of(field.annotation)
        inner = shape.model or (shape_of(shape.inner).model if shape.inner is not None else None)
        if inner:
            yield from models(inner, seen)


def test_every_field_of_every_model_is_in_it() -> None:
    told = {(key.name.rpartition(".")[2], key.about.split("\n\n")[0]) for key in KEYS.values()}
    fields = [
        (field.alias, (field.description or "").strip())
        for model in models(Settings, set())
        for field in model.model_fields.values()
    ]
    assert len(fields) > 200
    for alias, about in fields:
        assert any(name == alias and text.startswith(about) for name, text in told), alias


def test_every_key_has_a_meaning_and_all_but_sections_a_type_and_an_example() -> None:
    for key in KEYS.values():
        assert key.about, key.name
        assert key.kind, key.name
        if "." in key.name:
            assert key.examples, key.name


def test_every_model_of_the_schema_is_reached() -> None:
    reached = {model.__name__ for model in models(Settings, set())}
    assert set(schema()["$defs"]) <= reached


def test_anchors_are_unique() -> None:
    anchors = [key.anchor for key in KEYS.values()]
    assert len(anchors) == len(set(anchors))


def test_a_key_is_told_with_type_default_and_example() -> None:
    part = PAGE.partition("### `drain.timeout`")[2].partition("###")[0]
    assert "How long to wait for the jobs" in part
    assert "a length of time with its unit, such as 90s, 10m or 2h, or UNLIMITED" in part
    assert "default `10m`" in part
    assert "for example `10m` or `4h`" in part


def test_long_examples_stand_as_in_a_stack_file() -> None:
    part = PAGE.partition("### `slurm.jobSubmitLua`")[2].partition("###")[0]
    assert "```yaml\njobSubmitLua: |-\n  function slurm_job_submit" in part


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("worker.size", "worker.size"),
        ("nodeSets.gpu.size", "worker.size"),
        ("partitions.main.maxTime", "partitions.<name>.maxTime"),
        ("users[0].uid", "users[].uid"),
        ("slurm.extra.SchedulerType", "slurm.extra"),
        ("nodeFilters.gpu.nodeSelector.example.com/x", "nodeFilters.<name>.nodeSelector"),
        ("storage.submounts", "storage.submounts"),
    ],
)
def test_a_setting_is_found_however_it_is_written(written: str, name: str) -> None:
    found = reference.find(written)
    assert found
    assert found.name == name


@pytest.mark.parametrize("written", ["worker.sizes", "slurm.conf", "workers.size", "", "users[0].uids"])
def test_what_is_no_setting_is_not_found(written: str) -> None:
    assert reference.find(written) is None


def test_types_are_in_words() -> None:
    fields = Settings.model_fields
    assert worded(fields["cluster"].annotation) == "the keys below"
    assert KEYS["cluster.stage"].kind == "`development`, `staging` or `production`"
    assert KEYS["login.size"].kind == "a whole number from 0 to 100"
    assert KEYS["worker.features"].kind.startswith("a list; each: a feature")


def test_settings_in_the_text_lead_to_the_reference() -> None:
    text = "Set `drain.timeout`, not `slurm.conf`, [`worker.size`](x.md).\n\n"
    text += "```\n`drain.timeout`\n```\n# `drain.timeout`\n"
    assert with_settings(text, "runbooks/A.md") == text.replace(
        "Set `drain.timeout`", "Set [`drain.timeout`](../configuration.md#drain.timeout)"
    )


def test_links_of_the_repository_lead_to_where_the_site_serves_the_same() -> None:
    served = {
        "docs/policies.md": "policies.md",
        "policies/rules/images.md": "policies/images.md",
        "docs/changes.md": "changes.md",
    }
    text = "[a](../policies/rules/images.md#fails) [b](https://example.com/x.md) [c](changes.md) [d](../README.md)"
    assert moved(text, "docs/policies.md", served) == (
        "[a](policies/images.md#fails) [b](https://example.com/x.md) [c](changes.md) [d](../README.md)"
    )


def test_every_key_of_slurm_is_in_the_table_of_classes() -> None:
    page = classes.page()
    tables = [SLURM_CONF, *LINES.values(), *(file.keys for file in FILES.values())]
    for table in tables:
        for key, entry in table.items():
            assert f"| `{key}` | `{entry.cls}`" in page, key


def test_every_command_and_option_is_in_the_list() -> None:
    page = commands.page()
    assert "### slipway drain" in page
    assert "| `--lifespan LIFESPAN` | for how long it is good" in page
    assert "### lab node" in page


def test_every_rule_is_in_the_list() -> None:
    assert "| [budget](../policies/rules/budget.md) | mandatory |" in rules.page()
