"""What a hash family is: attributes of edges in, one integer key per edge and step out; the smallest key wins.

To add a family: one file here with a frozen dataclass derived from `Family`, one line in `hashing/__init__.py`. The
contract tests, the command line and the docs read that registry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from lsprune.attributes import Part
from lsprune.graph import Array, Owned
from lsprune.kernels import Runtime
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.weighted_sampling import LOG_KEY_UNIT

STEPS = 16  # functions computed at a time: one cache line of int32 keys


@dataclass(frozen=True, eq=False)
class View:
    """All that a family may look at."""

    owned: Owned
    parts: Mapping[str, Part]  # empty for a family that needs no attributes
    scales: Mapping[str, Scale]
    calibrated: bool  # attributes are centred and scaled, or raw values
    seed: int
    total: int  # number of steps that the pruner may take in all: its k, where it has one
    needed: int  # number of steps that some owner takes
    functions: int  # number of functions whose keys will be asked for
    neighbours: int  # number of nodes on the neighbour side
    neighbour_base: Array  # [neighbours] first id of each one's graph, or empty for a single graph
    runtime: Runtime
    learned: Array | None = None  # what the family's `learn` gave
    race: bool = False  # keys are wanted that weights can be added to: logarithms of times in a race
    cache: dict[str, Any] = field(default_factory=dict)  # for what a family needs in every block of functions


@dataclass(frozen=True, eq=False)
class NodeKeys:
    """Keys that depend on the neighbour alone: `table[neighbour, z]` int32, 8 or 16 columns.

    The table may be overwritten when the keys of other functions are asked for.
    """

    table: Array


@dataclass(frozen=True, eq=False)
class EdgeKeys:
    """Keys of any kind: `of(lo, hi)` gives int64 `[slots of the owners lo..hi, steps]`."""

    of: Callable[[int, int], Array]


Keys = NodeKeys | EdgeKeys


@dataclass(frozen=True, kw_only=True)
class Family(ABC):
    """A locality-sensitive hash family; its fields are its options."""

    name: ClassVar[str]
    about: ClassVar[str]
    needs_attributes: ClassVar[bool] = True

    @property
    def learns(self) -> bool:
        """Whether `learn` must be called before `keys`."""
        return False

    @property
    def needs_k(self) -> bool:
        """Whether the keys depend on the number of functions, so that a share of edges cannot be asked for."""
        return False

    def doubling(self, view: View) -> int:
        """What to add to the keys of a view with `race` for half the weight; 0 where weights cannot be added."""
        return LOG_KEY_UNIT if self.hashed else 0

    @property
    def hashed(self) -> bool:
        """Whether the keys are those of `uniform`: random numbers that belong to a code."""
        return False

    def lacks(self, parts: Collection[str]) -> str:
        """What this family needs and these parts do not give, and what to use without it; empty if nothing."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        """The name and the options as plain data; a family among them likewise."""
        options = {f.name: getattr(self, f.name) for f in fields(self)}
        plain = {name: value.to_dict() if isinstance(value, Family) else value for name, value in options.items()}
        return {"name": self.name, **plain}

    def learned_fault(self, learned: Array | None, dims: Mapping[str, int]) -> str:
        """What is wrong with an array that a file says was learned for parts of these widths; empty if nothing."""
        return "" if learned is None else f"hash {self.name} learns nothing"

    def learn(self, view: View) -> Array:
        """What the keys need to know of the training graphs: a small integer array."""
        raise NotImplementedError

    @abstractmethod
    def keys(self, view: View, first: int, count: int) -> Keys:
        """Keys of the functions first+1 .. first+count (count <= 16) for every edge."""
