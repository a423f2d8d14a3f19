"""The dashboards. `python -m monitoring.panels` writes their files anew."""

from pathlib import Path

from monitoring.grafana import GREEN, ORANGE, RED, Panel, dashboard, stat, up_or_down

FOLDER = Path(__file__).parent / "dashboards"
HERE = 'namespace=~"$namespace"'
NAMESPACE = {"namespace": "label_values(slipway_slurmctld_up, namespace)"}
NONE_IS_WELL = ((None, GREEN), (1, RED))
MIB = 1048576  # Slurm counts memory in these, also where a metric's name says bytes


def _by_node_set(metric: str) -> str:
    """A number that slurmctld tells for each node, added up by NodeSet."""
    node_set = f'label_replace({metric}{{{HERE}}}, "nodeset", "$1", "node", "(.+)-[0-9]+")'
    return f'sum by (nodeset) ({node_set}) and on (nodeset) group by (nodeset) (slipway_nodes{{nodeset=~"$nodeset"}})'


def cluster() -> str:
    full = f"1 - slipway_jail_available_bytes{{{HERE}}} / slipway_jail_size_bytes{{{HERE}}}"
    panels = [
        up_or_down("slurmctld", f"min(slipway_slurmctld_up{{{HERE}}})", "Whether it says that it is ready."),
        stat("Nodes", f"sum(slurm_nodes{{{HERE}}})"),
        stat(
            "Out of service, no owner",
            f'sum(slipway_nodes_out_of_service{{{HERE},owner="none"}}) or vector(0)',
            "Drained or down, by Slurm itself. See NodeSets.",
            steps=NONE_IS_WELL,
        ),
        stat("Jobs that run", f"sum(slurm_jobs_running{{{HERE}}})"),
        stat("Jobs that wait", f"sum(slurm_jobs_pending{{{HERE}}})"),
        stat(
            "Drift",
            f"sum(slipway_config_drift{{{HERE}}})",
            "Things that run otherwise than the stack says. `slipway drift` names them.",
            steps=NONE_IS_WELL,
        ),
        Panel(
            "Nodes",
            {"{{state}}": f"sum by (state) (slipway_nodes{{{HERE}}})"},
            "busy: jobs run on it. off: stopped until it is needed.",
            stacked=True,
        ),
        Panel(
            "CPUs",
            {"all": f"sum(slurm_node_cpus{{{HERE}}})", "taken by jobs": f"sum(slurm_node_cpus_alloc{{{HERE}}})"},
        ),
        Panel(
            "Memory",
            {
                "all": f"sum(slurm_node_memory_bytes{{{HERE}}}) * {MIB}",
                "taken by jobs": f"sum(slurm_node_memory_alloc_bytes{{{HERE}}}) * {MIB}",
            },
            unit="bytes",
        ),
        Panel(
            "Shared root",
            {"{{namespace}}": full},
            "How much of it is taken.",
            kind="gauge",
            unit="percentunit",
            width=4,
            most=1,
            steps=((None, GREEN), (0.8, ORANGE), (0.9, RED)),
        ),
        Panel(
            "Room in the shared root",
            {"{{namespace}}": f"slipway_jail_available_bytes{{{HERE}}}"},
            unit="bytes",
            width=8,
        ),
        Panel(
            "Scheduler",
            {
                "main cycle": f"slurm_schedule_cycle_last{{{HERE}}}",
                "backfill cycle": f"slurm_bf_cycle_last{{{HERE}}}",
            },
            "How long the last cycle took.",
            unit="µs",
        ),
        Panel(
            "slurmctld at work",
            {
                "threads": f"slurm_server_thread_cnt{{{HERE}}}",
                "messages to nodes that wait": f"slurm_agent_queue_size{{{HERE}}}",
                "messages to slurmdbd that wait": f"slurm_slurmdbd_queue_size{{{HERE}}}",
            },
            "Queues that only grow mean that somebody does not answer.",
        ),
    ]
    return dashboard("cluster", "Slurm / Cluster", "Whether the cluster is well.", panels, NAMESPACE)


