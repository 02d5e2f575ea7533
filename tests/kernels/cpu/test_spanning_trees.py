from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from graphs import graphs
from lsprune.kernels import cpu, reference

FEW = settings(max_examples=25, deadline=None, derandomize=True)


@given(graph=graphs(max_edges=14))
@FEW
def test_the_2_core_is_the_same(graph):
    ends = np.sort(np.stack(graph.ends()).astype(np.int64), axis=0)
    low, high = np.unique(ends[:, ends[0] != ends[1]], axis=1)
    node, other = np.concatenate([low, high]), np.concatenate([high, low])
    degree = np.bincount(node, minlength=graph.num_nodes)
    indptr, neighbour = np.cumsum([0, *degree]), other[np.argsort(node, kind="stable")]
    results = [degree.copy(), degree.copy()]
    for module, left in zip((cpu, reference), results, strict=True):
        module.two_core(indptr, neighbour, left)
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
        assert module.count_spanning_trees(indptr, neighbour, pair, np.arange(9), root, starts, 10_000, counts)
        assert counts.tolist() == [5] * 8
    for limit in range(100):
        found = [
            module.count_spanning_trees(
                indptr, neighbour, pair, np.arange(9), root, starts[:1], limit, np.zeros(8, int)
            )
            for module in (cpu, reference)
        ]
        assert found[0] == found[1]
        assert not found[0] or limit >= 8
    assert found[0]
