"""Where work is dispatched: one executor by name, shared out over threads. numba and torch are imported when used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from lsprune.errors import GraphError, OptionError
from lsprune.graph import Array
from lsprune.kernels import file_arrays as files
from lsprune.kernels import threads as pool

EXECUTORS = {"cpu": "lsprune.kernels.cpu", "reference": "lsprune.kernels.reference", "gpu": "lsprune.kernels.gpu"}
ROWS = 2048  # attribute rows a thread takes at a time
SPAN = 1 << 18  # edges a thread takes at a time
BLOCK_VALUES = 1 << 22  # attribute values in a block at most: what dense blocks of very wide rows may take


class Rows(Protocol):
    """Attribute rows that can be read in blocks of float32."""

    @property
    def name(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def dim(self) -> int: ...

    def block(self, lo: int, hi: int) -> Array:
        """The rows lo..hi as float32 `[hi - lo, dim]`, C order."""


@dataclass(frozen=True)
class Runtime:
    """An executor and the threads it may use; every kernel call goes through here.

    With `scratch`, a folder, arrays with an entry for each node or edge are files in it instead of memory.
    """

    executor: str = "cpu"
    threads: int = 1
    scratch: Path | None = None

    @property
    def module(self) -> ModuleType:
        """The executor's functions."""
        return import_module(EXECUTORS[self.executor])

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> Array:
        """Zeros with an entry for each node or edge."""
        if self.scratch is None or int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize < files.LEAST:
            return np.zeros(shape, dtype)
        return files.mapped(self.scratch, shape, dtype)

    def spread(self, total: int, work: Callable[[int, int], Any], size: int | None = None) -> None:
        """Call work(lo, hi) over `[0, total)` on all threads, in spans of `size`.

        Without a size there are several spans for each thread, so that none waits long for the last one.
        """
        size = size or max(min(SPAN, -(-total // (8 * self.threads))), min(SPAN, 1 << 12))
        pool.run((_bound(work, lo, hi) for lo, hi in pool.spans(total, size)), self.threads)

    def over_rows(self, rows: Rows, work: Callable[[Array, int, int], int | None], size: int = ROWS) -> None:
        """Call work(block, lo, hi) over all rows; a row number that it gives back is one that is not finite."""
        size = max(min(size, BLOCK_VALUES // max(rows.dim, 1)), 1)
        self.spread(rows.count, lambda lo, hi: check_row(rows, lo, work(rows.block(lo, hi), lo, hi)), size)


def check_row(rows: Rows, lo: int, bad: int | None) -> None:
    """Raise for row lo + bad, which a kernel found to be not finite; nothing to do when bad is None or -1."""
    if bad is not None and bad >= 0:
        raise not_finite(rows.name, rows.block(lo + bad, lo + bad + 1)[0], lo + bad)


def not_finite(name: str, row: Array, at: int) -> GraphError:
    """The error for a NaN or an infinity in row `at`."""
    value = row[~np.isfinite(row)][0]
    return GraphError(f"{name} must be finite in float32, got {value} in row {at}")


def _bound(work: Callable[[int, int], Any], lo: int, hi: int) -> pool.Job:
    return lambda: work(lo, hi)


def runtime(threads: int | None = None, executor: str | None = None) -> Runtime:
    """The runtime for `threads` (default LSPRUNE_THREADS, else all cores) and `executor` (default "cpu")."""
    name = executor or "cpu"
    if name not in EXECUTORS:
        raise OptionError(f"executor must be one of {', '.join(EXECUTORS)}, got {name!r}")
    run = Runtime(name, pool.count(threads))
    if name == "gpu":
        run.module.check_device()
    return run


class _Window:
    """A way to see an array's memory without its read-only flag."""

    def __init__(self, array: Array) -> None:
        self.owner = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.__array_interface__["data"][0], False)}


def plain(array: Array) -> Array:
    """The array in C order and without a read-only flag, copied only if it must be: for reading by kernels.

    numba compiles a kernel anew for read-only arrays (memory maps, Arrow columns); kernels write to no input anyway.
    """
    array = np.ascontiguousarray(array)
    return array if array.flags.writeable or array.size == 0 else np.asarray(_Window(array))


_COMPILED = tuple(np.dtype(kind) for kind in (np.int32, np.int64, np.float32, np.float64))  # in native byte order


def compress(mask: Array, array: Array, *, threads: int | None = None) -> Array:
    """array[..., mask], in parallel when it pays: `[E]` or, for edge_index, `[2, E]`.

    >>> compress(np.array([True, False, True]), np.array([[5, 6, 7], [1, 2, 3]])).tolist()
    [[5, 7], [1, 3]]
    """
    if mask.shape[0] < SPAN or array.ndim > 2 or array.dtype not in _COMPILED:
        return np.compress(mask, array, axis=-1)
    count = pool.count(threads)
    out = np.empty((*array.shape[:-1], int(np.count_nonzero(mask))), array.dtype)
    rows, places = ((array,), (out,)) if array.ndim == 1 else (tuple(array), tuple(out))
    runtime(count).module.compress(plain(mask), tuple(plain(row) for row in rows), places, count)
    return out


def compress_csr(indptr: Array, mask: Array) -> Array:
    """Row offsets of a CSR graph after `mask`, in the dtype of `indptr`."""
    rows = indptr.shape[0] - 1
    kept = np.zeros(rows + 1, np.int64)
    run, offsets, flags = runtime(), plain(indptr.astype(np.int64, copy=False)), plain(mask).view(np.uint8)
    run.spread(rows, lambda lo, hi: run.module.count_rows(offsets, flags, lo, hi, kept))
    return np.cumsum(kept).astype(indptr.dtype, copy=False)
