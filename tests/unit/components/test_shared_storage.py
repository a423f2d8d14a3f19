"""The shared root and what is inside it: where it comes from, who mounts it, and the Job that fills it."""

from typing import Any

import pytest

from components.storage import submount_name
from config.storage import Submount
from tests.unit.components.deployed import Made, Pod

JAIL = "/mnt/jail"


def source(pod: Pod, path: str) -> dict[str, Any]:
    """What is mounted at a path by the pod's main container, without the name that only the pod knows."""
    [container] = pod.spec["containers"]
    [mount] = [each for each in container["volumeMounts"] if each["mountPath"] == path]
    return {key: value for key, value in pod.volumes[mount["name"]].items() if key != "name"}


def env(container: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in container["env"]}


def test_a_folder_of_the_nodes_is_the_shared_root_where_nothing_is_said(small: Made) -> None:
    folder = {"hostPath": {"path": "/srv/slipway/jail", "type": "DirectoryOrCreate"}}
    assert source(small.pod("StatefulSet", "worker"), JAIL) == folder
    assert small.names("PersistentVolumeClaim") == {"controller-state"}


def test_a_storage_class_is_claimed_for_many_nodes_at_once(munge: Made) -> None:
    claim = munge("PersistentVolumeClaim", "jail")
    assert claim.spec == {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "2Ti"}},
        "storageClassName": "cephfs",
    }
    assert source(munge.pod("StatefulSet", "worker"), JAIL) == {"persistentVolumeClaim": {"claimName": "jail"}}


def test_a_claim_that_nobody_uses_yet_is_not_waited_for(munge: Made) -> None:
    for claim in munge.of("PersistentVolumeClaim"):
        assert claim.metadata["annotations"] == {"pulumi.com/skipAwait": "true"}


def test_a_claim_that_exists_is_used_and_none_is_made(given: Made) -> None:
    assert source(given.pod("StatefulSet", "login"), JAIL) == {"persistentVolumeClaim": {"claimName": "root"}}
    assert not given.of("PersistentVolumeClaim")


def test_an_nfs_export_is_mounted_as_it_is(slurm: Made) -> None:
    export = {"nfs": {"server": "nas.example.com", "path": "/export/jail"}}
    assert source(slurm.pod("StatefulSet", "worker"), JAIL) == export
    assert "jail" not in slurm.names("PersistentVolumeClaim")


@pytest.mark.parametrize("name", ["worker", "gpu", "burst", "login"])
def test_those_who_work_in_the_shared_root_see_all_submounts_inside_it(munge: Made, name: str) -> None:
    pod = munge.pod("StatefulSet", name)
    home = submount_name(munge.settings.storage.submounts[0])
    assert source(pod, f"{JAIL}/home") == {"persistentVolumeClaim": {"claimName": home}}
    assert source(pod, f"{JAIL}/scratch") == {"persistentVolumeClaim": {"claimName": "scratch"}}
    assert source(pod, f"{JAIL}/datasets") == {"nfs": {"server": "nas.example.com", "path": "/export"}}
    assert source(pod, f"{JAIL}/srv/local") == {"hostPath": {"path": "/srv/local", "type": "DirectoryOrCreate"}}
    assert munge("PersistentVolumeClaim", home).spec["accessModes"] == ["ReadWriteMany"]


def test_a_read_only_submount_is_read_only_for_everyone(munge: Made) -> None:
    seen = 0
    for pod in munge.pods():
        for container in pod.containers.values():
            for mount in container.get("volumeMounts", []):
                if mount["mountPath"] == f"{JAIL}/datasets":
                    assert mount["readOnly"] is True, pod
                    seen += 1
    assert seen >= len(munge.settings.all_node_sets) + 1


def test_users_can_write_to_the_other_submounts(munge: Made) -> None:
    [sshd] = munge.pod("StatefulSet", "login").spec["containers"]
    writable = {each["mountPath"] for each in sshd["volumeMounts"] if not each.get("readOnly")}
    assert {JAIL, f"{JAIL}/home", f"{JAIL}/scratch"} <= writable


