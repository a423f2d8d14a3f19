"""`operations/run apply` against a kubectl that plays answers: what it waits for, does, and says."""

import pytest

from operations import apply
from operations.__main__ import main
from operations.kubectl import Cluster
from tests.unit.operations.kubectl import Kubectl

WANTED, OLD = "f" * 64, "0" * 64


def test_slurm_is_told_to_read_its_files_even_where_slurmctld_has_them(serving: Kubectl, capsys) -> None:
    """It may have started with them: the workers have still the last ones."""
    assert main(["apply"]) == 0
    assert serving.asked == ["look", "names", "reconfigure", "statefulsets", "sinfo"]
    assert capsys.readouterr().out.splitlines() == ["reconfigured", "nodes worker-[0-1] serve"]


def test_everything_happens_in_the_controllers_container_of_the_stacks_namespace(serving: Kubectl) -> None:
    main(["apply"])
    for call in serving.calls:
        assert "--namespace science" in call
        if not call.startswith("statefulsets"):
            assert "exec -i controller-0 -c slurmctld -- sh -s" in call
    assert serving.calls[-1].endswith("sh -s worker-[0-1]")


def test_running_it_again_does_no_harm(serving: Kubectl) -> None:
    assert [main(["apply"]), main(["apply"])] == [0, 0]


def test_files_that_have_not_arrived_are_sent_for_by_touching_the_pod_once(kubectl: Kubectl, capsys) -> None:
    kubectl.answers("look", f"{OLD}\nup\n")
    kubectl.answers("look-touched", f"{OLD}\nup\n")
    kubectl.answers("look-touched", f"{WANTED}\nup\n")
    kubectl.answers("sinfo", "worker-0 idle\nworker-1 idle\n")
    assert main(["apply"]) == 0
    assert kubectl.asked == ["look", "annotate", "look-touched", "names", "reconfigure", "statefulsets", "sinfo"]
    [touched] = [call for call in kubectl.calls if call.startswith("annotate")]
    assert touched.endswith(f"annotate pod controller-0 slipway/config={WANTED[:16]} --overwrite")
    assert "waiting for its files to arrive" in capsys.readouterr().out


