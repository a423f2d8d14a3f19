"""Plans: what is a change and what is not, in which order steps come, and what they look like."""

import json
import re
import shlex

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as how
from hypothesis import strategies as st

from config import Settings
from slurm.changes import Plan, Step, plan
from slurm.keys import EXECUTION, SEVERITY, SLURM_CONF
from slurm.render import render
from tests.unit.slurm.clusters import clusters

BASE = """
ClusterName=dev
SlurmctldHost=controller-0
KillWait=30
PriorityMaxAge=7-0
PrivateData=jobs,usage
NodeName=worker-[0-3] NodeAddr=worker-[0-3].svc CPUs=2 RealMemory=1000 Feature=worker
PartitionName=main Nodes=worker-[0-3] MaxTime=60 Default=YES
"""


def change(old: str, new: str) -> Plan:
    return plan({"slurm.conf": BASE + old}, {"slurm.conf": BASE + new})


def only(found: Plan) -> Step:
    assert len(found.steps) == 1, found.table()
    return found.steps[0]


def test_the_first_deploy_has_no_steps() -> None:
    found = plan(None, {"slurm.conf": BASE})
    assert (found.steps, found.cls, found.refused, found.touches_jobs) == ((), "none", False, False)
    assert found.table() == "No changes."


@pytest.mark.parametrize(
    "line",
    [
        "Frob=1",
        "NodeName=worker-9 Frob=1",
        "NodeName=DEFAULT Frob=1",
        "NodeName=DEFAULT Frob=1\nNodeName=worker-9",
        "PartitionName=p Frob=1",
        "PartitionName=DEFAULT Frob=1",
        "PartitionName=DEFAULT Frob=1\nPartitionName=DEFAULT MaxTime=5",
        "NodeSet=s Nodes=worker-0 Frob=1",
        "DownNodes=worker-0 Frob=1",
        "DownNodes=worker-0 State=DRAIN Frob=1",
        "DownNodes=worker-0 Frob=1\nDownNodes=worker-0",
        "PowerAction=a Program=/a Frob=1",
    ],
)
def test_an_unknown_key_is_refused_wherever_it_stands(line: str) -> None:
    found = change("", f"{line}\n")
    assert found.refused, found.table()
    assert "Frob is no key" in found.steps[0].reason
    assert not change(f"{line}\n", "").refused


def test_a_default_that_goes_to_the_end_with_an_unknown_key_is_refused() -> None:
    unknown, node = "NodeName=DEFAULT Frob=1\n", "NodeName=worker-9\n"
    assert change(unknown + node, node + unknown).refused


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "# a comment\n\n"),
        ("", "NodeName=DEFAULT CPUs=4\nPartitionName=DEFAULT MaxTime=5\n"),
        ("KillWait=5\nEpilog=a\n", "Epilog = a\nkillwait=5 # later\n"),
        ("", "KillWait=30\nSchedulerType=Sched/Backfill\nTreeWidth=16\n"),
        ("PriorityMaxAge=7-0\n", "PriorityMaxAge=168:00:00\n"),
        ("DebugFlags=Gres,Power\n", "DebugFlags=power,gres\n"),
        ("UsePAM=1\n", "UsePAM=yes\n"),
        ("SlurmctldDebug=3\n", ""),
        ("Epilog=a\n", "Epi\\\nlog=\\\na\n"),
    ],
)
def test_what_means_the_same_is_no_change(old: str, new: str) -> None:
    assert change(old, new) == Plan()


@pytest.mark.parametrize(
    ("line", "key", "cls"),
    [
        ("SchedulerParameters=bf_continue", "SchedulerParameters", "reconfigure"),
        ("SlurmctldPort=7000", "SlurmctldPort", "restart-controller"),
        ("SlurmdPort=7000", "SlurmdPort", "restart-workers"),
        ("SelectType=select/linear", "SelectType", "drain-first"),
        ("AuthType=auth/slurm", "AuthType", "drain-first"),
        ("StateSaveLocation=/elsewhere", "StateSaveLocation", "refused"),
        ("Frobnicate=1", "Frobnicate", "refused"),
        ("SlurmctldHost=controller-1", "SlurmctldHost", "restart-controller"),
        ("PowerAction=up Program=/bin/up", "PowerAction up", "reconfigure"),
        ("SlurmctldParameters=cloud_dns", "SlurmctldParameters", "reconfigure"),
        ("SlurmctldParameters=cloud_dns,enable_configless", "SlurmctldParameters", "restart-controller"),
        ("SlurmctldParameters=conmgr_threads=4", "SlurmctldParameters", "restart-controller"),
        ("SlurmdParameters=config_overrides", "SlurmdParameters", "reconfigure"),
        ("SlurmdParameters=L3Cache_as_socket", "SlurmdParameters", "drain-first"),
        ("CommunicationParameters=keepalivetime=30", "CommunicationParameters", "reconfigure"),
        ("CommunicationParameters=EnableIPv6", "CommunicationParameters", "restart-workers"),
    ],
)
def test_a_key_gets_the_class_of_the_table(line: str, key: str, cls: str) -> None:
    step = only(change("", line))
    assert (step.object, step.key, step.cls) == ("slurm.conf", key, cls)
    followed = {"SlurmctldPort": "restart-workers"}.get(key, cls)
    assert step.touches_jobs == (followed in ("restart-workers", "drain-first"))


