"""The input is never changed, `keep` is met to the edge, and a mask means what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lsprune import LSP, Graph
from soak.cases import random_graph, random_pruner
from soak.check import Check, expect


def _bytes(graph: Graph) -> list[bytes]:
    """Return the arrays of a graph as bytes."""
    arrays = (*graph.ends(), graph.x, graph.edge_attr)
    return [b"" if array is None else np.ascontiguousarray(array).tobytes() for array in arrays]


def input_unchanged(number: int, folder: Path) -> int:
    """Prune a graph and compare all its arrays with copies made before."""
    rng = np.random.default_rng([1, number])
    graph = random_graph(rng)
    pruner = random_pruner(rng, graph)
    before = _bytes(graph)
    pruner.mask(graph)
    expect(_bytes(graph) == before, f"{pruner} changed the graph")
    return len(before)


def exact_keep(number: int, folder: Path) -> int:
    """Compare the number of edges kept with floor(keep * E + 0.5), and the masks of two shares."""
    rng = np.random.default_rng([2, number])
    graph = random_graph(rng)
    source, target = graph.ends()
    edges = int((source != target).sum())
    small, large = sorted(round(float(share), 3) for share in rng.uniform(0.001, 1.0, 2))
    seed = int(rng.integers(2**31))
    hash = "projection" if graph.x is not None else "identity"
    masks = [LSP(keep=share, hash=hash, seed=seed, self_loops="drop").mask(graph) for share in (small, large)]
    for share, mask in zip((small, large), masks, strict=True):
        asked = int(np.floor(share * edges + 0.5))
        expect(int(mask.sum()) == asked, f"keep={share} of {edges} edges kept {int(mask.sum())}, not {asked}")
    expect(not (masks[0] & ~masks[1]).any(), f"keep={small} keeps an edge that keep={large} removes")
    return 3


CHECKS = (
    Check(
        name="input-unchanged", promise="Input unchanged", about="random pruner and graph, all arrays compared",
        run_case=input_unchanged, share=0.5, quick_cases=60,
    ),
    Check(
        name="exact-keep", promise="Exact keep", about="two shares: counted, and one within the other",
        run_case=exact_keep, share=0.5, quick_cases=60,
    ),
)  # fmt: skip
