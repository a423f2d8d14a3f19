"""`pulumi destroy`: what `storage.retain` keeps is taken over by the next stack, and without it nothing is left."""

import json
import subprocess

from lab import paths
from tests.cluster.changes import change
from tests.cluster.dev.test_researcher import submitted
from tests.cluster.stacks import Stack, until


def everywhere(stack: Stack, *words: str) -> list[str]:
    return stack.kubectl("get", *words, "-o", "name").split()


def destroyed(stack: Stack) -> None:
    done = stack.pulumi("destroy", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr


def test_homes_and_the_queue_outlive_a_stack_that_retains_them(variant: Stack) -> None:
    variant.up()
    variant.run("echo precious > ~/kept")
    held = submitted(variant.run("sbatch --hold --job-name=kept -o /dev/null --wrap true"))
    claims = everywhere(variant, "pvc")
    destroyed(variant)
    assert everywhere(variant, "namespace", "variant") == ["namespace/variant"]
    assert everywhere(variant, "pvc") == claims
    until(lambda: not everywhere(variant, "pods"), "the pods to be gone")
    assert not everywhere(variant, "statefulsets,deployments,jobs,secrets,services")

    variant.up()
    assert everywhere(variant, "pvc") == claims
    assert variant.run("cat ~/kept") == "precious"
    assert variant.run(f"squeue --noheader --jobs={held} --format=%j") == "kept"
    variant.run(f"scontrol release {held}")
    variant.wait_for_job(held)


def test_nothing_is_left_of_a_stack_that_retains_nothing(variant: Stack) -> None:
    change(variant, "storage", retain=False)
    variant.up()
    destroyed(variant)
    assert "namespace/variant" not in everywhere(variant, "namespaces")
    assert not [
        each for each in everywhere(variant, "priorityclasses,clusterroles,clusterrolebindings") if "/variant-" in each
    ]

    def volumes() -> list[str]:
        found = json.loads(variant.kubectl("get", "pv", "-o", "json"))["items"]
        return [each["metadata"]["name"] for each in found if each["spec"]["claimRef"]["namespace"] == "variant"]

    until(lambda: not volumes(), "the volumes to be gone")
    argv = ["pulumi", "stack", "export", "--stack", variant.name]
    left = subprocess.run(argv, cwd=paths.CHECKOUT, check=True, capture_output=True, text=True).stdout
    assert not json.loads(left)["deployment"].get("resources"), left
