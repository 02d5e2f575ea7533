"""What a hub costs: a star whose centre keeps half of its edges, and a symmetric one with an edge that occurs twice."""

from __future__ import annotations

import argparse

import numpy as np

from common import THREADS, header, least, line
from lsprune import LSP, Graph

DIM = 16


def star(edges: int) -> Graph:
    """One node that receives an edge from each of the others."""
    x = np.random.default_rng(0).standard_normal((edges + 1, DIM), dtype=np.float32)
    return Graph.from_edges(np.stack([np.arange(1, edges + 1), np.zeros(edges, np.int64)]), num_nodes=edges + 1, x=x)


def both_ways(graph: Graph, parallel: int) -> Graph:
    """The graph with the reverse of every edge, and some edges twice."""
    source, target = graph.ends()
    ends = np.stack([np.concatenate([source, target]), np.concatenate([target, source])])
    return Graph.from_edges(np.concatenate([ends, ends[:, :parallel]], axis=1), num_nodes=graph.num_nodes, x=graph.x)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, default=20_000_000, help="edges of the star")
    edges = parser.parse_args().edges
    LSP(keep=0.5).mask(star(1000), threads=THREADS)  # compiled and warm
    LSP(keep=0.5, select="bottom").mask(star(1000), threads=THREADS)
    graph = star(edges)
    header(f"a star of {edges:,} edges", f"keep=0.5, d={DIM}, float32")
    one_run = least(
        {
            "functions": lambda: LSP(keep=0.5).mask(graph, threads=THREADS),
            "bottom": lambda: LSP(keep=0.5, select="bottom").mask(graph, threads=THREADS),
        },
        rounds=2,
    )
    line("LSP(keep=0.5)", f"{one_run['functions']:.2f} s", "target for 20 million edges: 20 s")
    line('LSP(keep=0.5, select="bottom")', f"{one_run['bottom']:.2f} s")
    small = max(edges // 400, 10)
    plain, doubled = both_ways(star(small), 0), both_ways(star(small), 1)
    pruner = LSP(k=8, symmetric="union")
    pruner.mask(plain, threads=THREADS)
    pairs = least(
        {
            "plain": lambda: pruner.mask(plain, threads=THREADS),
            "doubled": lambda: pruner.mask(doubled, threads=THREADS),
        },
        rounds=3,
    )
    line(f"{pruner!r}, {2 * small:,} edges", f"{pairs['plain']:.3f} s")
    line("  the same with one edge twice", f"{pairs['doubled']:.3f} s", f"{pairs['doubled'] / pairs['plain']:.1f}x")


if __name__ == "__main__":
    main()