def test_what_has_to_follow_touches_jobs_too() -> None:
    step = only(change("", "SlurmctldPort=7000\n"))
    assert (step.cls, step.also, step.touches_jobs) == ("restart-controller", ("restart-workers",), True)
    assert (step.nodes, step.nodesets, step.partitions) == ("worker-[0-3]", ("worker",), ("main",))


def test_only_the_options_that_change_count() -> None:
    old, new = ("SlurmctldParameters=enable_configless,cloud_dns\n", "SlurmctldParameters=Enable_Configless\n")
    assert only(change(old, new)).cls == "reconfigure"


def test_the_cluster_is_drained_for_what_would_lose_its_jobs() -> None:
    step = only(change("", "SelectType=select/linear\n"))
    assert step.commands == ("scontrol update NodeName=ALL State=DRAIN Reason=slipway:change",)
    assert (step.nodes, step.nodesets, step.partitions) == ("worker-[0-3]", ("worker",), ("main",))


def test_the_log_level_changes_live() -> None:
    step = only(change("", "SlurmctldDebug=debug2\n"))
    assert (step.cls, step.commands) == ("live", ("scontrol setdebug debug2",))
    assert only(change("SlurmctldDebug=debug2\n", "")).commands == ("scontrol setdebug info",)


def test_taking_out_an_unknown_key_is_not_refused() -> None:
    assert only(change("Frobnicate=1\n", "")).cls == "reconfigure"


def test_passwords_are_not_shown() -> None:
    step = only(change("AccountingStoragePass=hunter2\n", "AccountingStoragePass=hunter3\n"))
    assert (step.old, step.new) == ("(hidden)", "(hidden)")
    assert "hunter" not in json.dumps(Plan((step,)).to_json())


def test_steps_come_in_the_order_of_execution_and_the_worst_one_names_the_plan() -> None:
    restarts = "SlurmdPort=1\nAuthAltTypes=auth/jwt\n"
    found = change("", f"{restarts}KillWait=5\nSlurmctldDebug=debug\nSelectType=select/linear\nClusterName=x\n")
    assert [step.cls for step in found.steps] == [cls for cls in EXECUTION if cls != "restart-slurmdbd"]
    assert (found.cls, found.refused, found.touches_jobs) == ("refused", True, True)


def test_json_has_exactly_the_promised_keys() -> None:
    found = change("", "KillWait=5\n")
    assert json.loads(json.dumps(found.to_json())) == {
        "class": "reconfigure",
        "steps": [
            {
                "class": "reconfigure",
                "object": "slurm.conf",
                "key": "KillWait",
                "old": "30",
                "new": "5",
                "reason": SLURM_CONF["KillWait"].reason,
                "commands": ["scontrol reconfigure"],
            }
        ],
    }


def test_the_table_is_aligned_and_not_wider_than_asked() -> None:
    members = ",".join(f"worker-{at}" for at in range(0, 400, 2))
    found = change(
        "", f"Frobnicate=1\nKillWait=5\nNodeSet=even Nodes={members}\nPartitionName=even Nodes=worker-[0-3]\n"
    )
    lines = found.table().splitlines()
    assert re.match(r"CLASS +OBJECT +KEY +CHANGE$", lines[0])
    assert max(map(len, lines)) <= 120
    rows = [line for line in lines if line.startswith(SEVERITY)]
    assert len(rows) == len(found.steps)
    assert {row.index(step.object) for row, step in zip(rows, found.steps, strict=True)} == {lines[0].index("OBJECT")}
    assert any(line.strip() == "$ scontrol create PartitionName=even 'Nodes=worker-[0-3]'" for line in lines)


