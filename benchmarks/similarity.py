"""What it costs to prefer neighbours like the owner: `weights="similarity"` against the plain LSP, and step by step."""

from __future__ import annotations

from collections.abc import Sequence

from common import DIM, THREADS, K, header, least, line, sizes
from graphs import features, power_law
from lsprune import LSP, Graph, prune
from lsprune.baselines import Cosine, Jaccard
from lsprune.kernels import runtime
from lsprune.selection.owners import group
from lsprune.weights.surroundings import SIMILARITY_ROLE, cosines, node_part, node_rows, surroundings


def measure(name: str, edges: int, nodes: int) -> None:
    """Print the figures for one graph."""
    edge_index, x = power_law(edges, nodes), features(nodes, DIM)
    graph, run = Graph.from_edges(edge_index, num_nodes=nodes, x=x), runtime(THREADS)
    plain = LSP(k=K).fit(graph, threads=THREADS)
    alike = LSP(k=K, weights="similarity").fit(graph, threads=THREADS)
    owned = group(graph, alike, run)
    view, part, scale = alike.view(graph, owned, K, run), node_part(graph, "in", 0), dict(alike.scales)[SIMILARITY_ROLE]
    rows = node_rows(view, part, scale)
    units = surroundings(rows, owned, run)
    cosines(units, owned, run)
    pruners = {"plain": plain, "alike": alike, "cosine": Cosine(k=K), "jaccard": Jaccard(k=K)}
    for one in pruners.values():
        prune(graph, one, threads=THREADS)  # compiled and warm
    times = least(
        {
            **{key: (lambda one=one: prune(graph, one, threads=THREADS)) for key, one in pruners.items()},
            "rows": lambda: node_rows(view, part, scale),
            "sums": lambda: surroundings(rows, owned, run),
            "dots": lambda: cosines(units, owned, run),
        },
        rounds=5,
    )
    header(f"similarity, {name}: {edges:,} edges, {nodes:,} nodes, d = {DIM}, {THREADS} threads")
    line("LSP(k=8)", f"{times['plain'] * 1e3:.0f} ms")
    line('LSP(k=8, weights="similarity")', f"{times['alike'] * 1e3:.0f} ms", f"{times['alike'] / times['plain']:.1f}x")
    line("  rows in eight bits", f"{times['rows'] * 1e3:.0f} ms")
    line("  sums over neighbours, to unit length", f"{times['sums'] * 1e3:.0f} ms")
    line("  cosines of owners and neighbours", f"{times['dots'] * 1e3:.0f} ms")
    line("Cosine(k=8)", f"{times['cosine'] * 1e3:.0f} ms", f"{times['alike'] / times['cosine']:.2f}x of it")
    line("Jaccard(k=8)", f"{times['jaccard'] * 1e3:.0f} ms", f"{times['alike'] / times['jaccard']:.2f}x of it")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures of the graphs asked for."""
    for size in sizes(__doc__, argv):
        measure(*size)


if __name__ == "__main__":
    main()
