"""Values of each kind: quantities, GRES, partitions, filters, volumes, keys of slurm.conf, limits, names."""

from decimal import Decimal
from typing import Any

import pytest
import yaml

from config.plain_yaml import Loader
from operations.importing.amounts import memory, quantity, share
from operations.importing.convert import Imported, imported
from operations.importing.draft import free_name
from operations.importing.field import Row, Unusable
from operations.importing.partitions import WHOLE
from operations.importing.source import parse

GPU = {"replicas": 4, "slurmd": {"resources": {"limits": {"cpu": 64, "memory": "512Gi"}}}}


def from_values(**values: Any) -> Imported:
    """Values of slurm-operator's chart."""
    return imported({"values": [{"clusterName": "x", "controller": {}, **values}]})


def config(made: Imported, *path: str) -> Any:
    found: Any = yaml.load(made.text, Loader)["config"]  # noqa: S506 -- a SafeLoader
    for step in (f"slipway:{path[0]}", *path[1:]):
        found = found.get(step) if isinstance(found, dict) else None
    return found


def row(made: Imported, field: str) -> Row:
    [found] = [each for each in made.rows if each.field == field]
    return found


def slurm_cluster(**spec: Any) -> Imported:
    kind = {"apiVersion": "slurm.nebius.ai/v1", "kind": "SlurmCluster"}
    return imported({"cluster": [{**kind, "metadata": {"name": "x", "namespace": "x"}, "spec": spec}]})


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("500m", "0.5"),
        (2, "2"),
        ("1.5Gi", str(3 << 29)),
        ("2e9", "2e9"),
        ("1E3", "1000"),
        ("1E", "1e18"),
        ("3k", "3000"),
    ],
)
def test_quantities_are_read_as_kubernetes_reads_them(text: Any, number: str) -> None:
    assert quantity(text) == Decimal(number)


@pytest.mark.parametrize("text", ["", "many", "-1", "1 Gi", "1Xi", True, None, [], "1e", "0x10"])
def test_what_is_no_quantity_is_refused(text: Any) -> None:
    with pytest.raises(Unusable, match="it is no quantity"):
        quantity(text)


def test_sizes_are_whole_bytes_of_at_least_a_mebibyte() -> None:
    assert [memory(each) for each in ("61865984Ki", "1.5Gi", 1 << 30, "2e9")] == ["59Gi", "1536Mi", "1Gi", "1953125Ki"]
    with pytest.raises(Unusable):
        memory("100")


def test_shares_of_cpus_may_be_fractions_and_cpus_of_nodes_may_not() -> None:
    assert [share(each) for each in ("1500m", 2, "0.25")] == ["1500m", 2, "250m"]
    made = from_values(nodesets={"a": {"slurmd": {"resources": {"limits": {"cpu": "1500m", "memory": "4Gi"}}}}})
    assert config(made, "nodeSets", "a", "cpus") == 1
    assert row(made, "nodesets.a.slurmd.resources").outcome == "adapted"


