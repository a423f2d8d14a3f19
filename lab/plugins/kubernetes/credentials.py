"""How a request proves who sends it: bearer token, token file, basic auth or an exec credential plugin; and TLS."""

import json
import os
import ssl
import subprocess
import tempfile
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from requests import PreparedRequest
from requests.auth import AuthBase, HTTPBasicAuth

from lab.plugins.kubernetes.kubeconfig import Access, KubeconfigError, material

_EXEC_TIMEOUT = 60.0
_TOKEN_FILE_LIFETIME = 60.0  # projected service account tokens are rotated on disk


class Bearer(AuthBase):
    """`Authorization: Bearer`, with a token that may be asked for again."""

    def __init__(self, token: str = "") -> None:
        self._token = token

    def token(self) -> str:
        return self._token

    def forget(self) -> bool:
        """Drop what the API server has just refused; True if a new attempt could have another token."""
        return False

    def __call__(self, r: PreparedRequest) -> PreparedRequest:
        if token := self.token():
            r.headers["Authorization"] = f"Bearer {token}"
        return r


class TokenFile(Bearer):
    """A token in a file, read again once a minute."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._read_at = float("-inf")

    def token(self) -> str:
        if time.monotonic() - self._read_at > _TOKEN_FILE_LIFETIME:
            self._token = self._path.read_text().strip()
            self._read_at = time.monotonic()
        return self._token

    def forget(self) -> bool:
        self._read_at = float("-inf")
        return True


class ExecPlugin(Bearer):
    """A token from the command that the kubeconfig names, kept until it expires."""

    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__()
        self._settings = settings
        self._credential: dict[str, Any] = {}
        self._expires = float("-inf")
        self._lock = threading.Lock()

    def token(self) -> str:
        return self.credential().get("token", "")

    def forget(self) -> bool:
        with self._lock:
            self._expires = float("-inf")
        return True

    def credential(self) -> dict[str, Any]:
        """The `status` of the ExecCredential: token, or clientCertificateData and clientKeyData."""
        with self._lock:
            if time.time() >= self._expires:
                self._credential = self._run()
                self._expires = _timestamp(self._credential.get("expirationTimestamp"))
            return self._credential

    def _run(self) -> dict[str, Any]:
        api_version = self._settings.get("apiVersion", "client.authentication.k8s.io/v1")
        request = {"apiVersion": api_version, "kind": "ExecCredential", "spec": {"interactive": False}}
        environment = {item["name"]: item["value"] for item in self._settings.get("env") or []}
        command = [self._settings["command"], *(self._settings.get("args") or [])]
        try:
            done = subprocess.run(
                command,
                env=os.environ | environment | {"KUBERNETES_EXEC_INFO": json.dumps(request)},
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=_EXEC_TIMEOUT,
                check=True,
            )
            return json.loads(done.stdout)["status"]
        except FileNotFoundError as error:
            hint = self._settings.get("installHint") or "install it, or put it on PATH"
            raise KubeconfigError(f"the credential plugin {command[0]!r} is missing: {hint}") from error
        except subprocess.CalledProcessError as error:
            raise KubeconfigError(f"the credential plugin {command[0]!r} failed: {error.stderr.strip()}") from error
        except (subprocess.TimeoutExpired, ValueError, KeyError, TypeError) as error:
            raise KubeconfigError(f"the credential plugin {command[0]!r} gave no credential: {error}") from error


def authentication(user: dict[str, Any]) -> AuthBase:
    """What puts the user's credentials on each request; a client certificate is part of TLS instead."""
    if user.get("exec"):
        return ExecPlugin(user["exec"])
    if user.get("token"):
        return Bearer(user["token"])
    if user.get("tokenFile"):
        return TokenFile(Path(user["tokenFile"]))
    if user.get("username"):
        return HTTPBasicAuth(user["username"], user.get("password", ""))
    return Bearer()


def tls(access: Access, auth: AuthBase) -> ssl.SSLContext:
    """Trust the cluster's own authority, and it alone if it has one; show the user's certificate."""
    authority = material(access.cluster, "certificate-authority")
    try:
        context = ssl.create_default_context(cadata=authority)
    except (ssl.SSLError, ValueError) as error:
        raise KubeconfigError(f"the certificate authority in {access.source} cannot be read: {error}") from error
    if access.cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate, key = material(access.user, "client-certificate"), material(access.user, "client-key")
    if isinstance(auth, ExecPlugin) and not certificate:
        credential = auth.credential()
        certificate, key = credential.get("clientCertificateData"), credential.get("clientKeyData")
    if certificate and key:
        _load(context, certificate, key, access.source)
    return context


def _load(context: ssl.SSLContext, certificate: str, key: str, source: str) -> None:
    """Python reads a certificate chain only from files, so it gets one that nobody else can open, and not for long."""
    descriptor, path = tempfile.mkstemp(prefix="client-certificate-")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{certificate.rstrip()}\n{key}")
        context.load_cert_chain(path)
    except ssl.SSLError as error:
        raise KubeconfigError(f"the client certificate in {source} cannot be used: {error}") from error
    finally:
        Path(path).unlink()


def _timestamp(text: str | None) -> float:
    if not text:
        return float("inf")
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
