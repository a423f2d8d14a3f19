"""Put the plugins where the Pulumi engine looks for them: one directory each under `$PULUMI_HOME/plugins`.

There, unlike on PATH, the engine takes them without a warning. Each is one line of shell that starts a module of this
package with the given Python, under the version of the wheel whose real plugin it stands for.
"""

import os
import shlex
import tempfile
from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path

# kind, name, the wheel that gives the version
_PLUGINS = (
    ("language", "python", "pulumi"),
    ("resource", "command", "pulumi-command"),
    ("resource", "kubernetes", "pulumi-kubernetes"),
)
_MODULES = {"python": "language", "command": "command", "kubernetes": "kubernetes"}


def install(pulumi_home: Path, python: Path, names: Collection[str] = tuple(_MODULES)) -> None:
    """Write the plugins `names` for `python` under `pulumi_home`; what is already right is left alone."""
    for kind, name, wheel in _PLUGINS:
        if name not in names:
            continue
        directory = pulumi_home / "plugins" / f"{kind}-{name}-v{version(wheel)}"
        directory.mkdir(parents=True, exist_ok=True)
        # -I keeps the project's own modules and the user's PYTHONPATH out of the plugin.
        line = f'exec {shlex.quote(str(python))} -I -m lab.plugins.{_MODULES[name]} "$@"'
        _write(directory / f"pulumi-{kind}-{name}", f"#!/bin/sh\n{line}\n")


def _write(path: Path, text: str) -> None:
    """Replace `path` in one step, so that an engine that starts meanwhile never finds half a file."""
    if path.is_file() and path.read_text() == text and os.access(path, os.X_OK):
        return
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        os.fchmod(descriptor, 0o755)
    Path(temporary).replace(path)
