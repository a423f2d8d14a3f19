"""The provider's settings: arguments of `kubernetes.Provider`, stack config `kubernetes:…`, PULUMI_K8S_… variables."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab.plugins.kubernetes.kubeconfig import Access, KubeconfigError, access, load

# What the real provider has and this one has not, with what to do instead.
UNSUPPORTED = {
    "renderYamlToDirectory": "rendering YAML files instead of applying them needs the real provider plugin",
}


@dataclass(frozen=True)
class Options:
    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    namespace: str = ""
    server_side_apply: bool = True
    config_map_mutable: bool = False
    secret_mutable: bool = False
    patch_force: bool = False
    upsert: bool = False
    delete_unreachable: bool = False
    skip_update_unreachable: bool = False
    client_timeout: float | None = None

    def access(self) -> Access:
        """Which API server, and as whom."""
        return access(load(self.kubeconfig), self.context, self.cluster, self.namespace)


def options(settings: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Options:
    """Settings by name; a missing flag falls back to its environment variable."""

    def flag(name: str, variable: str, default: bool = False) -> bool:
        for value in (settings.get(name), environment.get(f"PULUMI_K8S_{variable}")):
            if value not in (None, ""):
                return value is True or str(value).lower() == "true"
        return default

    return Options(
        kubeconfig=_text(settings.get("kubeconfig")),
        context=_text(settings.get("context")),
        cluster=_text(settings.get("cluster")),
        namespace=_text(settings.get("namespace")),
        server_side_apply=flag("enableServerSideApply", "ENABLE_SERVER_SIDE_APPLY", default=True),
        config_map_mutable=flag("enableConfigMapMutable", "ENABLE_CONFIGMAP_MUTABLE"),
        secret_mutable=flag("enableSecretMutable", "ENABLE_SECRET_MUTABLE"),
        patch_force=flag("enablePatchForce", "ENABLE_PATCH_FORCE"),
        upsert=flag("upsertExistingObjects", "UPSERT_EXISTING_OBJECTS"),
        delete_unreachable=flag("deleteUnreachable", "DELETE_UNREACHABLE"),
        skip_update_unreachable=flag("skipUpdateUnreachable", "SKIP_UPDATE_UNREACHABLE"),
        client_timeout=_timeout(settings.get("kubeClientSettings"), environment),
    )


def active_cluster(settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """The settings of the cluster that `settings` point at; None where that cannot be told."""
    if not (kubeconfig := _text(settings.get("kubeconfig"))):
        return None  # the ambient one: what it was the last time is not known
    try:
        config = load(kubeconfig)
    except (KubeconfigError, OSError):
        return None
    return config.cluster(_text(settings.get("context")), _text(settings.get("cluster")))


def _text(value: Any) -> str:
    """A kubeconfig may be given as an object too."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _timeout(settings: Any, environment: Mapping[str, str]) -> float | None:
    if isinstance(settings, str) and settings:
        settings = json.loads(settings)
    found = (settings or {}).get("timeout") or environment.get("PULUMI_K8S_CLIENT_TIMEOUT")
    return float(found) if found else None
