"""The same edges are kept whatever the order in which they are given."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lsprune import Graph
from soak.check import Check, expect
from soak.varied_cases import by_content, reordered, varied_case


def _kept_pairs(graph: Graph, mask: np.ndarray) -> list[tuple[int, int]]:
    source, target = graph.ends()
    return sorted(zip(source[mask].tolist(), target[mask].tolist(), strict=True))


def _groups(graph: Graph) -> np.ndarray:
    """Return a number for each edge, equal for parallel edges."""
    return np.unique(np.stack(graph.ends()), axis=1, return_inverse=True)[1].reshape(-1)


def shuffled_between(groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return an order of the edges that is random, except that the edges of a group stay in order among themselves."""
    order = rng.permutation(groups.size)
    places = np.argsort(groups[order], kind="stable")  # the places of each group, one group after the other
    result = np.empty(groups.size, np.int64)
    result[places] = np.argsort(groups, kind="stable")
    return result


def edge_order(number: int, folder: Path) -> int:
    """Shuffle the edges and compare the masks, edge by edge; parallel edges stay in order among themselves.

    Of parallel edges with equal keys the first one is taken, and what is left decides later steps. Parallel edges that
    nothing distinguishes are shuffled too: as many of each pair of nodes must be kept.
    """
    case, rng = varied_case(23, number, accepts=by_content), np.random.default_rng([24, number])
    graph, groups = case.graph, _groups(case.graph)
    order = shuffled_between(groups, rng)
    mask = case.pruner.mask(reordered(graph, order), threads=1)
    expect(
        bool((mask == case.mask[order]).all()), f"another order of edges changes what {case.pruner!r} keeps of {graph}"
    )
    alike = graph.edge_attr is None and graph.edge_weight is None and not graph.edge_columns
    if not alike or groups.size == 0 or groups.max() + 1 == groups.size:
        return 1
    other = reordered(graph, rng.permutation(groups.size))
    same = _kept_pairs(other, case.pruner.mask(other, threads=1)) == _kept_pairs(graph, case.mask)
    expect(same, f"another order of parallel edges changes how many {case.pruner!r} keeps of {graph}")
    return 2


CHECKS = (
    Check(
        name="edge-order", promise="Same bits",
        about="shuffled edges, compared edge by edge; parallel edges without attributes: how many of each are kept",
        run_case=edge_order, share=2.0, quick_cases=20,
    ),
)  # fmt: skip
