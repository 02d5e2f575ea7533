"""The selection kernel alone against the floor: a pure gather of the same table rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numba import njit

from common import DIM, THREADS, K, header, least, line, sizes
from graphs import features, power_law
from lsprune import LSP, Graph
from lsprune.kernels import runtime
from lsprune.kernels.cpu.intrinsics import prefetch
from lsprune.selection.budget import quotas
from lsprune.selection.choose import choose
from lsprune.selection.owners import group, over_owners


@njit(nogil=True)
def gather(lo, hi, indptr, neighbour, table, k, out):
    """Read every row that selection must read (owners with more than k edges), once, and add it up in registers."""
    sums = np.zeros(8, np.int32)
    last = neighbour.shape[0] - 1
    for u in range(lo, hi):
        if indptr[u + 1] - indptr[u] > k:
            for slot in range(indptr[u], indptr[u + 1]):
                prefetch(table, neighbour[min(slot + 12, last)])
                row = neighbour[slot]
                for z in range(8):
                    sums[z] += table[row, z]
    out[0] += sums[0]


@njit(nogil=True)
def gather_out(lo, hi, neighbour, table, out):
    """Read the row of every edge and write it out in edge order."""
    last = neighbour.shape[0] - 1
    for slot in range(lo, hi):
        prefetch(table, neighbour[min(slot + 12, last)])
        for z in range(8):
            out[slot, z] = table[neighbour[slot], z]


def measure(name: str, edges: int, nodes: int) -> None:
    """Print the figures for one graph."""
    graph = Graph.from_edges(power_law(edges, nodes), num_nodes=nodes, x=features(nodes, DIM))
    run, pruner = runtime(THREADS), LSP(k=K).fit(graph)
    owned = group(graph, pruner, run)
    source = pruner.key_source(graph, owned, run)
    keys = source.keys(0, K, K)
    ready = dataclasses.replace(source, keys=lambda first, count, total: keys)
    quota, none = quotas(owned.indptr, graph, pruner, run), np.empty(0, np.int64)
    total, wide = np.zeros(1, np.int64), np.empty((owned.neighbour.shape[0], 8), np.int32)
    tasks = {
        "sum": lambda: over_owners(
            owned, run, lambda lo, hi: gather(lo, hi, owned.indptr, owned.neighbour, keys.table, K, total)
        ),
        "select": lambda: choose(owned, quota, ready, none, 0, run, ranked=False),
        "copy": lambda: run.spread(
            owned.neighbour.shape[0], lambda lo, hi: gather_out(lo, hi, owned.neighbour, keys.table, wide)
        ),
    }
    taken = tasks["select"]()
    assert np.count_nonzero(taken) == np.minimum(np.diff(owned.indptr), K).sum(), "every owner keeps k, or all it has"
    least(tasks, rounds=1)
    times = least(tasks, rounds=9)
    header(f"selection kernel alone, {name}: {edges:,} edges, {nodes:,} nodes")
    line("gather, same rows, summed in registers", f"{times['sum'] * 1e3:.1f} ms")
    line("gather, row of every edge, written out", f"{times['copy'] * 1e3:.1f} ms")
    line("selection", f"{times['select'] * 1e3:.1f} ms")
    line("rate of selection / rate of the summed gather", f"{times['sum'] / times['select']:.2f}", ">= 0.5")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures of the graphs asked for."""
    for size in sizes(__doc__, argv):
        measure(*size)


if __name__ == "__main__":
    main()
