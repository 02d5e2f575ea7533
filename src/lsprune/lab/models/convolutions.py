"""GCN, GraphSAGE and PNA of PyG's layers, for nodes of one graph and for many graphs, beside the paper's GATs.

Not in the paper: they show how much pruning accelerates other layers. With a plain `edge_index` they run PyG's layers
as they are. `precompute` computes once what does not change between steps; the results are the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric import EdgeIndex
from torch_geometric.nn import GCNConv, PNAConv, SAGEConv, global_mean_pool

from lsprune.errors import OptionError
from lsprune.lab.models.layers import convolution, graph_count, graph_of_node, with_self_loops
from lsprune.lab.models.pna import AGGREGATORS, SCALERS, checked_histogram

KINDS = ("gcn", "sage", "pna")
WITH_SELF_LOOPS = ("gcn", "gat")  # they add a self-loop to every node
GAT_HEADS = 8
WIDTHS = {"gcn": 64, "sage": 64, "pna": 16}  # PNA stores some ten rows per edge, so it is narrower


@dataclass(frozen=True, eq=False)
class NormalisedEdges:
    """Edges with one self-loop per node, and the factor of each node in the normalisation of GCN.

    Args:
        edge_index: `[2, E]`, or an `EdgeIndex` sorted by target.
        norm: `[N, 1]` one over the square root of the in-degree.
    """

    edge_index: Tensor
    norm: Tensor

    @classmethod
    def of(cls, edges: Tensor, num_nodes: int, dtype: torch.dtype = torch.float32) -> NormalisedEdges:
        """Return edges that have their self-loops with the norms of their nodes; all shapes are static."""
        ones = torch.ones(edges.shape[1], dtype=dtype, device=edges.device)
        degree = torch.zeros(num_nodes, dtype=dtype, device=edges.device).scatter_add_(0, edges[1], ones)
        return cls(edges, degree.rsqrt()[:, None])

    def sorted(self, num_nodes: int) -> NormalisedEdges:
        """Return the same with an `EdgeIndex`, so that layers run sparse matrix products."""
        return NormalisedEdges(sorted_by_target(self.edge_index, num_nodes), self.norm)


def sorted_by_target(edges: Tensor, num_nodes: int) -> EdgeIndex:
    """Return an `EdgeIndex` sorted by target, with the compressed rows of both directions computed."""
    index = EdgeIndex(edges.contiguous(), sparse_size=(num_nodes, num_nodes)).sort_by("col").values
    return index.fill_cache_()


class SparseGCNConv(GCNConv):  # type: ignore[misc]  # PyG has no types
    """GCNConv that multiplies with a sparse matrix where it gets `NormalisedEdges` with an `EdgeIndex`.

    The norm of an edge is the product of those of its ends, so that features are scaled before and after the sum, and
    the matrix has no values.
    """

    SUPPORTS_FUSED_EDGE_INDEX = True

    def forward(self, x: Tensor, edges: Tensor | NormalisedEdges) -> Tensor:
        if not isinstance(edges, NormalisedEdges):
            plain: Tensor = super().forward(x, edges)
            return plain
        summed: Tensor = self.propagate(edges.edge_index, x=self.lin(x) * edges.norm, edge_weight=None)
        out: Tensor = summed * edges.norm + self.bias
        return out

    def message_and_aggregate(self, edge_index: EdgeIndex, x: Tensor) -> Tensor:
        summed: Tensor = edge_index.matmul(x, reduce="sum", transpose=True)
        return summed


class SparseSAGEConv(SAGEConv):  # type: ignore[misc]  # PyG has no types
    """SAGEConv that multiplies with a sparse matrix where it gets an `EdgeIndex`."""

    SUPPORTS_FUSED_EDGE_INDEX = True

    def message_and_aggregate(self, edge_index: EdgeIndex, x: tuple[Tensor, Tensor]) -> Tensor:
        mean: Tensor = edge_index.matmul(x[0], reduce="mean", transpose=True)
        return mean


class ConvolutionModel(nn.Module, ABC):
    """Base class of models with layers of one kind: the edges that these layers read.

    In a mini-batch that is cut out of a graph, `in_degree` has the in-degrees of the whole graph, without self-loops,
    which the normalisation of GCN needs.

    Args:
        kind: one of `KINDS`, or gat.
    """

    static_shapes = True

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind, self.self_loops = kind, kind not in WITH_SELF_LOOPS

    def precompute(self, data: Any, *, sort: bool = False) -> Any:
        """Return a copy of the graph with the edges that the layers read; `sort`: as an `EdgeIndex` by target."""
        graph = copy(data)
        edges: Any = data.edge_index
        if self.kind == "gcn":
            edges = NormalisedEdges.of(with_self_loops(edges, data.num_nodes), data.num_nodes, data.x.dtype)
            graph.prepared = edges.sorted(data.num_nodes) if sort else edges
        elif self.kind == "gat":
            graph.prepared = with_self_loops(edges, data.num_nodes)
        else:
            graph.prepared = sorted_by_target(edges, data.num_nodes) if sort else edges
        return graph

    def edges(self, data: Any) -> Any:
        """Return the edges of a graph in the form that the layers read: those of `precompute` if it has them."""
        prepared = getattr(data, "prepared", None)
        if prepared is not None:
            return prepared
        node_mask, in_degree = getattr(data, "node_mask", None), getattr(data, "in_degree", None)
        if not (self.kind == "gat" or (self.kind == "gcn" and (node_mask is not None or in_degree is not None))):
            return data.edge_index
        edges = with_self_loops(data.edge_index, data.num_nodes, has_none=node_mask is not None)
        if self.kind == "gat":
            return edges
        if in_degree is not None:  # nodes at the rim of a mini-batch have more edges in the whole graph
            return NormalisedEdges(edges, (in_degree + 1).to(data.x.dtype).rsqrt()[:, None])
        return NormalisedEdges.of(edges, data.num_nodes, data.x.dtype)

    @abstractmethod
    def forward(self, data: Any) -> Tensor:
        """Return scores `[N, out_dim]` of nodes, or `[G, out_dim]` of graphs."""


class ConvolutionNet(ConvolutionModel):
    """Scores `[N, out_dim]` of nodes, or `[G, out_dim]` of graphs if `pooled`: convolutions of one kind with ReLU.

    PNA has linear layers before and after its convolutions, and models of graphs have mean pooling and a linear layer.

    Args:
        kind: one of `KINDS`.
        degrees: `[D]` how many nodes of the training graphs have in-degree 0, 1, ...; only PNA needs it.
        pooled: classify graphs, with three convolutions and not two.
    """

    def __init__(
        self,
        in_dim: int,
        out_dim: int,
        *,
        kind: str,
        degrees: Tensor | None = None,
        pooled: bool = False,
        width: int | None = None,
        dropout: float = 0.5,
    ) -> None:
        super().__init__(kind)
        self.pooled, self.dropout, width = pooled, dropout, width or WIDTHS[kind]
        has_linear = kind == "pna" or pooled
        sizes = [width if kind == "pna" else in_dim, *[width] * (2 if pooled else 1), width if has_linear else out_dim]
        self.first = nn.Linear(in_dim, width) if kind == "pna" else nn.Identity()
        self.convs = nn.ModuleList(
            layer(kind, size, next_size, degrees) for size, next_size in zip(sizes, sizes[1:], strict=False)
        )
        self.last = nn.Linear(width, out_dim) if has_linear else nn.Identity()

    def forward(self, data: Any) -> Tensor:
        edges = self.edges(data)
        x = self.first(F.dropout(data.x, self.dropout, self.training))
        for depth, conv in enumerate(self.convs):
            x = conv(F.relu(x) if depth else x, edges)
        if self.pooled:
            x = global_mean_pool(x, graph_of_node(data), size=graph_count(data))
        scores: Tensor = self.last(F.relu(x) if self.kind == "pna" else x)
        return scores


def layer(kind: str, in_dim: int, out_dim: int, degrees: Tensor | None = None) -> nn.Module:
    """Return a layer of one of `KINDS`, or of gat; PNA needs the histogram of in-degrees."""
    if kind == "gat":
        return convolution(in_dim, out_dim // GAT_HEADS, GAT_HEADS, concat=True, basic=False, add_self_loops=False)
    if kind == "gcn":
        return SparseGCNConv(in_dim, out_dim)
    if kind == "sage":
        return SparseSAGEConv(in_dim, out_dim)
    if degrees is None:
        raise OptionError("degrees must be the histogram of in-degrees of the training graphs for PNA, got None")
    return PNAConv(in_dim, out_dim, AGGREGATORS, SCALERS, checked_histogram(degrees))  # type: ignore[no-any-return]
