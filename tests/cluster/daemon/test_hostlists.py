"""Our hostlists are Slurm's: what `scontrol show hostnames` and `hostlist` say of the same expressions."""

import random

from config import Settings
from slurm.hostlist import compress, count, expand
from slurm.render import render
from tests.cluster.daemon.slurmctld import Slurmctld

EXPRESSIONS = 150
SEED = 26


def expression(chance: random.Random) -> str:
    """One to three parts such as `n7`, `gpu-[0-3,7]`, `r[1-2]n[08-11]`, with and without leading zeros."""
    parts = []
    for _ in range(chance.randint(1, 3)):
        part = chance.choice(["n", "gpu-", "r1-worker-", "x-y"])
        for _ in range(chance.randint(0, 2)):
            width = chance.choice([1, 1, 2, 4])
            ranges = []
            for _ in range(chance.randint(1, 3)):
                low = chance.randint(0, 60)
                high = low + chance.randint(0, 7)
                ranges.append(f"{low:0{width}}" if low == high else f"{low:0{width}}-{high:0{width}}")
            part += f"[{','.join(ranges)}]" + chance.choice(["", "", "s"])
        parts.append(part)
    return ",".join(parts)


def test_every_expression_means_the_same_to_slurm(slurmctld: Slurmctld) -> None:
    slurmctld.start(render(Settings(), cgroup_v2=False))
    chance = random.Random(SEED)  # noqa: S311 -- the same expressions every time
    asked = [expression(chance) for _ in range(EXPRESSIONS)]
    script = "".join(f"scontrol show hostnames '{each}' | paste -sd' '\n" for each in asked)
    answers = slurmctld.ask(script).splitlines()
    assert len(answers) == EXPRESSIONS
    for each, answer in zip(asked, answers, strict=True):
        assert expand(each) == answer.split(), each
        assert count(each) == len(answer.split()), each
    # And what we write, Slurm reads back as the same names.
    written = [compress(expand(each)) for each in asked]
    script = "".join(f"scontrol show hostnames '{each}' | sort -u | paste -sd' '\n" for each in written)
    for each, answer in zip(asked, slurmctld.ask(script).splitlines(), strict=True):
        assert sorted(set(expand(each))) == sorted(answer.split()), each
    slurmctld.stop()
