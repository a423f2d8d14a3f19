"""From `pulumi up` on an empty lab to the first finished job: `lab --name bench run -- python bench/first_job.py`.

There is no target: the seconds are recorded.
"""

import os
import sys
import tempfile
import time

from sessions import dev


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        stack = dev(folder)
        if stack.outputs():
            sys.exit("This lab has a dev stack already. The bench wants a lab of its own: `lab --name bench run -- …`.")
        load = os.getloadavg()[0]
        began = time.perf_counter()
        stack.up("--skip-preview")
        deployed = time.perf_counter() - began
        host = stack.run("srun --chdir=/tmp hostname")
        finished = time.perf_counter() - began
    sys.stdout.write(
        f"pulumi up returns      {deployed:>7.1f} s\n"
        f"first job has finished {finished:>7.1f} s  on {host}; load {load:.1f} at the start\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
