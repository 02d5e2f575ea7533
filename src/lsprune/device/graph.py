"""A graph whose arrays are tensors on a device, and what is known about its edges."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

from lsprune.errors import GraphError, NoGpuPath
from lsprune.graph import Array, Graph, oriented
from lsprune.kernels import plain
from lsprune.kernels.gpu.edge_facts import EdgeFacts, edge_facts, row_facts

MAX_NODES = 2**31 - 1  # of one side: owners are sorted as int32
_FEW_OPERATIONS = (torch.uint16, torch.uint32, torch.uint64)  # types that torch can store and hardly compute with


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DeviceGraph(Graph):
    """A `Graph` with tensors instead of arrays; build one with `from_tensors` or `upload`."""

    device: Any
    facts: EdgeFacts
    loops_of: Any = None  # [nodes] int32, self-loops of each node; None where nodes were not numbered before

    def ends(self) -> tuple[Array, Array]:
        """Return sources and targets, `[E]` each; compressed rows are expanded."""
        if self.indptr is None:
            return super().ends()
        other: Any = self.target if self.rows == "source" else self.source
        expanded: Any = expand_rows(self.indptr, other.shape[0]).to(other.dtype)
        return (expanded, other) if self.rows == "source" else (other, expanded)


def expand_rows(indptr: Any, entries: int) -> Tensor:
    """Return the row of each entry of compressed rows, int64."""
    return torch.repeat_interleave(indptr.diff(), output_size=entries)


def from_tensors(
    ends: tuple[Tensor, Tensor] | None = None,
    *,
    indptr: Tensor | None = None,
    indices: Tensor | None = None,
    rows: Any = None,
    num_nodes: int | tuple[int | None, int | None] | None = None,
    x: Any = None,
    edge_attr: Any = None,
    ptr: Any = None,
    undirected: bool = False,
) -> DeviceGraph:
    """Build a graph from tensors on one device: COO `ends`, or compressed `rows` with `indptr` and `indices`.

    The other arguments are those of `Graph.from_edges`. Facts are read in one transfer, which waits for the device.
    """
    bipartite = isinstance(num_nodes, tuple) or (num_nodes is None and isinstance(x, tuple))
    source: Any
    target: Any
    loops_of: Any
    if indptr is not None:
        assert indices is not None
        indices = _ids(indices)
        loops_of = torch.zeros(max(indptr.shape[0] - 1, 0), dtype=torch.int32, device=indices.device)
        facts = _facts_of_rows(indptr, indices, rows, loops_of)
        source, target = (None, indices) if rows == "source" else (indices, None)
        known: Any = indices
    else:
        assert ends is not None
        source, target = (_ids(end) for end in ends)
        loops_of = torch.zeros(_expected_nodes(num_nodes, x), dtype=torch.int32, device=source.device)
        facts = EdgeFacts(*edge_facts(source, target, loops_of).tolist())
        known = source
    x_source, x_target = x if bipartite and x is not None else (x, x)
    counts = _counts(num_nodes, (x_source, x_target), facts, bipartite)
    if indptr is not None and counts[0 if rows == "source" else 1] != indptr.shape[0] - 1:
        raise GraphError(f"num_nodes must match the {indptr.shape[0] - 1} rows of indptr, got {num_nodes}")
    _check_ids(facts, counts, (source, target))
    ptrs = ptr if isinstance(ptr, tuple) else (ptr, ptr)
    compressed = indptr is not None
    return DeviceGraph(
        source=source, target=target,
        indptr=cast(Any, indptr.long()) if indptr is not None else None, rows=rows if compressed else None,
        num_sources=counts[0], num_targets=counts[1], bipartite=bipartite, undirected=undirected,
        x_source=_rows(x_source, counts[0], "x"), x_target=_rows(x_target, counts[1], "x"),
        edge_attr=_rows(edge_attr, int(known.shape[0]), "edge_attr"),
        source_ptr=_offsets(ptrs[0], counts[0]), target_ptr=_offsets(ptrs[1], counts[1]),
        device=known.device, facts=facts, loops_of=None if bipartite or loops_of.shape[0] != counts[0] else loops_of,
    )  # fmt: skip


def _expected_nodes(num_nodes: Any, x: Any) -> int:
    """Return the number of nodes as far as it is known without looking at the edges; 0 for two kinds of nodes."""
    if isinstance(num_nodes, tuple) or isinstance(x, tuple):
        return 0
    return int(num_nodes) if num_nodes is not None else int(x.shape[0]) if x is not None else 0


def _facts_of_rows(indptr: Tensor, indices: Tensor, rows: str, loops_of: Tensor) -> EdgeFacts:
    """Return the facts of compressed rows; raise GraphError unless pointers rise from 0 to the number of entries."""
    if not indptr.numel():
        raise GraphError(f"indptr must rise from 0 to the number of indices ({indices.shape[0]}), got []")
    low, high, loops, balance, start, stop, falling = row_facts(indptr, indices, loops_of).tolist()
    if start != 0 or stop != indices.shape[0] or falling:
        raise GraphError(f"indptr must rise from 0 to the number of indices ({indices.shape[0]})")
    last = indptr.shape[0] - 2
    own, other = ((0, last), (low, high))
    first, second = (own, other) if rows == "source" else (other, own)
    balance = balance if rows == "source" else -balance
    unsorted = (int(rows != "source"), int(rows != "target"))
    return EdgeFacts(first[0], first[1], second[0], second[1], loops, balance, *unsorted)


def upload(graph: Graph, device: Any) -> DeviceGraph:
    """Copy a graph in host memory to a device."""
    if graph.grouped is not None or graph.ids is not None or any(known is not None for known in graph.known):
        raise NoGpuPath("a part of a larger graph has no GPU path")

    def moved(values: Any) -> Any:
        if values is None:
            return None
        if hasattr(values, "tocsr"):
            raise NoGpuPath("sparse attributes have no GPU path")
        return _tensor(values).to(device)

    source, target = (moved(end) for end in graph.ends())
    x_target = moved(graph.x_target)
    fields = {f.name: getattr(graph, f.name) for f in dataclasses.fields(Graph)}
    fields |= {
        "source": source, "target": target, "x_target": x_target, "edge_attr": moved(graph.edge_attr),
        "x_source": x_target if graph.x_source is graph.x_target else moved(graph.x_source),
        "indptr": None, "rows": None, "source_ptr": moved(graph.source_ptr), "target_ptr": moved(graph.target_ptr),
    }  # fmt: skip
    loops_of = torch.zeros(0 if graph.bipartite else graph.num_nodes, dtype=torch.int32, device=source.device)
    facts = EdgeFacts(*edge_facts(source, target, loops_of).tolist())
    return DeviceGraph(**fields, device=source.device, facts=facts, loops_of=None if graph.bipartite else loops_of)


def download(graph: DeviceGraph) -> Graph:
    """Copy a graph to host memory; what numpy has no type for becomes float32."""

    def moved(values: Any) -> Any:
        if values is None:
            return None
        strange = values.dtype == torch.bfloat16 or (values.is_floating_point() and values.element_size() == 1)
        return (values.float() if strange else values).cpu().numpy()

    source, target = (moved(end) for end in graph.ends())
    x_target = moved(graph.x_target)
    fields = {f.name: getattr(graph, f.name) for f in dataclasses.fields(Graph)}
    fields |= {
        "source": source, "target": target, "x_target": x_target, "edge_attr": moved(graph.edge_attr),
        "x_source": x_target if graph.x_source is graph.x_target else moved(graph.x_source),
        "indptr": None, "rows": None, "source_ptr": moved(graph.source_ptr), "target_ptr": moved(graph.target_ptr),
    }  # fmt: skip
    return Graph(**fields)


def _tensor(values: Array) -> Tensor:
    """Return an array as a tensor of the same memory where possible."""
    try:
        tensor = torch.from_numpy(plain(values))
    except (TypeError, ValueError):  # big-endian numbers, long doubles
        tensor = None
    if tensor is None or tensor.dtype in _FEW_OPERATIONS:
        raise NoGpuPath(f"attributes of type {values.dtype} have no GPU path")
    return tensor


def default_device() -> Any:
    """Return the GPU that graphs in host memory are copied to."""
    return torch.device("cuda", torch.cuda.current_device())


@contextmanager
def memory_errors() -> Iterator[None]:
    """Say NoGpuPath where the device has too little memory."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        reason = str(error).partition(". GPU")[0]
        raise NoGpuPath(f"the GPU has too little memory ({reason})") from None


