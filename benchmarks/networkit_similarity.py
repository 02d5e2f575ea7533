"""Against NetworKit's LocalSimilarity sparsifier, its conversion from COO included."""

from __future__ import annotations

from collections.abc import Sequence

import networkit as nk
import numpy as np

from common import DIM, THREADS, K, header, least, line, sizes
from graphs import features, power_law
from lsprune import LSP, prune
from lsprune.graph import Graph


def local_similarity(edge_index: np.ndarray, nodes: int) -> nk.Graph:
    """The sparsified graph, from the same COO edges (NetworKit wants each undirected edge once)."""
    half = edge_index[:, : edge_index.shape[1] // 2]
    graph = nk.GraphFromCoo((half[0], half[1]), n=nodes, directed=False)
    graph.removeSelfLoops()
    graph.removeMultiEdges()
    graph.indexEdges()
    return nk.sparsification.LocalSimilaritySparsifier().getSparsifiedGraph(graph, 0.5)


def measure(name: str, edges: int, nodes: int) -> None:
    """Print the figures for one graph."""
    nk.setNumberOfThreads(THREADS)
    edge_index = power_law(edges, nodes)
    graph = Graph.from_edges(edge_index, num_nodes=nodes, x=features(nodes, DIM))
    fitted = LSP(k=K).fit(graph)
    prune(graph, fitted, threads=THREADS)
    times = least(
        {
            "lsprune": lambda: prune(graph, fitted, threads=THREADS),
            "networkit": lambda: local_similarity(edge_index, nodes),
        },
        rounds=2 if edges > 2_000_000 else 3,
    )
    header(f"against NetworKit LocalSimilarity, {name}: {edges:,} edges, {nodes:,} nodes")
    line("lsprune, COO -> COO", f"{times['lsprune'] * 1e3:.0f} ms")
    line("NetworKit LocalSimilarity with its conversion", f"{times['networkit'] * 1e3:.0f} ms")
    line("times faster", f"{times['networkit'] / times['lsprune']:.0f}x", ">= 10")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures of the graphs asked for."""
    for size in sizes(__doc__, argv):
        measure(*size)


if __name__ == "__main__":
    main()
