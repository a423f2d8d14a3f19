"""Images that say exactly what runs, from registries that are trusted."""

import re
from collections.abc import Iterator, Sequence

from policies.reading import Resource, Stack, pod_of
from policies.rule import Rule, Settings

LOCAL = "localhost"  # on the machine itself: nothing is ever pulled from there
_REFERENCE = re.compile(r"(?P<name>[^@]+?)(:(?P<tag>[\w][\w.-]*))?(@(?P<digest>sha256:[0-9a-f]{64}))?$", re.ASCII)


def check(resource: Resource, stack: Stack, settings: Settings) -> Iterator[str]:
    pod = pod_of(resource)
    if pod is None:
        return
    cluster = stack.cluster_of(resource)
    production = cluster is not None and cluster.stage == "production"
    registries: Sequence[str] = settings["registries"]
    if not registries:
        registries = [each for each in (LOCAL, cluster and cluster.props["registry"]) if each]
    for container in pod.containers:
        image = str(container.spec.get("image") or "")
        where = f"{pod}, container {container.name}: image {image or '(none)'}"
        found = _REFERENCE.match(image)
        if not found:
            yield f"{where} cannot be read. Name it as registry/path:tag, or with a digest (`images`)."
            continue
        if production and not found["digest"]:
            yield (
                f"{where} has no digest, and this stack is production (`cluster.stage`). Append `@sha256:…` to it in "
                "`images`, so that what was tested is what runs."
            )
        elif not found["digest"] and found["tag"] in (None, "latest"):
            yield f"{where} can be another image tomorrow. Name a fixed tag or a digest (`images.tag`)."
        if not any(_within(found["name"], registry) for registry in registries):
            yield (
                f"{where} comes from none of the allowed registries ({', '.join(registries)}). Use one of them, or "
                "allow it in the policy config (images.registries)."
            )


def _within(name: str, registry: str) -> bool:
    """Whether an image is in a registry, or below a path of one."""
    return name.startswith(registry.rstrip("/") + "/")


RULES = [
    Rule(
        name="images",
        about="Images are pinned, in production by digest, and come from allowed registries.",
        check=check,
        page="images.md",
        settings={
            "registries": {
                "type": "array",
                "description": (
                    "Registries, with or without a path, that images may come from. If empty: the one that the stack "
                    "names in images.registry, and images that were built on the machine (localhost)."
                ),
                "items": {"type": "string"},
                "default": [],
                "examples": [["registry.example.com/slipway"]],
            }
        },
    )
]
