"""The caretaker at work: what it reads from Slurm and Kubernetes, and what it then tells them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from caretaker import clients
from caretaker.__main__ import Caretaker
from caretaker.care import Annotate, Patience, Replace

from tests.unit.images.worlds import REBOOT, kubernetes_node, node

SHOWN = """NodeName=w-0 Arch=x86_64 CPUAlloc=0 State=IDLE+DRAIN+NOT_RESPONDING ThreadsPerCore=1 Reason=a [b] c State=X [root@2027-01-01T00:00:00] Comment=x
NodeName=gpu-a-11 Arch=x86_64 State=MIXED ThreadsPerCore=1
"""  # noqa: E501


def test_nodes_are_read_as_scontrol_shows_them() -> None:
    found = clients.parse(SHOWN)
    assert found["w-0"] == node("w-0", "IDLE+DRAIN+NOT_RESPONDING", "a [b] c State=X")
    assert found["gpu-a-11"] == node("gpu-a-11", "MIXED")
    assert found["gpu-a-11"].node_set == "gpu-a"


# Takes down what it is asked for, with its configuration; the answer is in a file by the last word of the path.
CURL = r"""#!/bin/sh
for word in "$@"; do
    case $word in
        https://*) url=${word#https://kubernetes.default.svc} ;;
        http://*) [ ! -e backup ]; exit ;;
        DELETE | PATCH) method=$word ;;
    esac
done
config=$(cat)
[ ! -e refused ] || { echo refused >&2; exit 22; }
if [ -n "${method:-}" ]; then
    printf '%s %s %s\n' "$method" "$url" "$(printf '%s\n' "$config" | sed -n 's/^data = //p')" >> told
    exit
fi
page=${url##*continue=}
url=${url%%\?*}
[ "$page" != 2 ] || url=$url-2
cat "${url##*/}"
"""
SCONTROL = '#!/bin/sh\ncase $1 in show) cat slurm ;; *) echo "$@" >> told ;; esac\n'


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bin").mkdir()
    for name, text in {"curl": CURL, "scontrol": SCONTROL}.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "namespace").write_text("science")
    (tmp_path / "token").write_text("secret")
    (tmp_path / "slurm").write_text(SHOWN.replace("+DRAIN+NOT_RESPONDING", "").replace("gpu-a-11", "w-1"))
    pods = [
        {
            "metadata": {"name": f"w-{number}", "uid": f"u{number}", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"nodeName": "m0"},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }
        for number in range(2)
    ]
    (tmp_path / "pods").write_text(json.dumps({"metadata": {"continue": "2"}, "items": pods[:1]}))
    (tmp_path / "pods-2").write_text(json.dumps({"metadata": {}, "items": pods[1:]}))
    (tmp_path / "nodes").write_text(
        json.dumps({"metadata": {}, "items": [kubernetes_node(spec={"unschedulable": True})]})
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(clients, "ACCOUNT", tmp_path)
    return tmp_path


def caretaker(limit: float = 0) -> Caretaker:
    return Caretaker(clients.Slurm(6817), clients.Kubernetes(), Patience(limit), REBOOT)


def test_a_round_looks_decides_and_acts(pod: Path) -> None:
    caretaker().round()
    told = (pod / "told").read_text().splitlines()
    assert told == [
        "update NodeName=w-0 State=DRAIN Reason=slipway:cordoned: m0 is cordoned",
        "update NodeName=w-1 State=DRAIN Reason=slipway:cordoned: m0 is cordoned",
    ]


def test_a_backup_slurmctld_has_an_idle_caretaker(pod: Path) -> None:
    (pod / "backup").touch()
    caretaker().round()
    assert not (pod / "told").exists()


def test_pods_are_ended_by_name_and_identity_and_machines_marked(pod: Path) -> None:
    made = caretaker()
    made.act(Replace("w-0", "u0", "x"))
    made.act(Replace("w-1", "u1", "x", force=True))
    made.act(Annotate("m0", "now"))
    made.act(Annotate("m0", None))
    asked = [line.split(" ", 2) for line in (pod / "told").read_text().splitlines()]
    bodies = [json.loads(json.loads(each[2])) for each in asked]
    assert [each[:2] for each in asked] == [
        ["DELETE", "/api/v1/namespaces/science/pods/w-0"],
        ["DELETE", "/api/v1/namespaces/science/pods/w-1"],
        ["PATCH", "/api/v1/nodes/m0"],
        ["PATCH", "/api/v1/nodes/m0"],
    ]
    assert bodies == [
        {"preconditions": {"uid": "u0"}},
        {"preconditions": {"uid": "u1"}, "gracePeriodSeconds": 0},
        {"metadata": {"annotations": {REBOOT: "now"}}},
        {"metadata": {"annotations": {REBOOT: None}}},
    ]


def test_what_is_refused_is_told_and_keeps_nobody_from_the_rest(pod: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = caretaker()
    (pod / "refused").touch()
    made.act(Replace("w-0", "u0", "x"))
    assert "refused" in capsys.readouterr().out
    with pytest.raises(clients.Unanswered, match="refused"):
        made.round()


def test_it_ends_when_it_is_told_to(pod: Path) -> None:
    images = Path(__file__).parents[3] / "images" / "controller"
    script = f"from pathlib import Path; from caretaker import clients, __main__; clients.ACCOUNT = Path({str(pod)!r})"
    env = {**os.environ, "PYTHONPATH": str(images), "STUCK_AFTER": "300", "SLURMCTLD_PORT": "6817"}
    argv = [sys.executable, "-c", f"{script}; __main__.main()"]
    process = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline().startswith("caretaker: Drain(node='w-0'")
    process.terminate()
    assert process.wait(10) == 0
