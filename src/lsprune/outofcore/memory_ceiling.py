"""How much memory a run may take, how much it will, and how much it takes: anonymous resident memory (RssAnon).

Files that are mapped into memory do not count: the system takes their pages back whenever it needs them.
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

__all__ = ["Ceiling", "check_disk", "parse_size", "release", "resident", "show_size", "watched"]

LEAST_ROWS = 1 << 14  # edges read at a time at least
MOST_ROWS = 1 << 21
_PROGRAM = (
    96 << 20
)  # compiled code, buffers of the file formats, tables of hash functions: beyond what is there already
_THREAD = 64 << 20  # keys and attribute rows of the block that a thread works on
_BLOCK = 1 << 18  # edges whose keys fit in that
_PAIRED = 320  # bytes for each edge of one owner: its pairs are made, and their ranks put in order, at one time
_FLAGS = 4  # bytes a node: who had an edge and who has one left


def resident() -> int:
    """Anonymous resident memory of this process in bytes; 0 where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    found = re.search(r"RssAnon:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


@dataclass(frozen=True)
class Ceiling:
    """The memory that a run may take, and what it began with."""

    limit: int
    begun: int  # resident memory when it began
    threads: int

    def rows(self, row_bytes: int, attr_bytes: int = 0) -> int:
        """Edges to read at a time; OptionError, with the least that would do, where the ceiling is too low.

        Args:
            row_bytes: of an edge with all its columns. attr_bytes: of those that describe it.
        """
        copies = 6 * row_bytes + 64  # as decoded, as checked, dealt out, and what the format's reader holds ahead
        blocks = self.threads * (1 << 16) * attr_bytes * 3  # the attributes of the edges whose keys are being made
        free = self.limit - self.needed() - blocks
        self.check(LEAST_ROWS * copies + blocks, "")
        most = max(min(free // 2 // copies, MOST_ROWS), LEAST_ROWS)
        return 1 << (most.bit_length() - 1)  # a round number, so that a little more memory in use changes nothing

    def needed(self) -> int:
        """What is needed whatever the graph."""
        return self.begun + _PROGRAM + self.threads * _THREAD

    def check(self, extra: int, why: str) -> None:
        """OptionError where `extra` bytes more than for any graph do not fit."""
        least = self.needed() + extra
        if least > self.limit:
            least = -(-least // 10**7) * 10**7
            raise OptionError(
                f"memory must be at least {show_size(least)}{why}, got {show_size(self.limit)}; fewer threads need less"
            )

    def check_graph(self, nodes: int, slots: int, pruner: PerOwner) -> None:
        """The same when the graph is known."""
        needs = pruner.needs
        extra = nodes * _FLAGS + slots * needs.edge_bytes + (0 if pruner.is_fitted else needs.fit_bytes)
        self.check(extra, f" to prune {slots:,} edges of {nodes:,} nodes with {pruner!r}")

    def check_owner(self, largest: int, pruner: PerOwner, edge_attr: bool) -> None:
        """The same when the owner with most edges is known, whose keys are made at one time unless they are its
        neighbours', and whose edges may have to be put in order."""
        if largest <= _BLOCK:
            return
        k, one_function = pruner.rules.k, pruner.functions_needed(2) == 1
        by_neighbour = pruner.needs.key_table and not edge_attr
        keys = 0 if by_neighbour else 3 * 8 * (1 if one_function else 16)
        ordered = one_function or pruner.symmetric or k is None or k > MAX_FUNCTIONS
        order = 3 * 8 + (_PAIRED if pruner.symmetric else 2 * 8) if ordered else 0
        self.check(largest * max(keys, order), f" for the {largest:,} edges of one owner with {pruner!r}")


def check_disk(folder: Path, needed: int, advice: str) -> None:
    """OptionError where the disk of `folder` has less than `needed` bytes left."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OptionError(
            f"{show_size(needed)} are needed on the disk of {folder}, {show_size(free)} are free; {advice}"
        )


@contextmanager
def watched(seconds: float = 0.01) -> Iterator[list[int]]:
    """A list whose one entry is the largest resident memory seen so far while the block runs."""
    peak, over = [resident()], threading.Event()

    def look() -> None:
        while not over.wait(seconds):
            peak[0] = max(peak[0], resident())

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()
        peak[0] = max(peak[0], resident())


def release() -> None:
    """Give back to the system what was freed, so that one stage's memory is not counted in the next."""
    if os.name == "posix":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
