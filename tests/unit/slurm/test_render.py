"""Settings become files that read as if a careful administrator had written them, always byte for byte the same."""

import os
from pathlib import Path

import pytest
import yaml

from bench.shapes import TARGETS, Shape, cluster
from config import Settings
from config.accounting import Accounting
from config.cluster import Cluster
from config.controller import Controller
from config.limits import JobLimits
from config.node_sets import Autoscale, Gpus, Gres, NodeSet, Place
from config.partitions import Partition
from config.slurm import Mpi, Slurm, SwitchAbove, Topology
from config.types import Interval, MemorySize, SizeLimit
from slurm import places, topology
from slurm.changes import plan
from slurm.nodes import hardware
from slurm.render import render
from tests.unit.slurm.goldens import CLUSTERS, large

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_gets_exactly_these_files(name: str) -> None:
    """Set UPDATE_GOLDEN=1 to write them anew, and read the diff."""
    files = render(CLUSTERS[name]())
    folder = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for file, text in files.items():
            (folder / file).write_text(text)
    assert files == {file.name: file.read_text() for file in folder.iterdir()}


def test_what_accounts_allow_is_enforced_unless_the_stack_says_otherwise() -> None:
    def enforced(**about: object) -> list[str]:
        conf = render(Settings.model_validate({"accounting": {"enabled": True, **about}}))["slurm.conf"]
        return [line for line in conf.splitlines() if line.startswith("AccountingStorageEnforce")]

    assert enforced() == []
    assert enforced(accounts={"physics": {}}) == ["AccountingStorageEnforce=associations,limits,qos"]
    assert enforced(accounts={"physics": {}}, enforce=["associations"]) == ["AccountingStorageEnforce=associations"]
    assert enforced(accounts={"physics": {}}, enforce=[]) == []


def test_a_database_is_reached_through_tls_unless_that_is_unwanted() -> None:
    def dbd(**about: object) -> str:
        database = {"host": "db.example.com", **about}
        return render(Settings.model_validate({"accounting": {"enabled": True, "database": database}}))["slurmdbd.conf"]

    assert "StorageParameters" not in dbd(tls=False)
    assert "\nStorageParameters=SSL_CA=/etc/ssl/certs/ca-certificates.crt\n" in dbd()
    named = dbd(ca_secret={"name": "database-ca"})
    assert f"\nStorageParameters=SSL_CA={places.DATABASE_CA}\n" in named
    files = [{"slurm.conf": "", "slurmdbd.conf": each} for each in (dbd(tls=False), named)]
    assert [(step.cls, step.key) for step in plan(*files).steps] == [("restart-slurmdbd", "StorageParameters")]


def test_the_same_settings_give_the_same_bytes() -> None:
    assert render(large()) == render(large())


def test_ten_thousand_nodes_fit_a_config_map_many_times() -> None:
    assert sum(len(text) for text in render(large()).values()) < 200_000


def conf(**sections: object) -> str:
    return render(Settings.model_validate(sections, by_name=True))["slurm.conf"]


def test_nodes_are_reached_at_the_names_of_their_pods() -> None:
    text = conf(cluster=Cluster(namespace="hpc", domain="k8s.example.org"), worker=NodeSet(size=3))
    assert "NodeName=worker-[0-2] NodeHostname=worker-[0-2] " in text
    assert " NodeAddr=worker-[0-2].worker.hpc.svc.k8s.example.org " in text
    assert "SlurmctldHost=controller-0(controller-0.controller.hpc.svc.k8s.example.org)" in text


def test_a_second_controller_comes_after_the_first_and_waits_for_as_long_as_the_stack_says() -> None:
    text = conf(controller=Controller(backup=True, takeover=Interval(20)))
    hosts = [line for line in text.splitlines() if line.startswith("SlurmctldHost=")]
    assert hosts == [
        f"SlurmctldHost=controller-{number}(controller-{number}.controller.slurm.svc.cluster.local)"
        for number in (0, 1)
    ]
    assert "SlurmctldTimeout=20\n" in text
    assert "SlurmctldTimeout=120\n" in conf(controller=Controller(takeover=Interval(20)))


def test_one_node_needs_no_brackets_and_none_needs_no_line() -> None:
    assert "NodeName=worker-0 " in conf(worker=NodeSet(size=1))
    empty = conf(worker=NodeSet(size=0))
    assert "NodeName=" not in empty
    assert "PartitionName=main Default=YES" in empty


