"""slurm.conf and its friends, as Slurm's own parser reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurm.conf import ConfError, lines, parse

EXAMPLE = """
# a comment
clustername=dev   # and another
SLURMCTLDHOST=controller-0(10.0.0.1)
SlurmctldHost=controller-1

PriorityWeightQos = 100
InteractiveStepOptions="--interactive --pty $SHELL"
SchedulerParameters=bf_continue,\\
bf_window=1440
NodeName=DEFAULT cpus=4 Weight=2
nodename=worker-[0-1] feature=worker procs=8
NodeName=gpu-0 RealMemory=1000
NodeSet=gpus Nodes=gpu-0
DownNodes=gpu-0 State=DRAIN Reason="bad fan"
PartitionName=DEFAULT MaxTime=60
PartitionName=main nodes=worker-[0-1] default=yes
PartitionName=long Nodes=gpus MaxTime=UNLIMITED
"""


def test_keys_have_the_spelling_of_the_manual_and_lines_their_fields() -> None:
    conf = parse(EXAMPLE)
    assert conf.keys == {
        "ClusterName": "dev",
        "PriorityWeightQOS": "100",
        "InteractiveStepOptions": "--interactive --pty $SHELL",
        "SchedulerParameters": "bf_continue,bf_window=1440",
    }
    assert conf.nodesets == {"gpus": {"Nodes": "gpu-0"}}
    assert conf.lines["SlurmctldHost"] == (
        {"SlurmctldHost": "controller-0(10.0.0.1)"},
        {"SlurmctldHost": "controller-1"},
    )
    assert conf.lines["DownNodes"] == ({"DownNodes": "gpu-0", "State": "DRAIN", "Reason": "bad fan"},)


def test_default_lines_hold_for_the_lines_after_them() -> None:
    conf = parse(EXAMPLE)
    assert conf.nodes == {
        "worker-[0-1]": {"CPUs": "8", "Weight": "2", "Features": "worker"},
        "gpu-0": {"CPUs": "4", "Weight": "2", "RealMemory": "1000"},
    }
    assert conf.partitions == {
        "main": {"MaxTime": "60", "Nodes": "worker-[0-1]", "Default": "yes"},
        "long": {"MaxTime": "UNLIMITED", "Nodes": "gpus"},
    }


def test_the_last_of_two_equal_keys_counts_as_it_does_for_slurm() -> None:
    assert parse("MailDomain=a\nmaildomain=b\n").keys == {"MailDomain": "b"}


def test_an_unknown_key_is_kept_as_it_is_written() -> None:
    assert parse("Frobnicate=1\nNodeName=n1 Colour=red").keys == {"Frobnicate": "1"}
    assert parse("NodeName=n1 Colour=red").nodes == {"n1": {"Colour": "red"}}


def test_a_hash_after_a_backslash_is_no_comment() -> None:
    assert parse(r"MailDomain=a\#b # c").keys == {"MailDomain": "a#b"}


def test_included_files_are_read_in_place() -> None:
    conf = parse("include nodes.conf\nMailDomain=a", files={"nodes.conf": "NodeName=n1 CPUs=1\n"})
    assert conf.nodes == {"n1": {"CPUs": "1"}}
    assert conf.lines["Include"] == ({"Include": "nodes.conf"},)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nMailDomain", r"slurm.conf line 2: 'MailDomain' is not of the form Key=Value"),
        ("MailDomain=", "line 1: MailDomain has no value"),
        ("NodeName=n1 Topology= Weight=2", "Topology has no value, and Slurm would take 'Weight=2' for it"),
        ("MailDomain=a MailProg=b", "MailProg needs a line of its own"),
        ("MailDomain=a b", "'b' is not of the form"),
        ('MailDomain="a', "a quote is not closed"),
        ('MailDomain="a#b"', "a quote is not closed"),
        ("#\n\nMailDomain=\x07", r"line 3: control character '\\x07'"),
        ("MailDomain=a\\", "line 1: the file ends in a line that a backslash continues"),
        ("NodeName=n1\nNodeName=n1", "line 2: NodeName=n1 is there twice"),
        ("PartitionName=p\nPartitionName=p", "line 2: PartitionName=p is there twice"),
        ("Include /etc/other.conf", "Include /etc/other.conf: it is not among the files"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(text: str, message: str) -> None:
    with pytest.raises(ConfError, match=message):
        parse(text)


def test_a_file_that_includes_itself_is_an_error() -> None:
    with pytest.raises(ConfError, match=r"b.conf line 1: Include a.conf: it includes itself"):
        parse("Include a.conf", files={"a.conf": "Include b.conf", "b.conf": "Include a.conf"})


keys = st.sampled_from(["MailDomain", "ClusterName", "Epilog", "DebugFlags"])
values = st.text(st.characters(codec="ascii", categories=["L", "N", "P"], exclude_characters='"#\\'), min_size=1)


@given(st.dictionaries(keys, values), st.booleans())
def test_what_is_written_is_read(written: dict[str, str], spaced: bool) -> None:
    equals = " = " if spaced else "="
    text = "".join(f'{key.lower()}{equals}"{value}"  # {value}\n\n' for key, value in written.items())
    assert parse(text).keys == written


def test_lines_of_other_files_keep_their_order_and_numbers() -> None:
    found = list(lines("# x\nSwitchName=s0 Nodes=n[0-1]\n\nSwitchName=s1 Switches=s0\n", "topology.conf"))
    assert [(line.number, line.head) for line in found] == [(2, ("SwitchName", "s0")), (4, ("SwitchName", "s1"))]
