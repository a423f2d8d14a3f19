"""What the cluster is called."""

import re

from operations.importing.field import Taking


def cluster_name(taking: Taking) -> None:
    """A ClusterName of lower case letters, digits, - and _; accounting knows the cluster by it."""
    name = str(taking.value)
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")
    plain = (plain if re.match("[a-z]", plain) else f"c{plain}")[:40]
    taking.put(plain, "cluster.name")
    if plain != name:
        taking.adapted(f"`{name}` is no name for a cluster here; records of the old name stay with it")
