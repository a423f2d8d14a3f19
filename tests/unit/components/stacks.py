"""Stack configs that tests share, so that each of them is deployed once."""

from typing import Any

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExample1 alice@laptop"

# What a stack gets that says next to nothing.
SMALL: dict[str, Any] = {"users": [{"name": "alice", "uid": 10001, "sshKeys": [KEY]}]}

# The same, for somebody else.
OTHER_USERS: dict[str, Any] = {"users": [{"name": "bob", "uid": 10002}]}

# Everything that can be asked for at once.
RICH: dict[str, Any] = {
    "cluster": {"name": "hpc", "namespace": "science"},
    "nodeFilters": {
        "system": {"nodeSelector": {"pool": "system"}},
        "compute": {
            "nodeSelector": {"pool": "compute", "disk": "nvme"},
            "tolerations": [
                {"key": "batch", "effect": "NoSchedule"},
                {"key": "owner", "operator": "Equal", "value": "hpc", "effect": "NoExecute", "tolerationSeconds": 300},
            ],
        },
        "gpu": {
            "nodeSelector": {"pool": "gpu"},
            "tolerations": [{"key": "nvidia.com/gpu"}],
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "model", "operator": "In", "values": ["h100"]}]},
                            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["spare"]}]},
                        ]
                    },
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 1,
                            "preference": {"matchExpressions": [{"key": "new", "operator": "Exists"}]},
                        }
                    ],
                }
            },
        },
    },
    "controller": {"standby": True, "cpus": "1500m", "memory": "2Gi", "state": {"storageClass": "fast", "size": "5Gi"}},
    "worker": {"size": 2, "cpus": 4, "memory": "8Gi", "gracePeriod": "90s"},
    "nodeSets": {
        "gpu": {
            "size": 1,
            "nodeFilter": "gpu",
            "cpus": 8,
            "memory": "64Gi",
            "gpus": {"type": "h100", "count": 4},
            "sharedMemory": "32Gi",
            "limits": {"stack": "unlimited", "nofile": 4096},
            "submounts": [
                {"mountPath": "/scratch/local", "emptyDir": {"sizeLimit": "500Gi"}},
                {"mountPath": "/local", "hostPath": "/mnt/nvme"},
                {"mountPath": "/models", "storageClass": "cephfs", "size": "1Ti", "readOnly": True},
            ],
        },
        "burst": {
            "size": 3,
            "kind": "dynamic",
            "maxSize": 10,
            "cpus": 2,
            "memory": "4Gi",
            "realMemory": "3Gi",
            "features": ["spot"],
        },
    },
    "login": {
        "size": 2,
        "limits": {"nproc": 2048, "core": 0},
        "cpus": 2,
        "memory": "4Gi",
        "service": {
            "type": "LoadBalancer",
            "sourceRanges": ["192.0.2.0/24", "2001:db8::/32"],
            "annotations": {"example.com/internal": "true"},
        },
    },
    "rest": {
        "enabled": True,
        "size": 2,
        "cpus": 2,
        "memory": "512Mi",
        "service": {"type": "LoadBalancer", "port": 80, "sourceRanges": ["192.0.2.0/24"]},
    },
    "storage": {
        "jail": {"storageClass": "cephfs", "size": "2Ti"},
        "submounts": [
            {"mountPath": "/home", "storageClass": "cephfs", "size": "5Ti"},
            {"mountPath": "/scratch", "existingClaim": "scratch"},
            {"mountPath": "/datasets", "nfs": {"server": "nas.example.com", "path": "/export"}, "readOnly": True},
            {"mountPath": "/srv/local", "hostPath": "/srv/local"},
        ],
    },
    "accounting": {
        "enabled": True,
        "cpus": "200m",
        "memory": "256Mi",
        "mariadb": {"cpus": 1, "memory": "2Gi", "storage": {"storageClass": "fast", "size": "20Gi"}},
        "purge": {"jobs": "12months"},
        "archive": {"records": ["jobs"], "storage": {"storageClass": "cheap", "size": "100Gi"}},
        "qos": {"long": {"maxWall": "7d", "priority": 10}},
        "accounts": {"science": {"users": ["alice"], "qos": ["normal", "long"]}},
        "administrators": ["bob"],
    },
    "groups": [{"name": "physics", "gid": 20001}],
    "users": [{"name": "alice", "uid": 10001, "gid": 20001, "sshKeys": [KEY]}, {"name": "bob", "uid": 10002}],
}

