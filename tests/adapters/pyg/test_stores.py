"""What belongs to the edges of one PyG store, told by name, and how it follows a mask."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.sparse
from pyg_helpers import KEPT, LAYOUTS, SOURCE, TARGET, data, edges, graph_of, matrix, rebuild, same

# isort: split
import torch
from torch_geometric import EdgeIndex
from torch_geometric.data import Data
from torch_geometric.transforms import ToSparseTensor

from lsprune import LocalRandom, prune
from lsprune.adapters.pyg.stores import read_on_device, with_labels
from lsprune.errors import EdgeEntryWarning, GraphError, NoGpuPath


def test_names_tell_what_belongs_to_the_edges():
    node = {name: torch.arange(5) for name in ("y", "time", "train_mask", "weight", "node_type", "n_id", "pos")}
    edge = {name: torch.arange(5) * 7 for name in ("edge_weight", "edge_type", "edge_time", "edge_id", "e_id")}
    other = {
        "edge_label": torch.arange(5), "edge_label_index": edges(), "edge_label_time": torch.arange(5),
        "neg_edge_index": edges(), "edge_index_knn": edges(), "edge_dim": 5, "edge_kind": "bond", "name": "abcde",
    }  # fmt: skip
    given = data(**node, **edge, **other)
    given.is_edge_attr("y")  # fills PyG's cache with what it guesses from the length
    out = rebuild(given)
    assert out.edge_index.tolist() == [[0, 2, 2], [1, 0, 4]]
    for name in ("edge_attr", *edge):
        assert torch.equal(out[name], given[name][KEPT]), name
    for name in ("x", *node, *other):
        assert out[name] is given[name], name


def test_edge_entries_of_every_kind_are_masked():
    given = data(
        edge_name=list("abcde"), edge_array=np.arange(5), edge_half=torch.arange(5).bfloat16(),
        edge_wide=torch.arange(20).view(5, 2, 2), edge_flag=torch.tensor([True, False, True, False, True]),
    )  # fmt: skip
    out = rebuild(given)
    assert out.edge_name == ["a", "c", "d"]
    assert out.edge_array.tolist() == KEPT
    assert out.edge_half.dtype == torch.bfloat16
    assert out.edge_half.tolist() == KEPT
    assert torch.equal(out.edge_wide, given.edge_wide[KEPT])
    assert out.edge_flag.tolist() == [True, True, False]


def test_a_gradient_flows_to_the_kept_weights():
    weight = torch.ones(5, requires_grad=True)
    rebuild(data(edge_weight=weight), weight=np.full(5, 3, np.float32)).edge_weight.sum().backward()
    assert weight.grad.tolist() == [3, 0, 3, 3, 0]


@pytest.mark.parametrize("value", [torch.arange(4), np.arange(6), list("ab"), {"a": torch.arange(5)}])
def test_edge_entry_of_wrong_length_is_named(value):
    with pytest.raises(GraphError, match="edge_thing must have one entry for each of the 5 edges"):
        rebuild(data(edge_thing=value))


def test_a_subclass_may_hold_edges_in_another_dimension():
    class Wide(Data):
        def __cat_dim__(self, key, value, *args, **kwargs):
            return 1 if key == "edge_wide" else super().__cat_dim__(key, value, *args, **kwargs)

    out = rebuild(Wide(edge_index=edges(), num_nodes=5, edge_wide=torch.arange(10).view(2, 5)))
    assert out.edge_wide.tolist() == [[0, 2, 3], [5, 7, 8]]
    assert type(out) is Wide


def test_extras_are_put_on_the_result():
    factors = np.arange(5, dtype=np.float32)
    out = rebuild(data(), weight=factors, e_id=True)
    assert (out.e_id.dtype, out.e_id.tolist()) == (torch.int64, KEPT)
    assert (out.edge_weight.dtype, out.edge_weight.tolist()) == (torch.float32, KEPT)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.int64])
def test_a_weight_that_is_there_is_multiplied(dtype):
    weight = torch.tensor([1, 2, 3, 4, 5], dtype=dtype).view(5, 1)
    out = rebuild(data(edge_weight=weight), weight=np.array([2, 1, 0.5, 1, 1], np.float32))
    assert out.edge_weight.dtype == (dtype if dtype.is_floating_point else torch.float32)
    assert out.edge_weight.tolist() == [[2], [1.5], [4]]


def test_e_id_replaces_an_older_one_only_on_demand():
    given = data(e_id=torch.tensor([9, 8, 7, 6, 5]))
    assert rebuild(given).e_id.tolist() == [9, 7, 6]
    assert rebuild(given, e_id=True).e_id.tolist() == KEPT


def test_notes_of_edge_numbers_follow():
    given = data(num_sampled_edges=[2, 2, 1], num_sampled_nodes=[1, 2, 2])
    given["num_edges"] = 5
    out = rebuild(given)
    assert out.num_sampled_edges == [1, 2, 0]
    assert out.num_sampled_nodes == [1, 2, 2]
    assert out.num_edges == 3


def test_number_of_nodes_is_not_lost_with_the_last_edges():
    given = Data(edge_index=edges())
    assert graph_of(given).num_nodes == 5
    out = rebuild(given, np.array([True, False, False, False, False]))
    assert out.num_nodes == 5
    assert "num_nodes" not in given
    assert "num_nodes" not in rebuild(data())


def test_number_of_nodes_comes_from_what_the_object_states():
    assert graph_of(Data(edge_index=edges(), num_nodes=9)).num_nodes == 9
    assert graph_of(Data(edge_index=edges(), num_nodes=torch.tensor(9))).num_nodes == 9
    assert graph_of(Data(edge_index=edges(), pos=torch.zeros(8, 3))).num_nodes == 8
    assert graph_of(Data(edge_index=EdgeIndex(edges(), sparse_size=(7, 7)))).num_nodes == 7


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Data(x=torch.ones(2, 1)), r"needs edge_index \[2, E\] or a sparse adj_t, got only \['x'\]"),
        (Data(adj=torch.eye(2)), "needs edge_index"),
        (Data(edge_index=np.zeros((2, 1), int), num_nodes=2), "edge_index must be a dense tensor"),
        (Data(adj_t=torch.eye(2)), "adj_t must be a torch.sparse matrix"),
        (Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [2]])), "target ids must be in"),
        (Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0.0], [1.0]])), "edge_index must be integers"),
    ],
)
def test_data_without_usable_edges_is_refused(wrong, message):
    with pytest.raises(GraphError, match=message):
        graph_of(wrong)


def test_edges_held_twice_are_refused():
    given = data()
    given.adj_t = matrix("sparse_csr", TARGET, SOURCE, (5, 5))
    with pytest.raises(GraphError, match="edge_index and adj_t"):
        graph_of(given)


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.bool]
)
def test_dense_attributes_of_any_type(dtype):
    x = torch.tensor([[0], [1], [0], [1], [1]]).to(dtype)
    read = graph_of(Data(x=x, edge_index=edges())).x
    assert read.tolist() == x.tolist()
    assert read.dtype == (np.float32 if dtype == torch.bfloat16 else x.numpy().dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_sparse_attributes_become_scipy(layout, dtype):
    x = matrix(layout, [0, 1, 1, 4], [2, 0, 2, 1], (5, 3), torch.tensor([1, 2, 3, 4]).to(dtype))
    read = graph_of(Data(x=x, edge_index=edges())).x
    assert scipy.sparse.issparse(read)
    assert read.format == "csr"
    assert read.dtype == np.float32
    assert read.toarray().tolist() == x.to_dense().tolist()


def test_attributes_that_need_a_gradient_are_read():
    assert graph_of(Data(x=torch.ones(5, 1, requires_grad=True), edge_index=edges())).x.tolist() == [[1.0]] * 5


@pytest.mark.parametrize("layout", LAYOUTS)
def test_adj_t_rows_are_targets(layout):
    given = Data(x=torch.ones(5, 1), adj_t=matrix(layout, TARGET, SOURCE, (5, 5)), edge_attr=torch.arange(5))
    graph = graph_of(given)
    source, target = graph.ends()
    assert sorted(zip(source, target, strict=True)) == sorted(zip(SOURCE, TARGET, strict=True))
    out = rebuild(given, weight=np.full(5, 2, np.float32), e_id=True)
    assert out.adj_t.layout == given.adj_t.layout
    assert out.edge_attr.tolist() == KEPT == out.e_id.tolist()
    assert "edge_weight" not in out
    again, back = graph_of(out).ends()
    assert (again.tolist(), back.tolist()) == (source[KEPT].tolist(), target[KEPT].tolist())
    values = given.adj_t.to_dense()[target[KEPT], source[KEPT]]
    assert torch.equal(out.adj_t.to_dense()[target[KEPT], source[KEPT]], 2 * values)
    assert out.adj_t.to_dense().count_nonzero() == 3


def test_adj_t_stays_in_step_with_what_pyg_sorts():
    given = ToSparseTensor()(data(edge_weight=torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])))
    out = rebuild(given)
    source, target = graph_of(out).ends()
    number = {pair: place for place, pair in enumerate(zip(SOURCE, TARGET, strict=True))}
    places = [number[pair] for pair in zip(source.tolist(), target.tolist(), strict=True)]
    assert out.edge_attr.tolist() == [10 * place for place in places]
    assert out.adj_t.values().tolist() == [place + 1 for place in places]


# On a GPU ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x", "edge_attr"])
def test_attributes_must_be_tensors_on_the_device_of_the_edges(name):
    given = data(num_nodes=5)
    for wrong in (given[name].numpy(), given[name].to("meta")):
        store = copy.copy(given)._store
        x, store["edge_attr"] = (wrong, None) if name == "x" else (None, wrong)
        with pytest.raises(NoGpuPath, match=rf"{name} must be on the device of the edges \(cpu\) for the GPU path"):
            read_on_device(store, num_nodes=5, x=x)


def test_entries_of_every_kind_follow_a_mask_on_a_device():
    given = data(edge_weight=torch.arange(5.0), edge_names=list("abcde"), edge_notes=np.arange(5), num_edges=5)
    here = rebuild(given, e_id=True, weight=np.full(5, 2, np.float32))
    there = rebuild(given, torch.tensor([True, False, True, True, False]), e_id=True, weight=torch.full((5,), 2.0))
    assert same(there, here)
    assert there.edge_names == ["a", "c", "d"] and there.num_edges == 3 and there.e_id.tolist() == KEPT


@pytest.mark.parametrize("layout", LAYOUTS)
def test_adj_t_follows_a_mask_on_a_device(layout):
    given = Data(adj_t=matrix(layout, TARGET, SOURCE, (5, 5)), x=torch.ones(5, 1))
    mask, weight = np.array([True, False, True, True, False]), np.arange(1, 6, dtype=np.float32)
    here, there = rebuild(given, mask, weight), rebuild(given, torch.from_numpy(mask), torch.from_numpy(weight))
    assert there.adj_t.layout == here.adj_t.layout and same(there, here)
    read = read_on_device(given._store, num_nodes=5, x=given.x)
    for end, expected in zip(read.ends(), graph_of(given).ends(), strict=True):
        assert end.tolist() == expected.tolist()


def test_labels_are_read_where_they_have_a_row_for_each_node():
    given = data(y=torch.arange(5), train_mask=np.array([True, False, True, False, True]))
    graph = with_labels(graph_of(given), given._store)
    assert isinstance(graph.y, np.ndarray) and graph.y.tolist() == [0, 1, 2, 3, 4]
    assert graph.train_mask.tolist() == [True, False, True, False, True]
    there = with_labels(graph_of(given), given._store, on_device=True)
    assert there.y is given.y  # it stays on its device until it is needed
    for y in (torch.arange(4), torch.tensor(3), "label", torch.eye(5).to_sparse()):
        graph = with_labels(graph_of(data(y=y)), data(y=y)._store)
        assert graph.y is None and graph.unusable_y
    assert not graph_of(data()).unusable_y


def test_entries_with_a_row_for_each_edge_that_stay_whole_are_told():
    graph = Data(x=torch.zeros(4, 1), edge_index=torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]]), msg=torch.arange(5))
    with pytest.warns(EdgeEntryWarning, match="not pruned, .*: 'msg', with a row for each edge; .* edge_msg"):
        pruned = prune(graph, LocalRandom(k=1))
    assert pruned.msg.shape == (5,) and pruned.num_edges == 4
    graph.edge_msg = graph.msg
    del graph["msg"]
    assert prune(graph, LocalRandom(k=1)).edge_msg.shape == (4,)
    graph.x = graph.y = torch.zeros(5, 1)  # as many nodes as edges: it is not known what has a row for each edge
    prune(graph, LocalRandom(k=1))
