"""What all stages of a streamed run share: the pruner, the memory ceiling, the work folder and the batch size."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from lsprune.files import EdgeFiles
from lsprune.graph import Array, oriented
from lsprune.kernels import Runtime, plain
from lsprune.outofcore.grouping import EdgeCounts
from lsprune.outofcore.memory_ceiling import Ceiling, return_freed_memory
from lsprune.outofcore.work_folder import Work
from lsprune.pruners import PerOwner
from lsprune.selection.self_loops import loops_count, uncounted_loops_stay

Say = Callable[[str], None]  # called with a line of text for the user
Sizes = tuple[int, int]  # numbers of sources and of targets; equal if these are one kind of nodes
KnownSizes = tuple[int | None, int | None]  # the same before the edges are read; None: not known


@dataclass(frozen=True, eq=False)
class StreamContext:
    """What all stages of a run share."""

    pruner: PerOwner
    ceiling: Ceiling
    work: Work
    runtime: Runtime
    rows: int  # edges that are read at a time
    two_kinds: bool  # sources and targets are two kinds of nodes
    say: Say
    seconds: dict[str, float] = field(default_factory=dict)  # of each stage

    @classmethod
    def of(cls, pruner: PerOwner, ceiling: Ceiling, work: Work, edges: EdgeFiles, say: Say) -> StreamContext:
        """Return the context of a new or resumed run."""
        if "rows" not in work.done:  # the bytes of an output file may depend on how many rows are written at a time
            work.finish("rows", ceiling.rows(edges.row_bytes, attribute_bytes(edges)))
        runtime = Runtime("cpu", ceiling.threads, work.scratch)
        return cls(pruner, ceiling, work, runtime, work.done["rows"], edges.limits is not None, say)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the time of a stage, and return its memory to the system."""
        started = time.perf_counter()
        yield
        return_freed_memory()
        self.seconds[name] = round(time.perf_counter() - started, 3)

    @property
    def skip_loops(self) -> bool:
        """Whether self-loops take no part in the selection."""
        return not loops_count(self.pruner.self_loops, bipartite=self.two_kinds)

    def uncounted_self_loops(self, counts: EdgeCounts) -> int:
        """Return the number of self-loops that are kept and that no budget counts."""
        return counts.edges - counts.slots if uncounted_loops_stay(self.pruner.self_loops) else 0

    def owners_and_neighbours(self, source: Array, target: Array) -> tuple[Array, Array]:
        """Return the owner and the neighbour of each edge."""
        return oriented(self.pruner.side, plain(source), plain(target))

    def sizes(self, known: KnownSizes, counts: EdgeCounts) -> Sizes:
        """Return the numbers of sources and of targets: as known, else the largest id + 1."""
        # `oriented` works both ways: from (owner's, neighbour's) to (source's, target's)
        ends = oriented(self.pruner.side, *counts.largest_of_ends)
        largest = ends if self.two_kinds else (counts.largest, counts.largest)
        first, second = (size or most + 1 for size, most in zip(known, largest, strict=True))
        return first, second

    def num_nodes(self, sizes: Sizes) -> int:
        """Return the number of nodes of all kinds."""
        return sum(sizes) if self.two_kinds else sizes[0]


def attribute_bytes(edges: EdgeFiles) -> int:
    """Return the bytes of the attributes of an edge, and of its columns that are asked for by name."""
    columns = sum(dtype.itemsize for dtype in edges.columns.values())
    return columns + (0 if edges.attr_dtype is None else edges.attr_dtype.itemsize * math.prod(edges.attr_shape or ()))
