"""The same bits in other processes: optimised Python, other hash seeds, other CPUs, other versions of what we need."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from soak.check import CannotRun, Check
from soak.environments import built, worker_of
from soak.workers import Worker, compare


@cache
def _variants() -> tuple[Worker, ...]:
    """Start the processes once; they answer until this one ends."""
    threads = {"LSPRUNE_THREADS": "4", "NUMBA_NUM_THREADS": "4"}
    other_cpu = {"NUMBA_CPU_NAME": "x86-64", "OPENBLAS_CORETYPE": "Prescott", "LSPRUNE_THREADS": "1"}
    return (
        Worker("python -O", flags=["-O"], variables={"PYTHONHASHSEED": "1"}),
        Worker("another hash seed and 4 threads", variables={"PYTHONHASHSEED": "2", **threads}),
        Worker("code for any x86-64", variables={"PYTHONHASHSEED": "3", **other_cpu}),
    )


def processes(number: int, folder: Path) -> int:
    """Compare digests of three other processes with those of this one."""
    return compare(_variants(), number)


@cache
def _environments() -> tuple[Worker, ...]:
    if not (found := built()):
        raise CannotRun("no environment was built; make same-bits-environments builds some")
    return tuple(worker_of(python) for python in found)


def environments(number: int, folder: Path) -> int:
    """Compare digests of other versions of Python, numpy, scipy and numba with those of this process."""
    return compare(_environments(), number)


CHECKS = (
    Check(
        name="processes", promise="Same bits",
        about="python -O, other PYTHONHASHSEED, 4 threads, code compiled for any x86-64 CPU",
        run_case=processes, share=3.0, quick_cases=0,
    ),
    Check(
        name="environments", promise="Same bits",
        about="Python 3.11 to 3.13 with the lowest and the newest numpy, scipy and numba",
        run_case=environments, share=4.0, quick_cases=0,
    ),
)  # fmt: skip
