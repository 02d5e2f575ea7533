"""The paper's first figure made live: two samples of one class, and what is kept around every node of both.

The graphs are generated, small and the same every time. Pruners are fitted on more samples of the class, as a user
fits them on the training graphs. Masks, overlaps and the places of nodes are computed here; the page only shows them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from lsprune.baselines import LocalRandom
from lsprune.graph import Array
from lsprune.hashing import Codebook
from lsprune.kernels import runtime
from lsprune.lab.reporting.html_data import Data, short
from lsprune.lab.synthetic_graphs import Samples, Synthetic
from lsprune.measure import aligned_consistency
from lsprune.pruners import LSP, Pruner

KS = (1, 2, 3, 4)
SET = Synthetic(samples=32, classes=1, min_nodes=16, max_nodes=16, connectivity=0.36, seed=0)
SHOWN = 2  # the first samples of the set; the overlap over all nodes is over pairs of all samples
METHODS: dict[str, tuple[str, Callable[[int], Pruner]]] = {
    "LSP, codebook on the edge": (
        "the edge's own vector decides, by nearest word",
        lambda k: LSP(k=k, hash=Codebook(), attributes=("edge",), select="bottom"),
    ),
    "LSP-P": ("random projections of edge and neighbour decide", lambda k: LSP(k=k)),
    "local random": ("chance decides, for each sample by itself", lambda k: LocalRandom(k=k)),
}


@cache
def neighbourhood_data() -> Data:
    """The two samples, their layout, and for each method and k the masks and overlaps."""
    samples = SET.make(threads=1)
    methods = [
        {"name": name, "about": about, "k": [_at(samples, make(k)) for k in KS]}
        for name, (about, make) in METHODS.items()
    ]
    return {
        "k": list(KS),
        "fitted": SET.samples,
        "places": _places(samples),
        "samples": [_sample(samples, which) for which in range(SHOWN)],
        "methods": methods,
        "common": sorted({*_nodes(samples, 0)} & {*_nodes(samples, 1)}),
    }


def _sample(samples: Samples, which: int) -> Data:
    """Nodes and edges by their numbers in the class, which are the same in both samples."""
    edges = slice(*samples.edge_ptr[which : which + 2])
    ends = samples.centre_node[samples.edge_index[:, edges]]
    numbers = samples.centre_edge[edges]
    return {"nodes": _nodes(samples, which), "edges": np.column_stack([ends.T, numbers]).tolist()}


def _nodes(samples: Samples, which: int) -> list[int]:
    found: list[int] = samples.centre_node[slice(*samples.ptr[which : which + 2])].tolist()
    return found


def _at(samples: Samples, pruner: Pruner) -> Data:
    """What a pruner keeps: a letter for each edge of either sample, and the overlap around each node and in all."""
    mask = _mask(samples, pruner)
    parts = [mask[slice(*samples.edge_ptr[i : i + 2])] for i in range(SHOWN)]
    whole = aligned_consistency(mask, samples.edge_ptr, samples.y, samples.centre_edge)
    return {
        "kept": ["".join("1" if one else "0" for one in part.tolist()) for part in parts],
        "overlap": _overlaps(samples, mask),
        "whole": short(whole),
    }


def _mask(samples: Samples, pruner: Pruner) -> Array:
    """LSP has the same functions for all samples; chance draws for each of them, by a seed of its own."""
    run = runtime(1)
    if not isinstance(pruner, LocalRandom):
        return pruner.mask_graph(samples.graph, run).mask
    count = samples.y.size
    masks = np.stack([replace(pruner, seed=seed).mask_graph(samples.graph, run).mask for seed in range(count)])
    sample = np.repeat(np.arange(count), np.diff(samples.edge_ptr))
    mask: Array = masks[sample, np.arange(sample.size)]
    return mask


def _overlaps(samples: Samples, mask: Array) -> Data:
    """Of each node of both samples: [kept in both, kept in either] of the in-edges that both samples have."""
    cut, end = samples.edge_ptr[1:3].tolist()
    _, left, right = np.intersect1d(samples.centre_edge[:cut], samples.centre_edge[cut:end], return_indices=True)
    owner = samples.centre_node[samples.edge_index[1, left]]
    first, second = mask[left], mask[cut + right]
    count = int(samples.centre_node.max()) + 1
    both = np.bincount(owner[first & second], minlength=count)
    either = np.bincount(owner[first | second], minlength=count)
    there = sorted({*_nodes(samples, 0)} & {*_nodes(samples, 1)})
    return {str(node): [int(both[node]), int(either[node])] for node in there}


def _places(samples: Samples) -> list[list[float]]:
    """Where each node of the class is drawn, in the unit square: springs, from a circle, always the same."""
    ends = samples.centre_node[samples.edge_index]
    count = int(samples.centre_node.max()) + 1
    linked = np.zeros((count, count))
    linked[ends[0], ends[1]] = linked[ends[1], ends[0]] = 1.0
    angle = 2 * np.pi * np.arange(count) / count
    place = np.column_stack([np.cos(angle), np.sin(angle)])
    for step in np.linspace(0.15, 0.01, 200):
        gap = place[:, None] - place[None]
        far = np.maximum(np.hypot(gap[..., 0], gap[..., 1]), 0.05)
        force = 0.35 / far**2 - linked * far * 0.25 - 0.1 * far
        move = (gap / far[..., None] * force[..., None]).sum(axis=1)
        size = np.maximum(np.hypot(move[:, 0], move[:, 1]), 1e-9)
        place = place + move / size[:, None] * np.minimum(size, step)[:, None]
    low, high = place.min(axis=0), place.max(axis=0)
    rounded: list[list[float]] = np.round((place - low) / (high - low), 3).tolist()
    return rounded
