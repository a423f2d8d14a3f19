"""A slurmctld of a bench's own beside the real one, in the controller's pod: it takes nothing from that, and has as
many nodes as one likes."""

from typing import NamedTuple

from operations.kubectl import Cluster
from operations.rehearse import CONTAINER, FOLDER

HOME = f"{FOLDER}-bench"
SCRIPT = """
export SLURM_CONF={home}/slurm.conf
rm -rf {home}; mkdir -p -m 700 {home}/state /run/slurmctld; cd {home}
cat > slurm.conf
echo CgroupPlugin=disabled > cgroup.conf
/usr/sbin/slurmctld -i -f slurm.conf
n=0
until [ -s pid ] && scontrol ping 2> /dev/null | grep -q 'is UP'; do
    n=$((n + 1))
    [ $n -lt 300 ] || {{ cat log >&2; exit 1; }}
    sleep 0.1
done
old=$(cat pid)
began=$(date +%s%N)
scontrol reconfigure >&2
until [ -s pid ] && [ "$(cat pid)" != "$old" ] && scontrol show node {last} > /dev/null 2>&1; do sleep 0.01; done
echo $(($(date +%s%N) - began))
sed -nE 's/^Vm(RSS|HWM):\\s+([0-9]+) kB/\\1 \\2/p' "/proc/$(cat pid)/status"
kill -9 "$(cat pid)"
"""


class Daemon(NamedTuple):
    """Seconds of a reconfigure, until its successor knows the last node; and MB of memory, then and at most."""

    reconfigure: float
    memory: float
    peak: float


def measure(cluster: Cluster, nodes: int, node_sets: int = 1) -> Daemon:
    each = nodes // node_sets
    conf = f"""ClusterName=bench
SlurmctldHost=controller-0(127.0.0.1)
SlurmctldPort=16917
StateSaveLocation={HOME}/state
SlurmctldPidFile={HOME}/pid
SlurmctldLogFile={HOME}/log
AuthType=auth/munge
CredType=auth/munge
SlurmUser=slurm
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MessageTimeout=30
MailProg=/bin/true
PartitionName=all Nodes=ALL Default=YES
"""
    for at in range(node_sets):
        conf += f"NodeName=s{at}-[0-{each - 1}] NodeAddr=127.0.0.1 CPUs=1 RealMemory=1024 Feature=s{at}\n"
        conf += f"NodeSet=s{at} Feature=s{at}\nPartitionName=p{at} Nodes=s{at}\n"
    script = SCRIPT.format(home=HOME, last=f"s{node_sets - 1}-{each - 1}")
    words = ["exec", "-i", "controller-0", "-c", CONTAINER, "--", "sh", "-c", script]
    done = cluster.kubectl(*words, stdin=conf, seconds=300)
    assert done.returncode == 0, done.stderr  # noqa: S101
    nanoseconds, *memory = done.stdout.splitlines()
    kilobytes = dict(line.split() for line in memory)
    return Daemon(int(nanoseconds) / 1e9, int(kilobytes["RSS"]) / 1000, int(kilobytes["HWM"]) / 1000)
