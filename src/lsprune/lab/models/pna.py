"""PNA for ZINC (Corso et al. 2020), with the settings of PyG's own example."""

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
from lsprune.lab.models.layers import NodeNorm, category, graph_count, graph_of_node

AGGREGATORS = ["mean", "min", "max", "std"]
SCALERS = ["identity", "amplification", "attenuation"]
_LEAST = 1e-5  # of a variance, below which PyG takes it for none


@dataclass(frozen=True, eq=False)
class Slots:
    """The neighbours of every node side by side, `[N, D]`, for atoms have few.

    Args:
        source: which node each is; any where there is none.
        there: `[N, D, 1]` whether there is one.
        kind: `[N, D, kinds]` 1 at the edge's kind, all 0 where there is none.
        degree: `[N, 1]` how many there are.
        fixed: whether there will be many batches of this size.
    """

    source: Tensor
    there: Tensor
    kind: Tensor
    degree: Tensor
    fixed: bool = False

    @classmethod
    def of(cls, edge_index: Tensor, kind: Tensor, kinds: int, nodes: int, most: int, dtype: torch.dtype) -> Slots:
        """Room for `most` neighbours a node; further ones are left out. No size depends on the edges' values."""
        target, order = torch.sort(edge_index[1], stable=True)
        rank = torch.arange(len(target), device=target.device) - torch.searchsorted(target, target)
        place = torch.where(rank < most, target * most + rank, nodes * most)
        filled = edge_index.new_full((nodes * most + 1,), len(target)).scatter(0, place, order)[:-1]
        some = F.pad(edge_index[0], (0, 1)).index_select(0, filled).view(nodes, most)
        kind = F.pad(kind, (0, 1), value=kinds).index_select(0, filled).view(nodes, most, 1)
        there = (filled < len(target)).view(nodes, most, 1)
        wanted = torch.arange(kinds, device=target.device)
        return cls(some, there, (kind == wanted).to(dtype), there.sum(1).to(dtype))


def statistics(own: Tensor, mapped: Tensor, said: Tensor, source: Tensor, there: Tensor, degree: Tensor) -> Tensor:
    """`[N, 4, F]`: mean, least, greatest and deviation of the messages, 0 where there are none.

    Args:
        own, mapped: `[N, F]` what a node adds to a message as owner and as neighbour.
        said: `[N, D, F]` what the edge adds.
        source, there, degree: of `Slots`.
    """
    seen = mapped.index_select(0, source.flatten()).view(said.shape) + said
    real = torch.where(there, seen, 0.0)
    count = degree.clamp(min=1)
    mean, square = real.sum(1) / count, (real * real).sum(1) / count
    deviation = (square - mean * mean).clamp(min=_LEAST).sqrt()
    deviation = torch.where(deviation <= math.sqrt(_LEAST), 0.0, deviation)
    least = torch.where(there, seen, math.inf).amin(1)
    greatest = torch.where(there, seen, -math.inf).amax(1)
    shifted = torch.stack([mean, least, greatest], dim=1) + own[:, None]
    return torch.cat([torch.where(degree[:, None] > 0, shifted, 0.0), deviation[:, None]], dim=1)


@cache
def _fused() -> Callable[..., Tensor]:
    """`statistics` as few kernels; compiling takes seconds, so only for sizes that stay."""
    made: Callable[..., Tensor] = torch.compile(statistics, dynamic=False) if has_triton() else statistics
    return made


