"""A cluster with all that makes jobs comfortable: folders, limits and volumes of their own, scripts that are asked
about them, mail that tells of them, and ssh to where they run."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.layout import Lab
from tests.cluster.stacks import Stack

SINK = "mail-sink"
LOCAL = "/tmp/hostpath_pv/comfort-local"  # a folder of the lab's nodes

JOB_SUBMIT = """\
function slurm_job_submit(job, partitions, uid)
    if job.name == "forbidden" then
        slurm.log_user("jobs of that name are not run here")
        return slurm.ERROR
    end
    job.admin_comment = "seen"
    return slurm.SUCCESS
end
function slurm_job_modify(job, record, partitions, uid)
    return slurm.SUCCESS
end
return slurm.SUCCESS
"""
CLI_FILTER = """\
function slurm_cli_setup_defaults(options, early)
    return slurm.SUCCESS
end
function slurm_cli_pre_submit(options, offset)
    if options["comment"] == nil then
        options["comment"] = "filtered"
    end
    return slurm.SUCCESS
end
function slurm_cli_post_submit(offset, job, step)
    return slurm.SUCCESS
end
return slurm.SUCCESS
"""

CONFIG: dict[str, Any] = {
    "cluster": {"name": "comfort", "namespace": "comfort", "stage": "development"},
    "worker": {
        "size": 1,
        "cpus": 2,
        "memory": "512Mi",
        "gracePeriod": "20s",
        "sharedMemory": "64Mi",
        "limits": {"nofile": 4096, "stack": "64Mi"},
        "submounts": [
            {"mountPath": "/scratch", "emptyDir": {"sizeLimit": "1Gi"}},
            {"mountPath": "/local", "hostPath": LOCAL, "readOnly": True},
        ],
    },
    "nodeSets": {"other": {"size": 1, "memory": "256Mi", "gracePeriod": "20s"}},
    "partitions": {"main": {"nodeSets": ["worker", "other"], "default": True, "maxTime": "1-00:00:00"}},
    "login": {"limits": {"nofile": 2048}, "service": {"type": "NodePort", "nodePort": 30322}},
    "slurm": {
        "privateTmp": True,
        "jobSubmitLua": JOB_SUBMIT,
        "cliFilterLua": CLI_FILTER,
        "mail": {
            "domain": "users.example.com",
            "smtp": {"host": f"{SINK}.comfort.svc.cluster.local", "sender": "slurm@example.com"},
        },
    },
    "users": [{"name": "researcher", "uid": 10001}, {"name": "ada", "uid": 10002}],
}


@pytest.fixture(scope="session")
def comfort(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack.create(lab, "comfort", tmp_path_factory.mktemp("comfort"), **CONFIG)
    stack.up()
    yield stack
    stack.destroy()


# Takes any mail and prints all that it hears. The image has little more than sockets of Python.
SERVE = """
import socket
server = socket.create_server(("", 2525))
while True:
    client = server.accept()[0].makefile("rw", newline="\\r\\n")
    def say(line):
        client.write(line + "\\r\\n")
        client.flush()
    say("220 here")
    data = False
    for line in client:
        line = line.strip()
        print(line, flush=True)
        data = line.upper() == "DATA" or data and line != "."
        if line.upper() == "QUIT":
            say("221 bye")
            break
        if line.upper() == "DATA":
            say("354 go on")
        elif not data:
            say("250 fine")
    client.close()
"""


@pytest.fixture(scope="session")
def sink(comfort: Stack, image: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A mail server of the lab's own: the name of its pod, whose log is the mail."""
    labels = {"app": SINK}
    container = {"name": SINK, "image": image, "command": ["python3", "-u", "-c", SERVE]}
    service = {"selector": labels, "ports": [{"port": 25, "targetPort": 2525}]}
    objects = [
        {"kind": "Pod", "metadata": {"name": SINK, "labels": labels}, "spec": {"containers": [container]}},
        {"kind": "Service", "metadata": {"name": SINK}, "spec": service},
    ]
    for number, each in enumerate(objects):
        file: Path = tmp_path_factory.mktemp("sink") / f"{number}.json"
        file.write_text(json.dumps({"apiVersion": "v1", **each}))
        comfort.kubectl("apply", "-f", str(file))
    comfort.kubectl("wait", "--for=condition=Ready", f"pod/{SINK}", "--timeout=90s")
    return SINK
