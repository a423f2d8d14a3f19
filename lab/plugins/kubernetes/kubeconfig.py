"""Which cluster, and as whom: reads kubeconfig content, files and $KUBECONFIG the way kubectl does."""

import base64
import binascii
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_PATHS_IN_CLUSTER = ("certificate-authority",)
_PATHS_IN_USER = ("client-certificate", "client-key", "tokenFile")


class KubeconfigError(Exception):
    """The kubeconfig cannot be used; the message says which part and why."""


@dataclass(frozen=True)
class Kubeconfig:
    """The clusters, users and contexts of one kubeconfig, or of several merged, by name."""

    clusters: dict[str, dict[str, Any]] = field(default_factory=dict)
    users: dict[str, dict[str, Any]] = field(default_factory=dict)
    contexts: dict[str, dict[str, Any]] = field(default_factory=dict)
    current_context: str = ""
    source: str = "no kubeconfig"

    def cluster(self, context: str = "", cluster: str = "") -> dict[str, Any] | None:
        """The settings of the active cluster, which are the only identity that a cluster has."""
        chosen = self.contexts.get(context or self.current_context)
        name = cluster or (chosen or {}).get("cluster", "")
        return self.clusters.get(name)


@dataclass(frozen=True)
class Access:
    """All that is needed to talk to one API server."""

    server: str
    user: dict[str, Any] = field(default_factory=dict)
    cluster: dict[str, Any] = field(default_factory=dict)
    namespace: str = "default"
    source: str = ""


def load(setting: str | None, environment: Mapping[str, str] = os.environ) -> Kubeconfig:
    """The kubeconfig given as content or as a path, else the one that kubectl would take."""
    if setting:
        return _from_setting(setting)
    listed = [Path(part) for part in environment.get("KUBECONFIG", "").split(os.pathsep) if part]
    home = Path(environment.get("HOME", "~")).expanduser() / ".kube" / "config"
    files = [path for path in (listed or [home]) if path.is_file()]
    if files:
        return _merge([_from_file(path) for path in files])
    if listed:
        raise KubeconfigError(f"KUBECONFIG names {os.pathsep.join(map(str, listed))}, and no such file exists")
    if environment.get("KUBERNETES_SERVICE_HOST") and (_SERVICE_ACCOUNT / "token").is_file():
        return _in_cluster(environment)
    raise KubeconfigError("there is no kubeconfig: set the provider's `kubeconfig`, or KUBECONFIG, or ~/.kube/config")


def access(config: Kubeconfig, context: str = "", cluster: str = "", namespace: str = "") -> Access:
    """The API server and credentials of `context` (default: the current one), with the provider's overrides."""
    name = context or config.current_context
    chosen = config.contexts.get(name)
    if chosen is None:
        known = ", ".join(sorted(config.contexts)) or "none"
        raise KubeconfigError(f"{config.source} has no context {name!r} (it has: {known})")
    cluster_name = cluster or chosen.get("cluster", "")
    settings = config.clusters.get(cluster_name)
    if settings is None or not settings.get("server"):
        raise KubeconfigError(f"{config.source} has no cluster {cluster_name!r} with a server")
    user_name = chosen.get("user", "")
    user = config.users.get(user_name, {} if not user_name else None)
    if user is None:
        raise KubeconfigError(f"{config.source} has no user {user_name!r}, which context {name!r} asks for")
    return Access(
        server=str(settings["server"]).rstrip("/"),
        user=user,
        cluster=settings,
        namespace=namespace or chosen.get("namespace") or "default",
        source=config.source,
    )


def _from_setting(setting: str) -> Kubeconfig:
    """A provider's `kubeconfig` may be YAML, JSON, or the path of a file with either."""
    stripped = setting.strip()
    if "\n" not in stripped and not stripped.startswith("{"):
        paths = [Path(part).expanduser() for part in stripped.split(os.pathsep)]
        if all(path.is_file() for path in paths):
            return _merge([_from_file(path) for path in paths])
        raise KubeconfigError(f"the provider's kubeconfig is the path {stripped!r}, and no such file exists")
    return _parse(stripped, "the provider's kubeconfig", None)


def _from_file(path: Path) -> Kubeconfig:
    return _parse(path.read_text(), str(path), path.parent)


def _parse(text: str, source: str, directory: Path | None) -> Kubeconfig:
    try:
        document = json.loads(text) if text.lstrip().startswith("{") else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError) as error:
        raise KubeconfigError(f"{source} is neither YAML nor JSON: {error}") from error
    if not isinstance(document, dict):
        raise KubeconfigError(f"{source} is not a kubeconfig: it has no clusters, users and contexts")
    return Kubeconfig(
        clusters=_by_name(document, "clusters", "cluster", directory, _PATHS_IN_CLUSTER),
        users=_by_name(document, "users", "user", directory, _PATHS_IN_USER),
        contexts=_by_name(document, "contexts", "context", None, ()),
        current_context=document.get("current-context") or "",
        source=source,
    )


def _by_name(
    document: dict[str, Any], plural: str, singular: str, directory: Path | None, paths: tuple[str, ...]
) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for entry in document.get(plural) or []:
        settings = dict(entry.get(singular) or {})
        for key in paths:
            # Paths in a kubeconfig file are meant from where the file is.
            if directory and settings.get(key):
                settings[key] = str(directory / settings[key])
        found[entry.get("name", "")] = settings
    return found


def _merge(configs: list[Kubeconfig]) -> Kubeconfig:
    """Several files as one: what comes first wins, as kubectl has it."""
    merged = Kubeconfig(source=" and ".join(config.source for config in configs))
    for config in configs:
        for part in ("clusters", "users", "contexts"):
            for name, settings in getattr(config, part).items():
                getattr(merged, part).setdefault(name, settings)
    current = next((config.current_context for config in configs if config.current_context), "")
    return Kubeconfig(merged.clusters, merged.users, merged.contexts, current, merged.source)


def _in_cluster(environment: Mapping[str, str]) -> Kubeconfig:
    """The credentials that a pod has."""
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment.get("KUBERNETES_SERVICE_PORT", "443")
    host = f"[{host}]" if ":" in host else host
    namespace = (_SERVICE_ACCOUNT / "namespace").read_text().strip()
    return Kubeconfig(
        clusters={
            "in": {"server": f"https://{host}:{port}", "certificate-authority": str(_SERVICE_ACCOUNT / "ca.crt")}
        },
        users={"in": {"tokenFile": str(_SERVICE_ACCOUNT / "token")}},
        contexts={"in": {"cluster": "in", "user": "in", "namespace": namespace}},
        current_context="in",
        source="the pod's service account",
    )


def material(settings: Mapping[str, Any], key: str) -> str | None:
    """PEM text that a kubeconfig gives inline (`<key>-data`, base64) or as a file (`<key>`)."""
    if data := settings.get(f"{key}-data"):
        try:
            return base64.b64decode(data).decode()
        except (binascii.Error, ValueError) as error:
            raise KubeconfigError(f"{key}-data in the kubeconfig is not base64: {error}") from error
    if path := settings.get(key):
        try:
            return Path(path).read_text()
        except OSError as error:
            raise KubeconfigError(f"{key} in the kubeconfig cannot be read: {error}") from error
    return None