def test_memory_of_what_serves_is_its_limit_and_cpus_are_its_request() -> None:
    resources = {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": 4, "memory": "2Gi"}}
    made = from_values(controller={"slurmctld": {"resources": resources}})
    assert (config(made, "controller", "cpus"), config(made, "controller", "memory")) == ("500m", "2Gi")


@pytest.mark.parametrize(
    ("gres", "gpus", "others"),
    [
        ("gpu:8", {"count": 8}, None),
        (["gpu:h100:8"], {"count": 8, "type": "h100"}, None),
        ("gpu:H100:8(S:0-1),fpga:2", {"count": 8, "type": "h100"}, {"fpga": {"count": 2}}),
        ("gpu:1g.10gb:4,gpu:2g.20gb:2", {"count": 6}, None),
        ("license:no_consume:3", None, {"license": {"count": 3, "noConsume": True}}),
        ("gpu", {"count": 1}, None),
    ],
)
def test_gres_become_gpus_and_others(gres: Any, gpus: Any, others: Any) -> None:
    made = from_values(nodesets={"a": {**GPU, "extraConfMap": {"Gres": gres}}})
    assert config(made, "nodeSets", "a", "gpus") == gpus
    assert config(made, "nodeSets", "a", "gres") == others


def test_sockets_that_do_not_make_up_the_cpus_are_left_out() -> None:
    fits = from_values(nodesets={"a": {**GPU, "extraConf": "Boards=2 SocketsPerBoard=1 CoresPerSocket=32"}})
    assert config(fits, "nodeSets", "a", "sockets") == 2
    other = from_values(nodesets={"a": {**GPU, "extraConf": "Sockets=2 CoresPerSocket=48 ThreadsPerCore=2"}})
    assert config(other, "nodeSets", "a", "coresPerSocket") is None
    assert "make 192 CPUs, and the pods have 64" in row(other, "NodeSet a").about


def test_fields_of_a_node_without_a_setting_are_extra_and_ours_are_told() -> None:
    made = from_values(nodesets={"a": {**GPU, "extraConf": "MemSpecLimit=1024 NodeAddr=1.2.3.4 Colour=red"}})
    assert config(made, "nodeSets", "a", "extra") == {"MemSpecLimit": 1024}
    assert row(made, "nodesets.a.extraConf.NodeAddr").outcome == "left out"
    assert "is not a key of a NodeName line" in row(made, "nodesets.a.extraConf.Colour").about


def partitions(*lines: str) -> Imported:
    worker = {"size": 8, "slurmd": {"resources": {"cpu": 4, "memory": "8Gi"}}}
    configured = {"configType": "custom", "rawConfig": list(lines)}
    return slurm_cluster(slurmNodes={"worker": worker}, partitionConfiguration=configured)


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("MaxTime=1-00:00:00 DefaultTime=30", {"maxTime": "1-00:00:00", "defaultTime": "30"}),
        ("Shared=EXCLUSIVE", {"exclusive": "NODE"}),
        ("ExclusiveUser=YES", {"exclusive": "USER"}),
        ("MaxNodes=UNLIMITED MinNodes=2", {"minNodes": 2}),
        ("DefMemPerCPU=2048 MaxMemPerCPU=4096", {"defMemPerCpu": "2048Mi", "maxMemPerCpu": "4096Mi"}),
        ("JobDefaults=DefCpuPerGPU=4", {"defCpuPerGpu": 4}),
        ("GraceTime=90 PriorityTier=0 Hidden=yes", {"graceTime": "90s", "priorityTier": 0, "hidden": True}),
        ("LLN=YES State=DRAIN", {"extra": {"LLN": "YES"}, "state": "DRAIN"}),
        ("AllowAccounts=ALL", {}),
    ],
)
def test_keys_of_a_partition_become_its_settings(line: str, becomes: dict[str, Any]) -> None:
    made = partitions(f"PartitionName=p Nodes=ALL Default=YES {line}")
    assert config(made, "partitions", "p") == {"nodeSets": ["ALL"], "default": True, **becomes}


def test_a_partition_of_some_nodes_gets_the_whole_node_set_and_says_so() -> None:
    whole = partitions("PartitionName=p Nodes=worker-[0-7] Default=YES")
    assert config(whole, "partitions", "p", "nodeSets") == ["worker"]
    assert row(whole, "spec.partitionConfiguration").outcome == "carried over"
    some = partitions("PartitionName=p Nodes=worker-[0-3] Default=YES")
    assert config(some, "partitions", "p", "nodeSets") == ["worker"]
    assert "split the NodeSet" in row(some, "spec.partitionConfiguration").about


