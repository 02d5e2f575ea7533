"""Logarithms of edge weights on a device: what the weights compute on the host, of tensors."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import torch
from torch import Tensor

from lsprune.attributes import Part
from lsprune.graph import Owned
from lsprune.hashing.base import EdgeKeys, Keys, NodeKeys, View
from lsprune.hashing.device_keys import padded
from lsprune.hashing.device_rows import joined, part_rows
from lsprune.kernels.gpu.logarithms import log2_fixed
from lsprune.kernels.gpu.neighbour_rows import dot_rows, sum_rows, unit_rows
from lsprune.kernels.gpu.neighbour_sets import overlaps
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.weighted_sampling import FRACTION_BITS


def log2_of_floats(values: Tensor) -> Tensor | None:
    """Return log2 of numbers in fixed point; None if some are not > 0 and finite in float32."""
    numbers = values.float()
    if numbers.numel() and not bool((torch.isfinite(numbers) & (numbers > 0)).all()):
        return None
    fraction, exponent = torch.frexp(numbers.double())
    whole = (fraction * (1 << 24)).long()
    return log2_fixed(whole) + ((exponent.long() - 24) << FRACTION_BITS)


def degree_logs(view: View) -> Tensor:
    """Return log2 of the degree of each neighbour."""
    counts: Any = torch.zeros(view.neighbours, dtype=torch.int64, device=view.device)
    degree: Any = view.owned.count_neighbours(counts)
    return log2_fixed(degree.clamp(min=1))


def jaccard_logs(view: View, nodes: int) -> Tensor:
    """Return log2 of the Jaccard similarity of the closed neighbour sets of owner and neighbour, for every slot."""
    owner, neighbour = _ends(view.owned)
    common, union = overlaps(owner, neighbour, nodes, closed=True)
    return log2_fixed(common) - log2_fixed(union)


def cosines(view: View, part: Part, scale: Scale) -> Tensor:
    """Return the cosine of the surroundings of owner and neighbour, for every slot; see `weights.surroundings`."""
    node_view = dataclasses.replace(view, parts={"neighbour": part}, scales={"neighbour": scale}, cache={})
    index: Any = torch.arange(view.neighbours, device=view.device) if part.index is None else part.index
    rows = joined(node_view, part_rows(node_view), {"neighbour": index.long()})
    owner, neighbour = _ends(view.owned)
    return dot_rows(unit_rows(sum_rows(owner, neighbour, rows)), owner, neighbour)


def _ends(owned: Owned) -> tuple[Tensor, Tensor]:
    """Return owner and neighbour of every slot, int64."""
    owner: Any = owned.owners(0, owned.indptr.shape[0] - 1)
    neighbour: Any = owned.neighbour
    return owner, neighbour.long()


def add_offsets(keys: Keys, view: View, offsets: Any, count: int) -> Keys:
    """Add offsets to the keys of `count` functions; see `weights.base.add_offsets`."""
    if isinstance(keys, NodeKeys) and offsets.of_neighbour is not None:
        table: Any = keys.table
        return NodeKeys(cast(Any, padded(table.long() + offsets.of_neighbour[:, None])))

    def keys_of_owners(lo: int, hi: int) -> Any:
        start, stop = view.owned.bounds(lo, hi)
        extra = offsets.of(view.owned, start, stop)
        if isinstance(keys, NodeKeys):
            table: Any = keys.table
            neighbour: Any = view.owned.neighbour[start:stop]
            return table[neighbour.long(), :count].long() + extra[:, None]
        return keys.of(lo, hi) + extra[:, None]

    return EdgeKeys(keys_of_owners)
