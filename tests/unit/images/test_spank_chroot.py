"""The chroot plugin as slurmstepd would load it, on mounts in a namespace that ends with each test."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCES = HERE.parents[2] / "images" / "common" / "spank"

# As an ordinary user, in a namespace where that user is root.
AS_ROOT = [] if os.geteuid() == 0 else ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
NAMESPACE = ["unshare", *AS_ROOT, "--mount", "--propagation", "private"]

EXTERN, BATCH, INTERACTIVE = "0xfffffffc", "0xfffffffb", "0xfffffffa"
ESPANK_NODE_FAILURE = 3011

A_JAIL = 'mount -t tmpfs jail "$JAIL" && mkdir "$JAIL/proc" "$JAIL/home"'


@dataclass
class Outcome:
    """Where the plugin's hook left its caller."""

    returned: int = -1
    task_returned: int = -1
    namespace: str = ""
    step_groups: str = ""
    groups: str = ""
    directory: str = ""
    root: set[str] = field(default_factory=set)
    descriptors: set[str] = field(default_factory=set)
    mounts: dict[str, str] = field(default_factory=dict)
    errors: str = ""

    @property
    def stayed(self) -> bool:
        return self.namespace == "old" and "usr" in self.root


Step = Callable[..., Outcome]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin from its own Makefile, and a program to load it."""
    assert shutil.which("cc"), "needs a C compiler: install gcc (`make unit` does, as root)"
    folder = tmp_path_factory.mktemp("spank")
    headers = f"-I{HERE / 'include'}"
    make = ["make", "--silent", f"--file={SOURCES / 'Makefile'}", f"VPATH={SOURCES}", f"CPPFLAGS={headers}"]
    subprocess.run(make, cwd=folder, check=True)
    driver = ["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-rdynamic", headers, "-o", folder / "driver"]
    subprocess.run([*driver, HERE / "plugin_driver.c"], check=True)
    return folder


@pytest.fixture
def jail(tmp_path: Path) -> Path:
    """The directory that is called the jail. What, if anything, is mounted on it is up to the test."""
    folder = tmp_path / "jail"
    folder.mkdir()
    return folder


@pytest.fixture
def step(built: Path, jail: Path) -> Step:
    """Prepare the mounts with a line of shell, then run the hook."""

    def run(
        *,
        prepare: str = A_JAIL,
        context: str = "remote",
        number: str = "0",
        forbidden: str = "nothing",
        arguments: list[str] | None = None,
        wrapper: tuple[str, ...] = (),
        finish: str = ":",
    ) -> Outcome:
        arguments = [f"jail={jail}"] if arguments is None else arguments
        driver = [*wrapper, built / "driver", built / "chroot.so", context, number, forbidden, *arguments]
        # Not exec: `finish` looks at the mounts that slurmd would have.
        script = f'set -e; {prepare}; "$@"; {finish}'
        environment = {**os.environ, "JAIL": str(jail)}
        done = subprocess.run(
            [*NAMESPACE, "sh", "-c", script, "sh", *driver], env=environment, capture_output=True, text=True, timeout=30
        )
        assert done.returncode == 0, done.stderr
        return _outcome(done.stdout, done.stderr)

    return run


def _outcome(output: str, errors: str) -> Outcome:
    outcome = Outcome(errors=errors)
    for line in output.splitlines():
        key, _, value = line.partition(" ")
        match key:
            case "returned" | "task_returned":
                setattr(outcome, key, int(value))
            case "root":
                outcome.root = set(value.split())
            case "descriptors":
                outcome.descriptors = set(value.split())
            case "mount":
                outcome.mounts[value.split()[4]] = value
            case "namespace" | "step_groups" | "groups" | "directory":
                setattr(outcome, key, value)
    return outcome


def _mounted_here(jail: Path) -> list[str]:
    """What a step could have left on this machine, whose other mounts come and go."""
    points = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [point for point in points if point in ("/", "/proc") or point.startswith(str(jail))]


@pytest.mark.parametrize("number", ["0", "17", BATCH, INTERACTIVE])
def test_a_step_finds_itself_in_the_jail_and_nowhere_else(step: Step, jail: Path, number: str) -> None:
    before = _mounted_here(jail)
    outcome = step(number=number)
    assert (outcome.returned, outcome.errors) == (0, "")
    assert outcome.root == {"proc", "home"}
    assert outcome.directory == "/"
    # Of the old root nothing is left, not even out of sight.
    assert set(outcome.mounts) == {"/", "/proc"}
    assert outcome.descriptors == {"0", "1", "2"}
    assert _mounted_here(jail) == before


def test_the_step_gets_a_proc_of_its_own_over_what_the_jail_has(step: Step) -> None:
    outcome = step(prepare=A_JAIL + ' && mount -t tmpfs decoy "$JAIL/proc"')
    assert " - proc proc " in outcome.mounts["/proc"]
    assert {"nosuid", "nodev", "noexec"} <= set(outcome.mounts["/proc"].split()[5].split(","))
    # Others' processes are not to be seen in it: the word is for kernels from 5.8 on.
    assert {"hidepid=invisible", "hidepid=2"} & set(outcome.mounts["/proc"].split()[-1].split(","))


def test_what_the_node_mounted_into_the_jail_is_there(step: Step) -> None:
    outcome = step(prepare=A_JAIL + ' && mount -t tmpfs data "$JAIL/home"')
    assert set(outcome.mounts) == {"/", "/home", "/proc"}


def test_slurmd_keeps_its_mounts_where_they_are_shared(step: Step, tmp_path: Path) -> None:
    look = f"cat /proc/self/mountinfo > {tmp_path}"
    outcome = step(prepare=f"{A_JAIL}; mount --make-rshared /; {look}/before", finish=f"{look}/after")
    assert outcome.returned == 0
    assert (tmp_path / "after").read_text() == (tmp_path / "before").read_text()


def test_what_the_node_mounts_later_will_reach_the_step(step: Step) -> None:
    outcome = step(prepare=A_JAIL + "; mount --make-rshared /")
    assert " master:" in outcome.mounts["/"]
    assert " shared:" not in outcome.mounts["/"]


def test_a_task_sees_control_groups_from_where_it_is_and_slurmstepd_as_before(step: Step) -> None:
    outcome = step()
    assert (outcome.task_returned, outcome.step_groups, outcome.groups) == (0, "old", "new")


def test_names_of_control_groups_fit_the_tree_where_that_is_the_whole_nodes(step: Step) -> None:
    outcome = step(prepare=A_JAIL + ' && mkdir -p "$JAIL/sys/fs/cgroup" && mount -t cgroup2 none "$JAIL/sys/fs/cgroup"')
    assert (outcome.task_returned, outcome.groups) == (0, "old")


def test_a_task_fails_and_says_why_if_it_cannot_have_a_view_of_its_own(step: Step) -> None:
    outcome = step(forbidden="cgroup")
    assert (outcome.returned, outcome.task_returned) == (0, ESPANK_NODE_FAILURE)
    assert outcome.errors == (
        "chroot: cannot make a cgroup namespace: Function not implemented. "
        "slurmd needs CAP_SYS_ADMIN: its container must be privileged.\n"
    )


@pytest.mark.parametrize("context", ["local", "allocator", "slurmd", "job_script"])
@pytest.mark.parametrize("arguments", [["jail=/nowhere"], [], ["jial=/mnt/jail"]])
def test_outside_slurmstepd_it_does_nothing(step: Step, context: str, arguments: list[str]) -> None:
    outcome = step(context=context, arguments=arguments)
    assert (outcome.returned, outcome.errors, outcome.stayed) == (0, "", True)


def test_the_extern_step_stays_on_the_node(step: Step) -> None:
    outcome = step(number=EXTERN)
    assert (outcome.returned, outcome.errors, outcome.stayed) == (0, "", True)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([], "gives 0, the first: (none)"),
        (["jial=/mnt/jail"], "gives 1, the first: jial=/mnt/jail"),
        (["jail="], "jail="),
        (["jail=mnt/jail"], "jail=mnt/jail"),
        (["jail=/mnt/jail", "proc=no"], "gives 2"),
    ],
)
def test_a_step_fails_if_the_arguments_are_not_understood(step: Step, arguments: list[str], shown: str) -> None:
    outcome = step(arguments=arguments)
    assert outcome.returned == ESPANK_NODE_FAILURE
    assert outcome.stayed
    assert "plugstack.conf must give this plugin one argument, jail=/absolute/path" in outcome.errors
    assert shown in outcome.errors


def test_a_step_fails_if_slurm_does_not_say_which_it_is(step: Step) -> None:
    outcome = step(number="unknown")
    assert outcome.returned == ESPANK_NODE_FAILURE
    assert outcome.stayed
    assert "does not tell which step" in outcome.errors


WITHOUT_ADMIN = ("setpriv", "--bounding-set", "-sys_admin")


@dataclass
class Failure:
    message: str
    prepare: str = A_JAIL
    forbidden: str = "nothing"
    jail: str = ""
    wrapper: tuple[str, ...] = ()


FAILURES = {
    "the jail is missing": Failure(
        "cannot find the jail's directory (/no/such/jail): No such file or directory. See jail= in plugstack.conf",
        jail="/no/such/jail",
    ),
    "the jail is a file": Failure(
        "cannot find the jail's directory (/etc/passwd): Not a directory. See jail= in plugstack.conf",
        jail="/etc/passwd",
    ),
    "nothing is mounted on the jail": Failure(
        "cannot find a mount at the jail's directory ({jail}): Invalid argument. The jail's volume is not mounted",
        prepare=":",
    ),
    "slurmd may not make namespaces": Failure(
        "cannot make a mount namespace ({jail}): Operation not permitted. slurmd needs CAP_SYS_ADMIN",
        wrapper=WITHOUT_ADMIN,
    ),
    "mounts cannot be made slaves": Failure(
        "cannot make all mounts slaves ({jail}): Function not implemented. slurmd needs CAP_SYS_ADMIN",
        forbidden="slave",
    ),
    "the jail cannot be entered": Failure(
        "cannot change directory to the jail ({jail}): Function not implemented. Root must be allowed to enter",
        forbidden="chdir jail",
    ),
    "the jail is the root already": Failure(
        "cannot pivot_root into the jail (/): Device or resource busy. The jail must be a mount point other than /",
        jail="/",
    ),
    "the old root cannot be unmounted": Failure(
        "cannot unmount the old root ({jail}): Function not implemented. slurmd needs CAP_SYS_ADMIN",
        forbidden="umount",
    ),
    "the new root cannot be entered": Failure(
        "cannot change directory to the new root ({jail}): Function not implemented. Root must be allowed to enter",
        forbidden="chdir root",
    ),
    "the jail has no /proc": Failure(
        "cannot mount proc on /proc inside the jail ({jail}): No such file or directory. The jail must have a",
        prepare='mount -t tmpfs jail "$JAIL"',
    ),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_a_step_fails_and_says_why_if(step: Step, jail: Path, failure: Failure) -> None:
    before = _mounted_here(jail)
    outcome = step(
        prepare=failure.prepare,
        forbidden=failure.forbidden,
        arguments=[f"jail={failure.jail or jail}"],
        wrapper=failure.wrapper,
    )
    assert outcome.returned == ESPANK_NODE_FAILURE
    assert outcome.errors.startswith("chroot: " + failure.message.format(jail=jail))
    assert outcome.errors.count("\n") == 1
    assert _mounted_here(jail) == before


def test_each_way_to_fail_has_a_test() -> None:
    """One more step on the way into the jail asks for one more line above."""
    table = (SOURCES / "jail.c").read_text().partition("} steps[] = {")[2].partition("};")[0]
    names = [line.split('"')[1] for line in table.splitlines() if line.startswith("\t{")]
    tested = {failure.message.partition("cannot ")[2].partition(" (")[0] for failure in FAILURES.values()}
    assert set(names) == tested
