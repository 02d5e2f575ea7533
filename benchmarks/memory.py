"""Peak extra memory from COO, and the time of the first call in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from common import DIM, SIZES, THREADS, K, header, line, size_options, sizes_of

CHILD = """
import sys, time
start = time.perf_counter()
import numpy as np
from lsprune import LSP, Graph
graph = Graph.from_edges(np.random.default_rng(0).integers(0, 99, (2, 1000)), x=np.eye(99, dtype=np.float32))
LSP(k=3).mask(graph)
print(time.perf_counter() - start)
"""

PEAK = """
import sys, tracemalloc
sys.path.insert(0, {here!r})
from graphs import features, power_law
from lsprune import LSP, Graph
def status(name):
    return next(int(text.split()[1]) * 1024 for text in open("/proc/self/status") if text.startswith(name))
edges, nodes = {edges}, {nodes}
graph = Graph.from_edges(power_law(edges, nodes), num_nodes=nodes, x=features(nodes, {dim}))
pruner = LSP(k={k}).fit(graph, threads={threads})
pruner.mask(Graph.from_edges(power_law(9999, 999), x=features(999, {dim})), threads={threads})
before = status("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
mask = pruner.mask(graph, threads={threads})
print((status("VmHWM") - before - mask.nbytes) / edges)
tracemalloc.start()
mask = pruner.mask(graph, threads={threads})
print((tracemalloc.get_traced_memory()[1] - mask.nbytes) / edges)
"""


def first_call(rounds: int) -> float:
    """Seconds from the start of the interpreter's work to the first mask, imports included, least of `rounds`."""
    command = [sys.executable, "-c", CHILD]
    runs = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(rounds + 1))
    times = [float(run.stdout) for run in runs]
    return min(times[1:])  # the first one may have filled the cache


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures of the graphs asked for, and those of the first call."""
    parser = size_options(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="first calls of which the fastest counts")
    options = parser.parse_args(argv)
    header("memory and first call")
    here = str(Path(__file__).parent)
    for name, edges, nodes in sizes_of(options):
        code = PEAK.format(here=here, edges=edges, nodes=nodes, dim=DIM, k=K, threads=THREADS)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        resident, allocated = map(float, done.stdout.split())
        line(f"peak extra memory allocated, {name} ({edges:,} edges)", f"{allocated:.1f} B/edge", "<= 20")
        if edges > SIZES["small"][0]:  # in a small one, what the process freed before hides it
            line("the same as resident memory of the process", f"{resident:.1f} B/edge", "<= 20")
    line("first call from a warm cache, imports included", f"{first_call(options.rounds):.2f} s", "<= 1.2")


if __name__ == "__main__":
    main()
