"""A graph whose arrays are tensors on a device, and what is known about its edges."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import torch
from torch import Tensor

from lsprune.device.graph_numbers import GraphNumbers
from lsprune.errors import GraphError, NoGpuPath, naming_graph
from lsprune.graph import Array, Graph, check_kinds, check_widths, concat_labels, concat_masks, lacks_labels, oriented
from lsprune.graph_arrays import inferred_count
from lsprune.kernels import plain
from lsprune.kernels.gpu.edge_facts import EdgeFacts, edge_facts, reverse_balance, row_facts

MAX_NODES = 2**31 - 1  # of one side: owners are sorted as int32
_JOINED = ("y", "edge_weight")
_FEW_OPERATIONS = (torch.uint16, torch.uint32, torch.uint64)  # types that torch can store and hardly compute with


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DeviceGraph(Graph):
    """A `Graph` with tensors instead of arrays; build one with `from_tensors` or `upload`.

    Until `facts` was asked for, ids may be out of range: `ends` and `device.owners.group` ask for it.
    """

    device: Any
    checked_facts: Callable[[], EdgeFacts]  # waits for the facts, and raises GraphError for ids out of range
    numbers: GraphNumbers
    loops_of: Any = None  # [nodes] int32, self-loops of each node; None where nodes were not numbered before

    @cached_property
    def facts(self) -> EdgeFacts:
        """What is known of the edges; GraphError if they are not valid."""
        return self.checked_facts()

    def ends(self) -> tuple[Array, Array]:
        """Return sources and targets, `[E]` each; compressed rows are expanded."""
        self.facts  # noqa: B018  # checks the ids
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
    edge_weight: Any = None,
    ptr: Any = None,
    undirected: bool = False,
) -> DeviceGraph:
    """Build a graph from tensors on one device: COO `ends`, or compressed `rows` with `indptr` and `indices`.

    The other arguments are those of `Graph.from_edges`. Facts are read in one transfer, which is begun here. It is
    waited for here if the edges alone say how many nodes there are.
    """
    bipartite = isinstance(num_nodes, tuple) or (num_nodes is None and isinstance(x, tuple))
    source: Any
    target: Any
    if indptr is not None:
        assert indices is not None
        indices = _ids(indices)
        if not indptr.numel():
            raise GraphError(f"indptr must rise from 0 to the number of indices ({indices.shape[0]}), got []")
        numbers = GraphNumbers(indptr.shape[0] - 1, indices.device)
        row_facts(indptr, indices, numbers.loops_of, numbers.facts)
        source, target = (None, indices) if rows == "source" else (indices, None)
        known: Any = indices
    else:
        assert ends is not None
        source, target = (_ids(end) for end in ends)
        numbers = GraphNumbers(_expected_nodes(num_nodes, x), source.device)
        edge_facts(source, target, numbers.loops_of, numbers.facts)
        numbers.begin()
        known = source

    def read() -> EdgeFacts:
        if indptr is None or indices is None:
            return EdgeFacts.of_edges(numbers.read_facts())
        return _facts_of_rows(numbers.read_facts(), int(indptr.shape[0]) - 1, int(indices.shape[0]), rows)

    x_source, x_target = x if bipartite and x is not None else (x, x)
    counts = _counts(num_nodes, (x_source, x_target), read, bipartite, int(known.shape[0]))
    if indptr is not None and counts[0 if rows == "source" else 1] != indptr.shape[0] - 1:
        raise GraphError(f"num_nodes must match the {indptr.shape[0] - 1} rows of indptr, got {num_nodes}")

    def checked() -> EdgeFacts:
        facts = read()
        _check_ids(facts, counts, (source, target))
        return facts

    ptrs = ptr if isinstance(ptr, tuple) else (ptr, ptr)
    compressed = indptr is not None
    return DeviceGraph(
        source=source, target=target,
        indptr=cast(Any, indptr.long()) if indptr is not None else None, rows=rows if compressed else None,
        num_sources=counts[0], num_targets=counts[1], bipartite=bipartite, undirected=undirected,
        x_source=_rows(x_source, counts[0], "x"), x_target=_rows(x_target, counts[1], "x"),
        edge_attr=_rows(edge_attr, int(known.shape[0]), "edge_attr"), edge_weight=edge_weight,
        source_ptr=_offsets(ptrs[0], counts[0]), target_ptr=_offsets(ptrs[1], counts[1]),
        device=known.device, checked_facts=checked, numbers=numbers,
        loops_of=None if bipartite or numbers.loops_of.shape[0] != counts[0] else numbers.loops_of,
    )  # fmt: skip


def _expected_nodes(num_nodes: Any, x: Any) -> int:
    """Return the number of nodes as far as it is known without looking at the edges; 0 for two kinds of nodes."""
    if isinstance(num_nodes, tuple) or isinstance(x, tuple):
        return 0
    return int(num_nodes) if num_nodes is not None else int(x.shape[0]) if x is not None else 0


def _facts_of_rows(numbers: list[int], height: int, entries: int, rows: str) -> EdgeFacts:
    """Return the facts of compressed rows; raise GraphError unless pointers rise from 0 to the number of entries."""
    if numbers[3:6] != [0, entries, 0]:
        raise GraphError(f"indptr must rise from 0 to the number of indices ({entries})")
    return EdgeFacts.of_rows(numbers, height, rows)


def is_undirected(graph: DeviceGraph) -> bool:
    """Return whether every edge has its reverse (wrong with probability 2^-64); one more pass over the edges."""
    ends: Any = graph.ends()
    return int(reverse_balance(*ends)) == 0


def concat(graphs: Sequence[DeviceGraph]) -> DeviceGraph:
    """Join graphs that are on one device, as `Graph.concat` does."""
    check_kinds(graphs)
    if len({graph.device for graph in graphs}) > 1:
        raise NoGpuPath("the graphs of a list must be on one device for the GPU path")
    bipartite, ends = graphs[0].bipartite, []
    for place, graph in enumerate(graphs):
        with naming_graph(place):
            ends.append(graph.ends())
    source, source_ptr = _concat_ends(
        [s for s, _ in ends], [graph.num_sources for graph in graphs], [graph.source_ptr for graph in graphs]
    )
    target, target_ptr = _concat_ends(
        [t for _, t in ends], [graph.num_targets for graph in graphs], [graph.target_ptr for graph in graphs]
    )
    sources, targets = (sum(getattr(graph, name) for graph in graphs) for name in ("num_sources", "num_targets"))
    x = concat_rows([graph.x_target for graph in graphs], "x")
    joined = from_tensors(
        (source, target),
        num_nodes=(sources, targets) if bipartite else targets,
        x=(concat_rows([graph.x_source for graph in graphs], "x"), x) if bipartite else x,
        edge_attr=concat_rows([graph.edge_attr for graph in graphs], "edge_attr"),
        ptr=(source_ptr, target_ptr) if bipartite else target_ptr,
        undirected=graphs[0].undirected,
    )
    labels: dict[str, Any] = {
        name: concat_labels([getattr(graph, name) for graph in graphs], torch.cat) for name in _JOINED
    }
    labels["unusable_y"] = lacks_labels(graphs, labels["y"])
    return dataclasses.replace(joined, **labels, train_mask=concat_masks(graphs, torch.cat))


def concat_rows(values: Sequence[Any], name: str) -> Any:
    """Return the attributes of all graphs, one after the other; None if no graph has any."""
    if not check_widths(values, name):
        return None
    if len({rows.dtype for rows in values}) > 1:  # numpy and torch differ in the common type of two
        raise NoGpuPath(f"{name} must be of one type on all graphs of a list for the GPU path")
    return torch.cat(list(values))


def _concat_ends(ends: Sequence[Any], sizes: Sequence[int], offsets: Sequence[Any]) -> tuple[Tensor, Tensor]:
    """Return the shifted ids of one end of all edges, and the node offsets of all graphs."""
    device = ends[0].device
    stops = torch.tensor(sizes).cumsum(0)
    shifts = [0, *stops[:-1].tolist()]
    ids = torch.cat([end.long() + shift for end, shift in zip(ends, shifts, strict=True)])
    parts = [
        stops[place : place + 1].to(device) if ptr is None else ptr[1:] + shifts[place]
        for place, ptr in enumerate(offsets)
    ]
    return ids, torch.cat([torch.zeros(1, dtype=torch.int64, device=device), *parts])


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
        "edge_weight": moved(graph.edge_weight),
        "x_source": x_target if graph.x_source is graph.x_target else moved(graph.x_source),
        "indptr": None, "rows": None, "source_ptr": moved(graph.source_ptr), "target_ptr": moved(graph.target_ptr),
    }  # fmt: skip
    numbers = GraphNumbers(0 if graph.bipartite else graph.num_nodes, source.device)
    edge_facts(source, target, numbers.loops_of, numbers.facts)
    numbers.begin()
    return DeviceGraph(
        **fields, device=source.device, checked_facts=lambda: EdgeFacts.of_edges(numbers.read_facts()),
        numbers=numbers, loops_of=None if graph.bipartite else numbers.loops_of,
    )  # fmt: skip


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
        "edge_weight": moved(graph.edge_weight),
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
def working_on(device: Any) -> Iterator[None]:
    """Launch kernels on this device, one of several perhaps; say NoGpuPath where it has too little memory."""
    try:
        with torch.cuda.device(device.index if device.type == "cuda" else -1):
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


def _counts(
    num_nodes: Any, x: tuple[Any, Any], read: Callable[[], EdgeFacts], bipartite: bool, edges: int
) -> tuple[int, int]:
    """Return the numbers of sources and targets: as stated, else from `x`, else the largest id + 1."""
    stated = num_nodes if isinstance(num_nodes, tuple) else (num_nodes, num_nodes)
    known = [
        int(size) if size is not None else None if rows is None else int(rows.shape[0])
        for size, rows in zip(stated, x, strict=True)
    ]
    tops = (0, 0)
    if None in known:
        facts = read()
        tops = (facts.highest_source, facts.highest_target)
    if not bipartite:
        tops = (max(tops), max(tops))
    counts = [inferred_count(top, edges) if size is None else size for size, top in zip(known, tops, strict=True)]
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
    if not ptr.numel() or torch.stack([ptr[0], ptr[-1], (ptr.diff() < 0).sum()]).tolist() != [0, count, 0]:
        raise GraphError(f"ptr must rise from 0 to the number of nodes ({count}), got {ptr.tolist()[:6]}")
    return ptr


def sorted_by_owner(graph: DeviceGraph, side: str) -> bool:
    """Return whether the edges are sorted by owner."""
    by_owner, _ = oriented(side, graph.facts.by_source, graph.facts.by_target)
    return bool(by_owner)
