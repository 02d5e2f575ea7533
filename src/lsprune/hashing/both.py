"""Two families in one: the edge's own attributes are hashed by one, those of its nodes by another, and the pair of
their codes is min-hashed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from lsprune.checks import shown
from lsprune.errors import OptionError
from lsprune.graph import Array
from lsprune.hashing.base import EdgeKeys, Family, Keys, View
from lsprune.hashing.codebook import Codebook
from lsprune.hashing.keys import uniform
from lsprune.needs import Needs
from lsprune.numeric.random_numbers import PAIR, draw

_NODE = ("owner", "neighbour")
_HEADER = 8  # places of 16 bits that hold the shapes of two tables
_NOTHING = np.zeros((0, 0), np.int16)


@dataclass(frozen=True, kw_only=True)
class Both(Family):
    """The key is a random number that belongs to two codes together: edges are alike where both families say so.

    A family's code is its key: the word, the signs, the bin. A projection that is not cut into bins gets bins of one
    standard deviation; of `Bins` the finest ones count.

    Args:
        edge: the family that hashes the edge's own attributes.
        node: the family that hashes the neighbour's, and the owner's if `attributes` names it.

    >>> Both(node=Projection(l=0.5)).node
    Projection(l=0.5, offset='uniform', sparsity=None)
    """

    name: ClassVar[str] = "both"
    about: ClassVar[str] = "min-hash of two codes: the edge's by one family, its nodes' by another"
    has_codes: ClassVar[bool] = True

    edge: Family = field(default_factory=Codebook)
    node: Family = field(default_factory=Codebook)

    def __post_init__(self) -> None:
        for name, given in (("edge", self.edge), ("node", self.node)):
            if not isinstance(given, Family):
                raise OptionError(f"{name} must be a hash family such as Codebook(), got {shown(given)}")
            if given.chosen_by_fit or isinstance(given, Both):
                raise OptionError(f"{name} must be a hash family with codes of its own, got {given!r}")
        if not self.edge.needs_attributes:
            raise OptionError(f"edge must be a hash family that looks at attributes, got {self.edge!r}")

    @property
    def learns(self) -> bool:
        """Whether one of the two does."""
        return self.edge.learns or self.node.learns

    @property
    def needs_k(self) -> bool:
        """Whether one of the two does."""
        return self.edge.needs_k or self.node.needs_k

    @property
    def needs(self) -> Needs:
        """Combine the needs of the two; keys are those of single edges."""
        return replace(self.edge.needs | self.node.needs, key_table=False)

    def missing_parts(self, parts: Collection[str]) -> str:
        """The attributes that one of the two would be left without."""
        if "edge" not in parts:
            return f"edge attributes (edge_attr); to hash nodes alone use hash={self.node!r}"
        if self.node.needs_attributes and not set(_NODE) & set(parts):
            return f"node attributes (x); to hash edges alone use hash={self.edge!r}"
        return ""

    def learned_problem(self, learned: Array | None, dims: Mapping[str, int]) -> str:
        """Each of the two says of its own table what is wrong with it."""
        if not self.learns:
            return super().learned_problem(learned, dims)
        if learned is None or not _can_unpack(learned):
            return "what the two families learned is missing or damaged"
        for part, roles, table in zip((self.edge, self.node), (("edge",), _NODE), _unpacked(learned), strict=True):
            own = {role: dim for role, dim in dims.items() if role in roles}
            if fault := part.learned_problem(table if part.learns or table.size else None, own):
                return fault
        return ""

    def learn(self, view: View) -> Array:
        """What each of the two learns, one after the other."""
        return _packed([part.learn(own) if part.learns else _NOTHING for part, own in self._split(view)])

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Keys of the functions first+1 .. first+count."""
        if "split" not in view.cache:
            view.cache["split"] = self._split(view)
        found = [part.keys(own, first, count) for part, own in view.cache["split"]]
        steps = np.arange(first + 1, first + count + 1)[None, :]

        def of(lo: int, hi: int) -> Array:
            edge, node = (_of_slots(keys, view, lo, hi, count) for keys in found)
            return uniform(view, draw(view.seed, PAIR, steps, edge, node)).astype(np.int64)

        return EdgeKeys(of)

    def _split(self, view: View) -> list[tuple[Family, View]]:
        """The two families, each with a view of nothing but its own part."""
        learned = (None, None) if view.learned is None else _unpacked(view.learned)
        split = []
        for part, roles, table in zip((self.edge, self.node), (("edge",), _NODE), learned, strict=True):
            own = _restricted(view, roles, table if part.learns else None)
            split.append((part.with_codes(own), own))
        return split


def _restricted(view: View, roles: Collection[str], learned: Array | None) -> View:
    """The view of some parts alone, as if the others did not exist; keys are codes, so that no race is wanted yet."""
    parts = {role: part for role, part in view.parts.items() if role in roles}
    least = min((view.scales[role].shift for role in parts), default=0)
    scales = {role: replace(view.scales[role], shift=view.scales[role].shift - least) for role in parts}
    return replace(view, parts=parts, scales=scales, learned=learned, log_keys=False, cache={})


def _of_slots(keys: Keys, view: View, lo: int, hi: int, count: int) -> Array:
    """The keys `[slots of the owners lo..hi, count]`."""
    if isinstance(keys, EdgeKeys):
        return keys.of(lo, hi)
    owned = view.owned
    return np.asarray(keys.table[owned.neighbour[owned.indptr[lo] : owned.indptr[hi]], :count])


def _packed(tables: list[Array]) -> Array:
    """Two tables of int16 as one array: their shapes, then what they hold.

    >>> [table.tolist() for table in _unpacked(_packed([np.array([[1, 2]], np.int16), _NOTHING]))]
    [[[1, 2]], []]
    """
    shapes = np.array([table.shape for table in tables], "<i4").view("<i2")
    return np.concatenate([shapes.ravel(), *(table.ravel() for table in tables)]).astype(np.int16)


def _can_unpack(packed: Array) -> bool:
    """Whether the shapes at the start of an array are those of what follows."""
    if packed.ndim != 1 or packed.size < _HEADER:
        return False
    shapes = [int(side) for side in packed[:_HEADER].astype("<i2").view("<i4")]
    return min(shapes) >= 0 and _HEADER + shapes[0] * shapes[1] + shapes[2] * shapes[3] == packed.size


def _unpacked(packed: Array) -> tuple[Array, Array]:
    """The two tables that `_packed` was given."""
    first, second = packed[:_HEADER].astype("<i2").view("<i4").reshape(2, 2)
    border = _HEADER + int(first.prod())
    return packed[_HEADER:border].reshape(first), packed[border:].reshape(second)
