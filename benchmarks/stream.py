"""Pruning from disk: seconds and memory of `lsprune prune --stream`, against the same command in memory.

python benchmarks/stream.py                                                        # 100 M edges, both ways
python benchmarks/stream.py --edges 1e9 --nodes 5e7 --dim 16 --k 4 --only-stream
python benchmarks/stream.py --sorted                                               # edges that come by owner: one pass
python benchmarks/stream.py --beyond                                               # 2.15 G edges in a sparse file
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from lsprune import LSP, Graph
from lsprune.outofcore.memory_ceiling import show_size
from lsprune.outofcore.stream import prune_stream

CHUNK = 1 << 22
MIDDLE, BEYOND = 1 << 31, 2_150_000_000  # a position that 32 bits cannot hold, and edges to go past it


def generate(folder: Path, edges: int, nodes: int, dim: int, ordered: bool) -> None:
    """A Parquet file of random sources and skewed targets, int32, and float32 features; seed 0."""
    rng = np.random.default_rng(0)
    schema = pa.schema([("source", pa.int32()), ("target", pa.int32())])
    with parquet.ParquetWriter(folder / "edges.parquet", schema, use_dictionary=False) as writer:
        for lo in range(0, edges, CHUNK):
            count = min(CHUNK, edges - lo)
            place = np.sort(lo + count * rng.random(count)) / edges if ordered else rng.random(count)
            ends = rng.integers(0, nodes, count), np.minimum(nodes * place**2, nodes - 1)
            table = dict(zip(schema.names, (end.astype(np.int32) for end in ends), strict=True))
            writer.write_table(pa.table(table), row_group_size=1 << 20)
    x = np.lib.format.open_memmap(folder / "x.npy", mode="w+", dtype=np.float32, shape=(nodes, dim))
    for lo in range(0, nodes, CHUNK):
        x[lo : lo + CHUNK] = rng.standard_normal((min(CHUNK, nodes - lo), dim), dtype=np.float32)


def run(folder: Path, k: int, *more: str) -> tuple[float, dict[str, Any]]:
    """Seconds of one command, from start to exit, and its report."""
    command = [
        sys.executable, "-m", "lsprune", "prune", folder / "edges.parquet", folder / "out.parquet", "--features",
        folder / "x.npy", "--k", str(k), "--json", *more,
    ]  # fmt: skip
    begun = time.perf_counter()
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True)
    return time.perf_counter() - begun, json.loads(done.stdout)


def compare(folder: Path, options: argparse.Namespace) -> None:
    """Both ways in turn, the least of several runs, and what moved."""
    stream, memory = [], []
    for _ in range(options.runs):
        stream.append(run(folder, options.k, "--stream", "--memory", options.memory))
        if not options.only_stream:
            memory.append(run(folder, options.k))
            assert stream[-1][1]["kept"] == memory[-1][1]["kept"]
    seconds, report = min(stream, key=lambda one: one[0])
    edges = report["edges"]
    print(f"{edges:,} edges, {report['nodes']:,} nodes, kept {report['share']:.1%}, ceiling {options.memory}")
    print(f"stream     {seconds:8.1f} s   {edges / seconds / 1e6:.1f} M edges/s   stages {report['stages']}")
    print(f"peak memory (RssAnon, all runs) {show_size(max(one['peak_memory'] for _, one in stream))}")
    for name, size in (
        ("input", (folder / "edges.parquet").stat().st_size), ("features", (folder / "x.npy").stat().st_size),
        ("scratch", report["disk"]), ("output", (folder / "out.parquet").stat().st_size),
    ):  # fmt: skip
        print(f"{name:10} {show_size(size):>10}   {size / edges:.1f} bytes per edge")
    if memory:
        least = min(one for one, _ in memory)
        print(f"in memory  {least:8.1f} s   ratio stream / memory {seconds / least:.2f}")


def beyond(folder: Path, edges: int = BEYOND, middle: int = MIDDLE, memory: str = "1GB") -> None:
    """A sparse .npy of 2.15 G edges, self-loops of node 0 but for some marked edges around position 2^31."""
    nodes = 1000
    rng = np.random.default_rng(0)
    marked = np.unique(np.concatenate([middle + rng.integers(-500, 500, 400), [0, 1, edges - 1]]))
    ends = np.stack([rng.integers(1, nodes, marked.size), rng.integers(1, 40, marked.size)]).astype(np.int32)
    path = folder / "edges.npy"
    np.lib.format.open_memmap(path, mode="w+", dtype=np.int32, shape=(2, edges))  # nothing is written but the header
    both = np.lib.format.open_memmap(path, mode="r+")
    both[:, marked] = ends
    del both
    pruner = LSP(k=3, hash="identity", self_loops="drop")
    begun = time.perf_counter()
    found = prune_stream(path, folder / "out.npy", pruner, num_nodes=nodes, memory=memory, say=print)
    seconds = time.perf_counter() - begun
    kept = pruner.mask(Graph.from_edges(ends, num_nodes=nodes))
    assert np.array_equal(np.load(folder / "out.npy"), ends[:, kept]), "the marked edges are not those of memory"
    print(f"{found.edges:,} edges in {seconds:.0f} s: kept {found.kept} of {marked.size} marked ones, as in memory")
    print(f"peak memory {show_size(found.peak_memory)}, stages {found.stages}")


def main(argv: Sequence[str] | None = None) -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=float, default=1e8)
    parser.add_argument("--nodes", type=float, default=1e7)
    parser.add_argument("--dim", type=int, default=32)
    parser.add_argument("--k", type=int, default=8)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where to put the files (default: a temporary folder)")
    parser.add_argument("--only-stream", action="store_true", help="not in memory too")
    parser.add_argument("--sorted", action="store_true")
    parser.add_argument("--beyond", action="store_true")
    options = parser.parse_args(argv)
    folder = Path(tempfile.mkdtemp(dir=options.folder))
    try:
        needed = options.edges * (8 + 22) + options.nodes * (options.dim * 4 + 100)
        if shutil.disk_usage(folder).free < needed:
            sys.exit(f"{show_size(needed)} of disk are needed; give a smaller --edges, or another --folder")
        if options.beyond:
            beyond(folder)
            return
        generate(folder, int(options.edges), int(options.nodes), options.dim, options.sorted)
        compare(folder, options)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
