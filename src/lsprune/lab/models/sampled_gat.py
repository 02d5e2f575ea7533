"""The Planetoid model: a GAT that is trained on a few drawn neighbours a node and tested on all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.utils import remove_self_loops

from lsprune.lab.models.layers import convolution, looped, settled, with_loops


@dataclass(frozen=True, eq=False)
class Incoming:
    """Edges sorted by target, of which at most `limit` into each node can be drawn, again and again.

    Which places of the list are taken is always the same, and so is how many; who stands there is drawn.
    """

    source: Tensor
    target: Tensor
    taken: Tensor

    @classmethod
    def of(cls, edge_index: Tensor, limit: int) -> Incoming:
        target, order = torch.sort(edge_index[1], stable=True)
        rank = torch.arange(len(target), device=target.device) - torch.searchsorted(target, target)
        return cls(edge_index[0][order], target, torch.nonzero(rank < limit)[:, 0])

    def drawn(self) -> Tensor:
        """Edges `[2, E']`, uniformly without replacement, by torch's default generator of their device."""
        order = torch.argsort(self.target + torch.rand_like(self.target, dtype=torch.float64))  # stays sorted by target
        return torch.stack([self.source[order[self.taken]], self.target[self.taken]])


def draw_incoming(edge_index: Tensor, limit: int) -> Tensor:
    """At most `limit` edges into each node, `[2, E']`, drawn uniformly without replacement.

    The draw is torch's default generator of the edges' device, so `torch.manual_seed` makes it repeatable.

    >>> star = torch.tensor([[1, 2, 3, 4, 0], [0, 0, 0, 0, 1]])
    >>> torch.bincount(draw_incoming(star, 2)[1]).tolist()
    [2, 1]
    """
    return Incoming.of(edge_index, limit).drawn()


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
        self.first = convolution(in_dim, width, heads, concat=True, basic=basic, loops=False)
        self.second = convolution(width * heads, out_dim, 1, concat=True, basic=basic, loops=False)

    def incoming(self, edge_index: Tensor) -> tuple[Incoming, Incoming]:
        """What the first and the output layer draw from in training."""
        plain, _ = remove_self_loops(edge_index)
        return Incoming.of(plain, self.limits[0]), Incoming.of(plain, self.limits[1])

    def edges(self, data: Any) -> tuple[Tensor, Tensor]:
        """The edges that the first and the output layer use in the present mode, with a self-loop for every node."""
        if not self.training:
            every = looped(data)
            return every, every
        incoming = getattr(data, "incoming", None) or self.incoming(data.edge_index)
        inner, outer = (with_loops(some.drawn(), data.num_nodes, plain=True) for some in incoming)
        return inner, outer

    def settled(self, data: Any) -> Any:
        ready = settled(data)
        ready.incoming = self.incoming(data.edge_index)
        return ready

    def forward(self, data: Any) -> Tensor:
        inner, outer = self.edges(data)
        x = F.dropout(data.x, self.dropout, self.training)
        x = F.elu(self.first(x, inner))
        x = F.dropout(x, self.dropout, self.training)
        scores: Tensor = self.second(x, outer)
        return scores
