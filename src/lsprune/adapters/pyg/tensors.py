"""Bare tensors as graphs, and the few tensor operations that every PyTorch adapter shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from lsprune import kernels
from lsprune.adapters.base import Adapter, Kept, Key
from lsprune.adapters.given_features import host_rows
from lsprune.checks import compressed_fault, index_fault
from lsprune.errors import GraphError, NoGpuPath
from lsprune.graph import Array, Graph

End = Literal["source", "target"]
_OTHER: dict[End, End] = {"source": "target", "target": "source"}
_SPARSE = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc)
_SAME_SIZE = {1: torch.uint8, 2: torch.int16}  # types that numpy has, by size in bytes, for those that it has not


def view(tensor: Tensor) -> Array:
    """Return a dense tensor as a numpy array: a view on the CPU, a copy from elsewhere; bfloat16 as float32."""
    tensor = tensor.detach().cpu()
    return (tensor.float() if _foreign(tensor) else tensor).numpy()


def _foreign(tensor: Tensor) -> bool:
    """Return whether this is a floating type that numpy does not have."""
    return tensor.dtype == torch.bfloat16 or (tensor.is_floating_point() and tensor.element_size() == 1)


def features(values: Any) -> Any:
    """Return attributes as numpy or scipy CSR; anything but a tensor is returned as it is."""
    if not isinstance(values, Tensor):
        return values
    if values.layout == torch.strided:
        return view(values)
    if values.layout not in _SPARSE or values.dim() != 2 or values.sparse_dim() != 2:
        raise GraphError(f"attributes must be dense or sparse COO, CSR or CSC matrices, got {_describe(values)}")
    _check_indices(values, "attributes")
    if values.layout == torch.sparse_csr:
        parts = view(values.values()), view(values.col_indices()), view(values.crow_indices())
        return scipy.sparse.csr_array(parts, shape=tuple(values.shape))
    coo = values.detach().to_sparse(layout=torch.sparse_coo).coalesce()
    return scipy.sparse.csr_array((view(coo.values()), tuple(view(coo.indices()))), shape=tuple(values.shape))


def rows_on(values: Any, device: Any) -> Tensor:
    """Return node features as a dense tensor on a device."""
    if not isinstance(values, Tensor):
        values = torch.from_numpy(np.ascontiguousarray(host_rows(values)))
    if values.layout != torch.strided:
        raise NoGpuPath("sparse attributes have no GPU path")
    moved: Tensor = values.detach().to(device)
    return moved


def _check_indices(matrix: Tensor, name: str) -> None:
    """Raise GraphError if the indices of a sparse matrix do not fit its shape, which torch does not check."""
    height, width = int(matrix.shape[0]), int(matrix.shape[1])
    if matrix.layout == torch.sparse_coo:
        first, second = view(matrix._indices())
        fault = index_fault(first, height, "row indices") or index_fault(second, width, "column indices")
        entries, values = first.shape[0], int(matrix._values().shape[0])
        fault = fault or ("" if entries == values else f"it has {entries} indices and {values} values")
    elif matrix.layout == torch.sparse_csr:
        pointers, others = view(matrix.crow_indices()), view(matrix.col_indices())
        fault = compressed_fault(height, width, pointers, others, int(matrix.values().shape[0]))
    else:
        pointers, others = view(matrix.ccol_indices()), view(matrix.row_indices())
        fault = compressed_fault(width, height, pointers, others, int(matrix.values().shape[0]))
    if fault:
        raise GraphError(f"{name} must be a valid sparse matrix, got {_describe(matrix)}: {fault}")


@dataclass(frozen=True, eq=False)
class DeviceMask:
    """A mask over edges on a device; positions and counts are computed once, when first needed."""

    tensor: Tensor  # [E] bool
    count: int  # entries that are True

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @cached_property
    def positions(self) -> Tensor:
        """Where the mask is True, ascending."""
        from lsprune.kernels.gpu.masking import kept_positions

        return kept_positions(self.tensor, self.count)

    @cached_property
    def prefix(self) -> Tensor:
        """How many entries are kept up to each position, that one included."""
        from lsprune.kernels.gpu.masking import prefix_sums

        return prefix_sums(self.tensor)

    def before(self, places: Tensor) -> Tensor:
        """Return how many entries are kept before each of these places, as a tensor like `places`."""
        from lsprune.kernels.gpu.masking import kept_before

        return kept_before(self.prefix, places.to(self.tensor.device)).to(places.device)

    def take(self, values: Tensor, dim: int) -> Tensor:
        """Return the entries along `dim` where the mask is True."""
        from lsprune.kernels.gpu.masking import compact

        last, here = dim in (-1, values.dim() - 1), values.device == self.tensor.device
        if last and here and "prefix" in vars(self) and not values.requires_grad and type(values) is Tensor:
            return compact(values, self.tensor, self.prefix, self.count)
        return values.index_select(dim, self.positions.to(values.device))

    @cached_property
    def host(self) -> Array:
        """The mask as a numpy array."""
        return view(self.tensor)


Mask = Array | DeviceMask


def mask_of(kept: Kept) -> Mask:
    """Return the mask of what is kept, in the form that the functions here take."""
    mask: Any = kept.mask
    if not isinstance(mask, Tensor):
        return kept.mask
    return DeviceMask(mask, int(mask.sum()) if kept.count is None else kept.count)


def on_gpu(tensor: Any) -> Any:
    """Return the device of a tensor if it is a GPU, else None."""
    return tensor.device if isinstance(tensor, Tensor) and tensor.is_cuda else None


def take(tensor: Tensor, mask: Mask, dim: int = 0) -> Tensor:
    """Return the entries of `tensor` along `dim` where the mask `[n]` is True, in order, on the same device."""
    if isinstance(mask, DeviceMask):
        return mask.take(tensor, dim)
    if type(tensor) is not Tensor or tensor.requires_grad or tensor.layout != torch.strided or not tensor.is_cpu:
        # Gradients, subclasses and other devices need torch's own indexing.
        return tensor.index_select(dim, torch.from_numpy(np.flatnonzero(mask)).to(tensor.device))
    bits = tensor.view(_SAME_SIZE[tensor.element_size()]) if _foreign(tensor) else tensor
    return torch.from_numpy(compress(bits.numpy(), mask, dim)).view(tensor.dtype)


def compress(array: Array, mask: Mask, dim: int = 0) -> Array:
    """Return the entries of `array` along `dim` where the mask `[n]` is True."""
    mask = mask.host if isinstance(mask, DeviceMask) else mask
    if dim in (-1, array.ndim - 1):
        return kernels.compress(mask, array)
    return np.compress(mask, array, axis=dim)


def scale(values: Any, factors: Any) -> Any:
    """Return `values` `[n, ...]`, tensor or array, times one factor a row; integers become floats."""
    shape = (-1,) + (1,) * (values.ndim - 1)
    if not isinstance(values, Tensor):
        factors = view(factors) if isinstance(factors, Tensor) else factors
        return values * factors.reshape(shape).astype(values.dtype if values.dtype.kind == "f" else np.float32)
    dtype = values.dtype if values.is_floating_point() else torch.float32
    return values * torch.as_tensor(factors).to(values.device, dtype).view(shape)


def offsets(mask: Array) -> Array:
    """Return how many entries are kept before each position, `[n + 1]` int64: old offsets index the new ones."""
    kept = np.zeros(mask.shape[0] + 1, dtype=np.int64)
    np.cumsum(mask, out=kept[1:])
    return kept


def kept_before(mask: Mask, places: Tensor) -> Tensor:
    """Return how many entries are kept before each of these places, as a tensor like `places`."""
    if isinstance(mask, DeviceMask):
        return mask.before(places)
    return torch.from_numpy(offsets(mask)[view(places)]).to(places.device)


def kept_weights(kept: Kept, mask: Mask) -> Any:
    """Return the factors of the kept edges."""
    weight: Any = kept.weight
    return weight.index_select(0, mask.positions) if isinstance(mask, DeviceMask) else weight[mask]


def sparse_graph(
    matrix: Tensor, *, rows: End, num_nodes: Any = None, x: Any = None, edge_attr: Any = None, ptr: Any = None
) -> Graph:
    """Return the graph of a sparse matrix; `rows` says which end of an edge its rows are.

    Edges are in the order the matrix stores them. Entries that a COO matrix holds twice are two edges.
    """
    height, width = _sparse_size(matrix)
    _check_indices(matrix, "a sparse graph")
    sizes = (height, width) if rows == "source" else (width, height)
    if num_nodes is None:
        num_nodes = height if height == width else sizes
    rest = {"num_nodes": num_nodes, "x": x, "edge_attr": edge_attr, "ptr": ptr}
    weight = edge_weight(entries(matrix), num_entries(matrix))
    rest["edge_weight"] = None if weight is None else view(weight)
    if matrix.layout == torch.sparse_csr:
        return Graph.from_csr(view(matrix.crow_indices()), view(matrix.col_indices()), rows=rows, **rest)
    if matrix.layout == torch.sparse_csc:
        return Graph.from_csr(view(matrix.ccol_indices()), view(matrix.row_indices()), rows=_OTHER[rows], **rest)
    first, second = view(matrix._indices())  # not .indices(): that refuses a matrix with duplicates
    return Graph.from_edges((first, second) if rows == "source" else (second, first), **rest)


def sparse_graph_on_device(
    matrix: Tensor, *, rows: End, num_nodes: Any = None, x: Any = None, edge_attr: Any = None, ptr: Any = None
) -> Graph:
    """Return the graph of a sparse matrix on a device, without a copy."""
    from lsprune.device.graph import from_tensors

    height, width = _sparse_size(matrix)
    sizes = (height, width) if rows == "source" else (width, height)
    if num_nodes is None:
        num_nodes = height if height == width else sizes
    rest = {"num_nodes": num_nodes, "x": x, "edge_attr": edge_attr, "ptr": ptr}
    rest["edge_weight"] = edge_weight(entries(matrix), num_entries(matrix))
    if matrix.layout == torch.sparse_coo:
        first, second = matrix._indices()
        return from_tensors((first, second) if rows == "source" else (second, first), **rest)
    by_row = matrix.layout == torch.sparse_csr
    pointers = matrix.crow_indices() if by_row else matrix.ccol_indices()
    others = matrix.col_indices() if by_row else matrix.row_indices()
    if matrix.values().shape[0] != others.shape[0]:
        fault = f"it has {others.shape[0]} indices and {matrix.values().shape[0]} values"
        raise GraphError(f"a sparse graph must be a valid sparse matrix, got {_describe(matrix)}: {fault}")
    return from_tensors(indptr=pointers, indices=others, rows=rows if by_row else _OTHER[rows], **rest)


def keep_sparse(matrix: Tensor, kept: Kept, mask: Mask) -> Tensor:
    """Return a matrix of the same layout and size with the kept entries, each times its weight, if any."""

    def values_of(entries: Tensor) -> Tensor:
        values = take(entries, mask)
        return values if kept.weight is None else scale(values, kept_weights(kept, mask))

    # check_invariants=False: a mask cannot break what held before, and an unset option makes torch warn.
    if matrix.layout == torch.sparse_coo:
        order = matrix.is_coalesced() or None
        indices, values = take(matrix._indices(), mask, dim=1), values_of(matrix._values())
        return torch.sparse_coo_tensor(indices, values, matrix.shape, is_coalesced=order, check_invariants=False)
    by_row = matrix.layout == torch.sparse_csr
    pointers, others = (
        (matrix.crow_indices(), matrix.col_indices()) if by_row else (matrix.ccol_indices(), matrix.row_indices())
    )
    shorter = kept_before(mask, pointers).to(pointers.dtype)
    build = torch.sparse_csr_tensor if by_row else torch.sparse_csc_tensor
    return build(shorter, take(others, mask), values_of(matrix.values()), matrix.shape, check_invariants=False)


def edges_on_device(edge_index: Tensor, **rest: Any) -> Graph:
    """Return the graph of an integer tensor `[2, E]` on a device, without a copy."""
    from lsprune.device.graph import from_tensors

    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise GraphError(f"edge_index must have shape [2, E], got {list(edge_index.shape)}")
    return from_tensors((edge_index[0], edge_index[1]), **rest)


def entries(matrix: Tensor) -> Tensor:
    """Return the values of a sparse matrix in the order of its indices."""
    values: Tensor = matrix._values() if matrix.layout == torch.sparse_coo else matrix.values()
    return values


def edge_weight(values: Any, edges: int) -> Any:
    """Return weights `[E]` of edges, tensor or array; None for anything that is not one real number for each edge."""
    if isinstance(values, np.ndarray):
        fits = values.dtype.kind in "biuf" and values.ndim and values.shape[0] == values.size == edges
        return values.reshape(edges) if fits else None
    if not isinstance(values, Tensor) or values.layout != torch.strided or values.is_complex():
        return None
    fits = values.dim() and values.shape[0] == values.numel() == edges
    return values.detach().reshape(edges) if fits else None


def num_entries(matrix: Tensor) -> int:
    """Return the number of stored entries of a sparse matrix, which are its edges."""
    return int(matrix._nnz())


def _sparse_size(matrix: Tensor) -> tuple[int, int]:
    if matrix.layout not in _SPARSE or matrix.sparse_dim() != 2:
        raise GraphError(f"a sparse graph must be a COO, CSR or CSC matrix, got {_describe(matrix)}")
    if matrix.layout != torch.sparse_coo and matrix.dim() - matrix.dense_dim() != 2:
        raise GraphError(f"a sparse graph must be one matrix, not a batch of them, got {_describe(matrix)}")
    return int(matrix.shape[0]), int(matrix.shape[1])


def _describe(tensor: Tensor) -> str:
    return f"{str(tensor.layout).removeprefix('torch.')} of shape {list(tensor.shape)}"


class TensorAdapter(Adapter):
    """Reads an integer tensor `[2, E]` and rebuilds one of the same type and device."""

    name: ClassVar[str] = "tensor"
    about: ClassVar[str] = "a torch tensor [2, E]"
    guesses_nodes: ClassVar[bool] = True

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return isinstance(data, Tensor) and data.layout == torch.strided

    def graphs(self, data: Tensor) -> Mapping[Key, Graph]:
        return {None: Graph.from_edges(view(data))}

    def device(self, data: Tensor) -> Any:
        return on_gpu(data)

    def device_graphs(self, data: Tensor) -> Mapping[Key, Graph]:
        return {None: edges_on_device(data)}

    def rebuild(self, data: Tensor, kept: Mapping[Key, Kept]) -> Tensor:
        if None not in kept:
            return data
        kept[None].refuse_weight("a bare tensor")
        kept[None].refuse_e_id("a bare tensor")
        return take(data, mask_of(kept[None]), dim=1)


class SparseTensorAdapter(Adapter):
    """Reads a `torch.sparse` matrix A[s, t] (rows are sources, as in scipy) and rebuilds one of the same layout."""

    name: ClassVar[str] = "sparse-tensor"
    about: ClassVar[str] = "a torch.sparse matrix"

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return isinstance(data, Tensor) and data.layout != torch.strided

    def graphs(self, data: Tensor) -> Mapping[Key, Graph]:
        return {None: sparse_graph(data, rows="source")}

    def device(self, data: Tensor) -> Any:
        return on_gpu(data)

    def device_graphs(self, data: Tensor) -> Mapping[Key, Graph]:
        return {None: sparse_graph_on_device(data, rows="source")}

    def rebuild(self, data: Tensor, kept: Mapping[Key, Kept]) -> Tensor:
        if None not in kept:
            return data
        kept[None].refuse_e_id("a bare sparse tensor")
        return keep_sparse(data, kept[None], mask_of(kept[None]))