def test_a_partition_may_name_node_sets_and_nodes() -> None:
    sets = {"gpu": {"replicas": 2}, "cpu": {"replicas": 4}}
    text = "PartitionName=p Nodes=gpu,cpu-[0-3] Default=YES\nPartitionName=q Nodes=gpu-[0-1],cpu-0\n"
    made = from_values(nodesets=sets, controller={"extraConf": text})
    assert config(made, "partitions", "p", "nodeSets") == config(made, "partitions", "q", "nodeSets") == ["gpu", "cpu"]
    assert row(made, "controller.extraConf").about == WHOLE


def test_one_partition_is_the_default() -> None:
    none = partitions("PartitionName=a Nodes=ALL", "PartitionName=b Nodes=ALL")
    assert config(none, "partitions", "a", "default") is True
    two = partitions("PartitionName=a Nodes=ALL Default=YES", "PartitionName=b Nodes=ALL Default=YES")
    assert config(two, "partitions", "b", "default") is None
    assert any("partitions.b was a default too" in each for each in two.todo)


def test_soperators_own_partitions_are_made() -> None:
    made = slurm_cluster(slurmNodes={"worker": {"size": 1}}, partitionConfiguration={"configType": "default"})
    assert list(config(made, "partitions")) == ["main", "hidden", "background"]


def test_the_partition_of_all_nodes_gets_a_name_that_is_free() -> None:
    made = from_values(partitions={"all": {"configMap": {"Default": True}}, "main": {"nodesets": ["ALL"]}})
    assert {name: each.get("default") for name, each in config(made, "partitions").items()} == {
        "all-nodes": True,
        "main": None,
    }


def test_tolerations_mean_what_kubernetes_means_by_them() -> None:
    taints = [{"key": "a", "effect": "NoSchedule"}, {"key": "b", "operator": "Exists"}, {"operator": "Exists"}]
    taints.append({"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"})
    made = slurm_cluster(k8sNodeFilters=[{"name": "f", "tolerations": taints}])
    assert config(made, "nodeFilters", "f", "tolerations") == [
        {"key": "a", "effect": "NoSchedule", "operator": "Equal", "value": ""},
        {"key": "b"},
    ]
    assert "puts up with every taint" in row(made, "spec.k8sNodeFilters.0.tolerations.2").about
    assert any("control-plane nodes" in each.about for each in made.rows)


def test_equal_rules_are_one_filter() -> None:
    rule = {"podSpec": {"nodeSelector": {"pool": "a"}}}
    other = {"podSpec": {"nodeSelector": {"pool": "b"}}}
    made = from_values(controller=rule, restapi={"replicas": 1, **other}, nodesets={"one": {**GPU, **rule}})
    assert config(made, "controller", "nodeFilter") == config(made, "nodeSets", "one", "nodeFilter") == "system"
    assert config(made, "rest", "nodeFilter") == "rest"


def volumes(**mount: Any) -> Imported:
    """A mount of the workers alone."""
    sources = [
        {"name": "claim", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "nas", "nfs": {"server": "nas.example.com", "path": "/export/"}},
        {"name": "disk", "hostPath": {"path": "/mnt/disk", "type": "Directory"}},
        {"name": "room", "emptyDir": {"sizeLimit": "10Gi"}},
        {"name": "ram", "emptyDir": {"medium": "Memory"}},
        {"name": "odd", "csi": {"driver": "example.com"}},
    ]
    worker = {"size": 2, "volumes": {"jailSubMounts": [{"name": "m", "mountPath": "/data", **mount}]}}
    return slurm_cluster(slurmNodes={"worker": worker}, volumeSources=sources)


@pytest.mark.parametrize(
    ("mount", "becomes"),
    [
        ({"volumeSourceName": "claim", "readOnly": True}, {"existingClaim": "data", "readOnly": True}),
        ({"volumeSourceName": "nas", "subPath": "x/y"}, {"nfs": {"server": "nas.example.com", "path": "/export/x/y"}}),
        ({"volumeSourceName": "disk"}, {"hostPath": "/mnt/disk"}),
        ({"volumeSourceName": "room"}, {"emptyDir": {"sizeLimit": "10Gi"}}),
    ],
)
def test_volumes_are_mounted_where_they_were(mount: dict[str, Any], becomes: dict[str, Any]) -> None:
    assert config(volumes(**mount), "worker", "submounts") == [{"mountPath": "/data", **becomes}]


