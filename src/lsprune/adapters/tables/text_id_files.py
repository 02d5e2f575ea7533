"""Tables of edges in files whose ids are not whole numbers: read into memory as the same table in memory would be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from lsprune.adapters.tables.columns import Table, decoded, numbers, numbers_or_dates, refuse_missing
from lsprune.adapters.tables.node_ids import NumberedNodes, number_nodes
from lsprune.adapters.tables.table_adapter import ID_NAMES, join_rows, numbered_graph
from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files.arrow_columns import is_list
from lsprune.files.columns import listed, need, stack
from lsprune.files.edge_files import Content
from lsprune.files.edge_list import open_tables, read_edges
from lsprune.files.edge_options import EdgeKeywords, EdgeOptions, PathLike, TableOptions
from lsprune.files.file_graph import FileGraph
from lsprune.files.ids import MAP_IDS
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.node_columns import read_columns
from lsprune.files.node_labels import check_names, plain_column, with_labels
from lsprune.files.node_table import NO_FEATURE, id_column
from lsprune.files.remote import fetched
from lsprune.files.seals import check_inputs
from lsprune.files.suffixes import input_suffix
from lsprune.graph import Array, Graph

if TYPE_CHECKING:
    from lsprune.files.parquet import ParquetFiles
    from lsprune.files.text import TextFiles

_FIRST_ROWS = 1000  # that tell what the ids are


@dataclass(frozen=True, eq=False)
class NodeIds:
    """The ids in a table of nodes: its file, the name of their column, and the ids as stored."""

    path: Path
    name: str
    values: Any


@dataclass(frozen=True, eq=False)
class NumberedEdges:
    """A table of edges in memory whose ids are numbered, and the row of each node in a table of nodes."""

    path: Path
    options: EdgeOptions
    content: Content
    table: Table
    nodes: NumberedNodes
    rows: Array | None  # [N]; None without a table of nodes

    @property
    def table_rows(self) -> Array:
        """The row of each node in the table of nodes, which there is."""
        assert self.rows is not None
        return self.rows

    def graph(self, x: Any = None, of_nodes: Mapping[str, Array] = MappingProxyType({})) -> Graph:
        """Return the graph with node attributes by number, and columns of nodes that a pruner asks for by name."""
        with naming(self.path):
            named = (self.options.edge_attr, self.options.columns)
            graph = numbered_graph(self.table, self.nodes, x, *named, of_nodes)
        return replace(graph, edge_attr=self.options.quantities(graph.edge_attr))


def read_graph(
    path: PathLike, options: EdgeOptions | None = None, *, memory: str | int | None = None,
    **keywords: Unpack[EdgeKeywords],
) -> FileGraph:  # fmt: skip
    """Return the graph of an edge list with ids of any kind; arguments as for `lsprune.files.read_edges`."""
    with fetched(path, EdgeOptions.of(options, keywords)) as (local, local_options):  # once, for both readers
        return read_text_ids(local, local_options, memory=memory) or read_edges(local, local_options, memory=memory)


def read_text_ids(
    path: PathLike, options: EdgeOptions | None = None, *, memory: str | int | None = None,
    **keywords: Unpack[EdgeKeywords],
) -> FileGraph | None:  # fmt: skip
    """Return the graph of a Parquet or text file with ids of any kind; None if they are whole numbers, or a `.npz`.

    Nodes are numbered by a hash of their ids, so that the order of the rows does not matter: masks are those of the
    table in memory. Whole numbers are for `lsprune.files.read_edges`, whose arguments these are.
    """
    options, path = EdgeOptions.of(options, keywords), Path(path)
    files = open_text_ids(path, options)
    if files is None:
        return None
    _refuse(options, path)
    verified = check_inputs(options.inputs(path), sealed=options.verify_input)
    budget = MemoryBudget.of(memory)
    own = options.tables[0]
    columns = {} if own is None else read_columns(own.path, budget)
    check_names(options, tuple(columns), path if own is None else own.path)
    ids = None if own is None else node_ids(columns, own.id, own.x, own.path)
    edges = number_edges(path, files, options, ids, budget)
    x, of_nodes = (None, {}) if own is None or ids is None else _attributes(own, options, columns, ids, edges)
    graph = edges.graph(x, of_nodes)

    def column_of(name: str) -> Array:
        column: Array = plain_column(columns[name])[edges.table_rows]
        return column

    graph = with_labels(graph, options, {}, column_of)
    return FileGraph(graph, edges.content, options.inputs(path), verified)


def open_text_ids(path: Path, options: EdgeOptions) -> ParquetFiles | TextFiles | None:
    """Return the files of a table of edges whose ids are not whole numbers; None for any other edge list."""
    suffix = input_suffix(path)
    if suffix == ".npz":
        return None
    files = open_tables(path, [path], [""], suffix, options)
    return None if _are_whole(files) else files


def number_edges(
    path: Path, files: ParquetFiles | TextFiles, options: EdgeOptions, ids: NodeIds | None, memory: MemoryBudget
) -> NumberedEdges:
    """Read a table of edges, and number its ids and those of a table of nodes, which must name all of them."""
    content, arrow = files.load_table(memory)
    with naming(path):
        table = Table.of(arrow)
        columns = {name: table.column(name) for name in files.names}
        if ids is None:
            return NumberedEdges(path, options, content, table, number_nodes(columns), None)
    with naming(ids.path):
        refuse_missing(values := _arrow(ids.values), ids.name)
        return NumberedEdges(
            path, options, content, table, *join_rows(columns, values, f"{ids.name} of {ids.path.name}")
        )


def find_rows(edges: NumberedEdges, ids: NodeIds) -> Array:
    """Return the row of each node in another table; raise GraphError if it lacks one, or names one twice."""
    with naming(ids.path):
        nodes = {"nodes": _arrow(edges.nodes.values)}
        refuse_missing(values := _arrow(ids.values), ids.name)
        numbered, rows = join_rows(nodes, values, ids.name)
    return rows[numbered.numbers[0]]


def node_ids(columns: Mapping[str, Any], id: str | None, x: tuple[str, ...], path: Path) -> NodeIds:
    """Return the ids of a table of nodes by its columns; raise FormatError if it has none."""
    name = id_column(columns, id, x, path) if columns else None
    if name is None:
        raise FormatError(f"{path}: must have a column of ids ({', '.join(ID_NAMES)}), as those of edges are text")
    return NodeIds(path, name, columns[name])


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """A block in which errors name the file."""
    try:
        yield
    except GraphError as error:
        raise GraphError(f"{path}: {error}") from None


def _attributes(
    table: TableOptions, options: EdgeOptions, columns: Mapping[str, Any], ids: NodeIds, edges: NumberedEdges
) -> tuple[Array | None, dict[str, Array]]:
    """Return the features of the nodes, and the columns that a pruner asks for by name."""
    asked = [name for name in options.columns if name in columns and name != ids.name]
    others = (ids.name, *(name for name in (*options.label_names, *asked) if name not in table.x))
    need(list(columns), table.x, table.path)
    wanted = [name for name in table.x or columns if name not in others]
    if not table.x and "x" in wanted and len(wanted) > 1 and is_list(_arrow(columns["x"]).type):
        raise OptionError(
            f"{table.path}: has a column 'x' of lists beside {listed([name for name in wanted if name != 'x'])}; name "
            "the features with --x (x in Python)"
        )
    try:
        features = [numbers(_arrow(columns[name]), name) for name in wanted]
    except GraphError as error:
        hint = NO_FEATURE if "must be numbers" in str(error) and not table.x else ""
        raise GraphError(f"{table.path}: {error}{hint}") from None
    with naming(table.path):
        of_nodes = {name: numbers_or_dates(_arrow(columns[name]), name)[edges.table_rows] for name in asked}
        rows = stack(features)
        if rows is None and not of_nodes:
            raise GraphError("features must have columns besides the ids, got none")
    return None if rows is None else rows[edges.table_rows], of_nodes


def _arrow(column: Any) -> Any:
    """Return a column of a table of nodes as an Arrow column."""
    import pyarrow as pa

    if hasattr(column, "type"):
        return decoded(column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column]))
    array = np.asarray(column)
    if array.ndim == 1:
        return pa.chunked_array([pa.array(array)])
    flat = pa.array(np.ascontiguousarray(array).reshape(-1))
    return pa.chunked_array([pa.FixedSizeListArray.from_arrays(flat, int(np.prod(array.shape[1:])))])


def _are_whole(files: ParquetFiles | TextFiles) -> bool:
    """Return whether the first ids are whole numbers, or something that is no id at all."""
    import pyarrow as pa

    first = next(files.pieces(_FIRST_ROWS, attributes=False, spelled=True), None)
    for column in () if first is None else first.ends:
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind):
            continue
        if not (pa.types.is_string(kind) and files.inputs[0].suffix != ".parquet"):
            return False
        try:  # in text all is text
            column.cast(pa.float64())  # numbers that are not whole are no ids: `read_edges` says so
        except pa.ArrowInvalid:
            return False
    return True


def _refuse(options: EdgeOptions, path: Path) -> None:
    """Raise OptionError for what needs whole numbers as ids."""
    given = {
        "bipartite": options.two_kinds, "target_features": options.target_features,
        "num_nodes": options.num_nodes is not None,
    }  # fmt: skip
    for name, value in given.items():
        if value:
            raise OptionError(f"{name} must not be given for {path}: its ids are not whole numbers{MAP_IDS}")
