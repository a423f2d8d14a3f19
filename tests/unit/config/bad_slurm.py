"""Settings of accounting and of Slurm itself that do not go together, with each other or with the rest."""

from typing import Any

from tests.unit.config.bad_sections import Config, Row


def labels(plugin: str, kind: str = "dynamic", below: str | None = None, **network: Any) -> Config:
    """A NodeSet whose nodes are where a label says."""
    place = {"nodeLabel": "example.com/rack"} | ({"below": below} if below else {})
    above = {"switches": {"s": {}}} if plugin == "tree" and below == "s" else {}
    return {
        "worker": {"kind": kind, "topology": place} | ({"maxSize": 4} if kind == "dynamic" else {}),
        "slurm.topology": {"plugin": plugin, **above, **network},
    }


LUA = "#!/x"
LOCAL = {"mountPath": "/scratch", "hostPath": "/mnt/nvme"}

BAD: list[Row] = [
    # Accounting
    ({"partitions.main": {"default": True, "qos": "normal"}}, "partitions.main.qos", "accounting.enabled: true"),
    *(
        ({f"accounting.{key}": value}, f"accounting.{key}", "has no effect without accounting")
        for key, value in {
            "qos": {"long": {}},
            "accounts": {"physics": {}},
            "enforce": ["limits"],
            "purge": {"jobs": "12months"},
            "database": {"host": "db.example.com"},
            "memory": "8Gi",
        }.items()
    ),
    *(
        (
            {
                "accounting": {"enabled": True, "accounts": {"physics": {}}},
                "partitions.main": {"default": True, key: [name]},
            },
            f"partitions.main.{key}.0",
            "Declare it in accounting.accounts" if name == "guests" else "did you mean `physics`?",
        )
        for key, name in (("allowAccounts", "physic"), ("denyAccounts", "guests"))
    ),
    *(
        (
            {
                "accounting": {"enabled": True, "qos": {"long": {}}},
                "partitions.main": {"default": True, key: ["night"]},
            },
            f"partitions.main.{key}.0",
            "Declare it in accounting.qos",
        )
        for key in ("allowQos", "denyQos")
    ),
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
        {"accounting": {"enabled": True, "mariadb": {"memory": "1Gi"}, "database": {"host": "db"}}},
        "accounting.mariadb",
        "keep one of them",
    ),
    (
        {"accounting": {"enabled": True, "accounts": {"a": {"description": "x|y"}}}},
        "accounting.accounts.a.description",
        "sacctmgr does not keep",
    ),
    (
        {"accounting": {"enabled": True, "mariadb": {"memory": "64Mi"}}},
        "accounting.mariadb.memory",
        "give it 256Mi",
    ),
    (
        {"accounting": {"enabled": True, "archive": {"records": ["jobs"]}}},
        "accounting.archive.records.0",
        "set accounting.purge.jobs",
    ),
    (
        {"accounting": {"enabled": True, "purge": {"jobs": "1month"}, "archive": {"records": ["jobs", "jobs"]}}},
        "accounting.archive.records.1",
        "listed twice",
    ),
    (
        {"accounting": {"enabled": True, "archive": {"records": ["job"]}}},
        "accounting.archive.records.0",
        "is not one of",
    ),
    (
        {"accounting": {"enabled": True, "enforce": ["qos"], "qos": {"x": {}}, "accounts": {"a": {"qos": ["x"]}}}},
        "accounting.accounts.a.qos",
        "set defaultQos",
    ),
    (
        {
            "accounting": {"enabled": True, "administrators": ["alice"], "operators": ["alice"]},
            "users": [{"name": "alice", "uid": 10001}],
        },
        "accounting.operators.0",
        "is an administrator",
    ),
    (
        {"accounting": {"enabled": True, "database": {"host": "db", "tls": False, "caSecret": {"name": "ca"}}}},
        "accounting.database.caSecret",
        "set tls: true",
    ),
    *(
        (
            {"accounting": {"enabled": True, "database": {"host": host}}},
            "accounting.database.host",
            "is not a host name",
        )
        for host in ("a:b", "1.2.3.400", "1.2.3", "fe80::1::2", f"{'a' * 64}.example.com")
    ),
    ({"worker": {"gpus": {"type": "4", "count": 8}}}, "worker.gpus.type", "takes for a count"),
    ({"worker": {"gres": {"fpga": {"type": "80g"}}}}, "worker.gres.fpga.type", "takes for a count"),
    ({"cluster.domain": f"{'a' * 64}.local"}, "cluster.domain", "at most 63 characters"),
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
    (
        {"slurm": {"jobSubmitLua": LUA, "extra": {"JobSubmitPlugins": "all_partitions"}}},
        "slurm.extra.JobSubmitPlugins",
        "must contain lua, or slurm.jobSubmitLua is not asked",
    ),
    ({"slurm.extra.CliFilterPlugins": "cli_filter/lua"}, "slurm.extra.CliFilterPlugins", "set slurm.cliFilterLua"),
    ({"slurm": {"cliFilterLua": "  "}}, "slurm.cliFilterLua", "is empty"),
    ({"slurm": {"jobSubmitLua": "x\u202ey"}}, "slurm.jobSubmitLua", "U+202E"),
    ({"slurm": {"mail": {}}}, "slurm.mail", "exactly one of smtp, program"),
    ({"slurm": {"mail": {"program": "curl x"}}}, "slurm.mail", "does not begin with #!/"),
    (
        {"slurm": {"mail": {"smtp": {"host": "mail", "sender": "a b@c"}}}},
        "slurm.mail.smtp.sender",
        "is not a mail address",
    ),
    (
        {"slurm": {"mail": {"program": LUA}, "extra": {"MailProg": "/bin/mail"}}},
        "slurm.extra.MailProg",
        "cannot be combined with slurm.mail",
    ),
    # What jobs find on their nodes
    ({"worker": {"memory": "1Gi", "sharedMemory": "2Gi"}}, "worker.sharedMemory", "more than memory (1Gi)"),
    ({"worker": {"limits": {"memlock": "-1"}}}, "worker.limits.memlock", "is not a size such as"),
    ({"worker": {"limits": {"nofile": "1Gi"}}}, "worker.limits.nofile", "is not a whole number, or unlimited"),
    ({"login": {"limits": {"nofiles": 4}}}, "login.limits.nofiles", "did you mean `nofile`?"),
    (
        {"worker": {"submounts": [{"mountPath": "/scratch"}]}},
        "worker.submounts.0",
        "set exactly one of hostPath, storageClass, existingClaim, nfs, emptyDir",
    ),
    ({"worker": {"submounts": [LOCAL | {"mountPath": "/usr"}]}}, "worker.submounts.0.mountPath", "belongs to the sys"),
    (
        {"storage": {"submounts": [LOCAL]}, "nodeSets": {"gpu": {"submounts": [LOCAL]}}},
        "nodeSets.gpu.submounts.0.mountPath",
        "/scratch is taken by storage.submounts.0",
    ),
    (
        {"worker": {"submounts": [LOCAL, LOCAL]}},
        "worker.submounts.1.mountPath",
        "/scratch is taken by worker.submounts.0",
    ),
    (
        {"slurm": {"privateTmp": True}, "worker": {"submounts": [LOCAL | {"mountPath": "/var/tmp/x"}]}},
        "worker.submounts.0.mountPath",
        "which hides it",
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
    # A second controller
    ({"controller": {"backup": True, "standby": True}}, "controller.standby", "not together with backup"),
    ({"controller": {"backup": True, "takeover": "5s"}}, "controller.takeover", "say 10s or more"),
    # Keys of Slurm that stand in each other's way
    (
        {"slurm.extra": {"DefMemPerGPU": 1, "DefMemPerNode": 2}},
        "slurm.extra.DefMemPerGPU",
        "cannot be combined with DefMemPerNode",
    ),
    (
        {"slurm.extra": {"maxmempercpu": 1, "MaxMemPerNode": 2}},
        "slurm.extra.MaxMemPerNode",
        "cannot be combined with MaxMemPerCPU",
    ),
    # Health
    ({"health.interval": "2s"}, "health.interval", "shorter than 5s"),
    ({"health.timeout": "55s", "health.interval": "2m"}, "health.timeout", "55s is not between 1s and 50s"),
    ({"health.timeout": "20s", "health.interval": "20s"}, "health.timeout", "is not between 1s and 17s"),
    ({"health.skip": ["network"]}, "health.skip.0", "one of jail, disk, memory, gpus, clock"),
    ({"health.diskFree": 101}, "health.diskFree", "100"),
    ({"health.checks.disk": "true"}, "health.checks.disk", "the name of a built-in check"),
    ({"health.checks.Disk_2": "true"}, "health.checks.Disk_2", "is not a DNS label"),
    ({"health.checks.mine": " \n"}, "health.checks.mine", "is empty"),
    ({"health.checks.mine": "true\r\n"}, "health.checks.mine", "a carriage return"),
    ({"health.prolog.mine": "true\n#@ check other\n"}, "health.prolog.mine", "begins with `#@`"),
    ({"health.epilog": {f"n{n}": "x" * 30000 for n in range(9)}}, "health.epilog", "all scripts together have"),
    ({"health.reboot.annotation": "no good"}, "health.reboot.annotation", "is not"),
    ({"health.enabled": True, "slurm.extra.Prolog": "/a"}, "slurm.extra.Prolog", "set health.prolog"),
    (
        {"health.enabled": True, "slurm.extra.SchedulerParameters": "bf_continue"},
        "slurm.extra.SchedulerParameters",
        "must contain nohold_on_prolog_fail",
    ),
]
