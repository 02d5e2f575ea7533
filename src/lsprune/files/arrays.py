"""Edge lists as arrays: `.npz`, a `.npy`, or a folder of `.npy`; memory-mapped to stream them, else read whole.

Only what is not compressed can be memory-mapped, and only a matrix that was saved as `indptr` and `indices`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from lsprune.checks import Array
from lsprune.errors import FormatError, GraphError
from lsprune.files.columns import need, row, rows_from, stack
from lsprune.files.edge_arrays import EdgeArrays, ends_of, feature_names, merge_counts, node_count, rows_of
from lsprune.files.edge_files import EdgeFiles, Kept, LoadedEdges, Piece, Shard, check_rows
from lsprune.files.edge_options import EdgeOptions
from lsprune.files.ids import check_id_type
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.node_table import check_positions
from lsprune.files.npy import Member, is_compressed, member_info, npy_member, npz_members, read_npz, write_header
from lsprune.files.sparse_matrix import is_matrix, matrix_edges
from lsprune.graph_arrays import column_array

_CHECKED_ROWS = 1 << 20  # offsets of rows, or ids, compared at a time


def open_arrays(path: Path, paths: Sequence[Path], options: EdgeOptions) -> ArrayFiles:
    """Return the edge list in a `.npz`, a `.npy` `[2, E]`, or a folder of `.npy` named as in a `.npz`, mapped."""
    if path.is_dir() and any(file.parent != path or file.suffix.lower() != ".npy" for file in paths):
        raise FormatError(f"{path}: a folder of arrays must hold .npy files and no folders; give one .npz by itself")
    if path.is_dir():
        members = {member.name: member for member in map(npy_member, paths)}
    elif path.suffix.lower() == ".npz":
        members = npz_members(path)
    else:
        members = {"edge_index": npy_member(path)}
    arrays = {name: member.array() for name, member in members.items()}
    if options.source is None and is_matrix(arrays):
        raise FormatError(f"{path}: a saved scipy matrix cannot be streamed; save indptr, indices and rows instead")
    return ArrayFiles(path, tuple(paths), arrays, options, members)


def load_npz(path: Path, options: EdgeOptions, memory: MemoryBudget) -> LoadedEdges:
    """Return the edges of a `.npz`, read into memory; OptionError if it exceeds `memory`."""
    arrays = read_npz(path, memory)
    compressed = is_compressed(path)
    if options.source is None and is_matrix(arrays):
        return matrix_edges(arrays, path, options, compressed)
    return ArrayFiles(path, (path,), arrays, options, compressed=compressed).load()


class ArrayFiles(EdgeFiles):
    """Edges in arrays, memory-mapped or read; those that belong to the edges are cut with them, others are copied."""

    def __init__(
        self,
        path: Path,
        paths: tuple[Path, ...],
        arrays: Mapping[str, Array],
        options: EdgeOptions,
        members: Mapping[str, Member] | None = None,
        *,
        compressed: bool = False,
    ) -> None:
        self.inputs, self._path, self._arrays, self._members = paths, path, arrays, members or {}
        ends = ends_of(arrays, options.source, options.target, path)
        self._rows_end = rows_of(arrays, path) if ends == ("indptr", "indices") and options.source is None else None
        need(list(arrays), options.edge_attr, path)
        used = tuple(options.edge_attr) or tuple(name for name in ("edge_attr",) if name in arrays)
        self._count = _check_ends([arrays[name] for name in ends], ends, self._csr, path)
        if any(arrays[name].shape[:1] != (self._count,) for name in used):
            raise FormatError(f"{path}: the arrays {', '.join(used)} must have one row for each edge")
        stored = node_count(arrays.get("num_nodes"), path)
        declared = (tuple(options.edge_arrays), tuple(options.node_arrays))
        features = feature_names(options.two_kinds or isinstance(stored, tuple))
        self._content = EdgeArrays(arrays, ends, used, self._count, compressed, *declared, features)
        self._content.check_names(path)
        self._used, self._verified = used, False
        self.names, self.labels = self._end_names(ends)
        self.nodes, self.limits = self._node_count(options, stored)
        self.features = self._content.node_features("x")
        self.end_features = self._content.node_features("x_source"), self._content.node_features("x_target")
        self._check_features()
        self.column_names = tuple(arrays)
        self.columns = {name: self._column_type(name) for name in options.columns if self._is_column(name)}
        self._describe(ends)

    def _is_column(self, name: str) -> bool:
        """Return whether an array has one entry for each edge."""
        return self._content.column(name) is not None

    def _column_type(self, name: str) -> np.dtype[Any]:
        """Return the type of an array of numbers or dates; raise FormatError for any other."""
        try:
            return column_array(self._arrays[name], name, self._count, "edge").dtype
        except GraphError as error:
            raise FormatError(f"{self._path}: {error}") from None

    def node_array(self, name: str) -> Array | None:
        """Return the array of this name if it has one entry for each node of the one kind that there is."""
        array = self._arrays.get(name)
        if array is None or self._is_column(name) or self.limits is not None:
            return None
        nodes = max(self._largest(0), self._largest(1)) + 1 if self.nodes is None else self.nodes
        return array if array.shape == (nodes,) else None

    @property
    def _csr(self) -> bool:
        """Whether the edges are compressed rows."""
        return self._rows_end is not None

    def _end_names(self, ends: tuple[str, ...]) -> tuple[tuple[str, str], tuple[str, str]]:
        """Return the names of the two ends, and what errors call them."""
        if self._csr:
            return ("source", "target"), ("source", "indices") if self._rows_end == "source" else ("indices", "target")
        if ends == ("edge_index",):
            return ("source", "target"), ("edge_index[0]", "edge_index[1]")
        return (ends[0], ends[1]), (ends[0], ends[1])

    def load(self) -> LoadedEdges:
        """Return all edges, in arrays that were read into memory before."""
        self._verify()
        attr = stack([self._arrays[name] for name in self._used])
        more: dict[str, Any] = {"edge_attr": attr, "x": self.features, "x_ends": self.end_features}
        if self._rows_end is None:
            piece = Piece(self._path, 0, *self._ends, attr, row)
            return self.loaded(self._content, self.check_end(0, piece), self.check_end(1, piece), **more)
        indptr, other = self._ends
        more |= {"indptr": indptr, "rows": self._rows_end}
        piece = Piece(self._path, 0, other, other, attr, row)
        if self._rows_end == "source":
            return self.loaded(self._content, None, self.check_end(1, piece), **more)
        return self.loaded(self._content, self.check_end(0, piece), None, **more)

    @property
    def edges(self) -> int:
        """Number of edges, from the arrays' shape."""
        return self._count

    @property
    def shards(self) -> tuple[Shard, ...]:
        """The one file; of a folder, one for each array, of which the first of the edges has them all.

        The other arrays hold the same edges again, or none: their shards are empty, so that shards add up to the edges.
        """
        if not self._path.is_dir():
            return (Shard("", 0, self._count),)
        ends = self._content.ends[-1]  # edge_index, targets or indices: an array with an entry for each edge
        return tuple(
            Shard(member.path.name, 0, self._count if name == ends else 0) for name, member in self._members.items()
        )

    def pieces(
        self, rows: int, attributes: bool, spelled: bool = False, columns: Sequence[str] = ()
    ) -> Iterator[Piece]:
        """Yield slices of the memory maps; compressed rows are expanded."""
        self._verify()
        ends = self._rows(rows) if self._csr else self._pairs(rows)
        for first, source, target in ends:
            last = first + source.shape[0]
            attr = stack([self._arrays[name][first:last] for name in self._used]) if attributes else None
            named = {name: self._arrays[name][first:last] for name in columns}
            yield Piece(self._path, first, source, target, attr, rows_from(first), named)

    def write_shard(self, shard: Shard, handle: BinaryIO, kept: Kept, rows: int) -> tuple[int, int]:
        """Write the arrays with the kept edges, in the layout of the input; `kept` is asked once for each array."""
        check_rows(rows)
        self._verify()
        spans = [(lo, min(lo + rows, self._count)) for lo in range(0, self._count, rows)]
        count = sum(int(np.count_nonzero(kept(lo, hi))) for lo, hi in spans)
        if self._path.suffix.lower() == ".npz":
            with zipfile.ZipFile(handle, "w") as archive:
                for name in self._members:
                    # force_zip64: the size is not known beforehand, and an array may pass 2 GiB
                    with archive.open(member_info(f"{name}.npy"), "w", force_zip64=True) as stream:
                        self._write(name, stream, kept, spans, count)
        else:
            name = next(name for name, member in self._members.items() if shard.name in ("", member.path.name))
            self._write(name, handle, kept, spans, count)
        return (shard.last, count) if shard.last else (0, 0)

    def _write(self, name: str, stream: Any, kept: Kept, spans: list[tuple[int, int]], count: int) -> None:
        array = self._arrays[name]
        if name == "indptr" and self._csr:
            write_header(stream, array.shape, array.dtype)
            for block in self._offsets(kept, spans):
                stream.write(block.astype(array.dtype).tobytes())
        elif self._content.edge_axis(name) == 1:
            write_header(stream, (array.shape[0], count), array.dtype)
            for line in array:
                _write_kept(stream, line, kept, spans)
        elif self._content.edge_axis(name) == 0:
            write_header(stream, (count, *array.shape[1:]), array.dtype)
            _write_kept(stream, array, kept, spans)
        else:
            for raw in self._members[name].blocks():
                stream.write(raw)

    def _offsets(self, kept: Kept, spans: list[tuple[int, int]]) -> Iterator[Array]:
        """Yield pieces of the new indptr: the number of kept edges before each old offset."""
        indptr, at, before = self._arrays["indptr"], 0, 0
        for lo, hi in spans:
            running = np.concatenate([[0], np.cumsum(kept(lo, hi), dtype=np.int64)])
            while at < indptr.shape[0]:
                block = indptr[at : at + (hi - lo)].astype(np.int64)
                block = block[: np.searchsorted(block, hi, "left")]  # offsets lo <= p < hi
                if block.size == 0:
                    break
                yield before + running[block - lo]
                at += block.size
            before += int(running[-1])
        while at < indptr.shape[0]:  # what stands at the very end: the last offset, and rows without edges before it
            size = min(_CHECKED_ROWS, indptr.shape[0] - at)
            yield np.full(size, before)
            at += size

    def _pairs(self, rows: int) -> Iterator[tuple[int, Array, Array]]:
        source, target = self._ends
        for lo in range(0, self._count, rows):
            yield lo, source[lo : lo + rows], target[lo : lo + rows]

    def _rows(self, rows: int) -> Iterator[tuple[int, Array, Array]]:
        """Yield compressed rows, at most `rows` edges of at most `rows` rows at a time."""
        indptr, indices = self._ends
        by_source = self._rows_end == "source"
        last = indptr.shape[0] - 1
        at = lo = 0
        while lo < self._count:
            stop = min(at + rows, last)
            hi = min(lo + rows, int(indptr[stop]))
            offsets = indptr[at : stop + 1].astype(np.int64)
            inside = np.clip(offsets, lo, hi)
            expanded = np.repeat(np.arange(at, stop, dtype=self.dtype), inside[1:] - inside[:-1])
            if hi > lo:
                other = indices[lo:hi]
                yield lo, *((expanded, other) if by_source else (other, expanded))
            # on to the row of the next edge; where many rows are empty, past all of them
            at += max(0, int(np.searchsorted(offsets, hi, "right")) - 1)
            lo = hi

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        ends = self._content.ends
        if ends == ("edge_index",):
            return self._arrays["edge_index"][0], self._arrays["edge_index"][1]
        return self._arrays[ends[0]], self._arrays[ends[1]]

    def _verify(self) -> None:
        """Compare checksums of a .npz, and that the offsets of rows rise; once, before the first use."""
        if self._verified:
            return
        for member in self._members.values():
            member.verify()
        if self._csr:
            _check_rising(self._arrays["indptr"], self._path)
        self._verified = True

    def check_arrays(self, nodes: tuple[int | None, int | None]) -> None:
        """Raise FormatError for an array as long as edges and nodes, which are counted if their number is unknown."""
        if not self._content.undecided:
            return
        counts = tuple(self._largest(end) + 1 if count is None else count for end, count in enumerate(nodes))
        if self.limits is None:
            counts = (max(counts),)
        try:
            self._content.check(counts)
        except FormatError as error:
            raise FormatError(f"{self._path}: {error}") from None

    def _largest(self, end: int) -> int:
        """Return the largest id of one end; of compressed rows, their last."""
        by_source = self._csr and self._rows_end == "source"
        if self._csr and by_source == (end == 0):
            return int(self._arrays["indptr"].shape[0]) - 2
        ids = self._arrays["indices"] if self._csr else self._ends[end]
        return max(
            (int(ids[lo : lo + _CHECKED_ROWS].max()) for lo in range(0, ids.shape[0], _CHECKED_ROWS)), default=-1
        )

    def _check_features(self) -> None:
        if not self._csr:
            self._content.check_features(self.nodes, lambda: max(self._largest(0), self._largest(1)), self._path)
        self._content.check_kinds(self._path)
        if self.features is not None:
            check_positions(self._content.beside_edges, self.features, self._path)

    def _node_count(
        self, options: EdgeOptions, stored: int | tuple[int, int] | None
    ) -> tuple[int | None, tuple[int | None, int | None] | None]:
        """Return (number of nodes of one kind, numbers of two kinds); compressed rows are all nodes of their end."""
        nodes, limits = merge_counts(options, stored)
        if not self._csr:
            return nodes, limits
        count = int(self._arrays["indptr"].shape[0]) - 1
        if limits is not None:
            return None, (count, limits[1]) if self._rows_end == "source" else (limits[0], count)
        if nodes not in (None, count):
            raise GraphError(f"{self._path}: num_nodes must match the {count} rows of indptr, got {nodes}")
        return count, None

    def _describe(self, ends: tuple[str, ...]) -> None:
        kinds = [self._arrays[name].dtype for name in ends if not (self._csr and name == "indptr")]
        small = all(kind.kind in "iu" and np.can_cast(kind, np.int32) for kind in kinds)
        most = max(self.nodes or 0, *(count or 0 for count in self.limits or (0, 0)))
        self.dtype = np.dtype(np.int32 if small and most <= np.iinfo(np.int32).max else np.int64)
        template = stack([self._arrays[name][:0] for name in self._used])
        if template is not None:
            self.attr_shape, self.attr_dtype = template.shape[1:], template.dtype
        cut = [array for name, array in self._arrays.items() if self._content.edge_axis(name) is not None]
        self.row_bytes = 2 * self.dtype.itemsize + sum(array.nbytes for array in cut) // max(1, self._count)


