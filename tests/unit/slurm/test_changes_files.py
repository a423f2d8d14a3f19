"""Plans for the files beside slurm.conf."""

import pytest

from slurm.changes import Plan, Step, plan

CONF = "NodeName=gpu-[0-1]\nNodeName=cpu-[0-1]\nPartitionName=main Nodes=ALL\nProlog=prolog.sh\n"


def change(name: str, old: str | None, new: str | None, before: str = CONF, after: str = CONF) -> Plan:
    files = [
        {"slurm.conf": conf} | ({} if text is None else {name: text}) for conf, text in ((before, old), (after, new))
    ]
    return plan(*files)


def only(found: Plan) -> Step:
    assert len(found.steps) == 1, found.table()
    return found.steps[0]


@pytest.mark.parametrize(
    ("name", "old", "new", "key", "cls"),
    [
        ("cgroup.conf", "ConstrainCores=no", "constraincores=YES", "ConstrainCores", "reconfigure"),
        ("cgroup.conf", None, "CgroupPlugin=cgroup/v2", "CgroupPlugin", "restart-workers"),
        ("mpi.conf", "PMIxDebug=0", "PMIxDebug=1", "PMIxDebug", "reconfigure"),
        ("oci.conf", None, 'RunTimeQuery="runc state %n"', "RunTimeQuery", "restart-workers"),
        ("acct_gather.conf", None, "EnergyIPMIFrequency=10", "EnergyIPMIFrequency", "restart-workers"),
        ("burst_buffer.conf", None, "PollInterval=10", "PollInterval", "reconfigure"),
        ("slurmdbd.conf", "", "DebugLevel=debug", "DebugLevel", "restart-slurmdbd"),
        ("slurmdbd.conf", None, "StorageLoc=a\nSlurmUser=slurm", "(file)", "restart-slurmdbd"),
        ("slurmdbd.conf", "StorageLoc=a\nAuthType=auth/munge", None, "(file)", "restart-slurmdbd"),
        ("slurmdbd.conf", "StorageLoc=a", "StorageLoc=b", "StorageLoc", "refused"),
        ("cgroup.conf", None, "Colour=red", "Colour", "refused"),
        ("topology.conf", "SwitchName=s0 Nodes=gpu-0", "SwitchName=s0 Nodes=gpu-[0-1]", "SwitchName=s0", "reconfigure"),
        ("topology.conf", "SwitchName=s0", None, "SwitchName=s0", "reconfigure"),
        ("topology.conf", "BlockSizes=2", "BlockSizes=4", "BlockSizes", "reconfigure"),
        ("topology.conf", None, "SwitchName=s0 Colour=red", "SwitchName=s0", "refused"),
        ("helpers.conf", None, "Feature=nps1 Helper=/bin/h", "Feature=nps1", "reconfigure"),
        ("job_container.conf", "BasePath=/a", "BasePath=/b", "BasePath", "restart-workers"),
        ("plugstack.conf", None, "required chroot.so /jail", "chroot.so", "reconfigure"),
        ("topology.yaml", "a: 1", "a: 2", "(file)", "reconfigure"),
        ("namespace.yaml", None, "a: 2", "(file)", "restart-workers"),
        ("job_submit.lua", "-- 1", "-- 2", "(file)", "reconfigure"),
        ("prolog.sh", "exit 0", "exit 1", "(file)", "reconfigure"),
        ("notes.txt", None, "hello", "(file)", "refused"),
        ("slurm.key", "old", "new", "(file)", "drain-first"),
    ],
)
def test_each_file_has_its_classes(name: str, old: str | None, new: str | None, key: str, cls: str) -> None:
    step = only(change(name, old, new))
    assert (step.object, step.key, step.cls) == (name, key, cls)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("cgroup.conf", "ConstrainCores=no\nMinRAMSpace=30", "# only defaults"),
        ("cgroup.conf", None, ""),
        ("topology.conf", "SwitchName=s0 Nodes=a,b\nSwitchName=s1", "SwitchName=s1\nSwitchName=s0 Nodes=b,a # x"),
        ("topology.yaml", "a: 1 # one\n", "\n# two\na: 1"),
        ("plugstack.conf", "required  a.so", "# x\nrequired a.so"),
        (
            "gres.conf",
            "NodeName=gpu-[0-1] Name=gpu Count=2",
            "NodeName=gpu-1 Count=2 Name=gpu\nNodeName=gpu-0 name=gpu count=2",
        ),
    ],
)
def test_what_means_the_same_is_no_change(name: str, old: str | None, new: str) -> None:
    assert change(name, old, new) == Plan()