def test_the_table_says_whom_a_step_concerns() -> None:
    def told(found: Plan) -> list[str]:
        return [line.strip() for line in found.table().splitlines() if "NodeSets:" in line or "jobs end" in line]

    assert told(change("", "KillWait=5\n")) == []
    drained = "NodeSets: worker; partitions: main; running jobs end first"
    assert told(change("", "SelectType=select/linear\n")) == [drained]
    more = "".join(f"PartitionName=p{at} Nodes=worker-0\n" for at in range(5))
    named = "NodeSets: worker; partitions: main, p0, p1 and 3 more"
    weight = plan({"slurm.conf": BASE + more}, {"slurm.conf": (BASE + more).replace("CPUs=2", "CPUs=2 Weight=3")})
    assert told(weight) == [named]


def test_a_long_command_can_still_be_copied() -> None:
    groups = ",".join(f"group{at}" for at in range(20))
    found = change("", f"PartitionName=p2 Nodes=worker-[0-3] AllowGroups={groups} MaxTime=1 DenyAccounts=a\n")
    command = [line.strip() for line in found.table().splitlines() if "$" in line or "=" in line][-3:]
    joined = " ".join(line.removesuffix("\\").strip() for line in command).removeprefix("$ ")
    assert shlex.split(joined) == shlex.split(found.steps[0].commands[0])


def test_control_characters_never_reach_a_command() -> None:
    with pytest.raises(ValueError, match="control character"):
        change("", "PartitionName=p2 Nodes=worker-[0-3] QOS=\x1b[2J\n")
    with pytest.raises(ValueError, match="control character"):
        change("", 'PartitionName=p2 Nodes=worker-[0-3] QOS="a\tb"\n')


def test_an_error_names_the_file_and_the_line() -> None:
    with pytest.raises(ValueError, match=r"slurm\.conf line 1: 'nonsense' is not of the form"):
        plan({}, {"slurm.conf": "nonsense"})


QUOTED = re.compile(r"'[^']*'" + r'|"[^"]*"')

keys = st.sampled_from([*sorted(set(SLURM_CONF) - {"SlurmctldHost"}), "Frobnicate", "Colour"])
values = st.text(st.characters(codec="ascii", categories=["L", "N"], include_characters=" /;$&|<>'*?[]-,"), min_size=1)
settings = st.dictionaries(keys, values.map(str.strip).filter(bool), max_size=8)


def written(given: dict[str, str]) -> dict[str, str]:
    return {"slurm.conf": "".join(f'{key}="{value}"\n' for key, value in given.items())}


@given(settings)
def test_nothing_changes_between_equal_files(given: dict[str, str]) -> None:
    assert plan(written(given), written(dict(reversed(given.items())))) == Plan()


@given(settings, settings)
def test_every_changed_key_has_exactly_one_step(old: dict[str, str], new: dict[str, str]) -> None:
    found = plan(written(old), written(new))
    changed = [step.key for step in found.steps]
    assert len(changed) == len(set(changed))
    for key in {*old, *new}:
        known = SLURM_CONF.get(key)
        same = known.same(old.get(key), new.get(key)) if known else old.get(key) == new.get(key)
        assert (key in changed) != same
    assert all(step.cls == "refused" for step in found.steps if step.key not in SLURM_CONF and step.new is not None)
    assert [step.cls for step in found.steps] == sorted((step.cls for step in found.steps), key=EXECUTION.index)


@given(st.sampled_from(["AllowGroups", "QOS", "Alternate", "MaxTime"]), values.map(str.strip).filter(bool))
def test_commands_give_back_their_values_and_nothing_else(field: str, value: str) -> None:
    new = BASE.replace("MaxTime=60", f'MaxTime=60 {field}="{value}"' if field != "MaxTime" else f'MaxTime="{value}"')
    for step in plan({"slurm.conf": BASE}, {"slurm.conf": new}).steps:
        for command in step.commands:
            assert shlex.split(command) in (
                ["scontrol", "update", "PartitionName=main", f"{field}={value}"],
                ["scontrol", "reconfigure"],
            )
            assert "\n" not in command
            assert not re.search(r"[;&|<>$*?\[\]]", QUOTED.sub("", command))


@how(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(clusters(), clusters())
def test_what_we_render_ourselves_is_never_refused(old: Settings, new: Settings) -> None:
    found = plan(render(old), render(new))
    assert not found.refused, found.table()
    assert plan(render(old), render(old)) == Plan()