class SlotConv(PNAConv):  # type: ignore[misc]  # PyG has no types
    """PyG's PNAConv, with its weights and its result, in several times less time where degrees are small.

    A message is linear in owner, neighbour and kind of edge, so each is mapped once a node or kind, not once an edge;
    neighbours lie side by side, so no statistic needs atomic additions; scalers multiply what follows them, not what
    goes before, which is nine times as wide.
    """

    def forward(self, x: Tensor, slots: Slots, kinds: Tensor) -> Tensor:
        """Args: `x` `[N, F]`; `kinds` `[kinds, edge_dim]` what an edge of each kind has."""
        weights = torch.stack([tower[0].weight for tower in self.pre_nns]).chunk(3, dim=2)
        bias = torch.cat([tower[0].bias for tower in self.pre_nns])
        of_owner, of_neighbour, of_edge = (weight.flatten(0, 1) for weight in weights)
        own, mapped = F.linear(x, of_owner, bias), F.linear(x, of_neighbour)
        said = slots.kind @ F.linear(self.edge_encoder(kinds), of_edge)
        work = _fused() if slots.fixed and x.is_cuda else statistics
        found = work(own, mapped, said, slots.source, slots.there, slots.degree)
        towers = found.view(len(x), 4, self.towers, self.F_in).permute(2, 0, 1, 3).flatten(2)
        return self._after(x, towers, slots.degree)

    def _after(self, x: Tensor, statistics: Tensor, degree: Tensor) -> Tensor:
        """`[N, out_dim]` of the nodes and their statistics as they are, amplified and attenuated by degree."""
        mean = self.aggr_module.avg_deg_log
        grown = torch.log(degree + 1) / mean
        shrunk = mean / torch.log(degree.clamp(min=1) + 1)
        scales = torch.stack([torch.ones_like(grown), grown, shrunk], dim=1)  # [N, 3, 1]
        weight = torch.stack([tower[0].weight for tower in self.post_nns])  # [towers, F_out, 13 F]
        bias = torch.cat([tower[0].bias for tower in self.post_nns])
        of_node, of_scaled = weight[:, :, : self.F_in], weight[:, :, self.F_in :]
        of_scaled = of_scaled.reshape(self.towers, self.F_out, 3, 4 * self.F_in).permute(0, 3, 2, 1).flatten(2)
        scaled = torch.bmm(statistics, of_scaled).view(self.towers, len(x), 3, self.F_out)
        summed = (scaled * scales).sum(2).transpose(0, 1).flatten(1)
        out: Tensor = self.lin(F.linear(x, of_node.flatten(0, 1), bias) + summed)
        return out


class ZincPNA(nn.Module):
    """One value a graph, `[G, out_dim]`, from atom types `x` and bond types `edge_attr`, both one category each.

    Args:
        degrees: `[D]` how many nodes of the training graphs have in-degree 0, 1, ..: the scalers measure a degree
            against their mean, and no node of a batch that was filled up to one size may have a greater one.
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
        known = _spread(degrees)
        self.most = len(known) - 1
        self.atom = nn.Embedding(atoms, width)
        self.bond = nn.Embedding(bonds, 50)
        self.convs = nn.ModuleList(_layer(width, known) for _ in range(layers))
        self.norms = nn.ModuleList(NodeNorm(width) for _ in range(layers))
        self.last = nn.Sequential(nn.Linear(width, 50), nn.ReLU(), nn.Linear(50, 25), nn.ReLU(), nn.Linear(25, out_dim))

    def forward(self, data: Any) -> Tensor:
        x = self.atom(category(data.x))
        slots = self._slots(data)
        real = getattr(data, "real", None)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = F.relu(norm(conv(x, slots, self.bond.weight), real))
        values: Tensor = self.last(global_add_pool(x, graph_of_node(data), size=graph_count(data)))
        return values

    def _slots(self, data: Any) -> Slots:
        nodes, kind, kinds = data.num_nodes, category(data.edge_attr), self.bond.num_embeddings
        dtype = self.bond.weight.dtype
        if getattr(data, "real", None) is not None:
            return replace(Slots.of(data.edge_index, kind, kinds, nodes, self.most, dtype), fixed=True)
        if kind.numel() and not 0 <= int(kind.min()) <= int(kind.max()) < kinds:
            raise OptionError(f"edge_attr must be bond types in [0, {kinds}), got {int(kind.max())}")
        most = int(torch.bincount(data.edge_index[1], minlength=1).max())
        return Slots.of(data.edge_index, kind, kinds, nodes, max(most, 1), dtype)


def _layer(width: int, degrees: Tensor) -> nn.Module:
    layer: nn.Module = SlotConv(
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
