"""slurmdbd and its database: pods, volumes, passwords, and when they start."""

import json
from typing import Any

import pytest

from slurm.accounts import declared
from tests.unit.components import stacks
from tests.unit.components.deployed import Made, deploy, is_secret, leaves

OFFERED = ("munge", "slurm", "given")


@pytest.fixture(params=OFFERED)
def accounted(request: pytest.FixtureRequest) -> Made:
    """Each stack with accounting."""
    return request.getfixturevalue(request.param)


def container(made: Made, stateful_set: str) -> dict[str, Any]:
    [found] = made.pod("StatefulSet", stateful_set).spec["containers"]
    return found


def mounts(container: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["mountPath"]: each for each in container["volumeMounts"]}


def test_a_stack_without_accounting_has_none_of_it(small: Made) -> None:
    names = {each.metadata["name"] for each in small.resources if "metadata" in each.inputs}
    assert not {name for name in names if name.startswith(("accounting", "database", "slurmdbd"))}
    assert not [each.name for each in small.of("Command") if "account" in each.name or "database" in each.name]


def test_there_is_a_database_only_where_the_stack_names_no_other(munge: Made, slurm: Made, given: Made) -> None:
    assert "database" in munge.names("StatefulSet")
    assert "database" in given.names("StatefulSet")
    assert "database" not in slurm.names("StatefulSet") | slurm.names("Service") | slurm.names("Secret")
    assert not [each for each in slurm.of("Command") if each.name.endswith("database-key")]


def test_they_have_no_rights(accounted: Made) -> None:
    for name, user in (("accounting", 64030), ("database", 64031)):
        if name in accounted.names("StatefulSet"):
            context = container(accounted, name)["securityContext"]
            assert (context["runAsUser"], context["runAsGroup"], context["runAsNonRoot"]) == (user, user, True)
            assert context["readOnlyRootFilesystem"] is True
            assert context["capabilities"] == {"drop": ["ALL"]}


def test_only_what_prepares_a_folder_is_root_and_it_sees_nothing_else(accounted: Made) -> None:
    for name in {"accounting", "database"} & accounted.names("StatefulSet"):
        pod = accounted.pod("StatefulSet", name)
        for each in pod.containers.values():
            if each["securityContext"]["runAsUser"] == 0:
                assert each["name"] in ("data", "archive")
                assert [mount["name"] for mount in each["volumeMounts"]] == [each["name"]]


def test_the_first_deploy_goes_from_the_database_to_slurmdbd_to_accounts_to_slurmctld(munge: Made) -> None:
    told = munge.command("hpc-accounts")
    assert munge.waits_for(told, munge("StatefulSet", "accounting"))
    assert munge.waits_for(told, munge("Job", "apply-users")), "slurmctld must know the users of associations"
    assert munge.waits_for(munge("ConfigMap", "slurm-config"), told)
    assert munge.waits_for(munge("StatefulSet", "controller"), told)
    assert munge.waits_for(munge.command("hpc-settle-accounts"), munge.command("hpc-apply"))


def test_slurmdbd_starts_when_the_files_were_rehearsed(accounted: Made) -> None:
    prepared = accounted.command(f"{accounted.settings.cluster.name}-prepare")
    assert accounted.waits_for(accounted("StatefulSet", "accounting"), prepared)
    assert accounted.waits_for(accounted("ConfigMap", "slurmdbd-config"), prepared)


def test_the_commands_are_told_all_that_is_declared_and_run_for_another_slurmdbd(munge: Made) -> None:
    for name in ("hpc-accounts", "hpc-settle-accounts"):
        command = munge.command(name)
        assert json.loads(command.inputs["stdin"]) == declared(munge.settings)
        assert command.inputs["create"] == command.inputs["update"]
        environment = command.inputs["environment"]
        assert environment["SLIPWAY_GENERATION"] == "7"
        assert (environment["SLIPWAY_NAMESPACE"], environment["SLIPWAY_CLUSTER"]) == ("science", "hpc")


def test_slurmdbd_restarts_for_another_file_and_for_nothing_else_of_slurms() -> None:
    def annotations(**keys: Any) -> dict[str, str]:
        return deploy(**{**stacks.RICH, **keys}).pod("StatefulSet", "accounting").metadata["annotations"]

    before = annotations()
    assert annotations(slurm={"extra": {"KillWait": 5}}) == before
    purged = {**stacks.RICH["accounting"], "purge": {"jobs": "1months"}}
    assert annotations(accounting=purged)["slipway/config"] != before["slipway/config"]


