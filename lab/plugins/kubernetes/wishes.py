"""What a program asks of the provider itself, in `pulumi.com/` annotations on the object."""

import json
from collections.abc import Callable

from lab.plugins.kubernetes import jsonpath
from lab.plugins.kubernetes.objects import Object, annotation, conditions_of, dig, group_of, is_true, kind_of
from lab.plugins.kubernetes.verdict import READY, Readiness, Verdict, observed, waiting

AUTONAMED = "pulumi.com/autonamed"
SKIP_AWAIT = "pulumi.com/skipAwait"
WAIT_FOR = "pulumi.com/waitFor"
TIMEOUT_SECONDS = "pulumi.com/timeoutSeconds"
REPLACE_UNREADY = "pulumi.com/replaceUnready"
PATCH_FORCE = "pulumi.com/patchForce"
PATCH_FIELD_MANAGER = "pulumi.com/patchFieldManager"
DELETION_PROPAGATION = "pulumi.com/deletionPropagationPolicy"

# Returns what is missing on the object, or an empty string.
Condition = Callable[[Object], str]

# Other kinds are waited for on delete whatever skipAwait says: they go at once, or something is wrong.
_SKIPS_ON_DELETE = {
    ("", "Namespace"),
    ("", "Pod"),
    ("", "ReplicationController"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("batch", "Job"),
}


class WishError(ValueError):
    """An annotation that cannot be followed."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(f"annotation {key}: {why}")
        self.key = key


def skips_wait(inputs: Object) -> bool:
    return is_true(inputs, SKIP_AWAIT)


def skips_wait_on_delete(inputs: Object) -> bool:
    return skips_wait(inputs) and (group_of(inputs), kind_of(inputs)) in _SKIPS_ON_DELETE


def timeout(inputs: Object, custom: float, default: float) -> float:
    """Seconds to wait: the resource option `customTimeouts`, else the annotation, else what the kind has."""
    if custom > 0:
        return custom
    text = annotation(inputs, TIMEOUT_SECONDS)
    try:
        return float(text) if text else default
    except ValueError:
        return default


def propagation_policy(inputs: Object) -> str:
    """Foreground unless told otherwise: the object is gone only after what it owns."""
    asked = (annotation(inputs, DELETION_PROPAGATION) or "").lower()
    return {"orphan": "Orphan", "background": "Background"}.get(asked, "Foreground")


def check(inputs: Object) -> None:
    """Raise `WishError` for an annotation that could not be followed later."""
    awaited(inputs)
    if (text := annotation(inputs, TIMEOUT_SECONDS)) is not None and not text.isdigit():
        raise WishError(TIMEOUT_SECONDS, f"{text!r} is not a number of seconds")


def awaited(inputs: Object) -> Readiness | None:
    """The conditions of `pulumi.com/waitFor`, all of which must hold; None without the annotation."""
    text = annotation(inputs, WAIT_FOR)
    if text is None:
        return None
    expressions = _expressions(text)
    conditions = [_condition(expression) for expression in expressions]

    def check(obj: Object, _: list[Object]) -> Verdict:
        for position, condition in enumerate(conditions, 1):
            if missing := condition(obj):
                return waiting(f"[{position}/{len(conditions)}] waiting for {missing}")
        return READY

    return Readiness(check)


def _expressions(text: str) -> list[str]:
    try:
        listed = json.loads(text)
    except ValueError:
        return [text]
    if not isinstance(listed, list):
        return [text]
    if not listed:
        raise WishError(WAIT_FOR, "the list of conditions is empty")
    return [str(item) for item in listed]


def _condition(expression: str) -> Condition:
    form, _, rest = expression.partition("=")
    if form == "condition" and rest:
        return _named_condition(rest)
    if form == "jsonpath" and rest:
        return _path_condition(rest)
    raise WishError(WAIT_FOR, f"{expression!r} begins with neither `jsonpath=` nor `condition=`")


def _named_condition(text: str) -> Condition:
    name, _, wanted = text.partition("=")
    wanted = wanted or "True"

    def missing(obj: Object) -> str:
        found = conditions_of(obj).get(name, {})
        generation = dig(obj, "metadata", "generation", default=0)
        current = found.get("observedGeneration", generation) >= generation and observed(obj)
        if current and str(found.get("status", "")).lower() == wanted.lower():
            return ""
        return f"condition {name}={wanted} (now {found.get('status', 'absent')})"

    return missing


def _path_condition(text: str) -> Condition:
    braces = text.rfind("}")
    path, equals, wanted = (text[: braces + 1], *_value(text[braces + 1 :])) if braces >= 0 else text.partition("=")
    try:
        parsed = jsonpath.parse(path)
    except jsonpath.JSONPathError as error:
        raise WishError(WAIT_FOR, str(error)) from error

    def missing(obj: Object) -> str:
        found = [_text(value) for value in parsed.find(obj)]
        if (wanted in found) if equals else found:
            return ""
        now = ", ".join(found) or "absent"
        return f"{path}={wanted} (now {now})" if equals else f"{path} to exist"

    return missing


def _value(rest: str) -> tuple[str, str]:
    if rest and not rest.startswith("="):
        raise WishError(WAIT_FOR, f"{rest!r} after the braces is no `=value`")
    return rest[:1], rest[1:]


def _text(value: object) -> str:
    """A value as kubectl prints it, to compare with what the annotation says."""
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"))
