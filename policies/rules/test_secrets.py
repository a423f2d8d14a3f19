"""Secrets only where nobody reads along."""

from dataclasses import replace

import pytest

from policies.examples import FIRST, UNKNOWN, changed, cluster, finding, findings, kubernetes, worker
from policies.marks import Marked
from policies.reading import Resource
from policies.rules.secrets import RULES

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n"
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJlLXNpZw"


def command(create: str, **props: object) -> Resource:
    return Resource("command:local:Command", "made", {"create": create, **props}, "urn:made")


def config_map(**data: str) -> Resource:
    return kubernetes("ConfigMap", "files", data=data)


@pytest.mark.parametrize(
    "passing",
    [
        config_map(**{"slurm.conf": "ClusterName=dev\nAuthAltParameters=jwt_key=/run/keys/jwt.key"}),
        command("operations/run apply", environment={"SLIPWAY_WRITTEN": UNKNOWN}),
        command("operations/run show", environment={"DB_PASSWORD": Marked("hunter2")}),
        replace(command("operations/run keys jwt"), secret_outputs=frozenset({"stdout"})),
        kubernetes("Secret", "keys", data={"jwt.key": Marked("c2VjcmV0")}),
        kubernetes("Secret", "keys", data={"jwt.key": Marked(UNKNOWN)}),
        kubernetes("Secret", "keys", data=Marked(UNKNOWN)),
        changed(worker(), f"{FIRST}.env", [{"name": "SLURM_JWT_TOKEN", "value": "/run/keys/token"}]),
        changed(worker(), f"{FIRST}.env", [{"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "x"}}}]),
        changed(worker(), f"{FIRST}.args", ["--token", "$(TOKEN)", "--secret=/run/secret"]),
    ],
)
def test_what_only_points_to_a_secret_passes(passing: Resource) -> None:
    assert findings(RULES, cluster(), passing) == []


@pytest.mark.parametrize(
    ("stopped", "said"),
    [
        (config_map(key=KEY), "data.key holds a key, token or password"),
        (config_map(**{"jwt.key": "abc"}), "data.jwt.key is a secret by its name"),
        (config_map(**{"slurmdbd.conf": "DbdHost=x\nStoragePass=hunter2\n"}), "data.slurmdbd.conf holds a key"),
        (config_map(text=Marked("hunter2")), "data.text is marked as a secret"),
        (changed(worker(), f"{FIRST}.env", [{"name": "DB_PASSWORD", "value": "hunter2"}]), "variable DB_PASSWORD is"),
        (changed(worker(), f"{FIRST}.env", [{"name": "A", "value": TOKEN}]), "the variable A holds a key"),
        (changed(worker(), f"{FIRST}.env", [{"name": "A", "value": Marked("b")}]), "the variable A is marked"),
        (changed(worker(), f"{FIRST}.args", ["--password", "hunter2"]), "args names a secret"),
        (changed(worker(), f"{FIRST}.command", ["sh", "-c", "DB_PASSWORD=hunter2 run"]), "command names a secret"),
        (command("login --token=abc"), "create names a secret"),
        (command(Marked("login abc")), "create is marked as a secret"),
        (command("operations/run keys jwt"), "prints a key"),
        (command("run", environment={"DB_PASSWORD": "hunter2"}), "environment.DB_PASSWORD is a secret by its name"),
        (command("run", environment={"DB_PASSWORD": UNKNOWN}), "environment.DB_PASSWORD is a secret by its name"),
        (kubernetes("Secret", "keys", data={"jwt.key": "c2VjcmV0"}), "data.jwt.key stands in the state as plain text"),
        (kubernetes("Secret", "keys", stringData={"a": UNKNOWN}), "stringData.a stands in the state"),
    ],
)
def test_a_secret_that_can_be_read_is_stopped(stopped: Resource, said: str) -> None:
    assert said in finding(RULES, cluster(), stopped)


def test_what_a_secret_holds_stands_nowhere_else() -> None:
    secret = kubernetes("Secret", "keys", data={"jwt.key": Marked("dGhlIHZlcnkgc2VjcmV0IGtleQ==")})
    said = finding(RULES, cluster(), secret, config_map(text="it is: the very secret key"))
    assert "holds what a Secret of this stack holds" in said


@pytest.mark.parametrize(
    "mutated",
    [
        kubernetes("ConfigMap", "files", data=UNKNOWN),
        config_map(text=UNKNOWN),
        changed(worker(), f"{FIRST}.env", [{"name": "A", "value": UNKNOWN}]),
        changed(worker(), f"{FIRST}.args", [UNKNOWN]),
        command(UNKNOWN),
        kubernetes("Secret", "keys", data=UNKNOWN),
    ],
)
def test_what_is_not_known_yet_is_stopped(mutated: Resource) -> None:
    assert "known only after the update" in finding(RULES, cluster(), mutated)
