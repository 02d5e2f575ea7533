"""PyG's `EdgeIndex`: what it remembers of its edges stays true after a mask."""

from __future__ import annotations

import numpy as np
from pyg_helpers import graph_of, rebuild, undirected

# isort: split
import torch
from torch_geometric import EdgeIndex

from lsprune.adapters.pyg import find
from lsprune.adapters.pyg.edge_index import keep_edge_index
from lsprune.adapters.pyg.tensors import DeviceMask


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


# On a GPU ------------------------------------------------------------------------------------------------------------


def test_edge_index_is_read_on_its_device(cpu_is_gpu):
    given = undirected()
    adapter = find(given)
    assert adapter.device(given) == torch.device("cpu")
    graph = adapter.device_graphs(given)[None]
    assert graph.source.data_ptr() == given.as_tensor().data_ptr() and graph.num_nodes == 5
    assert graph.facts.by_source and not graph.facts.by_target
    pair = adapter.device_graphs(EdgeIndex([[0, 1], [3, 2]], sparse_size=(2, 4)))[None]
    assert (pair.num_sources, pair.num_targets, pair.bipartite) == (2, 4, True)


def test_joined_edge_indices_know_their_parts_after_a_mask_on_a_device():
    given = torch.cat([undirected(), undirected()], 1)
    for kept in (np.arange(12) != 0, np.arange(12) < 8):
        here, there = (
            keep_edge_index(given, kept),
            keep_edge_index(given, DeviceMask(torch.from_numpy(kept), kept.sum())),
        )
        assert there._cat_metadata == here._cat_metadata is not None
        assert torch.equal(there.as_tensor(), here.as_tensor()) and there.is_undirected == here.is_undirected
