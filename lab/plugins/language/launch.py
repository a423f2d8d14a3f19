"""Run a Pulumi program, in the program's own Python and with the SDK installed there.

The language host starts this file as a script, so it imports nothing of ours. Config comes in the environment, as the
SDK expects it. Exit code 32 says that the user has already been told what went wrong.
"""

import argparse
import asyncio
import logging
import os
import runpy
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

TOLD = 32

# Python puts this script's directory first: a program's `import environment` must not find ours.
if sys.path and Path(sys.path[0]).resolve() == Path(__file__).resolve().parent:
    del sys.path[0]

try:
    import pulumi
    import pulumi.runtime
except ImportError:
    traceback.print_exc()
    sys.stderr.write(f"The Pulumi SDK is not installed in {sys.prefix}: install the `pulumi` package there.\n")
    sys.exit(1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run a Pulumi program")
    for name in ("project", "root-directory", "stack", "organization", "pwd", "monitor", "engine"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--parallel", type=int, default=0)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("program")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    return parser.parse_args()


def _configure(arguments: argparse.Namespace) -> None:
    pulumi.runtime.set_all_config(pulumi.runtime.get_config_env(), pulumi.runtime.get_config_secret_keys_env())
    pulumi.runtime.configure(
        pulumi.runtime.Settings(
            project=arguments.project,
            stack=arguments.stack,
            organization=arguments.organization,
            root_directory=arguments.root_directory,
            parallel=arguments.parallel,
            dry_run=arguments.dry_run,
            monitor=arguments.monitor,
            engine=arguments.engine,
        )
    )


def _main_file(program: str) -> Path:
    path = Path(program)
    return (path / "__main__.py" if path.is_dir() else path).resolve()


def _traceback(error: BaseException, main_file: Path) -> str:
    """The traceback from the program on, without the frames of this launcher and the SDK above it."""
    frames: TracebackType | None = error.__traceback__
    while frames and Path(frames.tb_frame.f_code.co_filename).resolve() != main_file:
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames or error.__traceback__))


def _run(program: str, parallel: int) -> int:
    main_file = _main_file(program)
    if not main_file.is_file():
        pulumi.log.error(f"there is no program at {main_file}: create it, or set `main` in Pulumi.yaml")
        return TOLD
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    executor = ThreadPoolExecutor(max_workers=max(parallel, 1) * 4)
    loop.set_default_executor(executor)
    # When one resource fails, the others' futures are never awaited; asyncio would complain about each.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)

    def run() -> None:
        runpy.run_path(program, run_name="__main__")

    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(run))
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
        return TOLD
    except Exception as error:
        pulumi.log.error(f"Program failed with an unhandled exception:\n{_traceback(error, main_file)}")
        return TOLD
    finally:
        executor.shutdown(wait=True)
        loop.close()
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def main() -> int:
    arguments = _arguments()
    _configure(arguments)
    sys.argv = [arguments.program, *arguments.args]
    if arguments.pwd:
        os.chdir(arguments.pwd)
    return _run(arguments.program, arguments.parallel)


if __name__ == "__main__":
    sys.exit(main())
