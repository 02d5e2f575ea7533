"""Tables of nodes as text: `.csv` and `.tsv`, plain, gzipped or as zstd, with a first line that names the columns.

Lines are read as those of edge lists are. A column has the first type that all its values fit: whole numbers, numbers,
dates, else text. Spaces around a text are left out, and an empty text is a missing value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprune.errors import FormatError
from lsprune.files.arrow_columns import first_line
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.text import common_type, trimmed, wider_types
from lsprune.files.text_lines import Layout, Lines, first_edge, parse_lines, read_lines, table_layout, wrong_line

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK_BYTES = 1 << 22  # of text parsed at a time
_FIRST_BYTES = 1 << 16  # looked at to find the columns


class TextNodes:
    """A table of nodes in a text file; its lines are read twice, because types show only at the end."""

    def __init__(self, path: Path) -> None:
        line, self.line_bytes = first_edge(path, _FIRST_BYTES)
        if not line:
            raise FormatError(f"{path}: the file is empty")
        self.path, self.layout = path, table_layout(line, path)
        self.count = 0  # rows; known after `types`

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return self.layout.columns

    def types(self, names: Sequence[str], memory: MemoryBudget | None = None) -> dict[str, Any]:
        """Return the Arrow type of each of these columns, which all its values fit."""
        import pyarrow as pa

        kinds: dict[str, set[Any]] = {name: set() for name in names}
        self.count = 0
        for lines in read_lines(self.layout, _BLOCK_BYTES, memory):
            self.count += len(lines)
            for name, kind in _types_in(lines, names).items():
                kinds[name] |= set() if pa.types.is_null(kind) else {kind}
        return {name: _common_type(found, name, self.path) for name, found in kinds.items()}

    def blocks(self, types: dict[str, Any], size: int = _BLOCK_BYTES) -> Iterator[tuple[Lines, pa.Table]]:
        """Yield all lines, about `size` bytes at a time, and columns of these types in them."""
        for lines in read_lines(self.layout, size):
            yield lines, _parse(lines, types)

    def load(self, memory: MemoryBudget) -> pa.Table:
        """Return all columns; raise OptionError if the text exceeds `memory`."""
        import pyarrow as pa

        types = self.types(self.names, memory)
        tables = [table for _, table in self.blocks(types)]
        return pa.concat_tables(tables) if tables else pa.table({name: pa.array([], types[name]) for name in types})


def _types_in(lines: Lines, names: Sequence[str]) -> dict[str, Any]:
    """Return the first type of each column that all values in some lines fit."""
    import pyarrow as pa

    try:
        table = lines.parse(dict.fromkeys(names))
    except pa.ArrowInvalid:  # Arrow guesses from the first lines; that may not hold further on
        fault = wrong_line(lines)
        if fault:
            raise FormatError(f"{lines.layout.path}: {fault}") from None
        return {name: _type_of(lines.body(), lines.layout, name) for name in names}
    return dict(zip(table.column_names, table.schema.types, strict=True))


def _type_of(body: bytes, layout: Layout, name: str) -> Any:
    import pyarrow as pa

    for kind in (None, *wider_types()):
        try:
            return parse_lines(body, layout, {name: kind}).schema.types[0]
        except pa.ArrowInvalid:
            continue
    return pa.string()


def _common_type(kinds: set[Any], name: str, path: Path) -> Any:
    """Return the type that holds the values of all blocks: text, if nothing else does."""
    import pyarrow as pa

    try:
        return common_type(kinds, name, path)
    except FormatError:
        return pa.string()


def _parse(lines: Lines, types: dict[str, Any]) -> pa.Table:
    import pyarrow as pa

    try:
        table = lines.parse(types)
    except pa.ArrowException as error:
        fault = wrong_line(lines) or f"not a readable table of nodes ({first_line(error)})"
        raise FormatError(f"{lines.layout.path}: {fault}") from None
    for name in (name for name, kind in types.items() if pa.types.is_string(kind)):
        table = table.set_column(table.column_names.index(name), name, trimmed(table[name]))
    return table
