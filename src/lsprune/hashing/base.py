"""What a hash family is: attributes of edges in, one integer key per edge and step out; the smallest key wins.

To add a family: one file here with a frozen dataclass derived from `Family`, and its class in `hashing/__init__.py`;
from outside, `lsprune.register`. The contract tests, the command line and the docs read that registry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from lsprune.attributes import Part
from lsprune.graph import Array, Owned
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.weighted_sampling import LOG_KEY_UNIT

STEPS = 16  # functions computed at a time: one cache line of int32 keys
LEARN_BYTES = 1 << 30  # that learning from up to a million rows takes


@dataclass(frozen=True, eq=False)
class View:
    """All that a family may look at."""

    owned: Owned
    parts: Mapping[str, Part]  # empty for a family that needs no attributes
    scales: Mapping[str, Scale]
    normalised: bool  # attributes are L2-normalised, centred and scaled; else raw values
    seed: int
    total: int  # number of steps that the pruner may take in all: its k, if it has one
    needed: int  # number of steps that some owner takes
    functions: int  # number of functions whose keys will be asked for
    neighbours: int  # number of nodes on the neighbour side
    neighbour_base: Array  # [neighbours] first id of each one's graph, or empty for a single graph
    runtime: Runtime
    learned: Array | None = None  # what the family's `learn` returned
    log_keys: bool = False  # keys must be log2(-log U), to which the logarithms of weights can be added
    cache: dict[str, Any] = field(default_factory=dict)  # for what a family needs in every block of functions


@dataclass(frozen=True, eq=False)
class NodeKeys:
    """Keys that depend on the neighbour alone: `table[neighbour, z]` int32, 8 or 16 columns.

    The table may be overwritten when the keys of other functions are asked for.
    """

    table: Array


@dataclass(frozen=True, eq=False)
class EdgeKeys:
    """Keys of any kind: `of(lo, hi)` returns int64 `[slots of the owners lo..hi, steps]`."""

    of: Callable[[int, int], Array]


Keys = NodeKeys | EdgeKeys


@dataclass(frozen=True, kw_only=True)
class Family(ABC):
    """A locality-sensitive hash family; its fields are its options."""

    name: ClassVar[str]
    about: ClassVar[str]
    needs_attributes: ClassVar[bool] = True
    chosen_by_fit: ClassVar[bool] = False  # a stand-in that `fit` replaces by another family

    @property
    def learns(self) -> bool:
        """Whether `learn` must be called before `keys`."""
        return False

    @property
    def needs_k(self) -> bool:
        """Whether the keys depend on the number of functions, so that a share of edges cannot be asked for."""
        return False

    @property
    def has_codes(self) -> bool:
        """Whether the keys are those of `uniform`: random numbers that belong to a code."""
        return False

    @property
    def needs(self) -> Needs:
        """Say what the keys are made of besides attributes; keys of `needs.key_table` are made once a neighbour."""
        return Needs(key_table=True, fit_bytes=LEARN_BYTES if self.learns else 0)

    def log_unit(self, view: View) -> int:
        """Return what to add to the keys of a view with `log_keys` for half the weight; 0 if it takes no weights."""
        return LOG_KEY_UNIT if self.has_codes else 0

    def uses(self, parts: Collection[str]) -> frozenset[str]:
        """Return those parts of the description of an edge that decide between the edges of one owner."""
        return frozenset(parts)

    def with_codes(self, view: View) -> Family:
        """Return this family, or one like it whose keys are codes that similar edges share; see `Both`."""
        return self

    def missing_parts(self, parts: Collection[str]) -> str:
        """Say what this family needs and these parts do not offer, and what to use instead; empty if nothing."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the options as plain data; a family among them likewise."""
        options = {f.name: getattr(self, f.name) for f in fields(self)}
        plain = {name: value.to_dict() if isinstance(value, Family) else value for name, value in options.items()}
        return {"name": self.name, **plain}

    def learned_problem(self, learned: Array | None, dims: Mapping[str, int]) -> str:
        """Say what is wrong with a learned array, read from a file, for parts of these widths; empty if nothing."""
        return "" if learned is None else f"hash {self.name} learns nothing"

    def learn(self, view: View) -> Array:
        """Return what the keys need to know of the training graphs: a small integer array."""
        raise NotImplementedError

    @abstractmethod
    def keys(self, view: View, first: int, count: int) -> Keys:
        """Return the keys of the functions first+1 .. first+count (count <= 16) for every edge."""
