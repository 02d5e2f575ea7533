"""Executors by name, and work shared out over threads: the one place that dispatches to a kernel.

Every executor is a module with the functions of `kernels.reference`. numba and torch are imported when one is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from lsprune.checks import check_choice
from lsprune.errors import RowError
from lsprune.graph import Array
from lsprune.kernels import file_arrays
from lsprune.kernels import threads as pool

EXECUTORS = {
    "cpu": "lsprune.kernels.cpu",
    "reference": "lsprune.kernels.reference",
    "gpu": "lsprune.kernels.gpu.host_arrays",
}
BLOCK_ROWS = 2048  # attribute rows a thread takes at a time
BLOCK_VALUES = 1 << 22  # attribute values in a block at most: fewer rows where they are very wide
SPAN_EDGES = 1 << 18  # edges a thread takes at a time


class Rows(Protocol):
    """Attribute rows that can be read in blocks of float32."""

    @property
    def name(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def dim(self) -> int: ...

    def block(self, lo: int, hi: int) -> Array:
        """Return the rows lo..hi as float32 `[hi - lo, dim]`, C order."""


@dataclass(frozen=True)
class Runtime:
    """An executor and the threads it may use; every kernel call goes through here.

    With `scratch`, a folder, large arrays with an entry for each node or edge are files in it instead of memory. With
    `device`, a torch device, the arrays of the graph are tensors there, and `lsprune.device` selects.
    """

    executor: str = "cpu"
    threads: int = 1
    scratch: Path | None = None
    device: Any = None
    faults: list[tuple[Any, Any]] = field(default_factory=list, compare=False)  # rows, and the first that is not finite
    waiting: list[Callable[[], int]] | None = field(default=None, compare=False)  # checks that were put off

    @property
    def module(self) -> ModuleType:
        """Return the module with the executor's functions."""
        return import_module(EXECUTORS[self.executor])

    def later(self, check: Callable[[], int]) -> int:
        """Return check(), which waits for a device; put it off and return 0 where checks are put off."""
        if self.waiting is None:
            return check()
        self.waiting.append(check)
        return 0

    def catch_up(self) -> int:
        """Make the checks that were put off; return the sum of their numbers."""
        checks = list(self.waiting or ())
        if self.waiting is not None:
            self.waiting.clear()
        return sum(check() for check in checks)

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> Array:
        """Return an array of zeros with an entry for each node or edge."""
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        if self.scratch is None or size < file_arrays.MIN_FILE_BYTES:
            return np.zeros(shape, dtype)
        return file_arrays.array_in_file(self.scratch, shape, dtype)

    def spread(self, total: int, work: Callable[[int, int], Any], size: int | None = None) -> None:
        """Call work(lo, hi) over `[0, total)` on all threads, in spans of `size`.

        Without a size there are several spans for each thread, so that none waits long for the last one.
        """
        size = size or max(min(SPAN_EDGES, -(-total // (8 * self.threads))), min(SPAN_EDGES, 1 << 12))
        pool.run((pool.job(work, lo, hi) for lo, hi in pool.spans(total, size)), self.threads)

    def over_rows(self, rows: Rows, work: Callable[[Array, int, int], int | None], size: int = BLOCK_ROWS) -> None:
        """Call work(block, lo, hi) over all rows; raise GraphError if it returns a row, which is not finite."""
        size = max(min(size, BLOCK_VALUES // max(rows.dim, 1)), 1)
        self.spread(rows.count, lambda lo, hi: check_row(rows, lo, work(rows.block(lo, hi), lo, hi)), size)


def check_row(rows: Rows, lo: int, bad: int | None) -> None:
    """Raise GraphError for row lo + bad, which a kernel found to be not finite, unless bad is None or -1."""
    if bad is not None and bad >= 0:
        raise not_finite(rows.name, rows.block(lo + bad, lo + bad + 1)[0], lo + bad)


def not_finite(name: str, row: Array, at: int) -> RowError:
    """Return the error for a NaN or an infinity in row `at`."""
    value = row[~np.isfinite(row)][0]
    return RowError.at(f"{name} must be finite in float32, got {value}", name, at)


def runtime(threads: int | None = None, executor: str | None = None) -> Runtime:
    """Return the runtime for `threads` (default LSPRUNE_THREADS, else all cores) and `executor` (default "cpu")."""
    name = executor or "cpu"
    check_choice("executor", name, tuple(EXECUTORS))
    run = Runtime(name, pool.count(threads))
    if name == "gpu":
        run.module.check_device()
    return run