def _ids(ids: Tensor) -> Any:
    if not ids.numel() and ids.dtype.is_floating_point:
        ids = ids.long()  # torch.empty(2, 0) is of floats only for lack of a value
    if ids.dtype.is_floating_point or ids.dtype.is_complex or ids.dtype == torch.bool:
        raise GraphError(f"edge_index must be integers, got {str(ids.dtype).removeprefix('torch.')}")
    return (ids if ids.dtype in (torch.int32, torch.int64) else ids.long()).detach()


def _counts(num_nodes: Any, x: tuple[Any, Any], facts: EdgeFacts, bipartite: bool) -> tuple[int, int]:
    """Return the numbers of sources and targets: as stated, else from `x`, else the largest id + 1."""
    stated = num_nodes if isinstance(num_nodes, tuple) else (num_nodes, num_nodes)
    tops = (facts.highest_source + 1, facts.highest_target + 1)
    if not bipartite:
        tops = (max(tops), max(tops))
    counts = [
        int(size) if size is not None else int(rows.shape[0]) if rows is not None else top
        for size, rows, top in zip(stated, x, tops, strict=True)
    ]
    if max(counts) > MAX_NODES:
        raise NoGpuPath(f"more than {MAX_NODES} nodes have no GPU path")
    return counts[0], counts[1]


