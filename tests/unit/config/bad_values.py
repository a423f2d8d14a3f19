"""Keys and values that are wrong by themselves."""

from typing import Any

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExample1 a@b"
ALICE = {"name": "alice", "uid": 10001}

Config = dict[str, Any]
Row = tuple[Config, str, str]  # the config, the key that is blamed, and part of what is said


def filters(**about: Any) -> Config:
    """The default filters, with more said about `compute`."""
    return {"system": {}, "compute": about}


def labels(plugin: str, kind: str = "dynamic", below: str | None = None, **network: Any) -> Config:
    """A NodeSet whose nodes are where a label says."""
    place = {"nodeLabel": "example.com/rack"} | ({"below": below} if below else {})
    above = {"switches": {"s": {}}} if plugin == "tree" and below == "s" else {}
    return {
        "worker": {"kind": kind, "topology": place} | ({"maxSize": 4} if kind == "dynamic" else {}),
        "slurm.topology": {"plugin": plugin, **above, **network},
    }


BAD: list[Row] = [
    # Keys
    ({"clustr": {"name": "x"}}, "clustr", "did you mean `cluster`?"),
    ({"clustr.name": "x"}, "clustr.name", "did you mean `cluster`?"),
    ({"cluster": {"nmae": "x"}}, "cluster.nmae", "did you mean `name`?"),
    ({"worker.sise": "4"}, "worker.sise", "did you mean `size`?"),
    ({"node_sets": {}}, "node_sets", "did you mean `nodeSets`?"),
    ({"worker": {"node_filter": "compute"}}, "worker.node_filter", "did you mean `nodeFilter`?"),
    ({"drain": {"zzz": 1}}, "drain.zzz", "those of `drain` are timeout, onTimeout"),
    ({"worker..size": "4"}, "worker..size", "is not a path"),
    ({"worker.": "4"}, "worker.", "is not a path"),
    ({"": "4"}, "", "is not a path"),
    ({"": {"worker": {"size": 2}}}, "", "is not a path"),
    (
        {"nodeFilters": filters(nodes=9), "nodeFilters.compute.affinity": '{"a":' * 60 + "1" + "}" * 60},
        "nodeFilters.compute.affinity",
        "more than 50 levels",
    ),
    ({"users[x].name": "alice"}, "users[x].name", "is not a path"),
    ({"users.1.name": "alice"}, "users.1.name", "there is no entry 0"),
    ({"users": {"0": ALICE, "a": ALICE}}, "users", "is not a list"),
    # The same field twice
    ({"worker.size": "4", "worker": {"size": 2}}, "worker.size", "by `slipway:worker.size` and by `slipway:worker`"),
    ({"worker": {"size": 2}, "worker.size": "2"}, "worker.size", "by `slipway:worker` and by `slipway:worker.size`"),
    ({"users[0].uid": "10001", "users": [ALICE]}, "users.0.uid", "by `slipway:users[0].uid` and by `slipway:users`"),
    (
        {"worker.features": "[]", "worker": {"features": ["a"]}},
        "worker.features.0",
        "by `slipway:worker.features` and by `slipway:worker`",
    ),
    (
        {"worker": {"features": ["a"]}, "worker.features": "[]"},
        "worker.features",
        "by `slipway:worker` and by `slipway:worker.features`",
    ),
    ({"worker.features": "[]", "worker": {"features": []}}, "worker.features", "is set twice"),
    ({"users[0]": ALICE, "users.0.uid": "10001"}, "users.0.uid", "is set twice"),
    # Shapes and scalars
    ({"worker": "4"}, "worker", "is not an object"),
    ({"worker": [1]}, "worker", "is not an object"),
    ({"nodeSets": "gpu"}, "nodeSets", "is not an object"),
    ({"users": ALICE}, "users", "is not a list"),
    ({"worker.features": "a,b"}, "worker.features", "is not a list"),
    ({"worker.size": "four"}, "worker.size", "'four' is not a whole number"),
    ({"worker": {"size": 1.5}}, "worker.size", "1.5 is not a whole number"),
    ({"worker": {"size": True}}, "worker.size", "true is not a whole number"),
    ({"worker": {"size": "1e3"}}, "worker.size", "is not a whole number"),
    ({"worker.size": "-1"}, "worker.size", "-1 is too small; at least 0"),
    ({"controller.standby": "maybe"}, "controller.standby", "'maybe' is not true or false"),
    ({"controller": {"standby": 1}}, "controller.standby", "1 is not true or false"),
    ({"cluster": {"namespace": 1.1}}, "cluster.namespace", "write it in quotes"),
    ({"cluster": {"name": ["x"]}}, "cluster.name", "is not text"),
    ({"cluster": {"auth": "kerberos"}}, "cluster.auth", "is not one of munge, slurm"),
    ({"worker": {"gpus": {"type": "h100"}}}, "worker.gpus.count", "is missing (How many GPUs"),
    ({"users": [{"name": "alice"}]}, "users.0.uid", "for example 10001"),
    # Names
    ({"cluster.name": "My Cluster"}, "cluster.name", "is not a cluster name"),
    ({"cluster.name": "a" * 41}, "cluster.name", "at most 40 fit"),
    ({"cluster.name": "9lives"}, "cluster.name", "beginning with a letter"),
    ({"cluster.namespace": "Slurm"}, "cluster.namespace", "is not a DNS label"),
    ({"cluster.namespace": "a" * 64}, "cluster.namespace", "at most 63 fit"),
    ({"cluster.domain": "cluster..local"}, "cluster.domain", "is not a DNS name"),
    ({"nodeSets": {"GPU": {}}}, "nodeSets.GPU", "is not a NodeSet name"),
    ({"nodeSets": {"gpu_1": {}}}, "nodeSets.gpu_1", "is not a NodeSet name"),
    ({"nodeSets": {"g" * 53: {}}}, f"nodeSets.{'g' * 53}", "at most 52 fit"),
    ({"nodeSets": {"all": {}}}, "nodeSets.all", "that word has a meaning of its own"),
    ({"nodeSets": {"gpu-1": {}}}, "nodeSets.gpu-1", "use `gpu1`"),
    ({"nodeSets": {f"g{'1' * 19}": {}}}, f"nodeSets.g{'1' * 19}", "digits in a row"),
    ({"nodeSets": {"login": {}}}, "nodeSets.login", "another part of the cluster"),
    ({"nodeSets": {"worker": {}}}, "nodeSets.worker", "move this to `worker`"),
    ({"nodeSets": {"gpu": {}}, "worker.features": ["gpu"]}, "worker.features.0", "is the name of a NodeSet"),
    ({"worker.features": ["a", "a"]}, "worker.features.1", "is listed twice"),
    ({"worker.features": ["a b"]}, "worker.features.0", "is not a feature"),
    (
        {"cluster.domain": ".".join(["d" * 60] * 3), "cluster.namespace": "n" * 63, "worker.size": "1"},
        "worker",
        "DNS allows 253",
    ),
    ({"partitions": {"DEFAULT": {"default": True}}}, "partitions.DEFAULT", "has a meaning of its own"),
    ({"partitions": {"a b": {"default": True}}}, "partitions.a b", "is not a partition name"),
    ({"users": [{"name": "Alice", "uid": 10001}]}, "users.0.name", "is not a user or group name"),
    ({"users": [{"name": "slurm", "uid": 10001}]}, "users.0.name", "belongs to the system"),
    ({"images.jail": "no spaces here"}, "images.jail", "is not an image reference"),
    ({"nodeFilters": filters(nodeSelector={"a b": "c"})}, "nodeFilters.compute.nodeSelector.a b", "label key"),
    ({"nodeFilters": filters(nodeSelector={"a": "b/c"})}, "nodeFilters.compute.nodeSelector.a", "label value"),
    # What could put a line of its own into a file
    ({"slurm.extra": {"SchedulerParameters": "a\nNodeName=x"}}, "slurm.extra.SchedulerParameters", "a line break"),
    ({"slurm.extra.TmpFS": "/tmp\r"}, "slurm.extra.TmpFS", "a carriage return"),
    ({"slurm.extra.TmpFS": "/tmp # x"}, "slurm.extra.TmpFS", "contains #"),
    ({"slurm.extra.TmpFS": '/tmp" NodeName="x'}, "slurm.extra.TmpFS", 'contains "'),
    ({"slurm.extra.TmpFS": "/tmp\\"}, "slurm.extra.TmpFS", "contains \\"),
    ({"slurm.extra": {"Epilog": ["/a", "b\u2028c"]}}, "slurm.extra.Epilog.1", "U+2028"),
    ({"slurm.extra.TmpFS": "/a\u00a0b"}, "slurm.extra.TmpFS", "U+00A0"),
    ({"worker.extra": {"Reason": "a\u3000b"}}, "worker.extra.Reason", "a blank other than a space"),
    (
        {"accounting": {"enabled": True, "accounts": {"a": {"description": "x\u2009y"}}}},
        "accounting.accounts.a.description",
        "U+2009",
    ),
    ({"slurm.extra.TmpFS": ""}, "slurm.extra.TmpFS", "is empty"),
    ({"slurm.extra": {"Tmp\nFS": "/tmp"}}, "slurm.extra", "has a name in it with a line break"),
    ({"slurm.extra.Tmp\nFS": "/tmp"}, r"'slurm.extra.Tmp\nFS'", "control character"),
    ({"worker.extra": {"Reason": "a\0b"}}, "worker.extra.Reason", "a NUL"),
    ({"worker.features": ["a\nb"]}, "worker.features.0", "a line break"),
    ({"cluster.name": "x\n"}, "cluster.name", "a line break"),
    ({"users": [ALICE | {"shell": "/bin/sh\nroot"}]}, "users.0.shell", "a line break"),
    ({"users": [ALICE | {"shell": "/bin/sh:x y"}]}, "users.0.shell", "is not an absolute path"),
    ({"users": [ALICE | {"sshKeys": ['command="x" ' + KEY]}]}, "users.0.sshKeys.0", "without options in front"),
    ({"users": [ALICE | {"sshKeys": ["-----BEGIN OPENSSH PRIVATE KEY-----"]}]}, "users.0.sshKeys.0", "public ssh key"),
    ({"nodeFilters": filters(affinity={"x": "a\tb"})}, "nodeFilters.compute.affinity.x", "a tab"),
    ({"nodeFilters": {"system": {}, "compute": {}, "a\u202eb": {}}}, "nodeFilters", "U+202E"),
    # Sizes and times
    ({"worker.memory": "lots"}, "worker.memory", "is not a size such as 512Mi"),
    ({"worker.memory": "1024"}, "worker.memory", "perhaps 1024Mi was meant"),
    ({"worker": {"memory": 512}}, "worker.memory", "perhaps 512Mi was meant"),
    ({"worker.memory": "-1Gi"}, "worker.memory", "is not a size"),
    ({"worker.cpus": "0"}, "worker.cpus", "at least 1"),
    ({"worker.cpus": "500m"}, "worker.cpus", "is not a whole number"),
    ({"worker.cpus": "65534"}, "worker.cpus", "at most 65533"),
    ({"login.cpus": "none"}, "login.cpus", "is not a number of CPUs"),
    ({"partitions": {"main": {"default": True, "maxTime": "soon"}}}, "partitions.main.maxTime", "1-00:00:00"),
    ({"drain.timeout": "30"}, "drain.timeout", "say 30s or 30m"),
    ({"worker.gracePeriod": "UNLIMITED"}, "worker.gracePeriod", "it must end some time"),
    ({"worker.maxUnavailable": "0"}, "worker.maxUnavailable", "at least 1"),
    ({"worker.maxUnavailable": "101%"}, "worker.maxUnavailable", "between 1% and 100%"),
    ({"worker.weight": "0"}, "worker.weight", "at least 1"),
]
