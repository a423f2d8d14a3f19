"""The table of changes: complete by the manual, and each class where facts demand it."""

from pathlib import Path

import pytest

from config.slurm_keys import CLUSTER_KEYS, MPI_KEYS, NODE_KEYS, PARTITION_KEYS, Keys
from slurm.keys import EXECUTION, FILES, LINES, SCRIPT_KEYS, SEVERITY, SLURM_CONF, Entry, Table, find, spelling
from slurm.keys.values import flag, hosts, level, minutes, names, number, options, word


def manual() -> dict[str, list[str]]:
    """The names of all keys by the manual pages of Slurm 26.05, by file and kind of line."""
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in (Path(__file__).parent / "slurm-26.05-keys.txt").read_text().splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), [])
        elif line:
            current.append(line)
    return sections


def table(section: str) -> Table:
    name, _, line = section.partition(" ")
    if line:
        return LINES[line]
    return SLURM_CONF if name == "slurm.conf" else FILES[name].keys


def entries() -> list[tuple[str, Entry]]:
    found = [(f"{section}: {key}", entry) for section in manual() for key, entry in table(section).items()]
    found += [
        (f"{key}: {option}", special) for key, entry in SLURM_CONF.items() for option, special in entry.options.items()
    ]
    return found + [(name, file.whole) for name, file in FILES.items() if file.whole]


@pytest.mark.parametrize("section", manual())
def test_the_table_has_every_key_of_the_manual_and_no_other(section: str) -> None:
    assert sorted(table(section)) == sorted(manual()[section])


