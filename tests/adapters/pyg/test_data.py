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

from lsprune import LSP, LocalRandom, Timed, prune
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


@pytest.mark.parametrize("on_device", [False, True])
def test_numbers_of_nodes_are_counted_from_the_edges_unless_an_id_is_far(on_device, cpu_is_gpu):
    def graphs_of(ends):
        given = HeteroData()
        given["user"].num_nodes = 5
        given["user", "likes", "item"].edge_index = torch.tensor(ends)
        return getattr(find(given), "device_graphs" if on_device else "graphs")(given)

    graph = graphs_of([[0, 1], [7, 2]])["user", "likes", "item"]
    assert (graph.num_sources, graph.num_targets) == (5, 8)
    with pytest.raises(GraphError, match="id 67108864 is far beyond the 2 edges"):
        graphs_of([[0, 1], [1 << 26, 2]])


def test_hetero_graphs_know_their_relation(cpu_is_gpu):
    given = hetero()
    for graphs in (find(given).graphs(given), find(given).device_graphs(given)):
        assert [graph.relation for graph in graphs.values()] == list(graphs) == [LIKES, KNOWS]


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


BIG = 2**60  # whole numbers that float64 cannot tell apart


def timed_data(seed: int = 0, nodes: int = 20, edges: int = 90, **more) -> Data:
    rng = np.random.default_rng(seed)
    ends = torch.from_numpy(rng.integers(0, nodes, (2, edges)))
    return Data(edge_index=ends, num_nodes=nodes, time=torch.from_numpy(rng.permutation(edges) + BIG), **more)


EVERY = LocalRandom(k=1000, self_loops="edge")


def test_times_of_edges_stay_in_step_whatever_the_pruner():
    for name in ("time", "timestamp", "t"):
        given = timed_data()
        given[name] = given.time
        small, found = prune(given, LocalRandom(k=2), return_mask=True)
        assert torch.equal(small[name], given[name][torch.from_numpy(found)])
    nodes = timed_data()
    nodes.time = torch.arange(20)
    assert prune(nodes, LocalRandom(k=2)).time is nodes.time


def test_columns_that_a_pruner_names_are_exact_and_stay_in_step():
    given = timed_data(amount=torch.arange(90), born=torch.arange(20) * 5 + BIG)
    late = Timed(pruner=TopWeight(k=2, column="amount"), until=BIG + 40)
    small, found = prune(given, late, return_mask=True)
    for name in ("time", "amount"):
        assert torch.equal(small[name], given[name][torch.from_numpy(found)])
    assert small.time.max() <= BIG + 40 and small.born is given.born
    own = Timed(pruner=EVERY, until="owner", node_time="born").mask(given)
    assert own.tolist() == (given.time <= given.born[given.edge_index[1]]).tolist()
    neighbours = Timed(pruner=EVERY, time="born", until=BIG + 50).mask(given)
    assert neighbours.tolist() == (given.born[given.edge_index[0]] <= BIG + 50).tolist()


def test_a_column_of_as_many_nodes_as_edges_must_say_what_it_belongs_to():
    given = timed_data(nodes=30, edges=30)
    with pytest.raises(GraphError, match="time has 30 entries, .*: call it edge_time .*, node_time"):
        prune(given, Timed(pruner=EVERY, until=3))
    given.edge_time, given.node_time = given.time, given.time
    found = Timed(pruner=EVERY, time="edge_time", until="owner", node_time="node_time").mask(given)
    assert found.tolist() == (given.time <= given.time[given.edge_index[1]]).tolist()
    given.time = torch.arange(7)
    with pytest.raises(GraphError, match="time must have an entry for each of the 30 edges or of the 30 nodes, got 7"):
        prune(given, Timed(pruner=EVERY, until=3))
    with pytest.raises(GraphError, match="time 'when' needs a value of each edge.* there are 'edge_index', .*'time'"):
        prune(given, Timed(pruner=EVERY, time="when", until=3))


def test_batches_lists_and_datasets_have_times_too():
    graphs = [timed_data(seed, nodes=10 + seed, edges=40) for seed in range(4)]
    pruner = Timed(pruner=TopWeight(k=1, column="time"), until=BIG + 20)
    alone = [prune(graph, pruner) for graph in graphs]
    for pruned in (prune(graphs, pruner), prune(Batch.from_data_list(graphs), pruner).to_data_list()):
        for one, other in zip(pruned, alone, strict=True):
            assert torch.equal(one.edge_index, other.edge_index) and torch.equal(one.time, other.time)


def timed_hetero() -> HeteroData:
    rng = np.random.default_rng(3)
    given = HeteroData()
    given["user"].x, given["item"].x = torch.ones(10, 2), torch.ones(8, 2)
    given["user"].time, given["item"].time = torch.arange(10) * 6 + BIG, torch.arange(8) * 9 + BIG
    ends = np.unique(np.stack([rng.integers(0, 10, 60), rng.integers(0, 8, 60)]), axis=1)
    given[LIKES].edge_index = torch.from_numpy(ends)
    given[LIKES].time = torch.from_numpy(rng.permutation(ends.shape[1]) + BIG)
    given["item", "rev_likes", "user"].edge_index = given[LIKES].edge_index.flip(0)
    given["item", "rev_likes", "user"].time = given[LIKES].time
    return given


def test_times_of_relations_and_of_either_kind_of_nodes():
    given, back = timed_hetero(), ("item", "rev_likes", "user")
    small = prune(given, Timed(pruner=EVERY, until=BIG + 20))
    for relation in (LIKES, back):
        assert sorted(small[relation].time.tolist()) == [BIG + i for i in range(21)]
    owners = prune(given, Timed(pruner=EVERY, until="owner"))
    for relation, receiver in ((LIKES, "item"), (back, "user")):  # each direction by the time of its own receiver
        before, after = given[relation], owners[relation]
        allowed = before.time <= given[receiver].time[before.edge_index[1]]
        assert torch.equal(after.time, before.time[allowed]) and 0 < len(after.time) < len(before.time)
    assert owners["user"].time is given["user"].time
    weighted = prune(given, Timed(pruner=LocalRandom(k=1), until=BIG + 20), rescale=True)
    degrees = torch.bincount(small[LIKES].edge_index[1], minlength=8)
    assert weighted[LIKES].edge_weight.tolist() == degrees[weighted[LIKES].edge_index[1]].tolist()


def test_a_relation_without_times_is_named():
    given = timed_hetero()
    del given[LIKES].time, given["user"].time
    with pytest.raises(GraphError, match="time 'time' needs a value of each edge or neighbour"):
        prune(given, {LIKES: Timed(pruner=EVERY, until=3)})
    assert prune(given, {("item", "rev_likes", "user"): Timed(pruner=EVERY, until=BIG)})[LIKES].edge_index.shape[1] == 1
