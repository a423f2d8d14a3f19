"""What scontrol prints, read."""

from operations.nodes import parse
from operations.shown import Shown, records

ANSWER = """\
=== config
Configuration data as of 2027-01-15T08:00:00
BOOT_TIME               = 2027-01-15T07:59:58
SchedulerParameters     = bf_continue,bf_interval=60
SLURM_CONF              = /etc/slurm/slurm.conf
JobCompLoc              =

Slurmctld(primary) at controller-0 is UP
=== partitions
PartitionName=main AllowGroups=ALL Default=YES MaxTime=UNLIMITED Nodes=worker-[0-1] JobDefaults=DefCpuPerGPU=2
PartitionName=debug AllowGroups=ALL Default=NO MaxTime=01:00:00 Nodes=worker-0 JobDefaults=(null)
=== nodes
NodeName=worker-0 Arch=x86_64 CPUTot=1 AvailableFeatures=a,b Gres=gpu:h100:4(S:0-1) NodeAddr=worker-0.worker \
OS=Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01) RealMemory=1024 State=IDLE+DRAIN \
SlurmdStartTime=2027-01-15T07:00:00 CfgTRES=cpu=1,mem=1G,billing=1 AllocTRES= \
Reason=bad disk: Expected=4 disks, found=3 [root@2027-01-15T07:30:00]
NodeName=worker-1 Arch=x86_64 CPUTot=1 State=MIXED+DYNAMIC_NORM+NOT_RESPONDING SlurmdStartTime=None
"""


def test_config_values_are_by_key_and_may_have_an_equals_sign() -> None:
    config = Shown.parse(ANSWER).config
    assert config["SchedulerParameters"] == "bf_continue,bf_interval=60"
    assert config["BOOT_TIME"] == "2027-01-15T07:59:58"
    assert "Configuration data as of 2027-01-15T08:00:00" not in config


def test_partitions_are_by_name() -> None:
    partitions = Shown.parse(ANSWER).partitions
    assert set(partitions) == {"main", "debug"}
    assert partitions["debug"]["MaxTime"] == "01:00:00"


def test_a_text_with_blanks_belongs_to_one_field() -> None:
    node = Shown.parse(ANSWER).nodes["worker-0"]
    assert node["OS"] == "Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)"
    assert node["RealMemory"] == "1024"


def test_a_value_that_looks_like_a_field_does_not_displace_one() -> None:
    """Somebody may write anything into a reason."""
    line = "NodeName=n-0 State=IDLE+DRAIN CPUTot=1 Reason=see State=DOWN and CPUTot=9 [root@2027-01-15T07:30:00]\n"
    node = records(line, "NodeName")["n-0"]
    assert (node["State"], node["CPUTot"]) == ("IDLE+DRAIN", "1")


def test_tres_are_one_value() -> None:
    node = Shown.parse(ANSWER).nodes["worker-0"]
    assert node["CfgTRES"] == "cpu=1,mem=1G,billing=1"
    assert node["AllocTRES"] == ""


def test_lines_that_are_no_records_are_passed_over() -> None:
    assert records("No nodes in the system\n\n", "NodeName") == {}
    assert records("", "NodeName") == {}


def test_a_node_is_what_its_state_reason_and_start_say() -> None:
    nodes = parse(ANSWER)
    drained, silent = nodes["worker-0"], nodes["worker-1"]
    assert drained.states == {"IDLE", "DRAIN"}
    assert drained.drained
    assert drained.responds
    assert drained.started == "2027-01-15T07:00:00"
    assert not silent.drained
    assert not silent.responds
    assert silent.reason == ""


def test_who_set_a_reason_and_when_is_no_part_of_it() -> None:
    line = "NodeName=n-0 State=IDLE+DRAIN Reason={} [slurm@2027-01-15T07:30:00]\n"
    for reason in ("slipway:change", "bad disk", "rack [b4] is wet"):
        assert parse(line.format(reason))["n-0"].reason == reason


def test_a_reason_may_have_an_equals_sign() -> None:
    line = "NodeName=n-0 State=IDLE+DRAIN Reason=disks found=3 [root@2027-01-15T07:30:00]\n"
    assert parse(line)["n-0"].reason == "disks found=3"
