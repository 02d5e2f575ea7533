"""Keys of baselines that look at the ends of an edge, on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsprune.device.owners import node_base
from lsprune.graph import Graph, Owned, oriented
from lsprune.kernels.gpu.splitmix import draw, shift_right
from lsprune.numeric.random_numbers import EDGE


def random_keys(graph: Graph, owned: Owned, side: str, seed: int) -> Callable[[int, int], Any]:
    """Return a function from a range of owners to hashes of (owner, neighbour), 63 bits each."""
    own, other = oriented(side, graph.source_ptr, graph.target_ptr)
    own_base, other_base = node_base(own, graph.num_owners(side)), node_base(other, graph.num_neighbours(side))

    def keys(lo: int, hi: int) -> Any:
        start, stop = owned.bounds(lo, hi)
        owner: Any = owned.owners(lo, hi)
        neighbour: Any = owned.neighbour[start:stop]
        owner, neighbour = owner.long(), neighbour.long()
        if own_base is not None and other_base is not None:
            owner, neighbour = owner - own_base[owner], neighbour - other_base[neighbour]
        return shift_right(draw(seed, (EDGE, owner, neighbour), owner.device), 1)

    return keys
