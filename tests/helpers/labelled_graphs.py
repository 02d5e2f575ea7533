"""Graphs with labels that attributes and neighbours tell together: some edges join a class, the others are noise."""

from __future__ import annotations

import numpy as np

from lsprune import Graph


def labelled_graph(nodes: int = 240, degree: int = 12, noise: float = 0.5, seed: int = 0, **more) -> Graph:
    """Return a graph of three classes: `noise` of the edges go anywhere, the others stay in the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, nodes)
    x = np.eye(3)[y] + rng.normal(0, 0.9, (nodes, 3))
    target = np.repeat(np.arange(nodes), degree)
    order, start = np.argsort(y, kind="stable"), np.searchsorted(np.sort(y), [0, 1, 2, 3])
    within = order[rng.integers(start[y[target]], start[y[target] + 1])]
    source = np.where(rng.random(target.size) < noise, rng.integers(0, nodes, target.size), within)
    mask = rng.permutation(nodes) < 0.6 * nodes
    return Graph.from_edges(
        np.stack([source, target]), x=np.concatenate([x, rng.normal(size=(nodes, 5))], 1).astype(np.float32),
        **{"y": y, "train_mask": mask, **more},
    )  # fmt: skip
