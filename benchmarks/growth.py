"""How time and memory grow with the number of edges: exponents for graphs of five shapes, three executors.

An exponent of 1 is linear growth, 2 is quadratic, 0 is none. Each measurement has a process of its own, which prunes a
small graph first, so that compiled code is loaded. Seconds are those of the processor, over all threads and processes,
least of several runs: a busy machine changes them less than those of the clock, which are printed beside them. The
part of the system, which gives out memory page by page, is printed beside them.

python benchmarks/growth.py                                                          # 1 M to 10 M edges, everything
python benchmarks/growth.py --sizes 1e6 1e7 1e8 --shapes uniform --executors memory  # one shape, larger
python benchmarks/growth.py --keep 0.5                                               # a share in place of k = 8
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from common import THREADS, header
from lsprune import LSP, Graph
from lsprune.pruners import Pruner

CHUNK, DIM = 1 << 22, 16
NODE_EDGES = 10  # edges for each node, but for the clique
GRAPH_NODES = 40  # of each small graph
SPARK_MEMORY = "2g"
WARM_EDGES = 20_000
IN_PROCESS_RUNS = 3  # in memory, where one run takes little time
Ends = tuple[np.ndarray, np.ndarray]


def uniform(rng: np.random.Generator, positions: np.ndarray, edges: int) -> Ends:
    """Both ends are any node with the same chance."""
    nodes = node_count("uniform", edges)
    return rng.integers(0, nodes, positions.size), rng.integers(0, nodes, positions.size)


def power_law(rng: np.random.Generator, positions: np.ndarray, edges: int) -> Ends:
    """Both ends are drawn with a probability ~ rank^-0.5; ids carry no order."""
    nodes = node_count("power-law", edges)
    ids = np.random.default_rng(1).permutation(nodes)
    first, second = (ids[(nodes * rng.random(positions.size) ** 2).astype(np.int64)] for _ in range(2))
    return first, second


def one_hub(rng: np.random.Generator, positions: np.ndarray, edges: int) -> Ends:
    """Node 0 is the target of half the edges."""
    source, target = uniform(rng, positions, edges)
    return source, np.where(rng.random(positions.size) < 0.5, 0, target)


def clique(rng: np.random.Generator, positions: np.ndarray, edges: int) -> Ends:
    """Every node has an edge to every node, as far as the edges go."""
    nodes = node_count("clique", edges)
    return positions // nodes, positions % nodes


def small_graphs(rng: np.random.Generator, positions: np.ndarray, edges: int) -> Ends:
    """Graphs of 40 nodes and 400 edges; in memory a batch of graphs, elsewhere one graph."""
    first = positions // (GRAPH_NODES * NODE_EDGES) * GRAPH_NODES
    source, target = (first + rng.integers(0, GRAPH_NODES, positions.size) for _ in range(2))
    return source, target


SHAPES: dict[str, Callable[[np.random.Generator, np.ndarray, int], Ends]] = {
    "uniform": uniform, "power-law": power_law, "one-hub": one_hub, "clique": clique, "small-graphs": small_graphs,
}  # fmt: skip


def node_count(shape: str, edges: int) -> int:
    """Return the number of nodes."""
    if shape == "clique":
        return int(np.ceil(np.sqrt(edges)))
    if shape == "small-graphs":
        return -(-edges // (GRAPH_NODES * NODE_EDGES)) * GRAPH_NODES
    return max(edges // NODE_EDGES, 2)


def generate(folder: Path, shape: str, edges: int) -> None:
    """Write edges.parquet and, for memory, edges.npy; x.npy and, for Spark, nodes.parquet."""
    rng, nodes = np.random.default_rng(0), node_count(shape, edges)
    both = np.lib.format.open_memmap(folder / "edges.npy", mode="w+", dtype=np.int32, shape=(2, edges))
    schema = pa.schema([("source", pa.int32()), ("target", pa.int32())])
    with pq.ParquetWriter(folder / "edges.parquet", schema, use_dictionary=False) as writer:
        for lo in range(0, edges, CHUNK):
            positions = np.arange(lo, min(lo + CHUNK, edges))
            ends = [end.astype(np.int32) for end in SHAPES[shape](rng, positions, edges)]
            both[:, lo : lo + CHUNK] = ends
            writer.write_table(pa.table(dict(zip(schema.names, ends, strict=True))), row_group_size=1 << 20)
    both.flush()
    x = rng.standard_normal((nodes, DIM), dtype=np.float32)
    np.save(folder / "x.npy", x)
    rows = pa.FixedSizeListArray.from_arrays(pa.array(x.reshape(-1)), DIM).cast(pa.list_(pa.float32()))
    pq.write_table(pa.table({"id": np.arange(nodes), "x": rows}), folder / "nodes.parquet", row_group_size=1 << 17)
    (folder / "graph.json").write_text(json.dumps({"shape": shape, "edges": edges, "nodes": nodes}))


# One measurement, in a process of its own


def in_memory(folder: Path, pruner: Pruner) -> dict[str, float]:
    """Prune arrays in memory; the peak is that of the process, less what it has without a graph."""
    about = json.loads((folder / "graph.json").read_text())
    graph_ptr = np.arange(0, about["nodes"] + 1, GRAPH_NODES) if about["shape"] == "small-graphs" else None
    warm = np.random.default_rng(0).integers(0, 2000, (2, WARM_EDGES)).astype(np.int32)
    pruner.mask(Graph.from_edges(warm, num_nodes=2000, x=np.ones((2000, DIM), np.float32)), threads=THREADS)
    Path("/proc/self/clear_refs").write_text("5")  # from here on the peak is that of the graph
    before = peak_of_process()
    ends, x = np.load(folder / "edges.npy"), np.load(folder / "x.npy")

    def work() -> int:
        graph = Graph.from_edges(ends, num_nodes=about["nodes"], x=x, ptr=graph_ptr)
        return int(pruner.mask(graph, threads=THREADS).sum())

    runs = [timed(work) for _ in range(IN_PROCESS_RUNS)]
    least = {name: min(run[name] for run in runs) for name in runs[0]}
    return {**least, "memory": peak_of_process() - before}


def streamed(folder: Path, pruner: Pruner) -> dict[str, float]:
    """Prune from file to file; the peak is that of anonymous memory, which has the ceiling."""
    from lsprune.outofcore import prune_stream

    warm = folder / "warm"
    warm.mkdir(exist_ok=True)
    generate(warm, "uniform", WARM_EDGES)
    peaks = []
    for here in (warm, folder):

        def work(here: Path = here) -> int:
            done = prune_stream(
                here / "edges.parquet", here / "out.parquet", pruner, features=here / "x.npy", memory="1GB",
                threads=THREADS,
            )  # fmt: skip
            peaks.append(done.peak_memory)
            return done.kept

        figures = timed(work)
    return {**figures, "memory": peaks[-1]}


def on_spark(folder: Path, pruner: Pruner) -> dict[str, float]:
    """Prune on Spark local[2], from file to file; the peak is that of Java and all Python workers, sampled."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    running = SparkSession.getActiveSession()
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", SPARK_MEMORY)
    session = running or builder.config("spark.log.level", "ERROR").getOrCreate()
    warm = folder / "warm"
    warm.mkdir(exist_ok=True)
    generate(warm, "uniform", WARM_EDGES)
    spark_work(session, warm, pruner)
    with Sampled() as sampled:
        figures = timed(lambda: spark_work(session, folder, pruner))
    if running is None:
        session.stop()
    return {**figures, "memory": sampled.peak}


