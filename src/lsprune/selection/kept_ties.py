"""Quotas that leave no tie open: every edge with the key of the last one kept stays too."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array, Owned
from lsprune.kernels import Runtime
from lsprune.selection.owners import over_owners


def with_ties(owned: Owned, quota: Array, keys: Array, runtime: Runtime) -> Array:
    """Return for each owner how many of its edges have a key not above that of the last edge its quota keeps.

    Args:
        keys: `[slots]` int64; the smallest are kept.
    """
    out = quota.copy()

    def extend(lo: int, hi: int) -> None:
        start, stop = int(owned.indptr[lo]), int(owned.indptr[hi])
        begin = owned.indptr[lo:hi] - start
        degree = np.diff(owned.indptr[lo : hi + 1])
        chooses = np.flatnonzero((degree > quota[lo:hi]) & (quota[lo:hi] > 0))
        owner = np.repeat(np.arange(hi - lo), degree)
        here = keys[start:stop]
        in_order = here[np.lexsort((here, owner))]
        last = np.full(hi - lo, np.iinfo(np.int64).max)
        last[chooses] = in_order[begin[chooses] + quota[lo:hi][chooses] - 1]
        within = np.bincount(owner, weights=here <= last[owner], minlength=hi - lo).astype(np.int64)
        out[lo:hi][chooses] = within[chooses]  # ranges of owners do not overlap

    over_owners(owned, runtime, extend)
    return out
