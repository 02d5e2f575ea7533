"""Edge lists as text, a file or a folder, read by blocks of whole lines; kept lines are written back to the byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from lsprune.errors import FormatError
from lsprune.files import NumNodes
from lsprune.files.batches.base import OFFER, EdgeFiles, Kept, Piece, Shard, check_rows, split_nodes
from lsprune.files.content import need, stack
from lsprune.files.parquet import first_line, numbers
from lsprune.files.text import (
    MARK,
    NO_EDGES,
    Lines,
    cut_short,
    edge_lines,
    empty,
    explain,
    layout_of,
    odd_line,
    packed,
    unpacked,
)
from lsprune.graph import Array

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 1 << 22  # bytes of text in memory at a time at most
_LONGEST = 1 << 24  # bytes of a line
_LOOK = 1 << 16  # bytes looked at to find the columns and the length of a line


class TextFiles(EdgeFiles):
    """The lines of one or more text files. How many there are is known only after they were read once."""

    def __init__(
        self,
        paths: Sequence[Path],
        names: Sequence[str],
        source: str | None,
        target: str | None,
        edge_attr: tuple[str, ...],
        num_nodes: NumNodes,
        bipartite: bool = False,
    ) -> None:
        self.inputs, self._shard_names = tuple(paths), tuple(names)
        self.nodes, self.limits = split_nodes(num_nodes, bipartite)
        looks = [_look(path) for path in paths]
        self._line = max(line for _, line in looks)  # bytes of a line, about
        # a file without a line, as engines that write one file per task leave them, has no columns to compare
        lead = next((file for file, (line, _) in enumerate(looks) if line), 0)
        first = layout_of(looks[lead][0], paths[lead], source, target)
        self._layouts = [
            layout_of(line, path, *first.ends) if line else replace(first, path=path, header=b"")
            for path, (line, _) in zip(paths, looks, strict=True)
        ]
        self.names = self.labels = first.ends
        for layout in self._layouts:
            need(list(layout.columns), edge_attr, layout.path)
        self.dtype = np.dtype(np.int64)
        self._counts: list[int | None] = [None] * len(paths)
        self._types = self._numeric(edge_attr)
        dtypes = [kind.to_pandas_dtype() for kind in self._types.values()]
        self.attr_shape = None if not dtypes else () if len(dtypes) == 1 else (len(dtypes),)
        self.attr_dtype = np.result_type(*dtypes) if dtypes else None
        # the text itself, the marks on its bytes, the place of its lines, and the values
        self.row_bytes = 4 * self._line + 24 + 8 * (2 + len(dtypes))

    @property
    def edges(self) -> int | None:
        """Number of edges once all files were read to their end."""
        counts = [count for count in self._counts if count is not None]
        return sum(counts) if len(counts) == len(self._counts) else None

    @property
    def shards(self) -> tuple[Shard, ...]:
        """One for each file, of the same name; files that nobody has read yet are read to count their lines."""
        for file, count in enumerate(self._counts):
            if count is None:
                for _ in self._lines(file, _BLOCK):
                    pass
        first, shards = 0, []
        for name, count in zip(self._shard_names, self._counts, strict=True):
            shards.append(Shard(name, first, first + (count or 0)))
            first += count or 0
        return tuple(shards)

    def has_edges(self, path: Path) -> bool:
        """Whether a file has any line that is an edge."""
        return any(lines.starts.size for lines in self._lines(self.inputs.index(path), _LOOK))

    def pieces(self, rows: int, attributes: bool, spelled: bool = False) -> Iterator[Piece]:
        """The edges of all files, parsed by Arrow."""
        import pyarrow as pa

        types = {name: pa.string() if spelled else pa.int64() for name in self.names}
        if attributes:
            types = self._types | types
        first = 0
        for file, path in enumerate(self.inputs):
            for lines in self._lines(file, self._size(rows)):
                table = _parse(lines, types, spelled)
                columns = [numbers(table[n], n, path, lines.place) for n in self._types] if attributes else []
                source, target = (_trimmed(table[name]) if spelled else table[name] for name in self.names)
                yield Piece(path, first, source, target, stack(columns), lines.place)
                first += table.num_rows

    def write_shard(self, shard: Shard, handle: BinaryIO, kept: Kept, rows: int) -> tuple[int, int]:
        """Write the kept lines as they are, under the header of their file."""
        check_rows(rows)
        file = self._shard_names.index(shard.name)
        path, header = self.inputs[file], self._layouts[file].header
        at, written = shard.first, 0
        with packed(handle, path.name.lower()) as sink:
            sink.write(header)
            for lines in self._lines(file, self._size(rows)):
                mask = kept(at, at + lines.starts.size)
                sink.write(lines.body(mask))
                at, written = at + mask.shape[0], written + int(np.count_nonzero(mask))
            if not header and not written:
                sink.write(NO_EDGES)
        if at != shard.last:
            raise FormatError(f"{path}: had {shard.last - shard.first} edges and has {at - shard.first} now")
        return at - shard.first, written

    def _size(self, rows: int) -> int:
        return min(_BLOCK, rows * self._line)

    def _lines(self, file: int, size: int) -> Iterator[Lines]:
        """The edges of one file, a block of about `size` bytes at a time; at its end their number is kept."""
        layout, count, top = self._layouts[file], 0, True
        for before, data in _blocks(layout.path, size):
            starts, stops, places = edge_lines(data, layout.comments_anywhere, top)
            skip = 1 if top and starts.size and layout.header else 0
            top = top and not starts.size
            if starts.size > skip:
                yield Lines(layout, data, starts[skip:], stops[skip:], places[skip:] + before)
                count += starts.size - skip
        self._counts[file] = count

    def _numeric(self, edge_attr: tuple[str, ...]) -> dict[str, Any]:
        """The Arrow type of each attribute, as in memory: whole numbers as long as no line has a decimal."""
        import pyarrow as pa

        found: dict[str, set[str]] = {name: set() for name in edge_attr}
        for file, path in enumerate(self.inputs if edge_attr else ()):
            for lines in self._lines(file, _BLOCK):
                table = _parse(lines, dict.fromkeys(edge_attr), spelled=True)
                for name in edge_attr:
                    found[name].add(numbers(table[name], name, path, lines.place).dtype.name)
        for name, kinds in found.items():
            if "bool" in kinds and len(kinds) > 1:
                raise FormatError(f"{self.inputs[0]}: column {name!r} has both numbers and true or false")
        kinds_of = {"bool": pa.bool_(), "int64": pa.int64(), "float64": pa.float64()}
        # the smallest name of those found: bool (alone), float64, int64
        return {name: kinds_of[min(kinds, default="int64")] for name, kinds in found.items()}


def _look(path: Path) -> tuple[bytes, int]:
    """The first line of a file that is neither blank nor a comment, and about how many bytes its lines have."""
    anywhere = layout_of(b"", path, None, None).comments_anywhere
    if path.suffix.lower() not in (".gz", ".zst"):
        _check_end(path)
    length = 1
    for _, data in _blocks(path, _LOOK):
        starts, stops, _ = edge_lines(data, anywhere)
        length = max(length, -(-data.size // int(np.count_nonzero(data == 10))))
        if starts.size:
            return bytes(data[starts[0] : stops[0]].data), length
    return b"", length


def _check_end(path: Path) -> None:
    with path.open("rb") as handle:
        size = handle.seek(0, 2)
        handle.seek(max(0, size - 1))
        if handle.read(1) not in (b"\n", b""):
            raise cut_short(path)


def _blocks(path: Path, size: int) -> Iterator[tuple[int, Array]]:
    """Blocks of whole lines, about `size` bytes each, and the number of lines before each."""
    before = 0
    with unpacked(path) as stream:
        head = stream.read(len(MARK))
        carry = b"" if head == MARK else head
        none = not carry
        while chunk := stream.read(size):
            none, cut = False, chunk.rfind(b"\n") + 1
            if cut == 0:
                carry += chunk
                if len(carry) > _LONGEST:
                    raise FormatError(f"{path}: line {before + 1} is longer than {_LONGEST} bytes; no edge list?")
                continue
            data = np.frombuffer(carry + chunk[:cut], np.uint8)
            carry = chunk[cut:]
            yield before, data
            before += int(np.count_nonzero(data == 10))
    if none:
        raise empty(path)
    if carry and not carry.endswith(b"\n"):
        raise cut_short(path)
    if carry:
        yield before, np.frombuffer(carry, np.uint8)


def _parse(lines: Lines, types: dict[str, Any], spelled: bool) -> pa.Table:
    import pyarrow as pa

    try:
        return lines.parse(tuple(types), {name: kind for name, kind in types.items() if kind is not None})
    except pa.ArrowException as error:
        if not spelled:
            explain(lines, OFFER)
        path = lines.layout.path
        raise FormatError(f"{path}: {odd_line(lines) or f'not a readable edge list ({first_line(error)})'}") from None


def _trimmed(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)
