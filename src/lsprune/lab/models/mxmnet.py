"""MXMNet for QM9 (Zhang, Liu and Xie 2020): messages along bonds, with angles, and between all near atoms."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.utils import remove_self_loops

from lsprune.lab.models.bessel import RadialBasis, SphericalBasis
from lsprune.lab.models.layers import category, graph_count, graph_of_node
from lsprune.lab.models.molecular_geometry import angle, near_pairs, one_hop, two_hop

EdgePairs = tuple[Tensor, Tensor, Tensor]  # [T] edges e, [T] edges f that share an atom, [T, dim] encoded angles


def mlp(*sizes: int) -> nn.Sequential:
    """Return linear layers of these sizes, each followed by SiLU."""
    pairs = zip(sizes, sizes[1:], strict=False)
    return nn.Sequential(*(part for ends in pairs for part in (nn.Linear(*ends), nn.SiLU())))


def rows(values: Tensor, index: Tensor) -> Tensor:
    """Return `values[index]`; on a GPU its backward pass is faster than that of plain indexing, which sorts first."""
    return values.index_select(0, index)


def sum_by_index(values: Tensor, index: Tensor, size: int) -> Tensor:
    """Return the sums `[size, dim]` of the rows of `values` with the same index."""
    return values.new_zeros(size, values.shape[1]).index_add(0, index, values)


class Update(nn.Module):
    """New atom states `[N, dim]` from a layer's summed messages and its input states, by residual steps."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.enter = mlp(dim, dim)
        self.steps = nn.ModuleList(mlp(dim, dim, dim) for _ in range(3))

    def forward(self, summed: Tensor, initial: Tensor) -> Tensor:
        h: Tensor = self.enter(summed)
        h = h + self.steps[0](h) + initial
        for step in self.steps[1:]:
            h = h + step(h)
        return h


class Messages(nn.Module):
    """A message `[E, dim]` along each edge (j, i), from the states of both ends and the encoded distance."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.mix = nn.Linear(3 * dim, dim)

    def forward(self, h: Tensor, edges: Tensor, distance: Tensor) -> Tensor:
        sender, receiver, between = self.mix.weight.chunk(3, dim=1)
        from_sender, from_receiver = F.linear(h, sender), F.linear(h, receiver)  # once per atom, not per edge
        ends = rows(from_sender, edges[0]) + rows(from_receiver, edges[1])
        return F.silu(ends + F.linear(distance, between, self.mix.bias))


class GlobalLayer(nn.Module):
    """Atom states after messages between all near atoms, without angles: those of all pairs would cost too much."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.cross = mlp(dim, dim)  # the cross-layer mapping from the local layer's states
        self.messages = Messages(dim)
        self.gate = nn.Linear(dim, dim, bias=False)
        self.update = Update(dim)

    def forward(self, initial: Tensor, edges: Tensor, distance: Tensor) -> Tensor:
        h = self.cross(initial)
        message = self.messages(h, edges, distance) * self.gate(distance)
        updated: Tensor = self.update(h + sum_by_index(message, edges[1], len(h)), initial)
        return updated


