"""A mask in six numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lsprune.checks import check_choice
from lsprune.graph import SIDES, Array, Graph
from lsprune.kernels import plain, runtime
from lsprune.measure.adjacency import checked_mask
from lsprune.selection.outcome import outcome


@dataclass(frozen=True)
class Summary:
    """What was kept: edges, and the owners they belong to."""

    edges: int
    kept: int
    share: float
    owners: int  # nodes that own an edge
    owners_cut: int  # of these, how many lost at least one
    isolated: int  # nodes that had an edge to another node and have none left


def summary(graph: Graph, mask: Array, side: str = "in", *, threads: int | None = None) -> Summary:
    """What `mask` keeps of `graph`.

    Args:
        mask: `[E]` True = kept.
        side: which end owns an edge.

    >>> import numpy as np
    >>> summary(Graph.from_edges(np.array([[0, 1], [2, 2]])), np.array([True, False])).kept
    1
    """
    check_choice("side", side, SIDES)
    mask = plain(checked_mask(mask, graph.num_edges))
    source, target = graph.ends()
    owner, owners = (target, graph.num_targets) if side == "in" else (source, graph.num_sources)
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
