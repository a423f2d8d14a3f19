"""The commands of `slipway` for a cluster that runs: status, drain, resume, drift, ssh, token, tour, recover, preview,
up."""

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from config import Settings
from operations import drift, pack, recover, status, token
from operations.adopt import adopt
from operations.draining import DRAIN
from operations.kubectl import Cluster
from operations.nodes import nodes
from operations.problem import Problem
from slurm.hostlist import expand

HOUSE = Path(__file__).parents[1]
RESUME = 'scontrol update NodeName="$1" State=RESUME'


def add_to(commands: Any) -> None:
    shown = _command(commands, "status", _status, "Pods, nodes, queue and configuration on one screen.")
    _json(shown)
    for name, run, about in (
        ("drain", _drain, "Let no new jobs start on nodes; those that run go on."),
        ("resume", _resume, "Let nodes take jobs again."),
    ):
        each = _command(commands, name, run, about)
        each.add_argument("nodes", help="a hostlist, as worker-[2-3]")
        each.add_argument("--reason", required=name == "drain", default="", help="for whoever asks why")
        _json(each)
    drifted = _command(
        commands, "drift", _drift, "What runs otherwise than it was declared; exit code 1 if anything does."
    )
    drifted.add_argument("--adopt", action="store_true", help="print the stack config that keeps it")
    _json(drifted)
    ssh = _command(commands, "ssh", _ssh, "Log in, or run a command on the login node.")
    ssh.add_argument("--user", help="who to be (default: the first of the stack's users)")
    ssh.add_argument("command", nargs="*", metavar="-- COMMAND", help="what to run there")
    _json(ssh)
    tokens = _command(commands, "token", _token, "A token for the HTTP interface, on stdout and nowhere else.")
    tokens.add_argument("user", help="whom it is for: what it is used for is done in their name")
    tokens.add_argument("--lifespan", default="1h", help="for how long it is good, as 90m or 7d (default: 1h)")
    _json(tokens)
    _json(_command(commands, "tour", _tour, "Five scripts that show, and check, what the cluster can do."))
    mending = "Release the lock of a killed `pulumi`, and settle what it was doing."
    _json(_command(commands, "recover", _recover, mending))
    for name, run, about in (
        ("preview", _preview, "`pulumi preview` with the policy pack; it takes all options of it."),
        ("up", _up, "`pulumi up` with the policy pack, after mending what a killed one has left; likewise."),
    ):
        _command(commands, name, run, about).set_defaults(words=[])


def _command(commands: Any, name: str, run: Any, about: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=about, description=about)
    parser.set_defaults(run=run)
    parser.add_argument("--stack", help="the stack (default: the selected one)")
    parser.add_argument("--file", help="its config file (default: Pulumi.<stack>.yaml)")
    return parser


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs")


def _stack(args: argparse.Namespace) -> str:
    return args.stack or _pulumi("stack", "--show-name").strip()


def _pulumi(*words: str) -> str:
    try:
        done = subprocess.run(["pulumi", *words], cwd=HOUSE, capture_output=True, text=True)
    except FileNotFoundError:
        raise Problem("pulumi is not on PATH: install it, or run inside the environment of `lab env`.") from None
    if done.returncode:
        raise Problem(f"`pulumi {' '.join(words)}`: {done.stderr.strip()}")
    return done.stdout


def _settings(args: argparse.Namespace) -> Settings:
    return Settings.from_stack_file(Path(args.file) if args.file else HOUSE / f"Pulumi.{_stack(args)}.yaml")


def _cluster(args: argparse.Namespace) -> Cluster:
    return Cluster(_settings(args).cluster.namespace)


def _print(args: argparse.Namespace, found: Any, text: str) -> None:
    sys.stdout.write((json.dumps(found, indent=2) if args.json else text) + "\n")


def _status(args: argparse.Namespace) -> int:
    found = status.status(_cluster(args))
    _print(args, found, status.screen(found))
    return 0 if found["slurmctld"]["up"] else 1


def _drain(args: argparse.Namespace) -> int:
    return _set(args, DRAIN, "drained", args.reason)


def _resume(args: argparse.Namespace) -> int:
    return _set(args, RESUME, "resumed")


def _set(args: argparse.Namespace, script: str, done: str, *words: str) -> int:
    cluster = _cluster(args)
    wanted = expand(args.nodes)
    if unknown := set(wanted) - nodes(cluster).keys():
        raise Problem(f"There is no node {', '.join(sorted(unknown))}. `slipway status` shows those that there are.")
    cluster.slurm(script, args.nodes, *words)
    _print(args, {"nodes": wanted, "action": done, "reason": args.reason}, f"{done} {args.nodes}")
    return 0


def _drift(args: argparse.Namespace) -> int:
    found, running = drift.drift(_cluster(args))
    if args.adopt:
        config, unable = adopt(found, running)
        _print(args, {"config": config, "unable": unable}, yaml.safe_dump({"config": config}, sort_keys=False).rstrip())
        for each in unable:
            sys.stderr.write(f"{each}\n")
    else:
        _print(args, drift.to_json(found), drift.screen(found))
    return 1 if found else 0


def _ssh(args: argparse.Namespace) -> int:
    program, *target = shlex.split(_pulumi("stack", "output", "ssh", "--stack", _stack(args)))
    if args.user:
        target[-1] = f"{args.user}@{target[-1].rpartition('@')[2]}"
    options: list[str] = []
    if key := os.environ.get("SLIPWAY_LAB_SSH_KEY"):  # a lab is gone tomorrow, and so are its keys
        known = Path(key).with_name("known_hosts")
        options = ["-i", key, "-o", f"UserKnownHostsFile={known}", "-o", "StrictHostKeyChecking=accept-new"]
    argv = [program, *options, *target, *args.command]
    if args.json:
        _print(args, {"argv": argv}, "")
        return 0
    return subprocess.run(argv).returncode


def _token(args: argparse.Namespace) -> int:
    settings = _settings(args)
    made = token.make(Cluster(settings.cluster.namespace), settings.rest, args.user, args.lifespan)
    _print(args, made, made["token"])
    return 0


def _tour(args: argparse.Namespace) -> int:
    environment = {**os.environ, "TOUR_STACK": _stack(args)}
    if args.file:
        environment["TOUR_CONFIG"] = args.file
    results = []
    for script in sorted((HOUSE / "docs" / "tour").glob("[0-9]-*.sh")):
        began = time.monotonic()
        done = subprocess.run([script], env=environment, capture_output=args.json, text=True)
        results.append(
            {"script": script.name, "ok": done.returncode == 0, "seconds": round(time.monotonic() - began, 1)}
        )
        if done.returncode:
            break
    failed = [each["script"] for each in results if not each["ok"]]
    _print(
        args, results, f"\n{failed[0]} found something wrong" if failed else f"\nall {len(results)} scripts went well"
    )
    return 1 if failed else 0


def _recover(args: argparse.Namespace) -> int:
    settled = recover.recover(_stack(args))
    if args.json:  # what is done is told on stderr, as it is done
        _print(args, {"settled": settled}, "")
    return 0


def _preview(args: argparse.Namespace) -> int:
    stack, words = _stack(args), _words(args)
    argv = ["pulumi", "preview", "--stack", stack, *pack.words(stack, words), *words]
    return subprocess.run(argv, cwd=HOUSE).returncode


def _up(args: argparse.Namespace) -> int:
    return recover.up(_stack(args), _words(args))


def _words(args: argparse.Namespace) -> list[str]:
    return [*(["--config-file", args.file] if args.file else []), *args.words]
