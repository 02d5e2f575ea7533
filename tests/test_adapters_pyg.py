"""The PyTorch and PyG adapters: what is read, what is rebuilt from a hand-made mask, and what is left alone."""

from __future__ import annotations

import copy
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyG's import warns of its own accord (torch.jit)
    pytest.importorskip("torch_geometric")
    from torch_geometric import EdgeIndex
    from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
    from torch_geometric.transforms import ToSparseTensor

    # torch warns once, at the first sparse CSR tensor of a process
    torch.sparse_csr_tensor(torch.tensor([0, 1]), torch.tensor([0]), torch.ones(1), (1, 1))
    torch.sparse_coo_tensor(torch.tensor([[0], [0]]), torch.ones(1), (1, 1))

from lsprune.adapters.base import Kept  # noqa: E402
from lsprune.adapters.pyg import find  # noqa: E402
from lsprune.adapters.pyg.tensors import take, view  # noqa: E402
from lsprune.errors import GraphError, OptionError  # noqa: E402

# The graph of most tests has as many nodes as edges, so that nothing can be told from a length.
SOURCE, TARGET = [0, 1, 2, 2, 4], [1, 2, 0, 4, 2]
MASK = np.array([True, False, True, True, False])
KEPT = [0, 2, 3]
LIKES = ("user", "likes", "item")
KNOWS = ("user", "knows", "user")
LAYOUTS = ("sparse_coo", "sparse_csr", "sparse_csc")


def edges() -> torch.Tensor:
    return torch.tensor([SOURCE, TARGET])


def data(**more) -> Data:
    return Data(x=torch.arange(10.0).view(5, 2), edge_index=edges(), edge_attr=torch.arange(5) * 10, **more)


def several() -> list[Data]:
    """Three graphs: one without edges, and a local id that another graph also has."""
    shapes = [([[0, 1, 2], [1, 2, 0]], 3), ([[], []], 2), ([[3, 0, 0, 1], [0, 1, 2, 3]], 4)]
    return [
        Data(
            x=torch.arange(2.0 * n).view(n, 2) + 100 * i,
            edge_index=torch.tensor(ends, dtype=torch.int64),
            edge_attr=torch.arange(len(ends[0])) + 10 * i,
            y=torch.tensor([i]),
            time=torch.arange(n),
        )
        for i, (ends, n) in enumerate(shapes)
    ]


SEVERAL_MASK = np.array([False, True, True, True, False, True, False])
SEVERAL_PARTS = [np.array([False, True, True]), np.array([], dtype=bool), np.array([True, False, True, False])]


def hetero() -> HeteroData:
    one = HeteroData()
    one["user"].x = torch.arange(6.0).view(3, 2)
    one["item"].x = torch.arange(8.0).view(2, 4)
    one[LIKES].edge_index = torch.tensor([[0, 1, 2, 2], [1, 0, 0, 1]])
    one[LIKES].edge_attr = torch.tensor([1.0, 2.0, 3.0, 4.0])
    one[LIKES].time = torch.tensor([5, 6, 7, 8])
    one[KNOWS].edge_index = torch.tensor([[0, 1], [1, 2]])
    return one


HETERO_MASK = np.array([True, False, False, True])


def rebuild(given, mask=MASK, weight=None, e_id=False, key=None):
    return find(given).rebuild(given, {key: Kept(mask=mask, weight=weight, e_id=e_id)})


def graph_of(given, key=None):
    return find(given).graphs(given)[key]


