"""The cosine similarity of the surroundings of owner and neighbour, for `weights="similarity"`.

The surroundings of a node are the sum of its attributes and those of its neighbours. Attributes are centred first, so
that what all nodes have in common does not count. No labels are used, yet neighbours that are similar in this sense
have the same label more often than others. Weights are computed in integers (only the trial with noise uses floats);
wide rows are projected to fewer columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

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
from lsprune.numeric.random_numbers import NOISE, draw, is_tensor

SIMILARITY_ROLE = "alike"  # name under which `fit` stores the scale of the rows that are compared
COSINE_BITS = 28  # fraction bits of a cosine
MAX_NEIGHBOURS = 1 << 8  # neighbours per node that `fit` samples to compare cosines with and without noise
_BLOCK_SLOTS = 1 << 13  # slots a thread takes at a time


def comparable(graph: Graph) -> bool:
    """Return whether owners and neighbours are nodes of one kind and have attributes."""
    return not graph.bipartite and graph.x_source is not None


def node_part(
    graph: Graph, side: str, seed: int, *, size: int | None = None, scale: Scale | None = None, name: str = "similarity"
) -> Part:
    """Return the attributes of the nodes; raise GraphError if there are none, or if they do not match `scale`.

    Args:
        size: number of category values, if the attributes are a category. scale: the scale they were fitted on.
        name: the weight, for error messages.
    """
    if graph.bipartite:
        raise GraphError(f'weights="{name}" needs one kind of nodes: two kinds have nothing to compare')
    if graph.x_source is None:
        raise GraphError(f'weights="{name}" needs node attributes (x), which this graph lacks')
    categories = size if scale is None else scale.categories
    sizes = None if categories is None else {"neighbour": categories}
    part = describe(graph, side, ("neighbour",), seed=seed, sizes=sizes)["neighbour"]
    if scale is not None:
        check_fitted({SIMILARITY_ROLE: part}, {SIMILARITY_ROLE: scale})
    return part


def node_rows(view: View, part: Part, scale: Scale) -> Array:
    """Return the quantised attributes of every node, `[N, columns]` int8."""
    node_view = replace(view, parts={"neighbour": part}, scales={"neighbour": scale}, cache={})

    def rows(lo: int, hi: int) -> Array:
        return quantised_rows(node_view, {"neighbour": part.rows_of(np.arange(lo, hi))}).astype(np.int8)

    return in_blocks(node_view, view.neighbours, rows)


def surroundings(rows: Array, owned: Owned, runtime: Runtime) -> Array:
    """Return the sum of the rows of each node and its neighbours, as unit rows in 2^-14: `[N, columns]` int16."""
    out = runtime.zeros(rows.shape, np.int16)
    max_terms = int(np.diff(owned.indptr).max(initial=0)) + 1
    dtype = np.int32 if max_terms * (127 if rows.dtype == np.int8 else 32767) < 2**31 else np.int64

    def sum_and_normalise(lo: int, hi: int) -> None:
        sums = np.zeros((hi - lo, rows.shape[1]), dtype)
        runtime.module.sum_rows(owned.indptr, owned.neighbour, rows, lo, hi, sums)
        unit_rows(sums, runtime, out[lo:hi])

    runtime.spread(rows.shape[0], sum_and_normalise, TABLE_ROWS >> 2)
    return out


def unit_rows(sums: Array, runtime: Runtime, out: Array) -> None:
    """Set `out`, int16, to the L2-normalised rows of integers in 2^-14."""
    begins = np.arange(sums.shape[0] + 1) * sums.shape[1]
    runtime.module.unit_values(begins, sums.astype(np.float32).reshape(-1), out.reshape(-1))


def cosines(units: Array, owned: Owned, runtime: Runtime) -> Array:
    """Return the cosine of owner and neighbour for every slot, int64 with COSINE_BITS fraction bits."""
    out = runtime.zeros(owned.neighbour.shape[0], np.int64)

    def dot_products(lo: int, hi: int) -> None:
        owner = np.searchsorted(owned.indptr, np.arange(lo, hi), side="right") - 1
        runtime.module.dot_dense(units, units, owner, owned.neighbour[lo:hi], out[lo:hi])

    runtime.spread(out.shape[0], dot_products, _BLOCK_SLOTS)
    return out


def dot_products(first: Array, second: Array, runtime: Runtime) -> Array:
    """Return the dot product of each row of `first` with the same row of `second`, int64."""
    out, rows = np.zeros(first.shape[0], np.int64), np.arange(first.shape[0])
    runtime.module.dot_dense(first, second, rows, rows, out)
    return out


def noisy_cosines(
    graph: Graph, owned: Owned, side: str, slots: Array, seed: int, runtime: Runtime
) -> Callable[[float], Array]:
    """Return a function from noise, in standard deviations of each column, to the cosines in these slots.

    Of a graph on a device, what the slots need is copied to the host: it is little, and noise is added in floats.
    """
    part, host = node_part(graph, side, seed), replace(runtime, device=None)
    scale = fit_scales({SIMILARITY_ROLE: part}, unit=True, runtime=runtime)[SIMILARITY_ROLE]
    view = View(
        owned=owned, parts={"neighbour": part}, scales={"neighbour": scale}, normalised=True, seed=seed, total=1,
        needed=1, functions=1, neighbours=graph.num_nodes, neighbour_base=np.empty(0, np.int64), runtime=runtime,
    )  # fmt: skip
    ends = np.concatenate(ends_of(owned, slots))
    subgraph, nodes = _subgraph_around(owned, np.unique(ends), seed)
    rows = _rows_of(view, part, nodes)
    view = replace(view, runtime=host)
    spread = _deviations(rows)

    def with_noise(noise: float) -> Array:
        def noisy_rows(lo: int, hi: int) -> Array:
            normals = normal(draw(seed, NOISE, 4, nodes[lo:hi, None], np.arange(rows.shape[1])[None, :]))
            return np.clip(np.rint(rows[lo:hi] + normals * (spread * (noise / UNIT))), -32767, 32767).astype(np.int16)

        noisy = in_blocks(view, nodes.shape[0], noisy_rows)
        units, (first, second) = surroundings(noisy, subgraph, host), np.searchsorted(nodes, ends).reshape(2, -1)
        out = np.zeros(slots.shape[0], np.int64)
        host.module.dot_dense(units, units, first, second, out)
        return out

    return with_noise


def _rows_of(view: View, part: Part, nodes: Array) -> Array:
    """Return the quantised attributes of some nodes, `[nodes, columns]` int16."""
    if view.device is not None:
        rows: Array = _on_device().rows_of(view, part, nodes)
        return rows

    def block(lo: int, hi: int) -> Array:
        return quantised_rows(view, {"neighbour": part.rows_of(nodes[lo:hi])})

    return in_blocks(view, nodes.shape[0], block)


def _deviations(rows: Array) -> Array:
    """Return the standard deviation of each column, from integer sums, so that it is the same on every machine."""
    count, sums, squares = max(rows.shape[0], 1), np.zeros(rows.shape[1], np.int64), np.zeros(rows.shape[1], np.int64)
    for lo, hi in spans(rows.shape[0], TABLE_ROWS):
        block = rows[lo:hi].astype(np.int64)
        sums += block.sum(0)
        squares += (block * block).sum(0)
    return np.asarray(np.sqrt(count * squares - sums**2) / count)


def count_surrounding_edges(owned: Owned, slots: Array) -> int:
    """Return the number of ends of these slots plus the number of their edges, at most MAX_NEIGHBOURS per end."""
    ends = np.unique(np.concatenate(ends_of(owned, slots)))
    return int(np.minimum(_degrees(owned, ends), MAX_NEIGHBOURS).sum() + ends.shape[0])


def ends_of(owned: Owned, slots: Array) -> tuple[Array, Array]:
    """Return owner and neighbour of some slots; of a graph on a device too, in host memory."""
    if is_tensor(owned.indptr):
        owner, neighbour = _on_device().ends_of(owned, slots)
        return owner, neighbour
    return np.searchsorted(owned.indptr, slots, side="right") - 1, owned.neighbour[slots]


def _degrees(owned: Owned, nodes: Array) -> Array:
    if is_tensor(owned.indptr):
        degrees: Array = _on_device().degrees_of(owned, nodes)
        return degrees
    return np.asarray(owned.indptr[nodes + 1] - owned.indptr[nodes])


def _on_device() -> Any:
    """Return the module with the same functions for graphs on a device; it imports torch."""
    return import_module("lsprune.weights.device_surroundings")


def _subgraph_around(owned: Owned, owners: Array, seed: int) -> tuple[Owned, Array]:
    """Return the edges of these owners, at most MAX_NEIGHBOURS of each, renumbered, and the old ids of the nodes."""
    neighbour = _neighbours(owned, owners, seed).astype(np.int64)
    nodes = np.unique(np.concatenate([owners, neighbour]))
    degree = np.zeros(nodes.shape[0] + 1, np.int64)
    degree[np.searchsorted(nodes, owners) + 1] = np.minimum(_degrees(owned, owners), MAX_NEIGHBOURS)
    return Owned(np.cumsum(degree), np.searchsorted(nodes, neighbour), None), nodes


def _neighbours(owned: Owned, owners: Array, seed: int) -> Array:
    """Return the neighbours of these owners, owner after owner, at most MAX_NEIGHBOURS of each."""
    if is_tensor(owned.indptr):
        neighbour: Array = _on_device().neighbours_of(owned, owners, seed, MAX_NEIGHBOURS)
        return neighbour
    return np.asarray(owned.neighbour[np.concatenate([_slots(owned, int(node), seed) for node in owners])])


def _slots(owned: Owned, node: int, seed: int) -> Array:
    """Return the slots of an owner; of more than MAX_NEIGHBOURS a sample, by a hash of the neighbour."""
    slots = np.arange(owned.indptr[node], owned.indptr[node + 1])
    if slots.shape[0] <= MAX_NEIGHBOURS:
        return slots
    hashes = draw(seed, NOISE, 5, owned.neighbour[slots])
    return slots[np.argpartition(hashes, MAX_NEIGHBOURS)[:MAX_NEIGHBOURS]]
