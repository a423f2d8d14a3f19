"""Scripts from the stack config that Slurm asks about jobs, and the mail that it sends about them."""

import pytest

from tests.cluster.changes import change
from tests.cluster.comfort.conftest import CLI_FILTER, JOB_SUBMIT
from tests.cluster.dev.test_researcher import submitted
from tests.cluster.stacks import Stack, until


def fields(stack: Stack, job: str) -> dict[str, str]:
    return stack.wait_for_job(job, "COMPLETED")


def test_a_job_is_shown_to_both_scripts(comfort: Stack) -> None:
    job = fields(comfort, submitted(comfort.run("sbatch -o /dev/null --wrap true")))
    assert (job["Comment"], job["AdminComment"]) == ("filtered", "seen")
    job = fields(comfort, submitted(comfort.run("sbatch -o /dev/null --comment=mine --wrap true")))
    assert job["Comment"] == "mine"


@pytest.mark.parametrize("command", ["sbatch --wrap true", "srun true", "salloc true"])
def test_a_refusal_is_told_in_the_words_of_the_script(comfort: Stack, command: str) -> None:
    program, rest = command.split(" ", 1)
    refused = comfort.ssh(f"{program} --job-name=forbidden {rest}")
    assert refused.returncode != 0
    assert "jobs of that name are not run here" in refused.stderr


def test_changed_scripts_hold_at_once_and_the_preview_shows_how(comfort: Stack) -> None:
    before = comfort.file.read_text()
    change(
        comfort,
        "slurm",
        jobSubmitLua=JOB_SUBMIT.replace('"seen"', '"seen again"'),
        cliFilterLua=CLI_FILTER.replace('"filtered"', '"anew"'),
    )
    try:
        shown = comfort.pulumi("preview").stdout
        assert '+    job.admin_comment = "seen again"' in shown
        assert "reconfigure" in shown
        comfort.up()
        job = fields(comfort, submitted(comfort.run("sbatch -o /dev/null --wrap true")))
        assert (job["Comment"], job["AdminComment"]) == ("anew", "seen")  # a blank ends it, as scontrol shows it
    finally:
        comfort.file.write_text(before)
        comfort.up()


BROKEN = {
    "a syntax error for slurmctld": {"jobSubmitLua": JOB_SUBMIT.replace("then", "than")},
    "a missing function": {"jobSubmitLua": "return slurm.SUCCESS"},
    "a name that does not exist": {"jobSubmitLua": JOB_SUBMIT.replace("job.admin_comment", "jobs.admin_comment")},
    "a syntax error for commands": {"cliFilterLua": CLI_FILTER.replace("then", "than")},
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_script_never_reaches_the_cluster(comfort: Stack, what: str) -> None:
    before = comfort.file.read_text()
    change(comfort, "slurm", **BROKEN[what])
    try:
        done = comfort.pulumi("up", "--yes")
    finally:
        comfort.file.write_text(before)
    assert done.returncode != 0
    [key] = BROKEN[what]
    assert ("job_submit" if key == "jobSubmitLua" else "cli_filter") in done.stdout + done.stderr
    job = fields(comfort, submitted(comfort.run("sbatch -o /dev/null --wrap true")))
    assert (job["Comment"], job["AdminComment"]) == ("filtered", "seen")


def test_mail_tells_how_a_job_went(comfort: Stack, sink: str) -> None:
    comfort.up()  # after updates that failed, all is well again
    job = submitted(comfort.run("sbatch -o /dev/null --job-name=mailed --mail-type=END --wrap true"))
    comfort.wait_for_job(job)

    def arrived() -> str | None:
        heard = comfort.kubectl("logs", sink)
        return heard if "Name=mailed" in heard else None

    mail = until(arrived, "the mail").splitlines()
    assert "MAIL FROM:<slurm@example.com>" in [line.split(" SIZE=")[0] for line in mail]
    assert "RCPT TO:<researcher@users.example.com>" in mail
    [subject] = [line for line in mail if line.startswith("Subject: ")]
    assert f"Job_id={job}" in subject
    assert "Ended" in subject
