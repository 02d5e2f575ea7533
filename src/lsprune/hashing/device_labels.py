"""Weisfeiler-Lehman labels on a device: what `hashing.structure` computes, of tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lsprune.hashing.base import View
from lsprune.kernels.gpu.splitmix import draw, mix64
from lsprune.numeric.random_numbers import SHAPE

CHUNK_SLOTS = 1 << 26  # slots whose labels are added up at a time


def labels_of(view: View, rounds: int) -> Tensor:
    """Return the label of each neighbour, int64 with the bits of the host's uint64."""
    owned: Any = view.owned
    counts = owned.count_neighbours(torch.zeros(view.neighbours, dtype=torch.int64, device=view.device))
    labels, owner_labels = _degree_labels(counts), _degree_labels(owned.indptr.diff())
    for _ in range(rounds):
        labels, owner_labels = _refined(view, labels, owner_labels)
    return labels


def _degree_labels(degree: Tensor) -> Tensor:
    """Return a hash of the bit length of each degree."""
    return draw(0, (SHAPE, torch.frexp(degree.double())[1]), degree.device)


def _refined(view: View, neighbours: Tensor, owners: Tensor) -> tuple[Tensor, Tensor]:
    """Return new labels of neighbours and owners: from a node's label and the sum of those at the other ends."""
    owned: Any = view.owned
    mixed = mix64(neighbours), mix64(owners)
    sums = torch.zeros_like(neighbours), torch.zeros_like(owners)
    for lo, hi in owned.blocks(CHUNK_SLOTS):
        start, stop = owned.bounds(lo, hi)
        owner, neighbour = owned.owners(lo, hi), owned.neighbour[start:stop].long()
        sums[0].index_add_(0, neighbour, mixed[1][owner])  # modulo 2^64, in any order
        sums[1].index_add_(0, owner, mixed[0][neighbour])
    return mix64(mixed[0] + sums[0]), mix64(mixed[1] + sums[1])