def same(a, b) -> bool:
    """Equal objects, compared value by value; floats, shapes, types and keys too."""
    if isinstance(a, torch.Tensor):
        a, b = (t.to_dense() if t.layout != torch.strided else t for t in (a, b))
        return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and bool(torch.equal(a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (Data, HeteroData)):
        return type(a) is type(b) and same(a.to_dict(), b.to_dict())
    return type(a) is type(b) and bool(np.all(a == b))


def test_same_tells_a_difference():
    assert same(several(), several())
    changed = several()
    changed[2].edge_index[0, 0] = 1
    assert not same(several(), changed)


# What is found -------------------------------------------------------------------------------------------------------


def test_nothing_is_found_for_other_objects():
    assert find([]) is None
    assert find([1, 2]) is None
    assert find(np.zeros((2, 3), int)) is None


def test_tensors_need_no_pyg():
    code = (
        "import sys, torch, numpy as np; from lsprune.adapters.pyg import find; from lsprune.adapters.base import Kept;"
        "t = torch.tensor([[0, 1], [1, 0]]); out = find(t).rebuild(t, {None: Kept(mask=np.array([False, True]))});"
        "assert out.tolist() == [[1], [0]]; assert 'torch_geometric' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Bare tensors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_tensor_is_read_without_a_copy_and_rebuilt(dtype):
    tensor = edges().to(dtype)
    graph = graph_of(tensor)
    assert np.shares_memory(graph.source, tensor.numpy())
    assert (graph.num_nodes, graph.num_edges) == (5, 5)
    out = rebuild(tensor)
    assert out.dtype == dtype
    assert out.tolist() == [[0, 2, 2], [1, 0, 4]]
    assert find(tensor).masks(tensor, {None: MASK}) is MASK


def test_tensor_has_no_room_for_extras():
    with pytest.raises(OptionError, match="e_id"):
        rebuild(edges(), e_id=True)
    with pytest.raises(OptionError, match="rescale"):
        rebuild(edges(), weight=np.ones(5, np.float32))


def test_tensor_of_wrong_shape_is_refused():
    with pytest.raises(GraphError, match=r"\[2, E\]"):
        graph_of(edges().t())


def matrix(layout: str, rows: list[int], columns: list[int], size: tuple[int, int], values=None) -> torch.Tensor:
    values = torch.arange(1.0, len(rows) + 1) if values is None else values
    coo = torch.sparse_coo_tensor(torch.tensor([rows, columns]), values, size, check_invariants=True).coalesce()
    return coo.to_sparse(layout=getattr(torch, layout))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sparse_rows_are_sources(layout):
    given = matrix(layout, SOURCE, TARGET, (5, 5))
    source, target = graph_of(given).ends()
    assert sorted(zip(source, target, strict=True)) == sorted(zip(SOURCE, TARGET, strict=True))
    out = rebuild(given, weight=np.arange(5, dtype=np.float32))
    assert (out.layout, out.shape, out.dtype) == (given.layout, given.shape, given.dtype)
    want = torch.zeros(5, 5)
    for place in KEPT:
        want[source[place], target[place]] = given.to_dense()[source[place], target[place]] * place
    assert torch.equal(out.to_dense(), want)


def test_sparse_matrix_that_is_not_square_is_bipartite():
    graph = graph_of(matrix("sparse_csc", [0, 2], [1, 0], (3, 2)))
    assert (graph.bipartite, graph.num_sources, graph.num_targets) == (True, 3, 2)


def test_sparse_duplicates_stay_apart():
    indices = torch.tensor([[1, 0, 1], [0, 1, 0]])
    given = torch.sparse_coo_tensor(indices, torch.tensor([1.0, 2.0, 4.0]), (2, 2), check_invariants=True)
    assert graph_of(given).num_edges == 3
    out = rebuild(given, np.array([True, False, True]))
    assert not out.is_coalesced()
    assert out._indices().tolist() == [[1, 1], [0, 0]]
    assert out._values().tolist() == [1.0, 4.0]


def test_sparse_block_layout_is_refused():
    with pytest.raises(GraphError, match="COO, CSR or CSC"):
        graph_of(torch.eye(4).to_sparse_bsr((2, 2)))


# EdgeIndex -----------------------------------------------------------------------------------------------------------


def undirected() -> EdgeIndex:
    return EdgeIndex([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]], sparse_size=(5, 5), sort_order="row", is_undirected=True)


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


# Data ----------------------------------------------------------------------------------------------------------------


def test_data_is_read_in_place():
    given = data()
    graph = graph_of(given)
    assert np.shares_memory(graph.target, given.edge_index.numpy())
    assert np.shares_memory(graph.x, given.x.numpy())
    assert np.shares_memory(graph.edge_attr, given.edge_attr.numpy())
    assert (graph.num_nodes, graph.num_edges, graph.num_graphs) == (5, 5, 1)


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


def test_the_given_object_stays_as_it_was():
    given = data(edge_weight=torch.ones(5), y=torch.arange(5))
    before, store = copy.deepcopy(given), given._store
    out = rebuild(given, weight=np.full(5, 2, np.float32), e_id=True)
    out.new = 1
    assert given._store is store
    assert out._store is not store
    assert out._store._parent() is out
    assert same(given, before)


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


def test_empty_graph_and_empty_mask():
    none = Data(x=torch.ones(3, 1), edge_index=torch.empty(2, 0, dtype=torch.int64))
    assert graph_of(none).num_edges == 0
    assert rebuild(none, np.array([], dtype=bool)).edge_index.shape == (2, 0)
    out = rebuild(data(), np.zeros(5, bool), e_id=True)
    assert (out.edge_index.shape, out.edge_attr.shape, out.e_id.shape) == ((2, 0), (0,), (0,))


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


# Batch ---------------------------------------------------------------------------------------------------------------


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


# Lists ---------------------------------------------------------------------------------------------------------------


def test_list_reads_as_its_batch():
    graph, batch = graph_of(several()), graph_of(Batch.from_data_list(several()))
    for name in ("source", "target", "x_source", "edge_attr", "target_ptr"):
        assert np.array_equal(getattr(graph, name), getattr(batch, name)), name
    assert graph.x_source is graph.x_target


@pytest.mark.parametrize("kind", [list, tuple])
def test_list_is_rebuilt(kind):
    given = kind(several())
    out = rebuild(given, SEVERAL_MASK, weight=np.arange(7, dtype=np.float32), e_id=True)
    assert type(out) is kind
    assert [one.edge_attr.tolist() for one in out] == [[1, 2], [], [20, 22]]
    assert [one.e_id.tolist() for one in out] == [[1, 2], [], [0, 2]]
    assert [one.edge_weight.tolist() for one in out] == [[1, 2], [], [3, 5]]
    assert same(given, kind(several()))
    masks = find(given).masks(given, {None: SEVERAL_MASK})
    assert type(masks) is list
    assert same(masks, SEVERAL_PARTS)


def test_list_of_hetero():
    given = [hetero(), hetero()]
    graph = graph_of(given, LIKES)
    assert (graph.source_ptr.tolist(), graph.target_ptr.tolist()) == ([0, 3, 6], [0, 2, 4])
    assert graph.source.tolist() == [0, 1, 2, 2, 3, 4, 5, 5]
    mask = np.concatenate([HETERO_MASK, ~HETERO_MASK])
    out = rebuild(given, mask, key=LIKES)
    assert same(out, [rebuild(hetero(), part, key=LIKES) for part in (HETERO_MASK, ~HETERO_MASK)])
    assert same(find(given).masks(given, {LIKES: mask}), [{LIKES: HETERO_MASK}, {LIKES: ~HETERO_MASK}])


def test_list_of_batches_has_the_offsets_of_all_graphs():
    given = [Batch.from_data_list(several()), Batch.from_data_list(several()[:1])]
    assert graph_of(given).target_ptr.tolist() == [0, 3, 5, 9, 12]


def test_list_with_sparse_attributes():
    given = [
        Data(x=matrix("sparse_csr", [0, 1], [i, 0], (2, 3)), edge_index=torch.tensor([[0], [1]])) for i in range(2)
    ]
    assert graph_of(given).x.toarray().tolist() == [[1, 0, 0], [2, 0, 0], [0, 1, 0], [2, 0, 0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda graphs: graphs.append("graph"), "number 3 is str"),
        (lambda graphs: delattr(graphs[1], "x"), "x must be on all graphs of a list or on none, number 1 has none"),
        (lambda graphs: setattr(graphs[1], "x", torch.ones(2, 3)), "same width"),
        (lambda graphs: graphs.append(hetero()), "same relations"),
    ],
)
def test_list_of_unlike_graphs_is_refused(change, message):
    graphs = several()
    change(graphs)
    with pytest.raises(GraphError, match=message):
        find(graphs).graphs(graphs)


# InMemoryDataset -----------------------------------------------------------------------------------------------------


class Stored(InMemoryDataset):
    def __init__(self, graphs):
        super().__init__()
        self._data, self.slices = self.collate(graphs)


def stored(graphs=None) -> Stored:
    return Stored(several() if graphs is None else graphs)


def test_dataset_reads_as_its_list():
    given = stored()
    graph, listed = graph_of(given), graph_of(several())
    for name in ("source", "target", "x_source", "edge_attr", "target_ptr"):
        assert np.array_equal(getattr(graph, name), getattr(listed, name)), name
    assert np.shares_memory(graph.x, given._data.x.numpy())
    assert given._data_list is None


def test_dataset_is_rebuilt():
    given = stored()
    given.get(0)
    cache = list(given._data_list)
    out = rebuild(given, SEVERAL_MASK, weight=np.arange(7, dtype=np.float32), e_id=True)
    want = rebuild(several(), SEVERAL_MASK, weight=np.arange(7, dtype=np.float32), e_id=True)
    assert type(out) is Stored
    assert same([out[i] for i in range(3)], want)
    assert same(list(given._data_list), cache)
    assert same([given[i] for i in range(3)], several())
    assert same(find(given).masks(given, {None: SEVERAL_MASK}), SEVERAL_PARTS)


