"""What `make bench` makes of what the benches say."""

from xml.etree import ElementTree

import pytest

from bench.__main__ import BENCHES, ROOT, page
from bench.plot import plot

SVG = "{http://www.w3.org/2000/svg}"


def test_every_bench_is_there() -> None:
    for command in BENCHES.values():
        assert (ROOT / "bench" / command.split()[0]).is_file()


def test_the_page_has_what_was_found_and_what_was_asked_for() -> None:
    said = "worst: 2.489, within 2.5 s; load 0.7 at the end\nthe pack adds 2.50 s, NOT within 2; load 12.8\n"
    shown = page({"A step": (said, 1)})
    assert "| A step | worst | 2.489 | 2.5 s |" in shown
    assert "| A step | the pack adds | 2.50 | 2 (missed) |" in shown
    assert said.strip() in shown


@pytest.mark.parametrize("values", [(0.001, 5000.0), (3.0, 3.0)])
def test_a_picture_shows_every_point_within_its_frame(values: tuple[float, float]) -> None:
    lines = {"a < b": [(10, values[0]), (1000, values[1])], "other": [(10, 1.0)]}
    picture = ElementTree.fromstring(plot("Growth", "nodes", "s", lines))  # noqa: S314 -- our own
    points = [(float(each.attrib["cx"]), float(each.attrib["cy"])) for each in picture.iter(f"{SVG}circle")]
    assert len(points) == 3
    _, _, width, height = map(float, picture.attrib["viewBox"].split())
    assert all(0 < x < width and 0 < y < height for x, y in points)
    assert "a < b" in [each.text for each in picture.iter(f"{SVG}text")]
