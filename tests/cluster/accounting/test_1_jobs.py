"""Jobs are charged, remembered and limited, and researchers see it with the commands that they know."""

import re

from tests.cluster.accounting.conftest import ACCOUNTING, TurnedOn, recorded, submit
from tests.cluster.changes import change, uids
from tests.cluster.stacks import Stack, until


def test_turning_accounting_on_loses_no_job(turned_on: TurnedOn) -> None:
    stack = turned_on.stack
    assert "restart-controller" in turned_on.preview
    assert "account physics" in turned_on.preview
    for job in (turned_on.running, turned_on.waiting):
        assert stack.wait_for_job(job)["Restarts"] == "0"
    recorded(stack, turned_on.waiting)


def test_no_password_is_shown_anywhere(turned_on: TurnedOn) -> None:
    stack = turned_on.stack
    password = stack.kubectl("get", "secret", "database", "-o", "go-template={{.data.password | base64decode}}")
    assert len(password) == 64
    shown = [
        turned_on.preview,
        turned_on.said,
        str(stack.outputs()),
        stack.kubectl("get", "configmaps,pods", "-o", "yaml"),
    ]
    shown += [stack.kubectl("logs", pod, "--all-containers") for pod in ("accounting-0", "database-0")]
    assert not [text for text in shown if password in text]


def test_a_job_shows_in_sacct_sreport_and_sshare(accounted: Stack) -> None:
    job = submit(accounted, "--wrap 'sleep 2'")
    assert recorded(accounted, job) == {
        "Account": "physics",
        "User": "researcher",
        "QOS": "normal",
        "State": "COMPLETED",
    }
    sizes = accounted.run("sreport --noheader --parsable2 job SizesByAccount FlatView start=now-1days end=now+1days")
    assert re.search(r"(?m)^accounted\|physics\|[1-9]", sizes), sizes
    accounted.run("sreport --noheader --parsable2 cluster Utilization")
    shares = accounted.run("sshare --noheader --parsable2 --format=Account,User,RawUsage")
    assert any(line.strip().startswith("physics|researcher|") for line in shares.splitlines()), shares


def test_who_is_in_no_account_is_refused(accounted: Stack) -> None:
    refused = accounted.ssh("sbatch -o /dev/null --wrap true", user="guest")
    assert refused.returncode != 0
    assert "Invalid account or account/partition combination" in refused.stderr


def test_a_job_over_a_limit_is_refused_in_slurms_words(accounted: Stack) -> None:
    refused = accounted.ssh("sbatch -o /dev/null --qos=short --time=20 --wrap true")
    assert refused.returncode != 0
    assert "QOSMaxWallDurationPerJobLimit" in refused.stderr
    refused = accounted.ssh("sbatch -o /dev/null --qos=large --wrap true")
    assert "Invalid qos specification" in refused.stderr


def test_an_administrator_may_manage_and_a_researcher_may_not(accounted: Stack) -> None:
    job = submit(accounted, "--hold --wrap true")
    assert accounted.ssh("sacctmgr -i modify qos short set priority=5").returncode != 0
    accounted.run(f"scancel {job}", user="manager")
    accounted.wait_for_job(job, "CANCELLED")


def test_nothing_is_left_to_do_and_a_changed_qos_is_one_command(accounted: Stack) -> None:
    accounted.up("--expect-no-changes")
    before = uids(accounted)
    wider = {**ACCOUNTING["qos"], "short": {**ACCOUNTING["qos"]["short"], "maxWall": "30m"}}
    change(accounted, "accounting", qos=wider)
    preview = accounted.pulumi("preview").stdout
    assert "QOS short  MaxWall  00:10:00 -> 00:30:00" in preview
    assert "sacctmgr --immediate modify qos where name=short set MaxWall=00:30:00" in preview
    accounted.up()
    job = submit(accounted, "--qos=short --time=20 --wrap true")
    assert recorded(accounted, job)["QOS"] == "short"
    assert uids(accounted) == before


def test_what_a_job_uses_does_not_go(accounted: Stack) -> None:
    job = submit(accounted, "--qos=short --time=5 --wrap 'sleep 300'")
    accounted.wait_for_job(job, "RUNNING")
    kept = accounted.config["slipway:accounting"]
    accounts = {"science": kept["accounts"]["science"]}
    change(accounted, "accounting", accounts=accounts)
    failed = accounted.pulumi("up", "--yes")
    assert failed.returncode != 0
    said = failed.stdout + failed.stderr
    assert "account physics cannot go: jobs use it" in said
    assert f"{job} (researcher, running)" in said
    assert accounted.wait_for_job(job, "RUNNING")["Restarts"] == "0"
    accounted.run(f"scancel {job}")
    recorded(accounted, job, "CANCELLED by 10001")
    accounted.up()
    assert "physics" not in accounted.admin("sacctmgr", "--noheader", "show", "assoc", "format=Account")
    assert recorded(accounted, job, "CANCELLED by 10001")["Account"] == "physics", "history stays"
    change(accounted, "accounting", accounts=kept["accounts"])
    accounted.up()
    accounted.up("--expect-no-changes")
    recorded(accounted, submit(accounted, "--wrap true"))


def test_another_slurmdbd_conf_restarts_slurmdbd_alone(accounted: Stack) -> None:
    before = uids(accounted)
    job = submit(accounted, "--wrap 'sleep 20'")
    change(accounted, "accounting", purge={"jobs": "13months"})
    assert "restart-slurmdbd" in accounted.pulumi("preview").stdout
    accounted.up()
    replaced = {name for name, uid in uids(accounted).items() if uid != before[name]}
    assert replaced == {"accounting-0"}
    until(lambda: "13" in shown(accounted, "PurgeJobAfter"), "slurmdbd to run with it")
    assert recorded(accounted, job)["State"] == "COMPLETED"


def test_what_is_old_goes_to_the_archive_and_can_be_read_again(accounted: Stack) -> None:
    job = submit(accounted, "--wrap true")
    recorded(accounted, job)
    moments = ("time_submit", "time_eligible", "time_start", "time_end")
    older = ", ".join(f"{each} = {each} - 3 * 365 * 86400" for each in moments)
    aged = f"UPDATE accounted_job_table SET {older} WHERE id_job = {job}"  # noqa: S608 -- a number
    accounted.kubectl("exec", "database-0", "-c", "mariadbd", "--", "mariadb", "slurm_acct_db", "-e", aged)
    slurmdbd(accounted, "sacctmgr", "--immediate", "archive", "dump")
    shown_jobs = f"sacct --noheader --allocations --parsable2 --jobs={job} --format=State"
    until(lambda: accounted.run(shown_jobs) == "", "the job to be purged")
    (file,) = slurmdbd(accounted, "find", "/var/spool/slurm-archive", "-name", "accounted_job_*").split()
    slurmdbd(accounted, "sacctmgr", "--immediate", "archive", "load", f"file={file}")
    until(lambda: accounted.run(shown_jobs) == "COMPLETED", "the job to be back")


def slurmdbd(stack: Stack, *words: str) -> str:
    return stack.kubectl("exec", "accounting-0", "-c", "slurmdbd", "--", *words)


def shown(stack: Stack, key: str) -> str:
    conf = slurmdbd(stack, "sacctmgr", "show", "configuration")
    return next(line for line in conf.splitlines() if line.startswith(key))
