"""The memory ceiling of a run: what it may use, what it will need, and what it uses.

All of it is anonymous resident memory (RssAnon). Memory-mapped files do not count: the operating system takes their
pages back whenever it needs them.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lsprune.errors import OptionError
from lsprune.files.memory_budget import parse_size, show_size
from lsprune.pruners import PerOwner
from lsprune.selection.choose import MAX_FUNCTIONS

__all__ = ["Ceiling", "check_disk", "parse_size", "resident", "return_freed_memory", "show_size", "watched"]

MIN_BATCH_ROWS, MAX_BATCH_ROWS = 1 << 14, 1 << 21  # edges that are read at a time
_PROGRAM_BYTES = 96 << 20  # compiled code, buffers of the file formats, tables of hash functions
_THREAD_BYTES = 64 << 20  # keys and attribute rows of the block that a thread works on
_THREAD_EDGES = 1 << 18  # edges of one owner whose keys fit in _THREAD_BYTES
_PAIRED_EDGE_BYTES = 320  # for each edge of one owner while its pairs are formed and their ranks sorted
_NODE_FLAG_BYTES = 4  # for each node: had it an edge, has it one left


def resident() -> int:
    """Return the anonymous resident memory of this process in bytes; 0 if the system does not report it."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    match = re.search(r"RssAnon:\s+(\d+) kB", status)
    return int(match[1]) * 1024 if match else 0


@dataclass(frozen=True)
class Ceiling:
    """The memory that a run may use, and what the process used when the run began."""

    limit: int  # bytes
    initial: int  # resident bytes when the run began
    threads: int

    def rows(self, row_bytes: int, attr_bytes: int = 0) -> int:
        """Return the number of edges to read at a time; raise OptionError, with the minimum, if the ceiling is too low.

        Args:
            row_bytes: of an edge with all its columns. attr_bytes: of its attributes.
        """
        copies = 6 * row_bytes + 64  # as decoded, checked and grouped, and what the reader of the format prefetches
        blocks = self.threads * (1 << 16) * attr_bytes * 3  # the attributes of the edges whose keys are being computed
        free = self.limit - self.needed() - blocks
        self.check(MIN_BATCH_ROWS * copies + blocks, "")
        rows = max(min(free // 2 // copies, MAX_BATCH_ROWS), MIN_BATCH_ROWS)
        return 1 << (rows.bit_length() - 1)  # a power of two, so that a little more memory in use changes nothing

    def needed(self) -> int:
        """Return the bytes that any graph needs."""
        return self.initial + _PROGRAM_BYTES + self.threads * _THREAD_BYTES

    def check(self, extra: int, reason: str) -> None:
        """Raise OptionError if `extra` bytes do not fit beside those that any graph needs."""
        least = self.needed() + extra
        if least > self.limit:
            least = -(-least // 10**7) * 10**7
            raise OptionError(
                f"memory must be at least {show_size(least)}{reason}, got {show_size(self.limit)}; "
                "fewer threads need less"
            )

    def check_graph(self, nodes: int, slots: int, pruner: PerOwner) -> None:
        """Raise OptionError if a graph of this size does not fit."""
        needs = pruner.needs
        extra = nodes * _NODE_FLAG_BYTES + slots * needs.edge_bytes + (0 if pruner.is_fitted else needs.fit_bytes)
        self.check(extra, f" to prune {slots:,} edges of {nodes:,} nodes with {pruner!r}")

    def check_owner(self, edges: int, pruner: PerOwner, edge_attr: bool) -> None:
        """Raise OptionError if an owner with so many edges does not fit.

        The keys of an owner's edges are computed together, unless they are looked up by neighbour, and its edges may
        have to be sorted.
        """
        if edges <= _THREAD_EDGES:
            return
        k, one_function = pruner.rules.k, pruner.functions_needed(2) == 1
        by_neighbour = pruner.needs.key_table and not edge_attr
        keys = 0 if by_neighbour else 3 * 8 * (1 if one_function else 16)
        is_sorted = one_function or pruner.symmetric or k is None or k > MAX_FUNCTIONS
        order = 3 * 8 + (_PAIRED_EDGE_BYTES if pruner.symmetric else 2 * 8) if is_sorted else 0
        self.check(edges * max(keys, order), f" for the {edges:,} edges of one owner with {pruner!r}")


def check_disk(folder: Path, needed: int, advice: str) -> None:
    """Raise OptionError if the disk of `folder` has less than `needed` bytes free."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OptionError(
            f"{show_size(needed)} are needed on the disk of {folder}, {show_size(free)} are free; {advice}"
        )


@contextmanager
def watched(seconds: float = 0.01) -> Iterator[list[int]]:
    """Yield a list whose single entry is the peak of resident memory while the block runs, measured every `seconds`."""
    peak, finished = [resident()], threading.Event()

    def measure() -> None:
        while not finished.wait(seconds):
            peak[0] = max(peak[0], resident())

    thread = threading.Thread(target=measure, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        finished.set()
        thread.join()
        peak[0] = max(peak[0], resident())


def return_freed_memory() -> None:
    """Return freed memory to the system, so that the memory of a stage is not counted in the next one."""
    if os.name == "posix":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
