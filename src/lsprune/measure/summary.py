"""Counts of what a mask keeps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lsprune.checks import check_choice
from lsprune.graph import SIDES, Array, Graph
from lsprune.kernels import plain, runtime
from lsprune.measure.adjacency import checked_mask
from lsprune.selection.mask import outcome


@dataclass(frozen=True)
class Summary:
    """How many edges are kept, and how many owners lose some."""

    edges: int
    kept: int
    share: float
    owners: int  # nodes that own an edge
    owners_cut: int  # owners that lost at least one edge
    isolated: int  # nodes that had an edge to another node and have none left


def summary(graph: Graph, mask: Array, side: str = "in", *, threads: int | None = None) -> Summary:
    """Count what `mask` keeps of `graph`.

    Args:
        mask: `[E]` True = kept.
        side: which end owns an edge.

    >>> import numpy as np
    >>> summary(Graph.from_edges(np.array([[0, 1], [2, 2]])), np.array([True, False])).kept
    1
    """
    check_choice("side", side, SIDES)
    mask = plain(checked_mask(mask, graph.num_edges))
    owner, owners = graph.owners_and_neighbours(side)[0], graph.num_owners(side)
    before, after = np.bincount(owner, minlength=owners), np.bincount(owner[mask], minlength=owners)
    kept = int(mask.sum())
    return Summary(
        edges=graph.num_edges,
        kept=kept,
        share=kept / graph.num_edges if graph.num_edges else 1.0,
        owners=int((before > 0).sum()),
        owners_cut=int((after < before).sum()),
        isolated=outcome(graph, mask, runtime(threads)).isolated,
    )
