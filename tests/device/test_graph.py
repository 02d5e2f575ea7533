"""Graphs of tensors: read without a copy, with the counts, facts and errors of the host."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from device_helpers import device_run, numpy_of, torch

from graphs import random_graph
from lsprune import Graph, GraphError, LocalRandom
from lsprune.device import graph as module
from lsprune.device.graph import (
    concat,
    concat_rows,
    default_device,
    from_tensors,
    is_undirected,
    sorted_by_owner,
    upload,
    working_on,
)  # fmt: skip
from lsprune.errors import NoGpuPath
from lsprune.graph import Grouped
from lsprune.kernels import runtime
from lsprune.selection.owners import by_owner

ENDS = [[0, 1, 2, 2, 1], [1, 2, 0, 2, 1]]  # two self-loops
POINTERS, OTHERS = [0, 2, 3, 5], [1, 0, 2, 2, 0]


def coo(ends=ENDS, **rest):
    source, target = torch.tensor(ends)
    return from_tensors((source, target), **rest)


def csr(pointers=POINTERS, others=OTHERS, rows="target", **rest):
    return from_tensors(indptr=torch.tensor(pointers), indices=torch.tensor(others), rows=rows, **rest)


def test_tensors_are_taken_as_they_are():
    ends, x, attr = torch.tensor(ENDS), torch.ones(4, 2), torch.ones(5, 1)
    graph = from_tensors((ends[0], ends[1]), x=x, edge_attr=attr)
    assert graph.source.data_ptr() == ends.data_ptr()
    assert graph.x.data_ptr() == x.data_ptr() and graph.edge_attr.data_ptr() == attr.data_ptr()
    assert graph.x_source is not None and (graph.num_nodes, graph.num_edges, graph.num_graphs) == (4, 5, 1)
    assert from_tensors((ends[0].int(), ends[1].int())).source.dtype == torch.int32
    assert from_tensors((ends[0].short(), ends[1].short())).source.dtype == torch.int64
    assert not from_tensors((ends[0], ends[1]), x=x.clone().requires_grad_()).x.requires_grad


@pytest.mark.parametrize("rows", ["source", "target"])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_compressed_rows_are_expanded_only_on_demand(rows, dtype):
    others = torch.tensor(OTHERS, dtype=dtype)
    graph = from_tensors(indptr=torch.tensor(POINTERS, dtype=dtype), indices=others, rows=rows, num_nodes=3)
    host = Graph.from_csr(np.array(POINTERS), np.array(OTHERS), rows=rows)
    assert (graph.source if rows == "target" else graph.target).data_ptr() == others.data_ptr()
    assert (graph.target if rows == "target" else graph.source) is None
    for end, expected in zip(graph.ends(), host.ends(), strict=True):
        assert end.tolist() == expected.tolist() and end.dtype == dtype


def test_facts_are_those_of_the_edges():
    graph = coo(num_nodes=4)
    assert graph.facts.loops == 2 and graph.loops_of.tolist() == [0, 1, 1, 0]
    assert (graph.facts.highest_source, graph.facts.highest_target, graph.facts.lowest_source) == (2, 2, 0)
    rows = csr(num_nodes=3)
    assert rows.facts.loops == 2 and rows.loops_of.tolist() == [1, 0, 1]


@pytest.mark.parametrize("rows", ["source", "target"])
def test_facts_of_compressed_rows_are_those_of_their_edges(rows):
    graph = csr(rows=rows, num_nodes=3)
    expanded = from_tensors(graph.ends(), num_nodes=3)
    for name in ("loops", "lowest_source", "highest_source", "lowest_target", "highest_target"):
        assert getattr(graph.facts, name) == getattr(expanded.facts, name)
    assert graph.loops_of.tolist() == expanded.loops_of.tolist()


def test_a_graph_is_undirected_if_every_edge_has_its_reverse():
    assert is_undirected(coo([[0, 1, 2, 1], [1, 0, 1, 2]]))
    assert not is_undirected(coo([[0, 1, 0, 2], [1, 0, 1, 2]]))  # one twice in one direction
    ring = {"indptr": torch.arange(0, 9, 2), "indices": torch.tensor([1, 3, 0, 2, 1, 3, 0, 2]), "rows": "source"}
    assert is_undirected(from_tensors(**ring, num_nodes=4))
    assert not is_undirected(csr(num_nodes=3))


@pytest.mark.parametrize("options", [{"k": 1}, {"k": 1, "self_loops": "drop"}, {"keep": 0.5}])
def test_rows_that_are_taken_before_their_entries_are_checked_are_checked_all_the_same(options):
    wrong = csr(others=[0, 1, 7, 0, 2], num_nodes=3)
    with pytest.raises(GraphError, match=r"source ids must be in \[0, 3\), got 7 at edge 2"):
        LocalRandom(**options).mask_graph(wrong, device_run())


def test_the_order_of_the_edges_is_known():
    by_target = coo([[3, 0, 1], [0, 1, 1]])
    assert sorted_by_owner(by_target, "in") and not sorted_by_owner(by_target, "out")
    assert sorted_by_owner(csr(rows="source", num_nodes=3), "out") is True
    assert sorted_by_owner(csr(rows="target", num_nodes=3), "in") is True


def test_numbers_of_nodes_are_stated_or_counted():
    assert coo().num_nodes == 3
    assert coo(x=torch.ones(7, 1)).num_nodes == 7
    assert coo(num_nodes=9).num_nodes == 9
    pair = coo(num_nodes=(None, 8), x=None)
    assert (pair.num_sources, pair.num_targets, pair.bipartite, pair.loops_of) == (3, 8, True, None)
    two = coo(x=(torch.ones(4, 2), torch.ones(5, 3)))
    assert (two.num_sources, two.num_targets, two.bipartite) == (4, 5, True)
    assert from_tensors((torch.empty(0), torch.empty(0))).num_nodes == 0  # floats for lack of a value


WRONG = {
    "an id below 0": {"ends": [[0, -1, 2], [1, 2, -5]]},
    "a source that is no node": {"ends": [[0, 9, 2], [1, 2, 9]], "num_nodes": 3},
    "a target that is no node": {"ends": [[0, 1, 2], [1, 2, 3]], "num_nodes": 3},
    "an item that is no node": {"ends": [[0, 1], [1, 2]], "num_nodes": (2, 2)},
    "a far id": {"ends": [[0, 2**30], [1, 2]]},
    "a far source": {"ends": [[2**30, 1], [1, 2]], "num_nodes": (None, 3)},
    "floats": {"ends": [[0.0, 1.0], [1.0, 0.0]]},
    "booleans": {"ends": [[True, False], [False, True]]},
    "too few rows of x": {"ends": ENDS, "x": [[1.0], [2.0]], "num_nodes": 3},
    "too many rows of edge_attr": {"ends": ENDS, "edge_attr": [1.0] * 6},
    "no rows": {"ends": ENDS, "x": 1.0, "num_nodes": 3},
    "complex numbers": {"ends": ENDS, "x": [1j, 2j, 3j]},
    "offsets that fall": {"ends": ENDS, "ptr": [0, 2, 1, 3]},
    "offsets that end early": {"ends": ENDS, "ptr": [0, 2], "num_nodes": 3},
    "offsets that begin late": {"ends": ENDS, "ptr": [1, 3]},
    "no offsets": {"ends": ENDS, "ptr": []},
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_those_of_the_host(name):
    rest = dict(WRONG[name])
    ends = rest.pop("ends")
    arrays = {key: value if key == "num_nodes" else np.array(value) for key, value in rest.items()}
    tensors = {key: value if key == "num_nodes" else torch.from_numpy(value) for key, value in arrays.items()}
    with pytest.raises(GraphError) as host:
        Graph.from_edges(np.array(ends), **arrays)
    if name == "no offsets":
        tensors["ptr"] = tensors["ptr"].long()
    with pytest.raises(GraphError) as device:
        from_tensors(tuple(torch.from_numpy(np.array(ends))), **tensors).ends()
    assert str(device.value) == str(host.value)


@pytest.mark.parametrize("pointers", [[0, 3, 2, 5], [1, 2, 3, 5], [0, 2, 3, 6], [0, 2, 3, 4], []])
def test_pointers_that_do_not_rise_to_the_number_of_entries_are_refused(pointers):
    with pytest.raises(GraphError) as host:
        Graph.from_csr(np.array(pointers, int), np.array(OTHERS), rows="target")
    with pytest.raises(GraphError, match="indptr must rise from 0 to the number of indices .5.") as device:
        from_tensors(
            indptr=torch.tensor(pointers, dtype=torch.int64), indices=torch.tensor(OTHERS), rows="target", num_nodes=3
        ).ends()
    assert str(host.value).startswith(str(device.value))


def test_compressed_rows_must_be_the_nodes():
    with pytest.raises(GraphError) as host:
        Graph.from_csr(np.array(POINTERS), np.array(OTHERS), rows="target", num_nodes=5)
    with pytest.raises(GraphError) as device:
        csr(num_nodes=5)
    assert str(device.value) == str(host.value) == "num_nodes must match the 3 rows of indptr, got 5"
    assert csr(num_nodes=(9, 3)).num_sources == 9
    with pytest.raises(GraphError, match=r"source ids must be in \[0, 2\), got 2 at edge 2"):
        csr(num_nodes=(2, 3)).ends()


def test_what_torch_cannot_compute_with_has_no_gpu_path(monkeypatch):
    with pytest.raises(NoGpuPath, match="sparse attributes have no GPU path"):
        coo(x=torch.eye(3).to_sparse())
    for dtype in (torch.uint16, torch.uint32, torch.uint64):
        with pytest.raises(NoGpuPath, match=f"attributes of type {str(dtype)[6:]} have no GPU path"):
            coo(x=torch.arange(3).to(dtype))
    monkeypatch.setattr(module, "MAX_NODES", 8)
    assert coo(num_nodes=8).num_nodes == 8
    with pytest.raises(NoGpuPath, match="more than 8 nodes have no GPU path"):
        coo(num_nodes=9)


# copies of graphs in host memory


def test_a_copy_has_the_same_arrays():
    host = random_graph(0, nodes=9, edges=30, edge_dim=2)
    graph = upload(host, "cpu")
    for end, expected in zip(graph.ends(), host.ends(), strict=True):
        np.testing.assert_array_equal(numpy_of(end), expected)
    np.testing.assert_array_equal(numpy_of(graph.x), host.x)
    np.testing.assert_array_equal(numpy_of(graph.edge_attr), host.edge_attr)
    assert graph.x_source is graph.x_target
    assert graph.device == torch.device("cpu") and graph.num_nodes == 9
    source, target = host.ends()
    assert graph.loops_of.tolist() == np.bincount(source[source == target], minlength=9).tolist()


def test_compressed_and_bipartite_graphs_are_copied():
    rows = upload(Graph.from_csr(np.array(POINTERS), np.array(OTHERS), rows="target"), "cpu")
    assert rows.rows is None and rows.ends()[1].tolist() == [0, 0, 1, 2, 2]
    x, y, ptr = np.ones((3, 2)), np.zeros((4, 1)), (np.array([0, 1, 3]), np.array([0, 2, 4]))
    pair = upload(Graph.from_edges(np.array([[0, 1], [1, 2]]), num_nodes=(3, 4), x=(x, y), ptr=ptr), "cpu")
    assert pair.bipartite and pair.loops_of is None
    assert (pair.x_source.shape, pair.x_target.shape) == ((3, 2), (4, 1))
    assert (pair.source_ptr.tolist(), pair.target_ptr.tolist()) == ([0, 1, 3], [0, 2, 4])


def test_read_only_arrays_are_copied_without_a_warning():
    ends, x = np.array(ENDS), np.ones((3, 2), np.float32)[:, ::-1]
    ends.flags.writeable = x.flags.writeable = False
    assert upload(Graph.from_edges(ends, x=x), "cpu").x.shape == (3, 2)


def test_what_cannot_be_copied_has_no_gpu_path():
    host = random_graph(0, nodes=9, edges=30)
    sparse = Graph.from_edges(host.ends(), x=scipy.sparse.csr_array(host.x))
    with pytest.raises(NoGpuPath, match="sparse attributes have no GPU path"):
        upload(sparse, "cpu")
    for dtype in (">f4", np.uint16, np.longdouble):
        with pytest.raises(NoGpuPath, match="attributes of type .* have no GPU path"):
            upload(Graph.from_edges(host.ends(), x=host.x.astype(dtype)), "cpu")
    grouped = Grouped(by_owner(host, "in", runtime(1)), "in", True, host.num_edges)
    known = (np.ones(9, bool), None)
    for part in (replace(host, grouped=grouped), replace(host, ids=host.ends()), replace(host, known=known)):
        with pytest.raises(NoGpuPath, match="a part of a larger graph has no GPU path"):
            upload(part, "cpu")


def test_the_default_device_is_the_current_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 3)
    assert default_device() == torch.device("cuda:3")


def test_too_little_memory_is_no_gpu_path():
    text = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 1 GiB"
    with (
        pytest.raises(
            NoGpuPath, match="^the GPU has too little memory .CUDA out of memory. Tried to allocate 2.00 GiB.$"
        ),
        working_on(torch.device("cpu")),
    ):
        raise torch.OutOfMemoryError(text)
    with pytest.raises(RuntimeError, match="another"), working_on(torch.device("cpu")):
        raise RuntimeError("another")


@pytest.mark.parametrize("sizes", [None, (4, 7)], ids=["one kind of nodes", "two kinds"])
def test_joined_graphs_are_those_of_the_host(sizes):
    def part(seed: int, ptr: tuple[int, ...] | None = None) -> Graph:
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((4, 2)) if sizes is None else (rng.standard_normal((4, 2)), rng.standard_normal((7, 3)))
        pointers = None if ptr is None else np.array(ptr) if sizes is None else (np.array(ptr), np.array([0, 0, 7]))
        ends = rng.integers(0, 2, (2, 9))
        return Graph.from_edges(ends, num_nodes=sizes, x=x, edge_attr=rng.integers(0, 3, 9), ptr=pointers)

    parts = [part(0), part(1, (0, 2, 4)), part(2)]
    here, there = Graph.concat(parts), concat([upload(one, "cpu") for one in parts])
    names = ("source", "target", "x_source", "x_target", "edge_attr", "source_ptr", "target_ptr")
    for name in names:
        np.testing.assert_array_equal(numpy_of(getattr(there, name)), getattr(here, name))
    assert (there.num_sources, there.num_targets, there.bipartite) == (here.num_sources, here.num_targets, bool(sizes))


def test_graphs_that_cannot_be_joined_are_refused():
    with pytest.raises(GraphError, match="at least one graph"):
        concat([])
    with pytest.raises(GraphError, match="all bipartite or none"):
        concat([coo(), coo(num_nodes=(3, 3))])
    with pytest.raises(NoGpuPath, match="on one device"):
        concat([coo(), replace(coo(), device=torch.device("meta"))])
    with pytest.raises(NoGpuPath, match="x must be of one type"):
        concat_rows([torch.ones(2), torch.ones(3, dtype=torch.int64)], "x")
    assert concat_rows([None, None], "x") is None
