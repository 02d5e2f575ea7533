"""Edge lists in Parquet, and Arrow tables of edges on their way to any format."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from lsprune.errors import FormatError, OptionError
from lsprune.files.content import Edges, choose, ids, need, refuse_twice, row, stack
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.parquet_memory import read_within
from lsprune.graph import Array

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Columns:
    """A table with one row for each edge; all columns, types and schema metadata stay."""

    table: pa.Table
    ends: tuple[str, str]

    def check(self, nodes: tuple[int, ...]) -> None:
        """Nothing: every column of a table belongs to its edges."""

    def write(self, handle: BinaryIO, suffix: str, mask: Array) -> None:
        """Write the kept rows."""
        import pyarrow as pa

        write_table(handle, suffix, self.table.filter(pa.array(mask)), self.ends)


def read(path: Path, source: str | None, target: str | None, edge_attr: tuple[str, ...], memory: MemoryBudget) -> Edges:
    """The edges of a Parquet file."""
    table = read_parquet(path, memory)
    ends = choose(table.column_names, source, target, path)
    need(table.column_names, edge_attr, path)
    return from_table(table, ends, edge_attr, path, Columns(table, ends))


def from_table(
    table: pa.Table,
    ends: tuple[str, str],
    edge_attr: tuple[str, ...],
    path: Path,
    content: Any,
    place: Callable[[int], str] = row,
) -> Edges:
    """The edges in two columns of a table, with attributes from others."""
    first, second = (ids(integers(table[name], name, path, place), name, path, place) for name in ends)
    attributes = [numbers(table[name], name, path, place) for name in edge_attr]
    return Edges(source=first, target=second, names=ends, edge_attr=stack(attributes), content=content, place=place)


def read_parquet(path: Path, memory: MemoryBudget | None = None) -> pa.Table:
    """The whole table of a Parquet file, its page checksums compared where it has them.

    OptionError if it does not fit into `memory` (default: what is available).
    """
    import pyarrow as pa
    from pyarrow import parquet

    memory = memory or MemoryBudget.of()
    with path.open("rb"):  # a missing or unreadable file is the system's error, not the format's
        pass
    try:
        # Not parquet.read_table: that adds columns when a folder's name looks like a partition ("year=2020").
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            refuse_twice(file.schema_arrow.names, path)
            table = read_within(file, path, memory)
            table.validate(full=True)
            return table
    except (FormatError, OptionError):
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError, LookupError) as error:
        raise FormatError(f"{path}: not a readable Parquet file ({first_line(error)})") from None


def numbers(column: Any, name: str, path: Path, place: Callable[[int], str] = row, hint: str = "") -> Array:
    """The column as numbers: `[E]`, or `[E, d]` from lists that have one length; `hint` ends the message otherwise."""
    import pyarrow as pa

    kind = column.type
    refuse_null(column, name, path, place)
    if is_list(kind):
        length = list_length(column, name, path, place)
        flat = pa.chunked_array([c.flatten() for c in column.chunks], kind.value_type)
        inner = numbers(flat, name, path, lambda entry: place(entry // length))
        return inner.reshape(len(column), length * math.prod(inner.shape[1:]))
    if pa.types.is_dictionary(kind):
        return numbers(column.cast(kind.value_type), name, path, place, hint)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise FormatError(f"{path}: column {name!r} must be numbers, got {kind}{_example(column, place)}{hint}")
    return np.asarray(column.to_numpy())


def take_rows(column: Any, order: Array) -> Any:
    """The rows of a column in another order."""
    import pyarrow as pa

    return column.take(pa.array(order))


def is_list(kind: Any) -> bool:
    """Whether an Arrow type is a list, of fixed length or not."""
    import pyarrow as pa

    return bool(pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind))


def list_length(column: Any, name: str, path: Path, place: Callable[[int], str] = row) -> int:
    """The length that all lists of a column have; 0 where there are none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_fixed_size_list(column.type):
        return int(column.type.list_size)
    if len(column) == 0:
        return 0
    lengths = pc.list_value_length(column)
    first = lengths[0].as_py()
    other = pc.index(pc.not_equal(lengths, first), True).as_py()
    if other >= 0:
        raise FormatError(
            f"{path}: column {name!r}, {place(other)}: lists must have one length, got {first} and "
            f"{lengths[other].as_py()}"
        )
    return int(first)


def write_table(handle: BinaryIO, suffix: str, table: pa.Table, ends: tuple[str, str]) -> None:
    """Write a table of edges in the format of `suffix`."""
    if suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table, handle, write_page_checksum=True)  # damage shows when it is read again
    elif suffix == ".npz":
        from lsprune.files.npy import write_npz

        write_npz(handle, _arrays(table, ends))
    else:
        from lsprune.files.text import write_text

        write_text(handle, suffix, table, ends)


def write_columns(handle: BinaryIO, suffix: str, columns: Mapping[str, Array]) -> None:
    """Write arrays `[E]` or `[E, d]` as the columns of a table; the first two are the ends."""
    import pyarrow as pa

    try:
        table = pa.table({name: _column(array) for name, array in columns.items()})
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise FormatError(f"cannot be written as a table ({first_line(error)})") from None
    first, second, *_ = columns
    write_table(handle, suffix, table, (first, second))


def first_line(error: BaseException) -> str:
    """The first line of an error's message, short enough to stand in ours."""
    return (str(error).splitlines() or [""])[0][:200] or type(error).__name__


def integers(column: Any, name: str, path: Path, place: Callable[[int], str], hint: str = "") -> Array:
    """The column as whole numbers; `hint` ends the message where it holds something else."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    refuse_null(column, name, path, place)
    if not pa.types.is_integer(column.type):
        if len(column) == 0 and pa.types.is_null(column.type):
            return np.empty(0, np.int64)
        raise FormatError(f"{path}: column {name!r} must be integers, got {column.type}{_example(column, place)}{hint}")
    return np.asarray(column.to_numpy())


def refuse_null(column: Any, name: str, path: Path, place: Callable[[int], str]) -> None:
    """Nothing; raises where a value is missing."""
    import pyarrow.compute as pc

    if column.null_count:
        first = pc.index(pc.is_null(column), True).as_py()
        raise FormatError(f"{path}: column {name!r}, {place(first)}: a value is missing")


def _example(column: Any, place: Callable[[int], str]) -> str:
    return f" ({str(column[0].as_py())[:40]!r} at {place(0)})" if len(column) else ""


def _arrays(table: pa.Table, ends: tuple[str, str]) -> dict[str, Array]:
    here = Path("table")
    arrays = {"edge_index": np.stack([integers(table[name], name, here, row) for name in ends])}
    for name in table.column_names:
        if name in ends:
            continue
        key = name if name.startswith("edge_") else f"edge_{name}"
        if key in arrays or key.startswith("edge_label"):
            raise FormatError(f"column {name!r} would become the array {key!r}, which means something else in .npz")
        try:
            arrays[key] = numbers(table[name], name, here)
        except FormatError as error:
            raise FormatError(str(error).removeprefix(f"{here}: ") + "; write .parquet") from None
    return arrays


def _column(array: Array) -> Any:
    import pyarrow as pa

    if array.ndim == 1:
        return pa.array(np.ascontiguousarray(array))
    flat = pa.array(np.ascontiguousarray(array).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, int(np.prod(array.shape[1:])))
