"""GCN, GraphSAGE and GAT with skip connections: a node keeps what it knows of itself, whatever its neighbours say.

Not in the paper: they show whether a result depends on attention, or on a model that mixes a node with its neighbours.
"""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from lsprune.lab.models.convolutions import ConvolutionModel, layer

SKIP_KINDS = ("gcn", "sage", "gat")


class SkipNet(ConvolutionModel):
    """Scores `[N, out_dim]` of nodes, for classes or for labels: a linear layer, convolutions, and a linear layer.

    A skip connection adds the input of each convolution to its output. Without edges this is a network of linear
    layers. Dropout is applied to the input of every layer, never to edges.

    Args:
        kind: one of `SKIP_KINDS`.
        dropout: half of the inputs would be too much for graphs of few features, such as PPI and Minesweeper.
    """

    def __init__(
        self, in_dim: int, out_dim: int, *, kind: str, width: int = 128, depth: int = 2, dropout: float = 0.2
    ) -> None:
        super().__init__(kind)
        self.dropout = dropout
        self.first = nn.Linear(in_dim, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(depth))
        self.convs = nn.ModuleList(layer(kind, width, width) for _ in range(depth))
        self.last = nn.Linear(width, out_dim)

    def forward(self, data: Any) -> Tensor:
        edges = self.edges(data)
        x = F.relu(self.first(self._dropped(data.x)))
        for norm, conv in zip(self.norms, self.convs, strict=True):
            x = x + F.relu(conv(self._dropped(norm(x)), edges))
        scores: Tensor = self.last(self._dropped(x))
        return scores

    def _dropped(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training)
