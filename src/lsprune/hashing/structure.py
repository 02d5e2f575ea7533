"""Structural signatures: what the graph around a neighbour looks like, for graphs without any attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lsprune.errors import OptionError
from lsprune.graph import Array
from lsprune.hashing.base import Family, Keys, View, of_nodes, uniform
from lsprune.kernels.mix import SHAPE, WORD, draw, mix64


@dataclass(frozen=True, kw_only=True)
class Structure(Family):
    """The key is a random number that belongs to the neighbour's Weisfeiler-Lehman label.

    A label begins as the bit length of the degree; a round adds the labels of the neighbours, each once for every edge.
    Neighbours that look alike have the same key, whoever they are: use it where identities mean nothing.

    Args:
        rounds: 0 tells degrees apart, 1 the degrees around, 2 those around these.

    >>> Structure(rounds=2)
    Structure(rounds=2)
    """

    name: ClassVar[str] = "structure"
    about: ClassVar[str] = "min-hash of the neighbour's Weisfeiler-Lehman label; needs no attributes"
    needs_attributes: ClassVar[bool] = False
    hashed: ClassVar[bool] = True

    rounds: int = 1

    def __post_init__(self) -> None:
        if type(self.rounds) is not int or not 0 <= self.rounds <= 8:
            raise OptionError(f"rounds must be a whole number in [0, 8], got {self.rounds!r}")

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Keys of the functions first+1 .. first+count."""
        if "labels" not in view.cache:
            view.cache["labels"] = self._labels(view)
        labels = view.cache["labels"]
        table = np.zeros((view.neighbours, 8 if count <= 8 else 16), np.int32)
        for z in range(count):
            table[:, z] = uniform(view, draw(view.seed, WORD, first + z + 1, labels))
        return of_nodes(view, table)

    def _labels(self, view: View) -> Array:
        """One uint64 for each neighbour."""
        owned = view.owned
        owners, neighbours = owned.indptr.shape[0] - 1, view.neighbours
        owner = np.repeat(np.arange(owners), np.diff(owned.indptr))
        # between two kinds of nodes the two sides take turns; on one kind of node they are the same
        here, there = (neighbours, owners)
        ends = (owned.neighbour, owner)
        mine = _degree_labels(np.bincount(ends[0], minlength=here))
        theirs = _degree_labels(np.bincount(ends[1], minlength=there))
        for _ in range(self.rounds):
            mine, theirs = (
                _joined(mine, theirs, ends[0], ends[1], here),
                _joined(theirs, mine, ends[1], ends[0], there),
            )
        return mine


def _degree_labels(degree: Array) -> Array:
    lengths = np.frexp(degree.astype(np.float64))[1]  # exact: the bit length
    return draw(0, SHAPE, lengths)


def _joined(own: Array, others: Array, at: Array, of: Array, count: int) -> Array:
    """New labels from one's own and the sum of those at the other ends, which does not depend on their order."""
    sums = np.zeros(count, np.uint64)
    with np.errstate(over="ignore"):
        np.add.at(sums, at, mix64(others)[of])
        return mix64(mix64(own) + sums)
