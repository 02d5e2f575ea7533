"""The GATs of the paper's node experiments (appendix B.3), each with its basic variant without attention."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from lsprune.lab.models.layers import convolution, edges_with_self_loops, precompute


class GitHubGAT(nn.Module):
    """Class scores `[N, out_dim]` of nodes: two layers of one head, 32 wide, with LeakyReLU 0.2 between them."""

    def __init__(self, in_dim: int, out_dim: int, *, basic: bool = False, width: int = 32) -> None:
        super().__init__()
        self.first = convolution(in_dim, width, 1, concat=True, basic=basic, add_self_loops=False)
        self.second = convolution(width, out_dim, 1, concat=True, basic=basic, add_self_loops=False)

    def precompute(self, data: Any) -> Any:
        """Return a copy of the graph with its self-loops added once."""
        return precompute(data)

    def forward(self, data: Any) -> Tensor:
        edges = edges_with_self_loops(data)
        x = F.leaky_relu(self.first(data.x, edges), 0.2)
        scores: Tensor = self.second(x, edges)
        return scores


class NodeGAT(nn.Module):
    """Class scores `[N, out_dim]` of nodes: 8 concatenated heads of 16, ELU, then one head.

    Not in the paper: a common GAT for the datasets that the paper does not use (Amazon Computers, Coauthor CS). Dropout
    is applied to features only: dropout of attention weights would itself prune edges at random in every epoch.
    """

    def __init__(
        self,
        in_dim: int,
        out_dim: int,
        *,
        basic: bool = False,
        width: int = 16,
        heads: int = 8,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = convolution(in_dim, width, heads, concat=True, basic=basic, add_self_loops=False)
        self.second = convolution(width * heads, out_dim, 1, concat=True, basic=basic, add_self_loops=False)

    def precompute(self, data: Any) -> Any:
        """Return a copy of the graph with its self-loops added once."""
        return precompute(data)

    def forward(self, data: Any) -> Tensor:
        edges = edges_with_self_loops(data)
        x = F.dropout(data.x, self.dropout, self.training)
        x = F.elu(self.first(x, edges))
        x = F.dropout(x, self.dropout, self.training)
        scores: Tensor = self.second(x, edges)
        return scores


class PPIGAT(nn.Module):
    """Label scores `[N, out_dim]` of nodes: three layers of 4, 4 and 6 heads, 256 wide per head, ELU, skip connections.

    As in the GAT paper's inductive model, a skip connection adds a linear map of a layer's input to its output. The
    last layer averages its heads.
    """

    def __init__(
        self,
        in_dim: int,
        out_dim: int,
        *,
        basic: bool = False,
        width: int = 256,
        heads: tuple[int, int, int] = (4, 4, 6),
    ) -> None:
        super().__init__()
        in_dims = (in_dim, width * heads[0], width * heads[1])
        out_dims = (width * heads[0], width * heads[1], out_dim)
        self.convs = nn.ModuleList(
            convolution(size, out_dim if last else width, count, concat=not last, basic=basic)
            for size, count, last in zip(in_dims, heads, (False, False, True), strict=True)
        )
        self.skips = nn.ModuleList(nn.Linear(*sizes) for sizes in zip(in_dims, out_dims, strict=True))

    def forward(self, data: Any) -> Tensor:
        x: Tensor = data.x
        for layer, (conv, skip) in enumerate(zip(self.convs, self.skips, strict=True)):
            x = F.elu(x) if layer else x
            x = conv(x, data.edge_index) + skip(x)
        return x
