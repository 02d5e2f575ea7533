"""`Data` and `HeteroData`: what is read, what is rebuilt from a hand-made mask, and what is left alone."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from pyg_helpers import HETERO_MASK, KNOWS, LIKES, data, graph_of, hetero, matrix, rebuild, same, several

# isort: split
import torch
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.transforms import ToSparseTensor

from lsprune import LSP, prune
from lsprune.adapters.pyg import find
from lsprune.baselines import TopWeight
from lsprune.errors import GraphError


def test_data_is_read_in_place():
    given = data()
    graph = graph_of(given)
    assert np.shares_memory(graph.target, given.edge_index.numpy())
    assert np.shares_memory(graph.x, given.x.numpy())
    assert np.shares_memory(graph.edge_attr, given.edge_attr.numpy())
    assert (graph.num_nodes, graph.num_edges, graph.num_graphs) == (5, 5, 1)


def test_the_given_object_stays_as_it_was():
    given = data(edge_weight=torch.ones(5), y=torch.arange(5))
    before, store = copy.deepcopy(given), given._store
    out = rebuild(given, weight=np.full(5, 2, np.float32), e_id=True)
    out.new = 1
    assert given._store is store
    assert out._store is not store
    assert out._store._parent() is out
    assert same(given, before)


def test_empty_graph_and_empty_mask():
    none = Data(x=torch.ones(3, 1), edge_index=torch.empty(2, 0, dtype=torch.int64))
    assert graph_of(none).num_edges == 0
    assert rebuild(none, np.array([], dtype=bool)).edge_index.shape == (2, 0)
    out = rebuild(data(), np.zeros(5, bool), e_id=True)
    assert (out.edge_index.shape, out.edge_attr.shape, out.e_id.shape) == ((2, 0), (0,), (0,))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_data_on_a_gpu_stays_there():
    given = data(edge_weight=torch.ones(5)).to("cuda")
    assert graph_of(given).num_edges == 5
    out = rebuild(given, weight=np.full(5, 2, np.float32), e_id=True)
    assert {value.device.type for value in out.to_dict().values()} == {"cuda"}
    assert out.edge_index.tolist() == [[0, 2, 2], [1, 0, 4]]


# HeteroData ----------------------------------------------------------------------------------------------------------


def test_hetero_has_a_graph_for_each_relation():
    read = find(hetero()).graphs(hetero())
    assert list(read) == [LIKES, KNOWS]
    likes, knows = read[LIKES], read[KNOWS]
    assert (likes.bipartite, likes.num_sources, likes.num_targets) == (True, 3, 2)
    assert (likes.x[0].shape, likes.x[1].shape) == ((3, 2), (2, 4))
    assert likes.edge_attr.tolist() == [1, 2, 3, 4]
    assert (knows.bipartite, knows.num_nodes, knows.x.shape) == (False, 3, (3, 2))


def test_hetero_is_rebuilt_relation_by_relation():
    given = hetero()
    given[LIKES].edge_label_index = given[LIKES].edge_index
    given[LIKES].edge_label = torch.ones(4)
    given[LIKES].names = list("abcd")
    given[LIKES].hops = [1, 2]
    before = copy.deepcopy(given)
    out = rebuild(given, HETERO_MASK, key=LIKES, e_id=True, weight=np.full(4, 2, np.float32))
    likes = out[LIKES]
    assert likes.edge_index.tolist() == [[0, 2], [1, 1]]
    assert (likes.edge_attr.tolist(), likes.time.tolist(), likes.names) == ([1, 4], [5, 8], ["a", "d"])
    assert (likes.e_id.tolist(), likes.edge_weight.tolist(), likes.hops) == ([0, 3], [2, 2], [1, 2])
    assert likes.edge_label_index.shape == (2, 4)
    assert likes.edge_label.shape == (4,)
    assert same(out[KNOWS].to_dict(), given[KNOWS].to_dict())
    assert same(given, before)
    assert list(find(given).masks(given, {LIKES: HETERO_MASK})) == [LIKES]


def test_hetero_reading_adds_no_node_type():
    given = HeteroData()
    given[LIKES].edge_index = torch.tensor([[0, 3], [1, 0]])
    graph = graph_of(given, LIKES)
    assert (graph.num_sources, graph.num_targets) == (4, 2)
    assert given.node_types == []


def test_hetero_adj_t_states_the_numbers_of_nodes():
    given = HeteroData()
    given[LIKES].adj_t = matrix("sparse_csr", [0, 1], [3, 0], (2, 5))
    graph = graph_of(given, LIKES)
    assert (graph.num_sources, graph.num_targets) == (5, 2)


def test_hetero_adj_t():
    given = ToSparseTensor()(hetero())
    graph = graph_of(given, LIKES)
    assert (graph.num_sources, graph.num_targets) == (3, 2)
    out = rebuild(given, HETERO_MASK, key=LIKES)
    source, target = graph.ends()
    assert out[LIKES].adj_t.to_dense().nonzero().tolist() == sorted([[target[0], source[0]], [target[3], source[3]]])
    assert torch.equal(out[LIKES].edge_attr, given[LIKES].edge_attr[[0, 3]])


def test_hetero_skips_relations_with_labels_only():
    given = hetero()
    given["user", "may_like", "item"].edge_label_index = torch.tensor([[0], [1]])
    assert list(find(given).graphs(given)) == [LIKES, KNOWS]


def test_hetero_without_edges_is_refused():
    given = HeteroData()
    given["user"].x = torch.ones(2, 1)
    with pytest.raises(GraphError, match="needs a relation"):
        find(given).graphs(given)


# On a GPU ------------------------------------------------------------------------------------------------------------


def test_data_is_read_on_its_device_without_a_copy(cpu_is_gpu):
    given = data()
    graph = find(given).device_graphs(given)[None]
    assert graph.source.data_ptr() == given.edge_index.data_ptr()
    assert graph.x.data_ptr() == given.x.data_ptr() and graph.edge_attr.data_ptr() == given.edge_attr.data_ptr()
    assert (graph.num_nodes, graph.num_edges, graph.num_graphs) == (5, 5, 1)
    assert find(given).device(given) == torch.device("cpu")


def test_data_in_host_memory_is_on_no_device():
    for given in (data(), hetero(), data().edge_index, Batch.from_data_list(several())):
        assert find(given).device(given) is None
    assert find(several()).device(several()) is None


@pytest.mark.parametrize("vector", ["ptr", "batch"])
def test_graphs_of_a_batch_are_told_apart_on_a_device(vector, cpu_is_gpu):
    given = Batch.from_data_list(several())
    if vector == "batch":
        del given.ptr
    graph = find(given).device_graphs(given)[None]
    assert graph.num_graphs == 3 and graph.target_ptr.tolist() == [0, 3, 5, 9]
    given.batch = given.batch.flip(0)
    if vector == "batch":
        with pytest.raises(GraphError, match="batch must be sorted, so that the nodes of each graph are consecutive"):
            find(given).device_graphs(given)


def test_relations_are_read_on_their_device(cpu_is_gpu):
    given = hetero()
    graphs = find(given).device_graphs(given)
    assert set(graphs) == {LIKES, KNOWS}
    likes, knows = graphs[LIKES], graphs[KNOWS]
    assert (likes.num_sources, likes.num_targets, likes.bipartite) == (3, 2, True)
    assert likes.x_source.data_ptr() == given["user"].x.data_ptr() and likes.x_target.shape == (2, 4)
    assert knows.num_nodes == 3 and not knows.bipartite
    both = Batch.from_data_list([hetero(), hetero()])
    several_graphs = find(both).device_graphs(both)[LIKES]
    assert (several_graphs.source_ptr.tolist(), several_graphs.target_ptr.tolist()) == ([0, 3, 6], [0, 2, 4])


def test_errors_of_data_on_a_device_are_those_of_the_host(cpu_is_gpu):
    wrong = [
        {"edge_index": torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 7]])},
        {"edge_index": torch.tensor([[0, 1, -2, 3, 4], [1, 2, 3, 4, 0]])},
        {"edge_index": torch.ones(2, 5)},
        {"x": torch.tensor([[0.0, 0], [1, 1], [float("nan"), 0], [3, 0], [4, 0]])},
        {"x": torch.ones(4, 2), "num_nodes": 5},
        {"edge_attr": torch.ones(4)},
    ]
    for changes in wrong:
        given, texts = data(), []
        for name, value in changes.items():
            given[name] = value
        for executor in ("cpu", None):
            with pytest.raises(GraphError) as told:
                LSP(k=1).mask(given, executor=executor)
            texts.append(str(told.value))
        assert texts[0] == texts[1]


def test_relations_within_one_type_have_its_labels():
    rng = np.random.default_rng(0)
    given = HeteroData()
    given["user"].x = torch.from_numpy(rng.standard_normal((30, 4)).astype(np.float32))
    given["user"].y, given["user"].train_mask = torch.arange(30) % 2, torch.arange(30) < 20
    given["item"].num_nodes = 5
    given["user", "knows", "user"].edge_index = torch.from_numpy(rng.integers(0, 30, (2, 200)))
    given["user", "likes", "item"].edge_index = torch.from_numpy(np.stack([np.arange(30), np.arange(30) % 5]))
    graphs = find(given).graphs(given)
    knows, likes = graphs["user", "knows", "user"], graphs["user", "likes", "item"]
    assert knows.y.tolist() == given["user"].y.tolist() and knows.train_mask.tolist() == [True] * 20 + [False] * 10
    assert likes.y is None
    pruner = TopWeight(k=2, weights="labels")
    masks = prune(given, {("user", "knows", "user"): pruner})
    expected = pruner.fit(knows).mask(knows)
    assert masks["user", "knows", "user"].edge_index.tolist() == np.stack(knows.ends())[:, expected].tolist()
    with pytest.raises(GraphError, match="needs one kind of nodes"):
        prune(given, {("user", "likes", "item"): pruner})
