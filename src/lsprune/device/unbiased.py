"""Factors that make sums over the kept edges unbiased, of tensors; see `selection.unbiased`.

Chances are computed on the host from the same whole numbers, so the factors are those of the host.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from lsprune.device.pairs import lexsort
from lsprune.graph import Owned
from lsprune.hashing.base import EdgeKeys
from lsprune.numeric.weighted_sampling import inverse_chances
from lsprune.selection.choose import KeySource
from lsprune.selection.unbiased import Draws, refuse_none_kept, refuse_shared_draw


def owner_draws(owned: Owned, source: KeySource | None) -> Draws:
    """Return what owners drew for their edges."""
    owners, slots = int(owned.indptr.shape[0]) - 1, int(owned.neighbour.shape[0])
    edge, owner, neighbour = cast(Any, (owned.edges(0, slots), owned.owners(0, owners), owned.neighbour))
    ends = (edge, owner.long(), owners, "owner", neighbour.long())
    if source is None:
        return Draws(*ends)
    made: Any = source.keys(0, 1, 1)
    keys: Any = made.of(0, owners) if isinstance(made, EdgeKeys) else made.table[neighbour.long()]
    return Draws(*ends, keys[:, 0].long(), source.added(0, slots))


def unbiased_factors(draws: Draws, mask: Tensor) -> Tensor:
    """Return factors for all edges as float32, or raise OptionError."""
    edge, chooser = cast(Any, (draws.edge, draws.chooser))
    kept = mask[edge]
    degree, left = (torch.bincount(of, minlength=draws.choosers) for of in (chooser, chooser[kept]))
    chooses = left < degree
    refuse_none_kept(draws.kind, cast(Any, (chooses & (left == 0)).nonzero()[:1, 0]))
    among = chooses[chooser]
    _refuse_shared_draws(draws, among)
    out, here = torch.ones(mask.shape, dtype=torch.float32, device=mask.device), kept & among
    if draws.keys is None:
        out[edge[here]] = (degree.double() / left.clamp(min=1).double()).float()[chooser[here]]
        return out
    keys, offsets = cast(Any, (draws.keys, draws.offsets))
    limit = torch.full((draws.choosers,), torch.iinfo(torch.int64).max, device=mask.device)
    limit.scatter_reduce_(0, chooser[~kept], keys[~kept], "amin")
    limits = limit[chooser[here]] - (0 if offsets is None else offsets[here])
    out[edge[here]] = torch.from_numpy(inverse_chances(limits.cpu().numpy(), draws.unit)).to(mask.device)
    return out


def _refuse_shared_draws(draws: Draws, among: Tensor) -> None:
    """Raise OptionError if edges of one chooser share a draw."""
    chooser, other = (cast(Any, ids)[among] for ids in (draws.chooser, draws.other))
    order = lexsort(other, chooser)
    chooser, other = chooser[order], other[order]
    same = ((chooser[1:] == chooser[:-1]) & (other[1:] == other[:-1])).nonzero()[:1, 0]
    refuse_shared_draw(draws, cast(Any, among.nonzero()[:, 0][order][same]))