def _check_ids(facts: EdgeFacts, counts: tuple[int, int], ends: tuple[Any, Any]) -> None:
    lowest, highest = (facts.lowest_source, facts.lowest_target), (facts.highest_source, facts.highest_target)
    for name, low, high, count, ids in zip(("source", "target"), lowest, highest, counts, ends, strict=True):
        if ids is not None and (low < 0 or high >= count):
            wrong = int(((ids < 0) | (ids >= count)).nonzero()[0, 0])
            raise GraphError(f"{name} ids must be in [0, {count}), got {int(ids[wrong])} at edge {wrong}")


def _rows(values: Any, count: int, name: str) -> Any:
    """Return attributes with one row for each node or edge."""
    if values is None:
        return None
    if values.layout != torch.strided:
        raise NoGpuPath("sparse attributes have no GPU path")
    item = "node" if name == "x" else "edge"
    if values.dim() == 0:
        raise GraphError(f"{name} must have one row for each {item}, got a single value")
    if values.dtype.is_complex:
        raise GraphError(f"{name} must be numbers, got {str(values.dtype).removeprefix('torch.')}")
    if values.dtype in _FEW_OPERATIONS:
        raise NoGpuPath(f"attributes of type {str(values.dtype).removeprefix('torch.')} have no GPU path")
    if values.shape[0] != count:
        raise GraphError(f"{name} must have {count} rows, one for each {item}, got {list(values.shape)}")
    return values.detach()


def _offsets(ptr: Any, count: int) -> Any:
    if ptr is None:
        return None
    ptr = ptr.long()
    if not ptr.numel() or ptr[0] != 0 or ptr[-1] != count or bool((ptr.diff() < 0).any()):
        raise GraphError(f"ptr must rise from 0 to the number of nodes ({count}), got {ptr.tolist()[:6]}")
    return ptr


def sorted_by_owner(graph: DeviceGraph, side: str) -> bool:
    """Return whether the edges are sorted by owner."""
    by_owner, _ = oriented(side, graph.facts.by_source, graph.facts.by_target)
    return bool(by_owner)
