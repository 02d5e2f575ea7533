"""The model for the paper's synthetic graph classification (appendix B.3), with its basic variant without attention."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import global_mean_pool

from lsprune.lab.models.attention import FusedGATConv, SortedEdges, can_fuse
from lsprune.lab.models.layers import convolution, graph_count, graph_of_node, with_self_loops


class SyntheticGAT(nn.Module):
    """Class scores `[G, out_dim]` of graphs: three layers of 16 heads × 40, mean pooling, dropout 0.5, linear.

    The first two layers concatenate their heads (640 columns), the third averages them (40). As in the paper's runs,
    the model does not read edge attributes: they matter only through the edges that a pruner keeps. `fuse` says whether
    the fused kernel runs where it can.
    """

    static_shapes, self_loops, fuse = True, False, True

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
        self.first = convolution(in_dim, width, heads, concat=True, basic=basic, add_self_loops=False)
        self.second = convolution(width * heads, width, heads, concat=True, basic=basic, add_self_loops=False)
        self.third = convolution(width * heads, width, heads, concat=False, basic=basic, add_self_loops=False)
        self.last = nn.Linear(width, out_dim)

    def forward(self, data: Any) -> Tensor:
        edges = self._edges(data)
        x = F.relu(self.first(data.x, edges))
        x = F.relu(self.second(x, edges))
        x = self.third(x, edges)
        pooled = global_mean_pool(x, graph_of_node(data), size=graph_count(data))
        scores: Tensor = self.last(F.dropout(pooled, self.dropout, self.training))
        return scores

    def _edges(self, data: Any) -> Tensor | SortedEdges:
        node_mask = getattr(data, "node_mask", None)
        # padded batches come from a store without self-loops, and removing any would not have a static shape
        edges = with_self_loops(data.edge_index, data.num_nodes, has_none=node_mask is not None)
        fuse = self.fuse and isinstance(self.first, FusedGATConv) and can_fuse(data.x)
        return SortedEdges.of(edges, data.num_nodes, node_mask) if fuse else edges
