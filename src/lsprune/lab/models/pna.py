"""PNA for ZINC (Corso et al. 2020), with the settings of PyG's example."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._triton import has_triton
from torch_geometric.nn import PNAConv, global_add_pool

from lsprune.errors import OptionError
from lsprune.lab.models.layers import MaskedBatchNorm, category, graph_count, graph_of_node

AGGREGATORS = ["mean", "min", "max", "std"]
SCALERS = ["identity", "amplification", "attenuation"]
_MIN_VARIANCE = 1e-5  # PyG treats a smaller variance as 0


@dataclass(frozen=True, eq=False)
class NeighbourSlots:
    """The in-neighbours of every node as a dense table `[N, D]`; small, since atoms have few neighbours.

    Args:
        source: `[N, D]` the neighbour in each slot; arbitrary in an empty slot.
        filled: `[N, D, 1]` whether the slot holds a neighbour.
        edge_type: `[N, D, types]` the edge type one-hot; all 0 in an empty slot.
        degree: `[N, 1]` number of filled slots.
        static_size: whether many batches of this size will follow, so that compiling for it pays off.
    """

    source: Tensor
    filled: Tensor
    edge_type: Tensor
    degree: Tensor
    static_size: bool = False

    @classmethod
    def of(
        cls, edge_index: Tensor, edge_type: Tensor, types: int, num_nodes: int, width: int, dtype: torch.dtype
    ) -> NeighbourSlots:
        """Return `width` slots per node; further neighbours are left out. Shapes do not depend on the edges' values."""
        target, order = torch.sort(edge_index[1], stable=True)
        rank = torch.arange(len(target), device=target.device) - torch.searchsorted(target, target)
        slot = torch.where(rank < width, target * width + rank, num_nodes * width)
        edge = edge_index.new_full((num_nodes * width + 1,), len(target)).scatter(0, slot, order)[:-1]
        source = F.pad(edge_index[0], (0, 1)).index_select(0, edge).view(num_nodes, width)
        slot_type = F.pad(edge_type, (0, 1), value=types).index_select(0, edge).view(num_nodes, width, 1)
        filled = (edge < len(target)).view(num_nodes, width, 1)
        one_hot = (slot_type == torch.arange(types, device=target.device)).to(dtype)
        return cls(source, filled, one_hot, filled.sum(1).to(dtype))


def message_statistics(
    from_owner: Tensor, from_neighbour: Tensor, from_edge: Tensor, source: Tensor, filled: Tensor, degree: Tensor
) -> Tensor:
    """Return `[N, 4, F]`: mean, minimum, maximum and standard deviation of each node's messages; 0 without messages.

    A message is the sum of three terms.

    Args:
        from_owner, from_neighbour: `[N, F]` a node's term as receiver and as sender.
        from_edge: `[N, D, F]` the term of the edge in each slot.
        source, filled, degree: of `NeighbourSlots`.
    """
    without_owner = from_neighbour.index_select(0, source.flatten()).view(from_edge.shape) + from_edge
    messages = torch.where(filled, without_owner, 0.0)
    count = degree.clamp(min=1)
    mean, square = messages.sum(1) / count, (messages * messages).sum(1) / count
    deviation = (square - mean * mean).clamp(min=_MIN_VARIANCE).sqrt()
    deviation = torch.where(deviation <= math.sqrt(_MIN_VARIANCE), 0.0, deviation)
    minimum = torch.where(filled, without_owner, math.inf).amin(1)
    maximum = torch.where(filled, without_owner, -math.inf).amax(1)
    shifted = torch.stack([mean, minimum, maximum], dim=1) + from_owner[:, None]
    return torch.cat([torch.where(degree[:, None] > 0, shifted, 0.0), deviation[:, None]], dim=1)


@cache
def _compiled_statistics() -> Callable[..., Tensor]:
    """Return `message_statistics` compiled to few kernels; that takes seconds, so it is only for static sizes."""
    if not has_triton():
        return message_statistics
    compiled: Callable[..., Tensor] = torch.compile(message_statistics, dynamic=False)
    return compiled


