"""`hash="auto"`: which family and which parts of an edge's description keep the same edges under noise. No labels.

Some owners' edges are taken twice, the second time with noise on every attribute and with the nodes renamed, so that
nothing but the attributes can tell which edge is which. The candidate wins whose two selections overlap most.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from lsprune.graph import Array, Graph, Owned
from lsprune.hashing import Auto, Codebook, Family, Projection, Signs, Threshold
from lsprune.kernels import Runtime
from lsprune.kernels.mix import NOISE, draw, mix64
from lsprune.kernels.normals import UNIT, normal
from lsprune.select import group

if TYPE_CHECKING:
    from lsprune.pruners.lsp import LSP

LEARN = 1 << 18  # edges that candidates learn from
TRY = 1 << 13  # edges of the owners whose choices are compared
STEPS = 2  # edges that each of these owners keeps
CANDIDATES: tuple[Family, ...] = (Projection(), Codebook(), Signs(bits=6), Threshold())


def calibrated(pruner: LSP, graph: Graph, run: Runtime) -> LSP:
    """The pruner with the candidate that is most stable; the first of equals."""
    owned = group(graph, pruner, run)
    learn, _ = _some(graph, owned, pruner, LEARN)
    clean, owner = _some(graph, owned, pruner, TRY)
    assert isinstance(pruner.family, Auto)
    noisy = _disturbed(clean, pruner.family.noise, pruner.seed)
    best, most = pruner, -1.0
    for family, parts in _candidates(graph):
        trial = dataclasses.replace(pruner, hash=family, attributes=parts, k=STEPS, keep=None, symmetric=None)
        fitted = trial._fitted_on(learn, run)
        found = _overlap(fitted.mask_graph(clean, run).mask, fitted.mask_graph(noisy, run).mask, owner)
        if found > most:
            best, most = dataclasses.replace(pruner, hash=family, attributes=parts), found
    return best


def _candidates(graph: Graph) -> Iterator[tuple[Family, tuple[str, ...]]]:
    edge, node = graph.edge_attr is not None, graph.x_source is not None or graph.x_target is not None
    parts = [("edge",)] * edge + [("neighbour",)] * node + [("edge", "neighbour")] * (edge and node)
    for chosen in parts or [("edge", "neighbour")]:
        for family in CANDIDATES:
            yield family, chosen


def _some(graph: Graph, owned: Owned, pruner: LSP, most: int) -> tuple[Graph, Array]:
    """The edges of some owners, about `most` in all, as a graph of one kind of node; and the owner of each edge."""
    owners = owned.indptr.shape[0] - 1
    order = np.argsort(draw(pruner.seed, NOISE, 0, np.arange(owners)), kind="stable")
    degree = np.diff(owned.indptr)[order]
    chosen = np.sort(order[: int(np.searchsorted(np.cumsum(degree), most)) + 1])
    slots = np.concatenate([np.arange(owned.indptr[u], owned.indptr[u + 1]) for u in chosen] or [np.zeros(0, np.int64)])
    owner = np.repeat(chosen, np.diff(owned.indptr)[chosen])
    edges = (owned.edges(0, owned.neighbour.shape[0]))[slots]
    own, other = owner, owned.neighbour[slots].astype(np.int64)
    x = graph.x_source if pruner.side == "in" else graph.x_target
    if graph.bipartite:  # the owner's own attributes are never hashed here: it needs a number only
        shift = graph.num_sources if pruner.side == "in" else graph.num_targets
        own, x = own + shift, None if x is None else _padded(x, shift + owners)
    nodes = int(max(own.max(initial=-1), other.max(initial=-1)) + 1) if x is None else x.shape[0]
    ends = np.stack([other, own] if pruner.side == "in" else [own, other])
    attr = None if graph.edge_attr is None else graph.edge_attr[edges]
    return Graph.from_edges(ends, num_nodes=nodes, x=x, edge_attr=attr), owner


def _padded(x: Array, rows: int) -> Array:
    dense = x.toarray() if hasattr(x, "toarray") else x
    return np.concatenate([dense, np.zeros((rows - dense.shape[0], *dense.shape[1:]), dense.dtype)])


def _disturbed(graph: Graph, noise: float, seed: int) -> Graph:
    """The same edges in the same order with noise on their attributes and their nodes, which get other numbers."""
    source, target = graph.ends()
    names = np.argsort(draw(seed, NOISE, 1, np.arange(graph.num_nodes)), kind="stable")  # new number -> old
    place = np.empty_like(names)
    place[names] = np.arange(names.shape[0])
    x = None if graph.x is None else _noisy(graph.x, draw(seed, NOISE, 2, np.arange(graph.num_nodes)), noise)
    attr = graph.edge_attr
    if attr is not None:
        attr = _noisy(attr, mix64(draw(seed, NOISE, 3, source, target) ^ _content(attr)), noise)
    return Graph.from_edges(
        np.stack([place[source], place[target]]),
        num_nodes=graph.num_nodes,
        x=None if x is None else x[names],
        edge_attr=attr,
    )


def _content(rows: Array) -> Array:
    """A number for what a row holds, so that noise does not depend on the order of edges."""
    flat = np.ascontiguousarray(rows.reshape(rows.shape[0], -1), dtype=np.float32).view(np.uint32)
    with np.errstate(over="ignore"):
        terms = flat.astype(np.uint64) * draw(0, NOISE, np.arange(flat.shape[1]))
        return np.asarray(terms.sum(1, dtype=np.uint64))


def _noisy(rows: Array, name: Array, noise: float) -> Array:
    """Rows with normal noise on every column that has numbers; one integer column is a category and stays."""
    dense = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    flat = dense.reshape(dense.shape[0], -1)
    if flat.shape[1] == 1 and flat.dtype.kind in "iu":
        return dense
    values = flat.astype(np.float32)
    spread = values.astype(np.float64).std(0)
    drawn = normal(mix64(name[:, None] ^ draw(1, NOISE, np.arange(flat.shape[1]))[None, :]))
    return np.asarray(values + (drawn * (noise * spread / UNIT)).astype(np.float32)).reshape(dense.shape)


def _overlap(one: Array, other: Array, owner: Array) -> float:
    """The mean Jaccard overlap of two selections, over the owners that had to choose."""
    both, either, degree = (
        np.bincount(owner, weights=values, minlength=1) for values in (one & other, one | other, np.ones(one.shape))
    )
    chose = degree > STEPS
    return float((both[chose] / either[chose]).mean()) if chose.any() else 0.0
