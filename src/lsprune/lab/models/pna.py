"""PNA for ZINC (Corso et al. 2020), with the settings of PyG's own example."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import PNAConv, global_add_pool

from lsprune.errors import OptionError
from lsprune.lab.models.blocks import NodeNorm, category, graph_count, graph_of_node

AGGREGATORS = ["mean", "min", "max", "std"]
SCALERS = ["identity", "amplification", "attenuation"]


class ZincPNA(nn.Module):
    """One value a graph, `[G, out_dim]`, from atom types `x` and bond types `edge_attr`, both one category each.

    Args:
        degrees: `[D]` how many nodes of the training graphs have in-degree 0, 1, ..: the scalers measure a degree
            against their mean.
    """

    reads = ("x", "edge_attr")
    static = True

    def __init__(
        self,
        out_dim: int,
        *,
        degrees: Tensor,
        atoms: int = 28,
        bonds: int = 4,
        width: int = 75,
        layers: int = 4,
    ) -> None:
        super().__init__()
        self.atom = nn.Embedding(atoms, width)
        self.bond = nn.Embedding(bonds, 50)
        self.convs = nn.ModuleList(_layer(width, _spread(degrees)) for _ in range(layers))
        self.norms = nn.ModuleList(NodeNorm(width) for _ in range(layers))
        self.last = nn.Sequential(nn.Linear(width, 50), nn.ReLU(), nn.Linear(50, 25), nn.ReLU(), nn.Linear(25, out_dim))

    def forward(self, data: Any) -> Tensor:
        x = self.atom(category(data.x))
        bond = self.bond(category(data.edge_attr))
        real = getattr(data, "real", None)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = F.relu(norm(conv(x, data.edge_index, bond), real))
        values: Tensor = self.last(global_add_pool(x, graph_of_node(data), size=graph_count(data)))
        return values


def _layer(width: int, degrees: Tensor) -> nn.Module:
    layer: nn.Module = PNAConv(
        width,
        width,
        aggregators=AGGREGATORS,
        scalers=SCALERS,
        deg=degrees,
        edge_dim=50,
        towers=5,
        pre_layers=1,
        post_layers=1,
        divide_input=False,
    )
    return layer


def _spread(degrees: Tensor) -> Tensor:
    """The histogram itself, checked; one node of degree 1 where no node has an edge, for the mean is divided by."""
    if degrees.dim() != 1 or not len(degrees) or bool((degrees < 0).any()) or not bool((degrees > 0).any()):
        raise OptionError(f"degrees must be a histogram with at least one node, got shape {tuple(degrees.shape)}")
    return degrees if bool((degrees[1:] > 0).any()) else torch.tensor([0, 1])
