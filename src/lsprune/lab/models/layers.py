"""Layers and helpers that several models share: convolutions, self-loops, batch norm, numbers of graphs."""

from __future__ import annotations

from copy import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import add_self_loops, remove_self_loops

from lsprune.lab.models.attention import FusedGATConv


class MeanConv(MessagePassing):  # type: ignore[misc]  # PyG has no types
    """GATConv with uniform attention: the mean of `W x` over a node and its in-neighbours.

    The paper's basic models are "GCN variants that aggregate messages by averaging" (appendix B.3.4). PyG's GCNConv is
    not that: it divides by the square roots of both ends' degrees, so its weights do not add up to one.

    Args:
        add_self_loops: add a self-loop to every node; False if the caller has added them.
    """

    def __init__(self, in_dim: int, out_dim: int, *, add_self_loops: bool = True) -> None:
        super().__init__(aggr="mean")
        self.add_self_loops = add_self_loops
        self.linear = nn.Linear(in_dim, out_dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_dim))
        nn.init.xavier_uniform_(self.linear.weight)  # the initial weights of GATConv

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        edges = with_self_loops(edge_index, x.shape[0]) if self.add_self_loops else edge_index
        mean: Tensor = self.propagate(edges, x=self.linear(x))
        return mean + self.bias


def with_self_loops(edge_index: Tensor, num_nodes: int, *, has_none: bool = False) -> Tensor:
    """Return the edges with exactly one self-loop per node; `has_none` states that the edges contain none yet."""
    others = edge_index if has_none else remove_self_loops(edge_index)[0]
    edges: Tensor = add_self_loops(others, num_nodes=num_nodes)[0]
    return edges


def edges_with_self_loops(data: Any) -> Tensor:
    """Return the edges of a graph with exactly one self-loop per node: those of `precompute` if the graph has them."""
    edges: Tensor | None = getattr(data, "self_looped", None)
    return with_self_loops(data.edge_index, data.num_nodes) if edges is None else edges


def precompute(data: Any) -> Any:
    """Return a copy of the graph with `self_looped` edges, so that no step computes a size that depends on values."""
    graph = copy(data)
    graph.self_looped = with_self_loops(data.edge_index, data.num_nodes)
    return graph


class MaskedBatchNorm(nn.BatchNorm1d):
    """BatchNorm whose statistics ignore padding nodes (`node_mask` False)."""

    def forward(self, x: Tensor, node_mask: Tensor | None = None) -> Tensor:
        if node_mask is None or not self.training:
            return super().forward(x)
        assert self.running_mean is not None and self.running_var is not None and self.momentum is not None
        count = node_mask.sum()
        weight = (node_mask / count)[:, None].to(x.dtype)
        mean = (x * weight).sum(0)
        variance = ((x - mean).square() * weight).sum(0)
        with torch.no_grad():
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * count / (count - 1), self.momentum)
        normalised: Tensor = (x - mean) * torch.rsqrt(variance + self.eps) * self.weight + self.bias
        return normalised


def convolution(
    in_dim: int, width: int, heads: int, *, concat: bool, basic: bool, add_self_loops: bool = True
) -> nn.Module:
    """Return a layer with `width * heads` output columns if `concat`, else `width`: GATConv, or MeanConv if `basic`.

    Without attention the average of several heads is one linear map, so a basic layer that averages has one head.
    """
    if basic:
        return MeanConv(in_dim, width * heads if concat else width, add_self_loops=add_self_loops)
    layer: nn.Module = FusedGATConv(in_dim, width, heads=heads, concat=concat, add_self_loops=add_self_loops)
    return layer


def graph_of_node(data: Any) -> Tensor:
    """Return the number of each node's graph, `[N]`; all zeros if `data` is one graph and not a `Batch`."""
    batch: Tensor | None = getattr(data, "batch", None)
    if batch is None:
        return torch.zeros(data.num_nodes, dtype=torch.long, device=data.edge_index.device)
    return batch


def graph_count(data: Any) -> int:
    """Return how many graphs `data` holds, counting graphs without nodes at its end."""
    num_graphs = getattr(data, "num_graphs", None)  # a Batch has it, a Data has not
    if num_graphs is not None:
        return int(num_graphs)
    return int(data.batch.max()) + 1 if getattr(data, "batch", None) is not None else 1


def category(values: Tensor) -> Tensor:
    """Return categories of shape `[N]` or `[N, 1]` as `[N]`."""
    return values.reshape(-1)
