"""Numbers and hashes of ids."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsprune import GraphError
from lsprune.adapters.tables.node_ids import hash_bytes, number_nodes
from lsprune.numeric.random_numbers import mix64

GOLDEN = [8147104208329303767, 3387040954141595551, 7045374413510192651, 2435593692745039892]


def plain_hash(value: bytes) -> int:
    """The definition: splitmix64 of the length, then of each eight bytes, little-endian, padded with zeros."""
    state = mix64(np.array([len(value)], np.uint64))
    for start in range(0, len(value), 8):
        word = int.from_bytes(value[start : start + 8].ljust(8, b"\0"), "little")
        state = mix64(state ^ np.array([word], np.uint64))
    return int(state[0]) >> 1


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_hashes_are_those_of_the_definition(values):
    array = pa.array([b"", *values], pa.large_binary())
    expected = [plain_hash(value) for value in values]
    assert hash_bytes(array).tolist()[1:] == expected
    assert hash_bytes(array[1:]).tolist() == expected  # a slice of an array


def test_hashes_do_not_change():
    assert hash_bytes(pa.array(["", "a", "user 17", "ein längerer Name"])).tolist() == GOLDEN


def test_values_and_numbers_belong_together():
    columns = {"a": pa.chunked_array([["x", "yy"], ["x"]]), "b": pa.chunked_array([["z", "yy"]])}
    nodes = number_nodes(columns)
    assert nodes.count == 3 and [nodes.value(n) for n in nodes.numbers[0]] == ["x", "yy", "x"]
    assert [nodes.value(n) for n in nodes.numbers[1]] == ["z", "yy"]
    assert np.all(np.diff(nodes.ids) > 0)


def test_small_whole_numbers_are_numbers_already_unless_compact():
    columns = {"a": pa.chunked_array([[5, 2]]), "b": pa.chunked_array([[2, 9]])}
    nodes = number_nodes(columns)
    assert nodes.count == 10 and nodes.ids is None and nodes.numbers[0].tolist() == [5, 2]
    compact = number_nodes(columns, compact=True)
    assert compact.count == 3 and compact.ids.tolist() == [2, 5, 9] and compact.numbers[1].tolist() == [0, 2]


def test_numbers_beyond_63_bits_are_refused():
    with pytest.raises(GraphError, match="ids must be below 2\\^63"):
        number_nodes({"a": pa.chunked_array([pa.array([2**63], pa.uint64())])})