def test_a_partition_spans_static_and_dynamic_nodesets() -> None:
    sets = {"burst": NodeSet(size=1, kind="dynamic", max_size=8)}
    both = {"main": Partition(default=True, node_sets=["worker", "burst"])}
    text = conf(worker=NodeSet(size=2), node_sets=sets, partitions=both)
    assert "PartitionName=main Nodes=worker-[0-1],burst " in text
    assert "NodeSet=burst Feature=burst" in text
    assert "MaxNodeCount=10" in text


def test_a_partition_of_all_nodes_says_so_in_one_word() -> None:
    assert "PartitionName=main Nodes=ALL Default=YES" in conf(worker=NodeSet(size=2))
    assert "PartitionName=main Nodes=ALL " in conf(worker=NodeSet(size=0, kind="dynamic", max_size=8))
    assert "PartitionName=main Default=YES" in conf(worker=NodeSet(size=0))


@pytest.mark.parametrize("shape", TARGETS, ids=str)
def test_the_files_of_any_large_cluster_are_small(shape: Shape) -> None:
    assert sum(len(text) for text in render(cluster(shape)).values()) < 200_000


def test_generic_resources_stand_in_both_files() -> None:
    gpu = NodeSet(size=2, gpus=Gpus(count=4, type="h100"), gres={"fpga": Gres(count=2, file="/dev/fpga[0-1]")})
    files = render(Settings(node_sets={"gpu": gpu}))
    assert " Gres=gpu:h100:4,fpga:2 " in files["slurm.conf"]
    assert "GresTypes=fpga,gpu\n" in files["slurm.conf"]
    assert "NodeName=gpu-[0-1] AutoDetect=nvidia Name=gpu Type=h100\n" in files["gres.conf"]
    assert "NodeName=gpu-[0-1] Name=fpga File=/dev/fpga[0-1]\n" in files["gres.conf"]


def test_devices_of_dynamic_nodes_are_known_before_they_come() -> None:
    gpu = NodeSet(kind="dynamic", max_size=8, gpus=Gpus(count=4), gres={"fpga": Gres(file="/dev/fpga0")})
    files = render(Settings(node_sets={"gpu": gpu}))
    assert "NodeName=gpu-[0-7] AutoDetect=nvidia Name=gpu\n" in files["gres.conf"]
    assert "NodeName=gpu-[0-7] Name=fpga File=/dev/fpga0\n" in files["gres.conf"]
    assert "NodeName=gpu-0 CPUs=1 RealMemory=1024 Gres=gpu:4,fpga:1 " in files["dynamic-nodes.conf"]


def test_keys_of_the_users_own_stand_together_and_ours_go() -> None:
    text = conf(slurm=Slurm(extra={"killwait": "60", "Epilog": "/etc/slurm/epilog one"}))
    assert "KillWait=30" not in text
    assert text.endswith('\n\n# From slurm.extra\nKillWait=60\nEpilog="/etc/slurm/epilog one"\n')


def test_no_comment_of_ours_explains_what_the_user_has_decided_otherwise() -> None:
    plain = conf(accounting={"enabled": True}).splitlines()
    decided = conf(accounting={"enabled": True}, slurm=Slurm(extra={"InactiveLimit": "60", "MaxArraySize": "50"}))
    gone = [line for line in plain if line not in decided.splitlines()]
    assert [line.split("=")[0] for line in gone if not line.startswith("#")] == ["InactiveLimit", "MaxArraySize"]
    assert [line[:30] for line in gone if line.startswith("#")] == [
        "# Never: a job does not end be",
        "# One more than the largest in",
    ]
    weights = {f"PriorityWeight{each}": "1" for each in ("Age", "Fairshare", "QOS")}
    some = conf(accounting={"enabled": True}, slurm=Slurm(extra={"PriorityWeightAge": "1"}))
    assert "# Computed from the accounting database.\nPriorityWeightFairshare=" in some
    assert "# Computed from" not in conf(accounting={"enabled": True}, slurm=Slurm(extra=weights))
    selected = conf(slurm=Slurm(extra={"SelectType": "select/linear"}))
    assert "\n# Scheduling\n# Jobs use up" in selected
    burst = NodeSet(kind="dynamic", max_size=2)
    assert "speaks to each node" not in conf(worker=burst, slurm=Slurm(extra={"TreeWidth": "32"}))


