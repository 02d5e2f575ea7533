"""One form for graphs of several sources: both directions of every edge, no self-loops, dense float32 features."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch_geometric.data import Data
from torch_geometric.utils import remove_self_loops, to_undirected

Features = Literal["stored", "binary", "row-normalised"]


def undirected_graph(data: Any, features: Features = "stored") -> Data:
    """Return the graph with sorted, undirected edges and these features; labels and masks stay as they are.

    Args:
        features: "stored"; "binary": 1 for all that is above 0; "row-normalised": rows that add up to 1.

    >>> path = Data(x=torch.tensor([[2.0, 2.0], [0.0, 0.0]]), edge_index=torch.tensor([[0, 0], [1, 0]]))
    >>> graph = undirected_graph(path, "row-normalised")
    >>> graph.edge_index.tolist(), graph.x.tolist()
    ([[0, 1], [1, 0]], [[0.5, 0.5], [0.0, 0.0]])
    """
    graph = Data(**data.to_dict())
    graph.edge_index = to_undirected(remove_self_loops(data.edge_index)[0], num_nodes=data.num_nodes)
    graph.x = _converted(data.x.to_dense().float(), features)
    return graph


def _converted(x: torch.Tensor, features: Features) -> torch.Tensor:
    if features == "binary":
        return (x > 0).float()
    if features == "row-normalised":
        return x / x.sum(1, keepdim=True).clamp(min=1.0)  # counts: the sum of a row is 0 or at least 1
    return x
