"""Sections of the cluster and its pods whose values do not go together, one after the other."""

from typing import Any

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExample1 a@b"
ALICE = {"name": "alice", "uid": 10001}

BRIDGE = {"enabled": True, "managedNamespaces": ["batch"], "nodeSets": ["worker"]}
EXTERNAL = {"selector": {"pool": "batch"}}
REST = {"rest.enabled": "true"}

Config = dict[str, Any]
Row = tuple[Config, str, str]  # the config, the key that is blamed, and part of what is said


def filters(**about: Any) -> Config:
    """The default filters, with more said about `compute`."""
    return {"system": {}, "compute": about}


BAD: list[Row] = [
    # NodeSets
    ({"worker.size": "65537"}, "worker.size", "at most 65536"),
    ({"worker.size": "65536", "nodeSets": {"gpu": {"size": 1}}}, "worker.size", "Slurm has room for 65536"),
    ({"worker": {"maxSize": 3}}, "worker.maxSize", "only with kind: dynamic"),
    (
        {"worker": {"kind": "dynamic", "size": 2, "maxSize": 3, "autoscale": {"min": 1}}},
        "worker.autoscale",
        "is for kind: static",
    ),
    ({"worker": {"size": 2, "autoscale": {"min": 3}}}, "worker.autoscale.min", "3 is more than size (2)"),
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
    *(
        ({"worker.gres": {"fpga": {"file": file}}}, "worker.gres.fpga.file", "is not a device file")
        for file in ("/etc/passwd", "/dev/../etc/passwd", "/dev/./x", "/dev/x/..", "/dev//x")
    ),
    (
        {"worker.gres": {"fpga": {"count": 5, "file": "/dev/fpga[0-2,2-3]"}}},
        "worker.gres.fpga.file",
        "names a device file twice",
    ),
    ({"worker.gres": {"fpga": {"file": "/dev/fpga[3-0]"}}}, "worker.gres.fpga.file", "runs backwards"),
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
        {"nodeFilters": filters(nodes=2, nodeCpus=5), "worker": {"size": 3, "cpus": 3}},
        "worker.size",
        "1 of its pods fits on a node of `compute`, so that its 2 nodes have room for 2",
    ),
    (
        {
            "nodeFilters": filters(nodes=2, nodeCpus=64, nodeMemory="10Gi"),
            "worker": {"size": 5, "cpus": 12, "memory": "4Gi"},
        },
        "worker.size",
        "2 of its pods fit on a node of `compute`, so that its 2 nodes have room for 4",
    ),
    (
        {
            "nodeFilters": filters(nodes=2, nodeCpus=10),
            "worker": {"size": 2, "cpus": 6},
            "nodeSets": {"big": {"size": 1, "cpus": 7}},
        },
        "worker.size",
        "3 pods need a node of `compute` each",
    ),
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
    (
        {"worker": {"gpus": {"count": 1}}, "partitions.main": {"default": True, "tresBillingWeights": {"GRES/gpu": 8}}},
        "partitions.main.tresBillingWeights.GRES/gpu",
        "needs accounting",
    ),
    (
        {"accounting.enabled": True, "partitions.main": {"default": True, "tresBillingWeights": {"gres/fpga": 8}}},
        "partitions.main.tresBillingWeights.gres/fpga",
        "no NodeSet has fpga",
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
    ({"rest.ingress": {"host": "slurm.example.com"}}, "rest.ingress.tlsSecret", "tokens would travel in the clear"),
    ({"rest.ingress": {"host": "*", "tlsSecret": "rest-tls"}}, "rest.ingress.host", "is not a DNS name"),
    ({"rest.maxLifespan": "10s"}, "rest.maxLifespan", "10s is not between a minute and a year"),
    ({"rest.maxLifespan": "3000d"}, "rest.maxLifespan", "not between a minute and a year"),
    ({"rest.maxLifespan": "UNLIMITED"}, "rest.maxLifespan", "it must end some time"),
    # The bridge
    ({"bridge": BRIDGE}, "bridge.enabled", "set rest.enabled: true"),
    ({"bridge": {**BRIDGE, "partition": "x"}, "rest.enabled": "true"}, "bridge.partition", "no partition"),
    ({"bridge": {**BRIDGE, "managedNamespaces": []}, **REST}, "bridge.managedNamespaces", "no namespace is managed"),
    ({"bridge": {**BRIDGE, "managedNamespaces": ["slurm"]}, **REST}, "bridge.managedNamespaces.0", "before Slurm does"),
    (
        {"bridge": {**BRIDGE, "managedNamespaces": ["a", "kube-system"]}, **REST},
        "bridge.managedNamespaces.1",
        "before Slurm does",
    ),
    (
        {"bridge": {**BRIDGE, "managedNamespaces": ["slurm-bridge"]}, **REST},
        "bridge.managedNamespaces.0",
        "before Slurm does",
    ),
    ({"bridge": {**BRIDGE, "managedNamespaces": ["a", "a"]}, **REST}, "bridge.managedNamespaces.1", "listed twice"),
    (
        {"bridge": {**BRIDGE, "managedNamespaceSelector": {"matchLabels": {"a": "b"}}}, **REST},
        "bridge.managedNamespaceSelector",
        "cannot be combined with managedNamespaces",
    ),
    (
        {"bridge.managedNamespaceSelector": {}},
        "bridge.managedNamespaceSelector",
        "selects every namespace",
    ),
    (
        {"bridge.managedNamespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
        "bridge.managedNamespaceSelector.matchExpressions.0",
        "needs `values` with In and NotIn",
    ),
    ({"bridge": {**BRIDGE, "namespace": "slurm"}, **REST}, "bridge.namespace", "not the bridge's alone"),
    ({"bridge": {**BRIDGE, "nodeSets": []}, **REST}, "bridge.nodeSets", "no nodes are lent"),
    ({"bridge": {**BRIDGE, "nodeSets": ["worker", "x"]}, **REST}, "bridge.nodeSets.1", "no NodeSet is named `x`"),
    ({"bridge": {**BRIDGE, "nodeSets": ["worker", "worker"]}, **REST}, "bridge.nodeSets.1", "listed twice"),
    ({"bridge": BRIDGE, **REST, "worker.gpus": {"count": 1}}, "bridge.nodeSets.0", "hold its GPUs"),
    ({"bridge": BRIDGE, **REST, "worker.autoscale": {}}, "bridge.nodeSets.0", "has autoscale"),
    ({"bridge": BRIDGE, **REST, "nodeSets": {"cpu": {}}}, "bridge.partition", "has nodes of cpu, which are not lent"),
    (
        {"bridge": {**BRIDGE, "externalNodes": EXTERNAL}, **REST},
        "bridge.partition",
        "add `bridge` to partitions.main.nodeSets",
    ),
    (
        {
            "bridge": {**BRIDGE, "externalNodes": EXTERNAL, "partition": "worker"},
            **REST,
            "partitions": {"main": {"default": True}, "worker": {"nodeSets": ["bridge"]}},
        },
        "bridge.partition",
        "is a feature of the NodeSet `worker` too",
    ),
    ({"bridge.externalNodes": {"selector": {}}}, "bridge.externalNodes.selector", "at least"),
    (
        {"partitions": {"main": {"default": True, "nodeSets": ["bridge"]}}},
        "partitions.main.nodeSets.0",
        "say in bridge.externalNodes which ones",
    ),
    ({"bridge": BRIDGE, **REST, "slurm.extra.MCSPlugin": "mcs/user"}, "slurm.extra.MCSPlugin", "needs mcs/label"),
    ({"bridge.tokenLifespan": "5s"}, "bridge.tokenLifespan", "not between a minute and a year"),
    ({"bridge.failurePolicy": "Maybe"}, "bridge.failurePolicy", "Fail"),
    (
        {"slurm.extra.ReconfigFlags": "KeepNodeStateFuture,KeepPartInfo"},
        "slurm.extra.ReconfigFlags",
        "new nodes and limits would never reach them",
    ),
    ({"monitoring.enabled": "true", "slurm.extra.PrivateData": "jobs"}, "slurm.extra.PrivateData", "no metrics"),
    ({"monitoring.interval": "1s"}, "monitoring.interval", "every 5s to 2m"),
    ({"monitoring.interval": "10m"}, "monitoring.interval", "every 5s to 2m"),
    ({"monitoring.alerts": {"queueStuck": "1m"}}, "monitoring.alerts.queueStuck", "make it 5m or more"),
    ({"monitoring.podMonitor": "on"}, "monitoring.podMonitor", "no metrics without monitoring.enabled"),
    ({"monitoring.rules": "on"}, "monitoring.rules", "no metrics without monitoring.enabled"),
    # Network
    ({"network.policies": "true", "monitoring.enabled": "true"}, "network.metricsFrom", "keep Prometheus away"),
    (
        {
            "network": {"policies": True},
            "rest": {"enabled": True, "ingress": {"host": "slurm.example.com", "tlsSecret": "rest-tls"}},
        },
        "network.restFrom",
        "keep the Ingress controller away",
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
]
