"""Factors that keep the sum over a neighbourhood at its size after pruning."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from lsprune.graph import Array, Graph, oriented
from lsprune.numeric.random_numbers import is_tensor
from lsprune.selection.self_loops import loops_count


def owner_factors(graph: Graph, mask: Array, side: str, self_loops: str = "free") -> Array:
    """Compute degree / kept edges of the owner of each edge as float32; 1 for self-loops that are not counted."""
    if is_tensor(mask):
        factors: Array = import_module("lsprune.device.rescale").owner_factors(graph, mask, side, self_loops)
        return factors
    source, target = graph.ends()
    owner, owners = oriented(side, source, target)[0], graph.num_owners(side)
    all_count = loops_count(self_loops, bipartite=graph.bipartite)
    real = np.ones(mask.shape, bool) if all_count else source != target
    degree = np.bincount(owner[real], minlength=owners)
    kept = np.bincount(owner[real & mask], minlength=owners)
    factor = (degree / np.maximum(kept, 1)).astype(np.float32)
    return np.where(real, factor[owner], np.float32(1))
