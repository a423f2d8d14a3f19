"""A second controller: asked where the first is not there, and brought to the same files."""

import json
import subprocess

import pytest

from operations import act, push
from operations.kubectl import Cluster

Done = subprocess.CompletedProcess[str]
NO_POD = 'Error from server (NotFound): pods "controller-0" not found'
NO_MACHINE = (
    'error: Internal error occurred: error sending request: Post "https://10.0.0.1:10250/exec/science/controller-0": '
    "dial tcp 10.0.0.1:10250: connect: no route to host"
)
OFF = {"conditions": [{"type": "Ready", "status": "False"}, {"type": "ContainersReady", "status": "True"}]}


class Two:
    """Answers kubectl for a cluster with two controllers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        self.gone: dict[str, str] = {}
        self.files = {"controller-0": "new", "controller-1": "new"}
        self.uids = {"controller-0": 0, "controller-1": 0}
        monkeypatch.setattr("subprocess.run", self.run)
        monkeypatch.setattr("time.sleep", lambda _: None)

    def pod(self, name: str) -> dict[str, object]:
        status = OFF if self.gone.get(name) == NO_MACHINE else {}
        return {"metadata": {"name": name, "uid": str(self.uids[name])}, "status": status}

    def away(self, name: str, why: str) -> None:
        self.gone[name] = why
        if why == NO_POD:
            del self.uids[name]

    def run(self, argv: list[str], **_: object) -> Done:
        match argv[3:]:
            case ["exec", "-i", pod, *words]:
                self.asked.append(pod)
                if pod in self.gone:
                    return Done(argv, 1, "", self.gone[pod])
                if self.files[pod] == "old":
                    self.files[pod] = "new"  # by the next time
                    return Done(argv, push.OLD, "", "")
                return Done(argv, 0, "up\n" if "sh" in words else "", "")
            case ["get", "configmap", *_]:
                return Done(argv, 0, '{"data": {}}', "")
            case ["annotate", *_]:
                said = "".join(f"pod/{pod} annotated\n" for pod in self.uids)
                return Done(argv, 0, said, "")
            case ["get", "pods", *_]:
                return Done(argv, 0, json.dumps({"items": [self.pod(name) for name in self.uids]}), "")
            case ["delete", "pod", pod, *_]:
                self.asked.append(f"delete {pod}")
                self.uids[pod] += 1
                return Done(argv, 0, "", "")
        raise AssertionError(argv)


@pytest.fixture(autouse=True)
def nobody_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("operations.kubectl._FIRST", {})


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Two:
    return Two(monkeypatch)


@pytest.mark.parametrize("why", [NO_POD, NO_MACHINE])
def test_the_second_is_asked_where_the_first_is_not_there(two: Two, why: str) -> None:
    two.away("controller-0", why)
    assert Cluster("science").controller("scontrol ping").stdout == "up\n"
    assert two.asked == ["controller-0", "controller-1"]


def test_a_machine_that_is_off_is_not_taken_for_an_api_server_that_is_away(two: Two) -> None:
    """That one is asked again and again for a minute."""
    two.away("controller-0", NO_MACHINE)
    Cluster("science", patience=60).controller("scontrol ping")
    assert two.asked == ["controller-0", "controller-1"]


def test_a_machine_that_is_off_is_not_asked_first_by_an_update(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes half a minute to be silent."""
    monkeypatch.setenv("SLIPWAY_BACKUP", "yes")
    two.away("controller-0", NO_MACHINE)
    Cluster("science").controller("scontrol ping")
    assert two.asked == ["controller-1"]


def test_one_that_was_away_is_asked_again_when_it_is_the_only_one(two: Two) -> None:
    two.away("controller-0", NO_MACHINE)
    cluster = Cluster("science")
    cluster.controller("scontrol ping")
    cluster.controller("scontrol ping")
    assert two.asked == ["controller-0", "controller-1", "controller-1"]
    two.gone = {"controller-1": NO_MACHINE}
    cluster.controller("scontrol ping")
    cluster.controller("scontrol ping")
    assert two.asked[3:] == ["controller-1", "controller-0", "controller-0"]


def test_the_first_is_complained_of_where_none_is_there(two: Two) -> None:
    two.away("controller-0", NO_MACHINE)
    two.away("controller-1", NO_MACHINE)
    assert Cluster("science").controller("scontrol ping").stderr == NO_MACHINE
    assert two.asked == ["controller-0"]


def test_what_a_first_one_that_is_there_does_not_answer_is_not_asked_of_the_second(two: Two) -> None:
    """It may have heard it."""
    two.gone["controller-0"] = "unexpected EOF"
    assert Cluster("science").controller("scontrol update").returncode == 1
    assert two.asked == ["controller-0"]


def test_files_are_waited_for_in_both(two: Two) -> None:
    two.files["controller-1"] = "old"
    push.push(Cluster("science"), {})
    assert two.asked == ["controller-1", "controller-1", "controller-0"]


def test_a_second_that_is_not_there_is_not_waited_for(two: Two) -> None:
    two.away("controller-1", NO_MACHINE)
    push.push(Cluster("science"), {})
    assert two.asked == ["controller-1", "controller-0"]


def test_a_restart_is_of_both_and_of_the_second_first(two: Two) -> None:
    act.restart(Cluster("science"))
    assert two.asked[:2] == ["delete controller-1", "delete controller-0"]
