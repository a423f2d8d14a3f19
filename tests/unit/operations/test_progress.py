"""Lines that a user reads while a command waits, and how a wait ends."""

import os
import signal
from collections.abc import Iterator

import pytest

from operations.problem import Cancelled, Problem
from operations.progress import end_on_signals, wait
from tests.unit.operations.clock import Clock


def looking(*answers: str | None):
    """Each in its turn, and the last one for ever."""
    left: Iterator[str | None] = iter(answers)
    return lambda: next(left, answers[-1])


def test_what_is_there_is_not_waited_for(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    began = clock.now
    wait(looking(None), 10, "")
    assert clock.now == began
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("clock")
def test_each_thing_is_said_once_with_the_time_when_the_wait_ends(capsys: pytest.CaptureFixture[str]) -> None:
    wait(looking("files", "files", "files", "slurmctld", "slurmctld", None), 90, "")
    assert capsys.readouterr().out.splitlines() == [
        "waiting until 08:01:30 for files",
        "waiting until 08:01:30 for slurmctld",
    ]


@pytest.mark.usefixtures("clock")
def test_a_wait_without_end_names_none(capsys: pytest.CaptureFixture[str]) -> None:
    wait(looking("jobs", None), float("inf"), "")
    assert capsys.readouterr().out == "waiting for jobs\n"


def test_a_wait_that_is_over_says_for_what_and_where_to_look(clock: Clock) -> None:
    with pytest.raises(Problem) as told:
        wait(looking("files", "slurmctld"), 5, "Look there.", pause=1)
    assert str(told.value) == "waited 5 s for slurmctld.\nLook there."
    assert clock.now == pytest.approx(1_800_000_000 + 6)


@pytest.mark.parametrize("pause", [0.05, 2.0])
def test_it_looks_as_often_as_it_is_told_to(clock: Clock, pause: float) -> None:
    began = clock.now
    wait(looking("x", "x", None), 60, "", pause)
    assert clock.now - began == pytest.approx(2 * pause)


@pytest.mark.usefixtures("clock")
def test_it_ends_when_whoever_started_it_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that was killed would otherwise leave it behind, for the next one to meet."""
    parent = os.getppid()
    answers = iter([parent, parent, 1])
    monkeypatch.setattr("operations.progress.os.getppid", lambda: next(answers))
    with pytest.raises(Problem, match="whoever started this is gone"):
        wait(looking("jobs"), float("inf"), "")
    assert list(answers) == []


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_wait_as_a_problem(clock: Clock, number: signal.Signals) -> None:
    end_on_signals()
    clock.after(3, lambda: os.kill(os.getpid(), number))
    with pytest.raises(Cancelled, match=f"cancelled \\({number.name}\\)"):
        wait(looking("jobs"), float("inf"), "")


@pytest.mark.usefixtures("handlers")
def test_a_second_signal_does_not_disturb_the_putting_back(clock: Clock) -> None:
    end_on_signals()
    clock.after(1, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(Cancelled):
        wait(looking("jobs"), 60, "")
    clock.after(1, lambda: os.kill(os.getpid(), signal.SIGTERM))
    clock.after(1, lambda: os.kill(os.getpid(), signal.SIGINT))
    wait(looking("files", "files", "files", "files", "files", None), 60, "")
