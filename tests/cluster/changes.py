"""Changes to a stack's config, and what becomes of its pods."""

import json
from typing import Any

import yaml

from tests.cluster.stacks import Stack, until


def change(stack: Stack, section: str, **fields: Any) -> None:
    """Replace fields of one section in the stack's file. Nothing is deployed."""
    replace(stack, section, **{**stack.config.get(f"slipway:{section}", {}), **fields})


def replace(stack: Stack, section: str, **fields: Any) -> None:
    """Replace a whole section."""
    content = yaml.safe_load(stack.file.read_text())
    content["config"][f"slipway:{section}"] = fields
    stack.file.write_text(yaml.safe_dump(content, sort_keys=False))


def change_set(stack: Stack, name: str, **fields: Any) -> None:
    """Replace fields of a NodeSet other than `worker`."""
    change(stack, "nodeSets", **{name: {**stack.config["slipway:nodeSets"][name], **fields}})


def change_burst(stack: Stack, **fields: Any) -> None:
    """Replace fields of the dynamic NodeSet."""
    change_set(stack, "burst", **fields)


def pods(stack: Stack, selector: str = "") -> dict[str, dict[str, Any]]:
    """Pods by name, without those of Jobs."""
    words = ["get", "pods", "-o", "json", *(["-l", selector] if selector else [])]
    found = json.loads(stack.kubectl(*words))["items"]
    return {pod["metadata"]["name"]: pod for pod in found if pod["spec"]["restartPolicy"] == "Always"}


def uids(stack: Stack, selector: str = "") -> dict[str, str]:
    return {name: pod["metadata"]["uid"] for name, pod in pods(stack, selector).items()}


def is_ready(pod: dict[str, Any]) -> bool:
    conditions = pod["status"].get("conditions", [])
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


def written_down(stack: Stack) -> None:
    """Until slurmctld has written to its volume what is true now: what it has not, a restart without warning loses. It
    does so within five seconds; if it has not in twice that time, there was nothing left to write."""
    look = 'echo "$(date +%s) $(stat --format=%Y /var/spool/slurmctld/job_state 2> /dev/null || echo 0)"'
    asked, _ = map(int, stack.admin("sh", "-c", look).split())

    def written() -> bool:
        now, saved = map(int, stack.admin("sh", "-c", look).split())
        return saved > asked or now > asked + 10

    until(written, "the queue to be written down")
