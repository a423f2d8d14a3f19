"""As much of Grafana's dashboard format as our dashboards need: panels in rows, each with its PromQL."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

WIDTH = 24  # columns of a dashboard
SCHEMA_VERSION = 39
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
GREEN, ORANGE, RED = "green", "orange", "red"


@dataclass(frozen=True)
class Panel:
    """`queries` are PromQL by what is shown for each series. `good` and `bad` are the numbers from which it is so."""

    title: str
    queries: dict[str, str]
    about: str = ""
    kind: str = "timeseries"
    unit: str = "short"
    width: int = 12
    height: int = 8
    steps: Sequence[tuple[float | None, str]] = ((None, GREEN),)
    words: Sequence[tuple[str, str, str]] = ()
    stacked: bool = False
    most: float | None = None
    columns: Sequence[str] = ()


def stat(title: str, query: str, about: str = "", **more: Any) -> Panel:
    return Panel(title, {"": query}, about, **{"kind": "stat", "width": 4, "height": 4, **more})


def up_or_down(title: str, query: str, about: str = "") -> Panel:
    words = (("0", "down", RED), ("1", "up", GREEN))
    return stat(title, query, about, words=words, steps=((None, RED), (1, GREEN)))


def dashboard(name: str, title: str, about: str, panels: Sequence[Panel], variables: dict[str, str]) -> str:
    """The whole file. `variables` are names of choices at the top by the query that lists them."""
    shown = {
        "annotations": {"list": []},
        "description": about,
        "editable": True,
        "graphTooltip": 1,
        "links": [
            {
                "asDropdown": False,
                "icon": "external link",
                "includeVars": True,
                "keepTime": True,
                "tags": ["slipway"],
                "targetBlank": False,
                "title": "",
                "tooltip": "",
                "type": "dashboards",
                "url": "",
            }
        ],
        "panels": list(_placed(panels)),
        "refresh": "30s",
        "schemaVersion": SCHEMA_VERSION,
        "tags": ["slipway", "slurm"],
        "templating": {"list": [_datasource(), *(_variable(each, query) for each, query in variables.items())]},
        "time": {"from": "now-6h", "to": "now"},
        "timepicker": {},
        "timezone": "browser",
        "title": title,
        "uid": f"slipway-{name}",
        "version": 1,
    }
    return json.dumps(shown, indent=1) + "\n"


def _placed(panels: Sequence[Panel]) -> Any:
    """From left to right, and then in the next row."""
    x = y = row = 0
    for number, panel in enumerate(panels, 1):
        if x + panel.width > WIDTH:
            x, y, row = 0, y + row, 0
        yield _panel(number, panel, {"x": x, "y": y, "w": panel.width, "h": panel.height})
        x, row = x + panel.width, max(row, panel.height)


def _panel(number: int, panel: Panel, place: dict[str, int]) -> dict[str, Any]:
    defaults: dict[str, Any] = {
        "unit": panel.unit,
        "min": 0,
        "thresholds": {
            "mode": "absolute",
            "steps": [{"color": color, "value": value} for value, color in panel.steps],
        },
        "mappings": [
            {"type": "value", "options": {value: {"text": text, "color": color, "index": index}}}
            for index, (value, text, color) in enumerate(panel.words)
        ],
    }
    if panel.most is not None:
        defaults["max"] = panel.most
    if panel.kind == "timeseries":
        stacking = {"group": "A", "mode": "normal" if panel.stacked else "none"}
        defaults["custom"] = {"fillOpacity": 30 if panel.stacked else 8, "lineWidth": 1, "stacking": stacking}
        defaults["color"] = {"mode": "palette-classic"}
    shown = {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": DATASOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": _options(panel),
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "datasource": DATASOURCE,
                "editorMode": "code",
                "expr": query,
                "legendFormat": legend or "__auto",
                "instant": panel.kind != "timeseries",
                "range": panel.kind == "timeseries",
                **({"format": "table"} if panel.kind == "table" else {}),
            }
            for index, (legend, query) in enumerate(panel.queries.items())
        ],
    }
    if panel.columns:
        # Labels become columns; what Prometheus adds of itself is left out.
        shown["transformations"] = [
            {"id": "filterFieldsByName", "options": {"include": {"names": list(panel.columns)}}},
            {"id": "organize", "options": {"indexByName": {name: at for at, name in enumerate(panel.columns)}}},
        ]
    return shown


def _options(panel: Panel) -> dict[str, Any]:
    if panel.kind in ("stat", "gauge"):
        shown: dict[str, Any] = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}}
        return shown | ({"colorMode": "value", "graphMode": "none"} if panel.kind == "stat" else {})
    if panel.kind == "table":
        return {"showHeader": True}
    return {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }


def _datasource() -> dict[str, Any]:
    return {
        "name": "datasource",
        "label": "Prometheus",
        "type": "datasource",
        "query": "prometheus",
        "current": {},
        "hide": 0,
        "includeAll": False,
        "multi": False,
        "options": [],
        "refresh": 1,
        "regex": "",
    }


def _variable(name: str, query: str) -> dict[str, Any]:
    """All, unless some are chosen; that is also what suits a Prometheus without such labels."""
    return {
        "name": name,
        "label": name.capitalize(),
        "type": "query",
        "datasource": DATASOURCE,
        "query": {"query": query, "refId": "variable"},
        "allValue": ".*",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "hide": 0,
        "includeAll": True,
        "multi": True,
        "options": [],
        "refresh": 2,
        "regex": "",
        "sort": 1,
    }
