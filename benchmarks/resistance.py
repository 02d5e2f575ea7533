"""Effective resistance from spanning trees, from a solver of scipy and from NetworKit's: error and seconds.

Both solvers solve Laplacian systems for random projections (Spielman and Srivastava). NetworKit takes so long that it
is only tried on the small graph, and left out where it is not installed (extra bench).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np
from scipy.sparse import coo_array, diags_array
from scipy.sparse.linalg import cg
from scipy.stats import spearmanr

from common import THREADS, header, line
from graphs import power_law
from lsprune import Graph
from lsprune.baselines import EffectiveResistance
from lsprune.kernels import runtime
from lsprune.selection.items import Items, Links, links_of

SMALL, LARGE = (3_000, 30_000), (30_000, 600_000)  # nodes, edges
PROJECTIONS = 256
TOLERANCE = 0.1  # NetworKit's


def links(nodes: int, edges: int) -> tuple[Graph, Links]:
    """A graph and its undirected links, each once."""
    graph = Graph.from_edges(power_law(edges, nodes), num_nodes=nodes)
    source, target = graph.ends()
    return graph, links_of(graph, Items(source, target, source, target, np.zeros(source.size, np.uint64)))


def exact(found: Links) -> np.ndarray:
    """From the inverse of the whole Laplacian."""
    inverse = np.linalg.pinv(_laplacian(found).toarray(), hermitian=True)
    own = np.diag(inverse)
    return own[found.low] + own[found.high] - 2 * inverse[found.low, found.high]


def by_trees(graph: Graph, found: Links, trees: int) -> np.ndarray:
    """As `EffectiveResistance` has it."""
    weight = EffectiveResistance(keep=0.5, trees=trees).weights(graph, found, runtime(THREADS))
    return weight / 2.0**32 / (trees + 1)


def by_scipy(found: Links) -> np.ndarray:
    """From random projections and conjugate gradients."""
    laplacian, random = _laplacian(found), np.random.default_rng(0)
    scaled = diags_array(1 / np.maximum(laplacian.diagonal(), 1))
    total = np.zeros(found.low.size)
    for _ in range(PROJECTIONS):
        signs = random.choice([-1.0, 1.0], found.low.size)
        side = np.bincount(found.low, signs, found.nodes) - np.bincount(found.high, signs, found.nodes)
        level, _ = cg(laplacian, side, rtol=1e-4, M=scaled)
        total += (level[found.low] - level[found.high]) ** 2
    return total / PROJECTIONS


def by_networkit(found: Links) -> np.ndarray:
    """From NetworKit."""
    import networkit as nk

    nk.setNumberOfThreads(THREADS)
    graph = nk.GraphFromCoo((found.low, found.high), n=found.nodes, directed=False)
    graph.indexEdges()
    centrality = nk.centrality.SpanningEdgeCentrality(graph, TOLERANCE)
    centrality.runParallelApproximation()
    scores = np.array(centrality.scores())
    return scores[[graph.edgeId(int(a), int(b)) for a, b in zip(found.low, found.high, strict=True)]]


def _laplacian(found: Links):
    ends = np.concatenate([found.low, found.high]), np.concatenate([found.high, found.low])
    joined = coo_array((np.ones(ends[0].size), ends), shape=(found.nodes, found.nodes)).tocsr()
    return (diags_array(joined.sum(1)) - joined).tocsr()


def measure(nodes: int, edges: int, *, small: bool) -> None:
    """Print the figures of one graph; of a small one beside the true resistances."""
    graph, found = links(nodes, edges)
    by_trees(graph, found, 1)  # compile
    ways: dict[str, Callable[[], np.ndarray]] = {
        "256 trees, the default": lambda: by_trees(graph, found, 256),
        "4096 trees": lambda: by_trees(graph, found, 4096),
        f"scipy, {PROJECTIONS} projections": lambda: by_scipy(found),
    }
    if small and find_spec("networkit") is not None:
        ways["NetworKit"] = lambda: by_networkit(found)
    true = exact(found) if small else None
    header(f"effective resistance: {found.low.size:,} links of {nodes:,} nodes")
    for name, way in ways.items():
        start = time.perf_counter()
        scores = way()
        said = f"{time.perf_counter() - start:.2f} s"
        if true is not None:
            off = (np.abs(scores - true) / true).mean()
            said += f", off by {off:.1%} in the mean, rank correlation {spearmanr(scores, true).statistic:.3f}"
        line(name, said)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures of a small and a large graph, or of one small graph of the size asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, help="one small graph with so many edges instead")
    parser.add_argument("--nodes", type=int, help="its nodes (default: a tenth of the edges)")
    options = parser.parse_args(argv)
    if options.edges is not None:
        measure(options.nodes or max(options.edges // 10, 1), options.edges, small=True)
        return
    measure(*SMALL, small=True)
    measure(*LARGE, small=False)


if __name__ == "__main__":
    main()