class SlotPNAConv(PNAConv):  # type: ignore[misc]  # PyG has no types
    """PNAConv on neighbour slots: the same weights and result as PyG's, several times faster for small degrees.

    A message is linear in receiver, sender and edge type, so the linear maps run once per node and type, not per edge.
    The slots need no atomic additions. The scalers are applied after the linear map, where rows are a ninth as wide.
    """

    def forward(self, x: Tensor, slots: NeighbourSlots, type_attributes: Tensor) -> Tensor:
        """Return `[N, F_out]` from `x` `[N, F]` and the attributes of each edge type, `[types, edge_dim]`."""
        weights = torch.stack([tower[0].weight for tower in self.pre_nns]).chunk(3, dim=2)
        bias = torch.cat([tower[0].bias for tower in self.pre_nns])
        owner_weight, neighbour_weight, edge_weight = (weight.flatten(0, 1) for weight in weights)
        from_owner, from_neighbour = F.linear(x, owner_weight, bias), F.linear(x, neighbour_weight)
        from_edge = slots.edge_type @ F.linear(self.edge_encoder(type_attributes), edge_weight)
        compute = _compiled_statistics() if slots.static_size and x.is_cuda else message_statistics
        statistics = compute(from_owner, from_neighbour, from_edge, slots.source, slots.filled, slots.degree)
        towers = statistics.view(len(x), 4, self.towers, self.F_in).permute(2, 0, 1, 3).flatten(2)
        return self._scale_and_map(x, towers, slots.degree)

    def _scale_and_map(self, x: Tensor, statistics: Tensor, degree: Tensor) -> Tensor:
        """Return `[N, F_out]`: a linear map of the nodes and of their statistics scaled by each of `SCALERS`."""
        mean = self.aggr_module.avg_deg_log
        amplification = torch.log(degree + 1) / mean
        attenuation = mean / torch.log(degree.clamp(min=1) + 1)
        scales = torch.stack([torch.ones_like(amplification), amplification, attenuation], dim=1)  # [N, 3, 1]
        weight = torch.stack([tower[0].weight for tower in self.post_nns])  # [towers, F_out, 13 F]
        bias = torch.cat([tower[0].bias for tower in self.post_nns])
        node_weight, scaled_weight = weight[:, :, : self.F_in], weight[:, :, self.F_in :]
        scaled_weight = scaled_weight.reshape(self.towers, self.F_out, 3, 4 * self.F_in).permute(0, 3, 2, 1).flatten(2)
        scaled = torch.bmm(statistics, scaled_weight).view(self.towers, len(x), 3, self.F_out)
        summed = (scaled * scales).sum(2).transpose(0, 1).flatten(1)
        out: Tensor = self.lin(F.linear(x, node_weight.flatten(0, 1), bias) + summed)
        return out


class ZincPNA(nn.Module):
    """Values `[G, out_dim]` of molecules from atom types `x` and bond types `edge_attr`, one category each.

    Args:
        degrees: `[D]` how many nodes of the training graphs have in-degree 0, 1, ...: the scalers compare a degree with
            their mean, and a padded batch has `D - 1` slots per node, so none of its degrees may be larger.
    """

    reads = ("x", "edge_attr")
    static_shapes = True

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
        histogram = checked_histogram(degrees)
        self.max_degree = len(histogram) - 1
        self.atom = nn.Embedding(atoms, width)
        self.bond = nn.Embedding(bonds, 50)
        self.convs = nn.ModuleList(_layer(width, histogram) for _ in range(layers))
        self.norms = nn.ModuleList(MaskedBatchNorm(width) for _ in range(layers))
        self.last = nn.Sequential(nn.Linear(width, 50), nn.ReLU(), nn.Linear(50, 25), nn.ReLU(), nn.Linear(25, out_dim))

    def forward(self, data: Any) -> Tensor:
        x = self.atom(category(data.x))
        slots = self._slots(data)
        node_mask = getattr(data, "node_mask", None)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = F.relu(norm(conv(x, slots, self.bond.weight), node_mask))
        values: Tensor = self.last(global_add_pool(x, graph_of_node(data), size=graph_count(data)))
        return values

    def _slots(self, data: Any) -> NeighbourSlots:
        num_nodes, bond, types = data.num_nodes, category(data.edge_attr), self.bond.num_embeddings
        dtype = self.bond.weight.dtype
        if getattr(data, "node_mask", None) is not None:  # a padded batch: no size may depend on values
            slots = NeighbourSlots.of(data.edge_index, bond, types, num_nodes, self.max_degree, dtype)
            return replace(slots, static_size=True)
        if bond.numel() and not 0 <= int(bond.min()) <= int(bond.max()) < types:
            raise OptionError(f"edge_attr must be bond types in [0, {types}), got {int(bond.max())}")
        max_degree = int(torch.bincount(data.edge_index[1], minlength=1).max())
        return NeighbourSlots.of(data.edge_index, bond, types, num_nodes, max(max_degree, 1), dtype)


def _layer(width: int, degrees: Tensor) -> nn.Module:
    layer: nn.Module = SlotPNAConv(
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


def checked_histogram(degrees: Tensor) -> Tensor:
    """Return the histogram; that of one node of degree 1 if no node has an edge, since PNA divides by the mean."""
    if degrees.dim() != 1 or not len(degrees) or bool((degrees < 0).any()) or not bool((degrees > 0).any()):
        raise OptionError(f"degrees must be a histogram with at least one node, got shape {tuple(degrees.shape)}")
    return degrees if bool((degrees[1:] > 0).any()) else torch.tensor([0, 1])
