"""A Pulumi project of a test's own, worked on through the real `pulumi` CLI, and what came out of each command."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml

STACK = "test"


@dataclass(frozen=True)
class Result:
    """What one `pulumi` command did: exit code, text, and the engine's own events."""

    args: tuple[str, ...]
    rc: int
    stdout: str
    stderr: str
    seconds: float = 0.0
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Everything a person would have seen."""
        return self.stdout + self.stderr

    @property
    def steps(self) -> list[tuple[str, str]]:
        """(operation, resource name) of each step in the order in which they started, unchanged resources too."""
        return [(step["op"], _name(step["urn"])) for step in self._each("resourcePreEvent", "metadata")]

    @property
    def failed(self) -> list[str]:
        """Names of the resources whose step failed."""
        return [_name(step["urn"]) for step in self._each("resOpFailedEvent", "metadata")]

    def operation(self, name: str) -> str | None:
        """What happened to the resource `name`: create, update, replace, delete, refresh, same; None if nothing did."""
        operations = [operation for operation, step in self.steps if step == name]
        if any("replace" in operation for operation in operations):
            return "replace"
        return operations[-1] if operations else None

    def changed(self, name: str) -> list[str]:
        """The property paths for which the provider gave a detailed diff for `name`."""
        for step in self._each("resourcePreEvent", "metadata"):
            if _name(step["urn"]) == name and (paths := step.get("detailedDiff") or step.get("diffs")):
                return sorted(paths)
        return []

    def diagnostics(self, severity: str | None = None, *, resource: str | None = None) -> list[str]:
        """Messages of the engine, the program and the providers; without a severity, all but those for debugging."""
        return [
            event["message"].strip()
            for event in self._each("diagnosticEvent")
            if (event["severity"] == severity if severity else event["severity"] != "debug")
            and (resource is None or _name(event.get("urn", "")) == resource)
            and event.get("message", "").strip()
        ]

    @property
    def violations(self) -> list[tuple[str, str]]:
        """(enforcement level, policy name) of each policy violation."""
        return [(event["enforcementLevel"], event["policyName"]) for event in self._each("policyEvent")]

    def _each(self, kind: str, inner: str | None = None) -> Iterator[dict[str, Any]]:
        for event in self.events:
            if kind in event:
                yield event[kind][inner] if inner else event[kind]


class Project:
    """One project with one stack, file backend, passphrase and PULUMI_HOME, all under `root`."""

    def __init__(self, root: Path) -> None:
        self.directory = root / "project"
        self.home = root / "pulumi"
        self._events = root / "events"
        state = root / "state"
        for directory in (self.directory, self.home, self._events, state):
            directory.mkdir()
        self.name = "engine-test"
        self.stack = STACK
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")} | {
            "PULUMI_HOME": str(self.home),
            "PULUMI_BACKEND_URL": f"file://{state}",
            "PULUMI_CONFIG_PASSPHRASE": "only for tests",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_DEBUG_COMMANDS": "true",  # gives --event-log
            "NO_COLOR": "1",
        }
        self.settings(runtime={"name": "python", "options": {"virtualenv": sys.prefix}})

    def settings(self, **settings: Any) -> None:
        """Write Pulumi.yaml; the keys given replace the ones it has."""
        path = self.directory / "Pulumi.yaml"
        before = yaml.safe_load(path.read_text()) if path.exists() else {"name": self.name}
        path.write_text(yaml.safe_dump(before | settings, sort_keys=False))

    def file(self, name: str, text: str) -> Path:
        """Write a file below the project's directory."""
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    def write(self, program: str) -> None:
        """Write the program, `__main__.py`."""
        self.file("__main__.py", program)

    def create_stack(self) -> None:
        self.pulumi("stack", "init", self.stack)

    def up(self, *args: str, preview: bool = False, **options: Any) -> Result:
        """`pulumi up`; without the preview that comes before it, unless asked for."""
        return self._operation("up", "--yes", *([] if preview else ["--skip-preview"]), *args, **options)

    def preview(self, *args: str, **options: Any) -> Result:
        return self._operation("preview", *args, **options)

    def refresh(self, *args: str, **options: Any) -> Result:
        return self._operation("refresh", "--yes", "--skip-preview", *args, **options)

    def destroy(self, *args: str, **options: Any) -> Result:
        return self._operation("destroy", "--yes", "--skip-preview", *args, **options)

    def config(self, key: str, value: str, *, secret: bool = False, path: bool = False) -> None:
        flags = ["--secret" if secret else "--plaintext", *(["--path"] if path else [])]
        self.pulumi("config", "set", "--stack", self.stack, *flags, key, "--", value)

    def outputs(self, *, show_secrets: bool = False) -> dict[str, Any]:
        flags = ["--show-secrets"] if show_secrets else []
        return json.loads(self.pulumi("stack", "output", "--json", "--stack", self.stack, *flags).stdout)

    def export(self, *, show_secrets: bool = False) -> dict[str, Any]:
        """The state as JSON."""
        flags = ["--show-secrets"] if show_secrets else []
        return json.loads(self.pulumi("stack", "export", "--stack", self.stack, *flags).stdout)

    def resource(self, name: str, *, show_secrets: bool = False) -> dict[str, Any] | None:
        """The resource `name` in the state, or None."""
        resources = self.export(show_secrets=show_secrets)["deployment"].get("resources", [])
        return next((resource for resource in resources if _name(resource["urn"]) == name), None)

    def pulumi(
        self, *args: str, fails: bool = False, timeout: float = 300, env: Mapping[str, str] | None = None
    ) -> Result:
        """Run `pulumi` to its end; an exit code other than the expected one fails the test with all that was said."""
        started = time.monotonic()
        done = subprocess.run(
            ["pulumi", "--non-interactive", "--color=never", *args],
            cwd=self.directory,
            env=self.env | dict(env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        result = Result(args, done.returncode, done.stdout, done.stderr, time.monotonic() - started)
        assert (result.rc != 0) == fails, f"pulumi {' '.join(args)}: exit code {result.rc}\n{result.text}"
        return result

    def start(self, *args: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start `pulumi` and return at once, for tests that interrupt it. Its output is one stream."""
        return subprocess.Popen(
            ["pulumi", "--non-interactive", "--color=never", *args, "--stack", self.stack],
            cwd=self.directory,
            env=self.env | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def processes(self) -> dict[int, str]:
        """What still runs on this project's behalf, by process id: everything that has inherited its PULUMI_HOME."""
        mark = f"\0PULUMI_HOME={self.home}\0".encode()
        found: dict[int, str] = {}
        for process in Path("/proc").iterdir():
            if not process.name.isdigit():
                continue
            try:
                if mark in b"\0" + (process / "environ").read_bytes():
                    line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    if line:  # a zombie has none
                        found[int(process.name)] = line.strip()
            except OSError:
                continue  # it has ended meanwhile, or is somebody else's
        return found

    def end_all(self, grace: float) -> dict[int, str]:
        """Wait for this project's processes to end, then kill and return what is left."""
        deadline = time.monotonic() + grace
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.1)
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        return left

    def _operation(
        self, command: str, *args: str, fails: bool = False, timeout: float = 300, env: Mapping[str, str] | None = None
    ) -> Result:
        log = self._events / f"{time.monotonic_ns()}.json"
        result = self.pulumi(
            command, "--stack", self.stack, "--event-log", str(log), *args, fails=fails, timeout=timeout, env=env
        )
        events = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return Result(result.args, result.rc, result.stdout, result.stderr, result.seconds, events)


def _name(urn: str) -> str:
    return urn.rsplit("::", 1)[-1]
