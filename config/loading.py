"""From keys and values to checked settings, with every problem found on the way.

A value that is wrong by itself must not hide problems elsewhere. So it is reported, cut out, and the rest is read again
with a default in its place; what the cross-checks then find is reported too, unless it rests on something cut out.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from config.checks import CHECKS
from config.checks.finding import Finding
from config.images import ROLES
from config.messages import place_of, worded
from config.paths import Path
from config.problems import ConfigProblems, Problem
from config.pruning import Pruned
from config.settings import Settings
from config.tree import Tree, grow

PREFIX = "slipway:"

_LAB: dict[tuple[str, ...], str] = {
    ("login", "service", "address"): "SLIPWAY_LAB_ADDRESS",
    ("slurm", "cgroup"): "SLIPWAY_CGROUP",
}

_OPEN = "auto"  # leaves a setting open as much as if it were not there

# Cutting out a value can bring another problem to light, but not for ever.
_ROUNDS = 5


def load_stack(stack: Mapping[str, str], environment: Mapping[str, str]) -> Settings:
    """Settings from the config that the engine hands over. Raises ConfigProblems.

    The lab fills in what it knows and a stack leaves open: images that it has built (`SLIPWAY_<ROLE>_IMAGE`), a key for
    users without one (`SLIPWAY_SSH_KEY`), its address (`SLIPWAY_LAB_ADDRESS`), how its nodes limit jobs
    (`SLIPWAY_CGROUP`)."""
    entries = {key.removeprefix(PREFIX): text for key, text in stack.items() if key.startswith(PREFIX)}
    tree = grow(entries, Settings, PREFIX)
    values = tree.values()
    _fill_in(values, environment)
    return checked(tree, values, with_images=True)


def _fill_in(values: dict[str, Any], environment: Mapping[str, str]) -> None:
    """Only what is absent; a value of the wrong shape is left for the model to refuse."""
    if isinstance(images := values.setdefault("images", {}), dict) and not images.get("registry"):
        for role in ROLES:
            if built := environment.get(f"SLIPWAY_{role.upper()}_IMAGE"):
                images.setdefault(role, built)
    if (key := environment.get("SLIPWAY_SSH_KEY")) and isinstance(users := values.get("users"), list):
        for user in users:
            if isinstance(user, dict):
                user.setdefault("sshKeys", [key])
    for place, variable in _LAB.items():
        if (found := environment.get(variable)) is None:
            continue
        section: Any = values
        for word in place[:-1]:
            section = section.setdefault(word, {}) if isinstance(section, dict) else None
        if isinstance(section, dict) and str(section.get(place[-1], _OPEN)).lower() == _OPEN:
            section[place[-1]] = found


def load_entries(
    entries: Mapping[str, Any],
    problems: Iterable[Problem] = (),
    prefix: str = PREFIX,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Settings from keys without their prefix, for whoever reads a config without the engine. The lab fills in what it
    knows, as in `load_stack`. Raises ConfigProblems, with those that are known already among them."""
    tree = grow(entries, Settings, prefix)
    tree.problems[:0] = problems
    values = tree.values()
    _fill_in(values, environment or {})
    return checked(tree, values, with_images=False)


def checked(tree: Tree, values: dict[str, Any], with_images: bool) -> Settings:
    """Settings from a tree, or every problem that it has; `with_images` if they are to be deployed."""
    cut = set(tree.unsafe)  # as the user counts list entries
    pruned = Pruned(values, cut)
    settings: Settings | None = None
    for _ in range(_ROUNDS):
        try:
            settings = Settings.model_validate(pruned.values, by_alias=True, by_name=False)
            break
        except ValidationError as error:
            errors = error.errors(include_url=False)
        before = frozenset(cut)
        for each in errors:
            place = pruned.as_written(place_of(each))
            if not any(gone[: len(place)] == place for gone in before):  # else the cut itself brought it about
                tree.report(place, worded(each, Settings), or_below=each["type"] == "extra_forbidden")
            cut.add(place[:-1] if each["type"] == "missing" else place)
        pruned = Pruned(values, cut)
    if settings is not None:
        findings = [finding for check in CHECKS for finding in check(settings)]
        for finding in [*findings, *(_missing_images(settings) if with_images else ())]:
            if not _rests_on(finding, cut, pruned):
                tree.report(pruned.as_written(finding.path), finding.message)
    if tree.problems or settings is None:
        raise ConfigProblems(tree.problems)
    return settings


def _missing_images(settings: Settings) -> list[Finding]:
    return [
        Finding(("images", role), "no image is named; set it, or images.registry for all of them", (("images",),))
        for role in settings.deployed
        if settings.images.named(role) is None
    ]


def _rests_on(finding: Finding, cut: set[Path], pruned: Pruned) -> bool:
    """Whether something that a finding is about was cut out, so that it may be no problem at all."""
    about = [pruned.as_written(path) for path in (finding.path, *finding.also)]
    looked_through = set(about[1:])
    return any(gone[:-1] in looked_through or any(path[: len(gone)] == gone for path in about) for gone in cut)
