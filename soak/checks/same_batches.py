"""A batch is pruned as its graphs one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lsprune import Graph
from lsprune.errors import LspruneError
from soak.cases import Options, random_pruner
from soak.check import Check, expect
from soak.varied_cases import varied_pruner

SMALL = Options(nodes=12, edges=60)


def _graphs(rng: np.random.Generator) -> list[Graph]:
    """Return a few graphs with attributes of the same kind, some of them without edges."""
    width, with_attr = int(rng.integers(1, 5)), bool(rng.random() < 0.4)
    graphs = []
    for _ in range(int(rng.integers(1, 7))):
        nodes, edges = int(rng.integers(1, SMALL.nodes + 1)), int(rng.integers(0, SMALL.edges + 1))
        attr = rng.integers(1, 4, (edges, 2)).astype(np.float32) if with_attr else None
        x = rng.integers(-3, 4, (nodes, width)).astype(np.float32)
        graphs.append(Graph.from_edges(rng.integers(0, nodes, (2, edges)), num_nodes=nodes, x=x, edge_attr=attr))
    return graphs


def batches(number: int, folder: Path) -> int:
    """Prune several graphs in one, and each of them by itself with the same fit."""
    rng = np.random.default_rng([25, number])
    graphs = _graphs(rng)
    joined = Graph.concat(graphs)
    while True:
        try:
            pruner = (varied_pruner if rng.random() < 0.5 else random_pruner)(rng, graphs[0])
            fitted = pruner.fit(joined)
            mask = fitted.mask(joined, threads=1)
        except LspruneError:
            continue
        if not getattr(pruner, "pooled", False):  # which are met over all graphs
            break
    alone = np.concatenate([fitted.mask(graph, threads=1) for graph in graphs])
    expect(bool((alone == mask).all()), f"{pruner!r} keeps other edges in a batch of {len(graphs)} graphs")
    return len(graphs)


CHECKS = (
    Check(
        name="batches", promise="Same bits",
        about="up to 6 graphs: as one batch, and one by one with the same fitted pruner",
        run_case=batches, share=1.0, quick_cases=40,
    ),
)  # fmt: skip
