"""How benchmarks measure: everything in one process, turn by turn, the least of several runs."""

from __future__ import annotations

import argparse
import os
import platform
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
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


def sizes(description: str | None, argv: Sequence[str] | None = None) -> list[tuple[str, int, int]]:
    """(name, edges, nodes) of the graphs asked for on the command line; all by default."""
    return sizes_of(size_options(description).parse_args(argv))


def size_options(description: str | None) -> argparse.ArgumentParser:
    """A parser of the options that say which graphs to measure on."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--size", choices=[*SIZES, "all"], default="all")
    parser.add_argument("--edges", type=int, help="one graph with so many edges instead")
    parser.add_argument("--nodes", type=int, help="its nodes (default: a tenth of the edges)")
    return parser


def sizes_of(options: argparse.Namespace) -> list[tuple[str, int, int]]:
    """(name, edges, nodes) of the graphs that these options ask for."""
    if options.edges is not None:
        return [("own size", options.edges, options.nodes or max(options.edges // 10, 1))]
    return [(name, *SIZES[name]) for name in SIZES if options.size in (name, "all")]


def header(title: str, setting: str = f"k={K}, d={DIM}, float32") -> None:
    """Print what is measured and where."""
    cpu = platform.processor() or platform.machine()
    print(f"\n## {title}\n   {os.cpu_count()} cores ({cpu}), {THREADS} threads, {setting}")


def line(name: str, value: str, target: str = "") -> None:
    """Print one figure."""
    print(f"   {name:<52} {value:>16}   {target}")