def test_dataset_can_be_rebuilt_again():
    once = rebuild(stored(), SEVERAL_MASK, e_id=True)
    twice = rebuild(once, np.array([True, False, False, True]))
    assert [one.e_id.tolist() for one in twice] == [[1], [], [2]]


@pytest.mark.parametrize("index", [[2, 0], [1], [2, 0, 2], [], slice(1, None)])
def test_dataset_subset(index):
    picked = list(range(3))[index] if isinstance(index, slice) else index
    given = stored()[index]
    graphs = [several()[i] for i in picked]
    parts = [SEVERAL_PARTS[i] for i in picked]
    mask = np.concatenate([np.array([], dtype=bool), *parts])
    graph = graph_of(given)
    assert (graph.num_edges, graph.num_graphs) == (len(mask), len(picked))
    if graphs:
        assert np.array_equal(graph.ends(), graph_of(graphs).ends())
        assert np.array_equal(graph.x, graph_of(graphs).x)
    factors = np.arange(len(mask), dtype=np.float32)
    out = rebuild(given, mask, e_id=True, weight=factors)
    want = rebuild(graphs, mask, e_id=True, weight=factors) if graphs else []
    assert same(list(out), want)
    assert same(find(given).masks(given, {None: mask}), parts)


def test_dataset_subset_with_one_graph_twice():
    given = stored()[[2, 2]]
    out = rebuild(given, np.array([True, True, False, False, False, False, True, True]))
    assert [one.edge_attr.tolist() for one in out] == [[20, 21], [22, 23]]


@pytest.mark.parametrize("keys", [("edge_index", "num_nodes"), ("edge_index", "time"), ("edge_index",)])
def test_dataset_without_attributes(keys):
    graphs = [Data(**{key: one.num_nodes if key == "num_nodes" else one[key] for key in keys}) for one in several()]
    given = stored(graphs)
    nodes = [3, 2, 4] if "num_nodes" in keys else [3, 0, 4]
    assert np.diff(graph_of(given).target_ptr).tolist() == nodes
    out = rebuild(given, np.zeros(7, bool))
    assert [one.num_nodes for one in out] == nodes
    assert "num_nodes" not in given._data or "num_nodes" in keys


def test_dataset_that_lost_its_single_numbers_of_nodes():
    graphs = several()
    for one in graphs:
        one.num_nodes = one.x.shape[0]
    given = stored(graphs)
    del given._data._store.__dict__["_num_nodes"]  # what is left is the sum
    assert graph_of(given).target_ptr.tolist() == [0, 3, 5, 9]


def test_dataset_ids_past_their_own_graph_are_refused():
    graphs = several()
    graphs[0].edge_index[0, 0] = 3  # a node of the next graph, once they are joined
    with pytest.raises(GraphError, match=r"graph 0 must be in \[0, 3\)"):
        graph_of(stored(graphs))


@pytest.mark.parametrize("keep_slices", [True, False])
def test_dataset_of_one_graph(keep_slices):
    given = stored([data()])
    if keep_slices:
        given.slices = {
            "x": torch.tensor([0, 5]),
            "edge_index": torch.tensor([0, 5]),
            "edge_attr": torch.tensor([0, 5]),
        }
    out = rebuild(given)
    assert len(out) == 1
    assert same(out[0], rebuild(data()))
    assert same(find(given).masks(given, {None: MASK}), [MASK])


def test_dataset_of_hetero():
    given = stored([hetero(), hetero()])
    mask = np.concatenate([HETERO_MASK, ~HETERO_MASK])
    assert graph_of(given, LIKES).source_ptr.tolist() == [0, 3, 6]
    out = rebuild(given, mask, key=LIKES)
    assert same(list(out), rebuild([hetero(), hetero()], mask, key=LIKES))
    assert same([given[0], given[1]], [hetero(), hetero()])


def test_dataset_of_edge_index_stays_one():
    graphs = [Data(edge_index=undirected(), x=torch.ones(5, 1)) for _ in range(2)]
    given = stored(graphs)
    mask = np.array([True, True, False, False, True, True] + [True, False, True, True, True, True])
    out = rebuild(given, mask)
    assert given._data_list is None
    assert [one.edge_index.validate().is_undirected for one in out] == [True, False]
    assert [one.edge_index.sort_order for one in out] == ["row", "row"]


@pytest.mark.parametrize("make", [data, several, hetero, stored, lambda: Batch.from_data_list(several())])
def test_what_has_no_mask_stays_whole(make):
    out = find(make()).rebuild(make(), {})
    assert same(list(out), list(stored())) if isinstance(out, Stored) else same(out, make())


# The helper ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_take_is_indexing(dim):
    tensor = torch.arange(25).view(5, 5)
    want = tensor[torch.from_numpy(MASK)] if dim == 0 else tensor[:, torch.from_numpy(MASK)]
    assert torch.equal(take(tensor, MASK, dim), want)
    assert torch.equal(take(tensor.t(), MASK, 1 - abs(dim)), want.t())


def test_take_handles_sparse_rows_and_gradients():
    sparse = matrix("sparse_coo", [0, 1, 4], [0, 1, 2], (5, 3))
    assert torch.equal(take(sparse, MASK).to_dense(), sparse.to_dense()[KEPT])
    parameter = torch.nn.Parameter(torch.arange(5.0))
    assert take(parameter, MASK).requires_grad


def test_view_of_a_type_that_numpy_lacks():
    assert view(torch.tensor([1.5, -2.0]).bfloat16()).tolist() == [1.5, -2.0]
    assert view(torch.tensor([1.5, -2.0]).to(torch.float8_e4m3fn)).dtype == np.float32


def test_take_keeps_every_element_type():
    for dtype in (torch.bfloat16, torch.float8_e4m3fn, torch.uint8, torch.bool, torch.float64):
        tensor = torch.tensor([0, 1, 1, 0, 1]).to(dtype)
        assert take(tensor, MASK).dtype == dtype
        assert take(tensor, MASK).float().tolist() == [0, 1, 0]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_data_on_a_gpu_stays_there():
    given = data(edge_weight=torch.ones(5)).to("cuda")
    assert graph_of(given).num_edges == 5
    out = rebuild(given, weight=np.full(5, 2, np.float32), e_id=True)
    assert {value.device.type for value in out.to_dict().values()} == {"cuda"}
    assert out.edge_index.tolist() == [[0, 2, 2], [1, 0, 4]]
