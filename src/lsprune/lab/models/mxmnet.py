"""MXMNet for QM9 (Zhang, Liu and Xie 2020): messages along bonds with angles, and between all near atoms."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.utils import remove_self_loops

from lsprune.lab.models.bessel import Radial, Spherical
from lsprune.lab.models.layers import category, graph_count, graph_of_node
from lsprune.lab.models.molecule import angle, near_pairs, one_hop, two_hop

Meets = tuple[Tensor, Tensor, Tensor]  # edges e, edges f that meet them, and the angles' columns [T, dim]


def mlp(*sizes: int) -> nn.Sequential:
    """Linear layers of these sizes, each followed by SiLU."""
    pairs = zip(sizes, sizes[1:], strict=False)
    return nn.Sequential(*(part for ends in pairs for part in (nn.Linear(*ends), nn.SiLU())))


def rows(values: Tensor, index: Tensor) -> Tensor:
    """`values[index]`, whose gradient is added up where it falls; that of plain indexing is sorted first on a GPU."""
    return values.index_select(0, index)


def gather(values: Tensor, index: Tensor, size: int) -> Tensor:
    """The sums `[size, dim]` of the rows of `values` that share an index."""
    return values.new_zeros(size, values.shape[1]).index_add(0, index, values)


class Update(nn.Module):
    """New atom states `[N, dim]` from what a layer gathered and the states it began with, by residual steps."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.enter = mlp(dim, dim)
        self.steps = nn.ModuleList(mlp(dim, dim, dim) for _ in range(3))

    def forward(self, gathered: Tensor, begun: Tensor) -> Tensor:
        h: Tensor = self.enter(gathered)
        h = h + self.steps[0](h) + begun
        for step in self.steps[1:]:
            h = h + step(h)
        return h


class Messages(nn.Module):
    """A message `[E, dim]` along each edge (j, i), from both ends' states and the distance's columns."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.mix = nn.Linear(3 * dim, dim)

    def forward(self, h: Tensor, edges: Tensor, distance: Tensor) -> Tensor:
        sender, receiver, between = self.mix.weight.chunk(3, dim=1)
        ends = rows(F.linear(h, sender), edges[0]) + rows(F.linear(h, receiver), edges[1])  # mapped once an atom
        return F.silu(ends + F.linear(distance, between, self.mix.bias))


class GlobalLayer(nn.Module):
    """Atom states after messages between all near atoms: distances only, for angles between all would cost too much."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.cross = mlp(dim, dim)  # the cross-layer mapping: the local states as this layer reads them
        self.messages = Messages(dim)
        self.gate = nn.Linear(dim, dim, bias=False)
        self.update = Update(dim)

    def forward(self, begun: Tensor, edges: Tensor, distance: Tensor) -> Tensor:
        h = self.cross(begun)
        message = self.messages(h, edges, distance) * self.gate(distance)
        updated: Tensor = self.update(h + gather(message, edges[1], len(h)), begun)
        return updated


class AngleStep(nn.Module):
    """Messages `[E, dim]` with what the messages that meet them say, weighed by distance and angle."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.own, self.others = mlp(dim, dim), mlp(dim, dim)
        self.gate = nn.Linear(dim, dim, bias=False)

    def forward(self, message: Tensor, distance: Tensor, meets: Meets) -> Tensor:
        edge, other, columns = meets
        said = rows(self.others(message) * self.gate(distance), other) * columns
        stepped: Tensor = self.own(message) + gather(said, edge, len(message))
        return stepped


class LocalLayer(nn.Module):
    """Atom states after messages along bonds, and each atom's part `[N, out_dim]` of the molecule's value.

    A message first hears those two bonds away (angles at the near atom), then those that end at the same atom.
    """

    def __init__(self, dim: int, out_dim: int) -> None:
        super().__init__()
        self.cross = mlp(dim, dim)
        self.messages = Messages(dim)
        self.far, self.near = AngleStep(dim), AngleStep(dim)
        self.gate = nn.Linear(dim, dim, bias=False)
        self.update = Update(dim)
        self.part = nn.Sequential(mlp(dim, dim, dim, dim), nn.Linear(dim, out_dim))

    def forward(self, begun: Tensor, edges: Tensor, distance: Tensor, far: Meets, near: Meets) -> tuple[Tensor, Tensor]:
        h = self.cross(begun)
        message = self.messages(h, edges, distance)
        message = self.near(self.far(message, distance, far), distance, near)
        h = self.update(h + gather(message * self.gate(distance), edges[1], len(h)), begun)
        return h, self.part(h)


class MXMNet(nn.Module):
    """One value a molecule, `[G, out_dim]`: the sum of its atoms' parts over all layers.

    The multiplex graph has two layers over the same atoms: bonds, `data.edge_index`, so that a pruner changes them, and
    all pairs within the cutoff, from `data.pos`, which no pruner touches. Atoms are `data.z`, bond types are not read.
    The sizes are the best for QM9 in its paper.

    Args:
        cutoff: of the global layer, in Å; also the length at which the bases of a bond's distance reach 0.
    """

    reads = ("z", "pos")

    def __init__(
        self, out_dim: int, *, dim: int = 128, layers: int = 6, cutoff: float = 5.0, atoms: int = 95, radial: int = 16
    ) -> None:
        super().__init__()
        self.cutoff = cutoff
        self.atom = nn.Embedding(atoms, dim)
        nn.init.uniform_(self.atom.weight, -(3**0.5), 3**0.5)  # variance 1, bounded
        self.basis_global, self.basis_local = Radial(radial, cutoff), Radial(radial, cutoff)
        self.basis_angle = Spherical(7, 6, cutoff)
        self.enter_global, self.enter_local = mlp(radial, dim), mlp(radial, dim)
        self.enter_far, self.enter_near = mlp(42, dim, dim), mlp(42, dim, dim)
        self.globals = nn.ModuleList(GlobalLayer(dim) for _ in range(layers))
        self.locals = nn.ModuleList(LocalLayer(dim, out_dim) for _ in range(layers))

    def forward(self, data: Any) -> Tensor:
        batch = graph_of_node(data)
        bonds, _ = remove_self_loops(data.edge_index)
        pairs = near_pairs(data.pos, batch, self.cutoff)
        far_away = self.enter_global(self.basis_global(_along(data.pos, pairs).norm(dim=-1)))
        bonded = self.enter_local(self.basis_local(_along(data.pos, bonds).norm(dim=-1)))
        far, near = self._angles(data.pos, bonds)
        h = self.atom(category(data.z))
        parts: list[Tensor] = []
        for between, along in zip(self.globals, self.locals, strict=True):
            h, part = along(between(h, pairs, far_away), bonds, bonded, far, near)
            parts.append(part)
        return gather(torch.stack(parts).sum(0), batch, graph_count(data))

    def _angles(self, pos: Tensor, bonds: Tensor) -> tuple[Meets, Meets]:
        """The bonds that meet two hops away and those that meet at their end, each with the angles' columns."""
        along = _along(pos, bonds)
        length = along.norm(dim=-1)
        edge, other = two_hop(bonds, len(pos))
        columns = self.basis_angle(length, other, angle(along[edge], -along[other]))
        far = (edge, other, self.enter_far(columns))
        edge, other = one_hop(bonds, len(pos))
        columns = self.basis_angle(length, other, angle(along[edge], along[other]))
        return far, (edge, other, self.enter_near(columns))


def _along(pos: Tensor, edges: Tensor) -> Tensor:
    """The vector from source to target of each edge, `[E, 3]`."""
    return pos[edges[1]] - pos[edges[0]]
