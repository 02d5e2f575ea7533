"""The compiled kernel against a naive Python reading of the paper's rule; both keep the same edges."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np

from common import DIM, THREADS, K, header, least, line
from graphs import features, power_law
from lsprune import LSP, Graph
from lsprune.attributes import describe
from lsprune.hashing.projection import Projection
from lsprune.kernels import runtime
from lsprune.numeric.normal_table import normal
from lsprune.numeric.random_numbers import WEIGHT, draw


def python_dot(a: list[float], b: list[float]) -> float:
    """<a, b> in plain Python."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def naive(graph: Graph, pruner: LSP, numpy: bool) -> np.ndarray:
    """Algorithm 1 as one would write it first: for every node, every function, the edge with the least hash."""
    scale = dict(pruner.scales)["neighbour"]
    part = describe(graph, "in", ("neighbour",), seed=0)["neighbour"]
    q = np.zeros((graph.num_nodes, DIM), np.int16)
    runtime(1).module.quanta(
        part.rows.block(0, graph.num_nodes), True, scale.exponent, np.array(scale.centre, np.int32), q
    )
    vectors = q.astype(np.float64)  # an edge's attributes, and a function's weights: both exact in a float
    weights = [normal(draw(0, WEIGHT, z, 2, np.arange(DIM))).astype(np.float64) for z in range(1, K + 1)]
    dot = np.dot if numpy else python_dot
    if not numpy:
        vectors, weights = vectors.tolist(), [weight.tolist() for weight in weights]
    source, target = (end.tolist() for end in graph.ends())
    edges_of: dict[int, list[int]] = {}
    for edge, (s, t) in enumerate(zip(source, target, strict=True)):
        if s != t:
            edges_of.setdefault(t, []).append(edge)
    keep = {edge for edge, (s, t) in enumerate(zip(source, target, strict=True)) if s == t}
    for edges in edges_of.values():
        left = list(edges)
        for weight in weights:
            if left:
                best = min(left, key=lambda edge: dot(vectors[source[edge]], weight))
                left.remove(best)
                keep.add(best)
    return np.isin(np.arange(graph.num_edges), sorted(keep))


def graph_of(edges: int) -> Graph:
    """A graph with a tenth as many nodes."""
    nodes = max(edges // 10, 1)
    return Graph.from_edges(power_law(edges, nodes), num_nodes=nodes, x=features(nodes, DIM))


def main(argv: Sequence[str] | None = None) -> None:
    """Print the rates, and whether the edges are the same."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, default=1_000_000, help="of the graph that lsprune prunes")
    parser.add_argument("--naive-edges", type=int, default=10_000, help="of the graph that plain Python prunes")
    options = parser.parse_args(argv)
    small, large = graph_of(options.naive_edges), graph_of(options.edges)
    pruner, fitted = LSP(k=K).fit(small), LSP(k=K).fit(large)
    assert pruner.options.hash == Projection()
    fitted.mask(large, threads=THREADS)
    slow, same = {}, True
    for numpy in (False, True):
        start = time.perf_counter()
        expected = naive(small, pruner, numpy)
        slow[numpy] = (time.perf_counter() - start) / small.num_edges
        same &= bool(np.array_equal(pruner.mask(small), expected))
    fast = least({"mask": lambda: fitted.mask(large, threads=THREADS)}, rounds=20)["mask"] / large.num_edges
    header(f"against naive Python ({small.num_edges:,} edges; ours {large.num_edges:,} edges)")
    line("naive, plain Python", f"{slow[False] * 1e6:.2f} us/edge")
    line("naive, a numpy dot for every edge and function", f"{slow[True] * 1e6:.2f} us/edge")
    line("lsprune mask", f"{fast * 1e9:.1f} ns/edge")
    line("rate / naive rate, plain Python", f"{slow[False] / fast:.0f}x", ">= 500")
    line("rate / naive rate, numpy dots", f"{slow[True] / fast:.0f}x")
    line(f"the same edges at {small.num_edges:,}", str(same), "True")


if __name__ == "__main__":
    main()
