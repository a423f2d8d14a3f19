"""The container where new files are tried: whatever becomes of it, slurmctld does not notice."""

from typing import Any

from tests.unit.components.deployed import Made


def containers(made: Made) -> tuple[dict[str, Any], dict[str, Any]]:
    """slurmctld's, and the one beside it."""
    real, rehearsal, *_ = made.pod("StatefulSet", "controller").spec["containers"]
    assert (real["name"], rehearsal["name"]) == ("slurmctld", "rehearsal")
    return real, rehearsal


def mounts(container: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["mountPath"]: each for each in container["volumeMounts"]}


def test_files_are_tried_by_the_very_slurmctld_that_will_get_them(made: Made) -> None:
    real, rehearsal = containers(made)
    assert rehearsal["image"] == real["image"]
    assert rehearsal.get("env") == real.get("env")


def test_it_has_no_rights(made: Made) -> None:
    context = containers(made)[1]["securityContext"]
    assert context["runAsNonRoot"] is True
    assert context["readOnlyRootFilesystem"] is True
    assert context["allowPrivilegeEscalation"] is False
    assert context["capabilities"] == {"drop": ["ALL"]}


def test_it_has_limits_of_its_own_and_keeps_no_room(made: Made) -> None:
    """A file that makes it eat all memory ends it, and not slurmctld."""
    real, rehearsal = containers(made)
    assert rehearsal["resources"]["limits"] == real["resources"]["limits"]
    assert rehearsal["resources"]["requests"] == {"cpu": "10m", "memory": "32Mi"}


def test_it_shares_no_sockets_and_no_files_but_munges(munge: Made, slurm: Made) -> None:
    real, rehearsal = containers(munge)
    run = mounts(rehearsal)["/run/munge"]
    assert run["name"] == mounts(real)["/run"]["name"]
    assert run["subPath"] == "munge"
    for made in (munge, slurm):
        real, rehearsal = containers(made)
        own = mounts(rehearsal)
        assert {own[path]["name"] for path in ("/tmp", "/run")} == {"rehearsal"}
        shared = {each["name"] for each in real["volumeMounts"]} & {each["name"] for each in rehearsal["volumeMounts"]}
        assert shared - {run["name"]} == {"keys", "jail"}
        assert own["/etc/slurm-keys"]["readOnly"] is True
        assert own["/mnt/jail"]["readOnly"] is True
    assert "/run/munge" not in mounts(containers(slurm)[1])


def test_it_sees_neither_the_queue_nor_the_files_of_the_real_one(made: Made) -> None:
    names = {each["name"] for each in containers(made)[1]["volumeMounts"]}
    assert not names & {"state", "config"}


def test_what_it_writes_has_a_limit(made: Made) -> None:
    volume = made.pod("StatefulSet", "controller").volumes["rehearsal"]
    assert set(volume) == {"name", "emptyDir"}
    assert volume["emptyDir"]["sizeLimit"] == "256Mi"


def test_it_ends_at_once_when_its_pod_does(made: Made) -> None:
    """A shell that is process 1 hears of SIGTERM only if it says so, and the pod would wait for it."""
    assert "trap exit TERM" in containers(made)[1]["command"][-1]


def test_no_probe_of_it_decides_about_the_pod(made: Made) -> None:
    assert not [key for key in containers(made)[1] if key.endswith("Probe")]
