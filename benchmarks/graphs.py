"""The graphs every benchmark runs on: Chung-Lu power law, both directions stored."""

from __future__ import annotations

import numpy as np


def power_law(num_edges: int, num_nodes: int, *, seed: int = 0) -> np.ndarray:
    """COO edges `[2, num_edges]` int64 of a graph whose endpoints are drawn with probability ~ (rank + 10)^-0.5."""
    rng = np.random.default_rng(seed)
    weight = (np.arange(num_nodes) + 10.0) ** -0.5
    cumulative = np.cumsum(weight)
    half = num_edges // 2
    draws = np.searchsorted(cumulative, rng.random((2, half)) * cumulative[-1]).clip(0, num_nodes - 1)
    ends = rng.permutation(num_nodes)[draws]  # ids carry no order
    return np.concatenate([ends, ends[::-1]], axis=1).astype(np.int64)


def features(num_nodes: int, dim: int, *, seed: int = 0) -> np.ndarray:
    """Node features `[num_nodes, dim]` float32, standard normal."""
    return np.random.default_rng(seed + 1).standard_normal((num_nodes, dim), dtype=np.float32)