def test_a_controller_that_is_not_there_yet_is_waited_for_and_said_once(kubectl: Kubectl, capsys) -> None:
    for _ in range(2):
        kubectl.answers("look", err='pods "controller-0" not found', code=1)
    kubectl.answers("look", f"{WANTED}\ndown\n")
    kubectl.answers("look", f"{WANTED}\nup\n")
    kubectl.answers("sinfo", "worker-0 idle\nworker-1 idle\n")
    assert main(["apply"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        'waiting for the pod controller-0 to run (pods "controller-0" not found)',
        "waiting for slurmctld to answer",
    ]
    assert "annotate" not in kubectl.asked  # its files were right from the start


@pytest.mark.parametrize(
    ("answer", "waited"),
    [
        ({"err": 'pods "controller-0" not found', "code": 1}, "the pod controller-0 to run"),
        ({"out": f"{OLD}\nup\n"}, "its files to arrive"),
        ({"out": f"{WANTED}\ndown\n"}, "slurmctld to answer"),
        ({"out": "half\n"}, "the pod controller-0 to run"),
    ],
)
def test_a_controller_that_never_comes_is_an_error_that_says_where_to_look(
    kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch, capsys, answer: dict, waited: str
) -> None:
    monkeypatch.setattr(apply, "CONTROLLER_SECONDS", 0)
    kubectl.answers("look", **answer)
    assert main(["apply"]) == 1
    said = capsys.readouterr().err
    assert f"waited 0 s for {waited}" in said
    assert "kubectl -n science describe pod controller-0" in said
    assert "reconfigure" not in kubectl.asked


def test_why_the_controller_cannot_be_reached_is_told(
    kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(apply, "CONTROLLER_SECONDS", 0)
    kubectl.answers("look", err="Unable to connect to the server: no such host", code=1)
    assert main(["apply"]) == 1
    assert "Unable to connect to the server" in capsys.readouterr().err


def test_a_refused_configuration_is_told_in_slurmctlds_own_words(kubectl: Kubectl, capsys) -> None:
    words = "slurm_reconfigure error: Unable to parse PartitionName line"
    kubectl.answers("look", f"{WANTED}\nup\n")
    kubectl.answers_at_first("reconfigure", err=f"{words}\n", code=1)
    assert main(["apply"]) == 1
    assert words in capsys.readouterr().err
    assert "sinfo" not in kubectl.asked


@pytest.mark.parametrize("state", ["idle*", "unknown", "unk*", "down*", "drained*"])
def test_nodes_that_have_not_registered_are_named(
    serving: Kubectl, monkeypatch: pytest.MonkeyPatch, capsys, state: str
) -> None:
    monkeypatch.setattr(apply, "NODES_SECONDS", 0)
    serving.answers_at_first("sinfo", f"worker-0 idle\nworker-1 {state}\n")
    assert main(["apply"]) == 1
    said = capsys.readouterr()
    assert "waiting for worker-1 to register" in said.out
    assert "waited 0 s for worker-1 to register" in said.err
    assert "kubectl -n science get pods" in said.err


def test_a_node_that_an_administrator_has_taken_out_does_not_hold_up_an_update(serving: Kubectl) -> None:
    serving.answers_at_first("sinfo", "worker-0 drained\nworker-1 down\n")
    assert main(["apply"]) == 0


def test_nodes_are_waited_for_until_they_come(serving: Kubectl, capsys) -> None:
    serving.answers_at_first("sinfo", "worker-0 unknown\nworker-1 unknown\n")
    serving.answers("sinfo", "worker-0 idle\nworker-1 idle\n")
    assert main(["apply"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "waiting for worker-0, worker-1 to register",
        "nodes worker-[0-1] serve",
    ]


def test_names_of_new_pods_are_waited_for_before_slurmctld_looks_them_up(serving: Kubectl, capsys) -> None:
    serving.answers_at_first("names", "worker-1\n")
    serving.answers("names")
    assert main(["apply"]) == 0
    assert "waiting for the pods of worker-1 to get their names" in capsys.readouterr().out
    asked = next(call for call in serving.calls if call.startswith("names"))
    assert asked.endswith("sh -s worker-[0-1] science.svc.cluster.local")


def test_names_that_never_come_leave_the_running_slurm_as_it_is(
    serving: Kubectl, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(apply, "NAMES_SECONDS", 0)
    serving.answers_at_first("names", "\n".join(f"worker-{number}" for number in range(20)))
    assert main(["apply"]) == 1
    assert "worker-7 and 12 more to get their names" in capsys.readouterr().err
    assert "reconfigure" not in serving.asked


def test_nodes_that_slurm_knows_nothing_of_are_named_too(
    serving: Kubectl, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(apply, "NODES_SECONDS", 0)
    serving.answers_at_first("sinfo", "")
    assert main(["apply"]) == 1
    assert "worker-[0-1]" in capsys.readouterr().err


def test_a_dynamic_node_that_has_not_made_itself_known_is_missed(
    serving: Kubectl, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(apply, "NODES_SECONDS", 0)
    serving.answers_at_first("sinfo", "worker-0 idle\n")
    assert main(["apply"]) == 1
    assert "worker-1" in capsys.readouterr().err


def test_no_nodes_are_asked_for_where_there_are_none(serving: Kubectl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPWAY_NODES", "")
    assert main(["apply"]) == 0
    assert "sinfo" not in serving.asked


def test_without_kubectl_it_says_what_to_install(kubectl: Kubectl, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("PATH", str(kubectl.folder / "nothing"))
    assert main(["apply"]) == 1
    assert capsys.readouterr().err.startswith("kubectl is not on PATH: install it")


def test_a_kubectl_that_hangs_is_given_up(kubectl: Kubectl) -> None:
    (kubectl.folder / "kubectl").write_text("#!/bin/sh\nexec sleep 60\n")
    done = Cluster("science").kubectl("get", "pods", seconds=0.1)
    assert done.returncode != 0
    assert "no answer" in done.stderr
