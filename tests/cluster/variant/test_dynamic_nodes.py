"""Dynamic nodes make themselves known when they start, and are forgotten when they go."""

from tests.cluster.changes import change_burst, uids
from tests.cluster.dev.test_pods_come_and_go import SECONDS, replaced, seconds_without
from tests.cluster.dev.test_researcher import submitted
from tests.cluster.stacks import Stack, until

ON_BURST = "--partition=everything --constraint=fast"


def nodes(stack: Stack) -> list[str]:
    """The nodes of the dynamic NodeSet that Slurm knows."""
    shown = stack.run("sinfo --noheader --Node --partition=everything --format='%N %f'").splitlines()
    return sorted(line.split()[0] for line in shown if "burst" in line.split()[1].split(","))


def test_a_dynamic_node_registers_itself(variant: Stack) -> None:
    assert "burst-0" not in variant.run("cat /etc/slurm/slurm.conf")
    shown = variant.run("scontrol show node burst-0")
    assert "DYNAMIC_NORM" in shown
    assert "AvailableFeatures=burst,fast" in shown
    assert "Gres=token:4" in shown


def test_its_place_is_the_label_of_the_kubernetes_node_that_it_runs_on(variant: Stack) -> None:
    node = variant.kubectl("get", "pod", "burst-0", "-o", "jsonpath={.spec.nodeName}")
    label = variant.kubectl("get", "node", node, "-o", "jsonpath={.metadata.labels.slipway/role}")
    assert variant.kubectl("logs", "burst-0", "-c", "node-label").strip() == f"Topology=default:spine:{label}"
    leaf = variant.run("scontrol show topology node=burst-0").splitlines()
    assert [line for line in leaf if line.split()[0] == f"SwitchName={label}" and "Nodes=burst-0" in line], leaf
    # The token is for that one question: nothing of it is left in what jobs run in.
    assert variant.ssh(f"srun {ON_BURST} ls /var/run/secrets").returncode != 0


def test_jobs_reach_it_by_partition_and_by_feature(variant: Stack) -> None:
    assert variant.run("srun --partition=everything --nodes=2 hostname | sort").split() == ["burst-0", "worker-0"]
    for feature in ("fast", "burst"):
        assert variant.run(f"srun --partition=everything --constraint={feature} hostname") == "burst-0"
    assert variant.run("srun --partition=everything --constraint=worker hostname") == "worker-0"
    refused = variant.ssh("srun --partition=main --constraint=fast hostname")
    assert "not available" in refused.stderr


def test_a_dynamic_pod_that_ends_comes_back_and_takes_jobs(variant: Stack) -> None:
    assert seconds_without(variant, "burst-0", f"srun {ON_BURST} hostname") < SECONDS
    address = variant.kubectl("get", "pod", "burst-0", "-o", "jsonpath={.status.podIP}")
    for where in ("", "srun --nodelist=worker-0 "):
        assert variant.run(f"{where}getent hosts burst-0").split()[0] == address


def test_a_job_on_a_dynamic_pod_that_ends_may_finish_first(variant: Stack) -> None:
    job = submitted(variant.run(f"sbatch {ON_BURST} --output=finish.txt --wrap 'sleep 6; echo finished'"))
    variant.wait_for_job(job, "RUNNING")
    replaced(variant, "burst-0")
    assert variant.wait_for_job(job)["Restarts"] == "0"
    assert variant.run("cat finish.txt") == "finished"
    assert variant.run(f"srun {ON_BURST} hostname") == "burst-0"


def test_a_dynamic_pod_that_is_killed_gives_its_job_back_to_the_queue(variant: Stack) -> None:
    script = "test -e ~/again || { touch ~/again; sleep 600; }; echo $SLURM_RESTART_COUNT > ~/again"
    variant.run("rm -f ~/again")
    job = submitted(variant.run(f"sbatch {ON_BURST} -o /dev/null --requeue --wrap '{script}'"))
    until(lambda: variant.ssh("test -e ~/again").returncode == 0, "the job to have begun")
    variant.kubectl("delete", "pod", "burst-0", "--force", "--grace-period=0")
    assert variant.wait_for_job(job, "PENDING")["Restarts"] == "1"
    # Slurm lets two minutes pass before it runs a job again; nobody wants to wait here.
    variant.run(f"scontrol update JobId={job} StartTime=now")
    variant.wait_for_job(job)
    assert variant.run("cat ~/again") == "1"
    assert "Reason=" not in variant.run("scontrol show node burst-0")


def test_growing_and_shrinking_a_dynamic_node_set(variant: Stack) -> None:
    running = submitted(variant.run(f"sbatch {ON_BURST} --nodelist=burst-0 -o /dev/null --wrap 'sleep 30'"))
    variant.wait_for_job(running, "RUNNING")
    others = {name: uid for name, uid in uids(variant).items() if not name.startswith("burst-")}
    change_burst(variant, size=3)
    variant.up()
    assert nodes(variant) == ["burst-0", "burst-1", "burst-2"]
    where = variant.run(f"srun {ON_BURST} --exclude=burst-0 --nodes=2 hostname | sort").split()
    assert where == ["burst-1", "burst-2"]
    change_burst(variant, size=2)
    variant.up()
    until(lambda: nodes(variant) == ["burst-0", "burst-1"], "burst-2 to be forgotten")
    assert variant.wait_for_job(running)["Restarts"] == "0"
    assert variant.run(f"srun {ON_BURST} --nodes=2 hostname | sort").split() == ["burst-0", "burst-1"]
    assert {name: uid for name, uid in uids(variant).items() if not name.startswith("burst-")} == others
    variant.up("--expect-no-changes")