def _check_ends(arrays: list[Array], ends: tuple[str, ...], csr: bool, path: Path) -> int:
    """Return the number of edges; raise if shapes or types cannot be those of edges."""
    if ends == ("edge_index",):
        if arrays[0].ndim != 2 or arrays[0].shape[0] != 2:
            raise FormatError(f"{path}: edge_index must have shape [2, E], got {list(arrays[0].shape)}")
        arrays, ends = list(arrays[0]), ("edge_index[0]", "edge_index[1]")
    for array, name in zip(arrays, ends, strict=True):
        check_id_type(array, name, path)
    first, second = arrays
    if csr:
        if first.size == 0 or first.dtype.kind not in "iu" or int(first[0]) != 0 or int(first[-1]) != second.shape[0]:
            raise GraphError(f"{path}: indptr must rise from 0 to the number of indices ({second.shape[0]})")
    elif first.shape != second.shape:
        raise GraphError(f"{path}: must have as many sources as targets, got {first.size} and {second.size}")
    return int(second.shape[0])


def _check_rising(indptr: Array, path: Path) -> None:
    for lo in range(0, indptr.shape[0] - 1, _CHECKED_ROWS):
        block = indptr[lo : lo + _CHECKED_ROWS + 1]
        if np.any(block[1:] < block[:-1]):
            wrong = lo + int(np.flatnonzero(block[1:] < block[:-1])[0]) + 1
            raise GraphError(f"{path}: indptr must rise, got {indptr[wrong]} at row {wrong}")


def _write_kept(stream: Any, array: Array, kept: Kept, spans: list[tuple[int, int]]) -> None:
    for lo, hi in spans:
        stream.write(array[lo:hi][kept(lo, hi)].tobytes())
