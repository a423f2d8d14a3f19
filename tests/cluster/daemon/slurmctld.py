"""A throwaway slurmctld in a pod of its own: real daemon, real commands, no workers."""

import base64
import json
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from slurm import places

Kubectl = Callable[..., str]
HOST = "controller-0.controller.slurm.svc.cluster.local"
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


def resolvable(text: str) -> str:
    """Addresses on loopback instead of the names of pods that are not there: slurmctld stalls on each such name."""
    taken = 0

    def loopback(match: re.Match[str]) -> str:
        nonlocal taken
        count = int(match[2]) + 1 if match[2] else 1
        taken += count
        first, last = taken - count + 1, taken
        return f" NodeAddr=127.0.0.{f'[{first}-{last}]' if count > 1 else first} "

    return re.sub(r" NodeAddr=[a-z0-9-]+-(\[0-(\d+)\]|0)\.\S+ ", loopback, text)


@dataclass
class Slurmctld:
    """Starts, stops and asks a slurmctld; `state` survives a stop unless it is cleared."""

    kubectl: Kubectl
    namespace: str
    environment: str = ""

    @classmethod
    def create(cls, kubectl: Kubectl, namespace: str, image: str) -> "Slurmctld":
        volumes = {"run": "/run", "keys": places.KEYS, "state": str(Path(places.STATE).parent), "etc": "/etc/slurm"}
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "slurmctld"},
            "spec": {
                "nodeSelector": {"slipway/role": "system"},
                "terminationGracePeriodSeconds": 0,
                "hostname": "controller-0",
                "hostAliases": [{"ip": "127.0.0.1", "hostnames": [HOST]}],
                "containers": [
                    {
                        "name": "slurmctld",
                        "image": image,
                        "command": ["bash", "-c", PREPARE],
                        "volumeMounts": [{"name": name, "mountPath": path} for name, path in volumes.items()],
                        "readinessProbe": {"exec": {"command": ["munge", "-n"]}, "periodSeconds": 1},
                    }
                ],
                "volumes": [{"name": name, "emptyDir": {}} for name in volumes],
            },
        }
        kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(pod))
        kubectl("wait", "-n", namespace, "--for=condition=Ready", "--timeout=120s", "pod/slurmctld")
        return cls(kubectl, namespace)

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """A shell script in the pod."""
        argv = ["kubectl", "exec", "-i", "-n", self.namespace, "slurmctld", "--", "bash"]
        return subprocess.run(argv, input=self.environment + script, capture_output=True, text=True, timeout=120)

    def write(self, files: Mapping[str, str]) -> str:
        """The lines of a script that put the files into place, and nothing else beside them."""
        lines = ["rm -f /etc/slurm/*"]
        for name, text in files.items():
            lines.append(f"base64 -d <<< {base64.b64encode(text.encode()).decode()} > /etc/slurm/{name}")
        return "\n".join(lines) + "\n"

    def start(self, files: Mapping[str, str], *, clear: bool = True) -> str:
        """Start with these files; what it said, and an AssertionError if it does not serve within ten seconds."""
        files = {name: resolvable(text) for name, text in files.items()}
        key = "export {}={}\n".format(*places.SLURM_KEY)
        self.environment = key if "AuthType=auth/slurm" in files["slurm.conf"] else ""
        clean = f"rm -rf {places.STATE} && mkdir -m 700 {places.STATE}\n" if clear else ""
        script = (
            self.write(files)
            + "rm -f /tmp/said\n"
            + clean
            + """
slurmctld -i -L /tmp/said > /dev/null 2>&1
for i in $(seq 100); do
    scontrol ping 2>/dev/null | grep -q 'is UP' && { cat /tmp/said; exit 0; }
    sleep 0.1
done
cat /tmp/said
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
for i in $(seq 100); do grep -qx slurmctld /proc/[0-9]*/comm 2>/dev/null || exit 0; sleep 0.1; done
exit 1
"""
        done = self.run(script)
        assert done.returncode == 0, done.stdout + done.stderr

    def put(self, files: Mapping[str, str]) -> str:
        """The same as `write`, for a daemon that runs."""
        return self.write({name: resolvable(text) for name, text in files.items()})

    def listening(self) -> set[int]:
        """The ports above 1024 on which something listens in the pod."""
        lines = self.ask("cat /proc/net/tcp /proc/net/tcp6").splitlines()
        sockets = [line.split() for line in lines if ":" in line.split()[0]]
        return {int(words[1].rpartition(":")[2], 16) for words in sockets if words[3] == "0A"}

    def ask(self, *words: str) -> str:
        done = self.run(" ".join(words))
        assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout
