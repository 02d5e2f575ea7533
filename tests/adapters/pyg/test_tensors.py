"""Bare tensors and sparse matrices as graphs, and the tensor operations that the adapters share."""

from __future__ import annotations

import numpy as np
import pytest
from pyg_helpers import KEPT, LAYOUTS, MASK, SOURCE, TARGET, edges, graph_of, matrix, rebuild

# isort: split
import torch
from torch_geometric.data import Data

from lsprune import LSP, Random, prune
from lsprune.adapters.pyg import find
from lsprune.adapters.pyg.tensors import take, view
from lsprune.errors import GraphError, OptionError


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


# What the adapters share ---------------------------------------------------------------------------------------------


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


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
@pytest.mark.parametrize("first", [[0, 1, 9], [0, 99, 3], [0, -1, 3], [0, 2, 1]])
@pytest.mark.parametrize("second", [[0, 1, 50], [0, -2, 1], [0, 1, 0]])
def test_sparse_tensors_with_wrong_indices_are_refused(layout, first, second):
    """torch makes such tensors unless it is asked to look; reading them would touch memory that is not theirs."""
    first, second, values = torch.tensor(first), torch.tensor(second), torch.ones(3)
    if layout == "coo":
        first = first.clamp(min=-1) * 7
        bad = torch.sparse_coo_tensor(torch.stack([first, second]), values, (2, 2), check_invariants=False)
    else:
        make = getattr(torch, f"sparse_{layout}_tensor")
        bad = make(first, second, values, (2, 2), check_invariants=False)
    edge_index = torch.tensor([[0, 1], [1, 0]])
    with pytest.raises(GraphError, match="attributes must be a valid sparse matrix"):
        prune(Data(edge_index=edge_index, x=bad), LSP(keep=0.5))
    with pytest.raises(GraphError, match="a sparse graph must be a valid sparse matrix"):
        prune(bad, Random(keep=0.5))


@pytest.mark.filterwarnings("ignore:Sparse")
def test_a_sparse_tensor_with_fewer_values_than_indices_is_refused():
    pointers, others = torch.tensor([0, 1, 2]), torch.tensor([0, 1])
    bad = torch.sparse_csr_tensor(pointers, others, torch.ones(1), (2, 2), check_invariants=False)
    with pytest.raises(GraphError, match="indptr ends at 2, beyond the 1 entries"):
        prune(bad, Random(keep=0.5))


def test_attributes_with_one_sparse_dimension_are_refused():
    hybrid = torch.eye(2).to_sparse(1)
    with pytest.raises(GraphError, match="attributes must be dense or sparse COO, CSR or CSC matrices"):
        prune(Data(edge_index=torch.tensor([[0, 1], [1, 0]]), x=hybrid), LSP(keep=0.5))


@pytest.mark.parametrize("nodes", [float("nan"), (12,), "2", -1, 2.5, True, torch.tensor([2, 2]), 2**70], ids=str)
def test_numbers_of_nodes_that_are_none_are_refused(nodes):
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]))
    data._store._mapping["num_nodes"] = nodes
    with pytest.raises(GraphError, match="num_nodes must be a whole number >= 0"):
        prune(data, Random(keep=0.5))


def test_masked_arrays_are_refused():
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), x=np.ma.masked_array([[1.0], [2.0]], mask=[[0], [1]]))
    with pytest.raises(GraphError, match="x must be a plain array, got a numpy masked array"):
        prune(data, LSP(keep=0.5))
