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
_pool: ProcessPoolExecutor | None = None


def run_isolated(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return function(*arguments), called in a process with limited memory; raise `Broken` if the process dies."""
    global _pool  # one process serves many cases: it takes seconds to start
    if _pool is None:
        _pool = new_pool()
    try:
        return _pool.submit(function, *arguments).result()
    except BrokenProcessPool:
        _pool = None
        raise Broken("the interpreter died") from None


def new_pool() -> ProcessPoolExecutor:
    """Return a pool of one new process with limited memory."""
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _prepare)
    # A process of a pool waits at its end for its own children, and these wait for work.
    multiprocessing.util.Finalize(None, pool.shutdown, exitpriority=100)
    return pool


def _prepare() -> None:
    """Limit the memory, and leave out what only costs time: warnings, waiting for the disk, many resamples."""
    import lsprune.lab.reporting.statistics as statistics
    import soak.damaged_files  # noqa: F401

    warnings.simplefilter("ignore")
    os.fsync = lambda descriptor: None
    statistics.RESAMPLES = 50
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