def test_an_unknown_key_in_a_new_slurmdbd_conf_is_refused() -> None:
    found = change("slurmdbd.conf", None, "StorageLoc=a\nColour=red\n")
    assert [(step.key, step.cls) for step in found.steps] == [("Colour", "refused"), ("(file)", "restart-slurmdbd")]


def test_a_script_counts_comments_too() -> None:
    assert only(change("prolog.sh", "#!/bin/sh\n", "#!/bin/bash\n")).cls == "reconfigure"


def test_another_argument_of_a_spank_plugin_is_one_step() -> None:
    step = only(change("plugstack.conf", "required a.so /jail", "required a.so /other"))
    assert (step.key, step.old, step.new) == ("a.so", "required a.so /jail", "required a.so /other")


def test_the_order_of_spank_plugins_matters() -> None:
    step = only(change("plugstack.conf", "required a.so\nrequired b.so", "required b.so\nrequired a.so"))
    assert (step.key, step.cls) == ("(order)", "reconfigure")


def test_other_devices_of_nodes_that_stay_are_drained_first() -> None:
    old = "NodeName=gpu-[0-1] Name=gpu File=/dev/nvidia[0-1]"
    new = "NodeName=gpu-0 Name=gpu File=/dev/nvidia[0-1]\nNodeName=gpu-1 Name=gpu File=/dev/nvidia[0-3]"
    step = only(change("gres.conf", old, new))
    assert (step.cls, step.nodes, step.partitions) == ("drain-first", "gpu-1", ("main",))
    assert step.commands == ("scontrol update NodeName=gpu-1 State=DRAIN Reason=slipway:change",)


def test_devices_of_new_nodes_touch_no_others() -> None:
    old, new = ("NodeName=gpu-[0-1] Name=gpu File=/dev/x", "NodeName=gpu-[0-3] Name=gpu File=/dev/x")
    found = change("gres.conf", old, new, after=CONF.replace("gpu-[0-1]", "gpu-[0-3]"))
    assert {(step.object, step.cls, step.nodes) for step in found.steps} == {
        ("node gpu-[2-3]", "reconfigure", "gpu-[2-3]"),
        ("gres.conf", "reconfigure", "gpu-[2-3]"),
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Name=gpu Count=1", "Name=gpu Count=1 Colour=red"),
        ("Name=gpu Count=1 Colour=red", "Name=gpu Count=1 Colour=blue"),
        ("NodeName=gpu-0 Name=gpu Colour=red", "NodeName=gpu-[0-1] Name=gpu Colour=red"),
    ],
)
def test_an_unknown_key_of_gres_conf_is_refused_wherever_it_is_new(old: str, new: str) -> None:
    refusals = [step.key for step in change("gres.conf", old, new).steps if step.cls == "refused"]
    assert refusals == ["Colour"]
    assert not change("gres.conf", new, old.replace(" Colour=red", "")).refused


def test_devices_without_a_node_are_those_of_all_nodes() -> None:
    step = only(change("gres.conf", "Name=gpu Count=1", "Name=gpu Count=2"))
    assert (step.cls, step.nodes) == ("drain-first", "cpu-[0-1],gpu-[0-1]")


def test_unknown_keys_of_gres_conf_are_refused() -> None:
    found = change("gres.conf", "NodeName=gpu-0 Name=gpu", "NodeName=gpu-0 Name=gpu Colour=red")
    assert [(step.key, step.cls) for step in found.steps] == [("Colour", "refused"), ("(devices)", "drain-first")]


def test_secrets_are_not_shown_and_files_only_as_a_digest() -> None:
    step = only(change("slurmdbd.conf", "StoragePass=hunter2", "StoragePass=hunter3"))
    assert (step.old, step.new) == ("(hidden)", "(hidden)")
    assert only(change("munge.key", "a", "b")).new == "(hidden)"
    new = only(change("prolog.sh", "a\n", "b\nc\n")).new
    assert new is not None
    assert new.startswith("2 lines, sha256 ")


def test_included_files_are_part_of_slurm_conf() -> None:
    old = {"slurm.conf": "Include more.conf\n", "more.conf": "KillWait=5\n"}
    assert plan(old, {"slurm.conf": "KillWait=5\n"}) == Plan()
    step = only(plan(old, old | {"more.conf": "KillWait=6\n"}))
    assert (step.object, step.key, step.cls) == ("slurm.conf", "KillWait", "reconfigure")


def test_a_script_that_nothing_names_any_more_may_go_with_its_key() -> None:
    found = change("prolog.sh", "exit 0", None, after=CONF.replace("Prolog=prolog.sh\n", ""))
    assert {(step.object, step.key, step.cls) for step in found.steps} == {
        ("slurm.conf", "Prolog", "reconfigure"),
        ("prolog.sh", "(file)", "reconfigure"),
    }