def test_the_password_is_in_one_secret_and_nowhere_else(munge: Made) -> None:
    secret = munge("Secret", "database")
    assert is_secret(secret.inputs["data"])
    password = secret.data["password"]
    for each in munge.resources:
        assert password not in " ".join(leaves(each.inputs)), each.name
    assert password not in json.dumps(munge.outputs["files"])
    for name in ("accounting", "database"):
        volume = munge.pod("StatefulSet", name).volumes["password"]["secret"]
        assert volume["secretName"] == "database"
        assert mounts(container(munge, name))["/mnt/password"]["readOnly"] is True


def test_both_restart_for_a_new_password(munge: Made) -> None:
    marks = [
        munge.pod("StatefulSet", name).metadata["annotations"]["slipway/password"]
        for name in ("accounting", "database")
    ]
    assert marks[0] == marks[1]
    assert len(marks[0]) == 12


def test_another_database_is_reached_with_the_users_own_secrets(slurm: Made) -> None:
    pod = slurm.pod("StatefulSet", "accounting")
    assert pod.volumes["password"]["secret"]["secretName"] == "db"
    assert pod.volumes["password"]["secret"]["items"] == [{"key": "pass", "path": "password"}]
    assert pod.volumes["ca"]["secret"] == {"secretName": "db-ca", "items": [{"key": "root.pem", "path": "ca.crt"}]}
    assert "/etc/slurm-database" in mounts(container(slurm, "accounting"))
    assert {"name": "DATABASE", "value": "db.example.com/3307"} in container(slurm, "accounting")["env"]


def test_the_database_has_its_data_on_a_volume_of_its_own(munge: Made, given: Made) -> None:
    assert munge("PersistentVolumeClaim", "database").spec == {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "20Gi"}},
        "storageClassName": "fast",
    }
    assert mounts(container(munge, "database"))["/var/lib/mysql"]["subPath"] == "mariadb"
    assert "database" not in given.names("PersistentVolumeClaim")
    path = {"path": "/srv/database", "type": "DirectoryOrCreate"}
    assert given.pod("StatefulSet", "database").volumes["data"] == {"name": "data", "hostPath": path}


def test_what_the_database_keeps_in_memory_fits_into_its_pod(munge: Made) -> None:
    assert container(munge, "database")["resources"]["limits"] == {"cpu": "1", "memory": "2048Mi"}
    assert {"name": "BUFFER_POOL", "value": "1024M"} in container(munge, "database")["env"]


def test_a_database_that_puts_its_data_right_is_not_killed(munge: Made) -> None:
    assert not {"livenessProbe", "startupProbe"} & set(container(munge, "database"))
    assert munge.pod("StatefulSet", "database").spec["terminationGracePeriodSeconds"] >= 60


def test_there_is_an_archive_only_where_something_is_archived(munge: Made, slurm: Made, given: Made) -> None:
    assert munge("PersistentVolumeClaim", "accounting-archive").spec["storageClassName"] == "cheap"
    assert mounts(container(munge, "accounting"))["/var/spool/slurm-archive"]["subPath"] == "slurmdbd"
    assert "accounting-archive" not in slurm.names("PersistentVolumeClaim")
    assert "/var/spool/slurm-archive" not in mounts(container(slurm, "accounting"))
    archive = given.pod("StatefulSet", "accounting").volumes["archive"]
    assert archive["persistentVolumeClaim"] == {"claimName": "archive"}


def test_slurmdbd_has_the_keys_that_it_needs(munge: Made, slurm: Made) -> None:
    def keys(made: Made) -> list[str]:
        return [each["key"] for each in made.pod("StatefulSet", "accounting").volumes["secret"]["secret"]["items"]]

    assert keys(deploy(accounting={"enabled": True})) == ["munge.key"]
    assert keys(munge) == ["munge.key", "jwt.key"], "tokens are for whoever uses the HTTP interface"
    assert keys(slurm) == ["slurm.key", "jwt.key"]


def test_what_the_control_plane_asks_for_is_little() -> None:
    """Without the controller's own memory, which is for the stack to say."""
    pod = deploy(accounting={"enabled": True}).pod("StatefulSet", "accounting")
    asked = [each["resources"]["requests"]["memory"] for each in pod.containers.values()]
    assert sum(int(each.removesuffix("Mi")) for each in asked) == 144
