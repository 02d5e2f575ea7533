"""The contract of a hash family: from the attributes of edges to an integer key per edge and step; the smallest wins.

To add a family to lsprune: write a file here with a frozen dataclass derived from `Family`, and add the class to
`hashing/__init__.py`. To add one from your own code: `lsprune.register`. The contract tests, the command line and the
docs read that registry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from lsprune.attributes import Part
from lsprune.graph import Array, Owned
from lsprune.kernels import Runtime
from lsprune.keyword_options import KeywordOptions
from lsprune.needs import Needs
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.weighted_sampling import LOG_KEY_UNIT

BLOCK_FUNCTIONS = 16  # functions computed at a time: their int32 keys fill a cache line
LEARN_BYTES = 1 << 30  # memory to learn from up to a million rows


@dataclass(frozen=True, eq=False)
class View:
    """What a family may use to compute keys."""

    owned: Owned
    parts: Mapping[str, Part]  # empty for a family that needs no attributes
    scales: Mapping[str, Scale]
    normalised: bool  # attributes are L2-normalised, centred and scaled; else raw values
    seed: int
    total: int  # largest number of steps of an owner: the k of the pruner, if it has one
    needed: int  # number of steps that are used: no owner of this graph takes more
    functions: int  # number of functions whose keys will be computed
    neighbours: int  # number of nodes on the neighbour side
    neighbour_base: Array  # [neighbours] first id of the graph of each node; empty for a single graph
    runtime: Runtime
    learned: Array | None = None  # what the family's `learn` returned
    weights_learned: Array | None = None  # what the `learn` of the weights returned
    log_keys: bool = False  # keys must be log2(-log U), to which the logarithms of weights can be added
    cache: dict[str, Any] = field(default_factory=dict)  # for results that every block of functions needs

    @property
    def device(self) -> Any:
        """The torch device that arrays are on; None: they are numpy arrays."""
        return self.runtime.device

    def constant(self, values: Array) -> Array:
        """Return a small array where the arrays of the graph are: itself, or a tensor on the device."""
        if self.device is None:
            return values
        tensor: Array = import_module("lsprune.kernels.gpu.constants").constant(values, self.device)
        return tensor

    def neighbour_ids(self, lo: int, hi: int) -> Array:
        """Return the ids of the neighbours lo..hi within their graphs."""
        if self.device is not None:
            ids: Array = import_module("lsprune.hashing.device_keys").arange(self, lo, hi)
        else:
            ids = np.arange(lo, hi)
        return ids - self.neighbour_base[lo:hi] if self.neighbour_base.shape[0] else ids


@dataclass(frozen=True, eq=False)
class NodeKeys:
    """Keys that depend on the neighbour alone: `table[neighbour, z]` int32, 8 or 16 columns.

    The table may be overwritten when the keys of other functions are computed.
    """

    table: Array


@dataclass(frozen=True, eq=False)
class EdgeKeys:
    """Keys that depend on the edge: `of(lo, hi)` returns int64 `[slots of the owners lo..hi, steps]`."""

    of: Callable[[int, int], Array]


Keys = NodeKeys | EdgeKeys


@dataclass(frozen=True, kw_only=True)
class Family(KeywordOptions, ABC):
    """A locality-sensitive hash family; its fields are its options."""

    name: ClassVar[str]
    about: ClassVar[str]
    needs_attributes: ClassVar[bool] = True
    chosen_by_fit: ClassVar[bool] = False  # a stand-in that `fit` replaces by another family

    @property
    def instead_of_pruner(self) -> str:
        """Say what to write where a pruner is wanted, for the end of an error message."""
        return f", a hash family: write LSP(keep=0.5, hash={self!r})"

    @property
    def learns(self) -> bool:
        """Whether `learn` must be called before `keys`."""
        return False

    @property
    def needs_k(self) -> bool:
        """Whether the keys depend on the number of functions, so that the pruner needs `k` and cannot take `keep`."""
        return False

    @property
    def has_codes(self) -> bool:
        """Whether keys are hashes of a code (see `uniform`), so that edges with the same code share a key."""
        return False

    @property
    def unbiased_problem(self) -> str:
        """Say why kept edges cannot be weighted so that sums are unbiased (`rescale="unbiased"`).

        Empty if neighbours that differ have draws of their own, from `uniform`.
        """
        return f"different neighbours may share a code of hash {self.name}, and with it their draw"

    @property
    def needs(self) -> Needs:
        """Say what the keys depend on besides attributes; with `key_table` they are computed once per neighbour."""
        return Needs(key_table=True, fit_bytes=LEARN_BYTES if self.learns else 0)

    def log_unit(self, view: View) -> int:
        """Return what half the weight adds to a key of a view with `log_keys`; 0 if keys cannot be weighted."""
        return LOG_KEY_UNIT if self.has_codes else 0

    def uses(self, parts: Collection[str]) -> frozenset[str]:
        """Return the parts that can change which edges of an owner are kept."""
        return frozenset(parts)

    def with_codes(self, view: View) -> Family:
        """Return this family, or a variant whose keys are codes that similar edges share; see `Both`."""
        return self

    def missing_parts(self, parts: Collection[str]) -> str:
        """Say which attributes are missing and what to use instead, for an error message; empty if none are."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the options as plain data; options that are families become such tables too."""
        options = {f.name: getattr(self, f.name) for f in fields(self)}
        plain = {name: value.to_dict() if isinstance(value, Family) else value for name, value in options.items()}
        return {"name": self.name, **plain}

    def learned_problem(self, learned: Array | None, dims: Mapping[str, int]) -> str:
        """Say what is wrong with a learned array that was read from a file; empty if nothing.

        Args:
            dims: number of columns of each part.
        """
        return "" if learned is None else f"hash {self.name} learns nothing"

    def learn(self, view: View) -> Array:
        """Return what the family learns from the training graphs, as a small integer array."""
        raise NotImplementedError

    @abstractmethod
    def keys(self, view: View, first: int, count: int) -> Keys:
        """Return the keys of the functions first+1 .. first+count (count <= 16) for every edge."""
