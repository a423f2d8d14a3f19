"""Values mean what they say: what was rendered reads the same, and nothing is taken for what it is not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from config.types import (
    CountLimit,
    CountOrPercent,
    CpuQuantity,
    Duration,
    Hostname,
    Integer,
    Interval,
    MemorySize,
    SizeLimit,
    String,
    Switch,
    Timeout,
)
from config.types.duration import LONGEST
from config.types.parsed import Parsed
from config.types.text import Text, unsafe_character

MIB = 1 << 20
seconds = st.integers(0, LONGEST)
sizes = st.integers(MIB, (1 << 63) - 1)


@given(st.one_of(st.none(), seconds))
def test_a_duration_survives_being_rendered(value: int | None) -> None:
    assert Duration.parse(str(Duration(value))) == Duration(value)
    assert Timeout.parse(str(Timeout(value))) == Timeout(value)


@given(seconds)
def test_an_interval_survives_being_rendered(value: int) -> None:
    assert Interval.parse(str(Interval(value))) == Interval(value)


@given(sizes)
def test_a_size_survives_being_rendered(value: int) -> None:
    assert MemorySize.parse(str(MemorySize(value))) == MemorySize(value)


@given(st.one_of(st.none(), st.just(0), sizes))
def test_a_limit_survives_being_rendered(value: int | None) -> None:
    assert SizeLimit.parse(str(SizeLimit(value))) == SizeLimit(value)
    if value != 0:
        assert CountLimit.parse(str(CountLimit(value))) == CountLimit(value)


@pytest.mark.parametrize("text", ["0", "-1", "1Ki", "9223372036854775808", "none", ""])
def test_what_is_no_number_of_things_is_no_limit_of_them(text: str) -> None:
    with pytest.raises(ValueError, match=r"^$|at least 1"):
        CountLimit.parse(text)


@given(st.integers(1, 65_533_000))
def test_a_share_of_cpus_survives_being_rendered(milli: int) -> None:
    assert CpuQuantity.parse(str(CpuQuantity(milli))) == CpuQuantity(milli)


@given(st.integers(1, 100), st.booleans())
def test_a_count_survives_being_rendered(value: int, percent: bool) -> None:
    assert CountOrPercent.parse(str(CountOrPercent(value, percent))) == CountOrPercent(value, percent)


@given(st.integers(1, 100), st.booleans(), st.integers(1, 70_000))
def test_a_share_is_at_least_one_and_never_more_than_all(value: int, percent: bool, total: int) -> None:
    assert 1 <= CountOrPercent(value, percent).of(total) <= total


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30", 1800),
        ("30:15", 1815),
        ("2:00:00", 7200),
        ("1-12", 129600),
        ("1-00:30", 88200),
        ("1-00:00:01", 86401),
        ("90s", 90),
        ("10m", 600),
        ("2h", 7200),
        ("1d12h", 129600),
        ("UNLIMITED", None),
        ("infinite", None),
    ],
)
def test_durations_in_every_format(text: str, expected: int | None) -> None:
    assert Duration.parse(text).seconds == expected


def test_durations_are_rendered_as_slurm_prints_them() -> None:
    assert [str(Duration(value)) for value in (0, 90, 3600, 86400, 90061, None)] == [
        "00:00:00",
        "00:01:30",
        "01:00:00",
        "1-00:00:00",
        "1-01:01:01",
        "UNLIMITED",
    ]


def test_minutes_are_rounded_up_as_slurm_does() -> None:
    assert [Duration(value).minutes for value in (0, 1, 60, 61)] == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("text", "mib"), [("512Mi", 512), ("1Gi", 1024), ("1.5Gi", 1536), ("2G", 1907), ("1048576", 1), ("1Ti", 1 << 20)]
)
def test_sizes_in_every_unit(text: str, mib: int) -> None:
    assert MemorySize.parse(text).mib == mib


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *((Duration, text) for text in ("", "x", "1-", "-1", "1h1d", "1.5h", "1D", "1:2:3:4", "٣", "9" * 30)),
        *((Interval, text) for text in ("5", "", "UNLIMITED")),
        *((MemorySize, text) for text in ("", "1", "1Ei", "1ki", "0.3Mi5", "1m", "1 Gi", "9" * 30)),
        *((CpuQuantity, text) for text in ("", "0", "0m", "1.0001", "-1", "1e3", "70000")),
        *((CountOrPercent, text) for text in ("", "0", "0%", "101%", "1.5", "-1", "%")),
    ],
)
def test_nonsense_is_refused(kind: type[Parsed], text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 -- the words are those of the caller
        kind.parse(text)


@pytest.mark.parametrize("kind", [Duration, Interval, Timeout, MemorySize, CpuQuantity, CountOrPercent])
@given(text=st.text(max_size=12, alphabet="0123456789dhmsKMGTi:-.%UNLIMTEDunlimted "))
def test_the_schema_of_a_type_allows_all_that_the_type_reads(kind: type[Parsed], text: str) -> None:
    try:
        kind.parse(text)
    except ValueError:
        return
    assert re.search(kind.pattern, text)


@given(st.integers(-(10**17), 10**17))
def test_a_number_may_be_written_as_text(value: int) -> None:
    assert TypeAdapter(Integer).validate_python(str(value)) == value


@pytest.mark.parametrize(
    "value", [True, "", "1.0", "0x", "0x1g", "_1", "9" * 21, "\uff14", 1.5, float("nan"), float("inf"), None, [1]]
)
def test_what_is_no_whole_number_is_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Integer).validate_python(value)


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("False", False), (True, True), (False, False)])
def test_a_switch_may_be_written_as_text(value: object, expected: bool) -> None:
    assert TypeAdapter(Switch).validate_python(value) is expected


@pytest.mark.parametrize(("value", "expected"), [("123", "123"), (123, "123"), (True, "true"), ("true", "true")])
def test_text_stays_text(value: object, expected: str) -> None:
    assert TypeAdapter(String).validate_python(value) == expected


@pytest.mark.parametrize(
    "host", ["db", "db-1.example.com", "DB.example.com", "10.0.0.1", "2001:db8::1", "::ffff:10.0.0.1", "3com.example"]
)
def test_a_host_is_a_name_or_an_address(host: str) -> None:
    assert TypeAdapter(Hostname).validate_python(host) == host


@given(st.text(min_size=1))
def test_text_that_passes_cannot_break_out_of_its_line(text: str) -> None:
    try:
        kept = TypeAdapter(Text).validate_python(text)
    except ValidationError:
        return
    assert kept == text
    assert len(kept.splitlines()) == 1
    assert not set(kept) & set('#"\\')


@given(st.characters(categories=["Cc", "Zl", "Zp"]))
def test_every_control_character_and_line_separator_is_unsafe(character: str) -> None:
    assert unsafe_character(f"a{character}b")
