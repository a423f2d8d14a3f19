"""`health` on a worker: what it finds, and what it tells slurmctld of it. Administrators' drains are left alone."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from config import Settings
from slurm.render import render

WORKER = Path(__file__).parents[3] / "images" / "worker"
# A slurmctld that knows one node: `node` holds its state and reason.
SCONTROL = r"""#!/bin/sh
echo "$@" >> told
case $1 in
    show) [ ! -e silent ] || exit 1
        read -r state reason < node
        printf 'NodeName=gpu-3 Arch=x\n   State=%s ThreadsPerCore=1\n' "$state"
        [ -z "$reason" ] || printf '   Reason=%s [root@2027-01-01T00:00:00]\n' "$reason" ;;
    update)
        case $3 in
            State=DRAIN) echo "IDLE+DRAIN ${4#Reason=}" > node ;;
            State=UNDRAIN) echo "IDLE" > node ;;
        esac ;;
esac
"""


class Worker:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands = folder / "bin"
        for name in ("bin", "conf", "health", "checks", "shm"):
            (folder / name).mkdir()
        text = (WORKER / "health").read_text()
        for path, own in {
            "PATH=/usr/local/sbin:": f"PATH={self.commands}:/usr/local/sbin:",
            "/run/slipway/health": str(folder / "health"),
            "/run/slurm/conf": str(folder / "conf"),
            "/usr/local/lib/slipway/checks": str(folder / "checks"),
            "/dev/shm": str(folder / "shm"),
        }.items():
            assert path in text
            text = text.replace(path, own)
        self.write("bin/health", text)
        self.write("bin/scontrol", SCONTROL)
        self.state("IDLE")
        for name in ("jail", "disk", "memory", "clock", "gpus"):
            self.check(name, "true")

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def check(self, name: str, text: str) -> None:
        """What a built-in check finds here."""
        self.write(f"checks/{name}", f"#!/bin/sh\n{text}\n")

    def sent(self, **health: object) -> None:
        """What slurmctld has sent for this config."""
        wanted = {"enabled": True, "timeout": "2s", **health}
        files = render(Settings.model_validate({"health": wanted}))
        for name in ("prolog.sh", "epilog.sh"):
            self.write(f"conf/{name}", files[name].replace("/usr/local/sbin/health", str(self.commands / "health")))

    def state(self, state: str, reason: str = "") -> None:
        (self.folder / "node").write_text(f"{state} {reason}\n")

    @property
    def node(self) -> str:
        return (self.folder / "node").read_text().strip()

    def told(self) -> list[str]:
        """What slurmctld was told to change."""
        file = self.folder / "told"
        return [line for line in file.read_text().splitlines() if line.startswith("update")] if file.exists() else []

    def run(self, *argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
        env = {"SLURMD_NODENAME": "gpu-3", **environment}
        return subprocess.run(
            argv or [str(self.commands / "health")],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=30,
        )

    def prolog(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.run(str(self.folder / "conf" / "prolog.sh"), **{"SLURM_JOB_ID": "7", **environment})

    def epilog(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.run(str(self.folder / "conf" / "epilog.sh"), **environment)


@pytest.fixture
def worker(tmp_path: Path) -> Worker:
    made = Worker(tmp_path)
    made.sent()
    return made


def test_a_node_that_is_well_is_left_alone_and_slurmctld_is_asked_once(worker: Worker) -> None:
    for _ in range(3):
        assert worker.run().returncode == 0
    assert worker.told() == []
    assert (worker.folder / "told").read_text().count("show node gpu-3") == 1


def test_a_node_that_fails_is_drained_with_a_reason_of_ours(worker: Worker) -> None:
    worker.check("disk", "echo '1% is free'; exit 1")
    done = worker.run()
    assert done.returncode == 1
    assert "disk: 1% is free" in done.stdout, "slurmd logs it"
    assert worker.node == "IDLE+DRAIN slipway:health: disk: 1% is free"
    worker.run()
    assert len(worker.told()) == 1, "said once"


def test_all_that_fails_is_in_the_reason_and_news_are_told(worker: Worker) -> None:
    worker.check("disk", "echo 'no \"room\"'; exit 1")
    worker.run()
    worker.check("memory", "echo none; exit 1")
    worker.run()
    assert worker.node == "IDLE+DRAIN slipway:health: disk: no 'room';memory: none"


def test_a_node_that_recovers_is_resumed_after_two_good_rounds(worker: Worker) -> None:
    worker.check("disk", "exit 1")
    worker.run()
    worker.check("disk", "true")
    worker.run()
    assert "DRAIN" in worker.node
    worker.check("disk", "exit 1")
    worker.run()
    worker.check("disk", "true")
    worker.run()
    assert "DRAIN" in worker.node, "the count begins anew"
    worker.run()
    assert worker.node == "IDLE"


def test_a_new_pod_takes_the_drain_of_the_last_one_away(worker: Worker) -> None:
    worker.state("IDLE+DRAIN", "slipway:health: jail: nothing is mounted")
    worker.run()
    worker.run()
    assert worker.node == "IDLE"


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("IDLE+DRAIN", "new memory on Friday"),
        ("DOWN", "broken fan"),
        ("DOWN+NOT_RESPONDING", "Not responding"),
        ("MIXED+DRAIN", "slipway:change"),
        ("IDLE+DRAIN", "slipway:cordoned: compute-0"),
        ("IDLE+DRAIN", "slipway:reboot@compute-0/1a2b: kernel"),
    ],
)
def test_what_others_have_taken_out_of_service_is_left_to_them(worker: Worker, state: str, reason: str) -> None:
    worker.state(state, reason)
    worker.check("disk", "exit 1")
    worker.run()
    worker.check("disk", "true")
    for _ in range(3):
        worker.run()
    assert worker.node == f"{state} {reason}"
    assert worker.told() == []


def test_a_reason_that_was_left_over_on_a_node_in_service_does_not_keep_it_there(worker: Worker) -> None:
    worker.state("IDLE", "slipway:stopping")
    worker.check("disk", "exit 1")
    worker.run()
    assert worker.node.startswith("IDLE+DRAIN slipway:health")


def test_a_silent_slurmctld_is_told_the_next_time(worker: Worker) -> None:
    (worker.folder / "silent").touch()
    worker.check("disk", "exit 1")
    worker.run()
    assert worker.told() == []
    (worker.folder / "silent").unlink()
    worker.run()
    assert "DRAIN" in worker.node


def test_a_check_that_hangs_has_failed_and_is_not_started_again(worker: Worker) -> None:
    worker.check("jail", f"echo >> {worker.folder}/started; exec sleep 25")
    began = time.monotonic()
    assert worker.run().returncode == 1
    assert time.monotonic() - began < 10
    assert worker.node == "IDLE+DRAIN slipway:health: jail: no answer for more than 2 s"
    worker.run()
    assert (worker.folder / "started").read_text().count("\n") == 1
    process = Path("/proc") / (worker.folder / "health" / "jail.pid").read_text().strip()
    os.kill(int(process.name), 9)
    while process.exists() and "\nState:\tZ" not in (process / "status").read_text():
        time.sleep(0.01)
    worker.check("jail", "true")
    worker.run()
    worker.run()
    assert worker.node == "IDLE"


def test_own_checks_run_as_they_say_and_what_they_say_last_is_the_reason(worker: Worker) -> None:
    mine = '#!/bin/bash\narray=(one two)\necho first\necho "${array[1]} on $NODE of $NODE_SET"\nexit 3\n'
    worker.sent(checks={"mine": mine, "well": "exit 0"})
    worker.run()
    assert worker.node == "IDLE+DRAIN slipway:health: mine: two on gpu-3 of gpu"


def test_what_slurmctld_sends_anew_takes_effect(worker: Worker) -> None:
    worker.sent(checks={"mine": "exit 1"})
    worker.run()
    assert "mine" in worker.node
    worker.sent(skip=["jail"])
    worker.check("jail", "exit 1")
    worker.run()
    worker.run()
    assert worker.node == "IDLE"


def test_a_check_may_ask_for_a_reboot_where_that_is_possible(worker: Worker) -> None:
    worker.sent(checks={"kernel": "echo 'reboot: a task hangs'; exit 1"})
    worker.run()
    assert worker.node == "IDLE+DRAIN slipway:health: kernel: reboot: a task hangs"
    worker.state("IDLE")
    worker.sent(checks={"kernel": "echo 'reboot: a task hangs'; exit 1"}, reboot={})
    worker.run()
    assert worker.node == "IDLE+DRAIN slipway:reboot: kernel: reboot: a task hangs"


def test_without_a_file_there_is_nothing_to_do(worker: Worker) -> None:
    (worker.folder / "conf" / "prolog.sh").unlink()
    assert worker.run().returncode == 0


def test_a_job_does_not_start_where_the_shared_root_is_away(worker: Worker) -> None:
    assert worker.prolog().returncode == 0
    worker.check("disk", "exit 1")
    assert worker.prolog().returncode == 0, "what is not quick is left to the rounds"
    worker.check("jail", "echo away; exit 1")
    assert worker.prolog().returncode == 1
    assert worker.node == "IDLE+DRAIN slipway:health: jail: away"


def test_an_own_prolog_that_fails_is_for_an_administrator(worker: Worker) -> None:
    worker.sent(prolog={"one": "echo $SLURM_JOB_ID > seen", "two": "echo no room for $SLURM_JOB_ID; exit 1"})
    assert worker.prolog(SLURM_JOB_ID="7").returncode == 1
    assert (worker.folder / "seen").read_text() == "7\n"
    assert worker.node == "IDLE+DRAIN prolog two failed: no room for 7"
    worker.run()
    worker.run()
    assert "DRAIN" in worker.node


def test_a_prolog_runs_to_its_end_as_it_began_whatever_slurmctld_sends_meanwhile(worker: Worker) -> None:
    worker.sent(prolog={"one": "touch begun; while [ ! -e go ]; do sleep 0.01; done", "two": "exit 1"})
    with subprocess.Popen(
        [str(worker.folder / "conf" / "prolog.sh")], cwd=worker.folder, env={"SLURMD_NODENAME": "gpu-3"}
    ) as running:
        deadline = time.monotonic() + 20
        while not (worker.folder / "begun").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        worker.sent(prolog={"other": "true"})
        assert worker.run().returncode == 0
        (worker.folder / "go").touch()
        assert running.wait(20) == 1
    assert worker.node == "IDLE+DRAIN prolog two failed:"
    assert worker.prolog().returncode == 0


def test_an_own_epilog_that_fails_is_for_an_administrator_too(worker: Worker) -> None:
    worker.sent(epilog={"scratch": "exit 4"})
    assert worker.epilog(SLURM_JOB_UID="0").returncode == 1
    assert worker.node == "IDLE+DRAIN epilog scratch failed:"


def test_what_a_user_left_in_memory_goes_with_the_last_job(worker: Worker) -> None:
    nobody, other = 3000000001, 3000000002
    for name, owner in {"theirs": nobody, "others": other}.items():
        (worker.folder / "shm" / name).touch()
        os.chown(worker.folder / "shm" / name, owner, owner)
    busy = subprocess.Popen(["sleep", "60"], user=other)
    try:
        worker.epilog(SLURM_JOB_UID=str(nobody))
        worker.epilog(SLURM_JOB_UID=str(other))
    finally:
        busy.kill()
        busy.wait()
    assert [each.name for each in (worker.folder / "shm").iterdir()] == ["others"]


class Ended:
    """A job that begins and ends on a worker, as its processes and slurmctld show it."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        worker.write("bin/pgrep", "#!/bin/sh\n[ -e stepd ]\n")
        worker.write("bin/squeue", "#!/bin/sh\necho asked >> questions\ncat queue\n")
        worker.write("bin/pkill", '#!/bin/sh\necho "$@" >> signals\n')
        self.file("stepd").touch()
        self.queue("7 gpu-3\n8 gpu-3\n")
        assert worker.prolog().returncode == 0

    def file(self, name: str) -> Path:
        return self.worker.folder / name

    def queue(self, text: str) -> None:
        self.file("queue").write_text(text)

    def lines(self, name: str) -> list[str]:
        return self.file(name).read_text().splitlines() if self.file(name).exists() else []


