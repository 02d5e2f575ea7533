"""The input of a streamed run: an edge list, its node tables, and ids that are replaced by numbers on request."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files import EdgeFiles, EdgeOptions, NumNodes, open_edges
from lsprune.files.atomic_write import remove_abandoned
from lsprune.files.columns import listed
from lsprune.files.edge_options import TableOptions
from lsprune.files.manifest import Entry, Manifest, compare
from lsprune.files.node_table import NodeRows
from lsprune.graph import Array, Graph, missing_column
from lsprune.kernels import Runtime
from lsprune.outofcore.allowed_edges import NodeColumns
from lsprune.outofcore.id_mapping import MappedEdges, map_ids
from lsprune.outofcore.node_features import (
    FEATURES_FILE,
    NodeTable,
    open_column,
    open_features,
    open_nodes,
    placed,
)
from lsprune.outofcore.one_pass import nodes_only
from lsprune.outofcore.stream_context import KnownSizes, Say, Sizes, StreamContext
from lsprune.outofcore.work_folder import Disturbed
from lsprune.pruners import PerOwner

_TABLE_COPIES = (FEATURES_FILE, f"target-{FEATURES_FILE}")  # in the work folder, if a table has to be copied
Attributes = tuple[NodeRows | None, NodeRows | None]  # of sources and of targets; one object twice if they are one kind


@dataclass(frozen=True, eq=False)
class InputNodes:
    """The attributes of the nodes, and their numbers as far as they are known before the edges are read."""

    attributes: Attributes
    sizes: KnownSizes
    two_kinds: bool

    @property
    def x(self) -> tuple[Any, Any]:
        """The attributes of the sources and of the targets as arrays."""
        first, second = (None if rows is None else rows.x for rows in self.attributes)
        return first, second

    @property
    def width(self) -> int:
        """The largest number of columns of the attributes."""
        return max((math.prod(x.shape[1:]) for x in self.x if x is not None), default=0)

    def graph(self, sizes: Sizes, pruner: PerOwner) -> Graph:
        """Return a graph of so many nodes, without edges."""
        known: list[Array | None] = [None if rows is None else rows.known for rows in self.attributes]
        return nodes_only(pruner, sizes, self.x, (known[0], known[1]), bipartite=self.two_kinds)

    def check(self, pruner: PerOwner, edges: EdgeFiles) -> None:
        """Raise GraphError, before any work, if the pruner needs attributes or columns and there are none."""
        for name in pruner.needs.edge_columns:
            if name not in edges.columns:
                named = replace(self.graph((0, 0), pruner), column_names=edges.column_names)
                raise GraphError(f"{edges.inputs[0]}: {missing_column(named, f'column {name!r}')}")
        if any(x is not None for x in self.x):
            return
        attr = None if edges.attr_shape is None else np.zeros((0, *edges.attr_shape), edges.attr_dtype)
        pruner.check_attributes(Graph.from_edges(np.zeros((2, 0), np.int64), num_nodes=0, edge_attr=attr))


@dataclass(frozen=True)
class StreamInput:
    """The files of an input, and how to read them."""

    path: Path
    options: EdgeOptions
    mapping: Path | None  # where to write the mapping of ids; None: ids are the numbers 0..N-1
    mapping_bytes: int  # memory for the mapping
    name: str = ""  # what the manifest calls the edge list, if `path` is a copy of it

    @property
    def table_paths(self) -> list[Path]:
        """The node tables."""
        return [table.path for table in self.options.tables if table is not None]

    def open(self, num_nodes: NumNodes) -> EdgeFiles:
        """Open the edge list; ids must be below `num_nodes`."""
        options = self.options
        bipartite = True if options.bipartite is None and options.two_kinds else options.bipartite
        return open_edges(self.path, options, num_nodes=num_nodes, bipartite=bipartite)

    def read_nodes(self, edges: EdgeFiles, context: StreamContext) -> tuple[EdgeFiles, InputNodes]:
        """Return the edge list with its ids checked against the nodes, or numbered; and the nodes."""
        edges, attributes = self._number(context) if self.mapping else self._read(edges, context)
        sizes = self._known_sizes(edges, attributes)
        edges.check_arrays(sizes)
        nodes = InputNodes(attributes, sizes, context.two_kinds)
        nodes.check(context.pruner, edges)
        edges.tables = attributes
        return edges, nodes

    def refuse_changed_mapping(self, entry: Entry) -> None:
        """Raise Disturbed if the file of the mapping is not there, or has another size than it was written with."""
        assert self.mapping is not None
        for problem in compare(self.mapping.parent, entry, deep=False):
            raise Disturbed(f"{problem}; it was changed by somebody; go on by --resume")

    def node_columns(self, names: Sequence[str], edges: EdgeFiles, context: StreamContext) -> NodeColumns:
        """Return columns of the nodes by name, those of the sources and those of the targets.

        Raise FormatError for a column that the pruner asks for and that neither the edges nor the nodes have.
        """
        found: dict[str, tuple[Array | None, Array | None]] = {}
        for number, name in enumerate(names):
            pair = self._table_columns(name, edges, context, f"column-{number}.npy")
            beside = edges.node_array(name) if all(column is None for column in pair) else None
            found[name] = pair if beside is None else (beside, beside)
        for name in self.options.columns:
            if name not in edges.columns and all(column is None for column in found.get(name, ())):
                there = listed(edges.column_names)
                raise FormatError(f"{self.path}: no column {name!r} of the edges or nodes; it has {there}")
        return found

    def _table_columns(
        self, name: str, edges: EdgeFiles, context: StreamContext, copy: str
    ) -> tuple[Array | None, Array | None]:
        """Return a column of the tables of sources and of targets, where they have it."""
        folder, options = context.work.folder, self.options
        ends: list[Array | None] = []
        for end, table in enumerate(options.tables if context.two_kinds else options.tables[:1]):
            opened = None if table is None else open_column(
                table.path, folder, context.rows, name, id=table.id, features=(*table.x, *options.columns),
                name=f"{end}-{copy}",
            )  # fmt: skip
            out = folder / f"placed-{end}-{copy}"
            ends.append(None if opened is None else _placed_column(*opened, edges, end, out))
        return ends[0], ends[-1]

    def has_mapping(self, manifest: Manifest, say: Say) -> bool:
        """Return whether the mapping of a complete output, if it has one, is as it was written."""
        if self.mapping is None:
            return True
        problems = compare(self.mapping.parent, Entry(**manifest.config["map_ids"]))
        for problem in problems:
            say(f"{problem}; it is made again")
        return not problems

    def write_mapping(self, folder: Path, rows: int) -> None:
        """Write the mapping again, with scratch files in a folder."""
        self._map_ids(self._tables_with_ids(folder, rows), rows)

    def _read(self, edges: EdgeFiles, context: StreamContext) -> tuple[EdgeFiles, Attributes]:
        """Return the edge list, opened with the number of nodes that the attributes tell, and the attributes."""
        with context.stage("features"):
            tables = zip(self.options.tables, _TABLE_COPIES, strict=True)
            skip = tuple(self.options.columns)
            rows = [_read_table(table, context.work.folder, context.rows, skip, copy) for table, copy in tables]
            attributes = _attributes(edges, rows, context.two_kinds)
        with context.stage("open"):
            counts = [_row_count(rows) for rows in attributes]
            num_nodes = self.options.num_nodes
            if context.two_kinds:
                stated = num_nodes if isinstance(num_nodes, tuple) else (None, None)
                first, second = (a if b is None else b for a, b in zip(counts, stated, strict=True))
                return self.open((first, second)), attributes
            return self.open(counts[0] if num_nodes is None else num_nodes), attributes

    def _number(self, context: StreamContext) -> tuple[EdgeFiles, Attributes]:
        """Return the edge list with numbered ids, and the attributes, joined by id if the table has ids."""
        folder = context.work.folder
        with context.stage("open"):
            with_ids = self._tables_with_ids(folder, context.rows)
            edges = self._map_ids(with_ids, context.rows, folder, context.runtime)
        with context.stage("features"):
            rows: list[NodeRows | None] = []
            for end, (table, copy) in enumerate(zip(self.options.tables, _TABLE_COPIES, strict=True)):
                joined = with_ids[end]
                if joined is None:
                    rows.append(_read_table(table, folder, context.rows, tuple(self.options.columns), copy))
                else:
                    rows.append(edges.place(joined, end, folder / copy))
            return edges, _attributes(edges, rows, context.two_kinds)

    def _tables_with_ids(self, folder: Path, rows: int) -> tuple[NodeTable | None, NodeTable | None]:
        """Return the node tables that have a column of ids; those that must be copied are copied to `folder`."""
        opened = [
            None
            if table is None
            else open_nodes(
                table.path, folder, rows, id=table.id, x=table.x, skip=tuple(self.options.columns), name=copy
            )
            for table, copy in zip(self.options.tables, _TABLE_COPIES, strict=True)
        ]
        sources, targets = (
            table if isinstance(table, NodeTable) and table.columns.id is not None else None for table in opened
        )
        return sources, targets

    def _map_ids(
        self, tables: tuple[NodeTable | None, NodeTable | None], rows: int, folder: Path | None = None,
        runtime: Runtime | None = None,
    ) -> MappedEdges:  # fmt: skip
        """Return the edge list with numbered ids, and write the mapping; in `folder`, the numbers of all edges."""
        assert self.mapping is not None
        remove_abandoned(self.mapping)
        try:
            return map_ids(
                self.open(None), self.mapping, memory=self.mapping_bytes, rows=rows, tables=tables, folder=folder,
                runtime=runtime,
            )  # fmt: skip
        except OptionError as error:
            raise OptionError(f"{error}; ids may take an eighth of --memory") from None

    def _known_sizes(self, edges: EdgeFiles, attributes: Attributes) -> KnownSizes:
        """Return the numbers of sources and of targets, where they are known before the edges are read."""
        num_nodes, sizes = self.options.num_nodes, []
        for end, rows in enumerate(attributes):
            stated = num_nodes[end] if isinstance(num_nodes, tuple) else num_nodes
            count = _row_count(rows)
            size = edges.limit(end) if stated is None or self.mapping else stated
            if self.mapping:
                size = _mapped_size(size or 0, stated, count)
            if rows is not None and size is not None and count != size:
                raise GraphError(f"x must have {size} rows, one for each node, got {list(rows.x.shape)}")
            sizes.append(count if size is None else size)
        return sizes[0], sizes[1]


def _read_table(
    table: TableOptions | None, folder: Path, rows: int, skip: tuple[str, ...], copy: str
) -> NodeRows | None:
    if table is None:
        return None
    return open_features(table.path, folder, rows, id=table.id, x=table.x, skip=skip, name=copy)


def _placed_column(table: NodeTable, dtype: np.dtype[Any], edges: EdgeFiles, end: int, out: Path) -> Array:
    """Return a column of a table of nodes, row i for node i, in its own type."""
    if isinstance(edges, MappedEdges) and table.columns.id is not None:
        rows = edges.place(table, end, out)
    else:
        rows = placed(table, out)
    values: Array = rows.x
    return values.view(dtype) if dtype.kind == "M" else values


def _attributes(edges: EdgeFiles, tables: Sequence[NodeRows | None], two_kinds: bool) -> Attributes:
    """Return the attributes of sources and of targets: from the tables, else from the file of edges."""
    stored = edges.end_features if two_kinds else (edges.features, None)
    first, second = (
        NodeRows(array) if rows is None and array is not None else rows
        for rows, array in zip(tables, stored, strict=True)
    )
    return (first, second) if two_kinds else (first, first)


def _row_count(rows: NodeRows | None) -> int | None:
    return None if rows is None else int(rows.x.shape[0])


def _mapped_size(ids: int, stated: int | None, rows: int | None) -> int:
    """Return the number of nodes: that of the ids, or more if `num_nodes` says so."""
    if stated is not None and rows is None and stated < ids:
        raise OptionError(f"num_nodes must be at least the {ids} ids that there are, got {stated}")
    return max(ids, stated or 0)