@pytest.mark.parametrize("key", ["KillWait", "SchedulerType", "SlurmctldDebug", "PrologFlags", "SelectTypeParameters"])
def test_a_default_says_why(key: str) -> None:
    lines = conf().splitlines()
    [at] = [at for at, line in enumerate(lines) if line.startswith(f"{key}=")]
    assert lines[at - 1].startswith("# ")
    assert lines[at - 1].endswith(".")


def test_limits_of_jobs_say_why() -> None:
    lines = render(Settings())["cgroup.conf"].splitlines()
    for at in (at for at, line in enumerate(lines) if line.startswith("Constrain")):
        assert lines[at - 1].startswith("# A job ")


def test_memory_of_jobs_that_ask_for_none_is_counted_in_one_way() -> None:
    assert "DefMemPerCPU=1024\n" in conf()
    for key in ("DefMemPerNode", "DefMemPerGPU"):
        text = conf(slurm=Slurm(extra={key: "512"}))
        assert "DefMemPerCPU" not in text
        assert f"{key}=512\n" in text
    assert "DefMemPerCPU=512\n" in conf(slurm=Slurm(extra={"defmempercpu": "512"}))


def test_memory_per_cpu_is_that_of_the_leanest_node_that_there_may_be() -> None:
    lean = NodeSet(size=0, cpus=4, memory=MemorySize.parse("1Gi"))
    assert "DefMemPerCPU=1024\n" in conf(node_sets={"lean": lean})
    soon = lean.model_copy(update={"kind": "dynamic", "max_size": 2})
    assert "DefMemPerCPU=256\n" in conf(node_sets={"lean": soon})
    assert "DefMemPerCPU=896\n" in conf(worker=NodeSet(extra={"MemSpecLimit": "128"}))
    assert "DefMemPerCPU=256\n" in conf(worker=lean)


def test_without_cgroups_nothing_asks_for_them() -> None:
    files = render(Settings(), cgroup_v2=False)
    assert files["cgroup.conf"].endswith("CgroupPlugin=disabled\n")
    assert "cgroup" not in files["slurm.conf"].replace("Without cgroups", "")


def test_topology_is_a_file_only_where_there_is_one() -> None:
    assert "topology.conf" not in render(Settings())
    tree = Topology(plugin="tree", switches={"spine": SwitchAbove(switches=["rack1"])})
    files = render(Settings(worker=NodeSet(size=2, topology=Place(switch="rack1")), slurm=Slurm(topology=tree)))
    assert "SwitchName=rack1 Nodes=worker-[0-1]\nSwitchName=spine Switches=rack1\n" in files["topology.conf"]
    assert "TopologyPlugin=topology/tree" in files["slurm.conf"]


def test_an_empty_leaf_is_there_for_nodes_to_come() -> None:
    tree = Topology(plugin="tree", switches={"spine": SwitchAbove(switches=["rack1", "rack2"])})
    here = NodeSet(size=0, topology=Place(switch="rack1"))
    soon = {"burst": NodeSet(kind="dynamic", max_size=4, topology=Place(switch="rack2"))}
    files = render(Settings(worker=here, node_sets=soon, slurm=Slurm(topology=tree)))
    assert "SwitchName=rack1\nSwitchName=rack2\nSwitchName=spine Switches=rack1,rack2\n" in files["topology.conf"]


def test_a_dynamic_node_says_itself_where_it_is() -> None:
    assert hardware("burst", NodeSet(kind="dynamic", topology=Place(switch="rack2")))["Topology"] == "default:rack2"
    assert "Topology" not in hardware("worker", NodeSet(topology=Place(switch="rack2")))
    assert "Topology" not in hardware("burst", NodeSet(kind="dynamic", topology=Place(node_label="x/rack")))


def test_switches_of_node_labels_hang_below_one_that_is_declared() -> None:
    racks = NodeSet(kind="dynamic", max_size=4, topology=Place(node_label="x/rack", below="spine"))
    tree = Topology(plugin="tree", switches={"spine": SwitchAbove()})
    settings = Settings(worker=racks, slurm=Slurm(topology=tree))
    assert render(settings)["topology.conf"].endswith("\nSwitchName=spine\n")
    assert topology.of_node(settings, racks, "rack7") == "default:spine:rack7"
    assert topology.before_label(racks) == "default:spine:"
    with pytest.raises(ValueError, match="has no label x/rack"):
        topology.of_node(settings, racks, "")


