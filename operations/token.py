"""`slipway token USER`: what proves to slurmrestd, and behind it to slurmctld, who somebody is."""

import re
from typing import Any

from config.rest import Rest
from config.types import Interval
from operations.kubectl import Cluster
from operations.problem import Problem

# A number would be taken for a user id, and a word with a hyphen in front for an option.
NAME = re.compile(r"[a-z_][a-z0-9_-]*")
UNKNOWN, SYSTEM = "unknown", "system"
# The system's own users have ids below 1000; and SlurmUser is who runs this.
MAKE = f"""set -eu
uid=$(getent passwd "$1" | cut -d: -f3)
if [ -z "$uid" ]; then
    echo {UNKNOWN}
elif [ "$uid" -lt 1000 ] || [ "$uid" -eq "$(id -u)" ]; then
    echo {SYSTEM}
else
    scontrol token "username=$1" "lifespan=$2"
fi
"""


def make(cluster: Cluster, rest: Rest, user: str, lifespan: str) -> dict[str, Any]:
    """Signed by slurmctld, which signs whatever name it is told to: so it is looked up first."""
    if not rest.enabled:
        raise Problem("This stack has no HTTP interface. Set slipway:rest.enabled: true, and run `pulumi up`.")
    seconds = _seconds(rest, lifespan)
    answer = cluster.slurm(MAKE, user, str(seconds)).strip() if NAME.fullmatch(user) else UNKNOWN
    if answer == UNKNOWN:
        raise Problem(f"The cluster knows no user {user}. `slipway:users` names them; `pulumi up` makes them known.")
    if answer == SYSTEM:
        raise Problem(
            f"{user} is one of the system's own users, and whoever has a token of root or slurm can act in anybody's "
            "name. Name the user whose work it is for."
        )
    name, _, token = answer.partition("=")
    if name != "SLURM_JWT" or not token:
        raise Problem("slurmctld gave no token. Run `pulumi up` if rest.enabled has changed since the last one.")
    return {"user": user, "seconds": seconds, "token": token}


def _seconds(rest: Rest, lifespan: str) -> int:
    try:
        seconds = Interval.parse(lifespan).seconds or 0
    except ValueError as reason:
        detail = f" ({reason})" if str(reason) else ""
        raise Problem(f"--lifespan {lifespan} is not {Interval.wants}{detail}.") from None
    limit = rest.max_lifespan.seconds or 0
    if not 0 < seconds <= limit:
        raise Problem(
            f"--lifespan {lifespan} is not between 1s and {rest.max_lifespan}, which slipway:rest.maxLifespan allows."
        )
    return seconds
