"""Show what pruning does to one neighbourhood, as the paper's first figure: two samples of a class, what each keeps.

The graphs are generated, small and the same every time. Pruners are fitted on more samples of the class, as a user
fits them on the training graphs. Masks, overlaps and positions of nodes never change, so they are packaged as
`neighbourhood.json`: pruning again for every report would load numba and take as long as everything else. To make the
file again: `python -c "from lsprune.lab.reporting.html import neighbourhood; neighbourhood.write_file()"`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.baselines import LocalRandom
from lsprune.graph import Array
from lsprune.kernels import runtime
from lsprune.lab.reporting.formatting import short
from lsprune.lab.reporting.method_styles import SAMPLE_METHODS, page_styles
from lsprune.lab.studies.methods import catalogue
from lsprune.lab.synthetic_graphs import Samples, Synthetic
from lsprune.measure import aligned_consistency
from lsprune.pruners import Pruner

Data = dict[str, Any]
FILE = "neighbourhood.json"
KS = (1, 2, 3, 4)
SET = Synthetic(samples=32, classes=1, min_nodes=16, max_nodes=16, connectivity=0.36, seed=0)
SHOWN = 2  # the first samples of the set; the overlap over all nodes is over pairs of all samples


@cache
def neighbourhood_data() -> Data:
    """Return the two samples, their layout, and for each method and k the masks and overlaps."""
    data: Data = json.loads((files("lsprune.lab.reporting.html") / FILE).read_text(encoding="utf8"))
    styles = page_styles([catalogue()[name] for name in SAMPLE_METHODS], SAMPLE_METHODS)
    labels = [{"name": name, "about": about, "style": styles[name].to_dict()} for name, about in SAMPLE_METHODS.items()]
    methods = [{**label, "byK": kept} for label, kept in zip(labels, data.pop("kept"), strict=True)]
    return {**data, "methods": methods}


def compute() -> Data:
    """Return the content of the packaged file: what `neighbourhood_data` returns, without names and styles."""
    samples = SET.make(threads=1)
    return {
        "k": list(KS),
        "samples": [_sample(samples, which) for which in range(SHOWN)],
        "numSamples": SET.samples,
        "positions": _positions(samples),
        "kept": [[_kept(samples, _pruner(name, k)) for k in KS] for name in SAMPLE_METHODS],
        "common": sorted({*_nodes(samples, 0)} & {*_nodes(samples, 1)}),
    }


def _pruner(name: str, k: int) -> Pruner:
    pruner = catalogue()[name].make(k=k)
    assert pruner is not None
    return pruner


def _sample(samples: Samples, which: int) -> Data:
    """Return nodes and edges by their numbers in the class, which are the same in both samples."""
    edges = slice(*samples.edge_ptr[which : which + 2])
    ends = samples.centre_node[samples.edge_index[:, edges]]
    numbers = samples.centre_edge[edges]
    return {"nodes": _nodes(samples, which), "edges": np.column_stack([ends.T, numbers]).tolist()}


def _nodes(samples: Samples, which: int) -> list[int]:
    nodes: list[int] = samples.centre_node[slice(*samples.ptr[which : which + 2])].tolist()
    return nodes


def _kept(samples: Samples, pruner: Pruner) -> Data:
    """Return what a pruner keeps, a digit for each edge of either sample, and the overlap by node and over all."""
    mask = _mask(samples, pruner)
    parts = [mask[slice(*samples.edge_ptr[i : i + 2])] for i in range(SHOWN)]
    overall = aligned_consistency(mask, samples.edge_ptr, samples.y, samples.centre_edge)
    return {
        "mask": ["".join("1" if kept else "0" for kept in part.tolist()) for part in parts],
        "overlap": _overlaps(samples, mask),
        "overall": short(overall),
    }


def _mask(samples: Samples, pruner: Pruner) -> Array:
    """Return the mask of all samples: LSP uses the same functions for all, k random neighbours a seed for each."""
    run = runtime(1)
    if not isinstance(pruner, LocalRandom):
        return pruner.mask_graph(samples.graph, run).mask
    count = samples.y.size
    masks = np.stack([replace(pruner, seed=seed).mask_graph(samples.graph, run).mask for seed in range(count)])
    sample = np.repeat(np.arange(count), np.diff(samples.edge_ptr))
    mask: Array = masks[sample, np.arange(sample.size)]
    return mask


def _overlaps(samples: Samples, mask: Array) -> Data:
    """Return for each node of both samples [kept in both, kept in either] of the in-edges that both samples have."""
    cut, end = samples.edge_ptr[1:3].tolist()
    _, left, right = np.intersect1d(samples.centre_edge[:cut], samples.centre_edge[cut:end], return_indices=True)
    owner = samples.centre_node[samples.edge_index[1, left]]
    first, second = mask[left], mask[cut + right]
    count = int(samples.centre_node.max()) + 1
    both = np.bincount(owner[first & second], minlength=count)
    either = np.bincount(owner[first | second], minlength=count)
    common = sorted({*_nodes(samples, 0)} & {*_nodes(samples, 1)})
    return {str(node): [int(both[node]), int(either[node])] for node in common}


def _positions(samples: Samples) -> list[list[float]]:
    """Return where each node of the class is drawn in the unit square: a spring layout that starts from a circle."""
    ends = samples.centre_node[samples.edge_index]
    count = int(samples.centre_node.max()) + 1
    linked = np.zeros((count, count))
    linked[ends[0], ends[1]] = linked[ends[1], ends[0]] = 1.0
    angle = 2 * np.pi * np.arange(count) / count
    position = np.column_stack([np.cos(angle), np.sin(angle)])
    for step in np.linspace(0.15, 0.01, 200):
        gap = position[:, None] - position[None]
        far = np.maximum(np.hypot(gap[..., 0], gap[..., 1]), 0.05)
        force = 0.35 / far**2 - linked * far * 0.25 - 0.1 * far
        move = (gap / far[..., None] * force[..., None]).sum(axis=1)
        size = np.maximum(np.hypot(move[:, 0], move[:, 1]), 1e-9)
        position = position + move / size[:, None] * np.minimum(size, step)[:, None]
    low, high = position.min(axis=0), position.max(axis=0)
    rounded: list[list[float]] = np.round((position - low) / (high - low), 3).tolist()
    return rounded


def write_file() -> None:
    """Write the packaged file."""
    Path(__file__).with_name(FILE).write_text(json.dumps(compute(), separators=(",", ":")) + "\n", encoding="utf8")
