"""Start the candidate files on a throwaway slurmctld, and see what it makes of them before the live one hears of it.

It runs beside the live one, in a container of its own with its own memory, port and empty state, so that whatever it
does harms nobody. It has no part in the real cluster: nodes are on a loopback address where nothing listens, and what
would reach out, such as accounting or programs that slurmctld runs by itself, is left out."""

import base64
import re
from collections.abc import Mapping

from operations.digest import digest
from operations.kubectl import CONTROLLER, Cluster, last_line
from operations.problem import Problem, Unanswered
from operations.progress import wait
from operations.shown import SHOW, Shown
from slurm.conf import logical, parse

CONTAINER = "rehearsal"
PORT = 16817
FOLDER = "/tmp/rehearsal"  # noqa: S108 -- on a volume of the container's own
SECONDS = 120
RESTART_SECONDS = 180
REJECTED = 3  # what the script ends with if slurmctld does not start
FILTERED = 4  # and if the scripts that are asked about jobs do not work

# Keys that the throwaway one has otherwise, and keys that would let it act in the real cluster.
OWN = {
    "slurmctldhost": "SlurmctldHost=controller-0(127.0.0.1)",
    "slurmctldport": f"SlurmctldPort={PORT}",
    "statesavelocation": f"StateSaveLocation={FOLDER}/state",
    "slurmctldpidfile": f"SlurmctldPidFile={FOLDER}/pid",
}
LEFT_OUT = re.compile(
    r"accountingstorage\w+|jobcomp\w+|suspendprogram|suspendtime|resumeprogram|resumefailprogram|"
    r"slurmctldprimaryo(n|ff)prog|slurmctldlogfile|slurmctldsyslogdebug|priorityweight(age|fairshare|qos)"
)

# How Slurm tells that a script of the user's cannot be read, or does not get through.
SCRIPT_FAILED = "error: .*(cli_filter|job_submit)[.]lua|fatal: .*cli_filter"

# What is left of an earlier one, which was killed, goes first. Its answers are kept: whoever asks next for the same
# files has them at once.
REHEARSE = rf"""
cd {FOLDER} 2>/dev/null && [ "$(cat digest 2>/dev/null)" = "$1" ] && {{ cat shown; exit 0; }}
[ ! -s {FOLDER}/pid ] || kill -9 "$(cat {FOLDER}/pid)" 2>/dev/null
rm -rf {FOLDER}
mkdir -p -m 700 {FOLDER}/state {FOLDER}/etc /run/slurmctld
cd {FOLDER}
%s
sed -i "s/^SlurmctldHost=[^(]*/SlurmctldHost=$(hostname)/" etc/slurm.conf # it may be a second controller's pod
export SLURM_CONF={FOLDER}/etc/slurm.conf
/usr/sbin/slurmctld -D -i -f "$SLURM_CONF" > log 2>&1 &
pid=$!
n=0
until scontrol ping 2>/dev/null | grep -q 'is UP'; do
    n=$((n + 1))
    if ! kill -0 $pid 2>/dev/null || [ $n -gt 600 ]; then kill -9 $pid 2>/dev/null; cat log; exit 3; fi
    sleep 0.05
done
if [ -e etc/cli_filter.lua ] || [ -e etc/job_submit.lua ]; then
    sbatch --test-only --wrap true > submitted 2>&1
    if grep -hE '{SCRIPT_FAILED}' submitted log; then kill -9 $pid; exit 4; fi
fi
({SHOW}) > answers
kill -9 $pid
mv answers shown
echo "$1" > digest
cat shown
"""


class Rejected(Problem):
    """The verdict of a slurmctld on files. That nobody answers is none."""


def rehearse(cluster: Cluster, files: Mapping[str, str]) -> Shown:
    """What these files mean to slurmctld; Rejected in its own words if it does not start with them."""
    done = cluster.controller(script(files), digest(files), seconds=SECONDS, container=CONTAINER)
    if done.returncode == REJECTED:
        raise Rejected(f"slurmctld does not start with these files:\n{complaints(done.stdout)}")
    if done.returncode == FILTERED:
        raise Rejected(f"a job cannot be submitted with these files:\n{complaints(done.stdout)}")
    if done.returncode:
        raise Unanswered(f"the files could not be rehearsed: {last_line(done)}")
    shown = Shown.parse(done.stdout)
    for name, fields in parse(files["slurm.conf"], files=files).partitions.items():
        if "QOS" in fields and name in shown.partitions:  # it was left out
            shown.partitions[name]["QoS"] = fields["QOS"]
    return shown


def insist(cluster: Cluster, files: Mapping[str, str]) -> Shown:
    """The same, with time for a pod that is being replaced."""
    answers: list[Shown] = []

    def look() -> str | None:
        try:
            answers.append(rehearse(cluster, files))
        except Unanswered as problem:
            return f"a rehearsal: {problem}"
        return None

    wait(look, RESTART_SECONDS, f"Look at it with: kubectl -n {cluster.namespace} describe pod {CONTROLLER}", 0.5)
    return answers[0]


def script(files: Mapping[str, str]) -> str:
    written = [
        f"echo {base64.b64encode(text.encode()).decode()} | base64 -d > etc/{name}"
        for name, text in stage(files).items()
    ]
    return REHEARSE % "\n".join(written)


def stage(files: Mapping[str, str]) -> dict[str, str]:
    """The files for a slurmctld alone."""
    kept = {name: text for name, text in files.items() if name not in ("slurmdbd.conf", "plugstack.conf")}
    return kept | {"slurm.conf": _alone(files["slurm.conf"])}


def _alone(conf: str) -> str:
    lines = []
    for _, line in logical(conf, "slurm.conf"):
        if not altered(line.partition("=")[0].strip()):
            # Only slurmdbd knows a QoS, and slurmctld does not start with one that it cannot look up.
            alone = re.sub(r"(?i)^(PartitionName=.*?) QOS=\S+", r"\1", line)
            lines.append(re.sub(r"(?i) NodeAddr=\S+", " NodeAddr=127.0.0.1", alone))
    return "\n".join([*OWN.values(), *lines, ""])


def altered(key: str) -> bool:
    """Whether the throwaway slurmctld has this key otherwise than the files, or not at all."""
    return key.lower() in OWN or bool(LEFT_OUT.fullmatch(key.lower()))


def complaints(log: str) -> str:
    """What slurmctld has to complain of, or else its last words."""
    said = [re.sub(r"^\[[^]]*\] |^(slurmctld|sbatch): ", "", line) for line in log.splitlines()]
    said = [line.replace(f"{FOLDER}/etc/", "") for line in said]
    wrong = [line for line in said if re.search("error:|fatal:", line) and "different slurm.conf" not in line]
    return "\n".join(dict.fromkeys(wrong or said[-5:]))
