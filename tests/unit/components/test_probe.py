"""The probe puts one pod on the nodes of each filter, with no rights that it does not need."""

from typing import Any, NoReturn

import pulumi
import pytest

from config import Settings


class Recorder(pulumi.runtime.Mocks):
    """Takes down what a program asks the engine for."""

    def __init__(self) -> None:
        self.made: dict[str, dict[str, Any]] = {}

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        self.made[args.name] = args.inputs
        return args.name, args.inputs

    def call(self, args: pulumi.runtime.MockCallArgs) -> NoReturn:
        raise AssertionError(f"nothing is looked up, but {args.token} was")


@pytest.fixture
def made() -> dict[str, dict[str, Any]]:
    recorder = Recorder()
    pulumi.runtime.set_mocks(recorder)
    from components.probe import Probe

    stack = {
        "slipway:cluster": '{"namespace": "hpc"}',
        "slipway:nodeFilters": '{"gpu": {"nodeSelector": {"kind": "gpu"}, "tolerations": [{"key": "gpu"}]}}',
        "slipway:controller.nodeFilter": "gpu",
        "slipway:worker.nodeFilter": "gpu",
        "slipway:login.nodeFilter": "gpu",
        "slipway:images": '{"probe": "registry/probe:1"}',
    }

    @pulumi.runtime.test
    def program() -> None:
        Probe("x", Settings.load(stack, {}))

    program()
    return recorder.made


def test_a_pod_carries_the_selector_and_tolerations_of_its_filter(made: dict[str, dict[str, Any]]) -> None:
    spec = made["probe-gpu"]["spec"]
    assert spec["nodeSelector"] == {"kind": "gpu"}
    assert [toleration["key"] for toleration in spec["tolerations"]] == ["gpu"]
    assert made["probe-gpu"]["metadata"]["namespace"] == "hpc"


def test_a_pod_runs_with_no_rights(made: dict[str, dict[str, Any]]) -> None:
    [container] = made["probe-gpu"]["spec"]["containers"]
    assert container["image"] == "registry/probe:1"
    context = container["securityContext"]
    assert context["runAsNonRoot"] is True
    assert context["readOnlyRootFilesystem"] is True
    assert context["allowPrivilegeEscalation"] is False
    assert context["capabilities"] == {"drop": ["ALL"]}
