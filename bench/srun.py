"""What the jail costs a step: `lab --name bench run -- python bench/srun.py`.

`srun hostname` from a login session, in the jail and on the same nodes with the plugin switched off, in alternating
blocks. The target is at most 1.15 times as long.
"""

import argparse
import sys
import tempfile

from sessions import Login, dev, ratio, table, verdict

from tests.cluster.stacks import Stack

TARGET = 1.15
BLOCK = 10
# With the dev stack's quarter of a CPU srun itself would wait for the next period of its quota, and hide the rest.
ROOMY = {
    "login": {"size": 1, "nodeFilter": "system", "cpus": 1, "service": {"type": "NodePort", "nodePort": 30022}},
}
# The copies that steps and srun read. The next reconfigure would bring slurmctld's own again.
WORKER_COPY = "/var/spool/slurmd/conf-cache/plugstack.conf"
LOGIN_COPY = "/run/slurm/conf/plugstack.conf"

# The first step of a block is not counted: it shows whether the switch worked. Workers have a /mnt/jail, the jail's is
# empty or not there.
LOOP = """
import json, subprocess, sys, time
count, jailed = int(sys.argv[1]), sys.argv[2] == "jailed"
srun = ["srun", "--chdir=/tmp"]
outside = subprocess.run([*srun, "test", "-d", "/mnt/jail/etc"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
if (outside.returncode == 0) == jailed:
    sys.exit(f"the step ran {'outside' if jailed else 'in'} the jail")
times = []
for _ in range(count):
    began = time.perf_counter()
    subprocess.run([*srun, "hostname"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    times.append(time.perf_counter() - began)
print(json.dumps(times))
"""


def switch(stack: Stack, on: bool) -> None:
    """The plugin's line in the copies of plugstack.conf, as it is or as a comment."""
    edit = ["sed", "-i", "s/^#required/required/" if on else "s/^required/#required/"]
    for node in range(int(stack.config["slipway:worker.size"])):
        stack.kubectl("exec", f"worker-{node}", "-c", "slurmd", "--", *edit, WORKER_COPY)
    stack.kubectl("exec", "login-0", "-c", "sackd", "--", *edit, LOGIN_COPY)


def measure(stack: Stack, steps: int) -> dict[str, list[float]]:
    login = Login(stack.lab.loopback, stack.port)
    sides: dict[str, list[float]] = {"in the jail": [], "without the plugin": []}
    try:
        for _ in range(0, steps, BLOCK):
            for name, jailed in zip(sides, (True, False), strict=True):
                switch(stack, jailed)
                sides[name] += login.measure(LOOP, str(BLOCK), "jailed" if jailed else "plain")
    finally:
        switch(stack, on=True)
    return sides


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100, help="on each side (default: 100)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stack = dev(folder, **ROOMY)
        stack.up()
        sides = measure(stack, args.steps)
    found = ratio(*sides.values())
    lines = [*table("s for `srun hostname`", sides), verdict("ratio", found, found <= TARGET, f"{TARGET}")]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if found <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
