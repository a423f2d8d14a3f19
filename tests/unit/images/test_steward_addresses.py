"""External nodes have an address in Slurm as soon as Slurm has them, and nobody asks more often than it takes."""

import json
from typing import Any

import pytest
from steward import addresses
from steward.addresses import AGAIN, Addresses
from steward.lending import EXTERNAL, Machine

OUTSIDE = Machine("m0", {EXTERNAL: "true"}, {}, "10.0.0.7")


class Slurmrestd:
    """Nodes with their addresses, as curl would show them."""

    def __init__(self, **nodes: str) -> None:
        self.nodes, self.asked, self.moment = nodes, list[str](), 1000.0

    def run(self, *argv: str, stdin: str = "") -> str:
        method, name = argv[argv.index("--request") + 1], argv[-1].rpartition("/")[2]
        self.asked.append(method)
        assert "X-SLURM-USER-TOKEN: signed" in stdin
        assert not any("signed" in word for word in argv), "a command line is for everybody to read"
        if method == "POST":
            [data] = [line.removeprefix("data = ") for line in stdin.splitlines() if line.startswith("data = ")]
            self.nodes[name] = json.loads(json.loads(data))["address"]
            return "{}"
        found: dict[str, Any] = {"nodes": [{"name": name, "address": self.nodes[name]}]} if name in self.nodes else {}
        return json.dumps(found)


def clock(monkeypatch: pytest.MonkeyPatch, rest: Slurmrestd) -> Addresses:
    monkeypatch.setattr(addresses, "run", rest.run)
    monkeypatch.setattr("steward.addresses.time.monotonic", lambda: rest.moment)
    return Addresses("http://rest", lambda: "signed")


def test_a_node_without_an_address_gets_its_machines_own(monkeypatch: pytest.MonkeyPatch) -> None:
    rest = Slurmrestd(m0="m0")
    assert clock(monkeypatch, rest).tell([OUTSIDE]) == ["m0 is at 10.0.0.7"]
    assert rest.nodes == {"m0": "10.0.0.7"}


def test_a_node_that_slurm_does_not_have_yet_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rest = Slurmrestd()
    known = clock(monkeypatch, rest)
    assert known.tell([OUTSIDE]) == []
    rest.nodes["m0"] = "m0"
    assert known.tell([OUTSIDE]) == ["m0 is at 10.0.0.7"]


def test_a_node_that_was_made_anew_gets_it_again_and_others_are_left_in_peace(monkeypatch: pytest.MonkeyPatch) -> None:
    rest = Slurmrestd(m0="m0")
    known = clock(monkeypatch, rest)
    known.tell([OUTSIDE])
    rest.nodes["m0"], rest.asked = "m0", []
    assert known.tell([OUTSIDE]) == []
    assert rest.asked == []
    rest.moment += AGAIN
    assert known.tell([OUTSIDE]) == ["m0 is at 10.0.0.7"]


def test_other_machines_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    rest = Slurmrestd()
    assert clock(monkeypatch, rest).tell([Machine("m1", {}, {}, "10.0.0.8")]) == []
    assert rest.asked == []


def test_the_address_is_the_one_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [{"type": "ExternalIP", "address": "192.0.2.1"}, {"type": "InternalIP", "address": "10.0.0.7"}]
    node = {"metadata": {"name": "m0", "labels": {EXTERNAL: "true"}}, "status": {"addresses": found}}
    assert Machine.read(node) == OUTSIDE
