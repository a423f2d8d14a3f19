"""Hostlists: written, read, and computed with."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slurm.hostlist import Hosts, compress, count, difference, expand, intersection, union

prefixes = st.sampled_from(["worker-", "gpu-a100-", "n", "n0", "", "x.y-", "worker"])
numbers = st.one_of(st.integers(0, 130).map(str), st.from_regex(r"0{0,2}[0-9]{1,3}", fullmatch=True))
names = st.one_of(
    st.builds(
        lambda prefix, number, suffix: f"{prefix}{number}{suffix}", prefixes, numbers, st.sampled_from(["", "-ib"])
    ),
    st.sampled_from(["login", "worker-", "a.b"]),
)
name_lists = st.lists(names, max_size=40)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("worker-[0-2]", ["worker-0", "worker-1", "worker-2"]),
        ("n[1-3,7],login", ["n1", "n2", "n3", "n7", "login"]),
        ("n[008-011]", ["n008", "n009", "n010", "n011"]),
        ("n[9-11]", ["n9", "n10", "n11"]),
        ("n[1-010]", [f"n{at}" for at in range(1, 11)]),
        ("n[2,1,1]", ["n2", "n1", "n1"]),
        ("worker-[0-1].worker.ns2.svc", ["worker-0.worker.ns2.svc", "worker-1.worker.ns2.svc"]),
        ("[1-2]", ["1", "2"]),
        (",n1,,n2,", ["n1", "n2"]),
        ("", []),
    ],
)
def test_a_hostlist_expands_as_scontrol_does(text: str, expected: list[str]) -> None:
    assert expand(text) == expected


def test_of_several_groups_the_last_runs_fastest_and_then_the_first() -> None:
    """What `scontrol show hostnames` of 26.05 prints."""
    names = ["n1a1b1", "n1a1b2", "n2a1b1", "n2a1b2", "n1a2b1", "n1a2b2", "n2a2b1", "n2a2b2"]
    assert expand("n[1-2]a[1-2]b[1-2]") == names


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["worker-10", "worker-9", "worker-2", "worker-1"], "worker-[1-2,9-10]"),
        (["b1", "a10", "a9"], "a[9-10],b1"),
        (["n09", "n10", "n11"], "n[09-11]"),
        (["n099", "n100"], "n[099-100]"),
        (["n1", "n01", "n001"], "n[1,01,001]"),
        (["n", "n1"], "n,n1"),
        (["gpu2-0", "gpu10-0", "gpu2-1"], "gpu2-[0-1],gpu10-0"),
        (["n1-ib", "n2-ib", "n1"], "n1,n[1-2]-ib"),
        (["a", "a"], "a"),
        ([], ""),
    ],
)
def test_names_are_compressed_in_natural_order(names: list[str], expected: str) -> None:
    assert compress(names) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n[]", r"\[\] needs numbers"),
        ("n[1,,2]", "not ''"),
        ("n[a-b]", "not 'a-b'"),
        ("n[1-2-3]", "not '1-2-3'"),
        ("n[ 1]", "not ' 1'"),
        ("n[-1]", "not '-1'"),
        ("n[٣]", "needs numbers"),
        ("n[3-1]", "range 3-1 in .* runs backwards"),
        ("n[1-3", "bracket at character 2 is not closed"),
        ("n1]", "closing bracket that nothing opened at character 3"),
        ("n[[1]]", "bracket inside a bracket at character 3"),
        ("n[0-65536]", "more than 65536 hosts"),
        ("n[0-65535],m", "more than 65536 hosts"),
        ("a[1-300]b[1-300]", "more than 65536 hosts"),
        ("n[0-1234567890123456789]", "more than 18 digits"),
        ("n1234567890123456789", "more than 18 digits"),
        ("n123456789012345678[0-9]", "more than 18 digits"),
        ("a b", "character that no node name may have"),
        ("a;reboot", "character that no node name may have"),
        ("a\nb", "character that no node name may have"),
        ("$(x)", "character that no node name may have"),
    ],
)
def test_what_slurm_rejects_or_garbles_is_an_error_that_says_where(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        expand(text)
    assert repr(text) in str(error.value)


def test_a_long_hostlist_is_cut_short_in_a_message() -> None:
    with pytest.raises(ValueError, match=r"\.\.\.") as error:
        expand(f"{'n' * 500}[")
    assert len(str(error.value)) < 200


@given(name_lists)
@example(["n1", "n01", "n010", "n10"])
@example(["n018", "n18", "n19"])
def test_compressing_and_expanding_gives_the_same_names(listed: list[str]) -> None:
    text = compress(listed)
    assert set(expand(text)) == set(listed)
    assert count(text) == len(set(listed))
    assert compress(expand(text)) == text


@given(name_lists, st.randoms())
def test_the_order_of_names_does_not_matter_to_compress(listed: list[str], random: object) -> None:
    shuffled = list(listed)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert compress(shuffled) == compress(listed)


@given(name_lists, name_lists)
def test_set_arithmetic_is_that_of_the_names(a: list[str], b: list[str]) -> None:
    left, right = compress(a), compress(b)
    assert set(expand(union(left, right))) == set(a) | set(b)
    assert set(expand(difference(left, right))) == set(a) - set(b)
    assert set(expand(intersection(left, right))) == set(a) & set(b)


@given(name_lists, name_lists)
def test_equal_names_are_equal_hosts_however_they_are_written(a: list[str], b: list[str]) -> None:
    split = Hosts.parse(",".join([*a, *b, *a]))
    assert split == Hosts.parse(compress([*b, *a]))
    assert len(split) == len(set(a) | set(b))
    assert list(split) == expand(str(split))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("n[10-19]", "n1[0-9]"),
        ("n[1-2][3-4]", "n[13-14,23-24]"),
        ("n0[1-2]", "n[01-02]"),
        ("n1[8-11]", "n[18-19,110-111]"),
        ("n[1-2]x3", "n1x3,n2x3"),
        ("n[09-10]x[3-4]", "n09x[3-4],n10x3,n10x4"),
    ],
)
def test_the_last_number_of_a_name_counts_wherever_its_brackets_are(a: str, b: str) -> None:
    assert Hosts.parse(a) == Hosts.parse(b)


def test_arithmetic_on_ranges_does_not_expand_them() -> None:
    half = difference("worker-[0-65535]", "worker-[100-200,300]")
    assert half == "worker-[0-99,201-299,301-65535]"
    assert count(half) == 65536 - 102


# Mostly of what a hostlist is made of, so that much of it is nearly one; and of whatever else there is.
nearly = st.text(st.sampled_from("n0139-[],[-]._: ٣\n;$"), max_size=30)


@given(st.one_of(nearly, st.text(max_size=30)))
@example("[0-9][0-9][0-9][0-9][0-9]")
@example("n[0-999999999999999999]")
def test_any_text_is_names_or_an_error_that_shows_it(text: str) -> None:
    found, said = _read(text)
    assert not said or said.startswith(f"hostlist {text!r}: ")
    if said:
        return
    assert len(found) == count(text) <= 65536
    assert all(re.fullmatch(r"[A-Za-z0-9._:-]+", name) for name in found)
    assert compress(found) == str(Hosts.parse(text))
    assert set(expand(compress(found))) == set(found)


def _read(text: str) -> tuple[list[str], str]:
    try:
        return expand(text), ""
    except ValueError as error:
        return [], str(error)
