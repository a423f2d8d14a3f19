"""Programs submit jobs and look after them, with a token and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

from lab import paths
from tests.cluster.changes import is_ready, pods
from tests.cluster.rest.conftest import Rest
from tests.cluster.stacks import Done, until

EXAMPLE = paths.CHECKOUT / "examples" / "submit_job.py"


def example(rest: Rest, script: str, token: str, tmp_path: Path) -> Done:
    file = tmp_path / "job.sh"
    file.write_text(script)
    argv = [sys.executable, EXAMPLE, "--url", rest.url, "--directory", "/home/researcher", file]
    env = {**os.environ, "SLURM_JWT": token}
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=180)


def test_the_example_submits_a_job_and_waits_for_its_end(rest: Rest, tmp_path: Path) -> None:
    script = "#!/bin/bash\n#SBATCH --time=5\nid --user --name\nhostname\npwd\n"
    done = example(rest, script, rest.token(), tmp_path)
    assert done.returncode == 0, done.stderr
    job, state = done.stdout.split()
    assert state == "COMPLETED"
    assert rest.stack.run(f"cat slurm-{job}.out").split() == ["researcher", "worker-0", "/home/researcher"]


def test_the_example_tells_of_a_job_that_failed(rest: Rest, tmp_path: Path) -> None:
    done = example(rest, "#!/bin/bash\nexit 3\n", rest.token(), tmp_path)
    assert (done.returncode, done.stdout.split()[1:]) == (1, ["FAILED"]), done.stderr


def test_the_example_says_what_is_wrong_with_a_token(rest: Rest, tmp_path: Path) -> None:
    done = example(rest, "#!/bin/bash\n", "garbage", tmp_path)
    assert done.returncode == 1
    assert "authentication error" in done.stderr
    assert not done.stdout


def test_a_job_has_the_name_of_its_user(rest: Rest) -> None:
    token = rest.token()
    job = rest.submit(token, "#!/bin/bash\n", hold=True)
    [shown] = rest.call(f"slurm/v0.0.45/job/{job}", token).body["jobs"]
    assert (shown["user_name"], shown["user_id"], shown["group_name"]) == ("researcher", 10001, "researcher")
    assert rest.call(f"slurm/v0.0.45/job/{job}", token, "DELETE").status == 200
    rest.stack.wait_for_job(job, "CANCELLED")


def test_every_api_version_of_the_documentation_is_served(rest: Rest) -> None:
    token = rest.token()
    for version in ("v0.0.42", "v0.0.43", "v0.0.44", "v0.0.45"):
        assert version in (paths.CHECKOUT / "docs" / "rest.md").read_text()
        [partition] = rest.call(f"slurm/{version}/partitions", token).body["partitions"]
        assert partition["name"] == "main"
    assert rest.call("slurm/v0.0.41/partitions", token).status == 404


def test_without_accounting_its_part_is_not_there(rest: Rest) -> None:
    answer = rest.call("slurmdb/v0.0.45/jobs", rest.token())
    assert answer.status == 404
    assert "Unable to find requested URL endpoint" in answer.text


def test_a_pod_that_goes_is_not_noticed(rest: Rest) -> None:
    token = rest.token()
    gone = next(iter(pods(rest.stack, "app.kubernetes.io/name=rest")))
    rest.stack.kubectl("delete", "pod", gone, "--wait=false")

    def replaced() -> bool:
        assert rest.jobs(token).status == 200
        there = pods(rest.stack, "app.kubernetes.io/name=rest")
        return gone not in there and sum(map(is_ready, there.values())) == 2

    until(replaced, f"{gone} to be replaced")


def test_an_ingress_is_made_with_its_certificate(rest: Rest) -> None:
    words = ["get", "ingress", "rest", "-o", "jsonpath={.spec.tls[0].secretName} {.spec.tls[0].hosts[0]}"]
    assert rest.stack.kubectl(*words) == "rest-tls slurm.example.com"
    assert rest.stack.outputs()["rest"] == "https://slurm.example.com"


def test_another_update_changes_nothing(rest: Rest) -> None:
    rest.stack.up("--expect-no-changes")
