"""Behind network policies everything works that people do: they do not notice them."""

import json
import subprocess

from tests.cluster.network.conftest import PORTAL, PROMETHEUS, Strangers
from tests.cluster.stacks import Stack, until

# Two tasks on two nodes, which find each other as those of an MPI program do: one tells the others its port, which is
# any, and they connect to it.
MEET = r"""
use IO::Socket::INET;
my $file = "$ENV{HOME}/meeting-$ENV{SLURM_JOB_ID}";
if ($ENV{SLURM_PROCID} == 0) {
    my $server = IO::Socket::INET->new(Listen => 1, Proto => "tcp") or die "listen: $!";
    open(my $told, ">", "$file.part"); print $told "$ENV{SLURMD_NODENAME} " . $server->sockport; close $told;
    rename "$file.part", $file;
    alarm 60; my $client = $server->accept; print "heard ", scalar <$client>;
} else {
    alarm 60; select undef, undef, undef, 0.1 until -e $file;
    open(my $told, "<", $file); my ($host, $port) = split " ", <$told>;
    my $client = IO::Socket::INET->new(PeerHost => $host, PeerPort => $port, Timeout => 20) or die "connect: $@";
    print $client "$ENV{SLURMD_NODENAME}\n";
}
"""


def test_jobs_run_and_are_remembered(guarded: Stack) -> None:
    job = guarded.run("sbatch --parsable -N2 -o /dev/null --wrap 'srun hostname'")
    guarded.wait_for_job(job)
    rows = until(lambda: guarded.run(f"sacct -nP -j {job} -o JobID,State").split(), "sacct to know it")
    assert f"{job}|COMPLETED" in rows
    assert guarded.run("sacctmgr -nP show cluster format=cluster") == "guarded"


def test_tasks_on_two_nodes_answer_where_srun_was_typed(guarded: Stack) -> None:
    assert sorted(guarded.run("srun -N2 hostname").split()) == ["worker-0", "worker-1"]
    assert guarded.run("salloc -N2 srun -N2 hostname 2> /dev/null | sort").split() == ["worker-0", "worker-1"]


def test_a_step_has_a_terminal(guarded: Stack) -> None:
    argv = [*guarded.ssh_argv("-tt"), "srun --pty bash -c 'tty; hostname'"]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert "/dev/pts/" in done.stdout, done.stdout + done.stderr
    assert "worker-" in done.stdout


def test_tasks_find_each_other_on_any_port(guarded: Stack) -> None:
    guarded.run("cat > meet.pl", stdin=MEET)
    assert guarded.run("srun -N2 perl meet.pl") == "heard worker-1"


def test_what_is_served_in_a_job_is_reached_from_the_login_node(guarded: Stack) -> None:
    serve = (
        "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(Listen => 1, LocalPort => 8888)->accept->print(qq(ok\\n))'"
    )
    job = guarded.run(f'sbatch --parsable -w worker-0 -o /dev/null --wrap "{serve}"')
    guarded.wait_for_job(job, "RUNNING")
    ask = "timeout 5 bash -c 'cat < /dev/tcp/worker-0/8888' 2> /dev/null"
    assert until(lambda: guarded.ssh(ask).stdout, "an answer of the job", 30) == "ok\n"


def test_a_node_that_sleeps_is_woken_for_a_job(guarded: Stack) -> None:
    """slurmctld asks Kubernetes' API for its pod."""
    assert guarded.run("srun -p elastic hostname", seconds=180) == "elastic-0"


def test_prometheus_has_its_metrics(strangers: Strangers) -> None:
    place = strangers.places["metrics"].replace("/", ":")
    said = strangers.run(PROMETHEUS, "curl", "--silent", "--max-time", "20", f"http://{place}/metrics")
    assert 'slipway_collector_success{collector="nodes"} 1' in said.splitlines()


def test_those_with_leave_use_the_http_interface(strangers: Strangers) -> None:
    """slurmrestd asks slurmctld for one, and slurmdbd for the other."""
    token = f"X-SLURM-USER-TOKEN: {strangers.token()}"
    for path, known in (("slurm/v0.0.45/partitions", "elastic"), ("slurmdb/v0.0.45/clusters", "guarded")):
        url = f"http://rest.guarded.svc.cluster.local:6820/{path}"
        said = json.loads(strangers.run(PORTAL, "curl", "--silent", "--max-time", "20", "-H", token, url))
        assert known in [each["name"] for each in said[path.rpartition("/")[2]]], said["errors"]
