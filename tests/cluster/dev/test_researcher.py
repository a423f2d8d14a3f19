"""What a researcher does all day: as on any other Slurm cluster, through ssh."""

import re
import subprocess

import pytest

from tests.cluster.stacks import Stack, until

COMMANDS = ["sinfo", "squeue", "sbatch", "srun", "salloc", "scancel", "scontrol", "sacct", "sstat", "sprio", "sshare"]


def submitted(output: str) -> str:
    found = re.search(r"Submitted batch job (\d+)", output)
    assert found, output
    return found[1]


def test_the_commands_are_where_they_always_are(dev: Stack) -> None:
    assert dev.run("which sbatch") == "/usr/bin/sbatch"
    found = dev.run(f"which {' '.join([*COMMANDS, 'sattach', 'sbcast', 'sdiag', 'strigger'])}").split()
    assert all(path.startswith("/usr/bin/") for path in found)
    versions = {dev.run(f"{command} --version").split()[-1] for command in COMMANDS}
    assert versions == {"26.05.5"}


def test_a_login_starts_at_home_with_a_clean_environment(dev: Stack) -> None:
    assert dev.run("pwd; whoami; hostname; id -un; id -gn").split() == [
        "/home/researcher",
        "researcher",
        "login-0",
        "researcher",
        "researcher",
    ]
    for where in ("", "srun "):
        assert not re.search("kube|k8s|munge", dev.run(f"{where}env"), re.IGNORECASE)


def test_the_prompt_says_who_and_where(dev: Stack) -> None:
    done = subprocess.run(dev.ssh_argv("-tt"), input="exit\n", capture_output=True, text=True, timeout=60)
    assert "researcher@login-0:~$ " in done.stdout


def test_sinfo_and_squeue_look_as_usual(dev: Stack) -> None:
    header, *rows = dev.run("sinfo").splitlines()
    assert header.split() == ["PARTITION", "AVAIL", "TIMELIMIT", "NODES", "STATE", "NODELIST"]
    assert rows[0].split()[:3] == ["main*", "up", "1-00:00:00"]
    assert dev.run("squeue").split()[:8] == [
        "JOBID",
        "PARTITION",
        "NAME",
        "USER",
        "ST",
        "TIME",
        "NODES",
        "NODELIST(REASON)",
    ]


def test_commands_that_only_ask_answer(dev: Stack) -> None:
    for command in ("scontrol ping", "scontrol show config", "sdiag", "scontrol show nodes"):
        dev.run(command)
    # These read the accounting database, and say so while there is none.
    for command in ("sacct", "sshare"):
        said = dev.ssh(command)
        assert "account" in (said.stdout + said.stderr).lower(), said


def test_a_batch_job_writes_where_it_was_submitted(dev: Stack) -> None:
    script = "#!/bin/bash\n#SBATCH --job-name=first\necho on $(hostname) in $(pwd)\nenv | grep ^SLURM_ | sort\n"
    dev.run("mkdir -p ~/runs && cat > ~/runs/job.sh", stdin=script)
    job = submitted(dev.run("cd ~/runs && sbatch --ntasks=2 job.sh"))
    dev.wait_for_job(job)
    output = dev.run(f"cat ~/runs/slurm-{job}.out")
    assert re.match(r"on worker-\d in /home/researcher/runs\n", output)
    variables = dict(line.split("=", 1) for line in output.splitlines()[1:])
    assert variables["SLURM_JOB_ID"] == job
    assert variables["SLURM_JOB_NAME"] == "first"
    assert variables["SLURM_CLUSTER_NAME"] == "dev"
    assert variables["SLURM_SUBMIT_DIR"] == "/home/researcher/runs"
    assert variables["SLURM_NTASKS"] == "2"
    assert variables["SLURM_JOB_NODELIST"] == "worker-[0-1]"
    assert variables["SLURM_CPUS_ON_NODE"] == "1"
    assert variables["SLURM_JOB_PARTITION"] == "main"


def test_output_chdir_and_arguments_go_where_the_user_says(dev: Stack) -> None:
    job = submitted(
        dev.run("mkdir -p ~/a ~/b; sbatch --chdir=$HOME/a --output=$HOME/b/%x-%j.txt --job-name=named --wrap 'pwd'")
    )
    dev.wait_for_job(job)
    assert dev.run(f"cat ~/b/named-{job}.txt") == "/home/researcher/a"


def test_srun_passes_stdin_exit_codes_and_labels(dev: Stack) -> None:
    assert dev.run("srun --label cat", stdin="one\ntwo\n").splitlines() == ["0: one", "0: two"]
    failed = dev.ssh("srun bash -c 'exit 7'")
    assert failed.returncode == 7
    assert "Exited with exit code 7" in failed.stderr


def test_two_nodes_work_on_one_job(dev: Stack) -> None:
    assert sorted(dev.run("srun -N2 hostname").split()) == ["worker-0", "worker-1"]


def test_an_interactive_shell_has_a_terminal(dev: Stack) -> None:
    script = "srun --pty bash -i"
    typed = "tty; hostname; stty size; exit\n"
    argv = [*dev.ssh_argv("-tt"), script]
    done = subprocess.run(argv, input=typed, capture_output=True, text=True, timeout=120)
    assert re.search(r"/dev/pts/\d", done.stdout), done
    assert re.search(r"worker-\d", done.stdout), done


def test_salloc_gives_an_allocation_to_work_in(dev: Stack) -> None:
    said = dev.ssh("salloc -N1 bash -c 'echo $SLURM_JOB_ID; srun hostname'")
    assert said.returncode == 0, said
    assert "Granted job allocation" in said.stderr
    assert re.fullmatch(r"\d+\nworker-\d\n", said.stdout)


def test_an_array_runs_every_task_once(dev: Stack) -> None:
    job = submitted(dev.run("mkdir -p ~/array; sbatch --array=1-6%3 -o 'array/%a' --wrap 'echo $SLURM_ARRAY_TASK_ID'"))
    until(lambda: dev.run(f"squeue --noheader --jobs={job} 2>/dev/null || true") == "", "the array to finish", 180)
    assert dev.run("cat ~/array/[1-6]").split() == list("123456")


def test_dependencies_are_kept(dev: Stack) -> None:
    first = submitted(dev.run("sbatch -o /dev/null --wrap 'sleep 3; date +%s%N > ~/first.txt'"))
    second = submitted(dev.run(f"sbatch -o /dev/null -d afterok:{first} --wrap 'date +%s%N > ~/second.txt'"))
    assert "Dependency" in dev.run(f"squeue --noheader --jobs={second} --format=%R")
    dev.wait_for_job(second)
    before, after = dev.run("cat ~/first.txt ~/second.txt").split()
    assert int(before) < int(after)


def test_cancel_sends_the_signals_that_a_program_expects(dev: Stack) -> None:
    trap = "#!/bin/bash\ntrap 'echo got USR1; exit 0' USR1\necho ready\nwhile :; do sleep 0.2; done\n"
    dev.run("cat > ~/trap.sh", stdin=trap)
    job = submitted(dev.run("sbatch --output=trap.txt trap.sh"))
    until(lambda: "ready" in dev.ssh("cat ~/trap.txt").stdout, "the job to be ready")
    dev.run(f"scancel --batch --signal=USR1 {job}")
    dev.wait_for_job(job)
    assert "got USR1" in dev.run("cat ~/trap.txt")
    endless = submitted(dev.run("sbatch -o /dev/null --wrap 'sleep 600'"))
    dev.wait_for_job(endless, "RUNNING")
    dev.run(f"scancel {endless}")
    dev.wait_for_job(endless, "CANCELLED")


def test_priorities_of_jobs_that_wait_are_shown(dev: Stack) -> None:
    first = submitted(dev.run("sbatch -o /dev/null --exclusive -N2 --wrap 'sleep 600'"))
    dev.wait_for_job(first, "RUNNING")
    second = submitted(dev.run("sbatch -o /dev/null --exclusive -N2 --wrap true"))
    try:
        row = until(lambda: dev.run("sprio --noheader").split(), "sprio to show the job")
        assert row[:2] == [second, "main"]
        assert int(row[2]) > 0
        assert dev.run("sprio").split()[:3] == ["JOBID", "PARTITION", "PRIORITY"]
    finally:
        dev.run(f"scancel {first} {second}")


def test_triggers_are_for_administrators_as_everywhere(dev: Stack) -> None:
    assert "Access/permission denied" in dev.ssh("strigger --set --node --down --program=/bin/true").stderr
    dev.admin("strigger", "--set", "--node", "--down", "--program=/bin/true")
    header, row = dev.run("strigger --get").splitlines()
    assert header.split()[:4] == ["TRIG_ID", "RES_TYPE", "RES_ID", "TYPE"]
    assert row.split()[1:] == ["node", "*", "down", "0", "slurm", "/bin/true"]
    dev.admin("strigger", "--clear", f"--id={row.split()[0]}")
    assert dev.run("strigger --get") == ""


def test_files_are_broadcast_to_where_the_jobs_find_them(dev: Stack) -> None:
    dev.run("echo everywhere > ~/source; rm -f ~/target; srun -N2 rm -f /tmp/target /tmp/program")
    copy = "sbcast ~/source /tmp/target && sbcast --force ~/source ~/target && srun cat /tmp/target && cat ~/target"
    assert dev.run(f"salloc --quiet -N2 bash -c '{copy}'").split() == ["everywhere"] * 3
    assert sorted(dev.run("srun -N2 --bcast=/tmp/program /bin/hostname").split()) == ["worker-0", "worker-1"]
    assert dev.run("srun -N2 stat -c %U /tmp/target /tmp/program").split() == ["researcher"] * 4


def test_a_running_job_can_be_looked_into(dev: Stack) -> None:
    job = submitted(dev.run("sbatch -o /dev/null --wrap 'srun sleep 600'"))
    dev.wait_for_job(job, "RUNNING")
    shown = dev.run(f"scontrol show job {job}")
    assert "UserId=researcher(10001)" in shown
    assert "WorkDir=/home/researcher" in shown
    # Without accounting nobody counts what a step uses; but it is asked, and answers.
    asked = f"sstat --noheader --parsable2 --format=JobID,AllocTRES {job}.0"
    step, has = until(lambda: dev.ssh(asked).stdout.strip(), "the step to answer").split("|")
    assert step == f"{job}.0"
    assert has.startswith("cpu=1,mem=")
    assert dev.run(f"srun --overlap --jobid={job} hostname").startswith("worker-")
    dev.run(f"scancel {job}")


def test_what_is_built_on_the_login_node_runs_in_a_job(dev: Stack) -> None:
    source = '#include <stdio.h>\nint main(void) { puts("compiled"); return 0; }\n'
    dev.run("cat > ~/hello.c && gcc -O2 -Wall -o ~/hello ~/hello.c", stdin=source)
    assert dev.run("srun ~/hello") == "compiled"


def test_a_python_environment_is_the_same_in_a_job(dev: Stack) -> None:
    dev.run("python3 -m venv --without-pip ~/venv", seconds=180)
    script = "import sys; print(sys.prefix)"
    assert dev.run(f"srun ~/venv/bin/python -c '{script}'") == "/home/researcher/venv"


MPI = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, size, length, sum;
    char name[MPI_MAX_PROCESSOR_NAME];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(name, &length);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d of %d on %s, sum %d\\n", rank, size, name, sum);
    MPI_Finalize();
    return 0;
}
"""


def test_mpi_talks_between_two_nodes(dev: Stack) -> None:
    dev.run("cat > ~/mpi.c && mpicc -o ~/mpi ~/mpi.c", stdin=MPI)
    job = submitted(dev.run("sbatch -N2 -n2 --output=mpi.txt --wrap 'mpirun ~/mpi'"))
    dev.wait_for_job(job, seconds=180)
    lines = sorted(line for line in dev.run("cat ~/mpi.txt").splitlines() if " of " in line)
    assert lines == ["0 of 2 on worker-0, sum 1", "1 of 2 on worker-1, sum 1"]


def test_files_are_the_same_everywhere_and_tmp_is_not(dev: Stack) -> None:
    dev.run("echo from login > ~/shared.txt; echo login > /tmp/mine")
    assert dev.run("srun cat ~/shared.txt") == "from login"
    assert dev.ssh("srun cat /tmp/mine").returncode != 0
    dev.run("srun --nodelist=worker-0 bash -c 'echo here > /tmp/node'")
    assert dev.run("srun --nodelist=worker-0 cat /tmp/node") == "here"
    assert dev.ssh("srun --nodelist=worker-1 cat /tmp/node").returncode != 0


@pytest.mark.parametrize("size", [1, 5_000_000])
def test_files_are_copied_with_scp_and_sftp(dev: Stack, tmp_path_factory: pytest.TempPathFactory, size: int) -> None:
    file = tmp_path_factory.mktemp("copy") / "data"
    file.write_bytes(b"x" * size)
    ssh = dev.ssh_argv()
    port = ssh.index("-p")
    scp = ["scp", *ssh[1:port], "-P", *ssh[port + 1 : -1], str(file), f"{ssh[-1]}:data"]
    subprocess.run(scp, check=True, capture_output=True, timeout=120)
    assert dev.run("stat -c %s ~/data") == str(size)
