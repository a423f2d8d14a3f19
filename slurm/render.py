"""Settings to the files that Slurm reads. The same settings always give the same bytes."""

import re
from collections.abc import Iterator
from pathlib import Path

import jinja2

from config import Settings
from config.bridge import EXTERNAL
from config.node_sets import MOST_NODES
from slurm import health, places, topology
from slurm.nodes import (
    Fields,
    accounted,
    dynamic_line,
    gres_lines,
    gres_types,
    memory_per_cpu,
    names,
    node_lines,
    own_limits,
    power_times,
    resume_timeout,
)
from slurm.partitions import dynamic_sets, partition_line

FILES = tuple(sorted(each.stem for each in (Path(__file__).parent / "templates").glob("*.j2")))  # all that we render
_HEADING = re.compile(r"# [^.]{1,60}")  # no sentence, and not the first line of one: it explains no key
MARK = "rendered by Slipway"  # in one of the first two lines of each of them

_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701 -- these are not web pages; what settings may contain is checked when they are read
)


def render(settings: Settings, *, cgroup_v2: bool = True) -> dict[str, str]:
    """Every file by name. `cgroup_v2` is what `slurm.cgroup: auto` stands for, where nobody knew better when the
    settings were read."""
    v2 = settings.slurm.cgroup == "v2" or (settings.slurm.cgroup == "auto" and cgroup_v2)
    known: dict[str, object] = {"settings": settings, "places": places, "v2": v2, "line": line}
    files = {
        "slurm.conf": _slurm_conf(settings, known),
        "cgroup.conf": _file("cgroup.conf", known),
        "plugstack.conf": _file("plugstack.conf", known),
    }
    if dynamic_sets(settings):
        lines = [dynamic_line(name, each) for name, each in settings.all_node_sets.items()]
        files["dynamic-nodes.conf"] = _file("dynamic-nodes.conf", known | {"dynamic": [line for line in lines if line]})
    if gres := gres_lines(settings):
        files["gres.conf"] = _file("gres.conf", known | {"gres": gres})
    if network := topology.lines(settings):
        # Never an empty file: slurmctld would wait for one that is missing, and stall on one that is empty.
        files["topology.conf"] = _file("topology.conf", known | {"network": network})
    if settings.slurm.mpi.pmix:
        files["mpi.conf"] = _file("mpi.conf", known)
    if settings.slurm.private_tmp:
        # By names of all nodes that there may ever be: the file stays as it is when a NodeSet grows or shrinks.
        sets = settings.all_node_sets.items()
        sizes = {names(name, MOST_NODES): each.shared_memory for name, each in sets if each.shared_memory}
        files["namespace.yaml"] = _file("namespace.yaml", known | {"sizes": sizes})
    files |= _scripts(settings)
    if settings.health.enabled:
        files |= {name: _file(name, known | {"health": health}) for name in health.FILES}
    if settings.accounting.enabled:
        files["slurmdbd.conf"] = _file("slurmdbd.conf", known)
    return files


def _scripts(settings: Settings) -> dict[str, str]:
    """The user's own, as they stand in the stack config, and what our own is told."""
    slurm = settings.slurm
    found = {"job_submit.lua": slurm.job_submit_lua, "cli_filter.lua": slurm.cli_filter_lua}
    if slurm.mail:
        found["mail-program"] = slurm.mail.program
        found["mail.conf"] = slurm.mail.smtp and _file("mail.conf", {"settings": settings, "smtp": slurm.mail.smtp})
    return {name: text for name, text in found.items() if text is not None}


def _slurm_conf(settings: Settings, known: dict[str, object]) -> str:
    sets, external = settings.all_node_sets, settings.bridge.external
    text = _file(
        "slurm.conf",
        known
        | {
            "dynamic": dynamic_sets(settings),
            "capacity": sum(node_set.capacity for node_set in sets.values()) + (external.max if external else 0),
            "external": EXTERNAL if external else None,
            "gres_types": gres_types(settings),
            "accounted": accounted(settings),
            "memory_per_cpu": memory_per_cpu(settings),
            "has_topology": bool(topology.lines(settings)),
            "nodes": [line for name, each in sets.items() for line in node_lines(settings, name, each)],
            "power_times": power_times(settings),
            "own_limits": own_limits(settings),
            "resume_timeout": resume_timeout(settings),
            "partitions": [partition_line(settings, name, each) for name, each in settings.partitions.items()],
        },
    )
    return _override(text, settings.slurm.extra)


def _override(text: str, extra: dict[str, str]) -> str:
    """The user's own keys follow at the end, and ours go, so that no key stands twice. Comments that explain only what
    goes, go with it: they would say the opposite of what holds."""
    if not extra:
        return text
    own = {key.lower() for key in extra}
    kept: list[str] = []
    for explained in _explained(text.splitlines()):
        ours = [line for line in explained if line.startswith("#") or line.split("=", 1)[0].lower() not in own]
        if len(ours) == len(explained) or not all(line.startswith("#") for line in ours):
            kept += ours
    return "\n".join([*kept, "", "# From slurm.extra", *(line({key: value}) for key, value in extra.items())]) + "\n"


def _explained(lines: list[str]) -> Iterator[list[str]]:
    """A comment and the keys below it, up to the next comment, heading or empty line."""
    gathered: list[str] = []
    for each in lines:
        heading = not each or _HEADING.fullmatch(each)
        follows = bool(gathered) and not gathered[-1].startswith("#")
        if heading or (each.startswith("#") and follows):
            yield gathered
            gathered = []
        if heading:
            yield [each]
        else:
            gathered.append(each)
    yield gathered


def _file(name: str, known: dict[str, object]) -> str:
    return _TEMPLATES.get_template(f"{name}.j2").render(known)


def line(fields: Fields) -> str:
    """A line of a file, or what `slurmd --conf` is told."""
    return " ".join(f"{key}={_value(value)}" for key, value in fields.items())


def _value(value: str) -> str:
    return f'"{value}"' if " " in value else value
