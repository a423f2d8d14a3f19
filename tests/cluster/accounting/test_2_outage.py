"""slurmdbd and its database are away, or lost: jobs go on, and nothing that can be kept is lost."""

import subprocess
from pathlib import Path

from tests.cluster.accounting.conftest import recorded, submit
from tests.cluster.changes import is_ready, pods
from tests.cluster.stacks import Stack, until


def scale(stack: Stack, size: int, name: str = "accounting") -> None:
    stack.kubectl("scale", f"statefulset/{name}", f"--replicas={size}")
    if size == 0:
        stack.kubectl("wait", "--for=delete", f"pod/{name}-0", "--timeout=2m")


def serves(stack: Stack, name: str) -> None:
    until(lambda: (pod := pods(stack).get(name)) and is_ready(pod), f"{name} to be ready", 180)


def test_while_slurmdbd_is_away_jobs_run_and_are_recorded_later(accounted: Stack) -> None:
    scale(accounted, 0)
    first = submit(accounted, "--wrap 'sleep 1'")
    accounted.wait_for_job(first)
    # Also by a slurmctld that never spoke to a slurmdbd: it remembers accounts and limits.
    accounted.kubectl("delete", "pod", "controller-0", "--wait=true")
    until(lambda: "UP" in accounted.ssh("scontrol ping").stdout, "slurmctld to be back", 120)
    second = submit(accounted, "--wrap 'sleep 1'")
    accounted.wait_for_job(second)
    refused = accounted.ssh("sbatch -o /dev/null --wrap true", user="guest")
    assert "Invalid account" in refused.stderr
    scale(accounted, 1)
    for job in (first, second):
        assert recorded(accounted, job, seconds=180)["Account"] == "physics"


def test_a_database_that_is_replaced_costs_nothing(accounted: Stack) -> None:
    accounted.kubectl("delete", "pod", "database-0", "--wait=true")
    job = submit(accounted, "--wrap true")
    serves(accounted, "database-0")
    recorded(accounted, job, seconds=180)


def test_a_lost_database_comes_back_from_a_dump(accounted: Stack, tmp_path: Path) -> None:
    """With the commands of docs/accounting.md."""
    job = submit(accounted, "--job-name=precious --wrap true")
    recorded(accounted, job)
    dump = tmp_path / "slurm_acct_db.sql.gz"
    inside = f"kubectl exec -i -n {accounted.namespace} database-0 -c mariadbd --"
    shell(f"{inside} mariadb-dump --single-transaction --quick --routines slurm_acct_db | gzip > {dump}")
    shell(f"{inside} rm -rf /var/lib/mysql/data")
    accounted.kubectl("delete", "pod", "database-0", "--grace-period=1", "--wait=true")
    serves(accounted, "database-0")
    empty = shell(f"{inside} mariadb --batch --skip-column-names -e 'SHOW TABLES' slurm_acct_db")
    assert "job_table" not in empty or job not in sacct(accounted, job)
    scale(accounted, 0)
    shell(f"gunzip < {dump} | {inside} mariadb slurm_acct_db")
    scale(accounted, 1)
    until(lambda: "precious" in sacct(accounted, job), "sacct to show the old job", 180)
    later = submit(accounted, "--wrap true")
    assert recorded(accounted, later, seconds=120)["Account"] == "physics"


def sacct(stack: Stack, job: str) -> str:
    return stack.ssh(f"sacct --noheader --parsable2 --allocations --jobs={job} --format=JobID,JobName,State").stdout


def shell(script: str) -> str:
    done = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout
