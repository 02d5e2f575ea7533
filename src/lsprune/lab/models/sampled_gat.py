"""The Planetoid model: a GAT that is trained on a few sampled neighbours per node and tested on all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.utils import remove_self_loops

from lsprune.lab.models.layers import convolution, edges_with_self_loops, precompute, with_self_loops


@dataclass(frozen=True, eq=False)
class NeighbourSampler:
    """Draws at most `limit` incoming edges per node, any number of times.

    The edges are sorted by target. A draw shuffles the sources within each target and takes the same positions every
    time, so all draws have the same size.
    """

    source: Tensor
    target: Tensor
    positions: Tensor  # the first `limit` of each target

    @classmethod
    def of(cls, edge_index: Tensor, limit: int) -> NeighbourSampler:
        """Return a sampler of these edges `[2, E]`."""
        target, order = torch.sort(edge_index[1], stable=True)
        rank = torch.arange(len(target), device=target.device) - torch.searchsorted(target, target)
        return cls(edge_index[0][order], target, torch.nonzero(rank < limit)[:, 0])

    def sample(self) -> Tensor:
        """Return edges `[2, E']` drawn uniformly without replacement by the default generator of their device."""
        order = torch.argsort(self.target + torch.rand_like(self.target, dtype=torch.float64))  # stays sorted by target
        return torch.stack([self.source[order[self.positions]], self.target[self.positions]])


def sample_incoming(edge_index: Tensor, limit: int) -> Tensor:
    """Return at most `limit` edges into each node, `[2, E']`, drawn uniformly without replacement.

    The default generator of the edges' device draws them, so `torch.manual_seed` makes the sample repeatable.

    >>> star = torch.tensor([[1, 2, 3, 4, 0], [0, 0, 0, 0, 1]])
    >>> torch.bincount(sample_incoming(star, 2)[1]).tolist()
    [2, 1]
    """
    return NeighbourSampler.of(edge_index, limit).sample()


class PlanetoidGAT(nn.Module):
    """Class scores `[N, out_dim]` of nodes: 2 concatenated heads of 8, ELU, then one head.

    The paper samples "at most 10, 15 neighbors for the first and second hop" (appendix B.3.1). GraphSAGE counts hops
    from the classified node, so the output layer samples 10 and the first layer 15. In training every call draws new
    samples; in evaluation all neighbours are used. Self-loops are not sampled: each node always has one.

    Args:
        limits: maximum number of sampled edges into a node, for the first layer and for the output layer.
        dropout: probability for each layer's input; the paper does not state one.
    """

    def __init__(
        self,
        in_dim: int,
        out_dim: int,
        *,
        basic: bool = False,
        width: int = 8,
        heads: int = 2,
        limits: tuple[int, int] = (15, 10),
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.limits = limits
        self.dropout = dropout
        self.first = convolution(in_dim, width, heads, concat=True, basic=basic, add_self_loops=False)
        self.second = convolution(width * heads, out_dim, 1, concat=True, basic=basic, add_self_loops=False)

    def samplers(self, edge_index: Tensor) -> tuple[NeighbourSampler, NeighbourSampler]:
        """Return the samplers of the first and of the output layer."""
        edges, _ = remove_self_loops(edge_index)
        return NeighbourSampler.of(edges, self.limits[0]), NeighbourSampler.of(edges, self.limits[1])

    def edges(self, data: Any) -> tuple[Tensor, Tensor]:
        """Return the edges of the first and of the output layer, with self-loops: sampled in training, else all."""
        if not self.training:
            all_edges = edges_with_self_loops(data)
            return all_edges, all_edges
        samplers = getattr(data, "samplers", None) or self.samplers(data.edge_index)
        first, second = (with_self_loops(sampler.sample(), data.num_nodes, has_none=True) for sampler in samplers)
        return first, second

    def precompute(self, data: Any) -> Any:
        """Return a copy of the graph with its self-loops added and its samplers built once."""
        graph = precompute(data)
        graph.samplers = self.samplers(data.edge_index)
        return graph

    def forward(self, data: Any) -> Tensor:
        first_edges, second_edges = self.edges(data)
        x = F.dropout(data.x, self.dropout, self.training)
        x = F.elu(self.first(x, first_edges))
        x = F.dropout(x, self.dropout, self.training)
        scores: Tensor = self.second(x, second_edges)
        return scores
