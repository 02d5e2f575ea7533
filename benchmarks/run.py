"""Every benchmark, one process each; prints the figures of benchmarks/README.md.

A benchmark that fails does not stop the others: what failed is said at the end, and the exit status is 1. `--tiny` runs
all of them on graphs so small that the figures mean nothing, to see that they work.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent
GRAPH = ("--edges", "20000", "--nodes", "2000")

# Each benchmark, and the options that make it tiny.
TINY: dict[str, tuple[str, ...]] = {
    "speed": GRAPH,
    "kernel": GRAPH,
    "naive": ("--edges", "20000", "--naive-edges", "1000"),
    "memory": (*GRAPH, "--rounds", "1"),
    "networkit_similarity": GRAPH,
    "resistance": ("--edges", "1000", "--nodes", "150"),
    "similarity": GRAPH,
    "codebook": ("5000", "--words", "32", "64"),
    "auto": ("--classes", "3", "--samples", "60"),
    "consistency": ("--classes", "3", "--samples", "45", "--each", "6"),
    "order": ("--graphs", "200", "--seeds", "1"),
    "stream": ("--edges", "20000", "--nodes", "2000", "--dim", "4", "--runs", "1"),
    "hub": ("--edges", "20000"),
    "growth": (
        "--sizes",
        "2000",
        "20000",
        "--shapes",
        "small-graphs",
        "--executors",
        "memory",
        "stream",
        "--runs",
        "1",
    ),
    "tables": ("--edges", "2000"),
    "gpu": ("--edges", "20000", "--device", "cpu", "--rounds", "1"),
    "products": ("--graphs", "generated", "--keep", "0.2", "--seeds", "1", "--epochs", "6"),
    "choosing": ("--graphs", "noisy-links", "--epochs", "1", "--rounds", "1"),
    "epoch": ("--studies", "demo", "--epochs", "1", "--limit", "8"),
    "gpu_graphs": ("--graphs", "40", "--device", "cpu", "--rounds", "1"),
    "gpu_learning": ("--edges", "3000", "--words", "100", "--device", "cpu", "--rounds", "1"),
    "spark": ("--edges", "2000"),
}


def failures(commands: Mapping[str, Sequence[str]], folder: Path = HERE) -> dict[str, int]:
    """Run the scripts of a folder one after the other; return the exit status of each one that failed."""
    statuses = {
        name: subprocess.run([sys.executable, str(folder / f"{name}.py"), *options]).returncode
        for name, options in commands.items()
    }
    return {name: status for name, status in statuses.items() if status}


def main(argv: Sequence[str] | None = None) -> None:
    """Run all benchmarks; SystemExit if any of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="on graphs that are too small to say anything")
    tiny = parser.parse_args(argv).tiny
    failed = failures({name: options if tiny else () for name, options in TINY.items()})
    if failed:
        sys.exit(f"{len(failed)} of {len(TINY)} benchmarks failed: " + ", ".join(
            f"{name} (exit status {status})" for name, status in failed.items()))  # fmt: skip
    print(f"\nall {len(TINY)} benchmarks ran")


if __name__ == "__main__":
    main()
