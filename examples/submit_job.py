#!/usr/bin/env python3
"""Submit a batch script through Slurm's HTTP interface, wait for its end, and tell how it ended.

    export SLURM_JWT=$(slipway token alice --lifespan 2h)
    examples/submit_job.py --url https://slurm.example.com --directory /home/alice job.sh

It needs Python 3.9 and nothing else. The exit code is 0 if the job has completed, and 1 if it ended otherwise.
"""

import argparse
import json
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

API = "slurm/v0.0.45"  # docs/rest.md says which there are
PAUSE = 2.0
GOES_ON = {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "STAGE_OUT", "SUSPENDED", "REQUEUED", "RESIZING"}
BUSY = {429, 502, 503, 504}  # slurmctld restarts, or has much to do: ask again


class Refused(Exception):  # noqa: N818 -- a word for users
    """What slurmrestd, or slurmctld behind it, says to a request that it does not carry out."""


def call(url: str, token: str, path: str, body: Any = None) -> Any:
    """The answer to a request: a POST if it has a body."""
    request = urllib.request.Request(
        f"{url.rstrip('/')}/{API}/{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"X-SLURM-USER-TOKEN": token, "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as problem:
        raise Refused(problem.code, reason(problem)) from None


def reason(problem: urllib.error.HTTPError) -> str:
    """In Slurm's own words, as far as it says any."""
    said = problem.read().decode(errors="replace")
    try:
        errors = json.loads(said)["errors"]
    except (ValueError, KeyError):
        return said.strip() or problem.reason
    return "; ".join(each.get("error") or each.get("description", "") for each in errors)


def submit(url: str, token: str, script: str, directory: str, name: str) -> int:
    job = {
        "name": name,
        "script": script,
        "current_working_directory": directory,
        # A job has the environment that it is given here, and no other.
        "environment": ["PATH=/usr/local/bin:/usr/bin:/bin"],
    }
    return call(url, token, "job/submit", {"job": job})["job_id"]


def wait(url: str, token: str, job: int) -> str:
    """The state in which the job ended."""
    shown = None
    while True:
        try:
            found = call(url, token, f"job/{job}")["jobs"]
        except Refused as refused:
            if refused.args[0] not in BUSY:
                raise
        except OSError as problem:  # nobody listens, or hung up, or takes too long
            print(f"no answer ({problem}); asking again", file=sys.stderr)
        else:
            # An array has a job for each of its tasks that has begun, and has ended when all have.
            states = sorted({state for each in found for state in each["job_state"]})
            if states != shown:
                print(f"job {job}: {' '.join(states)}", file=sys.stderr)
                shown = states
            if not GOES_ON.intersection(states):
                return next((state for state in states if state != "COMPLETED"), "COMPLETED")
        time.sleep(PAUSE)


def main() -> int:
    parser = argparse.ArgumentParser(description="Submit a batch script through Slurm's HTTP interface.")
    parser.add_argument("script", type=argparse.FileType(), help="a file with a batch script, or - for stdin")
    parser.add_argument("--url", default=os.environ.get("SLURM_REST_URL"), help="where it is ($SLURM_REST_URL)")
    parser.add_argument("--directory", default="/tmp", help="where the job runs, and writes its output (/tmp)")
    args = parser.parse_args()
    token = os.environ.get("SLURM_JWT")
    if not args.url or not token:
        parser.error("give it --url or SLURM_REST_URL, and SLURM_JWT: `slipway token USER` prints one")
    name = "job" if args.script is sys.stdin else Path(args.script.name).name
    try:
        job = submit(args.url, token, args.script.read(), args.directory, name)
        print(job, flush=True)
        state = wait(args.url, token, job)
    except Refused as refused:
        sys.exit("{}: {}".format(*refused.args))
    except OSError as problem:
        sys.exit(f"{args.url} does not answer: {problem}")
    print(state)
    return 0 if state == "COMPLETED" else 1


if __name__ == "__main__":
    sys.exit(main())
