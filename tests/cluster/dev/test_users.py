"""Users of the stack are users of the cluster, as soon as `pulumi up` is through."""

import json

import yaml

from tests.cluster.stacks import Stack, until


def declare(stack: Stack, users: list[dict[str, object]], groups: list[dict[str, object]]) -> None:
    config = yaml.safe_load(stack.file.read_text())
    config["config"] |= {"slipway:users": users, "slipway:groups": groups}
    stack.file.write_text(yaml.safe_dump(config, sort_keys=False))
    stack.up()


def test_users_come_change_and_go_without_a_restart_and_their_files_stay(dev: Stack) -> None:
    before = dev.file.read_text()
    researcher = {"name": "researcher", "uid": 10001}
    pods = dev.kubectl("get", "pods", "-l", "app.kubernetes.io/name in (login,worker,controller)", "-o", "json")
    uids = {pod["metadata"]["uid"] for pod in json.loads(pods)["items"]}
    try:
        ada: dict[str, object] = {"name": "ada", "uid": 10002}
        declare(dev, [researcher, ada], [])
        assert dev.run("id; echo mine > ~/kept.txt", user="ada").startswith("uid=10002(ada) gid=10002(ada)")
        assert "physics" not in dev.run("srun id", user="ada")

        ada["groups"] = ["physics"]
        declare(dev, [researcher, ada], [{"name": "physics", "gid": 20001}])
        assert "20001(physics)" in dev.run("id", user="ada")
        # slurmctld has just asked for ada's groups, and remembers the answer for a while.
        until(lambda: "20001(physics)" in dev.run("srun id", user="ada"), "a job to be in the group", seconds=30)
        assert dev.run("stat -c '%U %a' /home/ada") == "ada 700"
        assert dev.ssh("cat /home/ada/kept.txt").returncode != 0, "another user's home is closed"

        declare(dev, [researcher], [])
        assert "Permission denied" in dev.ssh("id", user="ada").stderr
        assert dev.kubectl("exec", "login-0", "-c", "sshd", "--", "cat", "/mnt/jail/home/ada/kept.txt") == "mine\n"

        declare(dev, [researcher, ada], [{"name": "physics", "gid": 20001}])
        assert dev.run("cat ~/kept.txt", user="ada") == "mine"
    finally:
        dev.file.write_text(before)
        dev.up()
    pods = dev.kubectl("get", "pods", "-l", "app.kubernetes.io/name in (login,worker,controller)", "-o", "json")
    assert {pod["metadata"]["uid"] for pod in json.loads(pods)["items"]} == uids
