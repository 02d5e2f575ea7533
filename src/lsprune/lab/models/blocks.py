"""What several models are made of: a layer with or without attention, and which graph a node belongs to."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv, MessagePassing
from torch_geometric.utils import add_self_loops, remove_self_loops


class MeanConv(MessagePassing):  # type: ignore[misc]  # PyG has no types
    """A GATConv whose attention is the same for every neighbour: the mean of a node's and its neighbours' `W x`.

    The paper's basic models are "GCN variants that aggregate messages by averaging" (appendix B.3.4): this and not
    PyG's GCNConv, which divides by the square roots of both ends' degrees, so that its weights do not add up to one.
    """

    def __init__(self, in_dim: int, out_dim: int) -> None:
        super().__init__(aggr="mean")
        self.linear = nn.Linear(in_dim, out_dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_dim))
        nn.init.xavier_uniform_(self.linear.weight)  # as GATConv begins

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        plain, _ = remove_self_loops(edge_index)
        looped, _ = add_self_loops(plain, num_nodes=x.shape[0])
        mean: Tensor = self.propagate(looped, x=self.linear(x))
        return mean + self.bias


def convolution(in_dim: int, width: int, heads: int, *, concat: bool, basic: bool) -> nn.Module:
    """One layer with `width * heads` columns where `concat`, else `width`: GATConv, or what replaces it in `basic`.

    Heads that all weigh alike and are averaged are one linear map, so in `basic` an averaging layer has just that.
    """
    if basic:
        return MeanConv(in_dim, width * heads if concat else width)
    layer: nn.Module = GATConv(in_dim, width, heads=heads, concat=concat)
    return layer


def graph_of_node(data: Any) -> Tensor:
    """The number of each node's graph, `[N]`: all zeros where `data` is one graph and not a `Batch`."""
    batch: Tensor | None = getattr(data, "batch", None)
    if batch is None:
        return torch.zeros(data.num_nodes, dtype=torch.long, device=data.edge_index.device)
    return batch


def graph_count(data: Any) -> int:
    """How many graphs `data` holds, also where the last of them have no node."""
    known = getattr(data, "num_graphs", None)  # PyG's Data has none
    if known is not None:
        return int(known)
    return int(data.batch.max()) + 1 if getattr(data, "batch", None) is not None else 1


def category(values: Tensor) -> Tensor:
    """Categories as `[N]`, from `[N]` or `[N, 1]`."""
    return values.reshape(-1)
