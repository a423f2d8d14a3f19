"""Tools are named by what goes into them, so that nothing is built twice and nothing stale is used."""

import os
import re
import shutil
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from lab import golang, images, paths, pulumi
from lab.golang import COREDNS, KUBERNETES, NETWORK_POLICIES, PAUSE, PULUMI, Program
from lab.problem import Problem
from lab.run import run, which


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("program", [PULUMI, KUBERNETES, COREDNS, NETWORK_POLICIES])
def test_a_program_carries_the_version_that_its_go_mod_requires(program: Program) -> None:
    assert re.fullmatch(r"v\d+\.\d+\.\d+", program.version)
    assert program.version in program.home.name


def test_the_sdk_and_the_cli_that_the_lab_builds_are_the_same_version() -> None:
    assert f"v{version('pulumi')}" == PULUMI.version


def test_kubernetes_own_modules_belong_to_its_release() -> None:
    replaced = set(re.findall(r"=> k8s\.io/\S+ v0\.(\S+)", (KUBERNETES.source / "go.mod").read_text()))
    assert {f"v1.{number}" for number in replaced} == {KUBERNETES.version}


def test_changed_sources_are_another_program(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = cache / "sources"
    shutil.copytree(PAUSE.source, sources / "pause")
    monkeypatch.setattr(golang, "BUILD", sources)
    before = PAUSE.home
    (sources / "pause" / "main.go").write_text("package main\n\nfunc main() {}\n")
    assert PAUSE.home != before


def test_a_failed_program_is_told_with_its_last_words() -> None:
    with pytest.raises(Problem, match=r"failed with exit code 3:\n    last words\n  do this") as raised:
        run(["sh", "-c", "echo last words >&2; exit 3"], way_out="do this")
    assert "Traceback" not in str(raised.value)


def test_a_missing_program_is_named_with_the_way_out() -> None:
    with pytest.raises(Problem, match=r"`no-such-program` is not installed.*\n  install it"):
        run(["no-such-program"], way_out="install it")


def test_a_followed_program_hands_over_its_lines_as_they_come() -> None:
    lines: list[str] = []
    assert run(["sh", "-c", "echo one; echo two >&2"], on_line=lines.append) == "one\ntwo\n"
    assert lines == ["one", "two"]


def test_an_image_has_another_tag_when_anything_in_it_changes(tmp_path: Path) -> None:
    (tmp_path / "Containerfile").write_text("FROM scratch\n")
    script = tmp_path / "entrypoint"
    script.write_text("#!/bin/sh\n")
    tags = [images.digest(tmp_path)]
    script.chmod(0o755)
    tags.append(images.digest(tmp_path))
    script.write_text("#!/bin/sh\nexec true\n")
    tags.append(images.digest(tmp_path))
    (tmp_path / "more").touch()
    tags.append(images.digest(tmp_path))
    assert len(set(tags)) == len(tags)
    assert images.digest(tmp_path) == tags[-1]


def test_what_a_build_ignores_changes_no_tag(tmp_path: Path) -> None:
    (tmp_path / "Containerfile").write_text("FROM scratch\n")
    before = images.digest(tmp_path)
    (tmp_path / "README.md").touch()
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "module.cpython-311.pyc").touch()
    assert images.digest(tmp_path) == before


def test_a_change_in_common_files_changes_the_images_that_use_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, line in {"with": "COPY common/init /init", "without": "COPY without/init /init"}.items():
        (tmp_path / "images" / name).mkdir(parents=True)
        (tmp_path / "images" / name / "Containerfile").write_text(f"FROM scratch\n{line}\n")
    common = tmp_path / "images" / "common"
    monkeypatch.setattr(paths, "CHECKOUT", tmp_path)

    def tags() -> dict[str, str]:
        return {image.name: image.tag for image in images.ours()}

    before = tags()  # there need not be such a folder yet
    common.mkdir()
    (common / "init").write_text("#!/bin/sh\n")
    assert tags().keys() == before.keys()
    assert tags()["with"] != before["with"]
    assert tags()["without"] == before["without"]


def test_images_go_only_where_they_are_used() -> None:
    roles = {image.name: image.roles for image in images.ours()}
    assert not any("control-plane" in used for used in roles.values())
    assert roles["jail"] == {"system"}


def test_the_last_versions_of_an_image_are_kept(cache: Path) -> None:
    folder = cache / "images"
    folder.mkdir()
    names = ["one-e", "one-d", "one-c", "one-b", "one-a", "two-a"]
    for name, age in [*zip(names, range(len(names)), strict=True), ("three-a", images.KEEP_SECONDS + 1)]:
        (folder / f"{name}.tar").touch()
        os.utime(folder / f"{name}.tar", (time.time() - age, time.time() - age))
    images.forget_old("one")
    assert sorted(path.stem for path in folder.iterdir()) == ["one-c", "one-d", "one-e", "two-a"]


def test_the_digest_ignores_what_the_build_ignores() -> None:
    patterns = (paths.CHECKOUT / "images" / ".dockerignore").read_text().splitlines()
    assert {f"**/*{suffix}" for suffix in images.IGNORED} <= set(patterns)


def test_pulumi_on_path_is_taken_before_anything_else(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cache / "bin"
    folder.mkdir()
    for name in ("pulumi", "pulumi-language-python"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    chosen = pulumi.choose()
    assert chosen.program == folder / "pulumi"
    assert chosen.has("language", "python")
    assert not chosen.has("resource", "kubernetes")


def test_a_link_that_a_lab_put_on_path_is_not_taken_for_the_machines_own(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cache / "labs" / "dev" / "bin"
    folder.mkdir(parents=True)
    (folder / "pulumi").write_text("#!/bin/sh\n")
    (folder / "pulumi").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    assert which("pulumi") is None


def test_the_cache_lies_outside_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLIPWAY_CACHE", raising=False)
    assert not paths.cache().is_relative_to(paths.CHECKOUT)
