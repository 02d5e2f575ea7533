"""Graph: what every adapter reads into and every pruner works on.

A graph keeps the caller's arrays as they are (views where possible) and never sorts or copies them: the mask that a
pruner returns is aligned with the edges in this order. Grouping by owner happens later, in `lsprune.selection`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from lsprune.checks import Array
from lsprune.errors import GraphError
from lsprune.graph_arrays import (
    attribute_array,
    attribute_pair,
    brief,
    check_ids,
    check_rows,
    edge_column_arrays,
    edge_ends,
    end_pair,
    integers,
    label_array,
    node_column_arrays,
    node_count,
    offset_array,
    stated_sizes,
    weight_array,
)
from lsprune.ownership import SIDES, Grouped, Owned, Side, oriented, other_side

__all__ = ["SIDES", "UNUSABLE_MASK", "Array", "Graph", "Grouped", "Owned", "Side", "oriented", "other_side"]

UNUSABLE_MASK: Array = np.zeros(0, bool)  # a `train_mask` that is there and does not fit: no label may be learned from


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
    unusable_y: bool = False  # the caller's `y` is not an array with a row for each node, so that y is None
    train_mask: Any = None  # [nodes] bool: training nodes; None: all nodes with a label
    indptr: Array | None = None  # [rows + 1] when the edges came as CSR
    rows: Literal["source", "target"] | None = None
    source_ptr: Array | None = None  # [G + 1] int64
    target_ptr: Array | None = None
    bipartite: bool = False
    undirected: bool = False  # an edge and its reverse are one thing (networkx.Graph): masks are always symmetric
    relation: Any = None  # the edge type, of a heterogeneous graph; messages name it
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
        source, target = edge_ends(edge_index)
        bipartite = isinstance(num_nodes, tuple) or (num_nodes is None and isinstance(x, tuple))
        x_source, x_target = end_pair(x, bipartite, "x")
        ptr_source, ptr_target = end_pair(ptr, bipartite, "ptr")
        sizes, (x_source, x_target) = stated_sizes(num_nodes), attribute_pair(x_source, x_target)
        if bipartite:
            counts = [node_count(sizes[0], x_source, [source]), node_count(sizes[1], x_target, [target])]
        else:
            counts = [node_count(sizes[0], x_source, [source, target])] * 2
        graph = cls(
            source=source, target=target, num_sources=counts[0], num_targets=counts[1], bipartite=bipartite,
            x_source=check_rows(x_source, counts[0], "x"), x_target=check_rows(x_target, counts[1], "x"),
            edge_attr=check_rows(attribute_array(edge_attr, "edge_attr"), source.shape[0], "edge_attr"),
            edge_weight=weight_array(edge_weight, source.shape[0]), undirected=undirected,
            source_ptr=offset_array(ptr_source, counts[0]), target_ptr=offset_array(ptr_target, counts[1]),
            y=label_array(y, counts, bipartite, "y"),
            train_mask=label_array(train_mask, counts, bipartite, "train_mask"),
            edge_columns=edge_column_arrays(edge_columns, source.shape[0]),
            node_columns=node_column_arrays(node_columns, counts, bipartite),
        )  # fmt: skip
        check_ids(source, counts[0], "source")
        check_ids(target, counts[1], "target")
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
        indptr, indices = integers(indptr, "indptr"), integers(indices, "indices")
        if indptr.size == 0 or indptr[0] != 0 or indptr[-1] != indices.shape[0] or np.any(indptr[1:] < indptr[:-1]):
            raise GraphError(
                f"indptr must rise from 0 to the number of indices ({indices.shape[0]}), got {brief(indptr)}"
            )
        count = indptr.shape[0] - 1
        bipartite = isinstance(num_nodes, tuple)
        sizes = (count, count) if num_nodes is None else stated_sizes(num_nodes)
        if sizes[0 if rows == "source" else 1] != count or None in sizes:
            raise GraphError(f"num_nodes must match the {count} rows of indptr, got {num_nodes}")
        x_source, x_target = attribute_pair(*end_pair(x, bipartite, "x"))
        ptr_source, ptr_target = end_pair(ptr, bipartite, "ptr")
        graph = cls(
            source=None if rows == "source" else indices, target=None if rows == "target" else indices,
            num_sources=sizes[0], num_targets=sizes[1], bipartite=bipartite, indptr=indptr, rows=rows,
            x_source=check_rows(x_source, sizes[0], "x"), x_target=check_rows(x_target, sizes[1], "x"),
            edge_attr=check_rows(attribute_array(edge_attr, "edge_attr"), indices.shape[0], "edge_attr"),
            edge_weight=weight_array(edge_weight, indices.shape[0]),
            source_ptr=offset_array(ptr_source, sizes[0]), target_ptr=offset_array(ptr_target, sizes[1]),
            y=label_array(y, [*sizes], bipartite, "y"),
            train_mask=label_array(train_mask, [*sizes], bipartite, "train_mask"),
        )  # fmt: skip
        check_ids(indices, sizes[1 if rows == "source" else 0], "indices")
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
        joined = cls.from_edges(
            (source, target),
            num_nodes=(int(source_ptr[-1]), int(target_ptr[-1])) if bipartite else int(target_ptr[-1]),
            x=(_concat_rows([graph.x_source for graph in graphs], "x"), x) if bipartite else x,
            edge_attr=_concat_rows([graph.edge_attr for graph in graphs], "edge_attr"),
            edge_weight=concat_labels([graph.edge_weight for graph in graphs], np.concatenate),
            ptr=(source_ptr, target_ptr) if bipartite else target_ptr,
            undirected=graphs[0].undirected,
            y=concat_labels([graph.y for graph in graphs], np.concatenate),
            edge_columns=_concat_edge_columns(graphs),
            node_columns=_concat_node_columns(graphs),
        )
        return replace(
            joined, train_mask=concat_masks(graphs, np.concatenate), unusable_y=lacks_labels(graphs, joined.y)
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
            self, edge_columns=edge_column_arrays(edge_columns, self.num_edges),
            node_columns=node_column_arrays(node_columns, counts, self.bipartite), column_names=names,
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
        raise GraphError(f"graph {missing[0]}: {name} must be on all graphs of a list or on none, got none here")
    widths = [list(rows.shape[1:]) for rows in values]
    for place, width in enumerate(widths):
        if width != widths[0]:
            raise GraphError(f"graph {place}: {name} must be as wide as that of graph 0, {widths[0]}, got {width}")
    return True


def _concat_rows(values: list[Any], name: str) -> Any:
    """Return the attributes of all graphs, one after the other; None if no graph has any."""
    if not check_widths(values, name):
        return None
    if any(hasattr(rows, "tocsr") for rows in values):
        from scipy.sparse import vstack

        return vstack(values, format="csr")
    return np.concatenate(values)


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


def concat_masks(graphs: Sequence[Any], join: Callable[[Any], Any]) -> Any:
    """Return the masks of training nodes, one after the other; None if no graph has one.

    UNUSABLE_MASK if only some graphs have one that fits: without a mask all labels would be training labels.
    """
    masks = [graph.train_mask for graph in graphs]
    if all(mask is None for mask in masks):
        return None
    pairs = zip(masks, graphs, strict=True)
    fit = all(mask is not None and mask.shape[:1] == (graph.num_nodes,) for mask, graph in pairs)
    joined = concat_labels(masks, join) if fit else None
    return UNUSABLE_MASK if joined is None else joined


def lacks_labels(graphs: Sequence[Graph], y: Any) -> bool:
    """Return whether some of the graphs have labels, usable or not, and `y`, all of them joined, is None."""
    return y is None and any(graph.unusable_y or graph.y is not None for graph in graphs)


def concat_labels(values: Sequence[Any], join: Callable[[Any], Any]) -> Any:
    """Return labels or edge weights of all graphs, one after the other; None unless all have them, of one width."""
    if any(rows is None for rows in values) or len({tuple(rows.shape[1:]) for rows in values}) > 1:
        return None
    return join(list(values))
