"""What several models are made of: a layer with or without attention, and which graph a node belongs to."""

from __future__ import annotations

from copy import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import add_self_loops, remove_self_loops

from lsprune.lab.models.attention import SmallGAT


class MeanConv(MessagePassing):  # type: ignore[misc]  # PyG has no types
    """A GATConv whose attention is the same for every neighbour: the mean of a node's and its neighbours' `W x`.

    The paper's basic models are "GCN variants that aggregate messages by averaging" (appendix B.3.4): this and not
    PyG's GCNConv, which divides by the square roots of both ends' degrees, so that its weights do not add up to one.

    Args:
        loops: give every node a self-loop; False where the caller has done so.
    """

    def __init__(self, in_dim: int, out_dim: int, *, loops: bool = True) -> None:
        super().__init__(aggr="mean")
        self.loops = loops
        self.linear = nn.Linear(in_dim, out_dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_dim))
        nn.init.xavier_uniform_(self.linear.weight)  # as GATConv begins

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        looped = with_loops(edge_index, x.shape[0]) if self.loops else edge_index
        mean: Tensor = self.propagate(looped, x=self.linear(x))
        return mean + self.bias


def with_loops(edge_index: Tensor, nodes: int, *, plain: bool = False) -> Tensor:
    """The edges with one self-loop for every node, whatever they were; `plain` says that they have none yet."""
    kept = edge_index if plain else remove_self_loops(edge_index)[0]
    looped: Tensor = add_self_loops(kept, num_nodes=nodes)[0]
    return looped


def looped(data: Any) -> Tensor:
    """The edges of a graph with one self-loop for every node; found once where the graph is `settled`."""
    edges: Tensor | None = getattr(data, "looped", None)
    return with_loops(data.edge_index, data.num_nodes) if edges is None else edges


def settled(data: Any) -> Any:
    """The graph with what every step would find anew, in sizes that only the edges' values tell."""
    ready = copy(data)
    ready.looped = with_loops(data.edge_index, data.num_nodes)
    return ready


class NodeNorm(nn.BatchNorm1d):
    """BatchNorm over the nodes that are real, where a batch was filled up with others."""

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        if real is None or not self.training:
            return super().forward(x)
        assert self.running_mean is not None and self.running_var is not None and self.momentum is not None
        count = real.sum()
        weight = (real / count)[:, None].to(x.dtype)
        mean = (x * weight).sum(0)
        variance = ((x - mean).square() * weight).sum(0)
        with torch.no_grad():
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * count / (count - 1), self.momentum)
        normal: Tensor = (x - mean) * torch.rsqrt(variance + self.eps) * self.weight + self.bias
        return normal


def convolution(in_dim: int, width: int, heads: int, *, concat: bool, basic: bool, loops: bool = True) -> nn.Module:
    """One layer with `width * heads` columns where `concat`, else `width`: GATConv, or what replaces it in `basic`.

    Heads that all weigh alike and are averaged are one linear map, so in `basic` an averaging layer has just that.
    """
    if basic:
        return MeanConv(in_dim, width * heads if concat else width, loops=loops)
    layer: nn.Module = SmallGAT(in_dim, width, heads=heads, concat=concat, add_self_loops=loops)
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
