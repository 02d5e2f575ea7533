"""What `weights.surroundings` reads of a graph on a device to compare sampled edges: small arrays in host memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lsprune.attributes import DenseRows, Part
from lsprune.graph import Array, Owned
from lsprune.hashing.base import View
from lsprune.hashing.device_rows import joined, part_rows
from lsprune.kernels.gpu.splitmix import draw, signed
from lsprune.numeric.random_numbers import NOISE


def ends_of(owned: Owned, slots: Tensor) -> tuple[Array, Array]:
    """Return owner and neighbour of some slots."""
    indptr: Any = owned.indptr
    neighbour: Any = owned.neighbour
    owner = torch.searchsorted(indptr, slots, right=True) - 1
    return owner.cpu().numpy(), neighbour[slots].cpu().numpy()


def degrees_of(owned: Owned, nodes: Array) -> Array:
    """Return the number of edges of some owners."""
    indptr: Any = owned.indptr
    owners = torch.from_numpy(nodes).to(indptr.device).long()
    degrees: Array = (indptr[owners + 1] - indptr[owners]).cpu().numpy()
    return degrees


def neighbours_of(owned: Owned, nodes: Array, seed: int, most: int) -> Array:
    """Return the neighbours of some owners, owner after owner; of more than `most` a sample, by a hash."""
    indptr: Any = owned.indptr
    neighbour: Any = owned.neighbour
    owners = torch.from_numpy(nodes).to(indptr.device).long()
    degree = indptr[owners + 1] - indptr[owners]
    which = torch.repeat_interleave(degree)
    place = torch.arange(which.shape[0], device=which.device) - (degree.cumsum(0) - degree)[which]
    others = neighbour[indptr[owners][which] + place]
    keep = (degree <= most)[which]
    many = (~keep).nonzero()[:, 0]
    hashes = draw(seed, (NOISE, 5, others[many]), others.device) ^ signed(1 << 63)
    order = torch.argsort(hashes)
    order = order[torch.argsort(which[many][order], stable=True)]  # by owner, then by hash
    keep[many[order]] = place[many] < most
    found: Array = others[keep].cpu().numpy()
    return found


def rows_of(view: View, part: Part, nodes: Array) -> Array:
    """Return the quantised attributes of some nodes, `[nodes, columns]` int16."""
    ids = torch.from_numpy(nodes).to(view.device).long()
    values: Any = part.rows.values
    some = Part(part.rows, part.index[ids]) if part.index is not None else Part(DenseRows(part.rows.name, values[ids]))
    own = replace(view, parts={"neighbour": some}, cache={})
    places: Any = torch.arange(ids.shape[0], device=view.device) if some.index is None else some.index
    rows: Array = joined(own, part_rows(own), {"neighbour": places.long()}).cpu().numpy()
    return rows.astype(np.int16)
