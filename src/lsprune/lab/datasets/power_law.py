"""A generated graph with power-law degrees and random labels as a `Dataset`, as large as a large real one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch_geometric.data import Data

from lsprune.graph import Array
from lsprune.lab.datasets import Dataset
from lsprune.lab.datasets.splits import split_nodes
from lsprune.lab.node_splits import MASKS

RANK_OFFSET = 10.0  # ends are drawn with probability ~ (rank + 10)^-0.5, so that hubs have thousands of edges, not all


@dataclass(frozen=True, kw_only=True)
class PowerLaw:
    """The generator; both directions of every edge are stored. The default has the size of ogbn-products."""

    nodes: int = 2_000_000
    edges: int = 60_000_000
    columns: int = 100
    classes: int = 47
    seed: int = 0

    def edge_index(self) -> Array:
        """Return the edges `[2, E]`: the ends are independent, and node numbers do not tell degrees.

        >>> PowerLaw(nodes=3, edges=4).edge_index().shape
        (2, 4)
        """
        rng = np.random.default_rng(self.seed)
        low, high = RANK_OFFSET**0.5, (self.nodes + RANK_OFFSET) ** 0.5
        root = low + rng.random((2, self.edges // 2)) * (high - low)  # the inverse of the cumulative weights
        rank = np.minimum((root * root - RANK_OFFSET).astype(np.int64), self.nodes - 1)
        rank[1] = np.where(rank[0] == rank[1], (rank[1] + 1) % self.nodes, rank[1])  # no self-loops
        ends = rng.permutation(self.nodes)[rank]
        return np.concatenate([ends, ends[::-1]], axis=1)

    def make(self) -> Dataset:
        """Return the graph with normal features and random labels, split 60/20/20; the same on every machine."""
        rng = np.random.default_rng(self.seed + 1)
        data = Data(
            x=torch.from_numpy(rng.standard_normal((self.nodes, self.columns), dtype=np.float32)),
            y=torch.from_numpy(rng.integers(0, self.classes, self.nodes)),
            edge_index=torch.from_numpy(self.edge_index()),
        )
        for name, part in zip(MASKS, split_nodes(np.arange(self.nodes), self.seed), strict=True):
            mask = np.zeros(self.nodes, dtype=bool)
            mask[part] = True
            data[name] = torch.from_numpy(mask)
        return Dataset(
            "power-law", "node-classification", data, data, data, num_features=self.columns, num_classes=self.classes
        )
