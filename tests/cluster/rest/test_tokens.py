"""Who has no good token gets nowhere, and who has one does what is theirs."""

import pytest

from tests.cluster.changes import pods, uids, written_down
from tests.cluster.rest.conftest import Rest
from tests.cluster.stacks import until

REST = "app.kubernetes.io/name=rest"


def inside(rest: Rest, script: str) -> str:
    return rest.stack.kubectl("exec", next(iter(pods(rest.stack, REST))), "--", "bash", "-c", script)


def queue(rest: Rest) -> str:
    return rest.stack.admin("squeue", "--noheader")


@pytest.mark.parametrize("path", ["slurm/v0.0.45/jobs", "slurm/v0.0.45/ping", "openapi/v3", "livez", "nowhere"])
def test_without_a_token_there_is_no_answer(rest: Rest, path: str) -> None:
    assert rest.call(path).status == 401
    assert rest.call(path, **{"X-SLURM-USER-NAME": "researcher"}).status == 401


def test_a_token_that_is_not_good_does_nothing(rest: Rest) -> None:
    good, short = rest.token(), rest.token(lifespan="1s")
    head, body, signature = good.split(".")
    other = rest.token("other").split(".")[1]
    assert rest.jobs(good).status == 200
    until(lambda: rest.jobs(short).status != 200, "a token of a second to end")
    before = queue(rest)
    job = {"job": {"script": "#!/bin/bash\n", "current_working_directory": "/tmp", "environment": ["A=B"]}}
    forged = f"{head}.{other}.{signature}"  # another name under the signature of this one
    unsigned = f"eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{body}."  # {"alg":"none","typ":"JWT"}
    for token in ("garbage", short, forged, unsigned):
        for answer in (rest.jobs(token), rest.call("slurm/v0.0.45/job/submit", token, "POST", job)):
            assert answer.status in (401, 511), answer
            assert not answer.text or answer.body["errors"][0]["error"] == "Protocol authentication error"
    assert queue(rest) == before


def test_a_token_is_for_one_user(rest: Rest) -> None:
    token = rest.token("other")
    assert rest.jobs(token, **{"X-SLURM-USER-NAME": "other"}).status == 200
    for name in ("researcher", "root", "slurm"):
        assert rest.jobs(token, **{"X-SLURM-USER-NAME": name}).status == 511


def test_nobody_cancels_or_changes_the_job_of_another(rest: Rest) -> None:
    mine, theirs = rest.token("researcher"), rest.token("other")
    job = rest.submit(mine, "#!/bin/bash\nsleep 600\n")
    rest.stack.wait_for_job(job, "RUNNING")
    written_down(rest.stack)
    path = f"slurm/v0.0.45/job/{job}"
    assert rest.call(path, theirs, "POST", {"name": "stolen"}).status != 200
    # slurmctld 26.05.5 hangs from this on, whoever asks it in which way, and is restarted when that is seen.
    assert rest.call(path, theirs, "DELETE").status != 200
    fields = rest.stack.wait_for_job(job, "RUNNING", seconds=300)
    assert (fields["JobName"], fields["Restarts"]) == ("by-rest", "0")
    assert rest.call(path, mine, "DELETE").status == 200
    rest.stack.wait_for_job(job, "CANCELLED")


def test_being_local_to_it_is_no_right(rest: Rest) -> None:
    ask = "GET /slurm/v0.0.45/jobs HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
    assert " 401 " in inside(rest, f"exec 3<> /dev/tcp/127.0.0.1/6820; printf '{ask}' >&3; head -n1 <&3")
    assert inside(rest, "cat /proc/net/unix").count("\n") <= 1, "it listens on no socket of its own"


def test_its_pods_are_nobody_and_hold_no_key(rest: Rest) -> None:
    for name in pods(rest.stack, REST):
        assert rest.stack.kubectl("exec", name, "--", "id", "-u").strip() == "64032"
        assert rest.stack.kubectl("exec", name, "--", "id", "-G").strip() == "64032"
    assert inside(rest, "ls /etc/slurm") == "slurm.conf\n"
    keys = "find / -xdev -name '*.key' -o -xdev -name token; ls -d /var/run/secrets /mnt/* /run/munge"
    assert inside(rest, f"({keys}) 2> /dev/null || true") == ""
    assert "Read-only file system" in inside(rest, "touch /etc/slurm/x /usr/x 2>&1 || true")


def test_tokens_are_given_to_users_that_the_cluster_knows_and_not_for_ever(rest: Rest) -> None:
    for words, why in (
        (("nobody-we-know",), "knows no user nobody-we-know"),
        (("10001",), "knows no user 10001"),
        (("root",), "can act in anybody's name"),
        (("slurm",), "can act in anybody's name"),
        (("researcher", "--lifespan", "2d"), "between 1s and 1d"),
        (("researcher", "--lifespan", "60"), "say 60s or 60m"),
    ):
        done = rest.slipway("token", *words)
        assert (done.returncode, done.stdout) == (1, ""), words
        assert why in done.stderr


def test_users_get_tokens_of_their_own_within_the_limit(rest: Rest) -> None:
    token = rest.stack.run("scontrol token lifespan=86400").removeprefix("SLURM_JWT=")
    assert rest.jobs(token).status == 200
    assert rest.stack.ssh("scontrol token lifespan=86401").returncode
    assert rest.stack.ssh("scontrol token username=other").returncode


def test_a_new_key_ends_tokens_and_no_job(rest: Rest) -> None:
    stack, old = rest.stack, rest.token()
    running = rest.submit(old, "#!/bin/bash\nsleep 20\n")
    fields = stack.wait_for_job(running, "RUNNING")
    held = rest.submit(old, "#!/bin/bash\n", hold=True)
    rest_pods, workers = uids(stack, REST), uids(stack, "app.kubernetes.io/name=worker")
    stack.set("secrets.jwt", "2")
    told = stack.pulumi("preview")
    assert "slipway:secrets.jwt" in told.stdout + told.stderr
    assert "slipway token" in told.stdout + told.stderr
    assert rest.jobs(old).status == 200, "a preview changes nothing"
    stack.up()
    assert rest.jobs(rest.token()).status == 200
    assert rest.jobs(old).status == 511
    assert uids(stack, REST) == rest_pods
    assert uids(stack, "app.kubernetes.io/name=worker") == workers
    ended = stack.wait_for_job(running)
    assert (ended["StartTime"], ended["Restarts"], ended["ExitCode"]) == (fields["StartTime"], "0", "0:0")
    token = rest.token()
    [waiting] = rest.call(f"slurm/v0.0.45/job/{held}", token).body["jobs"]
    assert waiting["job_state"] == ["PENDING"]
    assert rest.call(f"slurm/v0.0.45/job/{held}", token, "DELETE").status == 200
