"""The Planetoid model: a GAT that is trained on a few drawn neighbours a node and tested on all of them."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.utils import remove_self_loops

from lsprune.lab.models.blocks import convolution


def draw_incoming(edge_index: Tensor, limit: int) -> Tensor:
    """At most `limit` edges into each node, `[2, E']`, drawn uniformly without replacement.

    The draw is torch's default generator of the edges' device, so `torch.manual_seed` makes it repeatable.

    >>> star = torch.tensor([[1, 2, 3, 4, 0], [0, 0, 0, 0, 1]])
    >>> torch.bincount(draw_incoming(star, 2)[1]).tolist()
    [2, 1]
    """
    # Sorting by target keeps the random order within a target, as the sort is stable: every node's edges, shuffled.
    shuffled = edge_index[:, torch.randperm(edge_index.shape[1], device=edge_index.device)]
    target, order = torch.sort(shuffled[1], stable=True)
    rank = torch.arange(len(target), device=target.device) - torch.searchsorted(target, target)
    return shuffled[:, order[rank < limit]]


class PlanetoidGAT(nn.Module):
    """Class scores `[N, out_dim]` of the nodes: 2 heads of 8 concatenated, ELU, then one head.

    As GraphSAGE counts hops from the node whose class is asked, the paper's "at most 10, 15 neighbors for the first and
    second hop" (appendix B.3.1) are 10 for the output layer and 15 for the layer before it. Each call in training draws
    both afresh; in testing every neighbour counts. A self-loop takes no place: each layer adds its own.

    Args:
        limits: the most edges into a node in training, for the first layer and for the output layer.
        dropout: of each layer's input; the paper does not state one.
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
        self.first = convolution(in_dim, width, heads, concat=True, basic=basic)
        self.second = convolution(width * heads, out_dim, 1, concat=True, basic=basic)

    def edges(self, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        """The edges that the first and the output layer use in the present mode."""
        if not self.training:
            return edge_index, edge_index
        plain, _ = remove_self_loops(edge_index)
        return draw_incoming(plain, self.limits[0]), draw_incoming(plain, self.limits[1])

    def forward(self, data: Any) -> Tensor:
        inner, outer = self.edges(data.edge_index)
        x = F.dropout(data.x, self.dropout, self.training)
        x = F.elu(self.first(x, inner))
        x = F.dropout(x, self.dropout, self.training)
        scores: Tensor = self.second(x, outer)
        return scores
