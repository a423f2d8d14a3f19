"""`pulumi-language-python`: runs Pulumi programs and policy packs for the engine.

The engine starts it with its own address as the last argument. Programs and packs are child processes in this
process' group; they end when the engine cancels, closes or dies.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, NoReturn

import grpc
from google.protobuf import empty_pb2

from lab.plugins.language.environment import Environment, EnvironmentUnusableError, choose
from lab.plugins.protocol import language_pb2, language_pb2_grpc, plugin_pb2
from lab.plugins.server import from_struct, serve

_LAUNCHER = Path(__file__).with_name("launch.py")
_TOLD = 32  # as in launch.py: the user has already seen why
_GRACE = 2.0  # between SIGTERM and SIGKILL; the engine kills this process after five seconds


class Host(language_pb2_grpc.LanguageRuntimeServicer):
    """The language runtime service. What it does not implement answers UNIMPLEMENTED, which the engine understands."""

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._children: set[subprocess.Popen[bytes]] = set()
        self._cancelled = False

    def Handshake(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._engine = request.engine_address
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        return plugin_pb2.PluginInfo(version=version("pulumi"))

    def GetRequiredPackages(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """The plugins that the program's packages ask for, so that a missing one is named before anything runs."""
        plugins = self._environment(request.info, context).plugins()
        packages = [
            plugin_pb2.PackageDependency(kind="resource", name=name, version=f"v{number}", server=server)
            for name, number, server in plugins
        ]
        return language_pb2.GetRequiredPackagesResponse(packages=packages)

    def About(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        executable, number = self._environment(request.info, context).about()
        return language_pb2.AboutResponse(executable=executable, version=number)

    def GetProgramDependencies(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        packages = self._environment(request.info, context).packages(transitive=request.transitiveDependencies)
        return language_pb2.GetProgramDependenciesResponse(
            dependencies=[language_pb2.DependencyInfo(name=name, version=number) for name, number in packages]
        )

    def InstallDependencies(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:  # noqa: N802
        environment = self._environment(request.info, context)
        text = f"Nothing installed: this language host takes {environment.python} as it is.\n"
        yield language_pb2.InstallDependenciesResponse(stdout=text.encode())

    def Run(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        """Run the program to its end. Its output goes straight to this process' own, which the engine reads."""
        environment = self._environment(request.info, context)
        variables = environment.variables(os.environ) | {
            "PULUMI_CONFIG": json.dumps(dict(request.config)),
            "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
        }
        program = self._start(environment, [str(_LAUNCHER), *self._arguments(request)], context, variables)
        try:
            code = program.wait()
        finally:
            self._children.discard(program)
        if code == 0:
            return language_pb2.RunResponse()
        if code == _TOLD or self._cancelled:
            return language_pb2.RunResponse(bail=True)
        if code < 0:
            return language_pb2.RunResponse(error=f"the program was ended by {signal.Signals(-code).name}")
        return language_pb2.RunResponse(error=f"the program exited with code {code}")

    def RunPlugin(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:  # noqa: N802
        """Run a policy pack and pass its output on; the first line of it is its port."""
        if request.kind != "analyzer":
            context.abort(
                grpc.StatusCode.UNIMPLEMENTED,
                f"this language host runs programs and policy packs, not plugins of kind {request.kind!r}",
            )
        environment = self._environment(request.info, context)
        variables = environment.variables(dict(entry.split("=", 1) for entry in request.env))
        arguments = ["-m", "pulumi.policy", *request.args, request.info.program_directory]
        pack = self._start(environment, arguments, context, variables, request.pwd, subprocess.PIPE)
        try:
            yield from _output(pack)
            yield language_pb2.RunPluginResponse(exitcode=pack.wait() & 0xFF)
        finally:
            self._end([pack])

    def Cancel(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self._cancelled = True
        self._end(list(self._children))
        return empty_pb2.Empty()

    def stop(self) -> None:
        """End everything that was started here, also what a program has started itself."""
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGTERM)
        self._end(list(self._children))

    def _environment(self, info: Any, context: grpc.ServicerContext) -> Environment:
        try:
            return choose(Path(info.root_directory), Path(info.program_directory), from_struct(info.options))
        except EnvironmentUnusableError as problem:
            _fail(context, str(problem))

    def _arguments(self, request: Any) -> list[str]:
        named = {
            "--monitor": request.monitor_address,
            "--engine": self._engine,
            "--project": request.project,
            "--stack": request.stack,
            "--organization": request.organization,
            "--root-directory": request.info.root_directory,
            "--pwd": request.pwd,
            "--parallel": str(request.parallel),
        }
        dry_run = ["--dry-run"] if request.dryRun else []
        arguments = [part for name, value in named.items() if value for part in (name, value)]
        return [*arguments, *dry_run, request.info.entry_point or ".", *request.args]

    def _start(
        self,
        environment: Environment,
        arguments: list[str],
        context: grpc.ServicerContext,
        variables: dict[str, str],
        directory: str | None = None,
        output: int | None = None,
    ) -> subprocess.Popen[bytes]:
        try:
            child = subprocess.Popen(
                [str(environment.python), "-u", *arguments],
                env=variables,
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        except OSError as error:
            _fail(context, f"{environment.python} could not be started: {error}")
        self._children.add(child)
        # The engine hung up, or the call is over. The thread that calls back serves all calls and must not wait.
        context.add_callback(lambda: threading.Thread(target=self._end, args=([child],)).start())
        return child

    def _end(self, children: list[subprocess.Popen[bytes]]) -> None:
        running = [child for child in children if child.poll() is None]
        for child in running:
            child.terminate()
        for child in running:
            try:
                child.wait(_GRACE)
            except subprocess.TimeoutExpired:
                child.kill()
        self._children.difference_update(children)


def _fail(context: grpc.ServicerContext, message: str) -> NoReturn:
    context.abort(grpc.StatusCode.FAILED_PRECONDITION, message)
    raise AssertionError("abort always raises")


def _output(child: subprocess.Popen[bytes]) -> Iterator[Any]:
    """What the child writes, as it comes, until both streams are closed."""
    received: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def read(stream: IO[bytes] | None, response: Callable[[bytes], Any]) -> None:
        while stream and (data := os.read(stream.fileno(), 65536)):
            received.put(response(data))
        received.put(None)

    response = language_pb2.RunPluginResponse
    readers = (
        (child.stdout, lambda data: response(stdout=data)),
        (child.stderr, lambda data: response(stderr=data)),
    )
    for reader in readers:
        threading.Thread(target=read, args=reader, daemon=True).start()
    for _ in range(2):
        yield from iter(received.get, None)


def main() -> None:
    host = Host(sys.argv[-1] if len(sys.argv) > 1 else "")
    serve("language", lambda server: language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server), host.stop)


if __name__ == "__main__":
    main()
