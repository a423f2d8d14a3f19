"""For the few containers that talk to Kubernetes: the token of their service account, mounted into them alone."""

from typing import Any

from pulumi_kubernetes.core.v1 import VolumeArgsDict, VolumeMountArgsDict

_VOLUME = "kubernetes"

ACCESS: VolumeMountArgsDict = {
    "name": _VOLUME,
    "mount_path": "/var/run/secrets/kubernetes.io/serviceaccount",  # where Kubernetes' own clients look for it
    "read_only": True,
}


def token() -> VolumeArgsDict:
    """What Kubernetes would mount into every container."""
    namespace: Any = {"path": "namespace", "field_ref": {"field_path": "metadata.namespace"}}
    sources: Any = [
        {"service_account_token": {"path": "token", "expiration_seconds": 3600}},
        {"config_map": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downward_api": {"items": [namespace]}},
    ]
    return {"name": _VOLUME, "projected": {"sources": sources}}
