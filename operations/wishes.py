"""What a command resource tells an operation: by its environment, and the files by its standard input."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO

from operations.draining import Limits
from operations.kubectl import PATIENCE, Cluster
from slurm.hostlist import Hosts


@dataclass(frozen=True)
class Wishes:
    """`nodes` are all that there shall be, static and dynamic; `max_unavailable` is by NodeSet. The pods of
    `autoscaled` NodeSets come and go as Slurm wants them. Who only restarts pods needs no files. `key`
    is a digest of the one that daemons know each other by. `health` tells whether nodes are looked after."""

    cluster: Cluster
    files: Mapping[str, str]
    nodes: Hosts
    domain: str
    limits: Limits
    max_unavailable: Mapping[str, int]
    autoscaled: tuple[str, ...] = ()
    key: str = ""
    health: bool = False

    @classmethod
    def read(cls, environment: Mapping[str, str], stdin: IO[str] = sys.stdin) -> "Wishes":
        allowed = dict(each.split("=") for each in environment["SLIPWAY_MAX_UNAVAILABLE"].split(",") if each)
        return cls(
            Cluster(environment["SLIPWAY_NAMESPACE"], PATIENCE),
            json.loads(stdin.read() or "{}"),
            Hosts.parse(environment["SLIPWAY_NODES"]),
            environment["SLIPWAY_DOMAIN"],
            Limits(float(environment["SLIPWAY_DRAIN_SECONDS"]), environment["SLIPWAY_DRAIN_ON_TIMEOUT"]),
            {name: int(number) for name, number in allowed.items()},
            tuple(name for name in environment.get("SLIPWAY_AUTOSCALED", "").split(",") if name),
            environment.get("SLIPWAY_AUTH_KEY", ""),
            bool(environment.get("SLIPWAY_HEALTH")),
        )
