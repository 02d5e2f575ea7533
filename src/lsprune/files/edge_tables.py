"""Tables of edges on their way to a file: Arrow tables and columns of arrays, written in any format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from lsprune.errors import FormatError
from lsprune.files.arrow_columns import first_line, integers, numbers
from lsprune.graph import Array

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class TableContent:
    """A table with one row for each edge; all columns, types and schema metadata stay."""

    table: pa.Table
    ends: tuple[str, str]

    def check(self, nodes: tuple[int, ...]) -> None:
        """Do nothing: every column of a table belongs to its edges."""

    @property
    def column_names(self) -> list[str]:
        """The names of all columns."""
        return list(self.table.column_names)

    def column(self, name: str) -> Any:
        """Return the column of this name; None if there is none."""
        return self.table[name] if name in self.column_names else None

    def write(self, handle: BinaryIO, suffix: str, mask: Array) -> None:
        """Write the kept rows."""
        import pyarrow as pa

        write_table(handle, suffix, self.table.filter(pa.array(mask)), self.ends)


def write_table(handle: BinaryIO, suffix: str, table: pa.Table, ends: tuple[str, str]) -> None:
    """Write a table of edges in the format of `suffix`."""
    if suffix == ".parquet":
        from lsprune.files.parquet import writing

        with writing(handle, table.schema) as writer:
            writer.write_table(table)
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


def _arrays(table: pa.Table, ends: tuple[str, str]) -> dict[str, Array]:
    here = Path("table")
    arrays = {"edge_index": np.stack([integers(table[name], name, here) for name in ends])}
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