@pytest.mark.parametrize(
    ("mount", "why"),
    [
        ({"volumeSourceName": "claim", "subPath": "x"}, "give it a claim of its own"),
        ({"volumeSourceName": "ram"}, "a volume is a claim"),
        ({"volumeSourceName": "odd"}, "csi is no source of a volume here"),
        ({"volumeSourceName": "none"}, "there is no volume `none`"),
        ({"volumeClaimTemplateSpec": {"storageClassName": "x"}}, "a claim for each pod"),
    ],
)
def test_volumes_that_cannot_be_mounted_say_why(mount: dict[str, Any], why: str) -> None:
    made = volumes(**mount)
    assert config(made, "worker", "submounts") is None
    assert why in row(made, "spec.slurmNodes.worker.volumes.jailSubMounts.0").about


def test_the_old_root_is_looked_at_and_never_filled_anew() -> None:
    """The job that fills a shared root would replace the system files of one that it does not know."""
    jail = {"jail": {"volumeSourceName": "jail"}}
    made = slurm_cluster(
        slurmNodes={"worker": {"size": 1, "volumes": jail}, "login": {"size": 1, "volumes": jail}},
        volumeSources=[{"name": "jail", "persistentVolumeClaim": {"claimName": "old"}}],
    )
    assert config(made, "storage") == {
        "submounts": [{"mountPath": "/old-root", "existingClaim": "old", "readOnly": True}]
    }
    assert any(each.startswith("storage.jail: ") for each in made.todo)


def test_keys_of_slurm_conf_that_have_settings_go_there() -> None:
    made = from_values(
        accounting={"enabled": True},
        controller={"extraConfMap": {"MpiDefault": "pmi2", "AccountingStorageEnforce": "safe,qos", "KillWait": 60}},
    )
    assert config(made, "slurm", "mpi", "default") == "pmi2"
    assert config(made, "accounting", "enforce") == ["safe", "qos"]
    assert config(made, "slurm", "extra") == {"KillWait": 60}


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("SlurmctldPort", "is not for extra"),
        ("NoSuchKey", "is not a key of slurm.conf"),
        ("Prolog", "a program of the old images"),
        ("JobCompPass", "secrets are not carried over"),
        ("TopologyPlugin", "set slurm.topology.plugin"),
    ],
)
def test_keys_of_slurm_conf_that_are_not_for_users_say_why(key: str, why: str) -> None:
    made = from_values(controller={"extraConf": f"{key}=x\nKillWait=60\n"})
    assert config(made, "slurm", "extra") == {"KillWait": 60}
    assert why in row(made, f"controller.extraConf.{key}").about


def test_text_that_is_not_in_slurms_format_is_told_by_its_line() -> None:
    made = from_values(controller={"extraConf": 'KillWait=60\nthis is "no key\n'})
    assert row(made, "controller.extraConf").about == "it is not in Slurm's format (line 2)"


def test_a_value_that_the_settings_refuse_is_left_out_and_the_rest_stays() -> None:
    made = from_values(nodesets={"a": {**GPU, "replicas": "many", "extraConf": "Weight=heavy Features=x"}})
    assert config(made, "nodeSets", "a", "size") is None
    assert config(made, "nodeSets", "a", "features") == ["x"]
    assert any("nodeSets.a.size: 'many' is not a whole number" in each.about for each in made.rows)
    assert any("nodeSets.a.weight" in each.about for each in made.rows)


