"""How benchmarks measure: everything in one process, turn by turn, the least of several runs."""

from __future__ import annotations

import argparse
import os
import platform
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

warnings.simplefilter("ignore")  # a benchmark graph is undirected and has nodes to isolate: nothing to warn about here

THREADS = int(os.environ.get("LSPRUNE_THREADS", "2"))
SIZES = {"small": (1_000_000, 100_000), "large": (10_000_000, 1_000_000)}
DIM, K = 128, 8


def least(tasks: Mapping[str, Callable[[], Any]], rounds: int = 7) -> dict[str, float]:
    """The least seconds of each task over `rounds`, the tasks taking turns so that noise meets all of them."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def sizes(description: str) -> list[tuple[str, int, int]]:
    """(name, edges, nodes) of the graphs asked for on the command line; all by default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--size", choices=[*SIZES, "all"], default="all")
    chosen = parser.parse_args().size
    return [(name, *SIZES[name]) for name in SIZES if chosen in (name, "all")]


def header(title: str) -> None:
    """Print what is measured and where."""
    cpu = platform.processor() or platform.machine()
    print(f"\n## {title}\n   {os.cpu_count()} cores ({cpu}), {THREADS} threads, k={K}, d={DIM}, float32")


def line(name: str, value: str, target: str = "") -> None:
    """Print one figure."""
    print(f"   {name:<52} {value:>16}   {target}")