def node_sets() -> str:
    chosen = f'{HERE},nodeset=~"$nodeset"'
    columns = ("nodeset", "node", "state", "owner", "by", "reason")
    panels = [
        Panel("Nodes", {"{{nodeset}} {{state}}": f"sum by (nodeset, state) (slipway_nodes{{{chosen}}})"}, stacked=True),
        Panel(
            "Out of service",
            {
                "{{nodeset}} {{state}}, by {{owner}}": (
                    f"sum by (nodeset, state, owner) (slipway_nodes_out_of_service{{{chosen}}})"
                )
            },
            "By whose reason it is: a person's, slipway's own (which ends by itself), or none's: Slurm's.",
        ),
        Panel(
            "CPUs taken by jobs",
            {"{{nodeset}}": f"{_by_node_set('slurm_node_cpus_alloc')}"},
        ),
        Panel(
            "Share of CPUs taken",
            {"{{nodeset}}": f"({_by_node_set('slurm_node_cpus_alloc')}) / ({_by_node_set('slurm_node_cpus')})"},
            unit="percentunit",
            most=1,
        ),
        Panel(
            "Share of memory taken",
            {
                "{{nodeset}}": (
                    f"({_by_node_set('slurm_node_memory_alloc_bytes')}) / ({_by_node_set('slurm_node_memory_bytes')})"
                )
            },
            unit="percentunit",
            most=1,
        ),
        Panel(
            "GPUs",
            {
                "{{nodeset}} all": _by_node_set("slurm_node_gpus"),
                "{{nodeset}} taken": _by_node_set("slurm_node_gpus_alloc"),
            },
        ),
        Panel(
            "Nodes that are out of service, and why",
            {"": f"slipway_node_out_of_service{{{chosen}}}"},
            "At most a hundred.",
            kind="table",
            width=24,
            columns=columns,
        ),
    ]
    variables = {**NAMESPACE, "nodeset": f"label_values(slipway_nodes{{{HERE}}}, nodeset)"}
    return dashboard("nodesets", "Slurm / NodeSets", "What nodes do, and which of them do not.", panels, variables)


def jobs() -> str:
    chosen = f'{HERE},partition=~"$partition"'

    def by_partition(what: str) -> dict[str, str]:
        return {"{{partition}}": f"sum by (partition) (slurm_partition_{what}{{{chosen}}})"}

    ended = {
        "completed": "completed",
        "failed": "failed",
        "over their time": "timeout",
        "cancelled": "cancelled",
        "out of memory": "outofmemory",
        "node failed": "node_failed",
    }
    waiting = f"sum by (partition) (slurm_partition_jobs_pending{{{chosen}}} - slurm_partition_jobs_hold{{{chosen}}})"
    idle = f"slurm_partition_nodes_idle{{{chosen}}} - slurm_partition_nodes_drained{{{chosen}}}"
    panels = [
        Panel("Jobs that run", by_partition("jobs_running"), stacked=True),
        Panel("Jobs that wait, and are not held", {"{{partition}}": waiting}, stacked=True),
        Panel("CPUs taken", by_partition("jobs_cpus_alloc")),
        Panel(
            "Idle nodes",
            {"{{partition}}": f"sum by (partition) ({idle})"},
            "Without those that are drained. With jobs that wait for them: see SlurmQueueStuck.",
        ),
        Panel(
            "Jobs a minute",
            {
                what: f"60 * sum(rate(slurm_sdiag_jobs_{what}{{{HERE}}}[5m]))"
                for what in ("submitted", "started", "completed", "failed")
            },
        ),
        Panel(
            "How jobs ended",
            {legend: f"sum(slurm_jobs_{state}{{{HERE}}})" for legend, state in ended.items()},
            "Of the jobs that slurmctld still remembers (MinJobAge).",
        ),
        Panel("Held by users or administrators", by_partition("jobs_hold")),
        Panel(
            "Started out of turn",
            {"by backfill, since midnight": f"slurm_last_backfilled_jobs{{{HERE}}}"},
            "Jobs that filled a gap before their turn.",
        ),
    ]
    variables = {**NAMESPACE, "partition": f"label_values(slurm_partition_jobs{{{HERE}}}, partition)"}
    return dashboard("jobs", "Slurm / Jobs", "What waits, what runs, and how it ends.", panels, variables)


def users() -> str:
    chosen = f'{HERE},username=~"$username"'

    def top(what: str, factor: str = "") -> dict[str, str]:
        return {"{{username}}": f"topk(15, sum by (username) (slurm_user_jobs_{what}{{{chosen}}})){factor}"}

    def accounts(what: str) -> dict[str, str]:
        return {"{{account}}": f"topk(15, sum by (account) (slurm_account_jobs_{what}{{{HERE}}}))"}

    panels = [
        Panel("Jobs that run", top("running"), stacked=True),
        Panel("Jobs that wait", top("pending"), stacked=True),
        Panel("CPUs", top("cpus_alloc")),
        Panel("Memory", top("memory_alloc", f" * {MIB}"), unit="bytes"),
        Panel("GPUs", top("gpus_alloc")),
        Panel("Failed jobs", top("failed"), "Of the jobs that slurmctld still remembers (MinJobAge)."),
        Panel("Accounts: jobs that run", accounts("running"), "One line without a name, where there are no accounts."),
        Panel("Accounts: CPUs", accounts("cpus_alloc")),
    ]
    variables = {**NAMESPACE, "username": f"label_values(slurm_user_jobs{{{HERE}}}, username)"}
    return dashboard("users", "Slurm / Users", "Who uses the cluster. The fifteen who use most.", panels, variables)


DASHBOARDS = {"cluster": cluster, "nodesets": node_sets, "jobs": jobs, "users": users}


def main() -> None:
    for name, text in DASHBOARDS.items():
        (FOLDER / f"{name}.json").write_text(text())


if __name__ == "__main__":
    main()