def test_names_of_submounts_are_unique_and_short_enough_for_kubernetes() -> None:
    paths = ["/home", "/a/b", "/a-b", "/A/b", f"/{'long/' * 40}x", f"/{'long/' * 40}y", "/1"]
    names = [submount_name(Submount.model_validate({"mountPath": path, "hostPath": "/x"})) for path in paths]
    assert len(set(names)) == len(paths)
    for name in names:
        assert len(name) <= 63
        assert name.strip("-") == name
        assert name.replace("-", "a").isalnum()
        assert name == name.lower()


def test_the_shared_root_is_filled_from_the_jails_image(small: Made) -> None:
    pod = small.pod("Job", "populate-jail")
    [container] = pod.spec["containers"]
    assert container["command"] == ["/usr/local/lib/slipway/populate"]
    assert container["image"] == "registry.example.com/slipway/jail:1"
    assert env(container) == {"IMAGE": "registry.example.com/slipway/jail:1", "OVERWRITE": "false"}
    assert {"name": "jail", "mountPath": JAIL} in container["volumeMounts"]
    assert pod.spec["restartPolicy"] == "OnFailure"


def test_another_image_fills_it_anew_only_with_leave_to_overwrite(small: Made, slurm: Made, given: Made) -> None:
    def told(made: Made) -> dict[str, str]:
        return env(made.pod("Job", "populate-jail").spec["containers"][0])

    assert told(given) == {"IMAGE": "registry.example.com/own/root:3", "OVERWRITE": "false"}
    assert told(slurm)["OVERWRITE"] == "true"
    # A Job cannot be changed: another template is another run.
    assert small("Job", "populate-jail").spec["template"] != given("Job", "populate-jail").spec["template"]


def test_the_job_has_the_rights_to_make_files_of_any_owner_and_no_others(small: Made) -> None:
    for name in ("populate-jail", "apply-users"):
        [container] = small.pod("Job", name).spec["containers"]
        context = container["securityContext"]
        assert context["runAsUser"] == 0
        assert {"CHOWN", "DAC_OVERRIDE", "FOWNER"} <= set(context["capabilities"]["add"])
        assert not {"SYS_ADMIN", "NET_ADMIN", "SYS_PTRACE", "SETUID"} & set(context["capabilities"]["add"])


def test_the_job_waits_for_the_claims_that_it_fills(munge: Made) -> None:
    job = munge("Job", "populate-jail")
    for claim in munge.of("PersistentVolumeClaim"):
        if claim.metadata["name"] not in ("controller-state", "database", "accounting-archive"):
            assert munge.waits_for(job, claim), claim.name


def test_nobody_changes_the_owner_of_all_files_in_a_shared_volume(made: Made) -> None:
    """`fsGroup` would, at every start of a pod."""
    for pod in made.pods():
        assert "fsGroup" not in pod.spec.get("securityContext", {}), pod


def test_what_is_stored_outlives_the_stack_and_is_found_by_the_next_one(munge: Made) -> None:
    [keeper] = [each for each in munge.resources if each.name == "hpc-keeper"]
    assert keeper.inputs["upsertExistingObjects"] in (True, "true")
    kept = {(each.kind, each.metadata["name"]) for each in munge.resources if each.retained}
    home = submount_name(munge.settings.storage.submounts[0])
    models = submount_name(munge.settings.node_sets["gpu"].submounts[2], "gpu")
    others = ("controller-state", "database", "accounting-archive")
    claims = {("PersistentVolumeClaim", name) for name in ("jail", home, models, *others)}
    assert kept == {("Namespace", "science"), *claims}
    for each in munge.resources:
        assert each.provider.startswith(keeper.urn) == each.retained, each.name


def test_nothing_outlives_a_stack_that_says_so(slurm: Made) -> None:
    assert not [each.name for each in slurm.resources if each.retained]
    assert not [each.name for each in slurm.resources if each.name == "hpc-keeper"]
