"""`slurm.privateTmp` and the shared root: a job is inside, and its /tmp is nobody else's.

Of Slurm's two plugins for it the older one (namespace/tmpfs) cannot: it looks for the job's namespace when the job is
in the shared root already, where it is not, and each job fails."""

import os
from collections.abc import Callable

import pytest

from config import Settings
from config.node_sets import NodeSet
from config.slurm import Slurm
from slurm import places
from slurm.render import render
from tests.cluster.daemon import slurmd
from tests.cluster.daemon.slurmctld import Slurmctld
from tests.cluster.daemon.slurmd import Slurmd

# The container's own root once more, with a folder by which to tell the two apart, and what slurmstepd needs inside.
MAKE_JAIL = f"""
set -e
rm /tmp  # in the image it leads into the shared root, which is the same place here
mkdir -m 1777 /tmp
mount --bind / {places.JAIL}
mount -t tmpfs inside {places.JAIL}/srv
touch {places.JAIL}/srv/inside
for folder in dev run etc/slurm var/spool/slurmd; do mount --rbind /$folder {places.JAIL}/$folder; done
for file in etc/resolv.conf etc/hosts; do mount --bind /$file {places.JAIL}/$file; done
touch {places.JAIL}/tmp/shared {places.JAIL}/var/tmp/shared {places.JAIL}/dev/shm/shared
"""
LOOK = "echo $(ls /srv) : $(ls /tmp /var/tmp /dev/shm); touch /tmp/mine /var/tmp/mine /dev/shm/mine"


@pytest.fixture(scope="module")
def jailed(kubectl: Callable[..., str], own_namespace: str) -> Slurmd:
    beside = slurmd.container(os.environ["SLIPWAY_WORKER_IMAGE"], privileged=True)
    worker = Slurmd(Slurmctld.create(kubectl, own_namespace, os.environ["SLIPWAY_CONTROLLER_IMAGE"], beside))
    worker.controller.jail = True
    worker.through = "/usr/local/sbin/elder-namespace"
    worker.ask(MAKE_JAIL)
    return worker


def run(worker: Slurmd) -> str:
    """What a job sees, in its batch script and in a step; submitted where the plugin is, as on a login node."""
    script = f"({LOOK}) > /srv/seen; srun sh -c '{LOOK}' >> /srv/seen"
    job = worker.ask(f"cd / && sbatch --parsable -o /srv/output <<'END'\n#!/bin/sh\n{script}\nEND").strip()
    worker.until(f"job {job} completes", lambda: worker.job(job)["JobState"] == "COMPLETED")
    return worker.ask(f"cat {places.JAIL}/srv/seen; rm {places.JAIL}/srv/*")


@pytest.mark.parametrize("private", [False, True])
def test_a_job_has_folders_of_its_own_if_that_is_wanted(jailed: Slurmd, private: bool) -> None:
    settings = Settings(worker=NodeSet(size=1), slurm=Slurm(cgroup="disabled", private_tmp=private))
    jailed.ask(f"touch {places.JAIL}/srv/inside")
    jailed.controller.start(render(settings))
    jailed.start()
    batch, step = run(jailed).splitlines()
    assert batch.startswith("inside ")
    assert step.startswith("inside ")
    assert ("shared" in batch) != private
    assert batch.count("mine") == 0
    assert step.count("mine") == 3  # steps of a job share them
    files = "tmp/mine var/tmp/mine dev/shm/mine"
    left = jailed.ask(f"cd {places.JAIL}; ls {files} 2>/dev/null | wc -l; rm -f {files}")
    assert int(left) == (0 if private else 3)
    jailed.clear()
    jailed.controller.stop()
