"""What a run tells `slipway report` of a change."""

import pulumi
import pytest

from components import change
from slurm.planning.told import ASKED, Told
from slurm.render import render
from tests.unit.components.deployed import settings_of
from tests.unit.components.engine import FOUR, TWO, Engine


@pytest.fixture
def asked(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """In a preview for `slipway report`."""
    monkeypatch.setenv(ASKED, "1")
    return engine


def test_a_report_is_told_the_same_as_data(asked: Engine) -> None:
    asked.deployed(settings_of(**FOUR))
    asked.look |= {"waitedFor": ["1 (alice, on worker-3)"], "stranded": ["2 (bob, waiting in main)"]}
    change.find(settings_of(**TWO))
    [message] = asked.infos
    assert asked.warnings == []
    told = Told.read(message)
    assert told
    assert (told.before, told.after) == (render(settings_of(**FOUR)), render(settings_of(**TWO)))
    assert told.plan.cls == "drain-first"
    assert told.plan.touches_jobs
    assert (told.waited_for, told.stranded) == (("1 (alice, on worker-3)",), ("2 (bob, waiting in main)",))


def test_a_report_is_told_of_a_refused_change_too(asked: Engine) -> None:
    asked.deployed(settings_of(cluster={"name": "dev"}))
    with pytest.raises(pulumi.RunError):
        change.find(settings_of(cluster={"name": "other"}))
    told = Told.read(asked.infos[0])
    assert told
    assert told.plan.refused


def test_a_report_is_told_of_a_first_deploy(asked: Engine) -> None:
    change.find(settings_of(**TWO))
    told = Told.read(asked.infos[0])
    assert told
    assert told.before is None
    assert told.after == render(settings_of(**TWO))


def test_a_report_is_told_no_secrets(asked: Engine) -> None:
    asked.deployed(settings_of())
    change.find(settings_of(slurm={"extra": {"JobCompPass": "hunter2"}}))
    assert "hunter2" not in asked.shown


def test_what_is_told_to_others_is_not_for_a_report() -> None:
    assert Told.read("slurm.conf\n--- a/slurm.conf") is None
