"""The dev stack's Slurm outside Kubernetes: the same programs, files, users and jail, in plain namespaces.

Each pod has a box here, with the pod's names and CPU limits and a cable to one bridge. The names are in /etc/hosts, so
that slurm.conf is the cluster's own to the letter. Boxes end with the process that started them.
"""

import json
import os
import shlex
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sessions import Login

from lab import cgroups, images
from lab.run import run
from tests.cluster.stacks import Stack, until

BRIDGE = "slipbench0"
GROUP = "slipbench"
SUBNET = "10.209.77"
PERIOD = 100_000  # microseconds, as Kubernetes has it
SLURM = "setpriv --reuid 64030 --regid 64030 --clear-groups"
LIB = "/usr/local/lib/slipway"
IDLE = "rehearsal"  # tries new configurations, of which there are none here: its limit would be slurmctld's gain

# What process 1 of each box runs, in the place of the pod's containers.
START = {
    # Who changes user loses the promise to die with the parent, and has to make it again.
    "controller": f"{SLURM} {LIB}/munged & exec {SLURM} --pdeathsig KILL /usr/local/sbin/slurmctld",
    "worker": f"{LIB}/munged & exec tini -- /usr/local/sbin/slurmd",
    "login": f"{SLURM} {LIB}/munged & {SLURM} {LIB}/sackd & exec unshare --cgroup -- tini -- /usr/local/sbin/sshd",
}

# From the machine into the box: $1 image, $2 the box's folder, $3 what all boxes share, $4 the jail, $5 the command.
ENTER = """
set -eu
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
cd "$2/root"
mkdir -p mnt/jail mnt/keys mnt/tmp mnt/host-keys etc/slurm etc/slurm-keys var/spool/slurmd var/spool/slurmctld
mount -t proc proc proc
mount --rbind /dev dev
mount --rbind /sys sys
mount -t tmpfs -o mode=777 tmpfs run
mount -t tmpfs -o mode=777 tmpfs etc/slurm-keys
mount --bind "$4" mnt/jail
for folder in keys host-keys; do mount --bind "$3/$folder" "mnt/$folder"; done
for folder in slurmd slurmctld; do mount --bind "$2/$folder" "var/spool/$folder"; done
cp "$3"/conf/* etc/slurm/
cp "$3"/hosts "$3"/resolv.conf "$2"/hostname etc/
pivot_root . .
umount -l .
exec chroot . sh -euc "$5"
"""


@dataclass(frozen=True)
class Box:
    """What stands for one pod."""

    name: str
    kind: str  # the image's name
    dns: str
    address: str
    cpus: float  # of the containers that work; 0 for no limit


def boxes(stack: Stack, limited: bool) -> list[Box]:
    """One for each pod of Slurm, with the limits that the pods have."""
    pods = json.loads(stack.kubectl("get", "pods", "--output=json"))["items"]
    found = []
    for pod in sorted(pods, key=lambda pod: pod["metadata"]["name"]):
        name, kind = pod["metadata"]["name"], pod["metadata"]["labels"]["app.kubernetes.io/name"]
        if kind in START and pod["spec"].get("subdomain"):
            dns = f"{name}.{pod['spec']['subdomain']}.{stack.namespace}.svc.cluster.local"
            found.append(Box(name, kind, dns, f"{SUBNET}.{10 + len(found)}", cpus(pod["spec"]) if limited else 0))
    return found


def cpus(spec: dict[str, Any]) -> float:
    """The CPU limits of a pod's containers and sidecars together, but for the one that has nothing to do meanwhile."""
    sidecars = [each for each in spec["initContainers"] if each.get("restartPolicy") == "Always"]
    work = [each for each in (*spec["containers"], *sidecars) if each["name"] != IDLE]
    limits = [each["resources"]["limits"]["cpu"] for each in work]
    return sum(float(limit[:-1]) / 1000 if limit.endswith("m") else float(limit) for limit in limits)


@contextmanager
def running(stack: Stack, scratch: Path, limited: bool = True) -> Iterator[Login]:
    """Start everything, wait until all nodes are idle, and leave nothing behind."""
    wanted = boxes(stack, limited)
    _lay_out(stack, scratch, wanted)
    jail = _jail(stack)
    roots = {kind: _unpack(kind, scratch / "images" / kind) for kind in START}
    with ExitStack() as undo:
        undo.callback(_clean_up, wanted)
        _clean_up(wanted)  # of one that was killed
        run(["ip", "link", "add", BRIDGE, "type", "bridge"])
        run(["ip", "address", "add", f"{SUBNET}.1/24", "dev", BRIDGE])
        run(["ip", "link", "set", BRIDGE, "up"])
        for number, box in enumerate(wanted):
            _connect(box, number)
            undo.callback(_stop, _start(box, roots[box.kind], scratch, jail))
        login = next(Login(box.address) for box in wanted if box.kind == "login")
        _wait(login, sum(box.kind == "worker" for box in wanted))
        yield login


