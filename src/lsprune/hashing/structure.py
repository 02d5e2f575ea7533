"""Structural signatures: what the graph around a neighbour looks like, for graphs without any attributes."""

from __future__ import annotations

from dataclasses import dataclass
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
    has_codes: ClassVar[bool] = True

    rounds: int = 1

    @property
    def needs(self) -> Needs:
        """Say that the edges around the neighbour must be known."""
        return Needs(
            key_table=True, scope="neighbourhood", reason="hash structure looks at the edges around a neighbour"
        )

    def __post_init__(self) -> None:
        set_whole(self, "rounds", 0, 8, "a whole number in [0, 8]")

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Keys of the functions first+1 .. first+count."""
        if "labels" not in view.cache:
            view.cache["labels"] = self._labels(view)
        labels = view.cache["labels"]
        steps = np.arange(first + 1, first + count + 1)[None, :]

        def rows(lo: int, hi: int) -> Array:
            return uniform(view, draw(view.seed, WORD, steps, labels[lo:hi, None]))

        return of_nodes(view, in_blocks(view, view.neighbours, rows))

    def _labels(self, view: View) -> Array:
        """One uint64 for each neighbour."""
        # between two kinds of nodes the two sides take turns; on one kind of node they are the same
        owned, owners = view.owned, view.owned.indptr.shape[0] - 1
        counts = owned.count_neighbours(view.runtime.zeros(view.neighbours, np.int64))
        mine = in_blocks(view, view.neighbours, lambda lo, hi: _degree_labels(counts[lo:hi]))
        theirs = in_blocks(view, owners, lambda lo, hi: _degree_labels(np.diff(owned.indptr[lo : hi + 1 - (hi == lo)])))
        for _ in range(self.rounds):
            mine, theirs = _joined(view, mine, theirs)
        return mine


def _degree_labels(degree: Array) -> Array:
    lengths = np.frexp(degree.astype(np.float64))[1]  # exact: the bit length
    return draw(0, SHAPE, lengths)


def _joined(view: View, neighbours: Array, owners: Array) -> tuple[Array, Array]:
    """New labels from one's own and the sum of those at the other ends, which does not depend on their order."""
    owned = view.owned
    sums = [view.runtime.zeros(labels.shape[0], np.uint64) for labels in (neighbours, owners)]
    with np.errstate(over="ignore"):
        for lo, hi in owned.blocks():
            neighbour = owned.neighbour[owned.indptr[lo] : owned.indptr[hi]]
            owner = owned.owners(lo, hi)
            np.add.at(sums[0], neighbour, mix64(owners[lo:hi])[owner - lo])
            np.add.at(sums[1], owner, mix64(neighbours[neighbour]))
    return _labelled(view, neighbours, sums[0]), _labelled(view, owners, sums[1])


def _labelled(view: View, own: Array, sums: Array) -> Array:
    def rows(lo: int, hi: int) -> Array:
        with np.errstate(over="ignore"):
            return mix64(mix64(own[lo:hi]) + sums[lo:hi])

    return in_blocks(view, own.shape[0], rows)
