"""A process beside this one for what may crash the interpreter or ask for too much memory."""

from __future__ import annotations

import multiprocessing
import multiprocessing.util
import os
import resource
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from soak.check import Broken

MEMORY = 6 << 30  # bytes of addresses that the process may take beyond what its libraries do: some reserve a lot


class Isolated:
    """A process that serves many calls, since it takes seconds to start; a new one takes its place if it dies."""

    def __init__(self, prepare: Callable[[], None]) -> None:
        """Keep what the process does first."""
        self._prepare = prepare
        self._pool: ProcessPoolExecutor | None = None

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return function(*arguments), called in the process; raise `Broken` if it dies."""
        if self._pool is None:
            self._pool = new_pool(self._prepare)
        try:
            return self._pool.submit(function, *arguments).result()
        except BrokenProcessPool:
            self._pool = None
            raise Broken("the interpreter died") from None


def limit_memory() -> None:
    """Limit the memory, and leave out what only costs time: warnings, waiting for the disk, many resamples."""
    import lsprune.lab.reporting.statistics as statistics
    import soak.damaged_files  # noqa: F401

    warnings.simplefilter("ignore")
    os.fsync = lambda descriptor: None
    statistics.RESAMPLES = 50
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def new_pool(prepare: Callable[[], None] = limit_memory) -> ProcessPoolExecutor:
    """Return a pool of one new process, with limited memory unless it is prepared otherwise."""
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), prepare)
    # A process of a pool waits at its end for its own children, and these wait for work.
    multiprocessing.util.Finalize(None, pool.shutdown, exitpriority=100)
    return pool


run_isolated = Isolated(limit_memory).run
