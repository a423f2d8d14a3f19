"""What is sent into the controller's pod, in a real shell, with commands that only tell how they were called."""

import http.server
import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from operations import act, apply, draining

STATES = (draining.ACTIVE, draining.WAITING)
HOUSE = Path(__file__).parents[3]


@pytest.fixture
def pod(tmp_path: Path):
    """A pod where some commands are what a test says."""

    def run(script: str, *words: str, **commands: str) -> subprocess.CompletedProcess[str]:
        for name, text in commands.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
            (tmp_path / name).chmod(0o755)
        environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        argv = ["sh", "-s", *words]
        return subprocess.run(argv, input=script, env=environment, capture_output=True, text=True)

    return run


def test_jobs_are_those_that_run_on_nodes_and_those_that_run_or_wait_in_partitions(pod) -> None:
    asked = pod(draining.JOBS, "worker-[2-3]", "old,debug", *STATES, squeue='echo "$*"').stdout.splitlines()
    on_nodes, in_partitions = sorted(asked)
    assert f"--nodelist=worker-[2-3] --states={draining.ACTIVE} " in on_nodes
    assert f"--partition=old,debug --states={draining.WAITING},{draining.ACTIVE} " in in_partitions
    for line in (on_nodes, in_partitions):
        assert line.startswith("--noheader ")
        assert line.endswith("--format=%A|%T|%P|%N|%u")


@pytest.mark.parametrize("state", ["R", "S", "CF", "CG", "RS", "SI", "SO", "ST"])
def test_a_job_has_its_nodes_in_many_states_and_all_who_ask_know_them(state: str) -> None:
    """For squeue a job that is CONFIGURING does not run."""
    assert state in draining.ACTIVE.split(",")
    for script in ("worker/stop", "common/slipway/wait-for-controller"):
        assert f"--states={draining.ACTIVE} " in (HOUSE / "images" / script).read_text()


@pytest.mark.parametrize("state", ["PD", "RH", "SE"])
def test_a_job_waits_also_where_it_is_held_after_it_ran(state: str) -> None:
    assert state in draining.WAITING.split(",")
    assert f"--states={draining.WAITING} " in draining.PENDING


@pytest.mark.parametrize(("nodes", "partitions"), [("worker-2", ""), ("", "old")])
def test_nobody_is_asked_about_nothing(pod, nodes: str, partitions: str) -> None:
    """An empty list would be all of them for squeue."""
    [asked] = pod(draining.JOBS, nodes, partitions, *STATES, squeue='echo "$*"').stdout.splitlines()
    assert ("--nodelist" in asked) == bool(nodes)


def test_a_job_that_matches_twice_is_listed_once(pod) -> None:
    shown = pod(draining.JOBS, "worker-2", "old", *STATES, squeue="echo '7|RUNNING|old|worker-2|alice'")
    assert shown.stdout == "7|RUNNING|old|worker-2|alice\n"


@pytest.mark.parametrize(("nodes", "partitions"), [("worker-2", ""), ("", "old"), ("worker-2", "old")])
def test_a_queue_that_cannot_be_read_is_not_an_empty_one(pod, nodes: str, partitions: str) -> None:
    done = pod(draining.JOBS, nodes, partitions, *STATES, squeue="echo 'Unable to contact slurm' >&2; exit 1")
    assert done.returncode != 0
    assert "Unable to contact slurm" in done.stderr


def test_drains_are_one_command_with_a_reason_of_one_word_or_more(pod) -> None:
    told = pod(draining.DRAIN, "worker-[2-3]", "slipway:change", scontrol='printf "%s;" "$@"').stdout
    assert told == "update;NodeName=worker-[2-3];State=DRAIN;Reason=slipway:change;"
    assert pod(draining.UNDRAIN, "worker-2", scontrol='echo "$*"').stdout == "update NodeName=worker-2 State=UNDRAIN\n"


