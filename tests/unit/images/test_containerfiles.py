"""What every image promises: labels, a pinned version of what it is there for, and no key left inside."""

import re
from pathlib import Path

import pytest

IMAGES = Path(__file__).parents[3] / "images"
FILES = sorted(IMAGES.glob("*/Containerfile"))
SLURM = "26.05.5-1"
PINNED = {
    "SLURM": r"slurmctld|slurmd|slurmdbd|slurmrestd|slurm-client|slurm-wlm\S*|sackd|libslurm\S*|libpmi\S*",
    "MARIADB": r"mariadb-\S*",
}


def instructions(file: Path) -> list[tuple[str, str]]:
    """Each instruction's word and the rest, with continued lines joined and comments left out."""
    lines = "\n".join(line for line in file.read_text().splitlines() if not line.startswith("#"))
    found = re.findall(r"^([A-Z]+) (.*)$", lines.replace("\\\n", " "), re.MULTILINE)
    assert found
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("file", FILES, ids=lambda file: file.parent.name)


def installed(file: Path) -> list[str]:
    """The packages that are named to apt, as they are named."""
    runs = [text for word, text in instructions(file) if word == "RUN"]
    calls = [call.split(";")[0] for text in runs for call in text.split("apt-get install ")[1:]]
    return [word.strip('"') for call in calls for word in call.split() if not word.startswith("-")]


def pins(file: Path) -> dict[str, str]:
    """Versions by the names of their arguments, which are the same in each stage."""
    found = {text for word, text in instructions(file) if word == "ARG" and text.split("=")[0] in PINNED}
    assert len(found) == 1, found
    return dict(each.split("=", 1) for each in found)


def test_an_image_says_what_it_is(file: Path) -> None:
    labels = dict(re.findall(r'org\.opencontainers\.image\.(\w+)="([^"]*)"', dict(instructions(file))["LABEL"]))
    assert labels["title"] == f"slipway {file.parent.name}"
    assert labels["licenses"] == "Apache-2.0"
    [version] = pins(file).values()
    assert labels["version"] == re.sub(r"^\d+:|[+-].*$", "", version)


def test_what_it_is_there_for_is_pinned(file: Path) -> None:
    for name, packages in PINNED.items():
        found = [each for each in installed(file) if re.fullmatch(rf"({packages})(=.*)?", each)]
        assert all(each.endswith(f"=${name}") for each in found), found
        assert bool(found) == (name in pins(file))


def test_all_images_have_the_same_slurm(file: Path) -> None:
    assert pins(file).get("SLURM", SLURM) == SLURM


def test_it_is_built_on_the_debian_that_has_this_slurm(file: Path) -> None:
    bases = {text.split()[0] for word, text in instructions(file) if word == "FROM"}
    assert bases == {"docker.io/library/debian:forky-slim"}


def test_no_key_of_a_package_stays_in_the_layer_that_installs_it(file: Path) -> None:
    """munge makes a key when it is installed, and sshd makes its own: the same for all who have the image."""
    made = {"munge": ("/etc/munge/munge.key", "/etc/munge"), "openssh-server": ("/etc/ssh/*", "/etc/ssh/ssh_host_*")}
    for text in (text for word, text in instructions(file) if word == "RUN"):
        removed = " ".join(re.findall(r"rm -rf ([^;]*)", text)).split()
        for package, places in made.items():
            if re.search(rf"apt-get install [^;]*(?<=\s){package}(?=[\s;]|$)", text):
                assert set(places) & set(removed), f"{package} leaves {places[0]}"


def test_nothing_that_looks_like_a_key_is_copied_in(file: Path) -> None:
    copied = [source for word, text in instructions(file) if word in ("COPY", "ADD") for source in text.split()[:-1]]
    for source in (each for each in copied if not each.startswith("--")):
        path = IMAGES / source.lstrip("/")  # what an earlier stage has made is not here
        for each in (*path.rglob("*"), path):
            if each.is_file():
                assert not re.search(r"\.(key|pem)$|^ssh_host_|^id_", each.name), each
                assert b"PRIVATE KEY" not in each.read_bytes(), each
