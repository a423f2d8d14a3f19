"""Cross-checks: what no setting can know by itself. One file per domain; each check yields what it finds."""

from collections.abc import Callable, Iterable

from config.checks import (
    accounting,
    names,
    node_filters,
    node_sets,
    partitions,
    references,
    requests,
    services,
    slurm,
    storage,
    topology,
    users,
)
from config.checks.finding import Finding
from config.settings import Settings

Check = Callable[[Settings], Iterable[Finding]]

CHECKS: tuple[Check, ...] = (
    references.node_filters_exist,
    references.node_sets_exist,
    references.partitions_exist,
    references.users_exist,
    references.groups_exist,
    references.qos_exist,
    references.accounts_exist,
    names.node_set_names_are_free,
    names.node_set_names_are_unambiguous,
    names.node_names_fit_in_dns,
    names.features_are_no_node_sets,
    node_filters.control_planes_stay_free,
    node_filters.tolerations_make_sense,
    node_sets.nodes_can_be_counted,
    node_sets.dynamic_sizes_have_room,
    node_sets.autoscaling_has_room,
    node_sets.cpus_are_sockets_by_cores_by_threads,
    node_sets.memory_is_there,
    node_sets.generic_resources_make_sense,
    requests.pods_fit_on_a_node,
    requests.node_sets_fit_on_their_nodes,
    partitions.one_partition_is_the_default,
    partitions.times_are_in_order,
    partitions.node_limits_can_be_met,
    partitions.memory_limits_agree,
    partitions.billing_counts_what_there_is,
    partitions.sharing_makes_sense,
    partitions.access_lists_do_not_contradict,
    users.names_and_ids_are_unique,
    users.ids_are_free,
    users.users_have_one_of_each_group,
    services.ports_make_sense,
    services.ports_are_free,
    services.bridge_has_rest,
    services.bridge_leaves_the_cluster_alone,
    services.metrics_are_not_private,
    accounting.limits_have_a_database,
    accounting.one_database_is_meant,
    accounting.certificates_are_looked_at,
    accounting.accounts_are_a_tree,
    accounting.default_qos_is_allowed,
    storage.mount_paths_are_free,
    topology.places_fit_the_plugin,
    topology.labels_name_places,
    topology.switches_are_a_tree,
    topology.blocks_are_large_enough,
    slurm.needed_parameters_stay,
    slurm.memory_keys_agree,
)

__all__ = ["CHECKS", "Check", "Finding"]
