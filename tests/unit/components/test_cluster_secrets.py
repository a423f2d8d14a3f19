"""Keys are made once, are never to be read, and reach only those who need them."""

import hashlib

import pytest

from tests.unit.components.deployed import Made, is_secret, key_text, leaves

KINDS = ("munge", "slurm", "jwt", "host")


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_is_made_by_a_command_that_prints_it(small: Made, kind: str) -> None:
    command = small.command(f"dev-{kind}-key")
    assert command.inputs == {"create": f"operations/run keys {kind}", "triggers": [1], "logging": "none"}
    assert command.secret_outputs == {"stdout"}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_its_number_makes_a_key_anew(small: Made, kind: str) -> None:
    """Every other input is ignored once the key is there: an update would run the command again."""
    command = small.command(f"dev-{kind}-key")
    assert command.ignored >= {"create", "interpreter", "environment", "dir", "logging"}
    assert "triggers" not in command.ignored
    assert not command.dependencies, "a replaced dependency could replace the key"


def test_each_key_has_a_number_of_its_own(slurm: Made) -> None:
    numbers = {kind: slurm.command(f"hpc-{kind}-key").inputs["triggers"] for kind in KINDS}
    assert numbers == {"munge": [2], "slurm": [3], "jwt": [4], "host": [5]}


def test_the_daemons_keys_and_the_host_key_are_in_two_secrets(small: Made) -> None:
    printed = {kind: key_text(f"operations/run keys {kind}") for kind in KINDS}
    assert small.names("Secret") >= {"slurm-keys", "ssh-host-keys"}
    assert small("Secret", "slurm-keys").data == {
        "munge.key": printed["munge"],
        "slurm.key": printed["slurm"],
        "jwt.key": printed["jwt"],
    }
    assert small("Secret", "ssh-host-keys").data == {"ssh_host_ed25519_key": printed["host"]}


def test_no_key_stands_in_plain_text(made: Made) -> None:
    for secret in made.of("Secret"):
        data = secret.inputs.get("data", {})
        assert is_secret(data) or all(is_secret(value) for value in data.values()), secret.name
    for resource in made.resources:
        assert not [text for text in leaves(resource.inputs) if "SECRET" in text], resource.name
    assert not [text for text in leaves(made.outputs) if "SECRET" in text]


def test_pods_that_read_a_key_carry_its_digest(small: Made, slurm: Made) -> None:
    """Not its number: one that is taken back, after an update that failed, makes a third key and not the first."""

    def digest(kind: str) -> str:
        return hashlib.sha256(key_text(f"operations/run keys {kind}").encode()).hexdigest()[:12]

    def carried(made: Made, name: str, which: str) -> str:
        return made.pod("StatefulSet", name).metadata["annotations"][f"slipway/{which}"]

    for name in ("controller", "worker", "login"):
        assert carried(small, name, "auth-key") == digest("munge")
        assert carried(slurm, name, "auth-key") == digest("slurm")
    assert carried(slurm, "login", "host-keys") == digest("host")
    assert carried(slurm, "controller", "jwt-key") == digest("jwt")


def test_a_new_key_is_handed_out_when_no_job_needs_the_old_one(small: Made) -> None:
    [prepared] = [each for each in small.resources if each.name == "dev-prepare"]
    assert prepared.urn in small("Secret", "slurm-keys").dependencies
    assert prepared.urn not in small("Secret", "ssh-host-keys").dependencies


def test_pods_that_do_not_read_a_key_do_not_restart_for_it(slurm: Made) -> None:
    for name in ("worker", "gpu", "burst", "login"):
        annotations = slurm.pod("StatefulSet", name).metadata["annotations"]
        assert "slipway/jwt-key" not in annotations, name


def keys_in(made: Made, kind: str, name: str) -> set[str]:
    """The files of the daemons' Secret that a pod is given."""
    volumes = made.pod(kind, name).volumes.values()
    return {
        item["key"]
        for volume in volumes
        if volume.get("secret", {}).get("secretName") == "slurm-keys"
        for item in volume["secret"]["items"]
    }


@pytest.mark.parametrize("name", ["worker", "gpu", "burst", "login"])
def test_where_users_are_there_is_only_the_key_that_the_authentication_needs(
    munge: Made, slurm: Made, name: str
) -> None:
    assert keys_in(munge, "StatefulSet", name) == {"munge.key"}
    assert keys_in(slurm, "StatefulSet", name) == {"slurm.key"}


def test_the_controller_also_has_the_key_that_tokens_are_signed_with(munge: Made, slurm: Made) -> None:
    assert keys_in(munge, "StatefulSet", "controller") == {"munge.key", "jwt.key"}
    assert keys_in(slurm, "StatefulSet", "controller") == {"slurm.key", "jwt.key"}


def test_a_whole_secret_is_never_mounted_with_keys_that_the_pod_does_not_need(made: Made) -> None:
    for pod in made.pods():
        for volume in pod.volumes.values():
            if volume.get("secret", {}).get("secretName") == "slurm-keys":
                assert volume["secret"]["items"], pod


def test_a_mounted_secret_is_seen_only_by_daemons_and_by_roots_alone_where_users_are(made: Made) -> None:
    for pod in made.pods():
        for name, container in pod.containers.items():
            mounts = {each["name"] for each in container.get("volumeMounts", [])}
            assert "secret" not in mounts or name in ("munge", "sackd", "slurmctld", "slurmd", "slurmdbd", "steward"), (
                f"{pod}, {name}"
            )
        if "slurmd" in pod.containers:
            assert pod.volumes["secret"]["secret"]["defaultMode"] == 0o400, pod


def test_keys_stay_in_memory(made: Made) -> None:
    for pod in made.pods():
        if "keys" in pod.volumes:
            assert pod.volumes["keys"]["emptyDir"]["medium"] == "Memory", pod


def test_the_container_that_users_log_in_to_sees_no_key_of_the_daemons(munge: Made, slurm: Made) -> None:
    for made in (munge, slurm):
        [sshd] = made.pod("StatefulSet", "login").spec["containers"]
        assert not {"keys", "secret"} & {each["name"] for each in sshd["volumeMounts"]}
