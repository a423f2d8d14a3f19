"""A new node begins with the images that were unpacked once, and nothing that it does reaches those of others."""

import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from lab import store
from lab.layout import Lab


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache whose store has one image, of one layer."""
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path))
    root = tmp_path / "store"
    for file in (*store.DATABASES, f"{store.BLOBS}/0123", f"{store.LAYERS}/1/fs/etc/passwd", "have/tool-1.tar"):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text("first")
    (root / "have" / "tool-1.tar").write_text("localhost/slipway/tool:1")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "tool-1.tar").touch()
    return tmp_path


def test_a_node_sees_what_was_unpacked_and_owns_its_databases(cache: Path) -> None:
    node = cache / "labs" / "x" / "nodes" / "system-0" / "disk" / "containerd"
    store.seed(node)
    assert (node / store.LAYERS / "1" / "fs" / "etc" / "passwd").read_text() == "first"
    for database in store.DATABASES:
        (node / database).write_text("changed")
        assert (cache / "store" / database).read_text() == "first"


def test_a_node_that_is_removed_takes_nothing_from_the_others(cache: Path) -> None:
    node = cache / "node"
    store.seed(node)
    shutil.rmtree(node)
    assert (cache / "store" / store.LAYERS / "1" / "fs" / "etc" / "passwd").read_text() == "first"
    assert (cache / "store" / store.BLOBS / "0123").read_text() == "first"


def test_a_node_that_has_begun_keeps_what_it_has(cache: Path) -> None:
    node = cache / "node"
    (node / "own").mkdir(parents=True)
    store.seed(node)
    assert [path.name for path in node.iterdir()] == ["own"]


def test_a_seed_that_was_cut_short_is_made_anew(cache: Path) -> None:
    (cache / "node.part" / store.BLOBS).mkdir(parents=True)
    (cache / "node.part" / store.BLOBS / "0123").write_text("half")
    store.seed(cache / "node")
    assert (cache / "node" / store.BLOBS / "0123").read_text() == "first"
    assert not (cache / "node.part").exists()


def test_without_a_store_a_node_begins_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path))
    store.seed(tmp_path / "node")
    assert not (tmp_path / "node").exists()


def test_an_image_goes_when_it_is_out_of_use_and_no_lab_has_links_to_it(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = cache / "said"
    monkeypatch.setattr(store, "_containerd", lambda: nullcontext(["sh", "-c", f'echo "$@" >> {said}', "sh"]))
    store.forget()  # in use
    (cache / "images" / "tool-1.tar").unlink()
    Lab("x", 1).save()
    store.forget()  # linked to
    assert not said.exists()
    shutil.rmtree(cache / "labs")
    store.forget()
    store.forget()  # gone already
    assert said.read_text() == "images rm --sync localhost/slipway/tool:1\n"
