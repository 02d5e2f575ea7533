"""Mini-batches of nodes with all nodes that reach them, cut from compressed rows.

PyG's `NeighborLoader` needs pyg-lib or torch-sparse, which no extra of lsprune installs. This takes whole
neighbourhoods, so that scores of a batch are those of the whole graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data


@dataclass(frozen=True, eq=False)
class InNeighbours:
    """The in-neighbours of every node as compressed rows: those of node i are `sources[starts[i]:starts[i + 1]]`."""

    starts: Tensor
    sources: Tensor

    @classmethod
    def of(cls, edge_index: Tensor, num_nodes: int) -> InNeighbours:
        """Return the rows of edges `[2, E]`, on their device."""
        target, order = torch.sort(edge_index[1], stable=True)
        boundaries = torch.arange(num_nodes + 1, device=edge_index.device)
        return cls(torch.searchsorted(target, boundaries), edge_index[0].index_select(0, order))

    def edges_into(self, nodes: Tensor) -> Tensor:
        """Return all edges `[2, E']` into these nodes; the second row is the position of the node."""
        begin = self.starts[nodes]
        counts = self.starts[nodes + 1] - begin
        before = torch.cumsum(counts, 0) - counts
        position = torch.repeat_interleave(torch.arange(len(nodes), device=nodes.device), counts)
        rank = torch.arange(len(position), device=nodes.device) - before[position]
        return torch.stack([self.sources[begin[position] + rank], position])

    def batch(self, nodes: Tensor, hops: int, x: Tensor) -> Data:
        """Return the subgraph of distinct nodes and all edges within so many hops of them; these nodes come first.

        `n_id` holds the numbers of its nodes in the whole graph.
        """
        number = torch.full((len(self.starts) - 1,), -1, device=nodes.device)
        number[nodes] = torch.arange(len(nodes), device=nodes.device)
        members, frontier, first = nodes, nodes, 0
        edges: list[Tensor] = []
        for _ in range(hops):
            source, position = self.edges_into(frontier)
            new = torch.unique(source[number[source] < 0])
            number[new] = torch.arange(len(members), len(members) + len(new), device=nodes.device)
            edges.append(torch.stack([number[source], position + first]))
            first, members, frontier = len(members), torch.cat([members, new]), new
        return Data(x=x[members], edge_index=torch.cat(edges, 1), num_nodes=len(members), n_id=members)