def test_blocks_of_node_labels_are_declared() -> None:
    blocks = NodeSet(kind="dynamic", max_size=4, topology=Place(node_label="x/block"))
    network = Topology(plugin="block", blocks=["b1", "b2"], block_sizes=[2])
    settings = Settings(worker=blocks, slurm=Slurm(topology=network))
    assert render(settings)["topology.conf"].endswith("BlockName=b1\nBlockName=b2\nBlockSizes=2\n")
    assert topology.of_node(settings, blocks, "b2") == "default:b2"
    with pytest.raises(ValueError, match=r"x/block=b3: no such block in slurm\.topology\.blocks \(b1, b2\); add it"):
        topology.of_node(settings, blocks, "b3")


def test_mpi_and_private_folders_are_files_only_where_they_are_wanted() -> None:
    plain = render(Settings())
    assert not {"mpi.conf", "namespace.yaml"} & set(plain)
    assert "MpiDefault=none\n" in plain["slurm.conf"]
    wanted = Slurm(cgroup="disabled", private_tmp=True, mpi=Mpi(default="pmi2", pmix={"pmixtimeout": "600"}))
    files = render(Settings(slurm=wanted))
    assert "MpiDefault=pmi2\n" in files["slurm.conf"]
    assert files["mpi.conf"].endswith("\nPMIxTimeout=600\n")
    assert "PrologFlags=Contain\nNamespaceType=namespace/linux\n" in files["slurm.conf"]
    inside = yaml.safe_load(files["namespace.yaml"])["defaults"]
    assert [each["path"] for each in inside["dir_confs"]] == ["/mnt/jail/tmp", "/mnt/jail/var/tmp", "/mnt/jail/dev/shm"]
    assert not inside["base_path"].startswith(places.SPOOL + "/")


def test_private_folders_take_a_restart_of_the_workers() -> None:
    found = plan(render(Settings()), render(Settings(slurm=Slurm(private_tmp=True))))
    assert {(step.object, step.cls) for step in found.steps} == {
        ("slurm.conf", "restart-workers"),
        ("namespace.yaml", "restart-workers"),
    }


def test_a_size_of_shared_memory_holds_for_private_ones_and_does_not_change_with_the_number_of_nodes() -> None:
    def written(size: int) -> str:
        node_sets = {"gpu": NodeSet(size=size, shared_memory=MemorySize.parse("512Mi"))}
        return render(Settings(node_sets=node_sets, slurm=Slurm(private_tmp=True)))["namespace.yaml"]

    found = yaml.safe_load(written(1))
    [gpu] = found["node_confs"]
    assert gpu["nodes"] == ["gpu-[0-65535]"]
    folders = {each["path"]: each for each in gpu["options"]["dir_confs"]}
    assert list(folders) == [each["path"] for each in found["defaults"]["dir_confs"]]
    assert folders["/mnt/jail/dev/shm"] == {"path": "/mnt/jail/dev/shm", "tmpfs": True, "options": "size=512m"}
    assert written(1) == written(7)


def test_scripts_are_files_and_plugins_that_read_them() -> None:
    files = render(Settings(slurm=Slurm(job_submit_lua="-- one\n\n\n", cli_filter_lua="-- two")))
    assert (files["job_submit.lua"], files["cli_filter.lua"]) == ("-- one\n", "-- two\n")
    assert "\nJobSubmitPlugins=lua\n" in files["slurm.conf"]
    assert "\nCliFilterPlugins=lua\n" in files["slurm.conf"]
    own = Slurm(job_submit_lua="-- one", extra={"JobSubmitPlugins": "all_partitions,lua"})
    assert render(Settings(slurm=own))["slurm.conf"].count("JobSubmitPlugins=") == 1
    found = plan(files, files | {"job_submit.lua": "-- three\n", "cli_filter.lua": "-- four\n"})
    assert {(step.object, step.cls) for step in found.steps} == {
        ("job_submit.lua", "reconfigure"),
        ("cli_filter.lua", "reconfigure"),
    }