@pytest.mark.parametrize(
    ("allowed", "section"),
    [
        (CLUSTER_KEYS, "slurm.conf"),
        (NODE_KEYS, "slurm.conf NodeName"),
        (PARTITION_KEYS, "slurm.conf PartitionName"),
        (MPI_KEYS, "mpi.conf"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_a_user_may_write_is_what_the_table_knows(allowed: Keys, section: str) -> None:
    """`config` must not import the table, and so has the names once more."""
    assert sorted(allowed.known.values()) == sorted(table(section))


def test_the_manual_has_as_many_keys_as_slurm_has() -> None:
    """So that a list cut short by an editor is noticed."""
    assert {section: len(listed) for section, listed in manual().items()} == {
        "slurm.conf": 219,
        "slurm.conf NodeName": 27,
        "slurm.conf NodeSet": 3,
        "slurm.conf DownNodes": 3,
        "slurm.conf PowerAction": 3,
        "slurm.conf PartitionName": 44,
        "acct_gather.conf": 20,
        "burst_buffer.conf": 13,
        "cgroup.conf": 20,
        "gres.conf": 10,
        "helpers.conf": 7,
        "job_container.conf": 11,
        "mpi.conf": 13,
        "oci.conf": 20,
        "slurmdbd.conf": 64,
        "topology.conf": 7,
    }


def test_every_entry_has_a_class_and_a_reason_in_sentences() -> None:
    for name, entry in entries():
        assert entry.cls in SEVERITY[1:], name
        assert entry.reason.endswith("."), name
        assert len(entry.reason.split()) >= 4, name
        assert set(entry.also) <= set(SEVERITY), name


def test_every_file_is_either_read_by_keys_or_as_a_whole() -> None:
    for name, file in FILES.items():
        assert file.whole or file.shape not in ("lines", "text"), name
        assert bool(file.keys) == (file.shape in ("keys", "records", "nodes", "gres")), name
        assert set(file.heads) <= set(file.keys), name


def test_every_class_but_none_is_carried_out_at_some_point() -> None:
    assert set(EXECUTION) == set(SEVERITY) - {"none"}
    assert SEVERITY[-2:] == ("drain-first", "refused")


def test_keys_that_name_scripts_are_keys() -> None:
    assert set(SCRIPT_KEYS) <= set(SLURM_CONF)


@pytest.mark.parametrize(
    ("key", "cls"),
    [
        ("ClusterName", "refused"),
        ("StateSaveLocation", "refused"),
        ("SlurmUser", "refused"),
        ("SelectType", "drain-first"),
        ("AuthType", "drain-first"),
        ("SwitchType", "drain-first"),
        ("CredType", "drain-first"),
        ("SlurmdPort", "restart-workers"),
        ("NamespaceType", "restart-workers"),
        ("SlurmctldPort", "restart-controller"),
        ("AuthAltTypes", "restart-controller"),
        ("SlurmctldPidFile", "restart-controller"),
        ("SchedulerParameters", "reconfigure"),
        ("SchedulerType", "reconfigure"),
        ("GresTypes", "reconfigure"),
        ("PrivateData", "reconfigure"),
        ("MetricsType", "reconfigure"),
        ("JobAcctGatherType", "reconfigure"),
        ("SlurmctldDebug", "live"),
    ],
)
def test_classes_of_keys_of_the_cluster(key: str, cls: str) -> None:
    assert SLURM_CONF[key].cls == cls


@pytest.mark.parametrize(
    ("field", "cls"),
    [
        ("Weight", "live"),
        ("Features", "live"),
        ("NodeAddr", "live"),
        ("Topology", "live"),
        ("CpuBind", "live"),
        ("NodeHostname", "reconfigure"),
        ("TmpDisk", "reconfigure"),
        ("RealMemory", "restart-workers"),
        ("Port", "restart-workers"),
        ("CPUs", "drain-first"),
        ("ThreadsPerCore", "drain-first"),
        ("Gres", "drain-first"),
    ],
)
def test_classes_of_fields_of_nodes(field: str, cls: str) -> None:
    assert LINES["NodeName"][field].cls == cls


def test_only_what_scontrol_cannot_set_wholly_on_a_partition_is_not_live() -> None:
    others = {field for field, entry in LINES["PartitionName"].items() if entry.cls != "live"}
    assert others == {"ResumeTimeout", "SelectTypeParameters", "SuspendTime", "SuspendTimeout", "TRESBillingWeights"}


def test_workers_learn_of_a_new_controller_port() -> None:
    assert SLURM_CONF["SlurmctldPort"].also == ("restart-workers",)


def test_passwords_are_secret() -> None:
    secret = {name.split(": ")[-1] for name, entry in entries() if entry.secret}
    assert {
        "AccountingStoragePass",
        "JobCompPass",
        "StoragePass",
        "ProfileInfluxDBPass",
        "EnergyIPMIPassword",
    } <= secret
    assert {"slurm.key", "munge.key", "jwt_hs256.key"} <= secret


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("SchedulerParamters", "Did you mean SchedulerParameters?"),
        ("JobContainerType", "Write NamespaceType instead."),
        ("ControlMachine", "Write SlurmctldHost instead."),
        ("Frobnicate", "Take it out, or spell it as the manual of 26.05 does."),
    ],
)
def test_unknown_keys_are_refused_with_a_way_out(key: str, hint: str) -> None:
    entry = find(SLURM_CONF, key, "slurm.conf")
    assert entry.cls == "refused"
    assert f"{key} is no key of slurm.conf in Slurm 26.05" in entry.reason
    assert hint in entry.reason


def test_spelling_is_that_of_the_manual() -> None:
    assert spelling("privatedata") == "PrivateData"
    assert spelling("feature", "NodeName") == "Features"
    assert spelling("FEATURE", "NodeSet") == "Feature"
    assert spelling("Procs", "NodeName") == "CPUs"
    assert spelling("Shared", "PartitionName") == "OverSubscribe"
    assert spelling("Frobnicate") == "Frobnicate"


@pytest.mark.parametrize(
    ("same_if", "a", "b"),
    [
        (flag, "YES", "1"),
        (flag, "no", "FALSE"),
        (number, "010", "10"),
        (number, "INFINITE", "UNLIMITED"),
        (minutes, "60", "1:00:00"),
        (minutes, "1-0", "24:00:00"),
        (minutes, "1-00:00:00", "1440"),
        (minutes, "2:30", "3"),
        (minutes, "1-12:30", "2190:00"),
        (minutes, "UNLIMITED", "-1"),
        (options, "bf_continue,BF_window=3", "bf_window=3, bf_continue"),
        (names, "a,b", "b,a,"),
        (hosts, "n[1-3]", "n3,n[1-2]"),
        (word, "Sched/Backfill", "sched/backfill"),
        (level, "3", "info"),
    ],
)
def test_values_that_mean_the_same(same_if, a: str, b: str) -> None:
    assert same_if(a) == same_if(b)


@pytest.mark.parametrize(
    ("same_if", "a", "b"),
    [
        (flag, "YES", "NO"),
        (minutes, "60", "60:00:00"),
        (minutes, "1:00", "1:00:00"),
        (minutes, "soon", "60"),
        (names, "a", "A"),
        (hosts, "n[1", "n[2"),
        (number, "1", "1K"),
    ],
)
def test_values_that_do_not(same_if, a: str, b: str) -> None:
    assert same_if(a) != same_if(b)


def test_a_default_that_is_written_out_is_no_change() -> None:
    assert SLURM_CONF["KillWait"].same(None, "30")
    assert not SLURM_CONF["KillWait"].same(None, "31")
    assert not SLURM_CONF["Prolog"].same(None, "prolog.sh")