def spark_work(session: Any, folder: Path, pruner: Pruner) -> int:
    """Prune the tables of a folder; return the number of edges kept."""
    from lsprune.spark import prune_spark

    edges, nodes = (session.read.parquet(str(folder / name)) for name in ("edges.parquet", "nodes.parquet"))
    prune_spark(edges, nodes, pruner).write.parquet(str(folder / "kept"), mode="overwrite")
    return sum(pq.ParquetFile(file).metadata.num_rows for file in (folder / "kept").glob("*.parquet"))


MEASURES = {"time": "processor", "memory": "memory"}
EXECUTORS = {"memory": in_memory, "stream": streamed, "spark": on_spark}


def timed(work: Callable[[], int]) -> dict[str, float]:
    """Return the edges kept, and the seconds of the clock, of the processor, and of these those in the system."""
    clock, before = time.perf_counter(), processor_seconds()
    kept = work()
    total, system = (after - start for after, start in zip(processor_seconds(), before, strict=True))
    return {"kept": kept, "clock": time.perf_counter() - clock, "processor": total, "system": system}


def peak_of_process() -> int:
    """Return the largest resident memory that this process has had, in bytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def family(*, with_self: bool) -> Iterator[list[str]]:
    """Yield the fields of /proc/PID/stat, from the state on, of all processes that this one started, and of itself."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            stats[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
    found = {os.getpid()}
    while more := {pid for pid, fields in stats.items() if int(fields[1]) in found} - found:
        found |= more
    yield from (stats[pid] for pid in found if pid in stats and (with_self or pid != os.getpid()))


