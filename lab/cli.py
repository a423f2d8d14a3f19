"""`lab`: bring the embedded cluster up, use it, and take it away."""

import argparse
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from lab import cluster, environment, golang, layout, machine, paths, pulumi, stack
from lab.layout import Lab
from lab.locks import only_one
from lab.problem import Problem
from lab.progress import say, step
from lab.run import attend, run, which

RUN = "run"  # a file that says that nobody but `lab run` counts on this lab


def up(name: str, compute: int, context: str, *, with_stack: bool, enforcing: bool = False) -> Lab:
    """Everything that `make up` promises. Each part finds out by itself whether there is something left to do."""
    with cluster.lock(name):
        lab = _adopt(name, context) if context else cluster.claim(name, compute, *_marks(name, enforcing=enforcing))
        environment.prepare(lab)
        if not context:
            cluster.up(lab)
        if with_stack:
            stack.deploy(lab)
    return lab


def _marks(name: str, *more: str, enforcing: bool) -> list[str]:
    """What the lab is to be known for. Nodes that run do not begin to enforce policies."""
    lab = layout.find(name)
    if enforcing and lab and not lab.enforces:
        raise Problem(f"Lab {name} does not enforce NetworkPolicies. Take it down first: `{_self(name)} down`.")
    return [*more, *([layout.ENFORCES] if enforcing else [])]


def _adopt(name: str, context: str) -> Lab:
    """Use a cluster that runs already: take its credentials from the user's kubeconfig and start nothing."""
    lab = Lab(name, 0, 0)
    known = lab.home / "context"
    if layout.find(name) and not (known.exists() and known.read_text() == context):
        raise Problem(f"Lab {name} is something else already. Take it down first: `lab --name {name} down`.")
    kubectl = which("kubectl") or golang.build(golang.KUBERNETES) / "kubectl"
    credentials = run([kubectl, "config", "view", "--minify", "--flatten", "--context", context])
    lab.home.mkdir(parents=True, exist_ok=True)
    lab.kubeconfig.touch(mode=0o600)
    lab.kubeconfig.write_text(credentials)
    known.write_text(context)
    lab.save()
    return lab


def down(name: str) -> None:
    with cluster.lock(name), step(f"lab {name}: taking it down"):
        lab = Lab(name, 0, 0)
        if (lab.home / "context").exists():
            stack.destroy(lab)
        cluster.down(name)


def execute(name: str, compute: int, argv: Sequence[str], *, enforcing: bool = False) -> int:
    """Run a command in a lab of its own. The lab goes when the command ends, however it ends."""
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGHUP, _leave)
    with only_one(paths.locks() / f"run-{name}", f"`lab run` in lab {name}"):
        if layout.find(name) and not (paths.labs() / name / RUN).exists():
            raise Problem(f"Lab {name} is somebody's already. Give this run another: `lab --name other run -- …`.")
        try:
            with cluster.lock(name):
                cluster.claim(name, compute, *_marks(name, RUN, enforcing=enforcing))
            lab = up(name, compute, "", with_stack=False)
            return attend(argv, env=environment.with_path(lab, os.environ["PATH"]))
        finally:
            down(name)


def _leave(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _self(name: str) -> str:
    """How this program is called from the checkout, for that lab."""
    program = "uv run lab" if shutil.which("uv") else ".venv/bin/lab"
    return program if name == layout.DEFAULT else f"{program} --name {name}"


def _found(name: str) -> Lab:
    lab = layout.find(name)
    if not lab:
        raise Problem(f"There is no lab {name}. Start it: `make up`, or `uv run lab --name {name} up --no-stack`.")
    return lab


def _node(name: str, action: str, node_name: str) -> None:
    with cluster.lock(name):
        lab = _found(name)
        node = lab.node(node_name)
        machine.stop(lab, node) if action == "stop" else cluster.start(lab, node)


def command_line() -> argparse.ArgumentParser:
    """What can be said, for whoever reads it and for the documentation."""
    parser = argparse.ArgumentParser(prog="lab", description=__doc__)
    parser.add_argument("--name", help=f"which lab (default: {layout.DEFAULT}; for `run`: run)")
    commands = parser.add_subparsers(dest="command", required=True)
    starts = commands.add_parser("up", help="tools, cluster, images and the dev stack; what is there is kept")
    starts.add_argument("--no-stack", action="store_true", help="stop before `pulumi up`")
    starts.add_argument("--context", default="", help="use this kubectl context instead of starting a cluster")
    runs = commands.add_parser("run", help="run a command in a lab that exists only for it")
    for each in (starts, runs):
        each.add_argument("--compute", type=int, default=1, metavar="N", help="how many compute nodes (default: 1)")
        each.add_argument("--network-policies", action="store_true", help="nodes enforce NetworkPolicies")
    runs.add_argument("argv", nargs="+", metavar="COMMAND")
    commands.add_parser("down", help="take the lab away and leave nothing but the cache")
    commands.add_parser("env", help='lines for eval "$(lab env)"')
    commands.add_parser("status", help="the nodes of the lab")
    commands.add_parser("tools", help="find, fetch or build the tools, and stop there")
    power = commands.add_parser("node", help="cut a node's power, or switch it on again")
    power.add_argument("action", choices=["stop", "start"])
    power.add_argument("node")
    return parser


def _dispatch(args: argparse.Namespace) -> int:
    args.name = args.name or ("run" if args.command == "run" else layout.DEFAULT)
    match args.command:
        case "up":
            lab = up(
                args.name,
                args.compute,
                args.context,
                with_stack=not args.no_stack,
                enforcing=args.network_policies,
            )
            say(f"\nLab {lab.name} is up. To work with it by hand:\n")
            say(f'  eval "$({_self(lab.name)} env)"\n  kubectl get nodes')
        case "down":
            down(args.name)
        case "run":
            return execute(args.name, args.compute, args.argv, enforcing=args.network_policies)
        case "env":
            print(environment.exports(_found(args.name)))
        case "status":
            print(cluster.state(_found(args.name)))
        case "tools":
            cluster.tools()
            pulumi.choose()
        case "node":
            _node(args.name, args.action, args.node)
    return 0


def main() -> int:
    try:
        return _dispatch(command_line().parse_args())
    except Problem as problem:
        say(f"lab: {problem}")
        return 1
    except KeyboardInterrupt:
        say("lab: interrupted. Run the same command again: it goes on where this one stopped.")
        return 130


if __name__ == "__main__":
    sys.exit(main())
