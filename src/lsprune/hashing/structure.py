"""Structural signatures of the graph around a neighbour, for graphs without attributes."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

import numpy as np

from lsprune.checks import set_whole
from lsprune.graph import Array
from lsprune.hashing.base import Family, Keys, View
from lsprune.hashing.keys import in_blocks, of_nodes, uniform
from lsprune.needs import Needs
from lsprune.numeric.random_numbers import SHAPE, WORD, draw, mix64


@dataclass(frozen=True, kw_only=True)
class Structure(Family):
    """The key is a hash of the neighbour's Weisfeiler-Lehman label.

    The initial label is the bit length of the degree; each round combines it with the labels of the neighbours, counted
    once per edge. Nodes with the same structure around them share a key, whatever their ids: use it if ids carry no
    information.

    Args:
        rounds: number of rounds: 0 distinguishes degrees only, 1 also the degrees of the neighbours, and so on.

    >>> Structure(rounds=2)
    Structure(rounds=2)
    """

    name: ClassVar[str] = "structure"
    about: ClassVar[str] = "min-hash of the neighbour's Weisfeiler-Lehman label; needs no attributes"
    needs_attributes: ClassVar[bool] = False
    has_codes: ClassVar[bool] = True

    rounds: int = 1

    @property
    def needs(self) -> Needs:
        """Say that keys depend on the edges around the neighbour."""
        reason = "hash structure looks at the edges around a neighbour"
        return Needs(key_table=True, scope="neighbourhood", reason=reason, gpu=True)

    def __post_init__(self) -> None:
        set_whole(self, "rounds", 0, 8, "a whole number in [0, 8]")

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Return the keys of the functions first+1 .. first+count."""
        if "labels" not in view.cache:
            view.cache["labels"] = labels_of(view, self.rounds)
        labels = view.cache["labels"]
        steps = np.arange(first + 1, first + count + 1)[None, :]

        def rows(lo: int, hi: int) -> Array:
            return uniform(view, draw(view.seed, WORD, steps, labels[lo:hi, None]))

        return of_nodes(view, in_blocks(view, view.neighbours, rows))


def labels_of(view: View, rounds: int) -> Array:
    """Return the label of each neighbour, uint64; on a device int64 with the same bits."""
    if view.device is not None:
        tensor: Array = import_module("lsprune.hashing.device_labels").labels_of(view, rounds)
        return tensor
    # A node has a label as an owner and one as a neighbour; edges lead from one kind to the other.
    owned, owners = view.owned, view.owned.indptr.shape[0] - 1
    counts = owned.count_neighbours(view.runtime.zeros(view.neighbours, np.int64))
    labels = in_blocks(view, view.neighbours, lambda lo, hi: _degree_labels(counts[lo:hi]))
    owner_labels = in_blocks(
        view, owners, lambda lo, hi: _degree_labels(np.diff(owned.indptr[lo : hi + 1 - (hi == lo)]))
    )
    for _ in range(rounds):
        labels, owner_labels = _refined(view, labels, owner_labels)
    return labels


def _degree_labels(degree: Array) -> Array:
    """Return a hash of the bit length of each degree."""
    lengths = np.frexp(degree.astype(np.float64))[1]  # exact: the bit length
    return draw(0, SHAPE, lengths)


def _refined(view: View, neighbours: Array, owners: Array) -> tuple[Array, Array]:
    """Return new labels of neighbours and owners: from a node's label and the sum of those at the other ends."""
    owned = view.owned
    sums = [view.runtime.zeros(labels.shape[0], np.uint64) for labels in (neighbours, owners)]
    with np.errstate(over="ignore"):
        for lo, hi in owned.blocks():
            neighbour = owned.neighbour[owned.indptr[lo] : owned.indptr[hi]]
            owner = owned.owners(lo, hi)
            np.add.at(sums[0], neighbour, mix64(owners[lo:hi])[owner - lo])
            np.add.at(sums[1], owner, mix64(neighbours[neighbour]))
    return _combined(view, neighbours, sums[0]), _combined(view, owners, sums[1])


def _combined(view: View, labels: Array, sums: Array) -> Array:
    """Return a hash of each label and sum."""

    def rows(lo: int, hi: int) -> Array:
        with np.errstate(over="ignore"):
            return mix64(mix64(labels[lo:hi]) + sums[lo:hi])

    return in_blocks(view, labels.shape[0], rows)
