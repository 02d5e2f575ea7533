"""Tables of edges in files whose ids are not whole numbers: read into memory as the same table in memory would be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from lsprune.adapters.tables.table_adapter import ID_NAMES, TableAdapter
from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files.edge_list import open_tables
from lsprune.files.edge_options import EdgeKeywords, EdgeOptions, PathLike, TableOptions
from lsprune.files.file_graph import FileGraph
from lsprune.files.ids import MAP_IDS
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.node_labels import read_columns
from lsprune.files.node_table import id_column
from lsprune.files.seals import check_inputs
from lsprune.files.suffixes import suffix_of

if TYPE_CHECKING:
    from lsprune.files.parquet import ParquetFiles
    from lsprune.files.text import TextFiles

_FIRST_ROWS = 1000  # that tell what the ids are


def read_text_ids(
    path: PathLike, options: EdgeOptions | None = None, *, memory: str | int | None = None,
    **keywords: Unpack[EdgeKeywords],
) -> FileGraph | None:  # fmt: skip
    """Return the graph of a Parquet or text file with ids of any kind; None if they are whole numbers, or a `.npz`.

    Nodes are numbered by a hash of their ids, so that the order of the rows does not matter: masks are those of the
    table in memory. Whole numbers are for `lsprune.files.read_edges`, whose arguments these are.
    """
    options, path = EdgeOptions.of(options, keywords), Path(path)
    suffix = suffix_of(path)
    if suffix == ".npz" or path.is_dir():
        return None
    files = open_tables(path, [path], [""], suffix, options)
    if _are_whole(files):
        return None
    _refuse(options, path)
    verified = check_inputs(options.inputs(path), sealed=options.verify_input)
    budget = MemoryBudget.of(memory)
    content, table = files.load_table(budget)
    features = None if options.tables[0] is None else _features(options.tables[0], budget)
    adapter = TableAdapter(*files.names, options.edge_attr, options.columns, features)
    try:
        graph = adapter.graphs(table)[None]
    except GraphError as error:
        raise GraphError(f"{path}: {error}") from None
    return FileGraph(graph, content, options.inputs(path), verified)


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
        "bipartite": options.two_kinds, "target_features": options.target_features, "label": options.label,
        "train_mask": options.train_mask, "num_nodes": options.num_nodes is not None,
    }  # fmt: skip
    for name, value in given.items():
        if value:
            raise OptionError(f"{name} must not be given for {path}: its ids are not whole numbers{MAP_IDS}")


def _features(options: TableOptions, memory: MemoryBudget) -> Any:
    """Return the table of nodes with its column of ids named "id"; raise FormatError if there is none."""
    import pyarrow as pa

    columns = read_columns(options.path, memory)
    ids = id_column(columns, options.id, options.x, options.path) if columns else None
    if ids is None:
        raise FormatError(
            f"{options.path}: must have a column of ids ({', '.join(ID_NAMES)}), as those of edges are text"
        )
    wanted = options.x or tuple(name for name in columns if name != ids)
    return pa.table({ID_NAMES[0]: columns[ids], **{name: columns[name] for name in wanted if name != ids}})
