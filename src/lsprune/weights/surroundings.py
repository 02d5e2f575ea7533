"""How similar the surroundings of owner and neighbour are: what `weights="similarity"` prefers.

The surroundings of a node are the sum of its own attributes and those of its neighbours, centred, so that what all
nodes have in common does not count. Two of them are compared by their cosine. No labels are used, yet neighbours that
are similar in this way have the same label more often than others. Everything is integers; wide rows are projected on
few columns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from lsprune.attributes import Part, describe
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph, Owned
from lsprune.hashing.base import View
from lsprune.hashing.keys import TABLE_ROWS, in_blocks
from lsprune.hashing.quantised_rows import quantised_rows
from lsprune.kernels import Runtime
from lsprune.kernels.threads import spans
from lsprune.numeric.normal_table import UNIT, normal
from lsprune.numeric.quantisation import Scale, check_fitted, fit_scales
from lsprune.numeric.random_numbers import NOISE, draw

ROLE = "alike"  # under which `fit` keeps the scale of the rows that are compared
COSINE_BITS = 28  # of fraction in a cosine
MAX_NEIGHBOURS = 1 << 8  # of one node that are looked at when noise is tried
_ROWS = 1 << 13  # slots at a time


def comparable(graph: Graph) -> bool:
    """Whether owners and neighbours are of one kind and have attributes."""
    return not graph.bipartite and graph.x_source is not None


def described(graph: Graph, side: str, seed: int, *, size: int | None = None, scale: Scale | None = None) -> Part:
    """The attributes of the nodes; of the kind and width that they were fitted on, if a scale says so.

    Args:
        size: number of values where they are a category.
    """
    if graph.bipartite:
        raise GraphError('weights="similarity" needs one kind of nodes: two kinds have nothing to compare')
    if graph.x_source is None:
        raise GraphError('weights="similarity" needs node attributes (x), which this graph lacks')
    known = size if scale is None else scale.categories
    sizes = None if known is None else {"neighbour": known}
    part = describe(graph, side, ("neighbour",), seed=seed, sizes=sizes)["neighbour"]
    if scale is not None:
        check_fitted({ROLE: part}, {ROLE: scale})
    return part


def node_rows(view: View, part: Part, scale: Scale) -> Array:
    """The attributes of every node as `[N, columns]` int8 in +-127."""
    own = dataclasses.replace(view, parts={"neighbour": part}, scales={"neighbour": scale}, cache={})

    def some(lo: int, hi: int) -> Array:
        return quantised_rows(own, {"neighbour": part.rows_of(np.arange(lo, hi))}).astype(np.int8)

    return in_blocks(own, view.neighbours, some)


def surroundings(rows: Array, owned: Owned, run: Runtime) -> Array:
    """The unit rows, in 2^-14, of the sums over each node and its neighbours: `[N, columns]` int16."""
    out = run.zeros(rows.shape, np.int16)
    most = int(np.diff(owned.indptr).max(initial=0)) + 1
    kind = np.int32 if most * (127 if rows.dtype == np.int8 else 32767) < 2**31 else np.int64

    def one(lo: int, hi: int) -> None:
        sums = np.zeros((hi - lo, rows.shape[1]), kind)
        run.module.sum_rows(owned.indptr, owned.neighbour, rows, lo, hi, sums)
        begins = np.arange(hi - lo + 1) * rows.shape[1]
        run.module.unit_values(begins, sums.astype(np.float32).reshape(-1), out[lo:hi].reshape(-1))

    run.spread(rows.shape[0], one, TABLE_ROWS >> 2)
    return out


def cosines(units: Array, owned: Owned, run: Runtime) -> Array:
    """The cosine of owner and neighbour for every slot, with 28 bits of fraction, int64."""
    out = run.zeros(owned.neighbour.shape[0], np.int64)

    def one(lo: int, hi: int) -> None:
        owner = np.searchsorted(owned.indptr, np.arange(lo, hi), side="right") - 1
        run.module.dot_dense(units, units, owner, owned.neighbour[lo:hi], out[lo:hi])

    run.spread(out.shape[0], one, _ROWS)
    return out


def noisy_cosines(
    graph: Graph, owned: Owned, side: str, slots: Array, seed: int, run: Runtime
) -> Callable[[float], Array]:
    """Return a function from noise, in standard deviations of each column, to the cosines in some slots."""
    part = described(graph, side, seed)
    scale = fit_scales({ROLE: part}, unit=True, runtime=run)[ROLE]
    view = View(
        owned=owned, parts={"neighbour": part}, scales={"neighbour": scale}, normalised=True, seed=seed, total=1,
        needed=1, functions=1, neighbours=graph.num_nodes, neighbour_base=np.empty(0, np.int64), runtime=run,
    )  # fmt: skip
    owner = np.searchsorted(owned.indptr, slots, side="right") - 1
    ends = np.concatenate([owner, owned.neighbour[slots]])
    near, nodes = _subgraph_around(owned, np.unique(ends), seed)
    rows = in_blocks(view, nodes.shape[0], lambda lo, hi: quantised_rows(view, {"neighbour": part.rows_of(nodes[lo:hi])}))
    spread = _deviations(rows)

    def with_noise(noise: float) -> Array:
        def some(lo: int, hi: int) -> Array:
            steps = normal(draw(seed, NOISE, 4, nodes[lo:hi, None], np.arange(rows.shape[1])[None, :]))
            return np.clip(np.rint(rows[lo:hi] + steps * (spread * (noise / UNIT))), -32767, 32767).astype(np.int16)

        noisy = in_blocks(view, nodes.shape[0], some)
        units, (first, second) = surroundings(noisy, near, run), np.searchsorted(nodes, ends).reshape(2, -1)
        out = np.zeros(slots.shape[0], np.int64)
        run.module.dot_dense(units, units, first, second, out)
        return out

    return with_noise


def _deviations(rows: Array) -> Array:
    """The standard deviation of each column, from sums of whole numbers, so that it is the same everywhere."""
    count, sums, squares = max(rows.shape[0], 1), np.zeros(rows.shape[1], np.int64), np.zeros(rows.shape[1], np.int64)
    for lo, hi in spans(rows.shape[0], TABLE_ROWS):
        block = rows[lo:hi].astype(np.int64)
        sums += block.sum(0)
        squares += (block * block).sum(0)
    return np.asarray(np.sqrt(count * squares - sums**2) / count)


def surrounding_edges(owned: Owned, slots: Array) -> int:
    """Count the edges at the ends of some edges, MAX_NEIGHBOURS of each at most."""
    ends = np.unique(np.concatenate([np.searchsorted(owned.indptr, slots, side="right") - 1, owned.neighbour[slots]]))
    return int(np.minimum(owned.indptr[ends + 1] - owned.indptr[ends], MAX_NEIGHBOURS).sum() + ends.shape[0])


def _subgraph_around(owned: Owned, some: Array, seed: int) -> tuple[Owned, Array]:
    """Return the edges of some owners, at most MAX_NEIGHBOURS of each, renumbered, and the nodes' old numbers."""
    slots = [_slots(owned, int(node), seed) for node in some]
    neighbour = owned.neighbour[np.concatenate(slots)].astype(np.int64)
    nodes = np.unique(np.concatenate([some, neighbour]))
    degree = np.zeros(nodes.shape[0] + 1, np.int64)
    degree[np.searchsorted(nodes, some) + 1] = [few.shape[0] for few in slots]
    return Owned(np.cumsum(degree), np.searchsorted(nodes, neighbour), None), nodes


def _slots(owned: Owned, node: int, seed: int) -> Array:
    """Return the slots of an owner; of very many, those whose neighbours have the smallest random names."""
    slots = np.arange(owned.indptr[node], owned.indptr[node + 1])
    if slots.shape[0] <= MAX_NEIGHBOURS:
        return slots
    names = draw(seed, NOISE, 5, owned.neighbour[slots])
    return slots[np.argpartition(names, MAX_NEIGHBOURS)[:MAX_NEIGHBOURS]]
