"""Batches padded to one size, as CUDA graphs require: the padding nodes form one more graph, which no loss reads."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch_geometric.data import Data

from lsprune.lab.training.graph_store import GraphStore

_DEVIATIONS = 6  # a random batch fits if it is at most so many standard deviations larger than the mean


@dataclass(frozen=True)
class PaddedSize:
    """The numbers of nodes, edges and graphs that batches are padded to; at least one node is padding."""

    nodes: int
    edges: int
    graphs: int

    @classmethod
    def for_random_batches(cls, store: GraphStore, graphs: int) -> PaddedSize:
        """Return a size that nearly every random batch of `graphs` graphs fits into."""
        nodes, edges = (
            min(
                float(counts.mean() * graphs + _DEVIATIONS * counts.std(correction=0) * graphs**0.5),
                float(counts.sort(descending=True).values[:graphs].sum()),
            )
            for counts in (store.node_starts.diff().double(), store.starts["edge_index"].diff().double())
        )
        return cls(int(nodes) + 2, int(edges) + 1, graphs)

    @classmethod
    def for_batch(cls, batch: Data) -> PaddedSize:
        """Return the size of this batch with one padding node."""
        return cls(int(batch.num_nodes or 0) + 1, int(batch.edge_index.shape[1]), int(batch.num_graphs))

    def fits(self, batch: Data) -> bool:
        """Return whether the batch has exactly `graphs` graphs, fewer than `nodes` nodes and at most `edges` edges."""
        fits = batch.num_nodes < self.nodes and batch.edge_index.shape[1] <= self.edges
        return bool(batch.num_graphs == self.graphs and fits)

    def pad(self, batch: Data) -> Data:
        """Return the batch padded to this size, with `node_mask`, which is False for padding nodes."""
        num_nodes, num_edges = batch.num_nodes, batch.edge_index.shape[1]
        fill = {
            "edge_index": self.nodes - 1,
            "batch": self.graphs,
        }  # self-loops at the last node, in a graph of its own
        padded: dict[str, Tensor] = {}
        for key, value in batch.to_dict().items():
            if not torch.is_tensor(value) or key == "ptr":
                continue
            if key == "edge_index":
                padded[key] = pad(value, (0, self.edges - num_edges), value=fill[key])
                continue
            rows = self.edges - num_edges if key.startswith("edge_") else self.nodes - num_nodes if key != "y" else 0
            padded[key] = pad(value, (0, 0) * (value.dim() - 1) + (0, rows), value=fill.get(key, 0))
        node_mask = torch.arange(self.nodes, device=batch.edge_index.device) < num_nodes
        return Data(**padded, node_mask=node_mask, num_nodes=self.nodes, num_graphs=self.graphs + 1)
