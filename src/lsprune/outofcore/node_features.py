"""Node attributes larger than memory: memory-mapped, after a copy to scratch space if the format needs one."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.checks import Array
from lsprune.errors import FormatError
from lsprune.files.arrow_columns import check_width, column_of, integers, is_list, numbers, numbers_or_dates
from lsprune.files.atomic_write import create_new
from lsprune.files.columns import Place, rows_from, stack
from lsprune.files.edge_files import check_rows
from lsprune.files.folders import list_files
from lsprune.files.ids import MAP_IDS, check_ids
from lsprune.files.node_columns import is_text, node_suffix
from lsprune.files.node_features import array_columns, checked, feature_arrays, refuse_names
from lsprune.files.node_table import (
    CHOOSE,
    NodeColumns,
    NodeRows,
    check_far,
    id_column,
    node_columns,
    twice_error,
)
from lsprune.files.npy import check_member, members_of, npz_members, read_npy, reading_npz, write_header
from lsprune.files.parquet import no_numbers, read_batches
from lsprune.files.parquet_footer import Footer, check_same_types, common_types, read_footers
from lsprune.files.sparse_matrix import is_matrix
from lsprune.files.text_nodes import TextNodes
from lsprune.graph_arrays import column_array
from lsprune.kernels.threads import spans
from lsprune.outofcore.memory_ceiling import check_disk
from lsprune.outofcore.work_folder import new_array

FEATURES_FILE = "features.npy"
_COPY_BYTES = 1 << 22  # bytes that are copied at a time
_FEATURE_BLOCK_BYTES = 1 << 24  # about the bytes of features in memory at a time
_SCRATCH_ADVICE = (
    "features that are compressed, Parquet or text are copied there; --scratch DIR (scratch=) chooses another"
)


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of a node table: ids as stored, features, and how an error names a row."""

    path: Path
    ids: Any  # [n] numpy, or an Arrow column
    x: Array | None  # [n, ...]; None if only ids were read
    place: Place


@dataclass(frozen=True, eq=False)
class NodeTable:
    """A node table on disk, read in blocks."""

    path: Path
    columns: NodeColumns
    empty: Array  # no rows, of the features' type and shape
    count: int  # rows
    read: Callable[[bool], Iterator[Block]]  # (whether to read features) -> all rows in order


NumbersOf = Callable[[Block, str], Array]  # (block, column of ids) -> the numbers `[n]` of its nodes
ValuesOf = Callable[[Any, Footer, Place], Array]  # (record batch, its file, how errors name its rows) -> values


def open_features(
    path: str | os.PathLike[str],
    scratch: Path,
    rows: int,
    *,
    id: str | None = None,
    x: Sequence[str] = (),
    skip: Sequence[str] = (),
    name: str = FEATURES_FILE,
) -> NodeRows:
    """Return node attributes `[N, d]` or `[N]`, memory-mapped, with the values that `read_edges` returns.

    Args:
        path: `.npy` and `.npz` with one array are mapped in place. A compressed `.npz`, `.parquet` (a file or a
            folder), text, and rows that are joined by ids are copied to the file `name` in `scratch` first.
        scratch: a folder on disk.
        rows: about the number of rows in memory at a time.
        id, x: as in `lsprune.files.read_edges`.
        skip: names of columns that are no features unless `x` names them, such as times.
    """
    table = open_nodes(path, scratch, rows, id=id, x=x, skip=skip, name=name)
    return table if isinstance(table, NodeRows) else placed(table, scratch / name)


def placed(table: NodeTable, out: Path) -> NodeRows:
    """Write a table to the file `out`, row i for node i, and return its rows memory-mapped."""
    if table.columns.id is None:
        return NodeRows(_copy(table, out))
    largest = _largest_id(table)
    check_far(largest, table.count, table.columns.id, table.path)
    return place_nodes(table, largest + 1, integer_ids, out)


def open_nodes(
    path: str | os.PathLike[str],
    scratch: Path,
    rows: int,
    *,
    id: str | None = None,
    x: Sequence[str] = (),
    skip: Sequence[str] = (),
    name: str = FEATURES_FILE,
) -> NodeRows | NodeTable:
    """Return the attributes if they need no copy, else their table; arguments as for `open_features`."""
    check_rows(rows)
    path = Path(path)
    suffix, paths = _files(path)
    if suffix == ".npy":
        refuse_names(path, id, x)
        return NodeRows(checked(read_npy(path), path))
    if suffix == ".npz":
        return _npz_table(path, scratch, rows, id, x, skip, name)
    return (_text_table if is_text(suffix) else _parquet_table)(path, paths, rows, id, x, skip)


