"""The engine's values as Python values, there and back."""

from typing import Any

from google.protobuf import struct_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.plugins.server import UNKNOWN, Secret, from_struct, has_secret, has_unknown, plain, to_struct

_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.just(UNKNOWN)
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | inner.map(Secret),
    max_leaves=20,
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(), _VALUES))
def test_values_come_back_as_they_went(properties: dict[str, Any]) -> None:
    assert from_struct(to_struct(properties)) == properties


def test_integral_numbers_are_ints() -> None:
    struct = struct_pb2.Struct()
    struct.update({"size": 4, "share": 0.5})
    found = from_struct(struct)
    assert found == {"size": 4, "share": 0.5}
    assert type(found["size"]) is int


def test_unknowns_of_every_type_are_the_one_unknown() -> None:
    struct = struct_pb2.Struct()
    struct.update({"array": "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2", "text": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"})
    assert from_struct(struct) == {"array": UNKNOWN, "text": UNKNOWN}


def test_secrets_are_found_stripped_and_never_shown() -> None:
    value = {"env": {"A": Secret("hush"), "B": [Secret({"deep": UNKNOWN})]}}
    assert plain(value) == {"env": {"A": "hush", "B": [{"deep": UNKNOWN}]}}
    assert has_secret(value)
    assert not has_secret(plain(value))
    assert has_unknown(value)
    assert not has_unknown({"env": {"A": Secret("hush")}})
    assert "hush" not in repr(value)
    assert repr(UNKNOWN) == "<unknown>"
