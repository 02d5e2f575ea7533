"""Count the common neighbours of the two ends of each edge, exactly."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from lsprune.graph import Array, Owned
from lsprune.kernels import Runtime
from lsprune.numeric.distinct import distinct

OVERLAP_EDGE_BYTES = 140  # memory per edge while common neighbours are counted


def overlaps(owned: Owned, nodes: int, runtime: Runtime, *, closed: bool = False) -> tuple[Array, Array]:
    """Return the sizes of intersection and union of the neighbour sets of owner and neighbour, int64 for every slot.

    The set of a node holds the neighbours of the edges that it owns, each once. For every edge, the members of the
    smaller set are looked up in the larger one. The result takes 16 bytes per edge.

    Args:
        closed: every node is in its own set too, so that the two ends of an edge always have a common member.
    """
    if runtime.device is not None:
        neighbour: Any = owned.neighbour
        sizes_there = import_module("lsprune.kernels.gpu.neighbour_sets").overlaps
        both: tuple[Array, Array] = sizes_there(owned.owners(0, nodes), neighbour.long(), nodes, closed=closed)
        return both
    owner = owned.owners(0, nodes)
    pairs = owner * np.int64(nodes) + owned.neighbour
    self_pairs = np.arange(nodes) * np.int64(nodes + 1)
    pairs = distinct(np.concatenate([pairs, self_pairs]) if closed else pairs)  # parallel edges count once
    members = pairs % max(nodes, 1)
    begins = np.searchsorted(pairs, np.arange(nodes + 1) * np.int64(nodes))
    common, sizes = np.zeros(owner.shape[0], np.int64), np.diff(begins)
    runtime.spread(nodes, lambda lo, hi: runtime.module.count_common(
        owned.indptr, owned.neighbour, begins, members, lo, hi, common))  # fmt: skip
    return common, np.asarray(sizes[owner] + sizes[owned.neighbour] - common)