def _files(path: Path) -> tuple[str, list[Path]]:
    """Return the suffix and the files of node attributes; raise FormatError for a format that cannot be read."""
    if path.is_dir():
        suffix, names = list_files(path)
        if suffix != ".parquet":
            raise FormatError(f"{path}: a folder of features must hold .parquet files, got {names[0]!r}")
        return suffix, [path / name for name in names]
    return node_suffix(path), [path]


def open_column(
    path: Path, scratch: Path, rows: int, column: str, *, id: str | None, features: Sequence[str], name: str
) -> tuple[NodeTable, np.dtype[Any]] | None:
    """Return one column of numbers or dates with the ids of its nodes, and its type; None if the table has none such.

    Dates are whole numbers in the table.

    Args:
        scratch, rows: as for `open_features`. id: of ids. name: of a file in `scratch`, if a copy is needed.
        features: columns that are no ids, as the caller says.
    """
    suffix, paths = _files(path)
    if suffix == ".npz":
        return _npz_column(path, scratch, rows, column, id, features, name)
    if suffix == ".npy":
        return None
    return (_text_column if is_text(suffix) else _parquet_column)(path, paths, rows, column, id, features)


def place_nodes(table: NodeTable, count: int, numbers_of: NumbersOf, out: Path) -> NodeRows:
    """Write the rows of a table with ids to an array of `count` rows in the file `out`, row i for node i."""
    name = table.columns.id
    assert name is not None
    shape = (count, *table.empty.shape[1:])
    check_disk(out.parent, count * (_row_bytes(table.empty) + 1), _SCRATCH_ADVICE)
    placed = new_array(out, shape, table.empty.dtype)
    seen = new_array(out.with_suffix(".known.npy"), (count,), np.bool_)
    first: Array | None = None
    for block in table.read(True):
        nodes = numbers_of(block, name)
        assert block.x is not None
        _refuse_repeated_ids(table, nodes, seen, block, numbers_of)
        placed[nodes], seen[nodes] = block.x, True
        first = block.x[:1] if first is None else first
    if table.count == count:
        placed.flush()
        return NodeRows(checked(read_npy(out), table.path), joined=True)
    for lo, hi in spans(count, 1 << 16):
        placed[lo:hi][~seen[lo:hi]] = first  # any valid values: these nodes have no edges
    placed.flush()
    return NodeRows(checked(read_npy(out), table.path), np.asarray(seen), joined=True)


def integer_ids(block: Block, name: str) -> Array:
    """Return the ids of a block as they are; raise FormatError unless they are whole numbers >= 0."""
    ids = block.ids
    if not isinstance(ids, np.ndarray):
        ids = integers(ids, name, block.path, block.place, MAP_IDS)
    return check_ids(ids, name, block.path, block.place).astype(np.int64, copy=False)


