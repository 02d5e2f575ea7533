"""What a backend does to a model and its graph: sort and compute edges once, compile. Results stay the same."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric import EdgeIndex
from torch_geometric.data import Data

from lsprune.errors import OptionError
from lsprune.lab.models import build
from lsprune.lab.models.attention import SortedEdges, can_fuse
from lsprune.lab.models.convolutions import ConvolutionNet, NormalisedEdges, sorted_by_target
from lsprune.lab.models.layers import precompute
from lsprune.lab.models.synthetic_gat import SyntheticGAT
from lsprune.lab.training.graph_store import GraphStore

CAPTURED = ("captured", "fused", "compiled")  # backends whose step is a CUDA graph on a GPU
TORCH_COMPILER = "inductor"  # the backend of torch.compile


class ModelInputs:
    """The attributes of a graph that models read, without the rest of `Data`, which torch.compile cannot follow."""

    NAMES = ("x", "edge_index", "num_nodes", "batch", "num_graphs", "node_mask", "self_looped", "prepared")

    def __init__(self, data: Data) -> None:
        for name in self.NAMES:
            value = getattr(data, name, None)
            if value is not None:
                setattr(self, name, value)


class CompiledModel(nn.Module):
    """A model compiled by torch.compile; it has the parameters of the model itself."""

    static_shapes = True

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.self_loops = getattr(model, "self_loops", True)
        self.__dict__["compiled"] = torch.compile(model, backend=TORCH_COMPILER)  # no second copy of the parameters

    def forward(self, data: Any) -> Tensor:
        scores: Tensor = self.__dict__["compiled"](ModelInputs(data))
        return scores


def make_model(
    name: str, backend: str, *, in_dim: int, out_dim: int, degrees: Tensor | None = None, device: torch.device
) -> nn.Module:
    """Return the model of that name as the backend runs it; the weights do not depend on the backend."""
    model = build(name, in_dim=in_dim, out_dim=out_dim, degrees=degrees).to(device)
    if isinstance(model, SyntheticGAT):
        model.fuse = backend == "fused"
    return CompiledModel(model) if backend == "compiled" else model


def prepare_graph(model: nn.Module, data: Data, backend: str) -> Data:
    """Return a single graph as the backend reads it; the ordinary one reads the graph as it is.

    Layers without a sparse matrix product (GAT, PNA) reduce the segments of an `EdgeIndex`, whose sizes are computed on
    the way: a CUDA graph cannot hold that, so captured ones read a plain tensor in the same order.
    """
    if backend == "ordinary":
        return data
    inner = model.model if isinstance(model, CompiledModel) else model
    if isinstance(inner, ConvolutionNet):
        graph = inner.precompute(data, sort=True)
        if backend == "compiled" or (backend == "captured" and inner.kind == "pna"):
            graph.prepared = _as_plain(graph.prepared)
        return graph
    graph = precompute(data)
    if backend == "fused":
        if not can_fuse(data.x):
            raise OptionError("the backend fused needs a GPU and Triton")
        graph.self_looped = SortedEdges.of(graph.self_looped, data.num_nodes)
        return graph
    edges = sorted_by_target(graph.self_looped, data.num_nodes)
    graph.self_looped = edges if backend == "sorted" else _as_plain(edges)
    return graph


def _as_plain(edges: Any) -> Any:
    """Return an `EdgeIndex` as a tensor whose number of edges may change without compiling again."""
    if isinstance(edges, NormalisedEdges):
        return NormalisedEdges(_as_plain(edges.edge_index), edges.norm)
    plain = edges.as_tensor() if isinstance(edges, EdgeIndex) else edges
    torch._dynamo.maybe_mark_dynamic(plain, 1)
    return plain


def tensor_bytes(graphs: Data | GraphStore) -> int:
    """Return the bytes of all tensors of one graph or of several."""
    values = graphs.values if isinstance(graphs, GraphStore) else graphs.to_dict()
    return sum(value.numel() * value.element_size() for value in values.values() if torch.is_tensor(value))
