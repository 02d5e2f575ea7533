"""What a graph is built from is checked where it comes in: what fits stays as it is, the rest gets a clear error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from lsprune.errors import GraphError
from lsprune.graph_arrays import (
    NEAR,
    attribute_array,
    attribute_pair,
    check_ids,
    column_array,
    edge_ends,
    end_pair,
    inferred_count,
    integers,
    is_far,
    label_array,
    mask_fault,
    node_column_arrays,
    node_count,
    offset_array,
    stated_sizes,
    weight_array,
)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers_of_the_usual_types_are_not_copied(dtype: Any) -> None:
    ids = np.arange(5, dtype=dtype)
    assert np.shares_memory(integers(ids, "ids"), ids)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32])
def test_other_integers_become_int64(dtype: Any) -> None:
    ids = integers(np.arange(5, dtype=dtype), "ids")
    assert ids.dtype == np.int64
    assert ids.tolist() == [0, 1, 2, 3, 4]


def test_an_empty_array_of_floats_is_an_empty_array_of_integers() -> None:
    assert integers(np.array([]), "ids").dtype == np.int64


@pytest.mark.parametrize(
    ("edge_index", "words"),
    [
        (np.zeros((3, 2), dtype=int), r"shape \[2, E\], got \[3, 2\]"),
        ((np.zeros(3, dtype=int), np.zeros(2, dtype=int)), "as many sources as targets, got 3 and 2"),
        (np.zeros((2, 3)), "must be integers, got float64"),
        ((np.zeros((2, 2), dtype=int), np.zeros(2, dtype=int)), "must have 1 dimension, got shape"),
    ],
)
def test_ends_that_do_not_fit_are_refused(edge_index: Any, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        edge_ends(edge_index)


@pytest.mark.parametrize("wrong", [-1, 4, np.iinfo(np.int32).min])
def test_the_first_id_outside_the_nodes_is_named(wrong: int) -> None:
    with pytest.raises(GraphError, match=rf"must be in \[0, 4\), got {wrong} at edge 1"):
        check_ids(np.array([0, wrong, 7], dtype=np.int32), 4, "source")


def test_only_a_bipartite_graph_takes_a_pair() -> None:
    both = object()
    assert end_pair(both, bipartite=False, name="x") == (both, both)
    assert end_pair(None, bipartite=True, name="x") == (None, None)
    with pytest.raises(GraphError, match="x of a bipartite graph must be a pair"):
        end_pair([1, 2], bipartite=True, name="x")


def test_the_number_of_nodes_is_stated_or_that_of_the_rows_or_of_the_ids() -> None:
    ids = [np.array([3, 1]), np.array([], dtype=int)]
    assert node_count(9, np.zeros((5, 1)), ids) == 9
    assert node_count(None, np.zeros((5, 1)), ids) == 5
    assert node_count(None, None, ids) == 4
    assert node_count(None, None, []) == 0


def test_one_stated_size_is_that_of_both_sides() -> None:
    assert stated_sizes(None) == (None, None)
    assert stated_sizes(3) == (3, 3)
    assert stated_sizes((3, None)) == (3, None)
    with pytest.raises(GraphError, match="one number or a pair"):
        stated_sizes((1, 2, 3))


def test_attributes_shared_by_both_sides_stay_one_object() -> None:
    x = np.eye(3)
    source, target = attribute_pair(x, x)
    assert source is target
    assert np.shares_memory(source, x)


def test_sparse_attributes_stay_sparse() -> None:
    x = sp.random(5, 4, density=0.5, format="csr")
    assert attribute_array(x, "x") is x


@pytest.mark.parametrize(("values", "words"), [(3.0, "one row for each node"), (np.array(["a"]), "x must be")])
def test_attributes_that_are_no_rows_of_numbers_are_refused(values: Any, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        attribute_array(values, "x")


def test_one_column_of_weights_is_one_number_an_edge() -> None:
    assert weight_array(np.array([[1.0], [2.0]]), 2).tolist() == [1.0, 2.0]
    with pytest.raises(GraphError, match="must have 2 values, one for each edge"):
        weight_array(np.ones((2, 2)), 2)
    with pytest.raises(GraphError, match="must have 4 values, one for each edge"):
        weight_array(np.ones((2, 2)), 4)


@pytest.mark.parametrize("offsets", [[], [1, 5], [0, 4], [0, 3, 2, 5]])
def test_offsets_that_do_not_rise_from_zero_to_the_number_of_nodes_are_refused(offsets: list[int]) -> None:
    with pytest.raises(GraphError, match="must rise from 0 to the number of nodes"):
        offset_array(np.array(offsets, dtype=int), 5)


def test_labels_have_a_row_for_each_node_of_one_kind() -> None:
    assert label_array([0, 1, 2], [3], bipartite=False, name="y").tolist() == [0, 1, 2]
    with pytest.raises(GraphError, match="y must be of 4 rows"):
        label_array([0, 1, 2], [4], bipartite=False, name="y")
    with pytest.raises(GraphError, match="y must be of one kind of nodes"):
        label_array([0, 1, 2], [3, 3], bipartite=True, name="y")


@pytest.mark.parametrize(
    ("values", "words"),
    [(np.array(["a", "b"]), "numbers or dates"), (np.ones(3), "must have 2 values"), (np.ones((2, 2)), "2 values")],
)
def test_a_column_that_does_not_fit_is_named(values: Any, words: str) -> None:
    with pytest.raises(GraphError, match=f"column 'price' .*{words}"):
        column_array(values, "price", 2, "edge")


def test_a_column_of_one_end_of_a_bipartite_graph_is_missing_at_the_other() -> None:
    columns = node_column_arrays({"age": (None, [4, 5])}, [3, 2], bipartite=True)
    assert columns is not None
    assert columns["age"][0] is None
    assert columns["age"][1].tolist() == [4, 5]


def test_far_is_relative_to_the_edges_and_never_below_a_floor() -> None:
    assert not is_far(NEAR - 1, 0)
    assert is_far(NEAR, 0)
    assert not is_far(64 * 10**8 - 1, 10**8)
    assert is_far(64 * 10**8, 10**8)


def test_the_number_of_nodes_is_not_inferred_from_a_far_id() -> None:
    assert inferred_count(NEAR - 1, 2) == NEAR
    assert inferred_count(-1, 0) == 0
    far, near = np.array([2**40, 1]), np.array([1, 2])
    for ids in ([far, near], [near, far], [far]):
        with pytest.raises(GraphError, match="id 1099511627776 is far beyond the 2 edges; number the nodes 0..N-1"):
            node_count(None, None, ids)
    assert node_count(2**41, None, [far, near]) == 2**41  # it was given


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64])
def test_a_mask_has_a_truth_value_for_each_node(dtype: Any) -> None:
    for mask in (np.array([0, 1, 1]), np.zeros(3), np.ones(3)):
        assert mask_fault(mask.astype(dtype), "train_mask", 3) == ""


@pytest.mark.parametrize(
    ("mask", "advice"),
    [
        (np.ones(5), "got float64 [5]; make it one of truth values: val_mask.bool(), of numpy val_mask.astype(bool)"),
        (
            np.array([0, 3]),
            "got int64 [2]; these look like indices: mask = zeros(5, dtype=bool); mask[val_mask] = True",
        ),
        (np.arange(5), "got int64 [5]; these look like indices: mask = zeros(5, dtype=bool); mask[val_mask] = True"),
        (np.ones((5, 10), bool), "got bool [5, 10]; of several splits, choose one: val_mask[:, 0] (--split 0)"),
        (np.ones(4, bool), "got bool [4]"),
        (np.array(True), "got bool []"),
        (np.array(list("abcde")), "got <U1 [5]"),
    ],
)
def test_a_mask_that_does_not_fit_is_described_with_what_to_do(mask: Any, advice: str) -> None:
    assert mask_fault(mask, "val_mask", 5) == f"val_mask must hold one truth value for each of the 5 nodes, {advice}"