def test_slurmctld_hears_of_a_job_whose_end_it_has_forgotten(worker: Worker) -> None:
    job = Ended(worker)
    worker.run()
    worker.run()
    assert job.lines("questions") == [], "as long as it runs there is nothing to ask"
    job.file("stepd").unlink()
    worker.run()
    assert job.lines("questions") == [], "slurmctld may still forget what it knows now"
    assert "slurmctld has not heard of the end of: 7" in worker.run().stdout
    assert job.lines("signals") == ["-HUP -x slurmd"]
    job.queue("8 gpu-3\n")
    for _ in range(3):
        worker.run()
    assert len(job.lines("signals")) == 1
    assert len(job.lines("questions")) == 2, "and it is never asked again"


@pytest.mark.parametrize("shown", ["", "7 gpu-2\n", "7 login-0\n"], ids=["ended", "batch-elsewhere", "salloc"])
def test_jobs_that_need_no_process_here_are_left_alone(worker: Worker, shown: str) -> None:
    job = Ended(worker)
    job.file("stepd").unlink()
    job.queue(shown)
    for _ in range(4):
        worker.run()
    assert job.lines("signals") == []
    assert len(job.lines("questions")) == 1


def test_a_silent_slurmctld_is_asked_for_ended_jobs_the_next_time(worker: Worker) -> None:
    job = Ended(worker)
    job.file("stepd").unlink()
    worker.write("bin/squeue", "#!/bin/sh\nexit 1\n")
    for _ in range(3):
        worker.run()
    assert job.lines("signals") == []
    worker.write("bin/squeue", "#!/bin/sh\ncat queue\n")
    worker.run()
    assert job.lines("signals") == ["-HUP -x slurmd"]
