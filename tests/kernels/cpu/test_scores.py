"""What baselines rank by: the compiled kernels against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphs import graphs
from lsprune.kernels import cpu, reference, runtime
from lsprune.selection.owners import by_owner

FEW = settings(max_examples=25, deadline=None, derandomize=True)


@given(values=st.lists(st.integers(1, 2**64 - 1) | st.integers(0, 100), max_size=20))
@FEW
def test_logarithms_are_the_same(values):
    numbers, results = np.array(values, np.uint64), []
    for module in (cpu, reference):
        out = np.full(len(values), -1)
        module.log2_fixed(numbers, len(values) // 3, len(values), out)
        results.append(out.tolist())
    assert results[0] == results[1]


@given(graph=graphs(), width=st.integers(1, 20), seed=st.integers(0, 1000))
@FEW
def test_sets_are_compared_the_same(graph, width, seed):
    owned, nodes = by_owner(graph, "in", runtime(1)), graph.num_nodes
    table = np.random.default_rng(seed).integers(0, 5, (nodes, width)).astype(np.uint32)
    pairs = np.unique(owned.owners(0, nodes) * np.int64(nodes) + owned.neighbour)
    begins, members = np.searchsorted(pairs, np.arange(nodes + 1) * nodes), pairs % nodes
    results = []
    for module in (cpu, reference):
        rows, equal, common = (np.full((nodes, width), 7, np.uint32), *np.zeros((2, graph.num_edges), np.int32))
        for lo, hi in ((0, nodes // 2), (nodes // 2, nodes)):
            module.min_rows(owned.indptr, owned.neighbour, table, lo, hi, rows)
            module.count_equal(owned.indptr, owned.neighbour, table, lo, hi, equal)
            module.count_common(owned.indptr, owned.neighbour, begins, members, lo, hi, common)
        results.append((rows.tolist(), equal.tolist(), common.tolist()))
    assert results[0] == results[1]


@given(
    rows=st.lists(st.lists(st.floats(-(2.0**120), 2.0**120, width=32) | st.just(0.0), max_size=12), max_size=8),
    seed=st.integers(0, 1000),
)
@FEW
def test_unit_rows_and_their_products_are_the_same(rows, seed):
    indptr = np.cumsum([0, *map(len, rows)])
    x = np.array([value for row in rows for value in row], np.float32)
    column = np.array([j for row in rows for j in range(0, 2 * len(row), 2)], np.int32)
    column += np.repeat(np.arange(len(rows), dtype=np.int32) % 2, np.diff(indptr))
    pairs = np.random.default_rng(seed).integers(0, max(len(rows), 1), (2, 15 if rows else 0))
    results = []
    for module in (cpu, reference):
        unit, sparse, dense = np.zeros(x.shape, np.int16), np.zeros(pairs.shape[1], int), np.zeros(pairs.shape[1], int)
        assert module.unit_values(indptr, x, unit) == -1
        module.dot_sparse(indptr, column, unit, indptr, column, unit, *pairs, sparse)
        table = np.zeros((len(rows), 26), np.int16)
        table[np.repeat(np.arange(len(rows)), np.diff(indptr)), column] = unit
        module.dot_dense(table, table, *pairs, dense)
        assert sparse.tolist() == dense.tolist()
        results.append((unit.tolist(), sparse.tolist()))
    assert results[0] == results[1]


@pytest.mark.parametrize("where", [0, 2])
def test_rows_that_are_not_finite_are_found(where):
    x = np.ones((4, 3), np.float32)
    x[where, 1] = np.inf
    for module in (cpu, reference):
        assert module.unit_values(np.arange(5) * 3, x.reshape(-1), np.zeros(12, np.int16)) == where


def test_long_rows_do_not_overflow():
    for row in (np.full(1 << 17, 0.9), np.r_[np.ones(1), np.full((1 << 17) - 1, 2.0**-14 * 1.9)]):
        x = np.tile(row.astype(np.float32), 2)
        unit, out = np.zeros(x.shape, np.int16), np.zeros(2, np.int64)
        assert cpu.unit_values(np.array([0, 1 << 17, 1 << 18]), x, unit) == -1
        table = unit.reshape(2, -1) * np.array([[1], [-1]], np.int16)
        cpu.dot_dense(table, table, np.array([0, 0]), np.array([0, 1]), out)
        exact = int((table[0].astype(np.int64) ** 2).sum())
        assert out.tolist() == [exact, -exact]
        assert exact < 2**29


@given(graph=graphs(max_edges=14))
@FEW
def test_what_hangs_is_peeled_the_same(graph):
    ends = np.sort(np.stack(graph.ends()).astype(np.int64), axis=0)
    low, high = np.unique(ends[:, ends[0] != ends[1]], axis=1)
    node, other = np.concatenate([low, high]), np.concatenate([high, low])
    degree = np.bincount(node, minlength=graph.num_nodes)
    indptr, neighbour = np.cumsum([0, *degree]), other[np.argsort(node, kind="stable")]
    results = [degree.copy(), degree.copy()]
    for module, left in zip((cpu, reference), results, strict=True):
        module.peel(indptr, neighbour, left)
    np.testing.assert_array_equal(*results)
    for v in range(graph.num_nodes):  # in the core, links to the core are what is left, and there are at least two
        inner = int((results[0][neighbour[indptr[v] : indptr[v + 1]]] > 0).sum())
        assert results[0][v] == 0 or results[0][v] == inner >= 2


def path_of(nodes: int):
    """A path 0 - 1 - 2 ... as (indptr, neighbour, pair)."""
    rows = [[v for v in (u - 1, u + 1) if 0 <= v < nodes] for u in range(nodes)]
    indptr = np.cumsum([0, *map(len, rows)])
    flat = np.array([v for row in rows for v in row])
    return indptr, flat, np.minimum(flat, np.repeat(np.arange(nodes), np.diff(indptr)))


def test_the_tree_of_a_tree_is_itself_and_long_walks_are_given_up():
    indptr, neighbour, pair = path_of(9)
    root = (np.arange(9) == 4).astype(np.uint8)
    starts = np.arange(5, dtype=np.uint64)
    for module in (cpu, reference):
        counts = np.zeros(8, np.int64)
        assert module.spanning_trees(indptr, neighbour, pair, np.arange(9), root, starts, 10_000, counts)
        assert counts.tolist() == [5] * 8
    for limit in range(100):
        found = [
            module.spanning_trees(indptr, neighbour, pair, np.arange(9), root, starts[:1], limit, np.zeros(8, int))
            for module in (cpu, reference)
        ]
        assert found[0] == found[1]
        assert not found[0] or limit >= 8
    assert found[0]


@pytest.mark.parametrize("kind", [np.int8, np.int16])
@pytest.mark.parametrize("width", [1, 7, 64, 130])
def test_rows_of_neighbours_are_added_up(kind, width):
    rng = np.random.default_rng(width)
    indptr = np.array([0, 3, 3, 9], np.int64)
    neighbour, rows = rng.integers(0, 3, 9), rng.integers(-127, 128, (3, width)).astype(kind)
    expected = [rows[u].astype(int) + rows[neighbour[indptr[u] : indptr[u + 1]]].astype(int).sum(0) for u in range(3)]
    for module in (cpu, reference):
        for sums in (np.zeros((2, width), np.int32), np.zeros((2, width), np.int64)):
            module.sum_rows(indptr, neighbour, rows, 1, 3, sums)
            np.testing.assert_array_equal(sums, expected[1:])


def test_keys_of_neighbours_with_something_added():
    rng = np.random.default_rng(0)
    table, neighbour = rng.integers(-(2**31), 2**31, (20, 8)).astype(np.int32), rng.integers(0, 20, 50)
    extra = rng.integers(-(2**40), 2**40, 50)
    for module in (cpu, reference):
        out = np.empty((50, 5), np.int64)
        module.weigh(table, neighbour, extra, out)
        np.testing.assert_array_equal(out, table[neighbour, :5].astype(np.int64) + extra[:, None])
