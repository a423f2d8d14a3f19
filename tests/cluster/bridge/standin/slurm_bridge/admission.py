"""Admission: pods of managed namespaces are for the bridge's scheduler; what it writes is not for users to write."""

import base64
import json
import threading
from pathlib import Path
from typing import Any

from slurm_bridge.kube import Kube
from slurm_bridge.names import CHOSEN_NODE, JOB_ID
from slurm_bridge.serving import mounted, serve

CERTIFICATES = Path("/tmp/k8s-webhook-server/serving-certs")
MUTATE, VALIDATE = "/mutate--v1-pod", "/validate--v1-pod"


class Admission:
    def __init__(self, config: dict[str, Any]) -> None:
        self.config, self.scheduler, self.kube = config, config["schedulerName"], Kube()

    def run(self) -> None:
        serve(9443, self.answer, mounted(CERTIFICATES))
        serve(8081)
        threading.Event().wait()

    def managed(self, namespace: str) -> bool:
        selector = self.config.get("managedNamespaceSelector")
        if not selector:
            return namespace in self.config.get("managedNamespaces", [])
        labels = (self.kube.get(f"/api/v1/namespaces/{namespace}") or {})["metadata"].get("labels", {})
        return all(labels.get(key) == value for key, value in selector["matchLabels"].items())

    def answer(self, path: str, review: dict[str, Any]) -> dict[str, Any]:
        """Nothing for a path that is not served."""
        if path not in (MUTATE, VALIDATE):
            return {}
        request = review["request"]
        response: dict[str, Any] = {"uid": request["uid"], "allowed": True}
        pod = request["object"]
        if self.managed(request["namespace"]) or pod["spec"].get("schedulerName") == self.scheduler:
            if path == MUTATE:
                response |= self.mutated(request["operation"], pod)
            elif problem := self.problem(request, pod):
                response |= {"allowed": False, "status": {"message": problem}}
        return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}

    def mutated(self, operation: str, pod: dict[str, Any]) -> dict[str, Any]:
        changes = []
        if operation == "CREATE" and pod["spec"].get("nodeName"):
            changes.append({"op": "remove", "path": "/spec/nodeName"})
        if pod["spec"].get("schedulerName") == "default-scheduler":
            changes.append({"op": "replace", "path": "/spec/schedulerName", "value": self.scheduler})
        if not changes:
            return {}
        return {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(changes).encode()).decode()}

    def problem(self, request: dict[str, Any], pod: dict[str, Any]) -> str:
        if request.get("subResource") == "resize":
            return "a pod that Slurm has placed cannot be resized"
        written = _written(pod)
        if request["operation"] == "CREATE" and any(written):
            return f"{JOB_ID} and {CHOSEN_NODE} are the bridge's to write"
        if pod.get("status", {}).get("phase") == "Running" and written != _written(request["oldObject"]):
            return f"{JOB_ID} and {CHOSEN_NODE} of a pod that runs stay as they are"
        return ""


def _written(pod: dict[str, Any]) -> tuple[str | None, str | None]:
    meta = pod["metadata"]
    return meta.get("labels", {}).get(JOB_ID), meta.get("annotations", {}).get(CHOSEN_NODE)