# Every choice made the other way.
SLURM: dict[str, Any] = {
    **RICH,
    "cluster": {**RICH["cluster"], "auth": "slurm"},
    "controller": {**RICH["controller"], "state": {"existingClaim": "queue"}},
    "login": {"size": 1, "service": {"type": "ClusterIP", "address": "login.example.com", "port": 2222}},
    "rest": {
        "enabled": True,
        "ingress": {
            "host": "slurm.example.com",
            "tlsSecret": "rest-tls",
            "className": "nginx",
            "annotations": {"cert-manager.io/cluster-issuer": "letsencrypt"},
        },
    },
    "storage": {
        "jail": {"nfs": {"server": "nas.example.com", "path": "/export/jail"}, "populate": {"overwrite": True}},
        "submounts": [{"mountPath": "/home", "storageClass": "cephfs"}],
        "retain": False,
    },
    "accounting": {
        "enabled": True,
        "database": {
            "host": "db.example.com",
            "port": 3307,
            "passwordSecret": {"name": "db", "key": "pass"},
            "tls": True,
            "caSecret": {"name": "db-ca", "key": "root.pem"},
        },
    },
    "secrets": {"munge": 2, "slurm": 3, "jwt": 4, "hostKeys": 5},
    "slurm": {"privateTmp": True},
}

# What is left: claims and folders that exist, a fixed port, images by their full names, no nodes.
GIVEN: dict[str, Any] = {
    "controller": {"state": {"hostPath": "/srv/state"}},
    "worker": {"size": 0},
    "login": {"service": {"type": "NodePort", "nodePort": 30022, "address": "lab.example.com"}},
    "rest": {"enabled": True, "service": {"type": "NodePort"}},
    "storage": {"jail": {"existingClaim": "root"}},
    "accounting": {
        "enabled": True,
        "mariadb": {"storage": {"hostPath": "/srv/database"}},
        "purge": {"jobs": "12months"},
        "archive": {"records": ["jobs"], "storage": {"existingClaim": "archive"}},
    },
    "secrets": {"munge": 2},
    "images": {"registry": "registry.example.com/slipway", "tag": "2", "jail": "registry.example.com/own/root:3"},
}

# Dynamic nodes whose place in the network is a label of their Kubernetes nodes, beside static ones that say theirs.
LABELLED: dict[str, Any] = {
    "slurm": {"topology": {"plugin": "tree", "switches": {"spine": {"switches": ["rack0"]}}}},
    "worker": {"topology": {"switch": "rack0"}},
    "nodeSets": {"burst": {"kind": "dynamic", "topology": {"nodeLabel": "example.com/rack", "below": "spine"}}},
    "partitions": {"main": {"nodeSets": ["ALL"], "default": True}},
}

# Nodes that are looked after, some of which come and go.
HEALTHY: dict[str, Any] = {
    "health": {"enabled": True, "reboot": {}, "replaceLost": True, "stuckAfter": "2m"},
    "worker": {"size": 2},
    "nodeSets": {"elastic": {"size": 3, "autoscale": {"min": 1}}},
    "partitions": {"main": {"nodeSets": ["ALL"], "default": True}},
}

# Pods in Slurm's queue, on machines of a NodeSet and on others.
BRIDGED: dict[str, Any] = {
    "rest": {"enabled": True},
    "worker": {"size": 2, "cpus": 4, "memory": "8Gi"},
    "partitions": {"main": {"default": True}, "pods": {"nodeSets": ["worker", "bridge"]}},
    "bridge": {
        "enabled": True,
        "managedNamespaces": ["batch", "science"],
        "partition": "pods",
        "nodeSets": ["worker"],
        "externalNodes": {"selector": {"pool": "batch"}, "max": 8},
    },
}
