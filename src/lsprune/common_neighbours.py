"""How many neighbours the two ends of each edge have in common, counted exactly."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array, Owned
from lsprune.kernels import Runtime


def overlaps(owned: Owned, nodes: int, runtime: Runtime, *, closed: bool = False) -> tuple[Array, Array]:
    """Return (members in both sets, members in either set) of owner and neighbour, for every slot, int64.

    The set of a node holds the neighbours of the edges that it owns, each once. For every edge the smaller set is
    looked up in the larger one. Needs 16 bytes for each edge.

    Args:
        closed: every node is in its own set too, so that the two ends of an edge always have a common member.
    """
    owner = owned.owners(0, nodes)
    pairs = owner * np.int64(nodes) + owned.neighbour
    own = np.arange(nodes) * np.int64(nodes + 1)
    pairs = np.unique(np.concatenate([pairs, own]) if closed else pairs)  # parallel edges make one member
    members = pairs % max(nodes, 1)
    begins = np.searchsorted(pairs, np.arange(nodes + 1) * np.int64(nodes))
    common, size = np.zeros(owner.shape[0], np.int64), np.diff(begins)
    runtime.spread(nodes, lambda lo, hi: runtime.module.count_common(
        owned.indptr, owned.neighbour, begins, members, lo, hi, common))  # fmt: skip
    return common, np.asarray(size[owner] + size[owned.neighbour] - common)
