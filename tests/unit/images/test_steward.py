"""The bridge's steward: tokens that are never too old, and marks that follow workers and labels."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from caretaker.clients import Unanswered
from steward import lending, tokens
from steward.__main__ import Steward
from steward.lending import EXTERNAL, GRACE, LENT, PARTITIONS, SLURM_NODE, Lender, Machine, Marked, Worker

KEY, DAY, NOW = b"\x00\x01key", 86400, 1_800_000_000.0


def part(text: str) -> dict[str, Any]:
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def test_a_token_says_who_for_and_how_long() -> None:
    header, body, _ = tokens.sign(KEY, DAY, NOW).split(".")
    assert part(header) == {"alg": "HS256", "typ": "JWT"}
    assert part(body) == {"iat": NOW, "exp": NOW + DAY, "sun": "slurm"}


def test_a_token_is_signed_as_the_standard_says() -> None:
    """RFC 7515, A.1: its own key, header and payload give its own signature."""
    key = base64.urlsafe_b64decode(
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow=="
    )
    body = (
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
        "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    )
    assert tokens.claims(key, f"{body}.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") == {
        "iss": "joe",
        "exp": 1300819380,
        "http://example.com/is_root": True,
    }


@pytest.mark.parametrize(
    ("token", "later", "due"),
    [
        ("", 0, True),
        ("nonsense", 0, True),
        (tokens.sign(b"another", DAY, NOW), 0, True),
        (tokens.sign(KEY, DAY, NOW), 1, False),
        (tokens.sign(KEY, DAY, NOW), DAY / 2 - 1, False),
        (tokens.sign(KEY, DAY, NOW), DAY / 2 + 1, True),
        (tokens.sign(KEY, 7 * DAY, NOW), 1, True),  # tokens shall not be good for that long any more
    ],
)
def test_the_next_token_is_made_when_half_the_time_of_this_one_is_over(token: str, later: float, due: bool) -> None:
    assert tokens.due(KEY, token, DAY, NOW + later) is due


class Kubernetes:
    """One Secret, two Deployments, some nodes and pods."""

    namespace = "slurm"

    def __init__(self) -> None:
        self.secret: dict[str, Any] = {"metadata": {}}
        self.restarts: list[str] = []
        self.deployments = {"bridge-scheduler", "bridge-controllers"}
        self.down: set[str] = set()
        self.patched: dict[str, Any] = {}

    def get(self, path: str) -> dict[str, Any]:
        assert path == "/api/v1/namespaces/slurm-bridge/secrets/bridge-token"
        return json.loads(json.dumps(self.secret))

    def patch(self, path: str, change: dict[str, Any]) -> None:
        name = path.rpartition("/")[2]
        if name in self.down:
            raise Unanswered("curl: (22) connection lost")
        if "/secrets/" in path:
            self.secret.setdefault("data", {}).update(change.get("data", {}))
            self.secret["metadata"].setdefault("annotations", {}).update(change["metadata"]["annotations"])
        elif "/deployments/" in path:
            if name not in self.deployments:
                raise Unanswered(f'deployments.apps "{name}" not found')
            self.restarts.append(name)
        else:
            self.patched[name] = change

    def list(self, path: str) -> Iterator[dict[str, Any]]:
        if "/pods" in path:
            labels = {"slipway/node-set": "worker"}
            yield {"metadata": {"name": "worker-0", "labels": labels}, "spec": {"nodeName": "m1"}}
            return
        yield {"metadata": {"name": "m1", "labels": {}}}

    @property
    def token(self) -> str:
        return base64.b64decode(self.secret["data"]["auth-token"]).decode()


@pytest.fixture
def told(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "jwt.key").write_bytes(KEY)
    return {
        "BRIDGE_NAMESPACE": "slurm-bridge",
        "TOKEN_OBJECT": "bridge-token",
        "TOKEN_KEY": "auth-token",
        "TOKEN_SECONDS": str(DAY),
        "JWT_KEY": str(tmp_path / "jwt.key"),
        "READERS": "bridge-scheduler,bridge-controllers",
        "READY": str(tmp_path / "ready"),
        "NODE_SETS": "worker",
        "PARTITION": "pods",
        "SLURMRESTD": "http://rest.slurm.svc:6820",
    }


def at(monkeypatch: pytest.MonkeyPatch, moment: float) -> None:
    monkeypatch.setattr("steward.__main__.time.time", lambda: moment)


def test_for_the_first_token_nobody_restarts(told: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, NOW)
    kubernetes = Kubernetes()
    Steward(kubernetes, told).round()  # pyright: ignore[reportArgumentType]
    assert tokens.claims(KEY, kubernetes.token) == {"iat": NOW, "exp": NOW + DAY, "sun": "slurm"}
    assert kubernetes.restarts == []
    assert Path(told["READY"]).exists()
    assert kubernetes.patched["m1"]["metadata"]["labels"] == {LENT: "slurm", SLURM_NODE: "worker-0"}


def test_for_the_next_one_its_readers_do_and_once(told: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    kubernetes = Kubernetes()
    steward = Steward(kubernetes, told)  # pyright: ignore[reportArgumentType]
    for moment in (NOW, NOW + DAY * 0.4, NOW + DAY * 0.6, NOW + DAY * 0.7):
        at(monkeypatch, moment)
        steward.round()
    assert part(kubernetes.token.split(".")[1])["iat"] == int(NOW + DAY * 0.6)
    assert kubernetes.restarts == ["bridge-scheduler", "bridge-controllers"]


def test_a_restart_that_did_not_happen_is_made_up_for(told: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    kubernetes = Kubernetes()
    at(monkeypatch, NOW)
    Steward(kubernetes, told).renew()  # pyright: ignore[reportArgumentType]
    at(monkeypatch, NOW + DAY)
    kubernetes.down.add("bridge-controllers")
    with pytest.raises(Unanswered):
        Steward(kubernetes, told).renew()  # pyright: ignore[reportArgumentType]
    before = kubernetes.token
    kubernetes.down.clear()
    Steward(kubernetes, told).renew()  # pyright: ignore[reportArgumentType]
    assert kubernetes.token == before
    assert kubernetes.restarts[-1] == "bridge-controllers"
    count = len(kubernetes.restarts)
    Steward(kubernetes, told).renew()  # pyright: ignore[reportArgumentType]
    assert len(kubernetes.restarts) == count


def test_a_reader_that_is_not_there_yet_is_not_waited_for(
    told: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kubernetes = Kubernetes()
    kubernetes.deployments.clear()
    for moment in (NOW, NOW + DAY):
        at(monkeypatch, moment)
        Steward(kubernetes, told).renew()  # pyright: ignore[reportArgumentType]
    assert kubernetes.secret["metadata"]["annotations"]["slipway/restarted"] == tokens.digest(kubernetes.token)


def lender(**more: Any) -> Lender:
    return Lender("slurm", frozenset({"worker"}), "pods", **more)


def machine(name: str, **labels: str) -> Machine:
    known = {"lent": LENT, "node": SLURM_NODE, "external": EXTERNAL}
    found = {known.get(key, key): value for key, value in labels.items()}
    return Machine(name, found, {PARTITIONS: "pods"} if "external" in labels else {})


def marks(lender: Lender, machines: list[Machine], workers: list[Worker], now: float = NOW) -> dict[str, Marked]:
    return {each.machine: each for each in lender.marks(machines, workers, now)}


def test_a_machine_is_lent_under_the_name_of_its_worker() -> None:
    found = marks(lender(), [machine("m1"), machine("m2")], [Worker("worker-0", "worker", "m1")])
    assert found["m1"].labels == {LENT: "slurm", SLURM_NODE: "worker-0"}
    assert set(found) == {"m1"}


def test_marks_that_are_right_are_left_alone() -> None:
    right = machine("m1", lent="slurm", node="worker-0")
    assert marks(lender(), [right], [Worker("worker-0", "worker", "m1")]) == {}
    right = machine("m2", lent="slurm", external="true", pool="batch")
    assert marks(lender(selector={"pool": "batch"}), [right], []) == {}


def test_a_machine_without_a_worker_is_lent_by_its_labels() -> None:
    found = marks(lender(selector={"pool": "batch", "a": "b"}), [machine("m1", pool="batch", a="b")], [])
    assert found["m1"].labels == {LENT: "slurm", EXTERNAL: "true"}
    assert found["m1"].annotations == {PARTITIONS: "pods"}
    assert marks(lender(selector={"pool": "batch", "a": "b"}), [machine("m1", pool="batch")], []) == {}


def test_a_machine_that_loses_its_label_is_given_back() -> None:
    found = marks(lender(selector={"pool": "batch"}), [machine("m1", lent="slurm", external="true")], [])
    assert found["m1"].labels == {LENT: None, EXTERNAL: None}
    assert found["m1"].annotations == {PARTITIONS: None}


def test_a_worker_that_is_replaced_keeps_its_machine_for_a_while() -> None:
    lends, lent = lender(), machine("m1", lent="slurm", node="worker-0")
    assert marks(lends, [lent], []) == {}
    assert marks(lends, [lent], [Worker("worker-0", "worker", "")], NOW + GRACE - 1) == {}
    assert marks(lends, [lent], [Worker("worker-0", "worker", "m1")], NOW + GRACE + 1) == {}
    assert marks(lends, [lent], [], NOW + GRACE + 2) == {}
    assert marks(lends, [lent], [], NOW + 2 * GRACE + 3)["m1"].labels == {LENT: None, SLURM_NODE: None}


def test_a_worker_that_moves_takes_its_name_along_at_once() -> None:
    machines = [machine("m1", lent="slurm", node="worker-0"), machine("m2")]
    found = marks(lender(), machines, [Worker("worker-0", "worker", "m2")])
    assert found["m1"].labels == {LENT: None, SLURM_NODE: None}
    assert found["m2"].labels == {LENT: "slurm", SLURM_NODE: "worker-0"}


def test_a_node_set_that_is_no_longer_lent_has_its_machines_back_at_once() -> None:
    lends = Lender("slurm", frozenset(), "pods")
    lent = machine("m1", lent="slurm", node="worker-0")
    assert marks(lends, [lent], [Worker("worker-0", "worker", "m1")])["m1"].labels[LENT] is None
    assert marks(lends, [lent], [])["m1"].labels[LENT] is None


def test_two_workers_of_one_machine_cannot_be_told_apart() -> None:
    both = [Worker("worker-0", "worker", "m1"), Worker("gpu-0", "gpu", "m1")]
    assert marks(lender(), [machine("m1")], both) == {}
    assert list(lender().crowded(both)) == ["m1 is not lent: it has the workers gpu-0, worker-0"]
    assert marks(lender(selector={"pool": "x"}), [machine("m1", pool="x")], both[1:]) == {}


def test_what_others_have_marked_is_theirs() -> None:
    assert marks(lender(), [machine("m1", node="by-hand")], []) == {}
    other = machine("m1", lent="elsewhere", external="true", pool="batch")
    assert marks(lender(), [other], []) == {}
    assert marks(lender(selector={"pool": "batch"}), [other], []) == {}


def test_a_control_plane_is_never_lent() -> None:
    there = machine("m1", pool="batch", **{lending.CONTROL_PLANE: ""})
    assert marks(lender(selector={"pool": "batch"}), [there], []) == {}
