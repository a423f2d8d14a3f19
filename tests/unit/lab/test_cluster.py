"""A lab that is cut short while it is claimed is never mistaken for somebody's."""

from pathlib import Path

import pytest

from lab import cluster, layout, network, preflight
from lab.layout import Lab


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path))
    monkeypatch.setattr(network, "taken_elsewhere", set)
    monkeypatch.setattr(network, "bridges", lambda home: [])
    monkeypatch.setattr(preflight, "check", lambda lab, **_: None)
    return tmp_path


@pytest.mark.parametrize("left", [[], ["run"], ["pki", "run"]])
def test_a_lab_of_a_run_is_marked_before_it_has_a_record(
    cache: Path, monkeypatch: pytest.MonkeyPatch, left: list[str]
) -> None:
    for name in left:  # of an earlier one that was killed
        (cache / "labs" / "short" / name).mkdir(parents=True)

    def killed(_: Lab) -> None:
        raise InterruptedError

    monkeypatch.setattr(Lab, "save", killed)
    with pytest.raises(InterruptedError):
        cluster.claim("short", 1, "run")
    assert layout.find("short") is None
    assert [path.name for path in (cache / "labs" / "short").iterdir()] == ["run"]
