"""A stream of jobs, and what became of each of them."""

import contextlib
import subprocess
import threading
import time
from collections import Counter

from tests.cluster.stacks import Stack, until

# Each job says that and when it begins and is through: one that ran twice, or not to its end, shows.
JOB = """#!/bin/sh
#SBATCH --output=/dev/null --open-mode=append
echo "begin $SLURM_JOB_ID $(date +%%s)" >> ~/ledger
%s
echo "end $SLURM_JOB_ID $(date +%%s)" >> ~/ledger
"""
UNTIL_TOLD = "until [ -e ~/end-$SLURM_JOB_ID ]; do sleep 0.5; done"
PAUSE = 1.5


class Jobs:
    """Submits a short job every now and then, with these options of sbatch, until it is told to finish."""

    def __init__(self, stack: Stack, *options: str) -> None:
        self.stack, self._options = stack, options
        self.submitted: dict[str, float] = {}  # and when
        self._waiting: set[str] = set()  # for being told to end
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self.stack.run("rm -f ~/ledger")
        self._thread.start()
        until(lambda: self.submitted, "the first job to be submitted")

    def submit(self, seconds: float | None = 2, *options: str) -> str:
        """One job of so many seconds, or until it is told to end. Its number, or nothing if nobody took it: then it was
        not submitted."""
        work = UNTIL_TOLD if seconds is None else f"sleep {seconds}"
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = self.stack.ssh(f"sbatch --parsable {' '.join(options)}", stdin=JOB % work, seconds=60)
            number = done.stdout.strip()
            if done.returncode == 0 and number.isdigit():
                self.submitted[number] = time.time()
                if seconds is None:
                    self._waiting.add(number)
                return number
        return ""

    def tell_to_end(self, job: str) -> None:
        self.stack.run(f"touch ~/end-{job}")
        self._waiting.discard(job)

    def stop(self, seconds: float = 240) -> None:
        """No more, and until all have ended; those too that a test which failed has not told to."""
        self._enough.set()
        for job in sorted(self._waiting):
            self.tell_to_end(job)
        self._thread.join(90)
        until(self._none_left, "the queue to be empty", seconds)

    def ledger(self) -> list[tuple[str, str, int]]:
        """What the jobs have said: begin or end, which job, and when."""
        lines = (line.split() for line in self.stack.run("cat ~/ledger").splitlines())
        return [(word, job, int(when)) for word, job, when in lines]

    def finish(self) -> None:
        """Until all have ended: each began once, and ended once. So did one that was taken though nobody heard its
        number, since the session ended with its login pod."""
        self.stop()
        ledger = Counter((word, job) for word, job, _ in self.ledger())
        known = {*self.submitted, *(job for _, job in ledger)}
        expected = Counter((word, job) for job in known for word in ("begin", "end"))
        assert ledger == expected, (ledger - expected, expected - ledger)
        assert len(self.submitted) > 1

    def _none_left(self) -> bool:
        """Nobody's answer is no answer: bad weather may also keep us from asking."""
        asked = self.stack.ssh("squeue --noheader")
        return asked.returncode == 0 and not asked.stdout

    def _run(self) -> None:
        while not self._enough.wait(PAUSE):
            self.submit(2, *self._options)
