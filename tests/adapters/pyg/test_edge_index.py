"""PyG's `EdgeIndex`: what it remembers of its edges stays true after a mask."""

from __future__ import annotations

import numpy as np
from pyg_helpers import graph_of, rebuild, undirected

# isort: split
from torch_geometric import EdgeIndex


def test_edge_index_keeps_order_size_and_no_cache():
    given = undirected()
    given.fill_cache_()
    assert graph_of(given).num_nodes == 5
    out = rebuild(given, np.array([True, True, False, False, True, True]))
    assert (out.sort_order, out.sparse_size(), out.is_undirected) == ("row", (5, 5), True)
    out.validate()
    (pointers, _), _ = out.get_csr()
    assert pointers.tolist() == [0, 1, 2, 3, 4, 4]
    assert given.size(1) == 6


def test_edge_index_is_directed_after_a_mask_that_is_not_symmetric():
    out = rebuild(undirected(), np.array([True, True, True, False, False, True]))
    assert not out.is_undirected
    assert out.validate().tolist() == [[0, 1, 1, 3], [1, 0, 2, 2]]


def test_edge_index_counts_duplicates_when_it_looks_for_symmetry():
    given = EdgeIndex([[0, 0, 1, 1], [1, 1, 0, 0]], is_undirected=True)
    assert not rebuild(given, np.array([True, True, True, False])).is_undirected
    assert rebuild(given, np.array([True, False, True, False])).is_undirected
