"""A `Batch`: several graphs in one store, and the slices that divide it after a mask."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from pyg_helpers import HETERO_MASK, LIKES, SEVERAL_MASK, SEVERAL_PARTS, edges, graph_of, hetero, rebuild, same, several

# isort: split
import torch
from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data
from torch_geometric.transforms import ToSparseTensor

from lsprune.errors import GraphError


def test_batch_is_one_graph_with_offsets():
    graph = graph_of(Batch.from_data_list(several()))
    assert graph.num_graphs == 3
    assert graph.target_ptr.tolist() == [0, 3, 5, 9]
    assert graph.num_edges == 7


def test_batch_gives_back_its_pruned_graphs():
    given = Batch.from_data_list(several(), follow_batch=["edge_attr", "edge_index"])
    before = copy.deepcopy((given._slice_dict, given._inc_dict, given.to_dict()))
    out = rebuild(given, SEVERAL_MASK, weight=np.arange(7, dtype=np.float32), e_id=True)
    want = [
        rebuild(one, part, weight=np.arange(7, dtype=np.float32)[start : start + len(part)], e_id=True)
        for one, part, start in zip(several(), SEVERAL_PARTS, [0, 3, 3], strict=True)
    ]
    assert same(out.to_data_list(), want)
    assert same(out.get_example(2), want[2])
    assert out.e_id.tolist() == np.flatnonzero(SEVERAL_MASK).tolist()
    for name in ("edge_attr", "edge_index"):
        assert out[f"{name}_batch"].tolist() == [0, 0, 2, 2]
        assert out[f"{name}_ptr"].tolist() == [0, 2, 2, 4]
    assert same((given._slice_dict, given._inc_dict, given.to_dict()), before)


def test_batch_slices_are_those_of_a_new_batch():
    out = rebuild(Batch.from_data_list(several()), SEVERAL_MASK)
    pruned = [rebuild(one, part) for one, part in zip(several(), SEVERAL_PARTS, strict=True)]
    want = Batch.from_data_list(pruned)
    assert same(out, want)
    assert same(out._slice_dict, want._slice_dict)
    assert same(out._inc_dict, want._inc_dict)


def test_batch_entries_held_graph_by_graph():
    graphs = several()
    for i, one in enumerate(graphs):
        one.edge_dim = 16 + i
        one.edge_name = list("abcd")[: one.num_edges]
    out = rebuild(Batch.from_data_list(graphs), SEVERAL_MASK)
    assert out.edge_dim.tolist() == [16, 17, 18]
    assert [one.edge_name for one in out.to_data_list()] == [["b", "c"], [], ["a", "c"]]


def test_batch_of_graphs_with_one_edge_each():
    one = {"edge_index": torch.tensor([[0], [1]]), "num_nodes": 2}
    given = Batch.from_data_list([Data(**one, edge_weight=torch.tensor([w]), edge_name=[str(w)]) for w in (3.0, 4.0)])
    out = rebuild(given, np.array([False, True]))
    assert out.edge_weight.tolist() == [4.0]
    assert [(part.edge_weight.tolist(), part.edge_name) for part in out.to_data_list()] == [([], []), ([4.0], ["4.0"])]


def test_batch_entries_that_were_added_later():
    given = Batch.from_data_list(several())
    given.e_id = torch.arange(7) * 11
    given.edge_late = torch.arange(7)
    out = rebuild(given, SEVERAL_MASK)
    assert out.edge_late.tolist() == [1, 2, 3, 5]
    assert out.e_id.tolist() == [11, 22, 33, 55]
    assert {"e_id", "edge_late"}.isdisjoint(out.get_example(0).keys())
    assert [one.e_id.tolist() for one in rebuild(given, SEVERAL_MASK, e_id=True).to_data_list()] == [[1, 2], [], [0, 2]]


def test_batch_does_not_lose_numbers_of_nodes():
    bare = [Data(edge_index=one.edge_index, num_nodes=one.num_nodes) for one in several()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyG guesses, and says so
        guessed = Batch.from_data_list([Data(edge_index=one.edge_index) for one in (bare[0], bare[2])])
    assert [one.num_nodes for one in rebuild(Batch.from_data_list(bare), SEVERAL_MASK).to_data_list()] == [3, 2, 4]
    assert [one.num_nodes for one in rebuild(guessed, np.zeros(7, bool)).to_data_list()] == [3, 4]


def test_batch_without_notes_is_read_by_its_batch_vector():
    given = Batch(x=torch.ones(5, 1), edge_index=edges(), batch=torch.tensor([0, 0, 0, 1, 1]))
    given.edge_index = torch.tensor([[0, 1, 3], [2, 0, 4]])
    assert graph_of(given).target_ptr.tolist() == [0, 3, 5]
    assert rebuild(given, np.array([True, False, True])).edge_index.tolist() == [[0, 3], [2, 4]]
    given.batch = torch.tensor([1, 0, 0, 1, 1])
    with pytest.raises(GraphError, match="sorted"):
        graph_of(given)


def test_batch_of_edge_index_knows_which_graphs_stay_undirected():
    first = EdgeIndex([[0, 1, 1, 2], [1, 0, 2, 1]], sparse_size=(3, 3), sort_order="row", is_undirected=True)
    second = EdgeIndex([[0, 1], [1, 0]], sparse_size=(2, 2), sort_order="row", is_undirected=True)
    given = Batch.from_data_list([Data(edge_index=one, num_nodes=one.sparse_size(0)) for one in (first, second)])
    out = rebuild(given, np.array([True, False, True, True, True, True]))
    out.edge_index.validate()
    assert not out.edge_index.is_undirected
    assert out.edge_index._cat_metadata.nnz == [3, 2]
    parts = [one.edge_index for one in out.to_data_list()]
    assert [part.is_undirected for part in parts] == [False, True]
    assert [part.sort_order for part in parts] == ["row", "row"]
    assert [part.validate().tolist() for part in parts] == [[[0, 1, 2], [1, 2, 1]], [[0, 1], [1, 0]]]


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr"])
def test_batch_of_adj_t(layout):
    convert = ToSparseTensor(layout=getattr(torch, layout))
    given = Batch.from_data_list([convert(one) for one in several()])
    graph = graph_of(given)
    out = rebuild(given, SEVERAL_MASK, e_id=True)
    source, target = graph.ends()
    again, back = graph_of(out).ends()
    assert (again.tolist(), back.tolist()) == (source[SEVERAL_MASK].tolist(), target[SEVERAL_MASK].tolist())
    assert torch.equal(out.edge_attr, given.edge_attr[SEVERAL_MASK])
    assert out._slice_dict["edge_attr"].tolist() == out._slice_dict["e_id"].tolist() == [0, 2, 2, 4]


def test_hetero_batch_gives_back_its_pruned_graphs():
    given = Batch.from_data_list([hetero(), hetero()])
    graph = graph_of(given, LIKES)
    assert (graph.source_ptr.tolist(), graph.target_ptr.tolist()) == ([0, 3, 6], [0, 2, 4])
    second = np.array([False, True, True, False])
    out = rebuild(given, np.concatenate([HETERO_MASK, second]), key=LIKES, e_id=True)
    want = [rebuild(hetero(), part, key=LIKES, e_id=True) for part in (HETERO_MASK, second)]
    assert same(out.to_data_list(), want)
    assert out[LIKES].e_id.tolist() == [0, 3, 5, 6]
    assert same(given.to_data_list(), [hetero(), hetero()])


# On a GPU ------------------------------------------------------------------------------------------------------------


def test_slices_of_a_batch_follow_a_mask_on_a_device():
    given = Batch.from_data_list(several(), follow_batch=["edge_attr", "edge_index"])
    here = rebuild(given, SEVERAL_MASK, e_id=True)
    there = rebuild(given, torch.from_numpy(SEVERAL_MASK), e_id=True)
    assert same(there, here) and same(there._slice_dict, here._slice_dict)
    assert same(there.to_data_list(), here.to_data_list())
    with_adj = ToSparseTensor(layout=torch.sparse_csr)
    given = Batch.from_data_list([Data(adj_t=with_adj(one).adj_t, x=one.x) for one in several()])
    here, there = (rebuild(given, mask) for mask in (SEVERAL_MASK, torch.from_numpy(SEVERAL_MASK)))
    assert same(there, here)
