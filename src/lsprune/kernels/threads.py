"""Threads for kernels: started for one call and gone after it, independent of those of numba, torch and BLAS."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib import import_module
from typing import Any

from lsprune.checks import is_whole, shown
from lsprune.errors import OptionError

Job = Callable[[], Any]
MAX_THREADS = 1024
_LIMIT: ContextVar[int | None] = ContextVar("lsprune_threads", default=None)


def count(threads: int | None = None) -> int:
    """Return the number of threads to use: the argument, else LSPRUNE_THREADS, else the cores this process may use.

    At most MAX_THREADS, because every thread needs memory for its kernels.
    """
    if threads is None:
        if (limit := _LIMIT.get()) is not None:
            return limit
        value = os.environ.get("LSPRUNE_THREADS", "").strip()
        if not value:
            return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
        if not (value.isascii() and value.isdigit() and len(value) < 10 and int(value) >= 1):
            raise OptionError(f"LSPRUNE_THREADS must be a whole number >= 1, got {shown(value)}")
        return min(int(value), MAX_THREADS)
    if not is_whole(threads) or threads < 1:
        raise OptionError(f"threads must be a whole number >= 1, got {shown(threads)}")
    return min(int(threads), MAX_THREADS)


@contextmanager
def using(threads: int) -> Iterator[None]:
    """Make `count()` without an argument return `threads`, within this block."""
    token = _LIMIT.set(threads)
    try:
        yield
    finally:
        _LIMIT.reset(token)


@contextmanager
def blas(threads: int) -> Iterator[None]:
    """Let BLAS use at most so many threads within this block.

    With one, sums of floats do not depend on the number of cores, and no thread waits for another: on a machine that is
    busy with other work, or lends a container few of its cores, vectors of 50,000 numbers take 100 times as long else.
    """
    with import_module("threadpoolctl").threadpool_limits(threads, user_api="blas"):
        yield


def job(function: Callable[..., Any], *args: Any) -> Job:
    """Return a job that calls function(*args)."""
    return lambda: function(*args)


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
    try:
        for helper in helpers:
            helper.start()
        work()
        for helper in helpers:
            helper.join()
    except BaseException as error:  # Ctrl-C between two jobs
        errors.append(error)
        _wait(helpers)
    if errors:
        raise errors[0]


def _wait(helpers: Iterable[threading.Thread]) -> None:
    """Wait for threads that are about to end, also if Ctrl-C comes again: none may write into what the caller frees."""
    for helper in helpers:
        while helper.is_alive():
            with suppress(KeyboardInterrupt):
                helper.join()


def spans(total: int, size: int) -> list[tuple[int, int]]:
    """Cut `[0, total)` into consecutive spans of at most `size`; return them as (lo, hi)."""
    return [(lo, min(lo + size, total)) for lo in range(0, total, size)]
