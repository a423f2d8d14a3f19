"""The map: the page is the one of the tables, and the tables speak of settings that exist."""

from pathlib import Path

import pytest

from config.paths import resolve
from config.settings import Settings
from operations.importing import old_chart, slurm_operator_fields, soperator_fields
from operations.importing.page import page

HOUSE = Path(__file__).parents[4]
TABLES = {
    "soperator": soperator_fields.TABLE,
    "slurm-operator": slurm_operator_fields.TABLE,
    "slurm-operator 0.x": old_chart.TABLE,
}


def test_the_page_is_written_from_the_tables() -> None:
    """If not: `python -m operations.importing.page > docs/coming-from.md`."""
    assert (HOUSE / "docs" / "coming-from.md").read_text() == page()


@pytest.mark.parametrize("name", TABLES)
def test_every_field_becomes_settings_that_exist(name: str) -> None:
    for each in TABLES[name]:
        first = ""
        for key in each.into.split(", ") if each.into else ():
            key = f"{first.rpartition('.')[0]}{key}" if key.startswith(".") else key
            first = first if first and key.startswith(first.rpartition(".")[0]) else key
            _, shape = resolve(key.replace("*", "x"), Settings)
            assert shape.kind != "unknown", f"{each.path} becomes {key}, which is no setting"


@pytest.mark.parametrize("name", TABLES)
def test_every_field_that_is_left_out_says_why(name: str) -> None:
    missing = [each.path for each in TABLES[name] if each.take is None and not each.about]
    assert not missing


@pytest.mark.parametrize("name", TABLES)
def test_a_field_stands_in_a_table_once(name: str) -> None:
    paths = [each.path for each in TABLES[name]]
    assert sorted({*paths}) == sorted(paths)


def test_old_fields_move_to_fields_that_are_known() -> None:
    known = [each.steps for each in (*slurm_operator_fields.TABLE, *old_chart.TABLE)]
    for old, new in old_chart.MOVES:
        steps = tuple(new.split("."))
        below = {"extraConfMap", "podSpec", "persistence", "partition", "partitions", "externalConfig"} & {*steps}
        assert below or any(_meets(each, steps) for each in known), f"{old} moves to {new}, which nobody takes"


def _meets(known: tuple[str, ...], steps: tuple[str, ...]) -> bool:
    """Whether one is the other or a part of it."""
    return all("*" in (a, b) or a == b for a, b in zip(known, steps, strict=False))
