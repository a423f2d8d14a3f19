"""A comment has room for so much; what does not fit is left out, and that is said."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from operations.report import html, markdown
from operations.report.markdown import LIMIT
from tests.unit.components.deployed import settings_of
from tests.unit.operations.report.test_escaping import outside_fences
from tests.unit.operations.report.told import change, report, said, step, violation, workers

MAP = "kubernetes:core/v1:ConfigMap"


def maps(count: int, lines: int) -> list[dict[str, object]]:
    text = "".join(f"line {at} of a file that nobody reads to its end\n" for at in range(lines))
    return [step("create", MAP, f"map-{at}", None, {"data": {"text": text}}) for at in range(count)]


def test_what_fits_is_whole() -> None:
    written = markdown.render(report(*maps(3, 30)))
    assert "Shortened" not in written
    assert written.count("line 29 of") == 3


def test_what_does_not_fit_is_left_out_and_that_is_said() -> None:
    found = report(*maps(150, 60))
    written = markdown.render(found)
    assert len(written) <= LIMIT
    assert "**Shortened** to fit a comment. Left out: " in written
    assert "changed resources" in written
    assert "--html --out report.html" in written
    assert "map-149" in html.render(found)


def test_a_cut_text_says_so_where_it_was_cut() -> None:
    written = markdown.render(report(*maps(2, 3000)))
    assert len(written) <= LIMIT
    assert "more lines" in written


def test_what_matters_most_is_kept_to_the_last() -> None:
    jobs = tuple(f"{number} (alice, on worker-3)" for number in range(5000))
    written = markdown.render(report(change(workers(4), workers(2), waited_for=jobs), *maps(250, 100)))
    assert len(written) <= LIMIT
    assert "5000 running jobs are waited for" in written.splitlines()[1]
    assert "Drains `worker-[2-3]` first" in written
    assert "more`" in written


def test_many_partitions_fit() -> None:
    def many(time: str) -> dict[str, object]:
        return {f"p{at}": {"nodeSets": ["worker"], "maxTime": time, "default": at == 0} for at in range(400)}

    written = markdown.render(report(change(settings_of(partitions=many("1h")), settings_of(partitions=many("2h")))))
    assert len(written) <= LIMIT
    assert "steps of the plan" in written


@pytest.mark.parametrize("sign", ["|", "<", "`", "@", "&", "\u202e", "*"])
def test_signs_that_grow_when_escaped_fit_too(sign: str) -> None:
    long = sign * 1000
    events = [violation(f"{at}{long}", policy=f"{at}{long}", resource=f"{at}{long}") for at in range(60)]
    events += [step("delete", f"a:b:{long}", f"{at}{long}", {"x": 1}) for at in range(60)]
    jobs = tuple(f"{at}{long}" for at in range(60))
    events += [change(workers(4), workers(2), waited_for=jobs, stranded=jobs, unreachable=long)]
    written = markdown.render(report(*events, *(said(f"{at}{long}\n" * 9, "error") for at in range(60))))
    assert len(written) <= LIMIT
    outside_fences(written)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 2000))
def test_no_report_is_ever_too_long(resources: int, lines: int, jobs: int) -> None:
    waiting = tuple(f"{number} (alice, on worker-3)" for number in range(jobs))
    text = "x\n" * lines
    events = [step("update", MAP, f"m{at}", {"data": {"t": ""}}, {"data": {"t": text}}) for at in range(resources)]
    written = markdown.render(report(change(workers(4), workers(2), waited_for=waiting), *events))
    assert len(written) <= LIMIT
    assert written.startswith("<!-- slipway-report: dev -->\n")
