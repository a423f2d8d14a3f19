"""Every way of getting a config wrong that we know of: each is refused, with its key and what to do about it."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from config import ConfigProblems, Settings, checks
from config.checks import CHECKS, Finding
from config.images import DEPLOYED

LAB = {f"SLIPWAY_{role.upper()}_IMAGE": f"localhost/{role}:1" for role in DEPLOYED}
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExample1 a@b"
MAIN = {"main": {"default": True}}
ALICE = {"name": "alice", "uid": 10001}

Config = dict[str, Any]


def load(config: Config) -> Settings:
    """As the engine hands it over."""
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
    return Settings.load({f"slipway:{key}": text for key, text in texts.items()}, LAB)


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


BAD: list[tuple[Config, str, str]] = [
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
    ({"users[x].name": "alice"}, "users[x].name", "is not a path"),
    ({"users.1.name": "alice"}, "users.1.name", "there is no entry 0"),
    ({"users": {"0": ALICE, "a": ALICE}}, "users", "is not a list"),
    # The same field twice
    ({"worker.size": "4", "worker": {"size": 2}}, "worker.size", "by `slipway:worker.size` and by `slipway:worker`"),
    ({"worker": {"size": 2}, "worker.size": "2"}, "worker.size", "by `slipway:worker` and by `slipway:worker.size`"),
    ({"users[0].uid": "10001", "users": [ALICE]}, "users.0.uid", "by `slipway:users[0].uid` and by `slipway:users`"),
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
    # NodeSets
    ({"worker.size": "65537"}, "worker.size", "at most 65536"),
    ({"worker.size": "65536", "nodeSets": {"gpu": {"size": 1}}}, "worker.size", "Slurm has room for 65536"),
    ({"worker": {"maxSize": 3}}, "worker.maxSize", "only with kind: dynamic"),
    ({"worker": {"kind": "dynamic", "size": 4, "maxSize": 3}}, "worker.maxSize", "3 is less than size (4)"),
    ({"worker": {"cpus": 8, "sockets": 2, "coresPerSocket": 2}}, "worker.cpus", "(which is 4)"),
    ({"worker": {"memory": "1Gi", "realMemory": "2Gi"}}, "worker.realMemory", "2Gi is more than memory (1Gi)"),
    ({"worker": {"extra": {"MemSpecLimit": 1024}}}, "worker.extra.MemSpecLimit", "leave nothing"),
    ({"worker.gres": {"gpu": {}}}, "worker.gres.gpu", "move this to `gpus`"),
    ({"worker.gres": {"shard": {"count": 4}}}, "worker.gres.shard", "set gpus too"),
    (
        {"worker.gres": {"fpga": {"count": 2, "file": "/dev/fpga[0-2]"}}},
        "worker.gres.fpga.file",
        "names 3 device files",
    ),
    ({"worker.gres": {"fpga": {"file": "/dev/f", "noConsume": True}}}, "worker.gres.fpga.noConsume", "one job"),
    ({"worker.gres": {"fpga": {"file": "/etc/passwd"}}}, "worker.gres.fpga.file", "is not a device file"),
    ({"worker.extra": {"NodeName": "x"}}, "worker.extra.NodeName", "it follows from the name of the NodeSet"),
    ({"worker.extra": {"cpus": 4}}, "worker.extra.cpus", "set cpus of the NodeSet"),
    ({"worker.extra": {"TmpDsk": 4}}, "worker.extra.TmpDsk", "did you mean `TmpDisk`?"),
    # Node filters
    ({"worker.nodeFilter": "gpu"}, "worker.nodeFilter", "there are system, compute"),
    ({"controller.nodeFilter": "sytem"}, "controller.nodeFilter", "did you mean `system`? Name one of them"),
    ({"nodeFilters": filters(nodeCpus=4), "worker.cpus": "8"}, "worker.cpus", "8 is more than one node of `compute`"),
    ({"nodeFilters": filters(nodeMemory="1Gi"), "worker.memory": "2Gi"}, "worker.memory", "nodeMemory: 1Gi"),
    ({"nodeFilters": filters(nodeGpus=4), "worker.gpus.count": "8"}, "worker.gpus.count", "nodeGpus: 4"),
    ({"nodeFilters": {"system": {"nodeCpus": 1}, "compute": {}}, "login.cpus": "1500m"}, "login.cpus", "1.5 is more"),
    (
        {"nodeFilters": filters(nodes=2, nodeCpus=4), "worker": {"size": 5, "cpus": 2}},
        "worker.size",
        "ask for 10 (cpus) together, and its 2 nodes have 8",
    ),
    (
        {"nodeFilters": filters(tolerations=[{"key": "node-role.kubernetes.io/control-plane"}])},
        "nodeFilters.compute.tolerations.0.key",
        "control-plane nodes",
    ),
    (
        {"nodeFilters.system.nodeSelector.node-role.kubernetes.io/master": "", "nodeFilters.compute": {}},
        "nodeFilters.system.nodeSelector.node-role.kubernetes.io/master",
        "control-plane nodes",
    ),
    (
        {"nodeFilters": filters(tolerations=[{"key": "a", "value": "b"}])},
        "nodeFilters.compute.tolerations.0.value",
        "set operator: Equal",
    ),
    (
        {"nodeFilters": filters(tolerations=[{"key": "a", "operator": "Equal"}])},
        "nodeFilters.compute.tolerations.0.operator",
        "Equal needs a value",
    ),
    (
        {"nodeFilters": filters(tolerations=[{"key": "a", "tolerationSeconds": 5}])},
        "nodeFilters.compute.tolerations.0.tolerationSeconds",
        "NoExecute",
    ),
    # Partitions
    ({"partitions": {}}, "partitions", "there is no partition"),
    ({"partitions": {"a": {}, "b": {}}}, "partitions", "such as partitions.a.default"),
    ({"partitions": {"a": {"default": True}, "b": {"default": True}}}, "partitions.b.default", "`a` is the default"),
    ({"partitions": {"main": {"default": True, "nodeSets": ["gpu"]}}}, "partitions.main.nodeSets.0", "named `gpu`"),
    ({"partitions": {"main": {"default": True, "nodeSets": []}}}, "partitions.main.nodeSets", "name at least one"),
    (
        {"partitions": {"main": {"default": True, "nodeSets": ["worker", "worker"]}}},
        "partitions.main.nodeSets.1",
        "listed twice",
    ),
    (
        {"partitions": {"main": {"default": True, "nodeSets": ["ALL", "worker"]}}},
        "partitions.main.nodeSets.0",
        "ALL stands alone",
    ),
    ({"partitions.main": {"default": True, "state": "OPEN"}}, "partitions.main.state", "one of UP, DOWN"),
    (
        {"partitions.main": {"default": True, "maxTime": "1h", "defaultTime": "2h"}},
        "partitions.main.defaultTime",
        "longer than maxTime",
    ),
    ({"partitions.main": {"default": True, "maxTime": 0}}, "partitions.main.maxTime", "no job could run"),
    ({"partitions.main": {"default": True, "minNodes": 2, "maxNodes": 1}}, "partitions.main.minNodes", "maxNodes (1)"),
    ({"partitions.main": {"default": True, "maxNodes": 0}}, "partitions.main.maxNodes", "no job could run"),
    ({"partitions.main": {"default": True, "minNodes": 2}}, "partitions.main.minNodes", "the partition has nodes (1)"),
    (
        {"partitions.main": {"default": True, "defMemPerCpu": "1Gi", "defMemPerNode": "2Gi"}},
        "partitions.main.defMemPerNode",
        "cannot be combined with defMemPerCpu",
    ),
    (
        {"partitions.main": {"default": True, "defMemPerCpu": "2Gi", "maxMemPerCpu": "1Gi"}},
        "partitions.main.defMemPerCpu",
        "more than maxMemPerCpu (1Gi)",
    ),
    (
        {"partitions.main": {"default": True, "exclusive": "NODE", "overSubscribe": "FORCE:4"}},
        "partitions.main.overSubscribe",
        "contradicts exclusive",
    ),
    ({"partitions.main": {"default": True, "exclusive": "TOPO"}}, "partitions.main.exclusive", "slurm.topology.plugin"),
    ({"partitions.main": {"default": True, "overSubscribe": "EXCLUSIVE"}}, "partitions.main.overSubscribe", "FORCE:n"),
    ({"partitions.main": {"default": True, "priorityTier": 65534}}, "partitions.main.priorityTier", "at most 65533"),
    (
        {"accounting.enabled": "true", "partitions.main": {"default": True, "allowQos": ["a"], "denyQos": ["b"]}},
        "partitions.main.denyQos",
        "never looked at beside allowQos",
    ),
    (
        {"partitions.main": {"default": True, "allowGroups": ["x"]}},
        "partitions.main.allowGroups.0",
        "no group is named",
    ),
    ({"partitions.main": {"default": True, "extra": {"Nodes": "ALL"}}}, "partitions.main.extra.Nodes", "set nodeSets"),
    ({"partitions.main": {"default": True, "extra": {"Alternate": "b"}}}, "partitions.main.extra.Alternate", "`b`"),
    (
        {"partitions.main": {"default": True, "tresBillingWeights": {"CPU": "much"}}},
        "partitions.main.tresBillingWeights.CPU",
        "is not a weight",
    ),
    # Users and groups
    ({"users": [ALICE, {"name": "alice", "uid": 10002}]}, "users.1.name", "belongs to users.0 already"),
    ({"users": [ALICE, {"name": "bob", "uid": 10001}]}, "users.1.uid", "10001 belongs to users.0 already"),
    ({"groups": [{"name": "a", "gid": 2000}, {"name": "b", "gid": 2000}]}, "groups.1.gid", "belongs to groups.0"),
    ({"users": [ALICE], "groups": [{"name": "alice", "gid": 2000}]}, "users.0.name", "set gid: 2000"),
    ({"users": [ALICE], "groups": [{"name": "staff1", "gid": 10001}]}, "users.0.uid", "is the gid of group `staff1`"),
    ({"users": [{"name": "root1", "uid": 0}]}, "users.0.uid", "at least 1000"),
    ({"users": [{"name": "alice", "uid": 64030}]}, "users.0.uid", "system user `slurm`"),
    ({"users": [ALICE | {"groups": ["physics"]}]}, "users.0.groups.0", "no group is named `physics`"),
    ({"users": [ALICE | {"gid": 2000}]}, "users.0.gid", "no group has the gid 2000"),
    ({"users": [ALICE | {"sshKeys": [KEY, KEY]}]}, "users.0.sshKeys.1", "the same as entry 0"),
    # Services
    ({"login.service": {"type": "ClusterIP", "nodePort": 30022}}, "login.service.nodePort", "set type: NodePort"),
    ({"login.service": {"sourceRanges": ["10.0.0.0/8"]}}, "login.service.sourceRanges", "set type: LoadBalancer"),
    (
        {"login.service": {"type": "LoadBalancer", "sourceRanges": ["10.0.0.1/8"]}},
        "login.service.sourceRanges.0",
        "is not a network",
    ),
    ({"login.service.nodePort": "70000"}, "login.service.nodePort", "at most 65535"),
    (
        {
            "login.service.nodePort": "30022",
            "rest": {"enabled": True, "service": {"type": "NodePort", "nodePort": 30022}},
        },
        "rest.service.nodePort",
        "taken by login.service.nodePort",
    ),
    ({"bridge.enabled": "true"}, "bridge.enabled", "set rest.enabled: true"),
    ({"bridge": {"enabled": True, "partition": "x"}, "rest.enabled": "true"}, "bridge.partition", "no partition"),
    ({"monitoring.enabled": "true", "slurm.extra.PrivateData": "jobs"}, "slurm.extra.PrivateData", "no metrics"),
    (
        {"bridge": {"enabled": True, "namespaces": ["slurm"]}, "rest.enabled": "true"},
        "bridge.namespaces.0",
        "must run before Slurm does",
    ),
    # Storage
    ({"storage.jail": {"hostPath": "/a", "existingClaim": "b"}}, "storage.jail", "more than one source"),
    ({"storage.jail.hostPath": "relative"}, "storage.jail.hostPath", "is not an absolute path"),
    ({"storage.jail.hostPath": "/a/../etc"}, "storage.jail.hostPath", "is not an absolute path"),
    ({"storage.jail.nfs": {"server": "nas"}}, "storage.jail.nfs.path", "is missing"),
    ({"storage.submounts": [{"mountPath": "/home"}]}, "storage.submounts.0", "does not say where the data is"),
    (
        {"storage.submounts": [{"mountPath": "/etc", "existingClaim": "x"}]},
        "storage.submounts.0.mountPath",
        "belongs to the system",
    ),
    (
        {"storage.submounts": [{"mountPath": "/a", "existingClaim": "x"}, {"mountPath": "/a", "existingClaim": "y"}]},
        "storage.submounts.1.mountPath",
        "taken by storage.submounts.0",
    ),
    ({"controller.state": {"hostPath": "/a", "storageClass": "b"}}, "controller.state", "more than one source"),
    # Accounting
    ({"partitions.main": {"default": True, "qos": "normal"}}, "partitions.main.qos", "accounting.enabled: true"),
    ({"accounting.qos": {"long": {}}}, "accounting.qos", "accounting.enabled: true"),
    (
        {"accounting.enabled": "true", "partitions.main": {"default": True, "qos": "long"}},
        "partitions.main.qos",
        "Declare it in accounting.qos",
    ),
    ({"accounting": {"enabled": True, "administrators": ["bob"]}}, "accounting.administrators.0", "no user is named"),
    (
        {"accounting": {"enabled": True, "accounts": {"a": {"users": ["bob"]}}}},
        "accounting.accounts.a.users.0",
        "no user is named `bob`",
    ),
    (
        {"accounting": {"enabled": True, "accounts": {"a": {"parent": "b"}}}},
        "accounting.accounts.a.parent",
        "no account is named `b`",
    ),
    (
        {"accounting": {"enabled": True, "accounts": {"a": {"parent": "b"}, "b": {"parent": "a"}}}},
        "accounting.accounts.a.parent",
        "goes round in a circle",
    ),
    (
        {"accounting": {"enabled": True, "accounts": {"a": {"qos": ["normal"], "defaultQos": "x"}}}},
        "accounting.accounts.a.defaultQos",
        "is not in qos",
    ),
    (
        {"accounting": {"enabled": True, "storage": {"size": "1Gi"}, "database": {"host": "db"}}},
        "accounting.storage",
        "keep one of them",
    ),
    ({"accounting": {"database": {"host": "a..b"}}}, "accounting.database.host", "is not a host name"),
    ({"slurm.extra": {"Licenses": [{"a": 1}]}}, "slurm.extra.Licenses", "is not text"),
    ({"accounting.purge.jobs": "2 years"}, "accounting.purge.jobs", "12months"),
    # Slurm's own keys
    ({"slurm.extra.ClusterName": "x"}, "slurm.extra.ClusterName", "set cluster.name"),
    ({"slurm.extra.slurmctldhost": "x"}, "slurm.extra.slurmctldhost", "Slipway decides it"),
    ({"slurm.extra.NodeName": "x"}, "slurm.extra.NodeName", "set worker or nodeSets"),
    ({"slurm.extra.PartitionName": "x"}, "slurm.extra.PartitionName", "set partitions"),
    ({"slurm.extra.StateSaveLocation": "/x"}, "slurm.extra.StateSaveLocation", "set controller.state"),
    ({"slurm.extra.AuthType": "auth/none"}, "slurm.extra.AuthType", "set cluster.auth"),
    ({"slurm.extra.Include": "/etc/x"}, "slurm.extra.Include", "put the keys themselves here"),
    ({"slurm.extra.SchedulerParamters": "x"}, "slurm.extra.SchedulerParamters", "did you mean `SchedulerParameters`?"),
    ({"slurm.extra": {"TmpFS": "/a", "tmpfs": "/b"}}, "slurm.extra", "sets `TmpFS` and `tmpfs`"),
    ({"slurm.extra.SlurmctldParameters": "x"}, "slurm.extra.SlurmctldParameters", "must contain enable_configless"),
    ({"slurm.extra.MpiDefault": "pmi2"}, "slurm.extra.MpiDefault", "set slurm.mpi.default"),
    ({"slurm.extra.NamespaceType": "namespace/tmpfs"}, "slurm.extra.NamespaceType", "set slurm.privateTmp"),
    ({"slurm.mpi.pmix.PMIxTimeouts": 5}, "slurm.mpi.pmix.PMIxTimeouts", "did you mean `PMIxTimeout`?"),
    (
        {"slurm": {"privateTmp": True, "extra": {"PrologFlags": "Alloc"}}},
        "slurm.extra.PrologFlags",
        "must contain Contain",
    ),
    ({"slurm.cgroup": "v1"}, "slurm.cgroup", "one of auto, v2, disabled"),
    # The network
    ({"slurm.topology.plugin": "tree"}, "worker.topology", "each NodeSet must say where it is"),
    ({"worker.topology.switch": "rack1"}, "worker.topology.switch", "needs slurm.topology.plugin: tree"),
    ({"worker.topology": {"switch": "a", "block": "b"}}, "worker.topology", "exactly one of switch"),
    ({"slurm.topology.blockSizes": [1]}, "slurm.topology.blockSizes", "only with plugin: block"),
    ({"slurm.topology.blocks": ["a"]}, "slurm.topology.blocks", "only with plugin: block"),
    ({"worker.topology": {"switch": "a", "below": "s"}}, "worker.topology", "`below`, which has a meaning only with"),
    (labels("tree", kind="static", below="s"), "worker.topology.nodeLabel", "needs kind: dynamic; Slurm forgets"),
    (labels("tree"), "worker.topology.below", "is missing; name the switch of slurm.topology.switches"),
    (labels("tree", below="t"), "worker.topology.below", "no switch is named `t`"),
    (
        labels("block", below="s", blocks=["a"], blockSizes=[1]),
        "worker.topology.below",
        "only with slurm.topology.plugin: tree",
    ),
    (labels("block", blockSizes=[1]), "slurm.topology.blocks", "the blocks of worker.topology are known only when"),
    (labels("block", blocks=["a"]), "slurm.topology.blockSizes", "is missing: the blocks of worker.topology"),
    (
        {"worker.topology.switch": "a", "slurm.topology": {"plugin": "tree", "switches": {"s": {}}}},
        "slurm.topology.switches.s.switches",
        "name the switches below it, or take it out",
    ),
    (
        {"worker.topology.switch": "a", "slurm.topology": {"plugin": "tree", "switches": {"s": {"switches": ["b"]}}}},
        "slurm.topology.switches.s.switches.0",
        "no switch is named `b`",
    ),
    (
        {
            "worker.topology.switch": "a",
            "slurm.topology": {"plugin": "tree", "switches": {"s": {"switches": ["a"]}, "t": {"switches": ["a"]}}},
        },
        "slurm.topology.switches.t.switches.0",
        "hangs below `s` already",
    ),
    (
        {
            "worker.topology.switch": "a",
            "slurm.topology": {"plugin": "tree", "switches": {"s": {"switches": ["t"]}, "t": {"switches": ["s"]}}},
        },
        "slurm.topology.switches.s",
        "hangs below itself",
    ),
    (
        {"worker.topology.block": "a", "slurm.topology": {"plugin": "block", "blockSizes": [1, 3]}},
        "slurm.topology.blockSizes.1",
        "power of two",
    ),
    (
        {"worker.topology.block": "a", "slurm.topology": {"plugin": "block", "blockSizes": [4]}},
        "slurm.topology.blockSizes.0",
        "more than block `a` has nodes (1)",
    ),
]


@pytest.mark.parametrize(("config", "key", "fragment"), BAD, ids=[f"{n:03}-{row[1][:40]}" for n, row in enumerate(BAD)])
def test_a_bad_config_is_refused_with_its_key_and_what_to_do(config: Config, key: str, fragment: str) -> None:
    with pytest.raises(ConfigProblems) as raised:
        load(config)
    found = [problem for problem in raised.value.problems if fragment in problem.message]
    assert [problem.key for problem in found] == [f"slipway:{key}"], str(raised.value)
    assert "Input should" not in str(raised.value), "pydantic's words, not ours"
    assert len(found[0].message) < 250, "a message is read at a glance"
    assert not any(character in found[0].message for character in "\n\r\0"), "a message is one line"


@pytest.mark.parametrize(("config", "key", "fragment"), BAD, ids=[f"{n:03}-{row[1][:40]}" for n, row in enumerate(BAD)])
def test_a_single_mistake_is_a_single_problem(config: Config, key: str, fragment: str) -> None:
    with pytest.raises(ConfigProblems) as raised:
        load(config)
    assert len(raised.value.problems) == 1, str(raised.value)


def test_every_check_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {name for module in _modules() for name in _checks_of(module)}
    assert found == {f"{check.__module__}.{check.__name__}" for check in CHECKS}  # type: ignore[attr-defined]
    called: list[int] = []
    spies = tuple(lambda settings, number=number: called.append(number) or () for number in range(len(CHECKS)))
    monkeypatch.setattr("config.loading.CHECKS", spies)
    load({})
    assert called == list(range(len(CHECKS)))


def test_every_check_finds_something_in_some_bad_config(monkeypatch: pytest.MonkeyPatch) -> None:
    fired: set[str] = set()

    def spy(check: Any) -> Any:
        def run(settings: Settings) -> Iterable[Finding]:
            findings = list(check(settings))
            if findings:
                fired.add(check.__name__)
            return findings

        return run

    monkeypatch.setattr("config.loading.CHECKS", tuple(map(spy, CHECKS)))
    for config, _, _ in BAD:
        with pytest.raises(ConfigProblems):
            load(config)
    assert fired == {check.__name__ for check in CHECKS}  # type: ignore[attr-defined]


def _modules() -> Iterator[Any]:
    for name in vars(checks):
        module = getattr(checks, name)
        if getattr(module, "__name__", "").startswith("config.checks.") and hasattr(module, "__file__"):
            yield module


def _checks_of(module: Any) -> Iterator[str]:
    for name, value in vars(module).items():
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", "") == module.__name__:
            arguments = getattr(value, "__annotations__", {})
            if arguments.get("settings") is Settings:
                yield f"{module.__name__}.{name}"
