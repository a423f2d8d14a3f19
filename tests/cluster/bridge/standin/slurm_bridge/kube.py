"""The API server, with the rights of the pod's own service account and no others."""

import os
import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from slurm_bridge.http import Refused, ask

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
MERGE = "application/strategic-merge-patch+json"


class Kube:
    def __init__(self) -> None:
        self.url = f"https://{os.environ['KUBERNETES_SERVICE_HOST']}:{os.environ['KUBERNETES_SERVICE_PORT']}"
        self.context = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
        self.context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # as Go: an authority need not name its own key

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json", **query: str) -> Any:
        token = (ACCOUNT / "token").read_text()  # the kubelet renews it
        headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
        return ask(method, f"{self.url}{path}?{urlencode(query)}", headers, body, self.context)

    def get(self, path: str) -> Any:
        """None if there is no such object."""
        try:
            return self.call("GET", path)
        except Refused as problem:
            if problem.status == 404:
                return None
            raise

    def list(self, path: str, **query: str) -> list[dict[str, Any]]:
        return self.call("GET", path, **query)["items"]

    def patch(self, path: str, change: dict[str, Any]) -> Any:
        return self.call("PATCH", path, change, MERGE)

    def event(self, pod: dict[str, Any], reason: str, message: str) -> None:
        """As a scheduler tells people what it does with a pod."""
        meta, now = pod["metadata"], datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        regarding = {"kind": "Pod", "apiVersion": "v1"} | {key: meta[key] for key in ("name", "namespace", "uid")}
        body = {
            "metadata": {"generateName": f"{meta['name']}-", "namespace": meta["namespace"]},
            "eventTime": now,
            "reportingController": pod["spec"]["schedulerName"],
            "reportingInstance": os.uname().nodename,
            "action": "Scheduling",
            "type": "Normal",
            "reason": reason,
            "note": message,
            "regarding": regarding,
        }
        self.call("POST", f"/apis/events.k8s.io/v1/namespaces/{meta['namespace']}/events", body)


class Lease:
    """Who of several pods is at work: the one that holds the lease, and renews it."""

    def __init__(self, kube: Kube, namespace: str, name: str) -> None:
        self.kube, self.name, self.me = kube, name, os.uname().nodename
        self.path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"

    def held(self) -> bool:
        now = datetime.now(UTC)
        spec = {
            "holderIdentity": self.me,
            "leaseDurationSeconds": 15,
            "renewTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        }
        lease = self.kube.get(f"{self.path}/{self.name}")
        if lease is None:
            self.kube.call("POST", self.path, {"metadata": {"name": self.name}, "spec": spec})
            return True
        other = lease.get("spec", {})
        renewed = datetime.fromisoformat(other.get("renewTime") or "1970-01-01T00:00:00Z")
        if other.get("holderIdentity") not in (self.me, "", None) and (now - renewed).total_seconds() < 15:
            return False
        self.kube.call("PUT", f"{self.path}/{self.name}", {**lease, "spec": spec})
        return True

    def release(self) -> None:
        """So that the next pod need not wait until this one is missed."""
        lease = self.kube.get(f"{self.path}/{self.name}")
        if lease and lease["spec"].get("holderIdentity") == self.me:
            self.kube.call(
                "PUT", f"{self.path}/{self.name}", {**lease, "spec": {**lease["spec"], "holderIdentity": ""}}
            )