def _block_rows(rows: int, empty: Array) -> int:
    """Return the number of rows to read at a time: `rows`, or fewer if they are wide."""
    return max(1, min(rows, _FEATURE_BLOCK_BYTES // max(1, _row_bytes(empty))))


def _row_bytes(empty: Array) -> int:
    return int(np.prod(empty.shape[1:], dtype=np.int64)) * empty.dtype.itemsize


def _refuse_repeated_ids(table: NodeTable, nodes: Array, seen: Array, block: Block, numbers_of: NumbersOf) -> None:
    """Raise GraphError if a node is in the table twice: in this block, or in an earlier one."""
    ordered = np.sort(nodes)
    repeated = nodes[seen[nodes]] if seen[nodes].any() else ordered[1:][ordered[1:] == ordered[:-1]]
    if not repeated.size:
        return
    name = table.columns.id or ""
    count = sum(int(np.count_nonzero(numbers_of(part, name) == repeated[0])) for part in table.read(False))
    at = int(np.flatnonzero(nodes == repeated[0])[0])
    raise twice_error(table.path, block.ids[at] if isinstance(block.ids, np.ndarray) else block.ids[at].as_py(), count)


def _largest_id(table: NodeTable) -> int:
    name = table.columns.id or ""
    return max((int(integer_ids(block, name).max(initial=-1)) for block in table.read(False)), default=-1)


def _copy(table: NodeTable, out: Path) -> Array:
    """Copy the features of a table without ids to a file, and return them memory-mapped."""
    shape = (table.count, *table.empty.shape[1:])
    check_disk(out.parent, table.count * _row_bytes(table.empty), _SCRATCH_ADVICE)
    with create_new(out) as handle:
        write_header(handle, shape, table.empty.dtype)
        for block in table.read(True):
            handle.write(np.ascontiguousarray(block.x, table.empty.dtype).data)
    return checked(read_npy(out), table.path)  # type: ignore[no-any-return]


# Arrays


def _npz_table(
    path: Path, scratch: Path, rows: int, id: str | None, x: Sequence[str], skip: Sequence[str], name: str
) -> NodeRows | NodeTable:
    arrays, columns = _npz_arrays(path, scratch, id, x, skip, name)
    features = feature_arrays(arrays, columns, path)
    if columns.id is None and len(features) == 1:
        return NodeRows(features[0])
    return _array_table(path, columns, features, arrays, rows)


def _array_table(
    path: Path, columns: NodeColumns, features: list[Array], arrays: dict[str, Array], rows: int
) -> NodeTable:
    """Return the table of some arrays of a `.npz`."""
    count, empty = features[0].shape[0], stack([array[:0] for array in features])
    ids = None if columns.id is None else arrays[columns.id]
    if ids is not None and ids.shape != (count,):
        raise FormatError(
            f"{path}: column {columns.id!r} must have {count} ids, one for each row, got {list(ids.shape)}"
        )
    assert empty is not None

    def blocks(with_features: bool) -> Iterator[Block]:
        for lo, hi in spans(count, _block_rows(rows, empty)):
            x = stack([array[lo:hi] for array in features]) if with_features else None
            yield Block(path, None if ids is None else ids[lo:hi], x, rows_from(lo))

    return NodeTable(path, columns, empty, count, blocks)


def _npz_column(
    path: Path, scratch: Path, rows: int, column: str, id: str | None, features: Sequence[str], name: str
) -> tuple[NodeTable, np.dtype[Any]] | None:
    with path.open("rb") as handle, reading_npz(path), zipfile.ZipFile(handle) as archive:
        names = members_of(archive, os.fstat(handle.fileno()).st_size, path)
    if column not in names:
        return None
    ids = id_column(names, id, (*features, column), path) or ""  # none: row i is node i
    arrays, columns = _npz_arrays(path, scratch, ids, (column,), (), name)
    values = column_array(arrays[column], column, int(arrays[column].shape[0]), "node")
    return _array_table(path, columns, [_whole_dates(values)], arrays, rows), values.dtype


def _whole_dates(values: Array) -> Array:
    return values.view(np.int64) if values.dtype.kind == "M" else values


def _npz_arrays(
    path: Path, scratch: Path, id: str | None, x: Sequence[str], skip: Sequence[str], name: str
) -> tuple[dict[str, Array], NodeColumns]:
    """Return the arrays that are needed, memory-mapped in place if possible, else from a copy; and what is what."""
    with path.open("rb") as handle, reading_npz(path), zipfile.ZipFile(handle) as archive:
        infos = members_of(archive, os.fstat(handle.fileno()).st_size, path)
        _refuse_matrix(list(infos), path)
        columns = array_columns([array for array in infos if array in x or array not in skip], id, x, path)
        used = [*columns.features, *(() if columns.id is None else (columns.id,))]
        single = len(used) == 1  # several arrays are joined in the file `name`, so that their copies have other names
        copies = {array: scratch / (name if single else f"{i}-{name}") for i, array in enumerate(used)}
        if any(infos[array].compress_type != zipfile.ZIP_STORED for array in used):
            for array in used:
                check_member(archive, infos[array], f"{path}: {array}")
            check_disk(scratch, sum(infos[array].file_size for array in used), _SCRATCH_ADVICE)
            return {array: _decompressed(archive, infos[array], copies[array]) for array in used}, columns
    members = npz_members(path)
    return {array: _aligned(members[array], copies[array]) for array in used}, columns


def _decompressed(archive: zipfile.ZipFile, info: zipfile.ZipInfo, out: Path) -> Array:
    with archive.open(info) as stream, create_new(out) as copy:
        shutil.copyfileobj(stream, copy, _COPY_BYTES)
    return read_npy(out)


def _aligned(member: Any, out: Path) -> Array:
    """Return an array of a `.npz`, from a copy if its numbers are not aligned, which kernels require."""
    member.verify()
    x: Array = member.array()
    if x.flags.aligned:
        return x
    with create_new(out) as copy:
        for block in member.blocks():
            copy.write(block)
    return read_npy(out)


def _refuse_matrix(names: list[str], path: Path) -> None:
    if is_matrix(dict.fromkeys(names, np.empty(0))):
        raise FormatError(f"{path}: a scipy matrix cannot be streamed; write the features as .npy or .parquet")


# Parquet


def _parquet_table(
    path: Path, paths: list[Path], rows: int, id: str | None, x: Sequence[str], skip: Sequence[str]
) -> NodeTable:
    footers = read_footers(paths)
    types = common_types(footers)
    kinds = {name: is_list(kind) for name, kind in types.items() if name in x or name not in skip}
    columns = node_columns(kinds, id, x, footers[0].path)
    used = (*columns.features, *(() if columns.id is None else (columns.id,)))
    check_same_types(footers, used)
    try:
        empty = stack([no_numbers(footers, name) for name in columns.features])
    except FormatError as error:
        raise FormatError(f"{error}{'' if x or CHOOSE in str(error) else CHOOSE}") from None
    assert empty is not None
    return _table_of(path, footers, columns, empty, rows, partial(_features, columns, empty))


def _table_of(
    path: Path, footers: Sequence[Footer], columns: NodeColumns, empty: Array, rows: int, values_of: ValuesOf
) -> NodeTable:
    """Return the table in some Parquet files, whose batches `values_of` turns into arrays like `empty`."""

    def blocks(with_features: bool) -> Iterator[Block]:
        names = [] if columns.id is None else [columns.id]
        read = [*names, *(columns.features if with_features else ())]
        for footer in footers:
            for at, batch in read_batches(footer, _block_rows(rows, empty), read):
                place = rows_from(at, footer.place)
                ids = column_of(batch, columns.id) if columns.id else None
                x = values_of(batch, footer, place) if with_features else None
                yield Block(footer.path, ids, x, place)

    return NodeTable(path, columns, empty, footers[-1].last, blocks)


def _parquet_column(
    path: Path, paths: list[Path], rows: int, column: str, id: str | None, features: Sequence[str]
) -> tuple[NodeTable, np.dtype[Any]] | None:
    import pyarrow as pa

    footers = read_footers(paths)
    types = common_types(footers)
    if column not in types:
        return None
    columns = NodeColumns(id_column(types, id, (*features, column), footers[0].path), (column,))
    check_same_types(footers, (column, *(() if columns.id is None else (columns.id,))))

    def values_of(batch: Any, footer: Footer, place: Place) -> Array:
        return _whole_dates(numbers_or_dates(column_of(batch, column), column, footer.path, place))

    dtype = numbers_or_dates(pa.chunked_array([], types[column]), column, footers[0].path).dtype
    empty = _whole_dates(np.empty(0, dtype))
    return _table_of(path, footers, columns, empty, rows, values_of), dtype


def _features(columns: NodeColumns, empty: Array, batch: Any, footer: Footer, place: Place) -> Array:
    block = stack([numbers(column_of(batch, name), name, footer.path, place) for name in columns.features])
    assert block is not None
    check_width(block, empty.shape[1:], ", ".join(columns.features), footer.path, place(0))
    return block


# Text


def _text_table(
    path: Path, paths: list[Path], rows: int, id: str | None, x: Sequence[str], skip: Sequence[str]
) -> NodeTable:
    nodes = TextNodes(path)
    columns = node_columns({name: False for name in nodes.names if name in x or name not in skip}, id, x, path)
    types = nodes.types((*columns.features, *(() if columns.id is None else (columns.id,))))
    hint = "" if x else CHOOSE

    def values_of(table: Any, place: Place) -> Array:
        values = stack([numbers(table[name], name, path, place, hint) for name in columns.features])
        assert values is not None
        return values

    empty = values_of({name: _no_rows(types[name]) for name in columns.features}, rows_from(0))
    return _text_blocks(nodes, types, columns, empty, rows, values_of)


def _text_column(
    path: Path, paths: list[Path], rows: int, column: str, id: str | None, features: Sequence[str]
) -> tuple[NodeTable, np.dtype[Any]] | None:
    nodes = TextNodes(path)
    if column not in nodes.names:
        return None
    columns = NodeColumns(id_column(dict.fromkeys(nodes.names), id, (*features, column), path), (column,))
    types = nodes.types((column, *(() if columns.id is None else (columns.id,))))
    dtype = numbers_or_dates(_no_rows(types[column]), column, path).dtype

    def values_of(table: Any, place: Place) -> Array:
        return _whole_dates(numbers_or_dates(table[column], column, path, place))

    return _text_blocks(nodes, types, columns, _whole_dates(np.empty(0, dtype)), rows, values_of), dtype


def _no_rows(kind: Any) -> Any:
    import pyarrow as pa

    return pa.chunked_array([], kind)


def _text_blocks(
    nodes: TextNodes,
    types: dict[str, Any],
    columns: NodeColumns,
    empty: Array,
    rows: int,
    values_of: Callable[[Any, Place], Array],
) -> NodeTable:
    """Return the table in a text file, whose blocks `values_of` turns into arrays like `empty`."""
    size = _block_rows(rows, empty) * nodes.line_bytes

    def blocks(with_features: bool) -> Iterator[Block]:
        wanted = {name: kind for name, kind in types.items() if with_features or name == columns.id}
        for lines, table in nodes.blocks(wanted, size):
            x = values_of(table, lines.place).astype(empty.dtype, copy=False) if with_features else None
            yield Block(nodes.path, table[columns.id] if columns.id else None, x, lines.place)

    return NodeTable(nodes.path, columns, empty, nodes.count, blocks)