def processor_seconds() -> tuple[float, float]:
    """Return what this process and its children have used so far, and how much of that in the system (less exact).

    Those that have ended are included.
    """
    tick, own = os.sysconf("SC_CLK_TCK"), resource.getrusage(resource.RUSAGE_SELF)
    others = [[int(field) / tick for field in fields[11:15]] for fields in family(with_self=False)]
    system = own.ru_stime + sum(fields[1] + fields[3] for fields in others)
    return time.process_time() + sum(map(sum, others)), system  # process_time is finer than a tick


class Sampled:
    """The largest sum of the resident memory of this process and its children, looked at every 50 ms."""

    def __enter__(self) -> Sampled:
        self.peak, self._stop = 0, threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        while not self._stop.wait(0.05):
            self.peak = max(self.peak, page * sum(int(fields[21]) for fields in family(with_self=True)))


# All of them


def measure(folder: Path, executor: str, keep: float | None, runs: int) -> dict[str, float]:
    """Return the least of several processes."""
    command = [sys.executable, __file__, "--measure", str(folder), "--executors", executor]
    command += [] if keep is None else ["--keep", str(keep)]
    found = []
    for _ in range(runs):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{executor} failed in {folder}:\n{done.stderr[-2000:]}")
        found.append(json.loads(done.stdout.splitlines()[-1]))
    return {name: min(one[name] for one in found) for name in found[0]}


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return the slope of a line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-9)), 1)[0])


def show(shape: str, executor: str, sizes: Sequence[int], found: Sequence[dict[str, float]]) -> None:
    """Print the figures of every size, and the exponents: over all sizes, and between the two largest."""
    print(f"\n{shape}, {executor}")
    for edges, one in zip(sizes, found, strict=True):
        print(
            f"   {edges:>12,} edges   {one['processor']:7.2f} s of processor ({one['system']:.2f} in the system)   "
            f"{one['clock']:7.2f} s of clock   {one['memory'] / 1e6:6.0f} MB   kept {int(one['kept']):,}"
        )
    if len(sizes) > 1:
        for name, key in MEASURES.items():
            values = [one[key] for one in found]
            label = f"{shape}, {executor}: exponent of {name}"
            over_all, at_end = exponent(sizes, values), exponent(sizes[-2:], values[-2:])
            print(f"   {label:<60} {over_all:6.2f}   at the end {at_end:6.2f}")


def main(argv: Sequence[str] | None = None) -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e6, 3e6, 1e7], help="numbers of edges")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--executors", nargs="+", choices=EXECUTORS, default=list(EXECUTORS))
    parser.add_argument("--keep", type=float, help="prune with LSP(keep=SHARE) in place of LSP(k=8)")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where to put the files (default: a temporary folder)")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)  # one measurement, of the graph in this folder
    options = parser.parse_args(argv)
    pruner = LSP(k=8) if options.keep is None else LSP(keep=options.keep)
    if options.measure is not None:
        print(json.dumps(EXECUTORS[options.executors[0]](options.measure, pruner)))
        return
    header("growth with the number of edges", f"{pruner!r}, d={DIM}, float32")
    sizes = sorted(int(size) for size in options.sizes)
    for shape in options.shapes:
        found: dict[str, list[dict[str, float]]] = {executor: [] for executor in options.executors}
        for edges in sizes:
            folder = Path(tempfile.mkdtemp(prefix="lsprune-growth-", dir=options.folder))
            try:
                generate(folder, shape, edges)
                for executor in options.executors:
                    found[executor].append(measure(folder, executor, options.keep, options.runs))
            finally:
                shutil.rmtree(folder)
        for executor in options.executors:
            show(shape, executor, sizes, found[executor])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
