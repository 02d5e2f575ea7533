"""The graph of an edge list in memory: its edges, the attributes of its nodes, and all that is needed to write it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files.edge_files import Content, LoadedEdges
from lsprune.files.edge_options import EdgeOptions
from lsprune.files.ids import far_error
from lsprune.files.node_kinds import look_like_two_kinds, warn_two_kinds
from lsprune.files.node_table import NodeRows, check_ends
from lsprune.files.seals import VerifiedInput
from lsprune.graph import Array, Graph
from lsprune.graph_arrays import is_far

Tables = Sequence[NodeRows | None]  # of the sources (of all nodes, if they are one kind), and of the targets


@dataclass(frozen=True, eq=False)
class FileGraph:
    """A graph read from a file, with all that is needed to write a part of it back."""

    graph: Graph
    content: Content
    inputs: tuple[Path, ...]  # the files it came from: none of them may be written over
    verified: VerifiedInput = field(default_factory=VerifiedInput)  # those that were compared with their seals

    def check(self) -> None:
        """Raise FormatError if it is not clear which arrays belong to the edges, or if a verified file has changed."""
        self.verified.check()
        try:
            self.content.check((self.graph.num_sources, self.graph.num_targets))
        except FormatError as error:
            raise FormatError(f"{self.inputs[0]}: {error}") from None


def build_graph(edges: LoadedEdges, tables: Tables, options: EdgeOptions, path: Path, *, two_kinds: bool) -> Graph:
    """Return the graph of the edges in `path` with the attributes in `tables`; errors name the file."""
    edges = replace(edges, edge_attr=options.quantities(edges.edge_attr))
    with _naming(path):
        if two_kinds:
            return _two_kinds(edges, tables, options, path)
        if options.bipartite is None and look_like_two_kinds(edges.names) and _has_loops(edges):
            warn_two_kinds(edges.names)
        return _one_kind(edges, tables[0], options, path)


def _one_kind(edges: LoadedEdges, rows: NodeRows | None, options: EdgeOptions, path: Path) -> Graph:
    nodes: Any = edges.num_nodes
    x = edges.x if rows is None else rows.x
    for end, (ids, label) in enumerate(_ends(edges)):
        if rows is not None:
            _check_rows(ids, label, rows, options.tables[0], path, edges, known=nodes is not None)
        elif x is None and nodes is None and (edges.source, edges.target)[end] is not None:
            _check_far(ids, label, edges, path)
    graph = _graph(edges, x, nodes)
    return graph if rows is None else replace(graph, known=(rows.known, rows.known))


def _two_kinds(edges: LoadedEdges, tables: Tables, options: EdgeOptions, path: Path) -> Graph:
    if isinstance(options.num_nodes, int):
        raise OptionError(
            "num_nodes must be a pair (--num-nodes and --num-targets), one for each kind of nodes, got "
            f"{options.num_nodes}"
        )
    stored = edges.num_nodes if isinstance(edges.num_nodes, tuple) else (edges.num_nodes,) * 2
    x = [inside if rows is None else rows.x for rows, inside in zip(tables, edges.x_ends, strict=True)]
    nodes: list[int] = []
    for end, (ids, label) in enumerate(_ends(edges)):
        count, rows = stored[end], tables[end]
        if rows is not None:
            _check_rows(ids, label, rows, options.tables[end], path, edges, known=count is not None)
        if count is None and x[end] is None:
            _check_far(ids, label, edges, path)
        default = int(ids.max(initial=-1)) + 1 if x[end] is None else int(x[end].shape[0])
        nodes.append(default if count is None else count)
    graph = _graph(edges, (x[0], x[1]), (nodes[0], nodes[1]))
    known = [None if rows is None else rows.known for rows in tables]
    return replace(graph, known=(known[0], known[1]))


def _graph(edges: LoadedEdges, x: Any, num_nodes: Any) -> Graph:
    if edges.indptr is None:
        return Graph.from_edges((edges.source, edges.target), num_nodes=num_nodes, x=x, edge_attr=edges.edge_attr)
    other = edges.target if edges.rows == "source" else edges.source
    return Graph.from_csr(
        edges.indptr, other, rows=edges.rows or "source", num_nodes=num_nodes, x=x, edge_attr=edges.edge_attr
    )


def _ends(edges: LoadedEdges) -> list[tuple[Array, str]]:
    """Return the ids of each end and what errors call it; of compressed rows those that have edges."""
    both = zip((edges.source, edges.target), edges.labels, strict=True)
    return [(_rows_with_edges(edges) if ids is None else ids, label) for ids, label in both]


def _rows_with_edges(edges: LoadedEdges) -> Array:
    assert edges.indptr is not None
    return np.flatnonzero(np.diff(edges.indptr))


def _has_loops(edges: LoadedEdges) -> bool:
    if edges.source is None or edges.target is None:
        return False
    return bool((edges.source == edges.target).any())


def _check_rows(
    ids: Array, label: str, rows: NodeRows, table: Any, path: Path, edges: LoadedEdges, *, known: bool
) -> None:
    """Raise for an edge whose end is not among the nodes of a table."""
    count = int(rows.x.shape[0])
    if rows.joined:
        check_ends(ids, label, rows, count, path, edges.place)
    elif not known and ids.size and int(ids.max()) >= count:
        raise FormatError(f"{table.path}: has {count} rows, but the edges name node {int(ids.max())}")


def _check_far(ids: Array, label: str, edges: LoadedEdges, path: Path) -> None:
    largest = int(ids.max(initial=-1))
    if is_far(largest, ids.size):
        raise far_error(largest, ids.size, f"{path}: column {label!r}, {edges.place(int(ids.argmax()))}")


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except GraphError as error:
        raise GraphError(str(error) if str(path) in str(error) else f"{path}: {error}") from None
