"""Secrets live in Kubernetes Secrets and, encrypted, in the state; nowhere where people and logs can read them."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy.proxy import UnknownValueError

from policies.marks import Marked
from policies.reading import Resource, Stack, pod_of
from policies.rule import Rule, Settings

COMMAND = "command:local:Command"
MAKES_KEYS = re.compile(r"operations/run keys\b")
SHORTEST = 12  # of a secret whose text is looked for elsewhere: less would be found by chance

# What is one by its looks: private keys, JSON web tokens, the database password of slurmdbd.conf.
_LOOKS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}|(?im:^\s*StoragePass\s*=\s*\S)"
)
# What is one by its name, unless what it is set to is only a place where one is.
_NAME = re.compile(r"(password|passwd|token|secret|private_?key|api_?key)$", re.IGNORECASE)
_FILE = re.compile(r"(\.key|\.pem|id_(rsa|ecdsa|ed25519)|password|passwd|token)$", re.IGNORECASE)
_ARGUMENT = re.compile(r"(password|passwd|token|secret|private-?key|api-?key)(=|\s+)[^\s$/]", re.IGNORECASE)
WAY_OUT = "Put it into a Kubernetes Secret, and mount that as a file."


def check(resource: Resource, stack: Stack, _: Settings) -> Iterator[str]:
    if resource.type == COMMAND:
        yield from _command(resource, stack)
    elif resource.of_kubernetes and resource.kind == "Secret":
        yield from _secret(resource, stack)
    elif resource.of_kubernetes and resource.kind == "ConfigMap":
        for field in ("data", "binaryData"):
            for key, value in (resource.props.get(field) or {}).items():
                if why := _why(value, stack) or (_FILE.search(key) and "is a secret by its name"):
                    yield f"{resource}: {field}.{key} {why}, and anyone who may look can read a ConfigMap. {WAY_OUT}"
    elif (pod := pod_of(resource)) is not None:
        for container in pod.containers:
            where = f"{resource}, container {container.name}"
            for each in container.spec.get("env") or ():
                value = each.get("value") or ""
                if why := _why(value, stack) or _by_name(each["name"], value):
                    yield f"{where}: the variable {each['name']} {why}, for all to see in the pod. {WAY_OUT}"
            yield from _lines(where, container.spec, ("command", "args"), stack)


def _command(resource: Resource, stack: Stack) -> Iterator[str]:
    yield from _lines(str(resource), resource.props, ("create", "update", "delete", "interpreter"), stack)
    made = resource.props.get("create") or ""
    if MAKES_KEYS.search(made) and "stdout" not in resource.secret_outputs:
        yield (
            f"{resource} prints a key, and its output stands in the state as plain text. Give it "
            '`additional_secret_outputs=["stdout"]`.'
        )
    environment = resource.props.get("environment") or {}
    for name in environment:
        if _NAME.search(name) and not _marked(environment, name):
            yield f"{resource}: environment.{name} is a secret by its name, and not marked as one. {_mark(name)}"


def _secret(resource: Resource, stack: Stack) -> Iterator[str]:
    for field in ("data", "stringData"):
        if _marked(resource.props, field):
            continue  # as a whole, and not known yet
        data: Mapping[str, Any] = resource.props.get(field) or {}
        for key in data:
            if not _marked(data, key):
                yield f"{resource}: {field}.{key} stands in the state as plain text. {_mark(key)}"
                continue
            try:
                text = str(data[key])
            except UnknownValueError:
                continue  # it is marked, and that is all there is to know of it
            stack.secrets |= {each for each in (text, _decoded(text)) if len(each) >= SHORTEST}


def _lines(where: str, spec: Mapping[str, Any], fields: tuple[str, ...], stack: Stack) -> Iterator[str]:
    """Command lines: Kubernetes, the engine's messages and every process list show them."""
    for field in fields:
        value = spec.get(field) or ()
        words = [value] if isinstance(value, str) else [each if isinstance(each, str) else str(each) for each in value]
        found = next((why for word in words if (why := _why(word, stack))), None)
        if found or _ARGUMENT.search(" ".join(words)):
            yield f"{where}: {field} {found or 'names a secret'}, and command lines are shown to anyone. {WAY_OUT}"


def _why(value: str, stack: Stack) -> str | None:
    """What makes a text one that must not stand here."""
    if isinstance(value, Marked):
        return "is marked as a secret"
    if _LOOKS.search(value):
        return "holds a key, token or password"
    return "holds what a Secret of this stack holds" if any(each in value for each in stack.secrets) else None


def _by_name(name: str, value: str) -> str | None:
    return "is a secret by its name" if value and not value.startswith("/") and _NAME.search(name) else None


def _marked(values: Mapping[str, Any], key: str) -> bool:
    """Whether a value is marked as secret, be it known already or not."""
    try:
        return isinstance(values.get(key), Marked)
    except UnknownValueError as unknown:
        return isinstance(unknown.unknown_type_sentinel, Marked)


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _mark(name: str) -> str:
    return f"Wrap {name} in `pulumi.Output.secret(…)`, or set it with `pulumi config set --secret`."


RULES = [
    Rule(
        name="secrets",
        about="No secrets in ConfigMaps, environment values or command lines; those in the state are marked as such.",
        check=check,
        page="secrets.md",
    )
]