def test_partitions_are_set_one_after_the_other_and_a_refusal_is_told(pod) -> None:
    done = pod(draining.PARTITIONS, "old,debug", "DRAIN", scontrol='echo "$*"')
    assert done.stdout.splitlines() == [f"update PartitionName={name} State=DRAIN" for name in ("old", "debug")]
    assert pod(draining.PARTITIONS, "old,debug", "DRAIN", scontrol="exit 1").returncode != 0


def test_a_job_that_has_ended_meanwhile_does_not_keep_the_others(pod) -> None:
    done = pod(draining.END, "scontrol requeue", "7 8", scontrol='echo "$*"; exit 1')
    assert done.stdout.splitlines() == ["requeue 7", "requeue 8"]
    assert done.returncode == 0
    assert pod(draining.END, "scancel", "7 8", scancel='echo "$*"').stdout.splitlines() == ["7", "8"]


def test_a_reconfigure_tells_its_time_and_what_scontrol_said(pod) -> None:
    done = pod(act.RECONFIGURE, date="echo 2027-01-15T08:00:00", scontrol="echo refused >&2; exit 1")
    assert done.returncode == 0
    assert done.stdout == "2027-01-15T08:00:00\nrefused\n"


def test_the_first_live_update_that_is_refused_ends_it(pod) -> None:
    done = pod(act.LIVE.format("scontrol a\nscontrol b"), scontrol='echo "$*"; exit 1')
    assert (done.returncode, done.stdout) == (1, "a\n")


def test_only_names_that_are_new_to_slurm_are_looked_up(pod, tmp_path: Path) -> None:
    scontrol = """case "$2" in
        hostnames) printf '%s\\n' worker-0 worker-1 gpu-a-0 gpu-a-1 ;;
        nodes) printf 'NodeName=%s Arch=x86_64\\n' worker-0 ;;
    esac"""
    getent = f'echo "$2" >> {tmp_path}/asked; case "$2" in worker-1.*) exit 0 ;; *) exit 2 ;; esac'
    script = apply.UNRESOLVED.replace("/tmp/", f"{tmp_path}/")
    assert script != apply.UNRESOLVED
    done = pod(script, "worker-[0-1],gpu-a-[0-1]", "science.svc.cluster.local", "0", scontrol=scontrol, getent=getent)
    assert done.stdout.split() == ["gpu-a-0", "gpu-a-1"]
    assert (tmp_path / "asked").read_text().splitlines() == [
        "gpu-a-0.gpu-a.science.svc.cluster.local",
        "gpu-a-1.gpu-a.science.svc.cluster.local",
        "worker-1.worker.science.svc.cluster.local",
    ]


def test_names_that_come_soon_are_waited_for_from_inside(pod, tmp_path: Path) -> None:
    scontrol = 'case "$2" in hostnames) echo worker-1 ;; esac'
    getent = f'echo >> {tmp_path}/asked; [ "$(wc -l < {tmp_path}/asked)" -ge 3 ]'
    script = apply.UNRESOLVED.replace("/tmp/", f"{tmp_path}/")
    done = pod(script, "worker-1", "science.svc.cluster.local", "60", scontrol=scontrol, getent=getent)
    assert done.stdout.split() == []
    assert len((tmp_path / "asked").read_text().splitlines()) == 3


@pytest.fixture
def serving():
    """A port where somebody answers that it is ready."""

    class Ready(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/readyz" else 404)
            self.end_headers()

        def log_message(self, format: str, *_: object) -> None:  # noqa: A002 -- the base's name
            """Nobody wants to know."""

    with http.server.HTTPServer(("127.0.0.1", 0), Ready) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_any_slurmctld_that_is_ready_will_do(serving: int) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        closed = f"127.0.0.1:{nobody.getsockname()[1]}"
        script = HOUSE / "images" / "common" / "slipway" / "slurmctld-ready"
        asked = {f"{closed},127.0.0.1:{serving}": 0, f"127.0.0.1:{serving}": 0, f"{closed},{closed}": 1, closed: 1}
        for where, code in asked.items():
            done = subprocess.run([script], env={**os.environ, "SLURM_CONTROLLER": where})
            assert done.returncode == code, where
