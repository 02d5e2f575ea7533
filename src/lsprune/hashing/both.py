"""Two families in one: one hashes the edge attributes, one the node attributes; the pair of codes is min-hashed."""

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
from lsprune.hashing.keys import as_int64, of_slots, uniform
from lsprune.needs import Needs
from lsprune.numeric.random_numbers import PAIR, draw

_NODE_PARTS = ("owner", "neighbour")
_HEADER_ENTRIES = 8  # int16 entries that hold the shapes of two tables
_EMPTY_TABLE = np.zeros((0, 0), np.int16)


@dataclass(frozen=True, kw_only=True)
class Both(Family):
    """The key is a hash of two codes: edges share a key if both families give them the same code.

    The code of a family is its key: the word, the signs, the bin. A projection without bins gets bins of one standard
    deviation; of `Bins`, the finest bins count.

    Args:
        edge: the family that hashes the edge attributes.
        node: the family that hashes the neighbour's attributes, and the owner's if `attributes` names the owner.

    >>> Both(node=Codebook(words=64)).node
    Codebook(words=64, iterations=2, exact=False)
    """

    name: ClassVar[str] = "both"
    about: ClassVar[str] = "min-hash of two codes: of edge attributes and of node attributes, by two families"
    has_codes: ClassVar[bool] = True

    edge: Family = field(default_factory=Codebook)
    node: Family = field(default_factory=Codebook)

    def __post_init__(self) -> None:
        for name, part in (("edge", self.edge), ("node", self.node)):
            if not isinstance(part, Family):
                raise OptionError(f"{name} must be a hash family such as Codebook(), got {shown(part)}")
            if part.chosen_by_fit or isinstance(part, Both):
                raise OptionError(f"{name} must be a hash family with codes of its own, got {part!r}")
        if not self.edge.needs_attributes:
            raise OptionError(f"edge must be a hash family that looks at attributes, got {self.edge!r}")

    @property
    def learns(self) -> bool:
        """Whether one of the two families learns."""
        return self.edge.learns or self.node.learns

    @property
    def needs_k(self) -> bool:
        """Whether one of the two families needs k."""
        return self.edge.needs_k or self.node.needs_k

    @property
    def needs(self) -> Needs:
        """Combine the needs of the two families; keys are computed for each edge."""
        fit_bytes = max(self.edge.needs.fit_bytes, self.node.needs.fit_bytes)  # one learns after the other
        return replace(self.edge.needs | self.node.needs, key_table=False, fit_bytes=fit_bytes)

    def missing_parts(self, parts: Collection[str]) -> str:
        """Say which of edge and node attributes are missing, and which family to use alone; empty if none are."""
        if "edge" not in parts:
            return f"edge attributes (edge_attr); to hash nodes alone use hash={self.node!r}"
        if self.node.needs_attributes and not set(_NODE_PARTS) & set(parts):
            return f"node attributes (x); to hash edges alone use hash={self.edge!r}"
        return ""

    def learned_problem(self, learned: Array | None, dims: Mapping[str, int]) -> str:
        """Say what is wrong with the tables that the two families learned; empty if nothing."""
        if not self.learns:
            return super().learned_problem(learned, dims)
        if learned is None or not _can_unpack(learned):
            return "what the two families learned is missing or damaged"
        tables = _unpacked(learned)
        for part, roles, table in zip((self.edge, self.node), (("edge",), _NODE_PARTS), tables, strict=True):
            own = {role: dim for role, dim in dims.items() if role in roles}
            if fault := part.learned_problem(table if part.learns or table.size else None, own):
                return fault
        return ""

    def learn(self, view: View) -> Array:
        """Return what the two families learn, packed into one array."""
        return _packed([part.learn(own) if part.learns else _EMPTY_TABLE for part, own in self._split(view)])

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Return the keys of the functions first+1 .. first+count."""
        if "split" not in view.cache:
            view.cache["split"] = self._split(view)
        keys_of_parts = [part.keys(own, first, count) for part, own in view.cache["split"]]
        steps = np.arange(first + 1, first + count + 1)[None, :]

        def keys_of_owners(lo: int, hi: int) -> Array:
            edge, node = (of_slots(view, keys, lo, hi, count) for keys in keys_of_parts)
            return as_int64(uniform(view, draw(view.seed, PAIR, steps, edge, node)))

        return EdgeKeys(keys_of_owners)

    def _split(self, view: View) -> list[tuple[Family, View]]:
        """Return the two families, each with a view that holds its own parts only."""
        learned = (None, None) if view.learned is None else _unpacked(view.learned)
        split = []
        for part, roles, table in zip((self.edge, self.node), (("edge",), _NODE_PARTS), learned, strict=True):
            own = _restricted(view, roles, table if part.learns else None)
            split.append((part.with_codes(own), own))
        return split


def _restricted(view: View, roles: Collection[str], learned: Array | None) -> View:
    """Return a view that holds these parts only. Its keys are codes, which are weighted after they are combined."""
    parts = {role: part for role, part in view.parts.items() if role in roles}
    min_shift = min((view.scales[role].shift for role in parts), default=0)
    scales = {role: replace(view.scales[role], shift=view.scales[role].shift - min_shift) for role in parts}
    return replace(view, parts=parts, scales=scales, learned=learned, log_keys=False, cache={})


def _packed(tables: list[Array]) -> Array:
    """Return two int16 tables as one array: their shapes, then their entries.

    >>> [table.tolist() for table in _unpacked(_packed([np.array([[1, 2]], np.int16), _EMPTY_TABLE]))]
    [[[1, 2]], []]
    """
    shapes = np.array([table.shape for table in tables], "<i4").view("<i2")
    return np.concatenate([shapes.ravel(), *(table.ravel() for table in tables)]).astype(np.int16)


def _can_unpack(packed: Array) -> bool:
    """Return whether the shapes at the start of an array match the number of entries that follow."""
    if packed.ndim != 1 or packed.size < _HEADER_ENTRIES:
        return False
    shapes = [int(side) for side in packed[:_HEADER_ENTRIES].astype("<i2").view("<i4")]
    return min(shapes) >= 0 and _HEADER_ENTRIES + shapes[0] * shapes[1] + shapes[2] * shapes[3] == packed.size


def _unpacked(packed: Array) -> tuple[Array, Array]:
    """Return the two tables that `_packed` joined."""
    first, second = packed[:_HEADER_ENTRIES].astype("<i2").view("<i4").reshape(2, 2)
    border = _HEADER_ENTRIES + int(first.prod())
    return packed[_HEADER_ENTRIES:border].reshape(first), packed[border:].reshape(second)
