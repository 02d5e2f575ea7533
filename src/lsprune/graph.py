"""Graph: what every adapter reads into and every pruner works on.

A graph keeps the caller's arrays as they are (views where possible) and never sorts or copies them: the mask that a
pruner returns is aligned with the edges in this order. Grouping by owner happens later, in `lsprune.selection`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from lsprune.checks import Array, as_array, check_numbers, check_sparse, count_of, shown, to_csr
from lsprune.errors import GraphError
from lsprune.ownership import SIDES, Grouped, Owned, Side, oriented, other_side

__all__ = ["SIDES", "Array", "Graph", "Grouped", "Owned", "Side", "oriented", "other_side"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Graph:
    """A directed graph in the caller's edge order; build one with `from_edges` or `from_csr`.

    Messages flow source -> target. An ordinary graph has one set of nodes; a bipartite one (a relation between two node
    types) has separate sources and targets. Several graphs in one carry `source_ptr`/`target_ptr`, the node offsets
    `[G + 1]` of each of them.
    """

    source: Array | None  # [E] integers; None when `rows` says that indptr holds this side
    target: Array | None  # [E]
    num_sources: int
    num_targets: int
    x_source: Any = None  # [num_sources, ...] dense or scipy.sparse; the same object as x_target unless bipartite
    x_target: Any = None
    edge_attr: Any = None  # [E, ...]
    edge_weight: Any = None  # [E]: what `TopWeight` and `weights="edge"` look at first; never hashed
    edge_columns: Any = None  # arrays [E] by name, of those columns that a pruner asks for by name
    node_columns: Any = None  # pairs of arrays ([num_sources], [num_targets]) by name; None for an end without it
    column_names: tuple[str, ...] = ()  # of all columns that the caller's object has, for error messages
    y: Any = None  # [nodes, ...] labels; only `weights="labels"` looks at them, and only at those of training nodes
    train_mask: Any = None  # [nodes] bool: training nodes; None: all nodes with a label
    indptr: Array | None = None  # [rows + 1] when the edges came as CSR
    rows: Literal["source", "target"] | None = None
    source_ptr: Array | None = None  # [G + 1] int64
    target_ptr: Array | None = None
    bipartite: bool = False
    undirected: bool = False  # an edge and its reverse are one thing (networkx.Graph): masks are always symmetric
    # [num_sources] and [num_targets] int64: what ties go by, if not the number of a node: its id in the whole graph,
    # where this is a part of it, or in the caller's table.
    ids: tuple[Array, Array] | None = None
    # [num_sources] and [num_targets] bool: nodes whose attributes are known; None: all. The others have no edges.
    known: tuple[Array | None, Array | None] = (None, None)
    grouped: Grouped | None = None  # when the edges came by owner already; then there is no source and no target

    @classmethod
    def from_edges(
        cls,
        edge_index: Any,
        *,
        num_nodes: int | tuple[int, int] | None = None,
        x: Any = None,
        edge_attr: Any = None,
        edge_weight: Any = None,
        ptr: Any = None,
        undirected: bool = False,
        y: Any = None,
        train_mask: Any = None,
        edge_columns: Mapping[str, Any] | None = None,
        node_columns: Mapping[str, Any] | None = None,
    ) -> Graph:
        """Build a graph from COO edges.

        Args:
            edge_index: integers `[2, E]`, row 0 the sources and row 1 the targets (or a pair of `[E]` arrays).
            num_nodes: number of nodes; a pair `(sources, targets)` makes the graph bipartite. Default: from `x`, else
                the largest id + 1.
            x: node attributes `[N, d]` or `[N]`, dense or scipy.sparse; a pair when bipartite.
            edge_attr: edge attributes `[E, d]` or `[E]`.
            edge_weight: `[E]` how much each edge counts, for `TopWeight` and `weights="edge"`.
            ptr: node offsets `[G + 1]` of several graphs in one; a pair when bipartite.
            undirected: treat an edge and its reverse as one.
            y: node labels `[N]` or `[N, columns]`, for `weights="labels"`; not of a bipartite graph.
            train_mask: `[N]` bool, the nodes whose labels may be looked at; default: all.
            edge_columns: `[E]` numbers or dates by name, for pruners that ask for a column by name: `Timed(time="t")`,
                `TopWeight(column="t")`.
            node_columns: the same of the nodes, `[N]` each; pairs (sources, targets) when bipartite.

        >>> import numpy as np
        >>> Graph.from_edges(np.array([[0, 1, 2], [1, 2, 0]]))
        Graph(nodes=3, edges=3)
        """
        source, target = _ends(edge_index)
        bipartite = isinstance(num_nodes, tuple) or (num_nodes is None and isinstance(x, tuple))
        x_source, x_target = _pair(x, bipartite, "x")
        ptr_source, ptr_target = _pair(ptr, bipartite, "ptr")
        sizes, (x_source, x_target) = _sizes(num_nodes), _attributes(x_source, x_target)
        if bipartite:
            counts = [_count(sizes[0], x_source, [source]), _count(sizes[1], x_target, [target])]
        else:
            counts = [_count(sizes[0], x_source, [source, target])] * 2
        graph = cls(
            source=source, target=target, num_sources=counts[0], num_targets=counts[1], bipartite=bipartite,
            x_source=_rows_for(x_source, counts[0], "x"), x_target=_rows_for(x_target, counts[1], "x"),
            edge_attr=_rows_for(_features(edge_attr, "edge_attr"), source.shape[0], "edge_attr"), undirected=undirected,
            edge_weight=_weights(edge_weight, source.shape[0]),
            source_ptr=_offsets(ptr_source, counts[0]), target_ptr=_offsets(ptr_target, counts[1]),
            y=_labels(y, counts, bipartite, "y"), train_mask=_labels(train_mask, counts, bipartite, "train_mask"),
            edge_columns=_edge_columns(edge_columns, source.shape[0]),
            node_columns=_node_columns(node_columns, counts, bipartite),
        )  # fmt: skip
        _check_ids(source, counts[0], "source")
        _check_ids(target, counts[1], "target")
        return graph

    @classmethod
    def from_csr(
        cls,
        indptr: Any,
        indices: Any,
        *,
        rows: Literal["source", "target"],
        num_nodes: int | tuple[int, int] | None = None,
        x: Any = None,
        edge_attr: Any = None,
        edge_weight: Any = None,
        ptr: Any = None,
        y: Any = None,
        train_mask: Any = None,
    ) -> Graph:
        """Build a graph from compressed rows, without expanding them; all else as in `from_edges`.

        Args:
            indptr: `[R + 1]` offsets; indices: `[E]` ids of the other end.
            rows: which end the rows are: `"target"` (PyG's `adj_t`, CSC of scipy's A[s, t]) or `"source"`.
            num_nodes: as in `from_edges`; default R for an ordinary graph.

        >>> import numpy as np
        >>> Graph.from_csr(np.array([0, 2, 3]), np.array([0, 1, 0]), rows="target")
        Graph(nodes=2, edges=3)
        """
        if rows not in ("source", "target"):
            raise GraphError(f'rows must be "source" or "target", got {rows!r}')
        indptr, indices = _integers(indptr, "indptr"), _integers(indices, "indices")
        if indptr.size == 0 or indptr[0] != 0 or indptr[-1] != indices.shape[0] or np.any(indptr[1:] < indptr[:-1]):
            raise GraphError(
                f"indptr must rise from 0 to the number of indices ({indices.shape[0]}), got {_brief(indptr)}"
            )
        count = indptr.shape[0] - 1
        bipartite = isinstance(num_nodes, tuple)
        sizes = (count, count) if num_nodes is None else _sizes(num_nodes)
        if sizes[0 if rows == "source" else 1] != count or None in sizes:
            raise GraphError(f"num_nodes must match the {count} rows of indptr, got {num_nodes}")
        x_source, x_target = _attributes(*_pair(x, bipartite, "x"))
        ptr_source, ptr_target = _pair(ptr, bipartite, "ptr")
        graph = cls(
            source=None if rows == "source" else indices, target=None if rows == "target" else indices,
            num_sources=sizes[0], num_targets=sizes[1], bipartite=bipartite, indptr=indptr, rows=rows,
            x_source=_rows_for(x_source, sizes[0], "x"), x_target=_rows_for(x_target, sizes[1], "x"),
            edge_attr=_rows_for(_features(edge_attr, "edge_attr"), indices.shape[0], "edge_attr"),
            edge_weight=_weights(edge_weight, indices.shape[0]),
            source_ptr=_offsets(ptr_source, sizes[0]), target_ptr=_offsets(ptr_target, sizes[1]),
            y=_labels(y, [*sizes], bipartite, "y"), train_mask=_labels(train_mask, [*sizes], bipartite, "train_mask"),
        )  # fmt: skip
        _check_ids(indices, sizes[1 if rows == "source" else 0], "indices")
        return graph

    @classmethod
    def concat(cls, graphs: Sequence[Graph]) -> Graph:
        """Join graphs into one, in order: ids are shifted, and `source_ptr` and `target_ptr` hold the node offsets.

        A graph that holds several already brings their offsets. All must be of one kind (bipartite, undirected), and
        have attributes of one width or none.

        >>> import numpy as np
        >>> Graph.concat([Graph.from_edges(np.array([[0, 1], [1, 0]])), Graph.from_edges(np.array([[0], [2]]))])
        Graph(nodes=5, edges=3, graphs=2)
        """
        check_kinds(graphs)
        bipartite, ends = graphs[0].bipartite, [graph.ends() for graph in graphs]
        source, source_ptr = _concat_ends(
            [s for s, _ in ends], [graph.num_sources for graph in graphs], [graph.source_ptr for graph in graphs]
        )
        target, target_ptr = _concat_ends(
            [t for _, t in ends], [graph.num_targets for graph in graphs], [graph.target_ptr for graph in graphs]
        )
        x = _concat_rows([graph.x_target for graph in graphs], "x")
        return cls.from_edges(
            (source, target),
            num_nodes=(int(source_ptr[-1]), int(target_ptr[-1])) if bipartite else int(target_ptr[-1]),
            x=(_concat_rows([graph.x_source for graph in graphs], "x"), x) if bipartite else x,
            edge_attr=_concat_rows([graph.edge_attr for graph in graphs], "edge_attr"),
            edge_weight=concat_labels([graph.edge_weight for graph in graphs], np.concatenate),
            ptr=(source_ptr, target_ptr) if bipartite else target_ptr,
            undirected=graphs[0].undirected,
            y=concat_labels([graph.y for graph in graphs], np.concatenate),
            train_mask=concat_labels([graph.train_mask for graph in graphs], np.concatenate),
            edge_columns=_concat_edge_columns(graphs),
            node_columns=_concat_node_columns(graphs),
        )

    def with_columns(
        self, edge_columns: Mapping[str, Any], node_columns: Mapping[str, Any], names: tuple[str, ...] = ()
    ) -> Graph:
        """Return the graph with columns by name, as `from_edges` takes them.

        Args:
            names: those of all columns that the caller's object has, for error messages.
        """
        counts = [self.num_sources, self.num_targets]
        return replace(
            self, edge_columns=_edge_columns(edge_columns, self.num_edges),
            node_columns=_node_columns(node_columns, counts, self.bipartite), column_names=names,
        )  # fmt: skip

    @property
    def num_nodes(self) -> int:
        """Number of nodes; of sources plus targets in a bipartite graph."""
        return self.num_sources + self.num_targets if self.bipartite else self.num_targets

    @property
    def num_edges(self) -> int:
        """Number of directed edges, self-loops and duplicates included."""
        if self.grouped is not None:
            return self.grouped.edges
        ids = self.target if self.source is None else self.source
        assert ids is not None
        return int(ids.shape[0])

    @property
    def num_graphs(self) -> int:
        """Number of graphs held in this one."""
        return 1 if self.source_ptr is None else int(self.source_ptr.shape[0]) - 1

    @property
    def x(self) -> Any:
        """Node attributes; the pair (sources, targets) of a bipartite graph."""
        return (self.x_source, self.x_target) if self.bipartite else self.x_target

    def ends(self) -> tuple[Array, Array]:
        """Return sources and targets, `[E]` each; compressed rows are expanded."""
        if self.indptr is None:
            assert self.source is not None and self.target is not None
            return self.source, self.target
        other = self.target if self.rows == "source" else self.source
        assert other is not None
        expanded = np.repeat(np.arange(self.indptr.shape[0] - 1, dtype=other.dtype), np.diff(self.indptr))
        return (expanded, other) if self.rows == "source" else (other, expanded)

    def owners_and_neighbours(self, side: str) -> tuple[Array, Array]:
        """Return the owner and the neighbour of each edge, `[E]` each."""
        return oriented(side, *self.ends())

    def num_owners(self, side: str) -> int:
        """Return the number of nodes that may own edges."""
        return oriented(side, self.num_sources, self.num_targets)[0]

    def num_neighbours(self, side: str) -> int:
        """Return the number of nodes that may be neighbours."""
        return oriented(side, self.num_sources, self.num_targets)[1]

    def __repr__(self) -> str:
        nodes = f"({self.num_sources}, {self.num_targets})" if self.bipartite else str(self.num_nodes)
        several = f", graphs={self.num_graphs}" if self.source_ptr is not None else ""
        return f"Graph(nodes={nodes}, edges={self.num_edges}{several})"


def _ends(edge_index: Any) -> tuple[Array, Array]:
    if isinstance(edge_index, Sequence) and len(edge_index) == 2:
        source, target = (_integers(side, "edge_index") for side in edge_index)
    else:
        both = _integers(edge_index, "edge_index", ndim=2)
        if both.shape[0] != 2:
            raise GraphError(f"edge_index must have shape [2, E], got {list(both.shape)}")
        source, target = both[0], both[1]
    if source.shape != target.shape:
        raise GraphError(f"edge_index must have as many sources as targets, got {source.size} and {target.size}")
    return source, target


def _integers(values: Any, name: str, ndim: int = 1) -> Array:
    array = as_array(values, name)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)  # np.array([]) and np.empty((2, 0)) are floats only for lack of a value
    if array.dtype.kind not in "iu":
        raise GraphError(f"{name} must be integers, got {array.dtype}")
    if array.ndim != ndim:
        raise GraphError(f"{name} must have {ndim} dimension{'s' * (ndim > 1)}, got shape {list(array.shape)}")
    return array if array.dtype in (np.int32, np.int64) else array.astype(np.int64)


def _pair(value: Any, bipartite: bool, name: str) -> tuple[Any, Any]:
    if not bipartite:
        return value, value
    if value is None:
        return None, None
    if not isinstance(value, tuple) or len(value) != 2:
        raise GraphError(f"{name} of a bipartite graph must be a pair (sources, targets), got {type(value).__name__}")
    return value


def _sizes(num_nodes: Any) -> tuple[Any, Any]:
    """Return the stated numbers of sources and targets as Python ints; None for what is not stated."""
    if num_nodes is None:
        return None, None
    if not isinstance(num_nodes, tuple):
        return (count_of(num_nodes, "num_nodes"),) * 2
    if len(num_nodes) != 2:
        raise GraphError(f"num_nodes must be one number or a pair (sources, targets), got {shown(num_nodes)}")
    first, second = (None if size is None else count_of(size, "num_nodes") for size in num_nodes)
    return first, second


def _count(stated: int | None, x: Any, ids: list[Array]) -> int:
    if stated is not None:
        return stated
    if x is not None:
        return int(x.shape[0])
    return max((int(side.max()) + 1 for side in ids if side.size), default=0)


def _attributes(x_source: Any, x_target: Any) -> tuple[Any, Any]:
    """Return the attributes of sources and targets as arrays; one object stays one object."""
    source = _features(x_source, "x")
    return source, source if x_target is x_source else _features(x_target, "x")


def _features(values: Any, name: str) -> Any:
    """Return attributes as a numpy array of numbers; scipy.sparse stays sparse, its arrays checked."""
    if values is None:
        return None
    if hasattr(values, "tocsr"):
        # The other formats hold Python objects: only their CSR form can be checked.
        (check_sparse if values.format in ("csr", "csc", "coo", "bsr") else to_csr)(values, name)
    else:
        values = as_array(values, name)
    check_numbers(values.dtype, name)
    if values.ndim == 0:
        raise GraphError(f"{name} must have one row for each {_ITEM[name]}, got a single value")
    return values


def _rows_for(values: Any, count: int, name: str) -> Any:
    if values is not None and values.shape[0] != count:
        raise GraphError(f"{name} must have {count} rows, one for each {_ITEM[name]}, got {list(values.shape)}")
    return values


_ITEM = {"x": "node", "edge_attr": "edge", "edge_weight": "edge"}


def _weights(values: Any, count: int) -> Any:
    """Return one number for each edge, `[E]`; a single column is one number too."""
    if values is None:
        return None
    rows = as_array(values, "edge_weight")
    check_numbers(rows.dtype, "edge_weight")
    if rows.ndim == 0 or rows.size != count or rows.shape[0] != count:
        raise GraphError(f"edge_weight must have {count} values, one for each edge, got {list(rows.shape)}")
    return rows.reshape(count)


def _offsets(values: Any, count: int) -> Array | None:
    if values is None:
        return None
    ptr = _integers(values, "ptr").astype(np.int64)
    if ptr.size < 1 or ptr[0] != 0 or ptr[-1] != count or np.any(ptr[1:] < ptr[:-1]):
        raise GraphError(f"ptr must rise from 0 to the number of nodes ({count}), got {_brief(ptr)}")
    return ptr


def _concat_ends(ends: list[Array], sizes: list[int], offsets: list[Array | None]) -> tuple[Array, Array]:
    """Return the shifted ids of one end of all edges, and the node offsets of all graphs."""
    shift = np.cumsum([0, *sizes])
    ids = np.concatenate(ends) + np.repeat(shift[:-1], [end.size for end in ends])
    parts = [shift[i + 1 : i + 2] if ptr is None else ptr[1:] + shift[i] for i, ptr in enumerate(offsets)]
    return ids, np.concatenate([[0], *parts])


def check_kinds(graphs: Sequence[Graph]) -> None:
    """Raise GraphError unless there are graphs and all are of one kind."""
    if not graphs:
        raise GraphError("graphs must hold at least one graph, got none")
    for name in ("bipartite", "undirected"):
        if len({getattr(graph, name) for graph in graphs}) > 1:
            raise GraphError(f"the graphs of a list must be all {name} or none of them")


def check_widths(values: Sequence[Any], name: str) -> bool:
    """Return whether graphs have attributes; raise GraphError if only some have, or if their widths differ."""
    missing = [place for place, rows in enumerate(values) if rows is None]
    if len(missing) == len(values):
        return False
    if missing:
        raise GraphError(f"{name} must be on all graphs of a list or on none, number {missing[0]} has none")
    widths = {tuple(rows.shape[1:]) for rows in values}
    if len(widths) > 1:
        raise GraphError(f"{name} must have the same width on all graphs of a list, got {sorted(map(list, widths))}")
    return True


def _concat_rows(values: list[Any], name: str) -> Any:
    """Return the attributes of all graphs, one after the other; None if no graph has any."""
    if not check_widths(values, name):
        return None
    if any(hasattr(rows, "tocsr") for rows in values):
        from scipy.sparse import vstack

        return vstack(values, format="csr")
    return np.concatenate(values)


def _labels(values: Any, counts: list[int], bipartite: bool, name: str) -> Any:
    """Return labels or a mask of the nodes as an array; raise GraphError unless there is a row for each node."""
    if values is None:
        return None
    rows = as_array(values, name)
    if bipartite or rows.ndim == 0 or rows.shape[0] != counts[0]:
        kinds = "one kind of nodes" if bipartite else f"{counts[0]} rows, one for each node"
        raise GraphError(f"{name} must be of {kinds}, got {list(rows.shape)}")
    return rows


def column_array(values: Any, name: str, count: int, item: str) -> Array:
    """Return one number or date for each edge or node, `[count]`; raise GraphError for anything else."""
    column = as_array(values, f"column {name!r}")
    if column.dtype.kind not in "fiubM":
        raise GraphError(f"column {name!r} must be numbers or dates, got {column.dtype}")
    if column.ndim == 0 or column.size != count or column.shape[0] != count:
        raise GraphError(f"column {name!r} must have {count} values, one for each {item}, got {list(column.shape)}")
    return column.reshape(count)


def _edge_columns(columns: Mapping[str, Any] | None, count: int) -> dict[str, Array] | None:
    if columns is None:
        return None
    return {name: column_array(values, name, count, "edge") for name, values in columns.items()}


def _node_columns(columns: Mapping[str, Any] | None, counts: list[int], bipartite: bool) -> dict[str, Any] | None:
    if columns is None:
        return None
    found = {}
    for name, values in columns.items():
        ends = _pair(values, bipartite, f"column {name!r}")
        found[name] = tuple(
            None if end is None else column_array(end, name, count, "node")
            for end, count in zip(ends, counts, strict=True)
        )
    return found


def missing_column(graph: Graph, what: str, items: str = "edge") -> str:
    """Return the message for a column that is asked for by name and that the edges (or `items`) do not have."""
    kinds = "a table or file with a column of that name, or a PyG, NetworkX or igraph object with such an attribute"
    names = [*graph.column_names, *(graph.edge_columns or ()), *(graph.node_columns or ())]
    there = f"; there are {', '.join(map(repr, dict.fromkeys(names)))}" if names else ""
    return f"{what} needs a value of each {items}: {kinds}{there}"


def _concat_edge_columns(graphs: Sequence[Graph]) -> dict[str, Array] | None:
    """Return the columns of the edges that all graphs have."""
    names = [name for name in graphs[0].edge_columns or () if all(name in (g.edge_columns or ()) for g in graphs)]
    return {name: _concat_column([graph.edge_columns[name] for graph in graphs], name) for name in names} or None


def _concat_node_columns(graphs: Sequence[Graph]) -> dict[str, Any] | None:
    """Return the columns of the nodes that all graphs have, as `from_edges` takes them."""
    names = [name for name in graphs[0].node_columns or () if all(name in (g.node_columns or ()) for g in graphs)]
    joined: dict[str, Any] = {}
    for name in names:
        ends = zip(*(graph.node_columns[name] for graph in graphs), strict=True)
        pair = tuple(None if any(rows is None for rows in end) else _concat_column(list(end), name) for end in ends)
        joined[name] = pair if graphs[0].bipartite else pair[1]
    return joined or None


def _concat_column(parts: list[Array], name: str) -> Array:
    """Return columns one after the other; raise GraphError if they are of two kinds, which would not stay exact."""
    if len({part.dtype.kind for part in parts}) > 1:
        kinds = sorted({str(part.dtype) for part in parts})
        raise GraphError(f"column {name!r} must be of one type on all graphs of a list, got {' and '.join(kinds)}")
    return np.concatenate(parts)


def concat_labels(values: Sequence[Any], join: Callable[[Any], Any]) -> Any:
    """Return labels or edge weights of all graphs, one after the other; None unless all have them, of one width."""
    if any(rows is None for rows in values) or len({tuple(rows.shape[1:]) for rows in values}) > 1:
        return None
    return join(list(values))


def _check_ids(ids: Array, count: int, name: str) -> None:
    # Seen as unsigned, a negative id is a huge one: one pass finds both faults.
    if ids.size and int(ids.view(f"u{ids.itemsize}").max()) >= count:
        wrong = int(np.flatnonzero((ids < 0) | (ids >= count))[0])
        raise GraphError(f"{name} ids must be in [0, {count}), got {int(ids[wrong])} at edge {wrong}")


def _brief(array: Array) -> str:
    return np.array2string(array, threshold=6, edgeitems=2, separator=", ")
