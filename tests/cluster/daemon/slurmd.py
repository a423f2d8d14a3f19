"""A real slurmd beside the throwaway slurmctld: a container of the same pod, and jobs that end when they are told to.

The node is worker-0, at a loopback address. It reads the same /etc/slurm as slurmctld, so that nothing but the daemons
themselves stands between a changed file and its effect."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slurm import places
from tests.cluster.daemon.slurmctld import Slurmctld

NODE = "worker-0"
PATIENCE = 90.0  # seconds, for what takes one on a machine that has nothing else to do
GO = "/tmp/go"
# The image's /tmp and /home lead to the last two, which are on a volume in a real worker.
FOLDERS = (places.SPOOL, f"{places.JAIL}/tmp", f"{places.JAIL}/home")


def container(image: str, *, privileged: bool = False) -> dict[str, Any]:
    """It is root, as slurmd is anywhere, and needs more only for mounts: there are no cgroups here."""
    volumes = {"run": "/run", "keys": places.KEYS, "etc": "/etc/slurm"}
    return {
        "name": "slurmd",
        "image": image,
        "command": ["bash", "-c", f"mkdir -p {' '.join(FOLDERS)}; sleep infinity & wait"],
        "securityContext": {"runAsUser": 0, "privileged": privileged},
        "volumeMounts": [{"name": name, "mountPath": path} for name, path in volumes.items()],
    }


@dataclass
class Slurmd:
    """Starts and stops the slurmd of worker-0, and runs jobs on it."""

    controller: Slurmctld
    through: str = ""  # what starts it

    def start(self, *words: str) -> None:
        """Start it, and wait until its node serves."""
        command = " ".join([f"{self.through} /usr/sbin/slurmd -D -N {NODE}", *words])
        self.ask(f"setsid {command} < /dev/null >> /tmp/slurmd.log 2>&1 &")
        self.until(f"{NODE} serves", lambda: self.state() in ("idle", "mixed", "allocated"))

    def stop(self) -> None:
        """End slurmd and wait until it is gone. Steps of jobs live on."""
        self.until("slurmd ends", lambda: not self.signal("TERM"))

    def signal(self, name: str) -> bool:
        """Send it a signal; whether it was there to get it."""
        script = f"kill -s {name} $(grep -lx slurmd /proc/[0-9]*/comm | cut -d/ -f3)"
        return self.controller.run(script, "slurmd").returncode == 0

    def ask(self, script: str) -> str:
        done = self.controller.run(script, "slurmd")
        assert done.returncode == 0, f"{script}: {done.stdout}{done.stderr}"
        return done.stdout

    def until(self, what: str, true: Callable[[], bool]) -> None:
        """Wait until it is so; fail with what both daemons said if it never is."""
        deadline = time.monotonic() + PATIENCE
        while not true():
            if time.monotonic() > deadline:
                said = self.controller.run("tail -n 30 /tmp/said").stdout
                said += self.controller.run("tail -n 30 /tmp/slurmd.log", "slurmd").stdout
                raise AssertionError(f"not within {PATIENCE:.0f} s: {what}\n{said}")
            time.sleep(0.25)

    def state(self) -> str:
        return self.controller.run(f"sinfo -h -N -n {NODE} -o %T").stdout.strip()

    def submit(self, *options: str) -> str:
        """A job that waits to be told to end: its id, once it runs."""
        wait = f"until [ -e {GO} ]; do sleep 0.2; done"
        job = self.queue(*options, script=wait)
        self.until(f"job {job} runs", lambda: self.job(job)["JobState"] == "RUNNING")
        return job

    def queue(self, *options: str, script: str = "true") -> str:
        """A job that ends by itself: its id, whether or not it runs."""
        words = ["sbatch --parsable --chdir=/tmp -o /dev/null", *options, f"--wrap '{script}'"]
        return self.controller.ask(*words).strip()

    def let_jobs_end(self) -> None:
        self.ask(f"touch {GO}")

    def job(self, number: str) -> dict[str, str]:
        """What slurmctld knows of a job."""
        shown = self.controller.ask(f"scontrol -o show job {number}")
        return dict(field.split("=", 1) for field in shown.split() if "=" in field)

    def clear(self) -> None:
        """End slurmd and whatever jobs have left, for the next test."""
        self.stop()
        self.ask(
            "kill -9 $(grep -lxE 'slurmstepd|slurm_script' /proc/[0-9]*/comm | cut -d/ -f3) 2>/dev/null\n"
            f"rm -rf {GO} /tmp/slurmd.log {places.SPOOL}/*"
        )
