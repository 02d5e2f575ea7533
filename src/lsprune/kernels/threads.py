"""Threads for kernels: started for one call, gone after it, whatever numba, torch and BLAS are set to."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from lsprune.checks import is_whole, shown
from lsprune.errors import OptionError

Job = Callable[[], Any]
MOST = 1024  # threads
_LIMIT: ContextVar[int | None] = ContextVar("lsprune_threads", default=None)


def count(threads: int | None = None) -> int:
    """The number of threads to use: the argument, else LSPRUNE_THREADS, else the cores this process may use.

    At most MOST: every thread has a share of the memory that kernels take.
    """
    if threads is None:
        if (limit := _LIMIT.get()) is not None:
            return limit
        given = os.environ.get("LSPRUNE_THREADS", "").strip()
        if not given:
            return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
        if not (given.isascii() and given.isdigit() and len(given) < 10 and int(given) >= 1):
            raise OptionError(f"LSPRUNE_THREADS must be a whole number >= 1, got {shown(given)}")
        return min(int(given), MOST)
    if not is_whole(threads) or threads < 1:
        raise OptionError(f"threads must be a whole number >= 1, got {shown(threads)}")
    return min(int(threads), MOST)


@contextmanager
def using(threads: int) -> Iterator[None]:
    """Within this block, `count()` without an argument is `threads`."""
    token = _LIMIT.set(threads)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def run(jobs: Iterable[Job], threads: int) -> None:
    """Run every job; the calling thread takes part. The first error stops the rest and is raised here."""
    listed = list(jobs)
    waiting = iter(listed)
    lock = threading.Lock()
    errors: list[BaseException] = []

    def work() -> None:
        while not errors:
            with lock:
                job = next(waiting, None)
            if job is None:
                return
            try:
                job()
            except BaseException as error:  # handed to the caller below
                errors.append(error)

    helpers = [threading.Thread(target=work, daemon=True) for _ in range(min(threads, len(listed)) - 1)]
    for helper in helpers:
        helper.start()
    work()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[0]


def spans(total: int, size: int) -> list[tuple[int, int]]:
    """`[0, total)` cut into consecutive spans of at most `size`."""
    return [(lo, min(lo + size, total)) for lo in range(0, total, size)]
