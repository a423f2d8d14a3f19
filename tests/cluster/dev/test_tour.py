"""The tour of the documentation, as a newcomer would take it."""

import os
import subprocess

import pytest

from lab import paths
from tests.cluster.stacks import Stack

SCRIPTS = sorted((paths.CHECKOUT / "docs" / "tour").glob("[0-9]-*.sh"))


def test_the_tour_has_five_scripts() -> None:
    assert len(SCRIPTS) == 5


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_every_check_of_the_tour_passes(dev: Stack, script: os.PathLike[str]) -> None:
    env = {**os.environ, "TOUR_CONFIG": str(dev.file)}
    done = subprocess.run([script], env=env, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAIL" not in done.stdout
    assert done.stdout.count("ok    ") >= 4
