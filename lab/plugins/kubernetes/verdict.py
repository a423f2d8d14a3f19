"""What a look at an object tells about its readiness: ready, not yet, or never."""

from collections.abc import Callable
from dataclasses import dataclass, field

from lab.plugins.kubernetes.discovery import Resource
from lab.plugins.kubernetes.objects import Object, dig

_LINE = 160


@dataclass(frozen=True)
class Verdict:
    """`message` says what is waited for, `detail` what is in the way; `failure`, if set, why waiting is no use."""

    ready: bool = False
    message: str = ""
    detail: str = ""
    failure: str = ""

    def line(self) -> str:
        """Both, short enough for a status line."""
        said = f"{self.message}: {self.detail}" if self.detail else self.message
        return said if len(said) <= _LINE else f"{said[: _LINE - 1]}…"


READY = Verdict(ready=True)


def waiting(message: str, detail: str = "") -> Verdict:
    return Verdict(message=message, detail=detail)


def failed(failure: str) -> Verdict:
    return Verdict(failure=failure)


@dataclass(frozen=True)
class Selection:
    """Other objects in the same namespace that tell about the one that is waited for."""

    resource: Resource
    selectors: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Readiness:
    """How one kind becomes ready: `check` sees the object and what `related` selects."""

    check: Callable[[Object, list[Object]], Verdict]
    seconds: float = 600.0
    related: Callable[[Object], Selection | None] = lambda _: None


def observed(obj: Object) -> bool:
    """Whether the controller has seen the present spec, so that the status speaks about it."""
    generation = dig(obj, "metadata", "generation", default=0)
    return dig(obj, "status", "observedGeneration", default=generation) >= generation


def label_selector(selector: Object) -> str:
    """A LabelSelector in the form that the REST API takes."""
    terms = [f"{key}={value}" for key, value in dig(selector, "matchLabels", default={}).items()]
    for expression in dig(selector, "matchExpressions", default=[]):
        key, values = expression.get("key", ""), ",".join(expression.get("values") or [])
        match expression.get("operator"):
            case "In":
                terms.append(f"{key} in ({values})")
            case "NotIn":
                terms.append(f"{key} notin ({values})")
            case "Exists":
                terms.append(key)
            case "DoesNotExist":
                terms.append(f"!{key}")
    return ",".join(terms)