def _lay_out(stack: Stack, scratch: Path, wanted: list[Box]) -> None:
    """The files that the boxes share: the cluster's configuration, keys of their own, and names."""
    for folder in ("conf", "keys", "host-keys", "images"):
        (scratch / folder).mkdir()
    config = json.loads(stack.kubectl("get", "configmap", "slurm-config", "--output=json"))["data"]
    for name, text in config.items():
        (scratch / "conf" / name).write_text(text)
    for key in ("munge.key", "jwt.key"):
        (scratch / "keys" / key).write_bytes(os.urandom(1024))
        (scratch / "keys" / key).chmod(0o444)
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", scratch / "host-keys" / "ssh_host_ed25519_key"])
    hosts = ["127.0.0.1 localhost", *(f"{box.address} {box.dns} {box.name}" for box in wanted)]
    (scratch / "hosts").write_text("\n".join(hosts) + "\n")
    (scratch / "resolv.conf").touch()
    for box in wanted:
        for folder in ("upper", "work", "root", "slurmd", "slurmctld"):
            (scratch / box.name / folder).mkdir(parents=True)
        shutil.chown(scratch / box.name / "slurmctld", 64030, 64030)
        (scratch / box.name / "hostname").write_text(box.name + "\n")
    scratch.chmod(0o755)


def _jail(stack: Stack) -> Path:
    """The cluster's own, on the machine's disk: users and their keys are in it already."""
    volume = stack.kubectl("get", "pvc", "jail", "--output=jsonpath={.spec.volumeName}")
    path = stack.kubectl("get", "pv", volume, "--output=jsonpath={.spec.hostPath.path}")
    return stack.lab.home / "volumes" / Path(path).name


def _unpack(kind: str, folder: Path) -> Path:
    """The image's root, from the archive that the lab's nodes have it from."""
    archive = next(image.archive for image in images.ours() if image.name == kind)
    folder.mkdir()
    manifest = json.loads(run(["tar", "-xOf", archive, "manifest.json"]))
    for layer in manifest[0]["Layers"]:
        _make_room(archive, layer, folder)
        with subprocess.Popen(["tar", "-xOf", archive, layer], stdout=subprocess.PIPE) as source:
            subprocess.run(["tar", "-x", "--numeric-owner", "-C", folder], stdin=source.stdout, check=True)
        for mark in list(folder.rglob(".wh.*")):
            gone = mark.with_name(mark.name.removeprefix(".wh."))
            shutil.rmtree(gone) if gone.is_dir() and not gone.is_symlink() else gone.unlink(missing_ok=True)
            mark.unlink()
    return folder


def _make_room(archive: Path, layer: str, folder: Path) -> None:
    """Remove the folders that this layer has links in the place of: tar would not."""
    with (
        subprocess.Popen(["tar", "-xOf", archive, layer], stdout=subprocess.PIPE) as source,
        tarfile.open(fileobj=source.stdout, mode="r|") as members,
    ):
        for place in [folder / member.name for member in members if member.issym()]:
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)


def _connect(box: Box, number: int) -> None:
    """A network namespace with a cable to the bridge, and a group with the box's share of the CPUs."""
    space, cable = _space(box), f"{GROUP}n{number}"
    run(["ip", "netns", "add", space])
    run(["ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space])
    run(["ip", "link", "set", cable, "master", BRIDGE, "up"])
    for words in (f"address add {box.address}/24 dev eth0", "link set eth0 up", "link set lo up"):
        run(["ip", "-netns", space, *words.split()])
    cgroups.make(f"{GROUP}/{box.name}")
    if box.cpus:
        quota = str(int(box.cpus * PERIOD))
        old, new = _group(box) / "cpu.cfs_quota_us", _group(box) / "cpu.max"
        old.write_text(quota) if old.exists() else new.write_text(f"{quota} {PERIOD}")


def _space(box: Box) -> str:
    return f"{GROUP}-{box.name}"


def _group(box: Box) -> Path:
    """The box's group in the hierarchy that shares out CPU time."""
    hierarchy = cgroups.ROOT if (cgroups.ROOT / "cgroup.controllers").exists() else cgroups.ROOT / "cpu"
    return hierarchy / GROUP / box.name


def _start(box: Box, root: Path, scratch: Path, jail: Path) -> subprocess.Popen[bytes]:
    conf = (scratch / "conf" / "slurm.conf").read_text()
    environment = {
        "K8S_POD_NAME": box.name,
        "NODE_ADDRESS": box.dns,
        "SLURM_CLUSTER_NAME": conf.partition("ClusterName=")[2].split()[0],
        "SLURM_CONTROLLER": "controller-0:6817",
        "HOME": "/root",
    }
    enter = ["sh", "-c", ENTER, "enter", root, scratch / box.name, scratch, jail, START[box.kind]]
    argv = [
        *("setpriv", "--pdeathsig", "KILL", "--"),
        *("sh", "-c", 'echo $$ > "$0/cgroup.procs"; exec "$@"', _group(box)),
        *("ip", "netns", "exec", _space(box)),
        *("unshare", "--fork", "--pid", "--mount", "--uts", "--ipc", "--kill-child=SIGKILL"),
        *("sh", "-c", f'hostname {shlex.quote(box.name)}; exec "$@"', "named", *enter),
    ]
    with (scratch / box.name / "log").open("wb") as log:
        path = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**path, **environment})


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


IDLE_NODES = """
import subprocess
print(subprocess.run(["sinfo", "-hNo", "%T"], capture_output=True, text=True).stdout.split().count("idle"))
"""


def _wait(login: Login, nodes: int) -> None:
    """Until all nodes are idle, as a user sees it."""

    def look() -> bool:
        try:
            return login.measure(IDLE_NODES, seconds=30) == nodes
        except RuntimeError:
            return False  # no sshd yet

    until(look, "Slurm outside Kubernetes", seconds=90)


def _clean_up(wanted: list[Box]) -> None:
    """The kernel's things that outlive processes. Cables go with their namespaces."""
    for box in wanted:
        subprocess.run(["ip", "netns", "delete", _space(box)], capture_output=True)
    subprocess.run(["ip", "link", "delete", BRIDGE], capture_output=True)
    cgroups.remove(GROUP)