def test_limits_are_the_hard_ones_of_everyone() -> None:
    text = "* soft nofile 1024\n* hard nofile 65536\n* - memlock unlimited\n* hard stack 65536\n@staff hard nproc 5\n"
    made = slurm_cluster(slurmNodes={"worker": {"size": 1, "slurmd": {"securityLimitsConfig": text}}})
    assert config(made, "worker", "limits") == {"nofile": 65536, "memlock": "unlimited", "stack": "65536Ki"}
    assert any("@staff" in each.field and each.outcome == "left out" for each in made.rows)


@pytest.mark.parametrize(
    ("name", "free"),
    [("gpu", "gpu"), ("GPU_nodes", "gpu-nodes"), ("gpu-1", "gpu1"), ("8way", "n8way"), ("login", "login-nodes")],
)
def test_names_are_made_ones_that_slurm_and_kubernetes_take(name: str, free: str) -> None:
    assert free_name(name) == free
    assert free_name(name, [free]) != free


def test_values_of_yaml_are_those_that_helm_sees() -> None:
    """Neither a clock that is a number nor a NO that is a switch."""
    text = "clusterName: x\npartitions: {p: {configMap: {MaxTime: 24:00:00, Default: YES, Hidden: NO}}}\n"
    made = imported({"values": parse("values", text)})
    assert config(made, "partitions", "p") == {"nodeSets": ["ALL"], "maxTime": "24:00:00", "default": True}


def test_names_of_the_source_do_not_get_into_lines_of_their_own() -> None:
    made = from_values(nodesets={"a\nslipway:x: 1": {"scalingMode": "DaemonSet"}}, partitions={"p\nq: 1": {}})
    assert "slipway:x" not in made.text
    assert not [line for line in made.text.splitlines() if line.startswith("q: 1")]


def test_node_sets_of_soperator_may_be_objects_of_their_own() -> None:
    kind = {"apiVersion": "slurm.nebius.ai/v1alpha1", "kind": "NodeSet"}
    slurmd = {"resources": {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "2"}, "port": 6818}
    spec = {"replicas": 3, "slurmd": slurmd, "nodeSelector": {"pool": "gpu"}, "ephemeralNodes": False, "odd": 1}
    cluster = {"apiVersion": "slurm.nebius.ai/v1", "kind": "SlurmCluster", "metadata": {"name": "x", "namespace": "y"}}
    objects = [{**cluster, "spec": {}}, {**kind, "metadata": {"name": "gpu"}, "spec": spec}]
    made = imported({"list": [{"apiVersion": "v1", "kind": "List", "items": objects}]})
    assert config(made, "nodeSets", "gpu") == {
        "size": 3,
        "cpus": 8,
        "memory": "32Gi",
        "gpus": {"count": 2},
        "nodeFilter": "gpu",
    }
    assert config(made, "nodeFilters", "gpu") == {"nodeSelector": {"pool": "gpu"}}
    assert row(made, "NodeSet gpu: spec.odd").outcome == "unknown"
    assert row(made, "NodeSet gpu: spec.slurmd.port").outcome == "left out"


def test_a_slurmdbd_elsewhere_is_not_taken_for_one_of_ours() -> None:
    made = from_values(accounting={"enabled": True, "external": True, "externalConfig": {"host": "dbd.example.com"}})
    assert config(made, "accounting") is None
    assert "slurmdbd" in row(made, "accounting").about


def test_what_one_switch_leaves_off_another_may_turn_on() -> None:
    made = from_values(controller={"metrics": {"enabled": False}}, **{"slurm-exporter": {"enabled": True}})
    assert config(made, "monitoring", "enabled") is True


def test_only_public_keys_of_one_line_get_into_the_comment() -> None:
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExample1 a@b"
    bad = ["-----BEGIN OPENSSH PRIVATE KEY-----", f"{key}\nconfig: {{}}", f"{key}\u2028x"]
    made = slurm_cluster(slurmNodes={"login": {"size": 1, "sshRootPublicKeys": [key, *bad]}})
    assert made.text.count("ssh-ed25519") == 1
    assert f"#   {key}\n" in made.text
    assert "PRIVATE" not in made.text
