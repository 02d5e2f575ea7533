"""Factors that make sums over the kept edges unbiased: one over the chance that the edge was kept.

An owner, or a graph if edges are chosen over all of it, keeps the edges with the smallest keys. Given the draws of the
others, an edge is kept if its own draw is small enough, and how small is known: the smallest key that was not kept
(rank conditioning; `docs/theory.md` has the proof). Edges that are drawn with equal chances have degree / kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

import numpy as np

from lsprune.errors import OptionError
from lsprune.graph import Array, Owned
from lsprune.numeric.random_numbers import is_tensor
from lsprune.numeric.weighted_sampling import LOG_KEY_UNIT, inverse_chances
from lsprune.selection.choose import KeySource, edge_keys

ADVICE = "or use rescale=True, which keeps sums at their size but is biased"


@dataclass(frozen=True, eq=False)
class Draws:
    """What was drawn for the edges that take part in a selection, as arrays or tensors.

    Args:
        edge: `[n]` the caller's edge.
        chooser: `[n]` who keeps it or not, int64: its owner, or the graph that it is in.
        choosers: their number. kind: "owner" or "graph".
        other: `[n]` int64: edges of one chooser with the same number share a draw.
        keys: `[n]` int64, the smallest are kept; None: all edges of a chooser have the same chance.
        offsets: `[n]` what the weights added to the keys. unit: what half the weight adds.
    """

    edge: Array
    chooser: Array
    choosers: int
    kind: str
    other: Array
    keys: Array | None = None
    offsets: Array | None = None
    unit: int = LOG_KEY_UNIT


def owner_draws(owned: Owned, source: KeySource | None) -> Draws:
    """Return what owners drew for their edges; without a source of weighted keys, chances are equal."""
    if is_tensor(owned.neighbour):
        there: Draws = import_module("lsprune.device.unbiased").owner_draws(owned, source)
        return there
    owners, slots = owned.indptr.shape[0] - 1, owned.neighbour.shape[0]
    edge, owner, other = owned.edges(0, slots), owned.owners(0, owners), owned.neighbour.astype(np.int64)
    if source is None:
        return Draws(edge, owner, owners, "owner", other)
    keys = edge_keys(source.keys(0, 1, 1), owned, 0, owners)[:, 0]
    return Draws(edge, owner, owners, "owner", other, keys, source.added(0, slots))


def unbiased_factors(draws: Draws, mask: Array) -> Array:
    """Return factors for all edges as float32: times whether it is kept, each is 1 on average; 1 for removed edges.

    Raise OptionError where no factor can do that: where nothing is kept, and where edges share a draw.
    """
    if is_tensor(mask):
        there: Array = import_module("lsprune.device.unbiased").unbiased_factors(draws, mask)
        return there
    kept = mask[draws.edge]
    degree, left = (np.bincount(of, minlength=draws.choosers) for of in (draws.chooser, draws.chooser[kept]))
    chooses = left < degree
    refuse_none_kept(draws.kind, np.flatnonzero(chooses & (left == 0)))
    among = chooses[draws.chooser]
    _refuse_shared_draws(draws, among)
    out, here = np.ones(mask.shape, np.float32), kept & among
    if draws.keys is None:
        factor = (degree / np.maximum(left, 1)).astype(np.float32)
        out[draws.edge[here]] = factor[draws.chooser[here]]
        return out
    limit = np.full(draws.choosers, np.iinfo(np.int64).max)
    np.minimum.at(limit, draws.chooser[~kept], draws.keys[~kept])
    offsets = 0 if draws.offsets is None else draws.offsets[here]
    out[draws.edge[here]] = inverse_chances(limit[draws.chooser[here]] - offsets, draws.unit)
    return out


def refuse_pairs(mode: str | None) -> None:
    """Raise OptionError if the two directions of an edge are kept together."""
    if mode:
        raise OptionError(
            f'rescale="unbiased" needs symmetric=None and a graph that is not undirected, got {mode!r}: whether a pair '
            f"is kept depends on two owners, who do not draw independently; remove that, {ADVICE}"
        )


def refuse_none_kept(kind: str, choosers: Array) -> None:
    """Raise OptionError if there are owners or graphs that keep none of their edges."""
    if choosers.shape[0]:
        raise OptionError(
            f'rescale="unbiased" needs a kept edge of every {kind} that has edges, and {kind} {int(choosers[0])} keeps '
            f"none, so that its sum cannot be estimated; keep more, {ADVICE}"
        )


def _refuse_shared_draws(draws: Draws, among: Array) -> None:
    """Raise OptionError if edges of one chooser share a draw."""
    chooser, other = draws.chooser[among], draws.other[among]
    order = np.lexsort((other, chooser))
    chooser, other = chooser[order], other[order]
    same = np.flatnonzero((chooser[1:] == chooser[:-1]) & (other[1:] == other[:-1]))
    refuse_shared_draw(draws, np.flatnonzero(among)[order][same[:1]])


def refuse_shared_draw(draws: Draws, found: Array) -> None:
    """Raise OptionError if an edge was found that shares its draw with another."""
    if found.shape[0]:
        raise OptionError(
            'rescale="unbiased" needs edges that are drawn one by one, and edge '
            f"{int(draws.edge[int(found[0])])} occurs more than once (parallel edges share a draw); remove "
            f"duplicates, {ADVICE}"
        )
