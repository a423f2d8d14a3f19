"""What the cluster costs before anybody computes."""

from pathlib import Path

from tests.unit.components.deployed import deploy

EVERYTHING = {
    "accounting": {"enabled": True},
    "health": {"enabled": True},
    "monitoring": {"enabled": True},
    "rest": {"enabled": True},
}
MOST = 600  # MiB
DOCS = Path(__file__).parents[3] / "docs" / "cluster.md"


def test_the_whole_control_plane_asks_for_little_memory() -> None:
    """slurmctld, slurmdbd and slurmrestd with all that runs beside them; without MariaDB."""
    made = deploy(**EVERYTHING)
    memory = milli = 0
    for pod in (
        made.pod("StatefulSet", "controller"),
        made.pod("StatefulSet", "accounting"),
        made.pod("Deployment", "rest"),
    ):
        stays = [each for name, each in pod.init_containers.items() if each.get("restartPolicy") == "Always"]
        containers = [*pod.spec["containers"], *stays]
        for each in containers:
            requests = each["resources"]["requests"]
            memory += int(requests["memory"].removesuffix("Mi"))
            milli += int(requests["cpu"].removesuffix("m"))
    assert memory <= MOST
    assert f"| together | {memory} | {milli / 1000:g} |" in DOCS.read_text()
