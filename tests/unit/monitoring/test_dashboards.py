"""Dashboards as Grafana loads them, and alerts that lead to a page."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitoring.panels import DASHBOARDS, FOLDER

HOUSE = Path(__file__).parents[3]
ALERTS: list[dict[str, Any]] = yaml.safe_load((HOUSE / "monitoring" / "alerts.yaml").read_text())["groups"][0]["rules"]


@pytest.mark.parametrize("name", DASHBOARDS)
def test_its_file_is_up_to_date(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_text() == DASHBOARDS[name](), "run: python -m monitoring.panels"


@pytest.mark.parametrize("name", DASHBOARDS)
def test_panels_do_not_cover_each_other(name: str) -> None:
    panels = json.loads(DASHBOARDS[name]())["panels"]
    assert len({each["id"] for each in panels}) == len(panels)
    for one, other in combinations([each["gridPos"] for each in panels], 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or below
    assert all(each["gridPos"]["x"] + each["gridPos"]["w"] <= 24 for each in panels)


@pytest.mark.parametrize("name", DASHBOARDS)
def test_queries_use_only_variables_that_can_be_chosen(name: str) -> None:
    board = json.loads(DASHBOARDS[name]())
    known = {each["name"] for each in board["templating"]["list"]}
    for panel in board["panels"]:
        for target in panel["targets"]:
            used = set(re.findall(r"\$([a-z_]+)", target["expr"]))
            assert used <= known
            assert target["datasource"]["uid"] == "${datasource}", "no Grafana has our data source's id"


def test_dashboards_have_names_of_their_own() -> None:
    boards = [json.loads(make()) for make in DASHBOARDS.values()]
    assert len({each["uid"] for each in boards}) == len({each["title"] for each in boards}) == len(boards)


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_every_alert_leads_to_a_page_that_tells_what_to_do(rule: dict[str, Any]) -> None:
    page = (HOUSE / rule["annotations"]["runbook_url"]).read_text()
    assert page.startswith(f"# {rule['alert']}\n")
    for heading in ("## What it means", "## What users see", "## What to look at", "## What to do"):
        assert heading in page
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert rule["for"]


def test_every_page_belongs_to_an_alert() -> None:
    pages = {each.stem for each in (HOUSE / "docs" / "runbooks").glob("*.md")}
    assert pages == {rule["alert"] for rule in ALERTS}
