"""Services that Kubernetes accepts, and parts of the cluster that need each other."""

from collections.abc import Iterator

from config.checks.finding import Finding
from config.login import Service
from config.settings import Settings

SHORTEST_TOKEN, LONGEST_TOKEN = 60, 366 * 86400


def _services(settings: Settings) -> dict[str, Service]:
    made: dict[str, Service] = {"login": settings.login.service}
    return made | ({"rest": settings.rest.service} if settings.rest.enabled else {})


def ports_make_sense(settings: Settings) -> Iterator[Finding]:
    """Settings that a type of Service does not know would be silently without effect."""
    for name, service in _services(settings).items():
        path = (name, "service")
        about = ((*path, "type"),)
        if service.node_port is not None and service.type == "ClusterIP":
            yield Finding((*path, "nodePort"), "has no meaning with type ClusterIP; set type: NodePort", about)
        if service.source_ranges and service.type != "LoadBalancer":
            message = f"only a LoadBalancer keeps others out, and type is {service.type}; set type: LoadBalancer"
            yield Finding((*path, "sourceRanges"), message, about)


def ports_are_free(settings: Settings) -> Iterator[Finding]:
    """A port of the nodes can be had once."""
    seen: dict[int, str] = {}
    for name, service in _services(settings).items():
        if service.node_port is not None:
            other = seen.setdefault(service.node_port, name)
            if other != name:
                message = f"{service.node_port} is taken by {other}.service.nodePort; choose another one"
                yield Finding((name, "service", "nodePort"), message)


def tokens_end_in_time(settings: Settings) -> Iterator[Finding]:
    """A token is good until it ends, whoever has it by then; and nobody gets one that ends before it is used."""
    seconds = settings.rest.max_lifespan.seconds or 0
    if not SHORTEST_TOKEN <= seconds <= LONGEST_TOKEN:
        message = f"{settings.rest.max_lifespan} is not between a minute and a year; 30d is what it is if left out"
        yield Finding(("rest", "maxLifespan"), message)