def test_mail_goes_through_a_server_or_to_a_program() -> None:
    assert "\nMailProg=/bin/true\n" in render(Settings())["slurm.conf"]
    server = {"host": "mail.example.com", "port": 587, "tls": "starttls", "sender": "slurm@example.com"}
    files = render(Settings.model_validate({"slurm": {"mail": {"domain": "example.com", "smtp": server}}}))
    assert f"\nMailProg={places.MAIL}\nMailDomain=example.com\n" in files["slurm.conf"]
    assert files["mail.conf"].splitlines()[1:] == [f"{key}={value}" for key, value in server.items()]
    other = render(Settings.model_validate({"slurm": {"mail": {"program": "#!/bin/sh\ntrue"}}}))
    assert other["mail-program"] == "#!/bin/sh\ntrue\n"
    assert {(step.object, step.cls) for step in plan(files, other).steps} == {
        ("slurm.conf", "reconfigure"),
        ("mail.conf", "reconfigure"),
        ("mail-program", "reconfigure"),
    }


def test_limits_of_nodes_are_not_those_of_the_session_that_a_job_comes_from() -> None:
    def key(**extra: str) -> list[str]:
        node_sets = {"gpu": NodeSet(limits=JobLimits(stack=SizeLimit(None)))}
        text = render(Settings(node_sets=node_sets, slurm=Slurm(extra=extra)))["slurm.conf"]
        return [line for line in text.splitlines() if line.startswith("PropagateResourceLimits")]

    assert key() == ["PropagateResourceLimitsExcept=MEMLOCK,NOFILE,STACK"]
    assert key(PropagateResourceLimits="ALL") == ["PropagateResourceLimits=ALL"]


def test_no_key_stands_twice() -> None:
    for make in CLUSTERS.values():
        lines = [line for line in render(make())["slurm.conf"].splitlines() if line and not line.startswith("#")]
        keys = [line.split("=", 1)[0] for line in lines]
        repeated = {"NodeName", "PartitionName", "NodeSet"}
        once = [key for key in keys if key not in repeated]
        assert len(set(once)) == len(once)


def test_nodes_that_slurm_starts_and_stops_have_a_line_of_their_own() -> None:
    """Those that always run are like all others, and no power saving ever touches them."""
    sets = {"elastic": NodeSet(size=8, autoscale=Autoscale(min=2, idle=Interval(300)), grace_period=Interval(40))}
    text = render(Settings(node_sets=sets))["slurm.conf"]
    always, cloud = [line for line in text.splitlines() if line.startswith("NodeName=elastic")]
    assert always.startswith("NodeName=elastic-[0-1] NodeHostname=elastic-[0-1] NodeAddr=elastic-[0-1].elastic.")
    assert "State=" not in always
    assert cloud.startswith("NodeName=elastic-[2-7] ")
    assert cloud.endswith(" State=CLOUD SuspendTime=300")
    for wanted in (
        "ResumeTimeout=900",
        "SuspendTimeout=40",
        "SlurmctldParameters=enable_configless,idle_on_node_suspend",
    ):
        assert f"\n{wanted}\n" in text
    assert "Nodes=worker-0,elastic-[0-7]" in text or "Nodes=ALL" in text


@pytest.mark.parametrize(
    ("least", "lines"), [(0, ["elastic-[0-2]"]), (2, ["elastic-[0-1]", "elastic-2"]), (3, ["elastic-[0-2]"])]
)
def test_there_is_a_line_only_for_nodes_that_there_are(least: int, lines: list[str]) -> None:
    text = render(Settings(node_sets={"elastic": NodeSet(size=3, autoscale=Autoscale(min=least))}))["slurm.conf"]
    found = [line.split()[0].removeprefix("NodeName=") for line in text.splitlines() if line.startswith("NodeName=el")]
    assert found == lines


def test_without_autoscaled_node_sets_there_is_no_power_saving() -> None:
    text = render(Settings())["slurm.conf"]
    assert not [key for key in ("Suspend", "Resume", "CLOUD", "idle_on_node") if key in text]


def test_every_generic_resource_is_counted_and_types_that_are_billed_on_their_own() -> None:
    """slurmctld would not start with a weight for what it does not count."""
    worker = NodeSet(gpus=Gpus(count=2, type="h100"), gres={"fpga": Gres(count=1)})
    weights = {"CPU": "1", "GRES/gpu": "8", "GRES/gpu:h100": "12"}
    main = Partition(default=True, tres_billing_weights=weights)
    text = render(Settings(worker=worker, partitions={"main": main}, accounting=Accounting(enabled=True)))["slurm.conf"]
    assert "\nAccountingStorageTRES=gres/fpga,gres/gpu,gres/gpu:h100\n" in text