class AngleStep(nn.Module):
    """Messages `[E, dim]` updated by those of paired edges, weighted by distance and angle."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.own, self.others = mlp(dim, dim), mlp(dim, dim)
        self.gate = nn.Linear(dim, dim, bias=False)

    def forward(self, message: Tensor, distance: Tensor, pairs: EdgePairs) -> Tensor:
        edge, other, angles = pairs
        from_others = rows(self.others(message) * self.gate(distance), other) * angles
        updated: Tensor = self.own(message) + sum_by_index(from_others, edge, len(message))
        return updated


class LocalLayer(nn.Module):
    """Atom states after messages along bonds, and each atom's contribution `[N, out_dim]` to the molecule's value.

    A message is updated first by the two-hop pairs of its bond, then by the one-hop pairs.
    """

    def __init__(self, dim: int, out_dim: int) -> None:
        super().__init__()
        self.cross = mlp(dim, dim)
        self.messages = Messages(dim)
        self.two_hop, self.one_hop = AngleStep(dim), AngleStep(dim)
        self.gate = nn.Linear(dim, dim, bias=False)
        self.update = Update(dim)
        self.contribution = nn.Sequential(mlp(dim, dim, dim, dim), nn.Linear(dim, out_dim))

    def forward(
        self, initial: Tensor, edges: Tensor, distance: Tensor, two_hop_pairs: EdgePairs, one_hop_pairs: EdgePairs
    ) -> tuple[Tensor, Tensor]:
        h = self.cross(initial)
        message = self.messages(h, edges, distance)
        message = self.two_hop(message, distance, two_hop_pairs)
        message = self.one_hop(message, distance, one_hop_pairs)
        h = self.update(h + sum_by_index(message * self.gate(distance), edges[1], len(h)), initial)
        return h, self.contribution(h)


class MXMNet(nn.Module):
    """Values `[G, out_dim]` of molecules: the sum of the atoms' contributions over all layers.

    The multiplex graph has two edge sets over the same atoms: the bonds `data.edge_index`, which a pruner changes, and
    all pairs within the cutoff, computed from `data.pos`, which no pruner changes. The model reads atomic numbers
    `data.z` and ignores bond types. The sizes are those that the MXMNet paper reports as best for QM9.

    Args:
        cutoff: maximum distance of a near pair in Å; also the distance at which the bases of bond lengths reach 0.
    """

    reads = ("z", "pos")

    def __init__(
        self, out_dim: int, *, dim: int = 128, layers: int = 6, cutoff: float = 5.0, atoms: int = 95, radial: int = 16
    ) -> None:
        super().__init__()
        self.cutoff = cutoff
        self.atom = nn.Embedding(atoms, dim)
        nn.init.uniform_(self.atom.weight, -(3**0.5), 3**0.5)  # variance 1, bounded
        self.basis_global, self.basis_local = RadialBasis(radial, cutoff), RadialBasis(radial, cutoff)
        self.basis_angle = SphericalBasis(7, 6, cutoff)
        self.enter_global, self.enter_local = mlp(radial, dim), mlp(radial, dim)
        self.enter_two_hop, self.enter_one_hop = mlp(42, dim, dim), mlp(42, dim, dim)
        self.globals = nn.ModuleList(GlobalLayer(dim) for _ in range(layers))
        self.locals = nn.ModuleList(LocalLayer(dim, out_dim) for _ in range(layers))

    def forward(self, data: Any) -> Tensor:
        batch = graph_of_node(data)
        bonds, _ = remove_self_loops(data.edge_index)
        pairs = near_pairs(data.pos, batch, self.cutoff)
        pair_distance = self.enter_global(self.basis_global(_vectors(data.pos, pairs).norm(dim=-1)))
        bond_distance = self.enter_local(self.basis_local(_vectors(data.pos, bonds).norm(dim=-1)))
        two_hop_pairs, one_hop_pairs = self._bond_pairs(data.pos, bonds)
        h = self.atom(category(data.z))
        contributions: list[Tensor] = []
        for global_layer, local_layer in zip(self.globals, self.locals, strict=True):
            h = global_layer(h, pairs, pair_distance)
            h, contribution = local_layer(h, bonds, bond_distance, two_hop_pairs, one_hop_pairs)
            contributions.append(contribution)
        return sum_by_index(torch.stack(contributions).sum(0), batch, graph_count(data))

    def _bond_pairs(self, pos: Tensor, bonds: Tensor) -> tuple[EdgePairs, EdgePairs]:
        """Return the pairs of bonds that form a path of two hops and those that end at one atom, with their angles."""
        vectors = _vectors(pos, bonds)
        length = vectors.norm(dim=-1)
        edge, other = two_hop(bonds, len(pos))
        angles = self.basis_angle(length, other, angle(vectors[edge], -vectors[other]))
        two_hop_pairs = (edge, other, self.enter_two_hop(angles))
        edge, other = one_hop(bonds, len(pos))
        angles = self.basis_angle(length, other, angle(vectors[edge], vectors[other]))
        return two_hop_pairs, (edge, other, self.enter_one_hop(angles))


def _vectors(pos: Tensor, edges: Tensor) -> Tensor:
    """Return the vector from source to target of each edge, `[E, 3]`."""
    return pos[edges[1]] - pos[edges[0]]
