"""Accounting from nothing: our database image, a slurmdbd and a slurmctld with what we render for them."""

import pytest

from config import Settings
from config.accounting import Accounting, Purge
from config.node_sets import Gpus, NodeSet
from slurm.render import render
from tests.cluster.daemon.accounting import Slurmdbd
from tests.cluster.daemon.live import set_and_cleared
from tests.cluster.daemon.slurmctld import complaints, fitting
from tests.cluster.daemon.test_live_fields import NEED_ACCOUNTING

SETTINGS = Settings(
    node_sets={"gpu": NodeSet(size=2, gpus=Gpus(count=4, type="h100"))},
    accounting=Accounting(
        enabled=True, enforce=["associations", "limits", "qos", "safe"], purge=Purge(jobs="12months")
    ),
)
FILES = render(SETTINGS, cgroup_v2=False)
OWN = fitting({name: text for name, text in FILES.items() if name != "slurmdbd.conf"}, jail=False)


@pytest.fixture(scope="module")
def said(slurmdbd: Slurmdbd) -> str:
    """What slurmdbd and slurmctld say when they start, one after the other."""
    slurmdbd.start(FILES["slurmdbd.conf"])
    own = slurmdbd.controller.start(OWN)
    return slurmdbd.said() + own


def test_both_daemons_start_without_a_complaint(said: str) -> None:
    assert "slurmdbd version 26.05" in said
    assert complaints(said) == []


@pytest.mark.usefixtures("said")
def test_slurmdbd_answers_who_asks_whether_it_is_there(slurmdbd: Slurmdbd) -> None:
    """As the controller's `metrics` does."""
    assert "is UP" in slurmdbd.controller.ask("sacctmgr ping")


def test_the_cluster_registers_itself(slurmdbd: Slurmdbd, said: str) -> None:
    shown = slurmdbd.controller.ask("sacctmgr -n -P show cluster format=Cluster,ControlHost,ControlPort")
    assert shown == "dev|127.0.0.1|6817\n"
    assert "gres/gpu" in slurmdbd.controller.ask("sacctmgr -n -P show tres format=Type,Name | tr '|' /")


def test_limits_are_enforced_and_jobs_remembered(slurmdbd: Slurmdbd, said: str) -> None:
    controller = slurmdbd.controller
    refused = controller.run("sbatch -H --chdir=/tmp --wrap=true")
    assert "Invalid account" in refused.stderr
    controller.ask("sacctmgr -i add account physics && sacctmgr -i add user slurm account=physics")
    job = controller.ask("sbatch --parsable --chdir=/tmp --wrap=true").strip()
    controller.ask(f"scancel {job}")
    # slurmctld tells slurmdbd in its own time.
    known = f"sacct -n -P -X -j {job} -o Account,State | grep -q '^physics|CANCELLED'"
    controller.ask(f"for i in $(seq 300); do {known} && exit 0; sleep 0.2; done; sacct; exit 1")


@pytest.mark.parametrize("field", NEED_ACCOUNTING)
def test_what_a_partition_says_of_qos_is_set_and_cleared_live(slurmdbd: Slurmdbd, said: str, field: str) -> None:
    set_and_cleared(slurmdbd.controller, OWN, "PartitionName", "main", field, "normal")
