"""Rows of small integers: within +-127, at most 128 wide, and near where the attributes are."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from graphs import view_of
from lsprune import LSP, Graph, GraphError
from lsprune.hashing.base import View
from lsprune.hashing.quantised_rows import MAX_PLAIN_COLUMNS, PROJECTED_COLUMNS, quantised_rows, row_blocks, width


def view_of_rows(x: object, edge_attr: np.ndarray | None = None, executor: str = "cpu") -> View:
    ends = np.stack([np.arange(40), (np.arange(40) * 7 + 1) % 40])
    return view_of(LSP(k=1), Graph.from_edges(ends, num_nodes=40, x=x, edge_attr=edge_attr), executor=executor)


def attributes(columns: int, seed: int = 0) -> np.ndarray:
    """Ten kinds of rows, four of each."""
    rng = np.random.default_rng(seed)
    kinds = rng.normal(0, 1, (10, columns))
    return (np.repeat(kinds, 4, axis=0) + rng.normal(0, 0.2, (40, columns))).astype(np.float32)


@pytest.mark.parametrize("columns", [5, MAX_PLAIN_COLUMNS, MAX_PLAIN_COLUMNS + 1, 600])
def test_rows_of_a_kind_are_nearest_to_each_other(columns):
    view = view_of_rows(attributes(columns))
    rows = quantised_rows(view, {"neighbour": np.arange(40)})
    assert rows.shape == (40, width(view)) == (40, columns if columns <= MAX_PLAIN_COLUMNS else PROJECTED_COLUMNS)
    assert rows.dtype == np.int16
    assert 64 <= np.abs(rows).max() <= 127
    apart = ((rows[:, None].astype(int) - rows[None]) ** 2).sum(2)
    np.fill_diagonal(apart, 2**40)
    assert (apart.argmin(1) // 4 == np.arange(40) // 4).mean() > 0.9


@pytest.mark.parametrize("columns", [5, 300])
def test_sparse_rows_and_the_reference_give_the_same_numbers(columns):
    x, ids = attributes(columns), {"neighbour": np.arange(40)}
    expected = quantised_rows(view_of_rows(x), ids)
    np.testing.assert_array_equal(quantised_rows(view_of_rows(scipy.sparse.csr_array(x)), ids), expected)
    np.testing.assert_array_equal(quantised_rows(view_of_rows(x, executor="reference"), ids), expected)


def test_blocks_are_the_rows_of_the_slots_with_all_parts_side_by_side():
    x, edges = attributes(3), attributes(4, 1)
    view = view_of_rows(x, edges)
    blocks, read = row_blocks(view, 7)
    assert blocks == [(lo, min(lo + 7, 40)) for lo in range(0, 40, 7)]
    found = np.concatenate([read(*block) for block in blocks])
    owned = view.owned
    expected = quantised_rows(view, {"edge": owned.edges(0, 40), "neighbour": owned.neighbour})
    np.testing.assert_array_equal(found, expected)
    assert found.shape == (40, 7)


def test_what_is_not_finite_is_named():
    view, bad = view_of_rows(attributes(3)), attributes(3)
    bad[5, 1] = np.nan
    object.__setattr__(view.parts["neighbour"].rows, "values", bad)
    with pytest.raises(GraphError, match="x must be finite"):
        quantised_rows(view, {"neighbour": np.arange(40)})
