"""A throwaway slurmctld in a pod of its own: real daemon, real commands, no workers."""

import base64
import json
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slurm import places

Kubectl = Callable[..., str]
HOSTS = [f"{name}-0.{name}.slurm.svc.cluster.local" for name in (places.CONTROLLER, places.ACCOUNTING)]
ADDRESSES = 250  # in a block that one part of an address counts
# Keys are made in the pod, and munged runs as the same user as slurmctld.
PREPARE = f"""
set -eu
mkdir -p /run/munge /run/slurmctld
head -c 1024 /dev/urandom > {places.KEYS}/slurm.key
head -c 32 /dev/urandom > {places.KEYS}/jwt.key
head -c 128 /dev/urandom > {places.KEYS}/munge.key
chmod 600 {places.KEYS}/*
munged --force --key-file={places.KEYS}/munge.key --socket=/run/munge/munge.socket.2 \\
    --pid-file=/run/munge/munged.pid --log-file=/run/munge/munged.log --seed-file=/run/munge/munge.seed
sleep infinity & wait  # and bury what daemons leave
"""


def fitting(files: Mapping[str, str], jail: bool) -> dict[str, str]:
    """The files for a pod alone: without the other pods, and most often without the shared root for its jobs."""
    made = {name: resolvable(text) for name, text in files.items()}
    return made if jail else made | {"plugstack.conf": "# no plugins\n"}


def resolvable(text: str) -> str:
    """Addresses on loopback instead of the names of pods that are not there: slurmctld stalls on each such name."""
    block = taken = 0

    def loopback(match: re.Match[str]) -> str:
        nonlocal block, taken
        count = int(match[2]) + 1 if match[2] else 1
        assert count <= ADDRESSES, "a hostlist counts up in one part of an address only"
        if taken + count > ADDRESSES:
            block, taken = block + 1, 0
        taken += count
        first, last = taken - count + 1, taken
        return f" NodeAddr=127.0.{block}.{f'[{first}-{last}]' if count > 1 else first} "

    return re.sub(r" NodeAddr=[a-z0-9-]+-(\[0-(\d+)\]|0)\.\S+ ", loopback, text)


def complaints(said: str) -> list[str]:
    """Lines of a daemon's log that an administrator would have to look into; a slow machine is none of ours."""
    found = [line for line in said.splitlines() if re.search(r"error:|fatal:|defunct|deprecated", line)]
    ours = [line for line in found if "gettimeofday" not in line]
    return [line for line in ours if "please ignore error" not in line]  # without cgroups, and its own advice


@dataclass
class Slurmctld:
    """Starts, stops and asks a slurmctld; `state` survives a stop unless it is cleared."""

    kubectl: Kubectl
    namespace: str
    environment: str = ""
    jail: bool = False

    @classmethod
    def create(cls, kubectl: Kubectl, namespace: str, image: str, *beside: dict[str, Any]) -> "Slurmctld":
        """A pod for it, with further containers beside it if need be: they share its address and the volumes."""
        volumes = {"run": "/run", "keys": places.KEYS, "state": str(Path(places.STATE).parent), "etc": "/etc/slurm"}
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "slurmctld"},
            "spec": {
                "nodeSelector": {"slipway/role": "system"},
                "terminationGracePeriodSeconds": 0,
                "hostname": "controller-0",
                "hostAliases": [{"ip": "127.0.0.1", "hostnames": HOSTS}],
                "containers": [
                    {
                        "name": "slurmctld",
                        "image": image,
                        "command": ["bash", "-c", PREPARE],
                        "volumeMounts": [{"name": name, "mountPath": path} for name, path in volumes.items()],
                        "readinessProbe": {"exec": {"command": ["munge", "-n"]}, "periodSeconds": 1},
                    },
                    *beside,
                ],
                "volumes": [{"name": name, "emptyDir": {}} for name in [*volumes, "data"]],
            },
        }
        kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(pod))
        kubectl("wait", "-n", namespace, "--for=condition=Ready", "--timeout=120s", "pod/slurmctld")
        return cls(kubectl, namespace)

    def run(self, script: str, container: str = "slurmctld") -> subprocess.CompletedProcess[str]:
        """A shell script in the pod."""
        argv = ["kubectl", "exec", "-i", "-n", self.namespace, "slurmctld", "-c", container, "--", "bash"]
        return subprocess.run(argv, input=self.environment + script, capture_output=True, text=True, timeout=120)

    def write(self, files: Mapping[str, str]) -> str:
        """The lines of a script that put the files into place, and nothing else beside them."""
        lines = ["rm -f /etc/slurm/*"]
        for name, text in files.items():
            lines.append(f"base64 -d <<< {base64.b64encode(text.encode()).decode()} > /etc/slurm/{name}")
        return "\n".join(lines) + "\n"

    def start(self, files: Mapping[str, str], *, clear: bool = True) -> str:
        """Start with these files; what it said, or an AssertionError if it ends or does not serve in 30 seconds."""
        files = fitting(files, self.jail)
        key = "export {}={}\n".format(*places.SLURM_KEY)
        self.environment = key if "AuthType=auth/slurm" in files["slurm.conf"] else ""
        clean = f"rm -rf {places.STATE} && mkdir -m 700 {places.STATE}\n" if clear else ""
        script = (
            self.write(files)
            + "rm -f /tmp/said\n"
            + clean
            + """
/usr/sbin/slurmctld -i -L /tmp/said > /tmp/began 2>&1
for i in $(seq 300); do
    scontrol ping 2>/dev/null | grep -q 'is UP' && { cat /tmp/said; exit 0; }
    grep -qx slurmctld /proc/[0-9]*/comm 2>/dev/null || break
    sleep 0.1
done
cat /tmp/began /tmp/said  # what it says of a file that it cannot read, it says before it has a log
exit 1
"""
        )
        done = self.run(script)
        assert done.returncode == 0, f"{done.stdout}{done.stderr}"
        return done.stdout

    def stop(self) -> None:
        """End it as a pod would, and wait until it is gone."""
        script = """
scontrol shutdown 2>/dev/null
for i in $(seq 300); do grep -qx slurmctld /proc/[0-9]*/comm 2>/dev/null || exit 0; sleep 0.1; done
exit 1
"""
        done = self.run(script)
        assert done.returncode == 0, done.stdout + done.stderr

    def put(self, files: Mapping[str, str]) -> str:
        """The same as `write`, for a daemon that runs."""
        return self.write(fitting(files, self.jail))

    def listening(self) -> set[int]:
        """The ports above 1024 on which something listens in the pod."""
        lines = self.ask("cat /proc/net/tcp /proc/net/tcp6").splitlines()
        sockets = [line.split() for line in lines if ":" in line.split()[0]]
        return {int(words[1].rpartition(":")[2], 16) for words in sockets if words[3] == "0A"}

    def ask(self, *words: str) -> str:
        done = self.run(" ".join(words))
        assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout
