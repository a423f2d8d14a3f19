"""How requests prove who sends them."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
import requests
from requests.auth import AuthBase

from lab.plugins.kubernetes.credentials import Bearer, ExecPlugin, authentication
from lab.plugins.kubernetes.kubeconfig import KubeconfigError


def _header(auth: AuthBase) -> str | None:
    return auth(requests.Request("GET", "http://x").prepare()).headers.get("Authorization")


def _plugin(directory: Path, status: dict[str, Any]) -> dict[str, Any]:
    """A credential plugin that counts its runs."""
    command = directory / "plugin"
    credential = json.dumps({"kind": "ExecCredential", "status": status})
    command.write_text(f"#!/bin/sh\necho run >> {directory}/runs\necho '{credential}' | sed s/WHO/$WHO/\n")
    command.chmod(command.stat().st_mode | stat.S_IEXEC)
    return {"exec": {"command": str(command), "env": [{"name": "WHO", "value": "me"}]}}


def test_tokens_and_passwords(tmp_path: Path) -> None:
    assert _header(authentication({})) is None
    assert _header(authentication({"token": "t"})) == "Bearer t"
    assert _header(authentication({"username": "u", "password": "p"})) == "Basic dTpw"
    (tmp_path / "token").write_text("first\n")
    auth = authentication({"tokenFile": str(tmp_path / "token")})
    assert _header(auth) == "Bearer first"
    (tmp_path / "token").write_text("second\n")
    assert isinstance(auth, Bearer)
    assert auth.forget()
    assert _header(auth) == "Bearer second", "a refused token is read again"


def test_a_credential_plugin_runs_once_until_its_token_expires_or_is_refused(tmp_path: Path) -> None:
    auth = authentication(_plugin(tmp_path, {"token": "of-WHO"}))
    assert _header(auth) == _header(auth) == "Bearer of-me"
    assert (tmp_path / "runs").read_text().count("run") == 1
    assert isinstance(auth, ExecPlugin)
    assert auth.forget()
    assert _header(auth) == "Bearer of-me"
    assert (tmp_path / "runs").read_text().count("run") == 2
    expired = authentication(_plugin(tmp_path, {"token": "old", "expirationTimestamp": "2020-01-01T00:00:00Z"}))
    assert _header(expired) == _header(expired) == "Bearer old"
    assert (tmp_path / "runs").read_text().count("run") == 4


def test_a_credential_plugin_that_fails_is_named(tmp_path: Path) -> None:
    missing = {"exec": {"command": "no-such-plugin", "installHint": "install it from there"}}
    with pytest.raises(KubeconfigError, match="'no-such-plugin' is missing: install it from there"):
        _header(authentication(missing))
    with pytest.raises(KubeconfigError, match="'false' failed"):
        _header(authentication({"exec": {"command": "false"}}))
    with pytest.raises(KubeconfigError, match="'true' gave no credential"):
        _header(authentication({"exec": {"command": "true"}}))
