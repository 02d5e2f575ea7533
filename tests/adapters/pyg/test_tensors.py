"""Bare tensors and sparse matrices as graphs, and the tensor operations that the adapters share."""

from __future__ import annotations

import numpy as np
import pytest
from pyg_helpers import KEPT, LAYOUTS, MASK, SOURCE, TARGET, edges, graph_of, matrix, rebuild

# isort: split
import torch
from torch_geometric.data import Data

from lsprune import LSP, Random, prune
from lsprune.adapters.base import Kept
from lsprune.adapters.pyg import find
from lsprune.adapters.pyg.tensors import (
    DeviceMask,
    compress,
    kept_before,
    kept_weights,
    mask_of,
    offsets,
    on_gpu,
    scale,
    take,
    view,
)
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


# On a GPU ------------------------------------------------------------------------------------------------------------


def test_only_tensors_on_a_gpu_are_there():
    assert on_gpu(torch.ones(2)) is None
    assert on_gpu(np.ones(2)) is None
    assert on_gpu(None) is None


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_tensor_is_read_on_its_device_without_a_copy(dtype, cpu_is_gpu):
    given = edges().to(dtype)
    adapter = find(given)
    assert adapter.device(given) == torch.device("cpu")
    graph = adapter.device_graphs(given)[None]
    assert graph.source.data_ptr() == given.data_ptr() and graph.source.dtype == dtype
    assert torch.equal(torch.stack(graph.ends()), given)
    for wrong in (torch.zeros(3, 4, dtype=dtype), torch.zeros(4, dtype=dtype)):
        with pytest.raises(GraphError, match=r"edge_index must have shape \[2, E\], got"):
            adapter.device_graphs(wrong)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sparse_rows_are_sources_on_a_device_too(layout, cpu_is_gpu):
    given = matrix(layout, SOURCE, TARGET, (5, 5))
    here, there = graph_of(given), find(given).device_graphs(given)[None]
    for end, expected in zip(there.ends(), here.ends(), strict=True):
        assert end.tolist() == expected.tolist()
    assert there.rows == here.rows == {"sparse_coo": None, "sparse_csr": "source", "sparse_csc": "target"}[layout]
    assert (there.num_sources, there.num_targets, there.bipartite) == (5, 5, False)
    wide = find(given).device_graphs(matrix(layout, [0, 1], [4, 2], (3, 5)))[None]
    assert (wide.num_sources, wide.num_targets, wide.bipartite) == (3, 5, True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sparse_tensors_with_wrong_indices_are_refused_on_a_device_too(layout, cpu_is_gpu):
    given = matrix(layout, SOURCE, TARGET, (5, 5))
    indices = {
        "sparse_coo": lambda: given._indices()[1],
        "sparse_csr": given.col_indices,
        "sparse_csc": given.row_indices,
    }
    for wrong in (5, -1):
        indices[layout]()[3] = wrong
        with pytest.raises(GraphError, match=rf"ids must be in \[0, 5\), got {wrong} at edge 3"):
            LSP(k=1, hash="identity").mask(given)


def test_pointers_and_values_of_a_sparse_tensor_are_checked_on_a_device(cpu_is_gpu):
    def csr(pointers, values=3):
        parts = torch.tensor(pointers), torch.tensor([1, 0, 1]), torch.ones(values)
        return torch.sparse_csr_tensor(*parts, (2, 2), check_invariants=False)

    for pointers in ([0, 3, 2], [1, 2, 3], [0, 2, 4]):
        with pytest.raises(GraphError, match="indptr must rise from 0 to the number of indices .3."):
            LSP(k=1, hash="identity").mask(csr(pointers))
    with pytest.raises(GraphError, match="num_nodes must match the 1 rows of indptr, got 2"):
        LSP(k=1, hash="identity").mask(csr([0, 3]))
    with pytest.raises(GraphError, match="must be a valid sparse matrix.*: it has 3 indices and 2 values"):
        LSP(k=1, hash="identity").mask(csr([0, 1, 3], values=2))


def test_a_mask_on_a_device_knows_positions_and_counts():
    for wanted in (MASK, np.zeros(0, bool), np.ones(4, bool), np.zeros(3, bool)):
        mask = DeviceMask(torch.from_numpy(wanted), int(wanted.sum()))
        assert mask.shape == wanted.shape
        assert mask.positions.tolist() == np.flatnonzero(wanted).tolist()
        np.testing.assert_array_equal(mask.host, wanted)
        places = torch.arange(wanted.size + 1)
        assert kept_before(mask, places).tolist() == offsets(wanted).tolist()
        assert kept_before(wanted, places).tolist() == offsets(wanted).tolist()


def test_a_mask_of_unknown_count_counts_itself():
    given = torch.from_numpy(MASK)
    assert mask_of(Kept(mask=given)).count == 3
    assert mask_of(Kept(mask=given, count=3)).count == 3
    assert mask_of(Kept(mask=MASK)) is MASK


@pytest.mark.parametrize("prefix", [False, True], ids=["positions", "prefix sums"])
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32, torch.bool, torch.complex64])
def test_take_by_a_mask_on_a_device_is_indexing(dtype, dim, prefix):
    values = torch.arange(25).view(5, 5).to(dtype)
    mask = DeviceMask(torch.from_numpy(MASK), 3)
    if prefix:
        mask.before(torch.tensor([5]))
    for given in (values, values.T):
        assert torch.equal(take(given, mask, dim), given.index_select(dim, torch.tensor(KEPT)))
    needs_grad = torch.ones(5, 5, requires_grad=True)
    assert take(needs_grad, mask, dim).requires_grad


def test_a_mask_on_a_device_cuts_numpy_arrays_and_scales_them():
    mask = DeviceMask(torch.from_numpy(MASK), 3)
    assert compress(np.arange(5), mask).tolist() == KEPT
    assert compress(np.arange(10).reshape(5, 2), mask).tolist() == [[0, 1], [4, 5], [6, 7]]
    np.testing.assert_array_equal(scale(np.ones((3, 2)), torch.tensor([1.0, 2.0, 3.0])), [[1, 1], [2, 2], [3, 3]])
    kept = Kept(mask=torch.from_numpy(MASK), weight=torch.arange(5.0))
    assert kept_weights(kept, mask_of(kept)).tolist() == KEPT
