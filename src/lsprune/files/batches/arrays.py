"""Edge lists as arrays: `.npz` without compression, a `.npy`, or a folder of `.npy`; all memory-mapped."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from lsprune.errors import FormatError, GraphError
from lsprune.files import NumNodes
from lsprune.files.batches.base import EdgeFiles, Kept, Piece, Shard, check_rows
from lsprune.files.batches.npz_members import Member, npy_member, npz_members
from lsprune.files.content import need, row, stack
from lsprune.files.node_table import check_positions
from lsprune.files.npy import member_info
from lsprune.files.npz import Arrays, ends_of, feature_names, is_matrix, node_count, rows_of
from lsprune.graph import Array

_CHECK = 1 << 20  # offsets of rows compared at a time


def open_arrays(
    path: Path,
    paths: Sequence[Path],
    source: str | None,
    target: str | None,
    edge_attr: tuple[str, ...],
    num_nodes: NumNodes,
    edge_arrays: tuple[str, ...] = (),
    node_arrays: tuple[str, ...] = (),
    bipartite: bool = False,
) -> ArrayFiles:
    """The edge list in a `.npz` file, a `.npy` file `[2, E]`, or a folder of `.npy` files named as in a `.npz`."""
    if path.is_dir() and any(one.parent != path or one.suffix.lower() != ".npy" for one in paths):
        raise FormatError(f"{path}: a folder of arrays must hold .npy files and no folders; give one .npz by itself")
    if path.suffix.lower() == ".npz" and not path.is_dir():
        members = npz_members(path)
    elif path.is_dir():
        members = {member.name: member for member in map(npy_member, paths)}
    else:
        members = {"edge_index": npy_member(path)}
    declared = (edge_arrays, node_arrays)
    return ArrayFiles(path, tuple(paths), members, source, target, edge_attr, num_nodes, declared, bipartite)


class ArrayFiles(EdgeFiles):
    """Edges in memory-mapped arrays; those that belong to the edges are cut with them, the others are copied."""

    def __init__(
        self,
        path: Path,
        paths: tuple[Path, ...],
        members: Mapping[str, Member],
        source: str | None,
        target: str | None,
        edge_attr: tuple[str, ...],
        num_nodes: NumNodes,
        declared: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
        bipartite: bool = False,
    ) -> None:
        self.inputs, self._path, self._members = paths, path, members
        self._arrays = {name: member.array() for name, member in members.items()}
        if source is None and is_matrix(self._arrays):
            raise FormatError(f"{path}: a saved scipy matrix cannot be streamed; save indptr, indices and rows instead")
        ends = ends_of(self._arrays, source, target, path)
        self._csr = ends == ("indptr", "indices") and source is None
        need(list(members), edge_attr, path)
        used = edge_attr or tuple(name for name in ("edge_attr",) if name in members)
        self._count = _check_ends([self._arrays[name] for name in ends], ends, self._csr, path)
        stored = node_count(self._arrays.get("num_nodes"), path)
        two = bipartite or isinstance(stored, tuple) or isinstance(num_nodes, tuple)
        self._content = Arrays(self._arrays, ends, used, self._count, False, *declared, feature_names(two))
        self._content.check_names(path)
        self._used, self._verified = used, False
        self.names = (ends[0], ends[1]) if len(ends) == 2 and not self._csr else ("source", "target")
        self.labels = self.names if ends != ("edge_index",) else ("edge_index[0]", "edge_index[1]")
        self.nodes, self.limits = self._node_count(num_nodes, stored, two)
        self.features = self._content.node_features("x")
        self.end_features = self._content.node_features("x_source"), self._content.node_features("x_target")
        self._check_features()
        self._describe(ends)

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

    def pieces(self, rows: int, attributes: bool, spelled: bool = False) -> Iterator[Piece]:
        """Slices of the memory maps; compressed rows are expanded."""
        self._verify()
        ends = self._rows(rows) if self._csr else self._pairs(rows)
        for first, source, target in ends:
            last = first + source.shape[0]
            attr = stack([self._arrays[name][first:last] for name in self._used]) if attributes else None
            yield Piece(self._path, first, source, target, attr, _offset(first))

    def mapped(self) -> tuple[Array, Array] | None:
        """Both ends as memory maps; None for compressed rows, and for types or places that need a copy."""
        if self._csr or not all(_plain(end) for end in self._ends):
            return None
        self._verify()
        source, target = self._ends
        return (source, target) if source.dtype == target.dtype else None

    def mapped_csr(self) -> tuple[Array, Array, Literal["source", "target"]] | None:
        """The memory maps of compressed rows, offsets checked; None for other kinds, and where they need a copy."""
        if not self._csr or not all(_plain(end) for end in self._ends):
            return None
        self._verify()
        return (*self._ends, rows_of(self._arrays, self._path))

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
            _write_header(stream, array.shape, array.dtype)
            for block in self._offsets(kept, spans):
                stream.write(block.astype(array.dtype).tobytes())
        elif self._content.edge_axis(name) == 1:
            _write_header(stream, (array.shape[0], count), array.dtype)
            for one in array:
                _write_kept(stream, one, kept, spans)
        elif self._content.edge_axis(name) == 0:
            _write_header(stream, (count, *array.shape[1:]), array.dtype)
            _write_kept(stream, array, kept, spans)
        else:
            for raw in self._members[name].blocks():
                stream.write(raw)

    def _offsets(self, kept: Kept, spans: list[tuple[int, int]]) -> Iterator[Array]:
        """Pieces of the new indptr: the number of kept edges before each old offset."""
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
            size = min(_CHECK, indptr.shape[0] - at)
            yield np.full(size, before)
            at += size

    def _pairs(self, rows: int) -> Iterator[tuple[int, Array, Array]]:
        source, target = self._ends
        for lo in range(0, self._count, rows):
            yield lo, source[lo : lo + rows], target[lo : lo + rows]

    def _rows(self, rows: int) -> Iterator[tuple[int, Array, Array]]:
        """Compressed rows, at most `rows` edges of at most `rows` rows at a time."""
        indptr, indices = self._ends
        by_source = rows_of(self._arrays, self._path) == "source"
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
        """Compared once, before the first use: checksums of a .npz, and that the offsets of rows rise."""
        if self._verified:
            return
        for member in self._members.values():
            member.verify()
        if self._csr:
            _check_rising(self._arrays["indptr"], self._path)
        self._verified = True

    def check_arrays(self, nodes: tuple[int | None, int | None]) -> None:
        """FormatError for an array as long as edges and nodes; these are counted where their number is not known."""
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
        """The largest id of one end; of compressed rows, their last."""
        by_source = self._csr and rows_of(self._arrays, self._path) == "source"
        if self._csr and by_source == (end == 0):
            return int(self._arrays["indptr"].shape[0]) - 2
        ids = self._arrays["indices"] if self._csr else self._ends[end]
        return max((int(ids[lo : lo + _CHECK].max()) for lo in range(0, ids.shape[0], _CHECK)), default=-1)

    def _check_features(self) -> None:
        if not self._csr:
            self._content.check_features(self.nodes, lambda: max(self._largest(0), self._largest(1)), self._path)
        self._content.check_kinds(self._path)
        if self.features is not None:
            check_positions(self._content.beside_edges, self.features, self._path)

    def _node_count(
        self, given: NumNodes, stored: int | tuple[int, int] | None, two: bool
    ) -> tuple[int | None, tuple[int | None, int | None] | None]:
        """(number of nodes of one kind, numbers of two kinds), as given, else as the file has it."""
        count = int(self._arrays["indptr"].shape[0]) - 1 if self._csr else None
        if two:
            pairs = [one if isinstance(one, tuple) else (one, one) for one in (given, stored)]
            first, second = (one if one is not None else other for one, other in zip(*pairs, strict=True))
            if count is not None:
                by_source = rows_of(self._arrays, self._path) == "source"
                first, second = (count, second) if by_source else (first, count)
            return None, (first, second)
        said = given if given is not None else stored
        assert not isinstance(said, tuple)
        if count is not None:
            if said not in (None, count):
                raise GraphError(f"{self._path}: num_nodes must match the {count} rows of indptr, got {said}")
            return count, None
        return said, None

    def _describe(self, ends: tuple[str, ...]) -> None:
        kinds = [self._arrays[name].dtype for name in ends if not (self._csr and name == "indptr")]
        small = all(kind.kind in "iu" and np.can_cast(kind, np.int32) for kind in kinds)
        most = max(self.nodes or 0, *(count or 0 for count in self.limits or (0, 0)))
        self.dtype = np.dtype(np.int32 if small and most <= np.iinfo(np.int32).max else np.int64)
        template = stack([self._arrays[name][:0] for name in self._used])
        self.attr_shape = None if template is None else template.shape[1:]
        self.attr_dtype = None if template is None else template.dtype
        cut = [array for name, array in self._arrays.items() if self._content.edge_axis(name) is not None]
        self.row_bytes = 2 * self.dtype.itemsize + sum(array.nbytes for array in cut) // max(1, self._count)
        if any(self._arrays[name].shape[:1] != (self._count,) for name in self._used):
            raise FormatError(f"{self._path}: the arrays {', '.join(self._used)} must have one row for each edge")


def _check_ends(arrays: list[Array], ends: tuple[str, ...], csr: bool, path: Path) -> int:
    """The number of edges; raises where shapes or types cannot be those of edges."""
    if ends == ("edge_index",):
        if arrays[0].ndim != 2 or arrays[0].shape[0] != 2:
            raise FormatError(f"{path}: edge_index must have shape [2, E], got {list(arrays[0].shape)}")
        arrays, ends = list(arrays[0]), ("edge_index[0]", "edge_index[1]")
    for array, name in zip(arrays, ends, strict=True):
        if array.ndim != 1:
            raise FormatError(f"{path}: column {name!r} must have one dimension, got shape {list(array.shape)}")
    first, second = arrays
    if csr:
        if first.size == 0 or first.dtype.kind not in "iu" or int(first[0]) != 0 or int(first[-1]) != second.shape[0]:
            raise GraphError(f"{path}: indptr must rise from 0 to the number of indices ({second.shape[0]})")
    elif first.shape != second.shape:
        raise GraphError(f"{path}: must have as many sources as targets, got {first.size} and {second.size}")
    return int(second.shape[0])


def _check_rising(indptr: Array, path: Path) -> None:
    for lo in range(0, indptr.shape[0] - 1, _CHECK):
        some = indptr[lo : lo + _CHECK + 1]
        if np.any(some[1:] < some[:-1]):
            wrong = lo + int(np.flatnonzero(some[1:] < some[:-1])[0]) + 1
            raise GraphError(f"{path}: indptr must rise, got {indptr[wrong]} at row {wrong}")


def _write_header(stream: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    descr = np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})


def _write_kept(stream: Any, array: Array, kept: Kept, spans: list[tuple[int, int]]) -> None:
    for lo, hi in spans:
        stream.write(array[lo:hi][kept(lo, hi)].tobytes())


def _plain(array: Array) -> bool:
    return array.dtype in (np.int32, np.int64) and array.dtype.isnative and bool(array.flags.aligned)


def _offset(first: int) -> Callable[[int], str]:
    return lambda position: row(first + position)
