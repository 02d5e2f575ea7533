"""The model of the paper's synthetic graph classification (appendix B.3), and its basic (GCN) variant."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import global_mean_pool

from lsprune.lab.models.attention import Links, SmallGAT, fusable
from lsprune.lab.models.layers import convolution, graph_count, graph_of_node, with_loops


class SyntheticGAT(nn.Module):
    """Class scores `[G, out_dim]` of the graphs: three layers of 16 heads × 40, mean pool, dropout 0.5, linear.

    The first two layers concatenate their heads (640 columns), the third averages them (40). Edge attributes are not
    used, as in the paper's runs: what an edge says reaches the model only through which edges a pruner keeps.
    """

    static, loops = True, False

    def __init__(
        self,
        in_dim: int,
        out_dim: int,
        *,
        basic: bool = False,
        width: int = 40,
        heads: int = 16,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = convolution(in_dim, width, heads, concat=True, basic=basic, loops=False)
        self.second = convolution(width * heads, width, heads, concat=True, basic=basic, loops=False)
        self.third = convolution(width * heads, width, heads, concat=False, basic=basic, loops=False)
        self.last = nn.Linear(width, out_dim)

    def forward(self, data: Any) -> Tensor:
        edges = self._edges(data)
        x = F.relu(self.first(data.x, edges))
        x = F.relu(self.second(x, edges))
        x = self.third(x, edges)
        pooled = global_mean_pool(x, graph_of_node(data), size=graph_count(data))
        scores: Tensor = self.last(F.dropout(pooled, self.dropout, self.training))
        return scores

    def _edges(self, data: Any) -> Tensor | Links:
        real = getattr(data, "real", None)
        looped = with_loops(data.edge_index, data.num_nodes, plain=real is not None)
        fused = isinstance(self.first, SmallGAT) and fusable(data.x)
        return Links.of(looped, data.num_nodes, real) if fused else looped
