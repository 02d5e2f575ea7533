"""The memory ceiling: a run is refused with the least size that would do, and with that size it stays below it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from lsprune.outofcore.memory_ceiling import parse_size
from soak.check import CannotRun, Check, expect
from soak.command_line import run

MAX_EDGES, MAX_NODES = 1_500_000, 300_000
OPTIONS = (
    ("--k", "4"), ("--keep", "0.3"), ("--k", "8", "--weights", "degree"), ("--keep", "0.5", "--symmetric", "union"),
    ("--keep", "0.2", "--pruner", "local-random"), ("--per-node", "share=0.3", "--side", "out"),
)  # fmt: skip


def memory_ceiling(number: int, folder: Path) -> int:
    """Ask for too little memory, then for what the error says; compare the peak with it."""
    if not Path("/proc/self/status").exists():
        raise CannotRun("there is no /proc")
    rng = np.random.default_rng([40, number])
    words = [*_write(rng, folder), *OPTIONS[number % len(OPTIONS)], "--stream", "--json", "--memory"]
    refused = run((*words, "50MB"), folder, folder / "refused")
    size = re.search(r"memory must be at least ([\d.]+ \w+)", refused.err)
    expect(refused.code == 1 and size is not None, f"50MB were not refused: {refused.code}, {refused.last_line}")
    assert size is not None
    expect(not list(folder.glob("out*")), "a run that was refused left files")
    done = run((*words, size[1]), folder, folder / "done")
    expect(done.code == 0, f"{size[1]} did not do: {done.last_line}")
    peak = json.loads(done.out)["peak_memory"]
    expect(0 < peak <= parse_size(size[1]), f"the peak is {peak:,} bytes with {size[1]}")
    return 3


def _write(rng: np.random.Generator, folder: Path) -> list[str]:
    """Write edges and features; return the words of a command up to its options."""
    nodes, edges = int(rng.integers(1_000, MAX_NODES)), int(rng.integers(100_000, MAX_EDGES))
    target = (nodes * rng.random(edges) ** float(rng.choice([1, 3]))).astype(np.int64)
    columns = {"source": rng.integers(0, nodes, edges), "target": target}
    parquet.write_table(pa.table(columns), folder / "in.parquet", row_group_size=int(rng.integers(50_000, 500_000)))
    np.save(folder / "x.npy", rng.standard_normal((nodes, int(rng.integers(1, 33))), dtype=np.float32))
    return [
        "prune",
        *(str(folder / name) for name in ("in.parquet", "out.parquet")),
        "--features",
        str(folder / "x.npy"),
    ]


CHECKS = (
    Check(
        name="memory-ceiling", promise="Memory ceiling",
        about="a ceiling too low is refused with the minimum; a run with that minimum stays below it",
        run_case=memory_ceiling, share=1.0, quick_cases=1,
    ),
)  # fmt: skip
