"""The contract of an edge weight: a positive number per edge or neighbour; edges of larger weight are preferred.

Families with codes use consistent weighted sampling: a key is the logarithm of an exponential time -log(U) / weight, so
half the weight adds one unit to the key. The keys of a projection are not times: there, half the weight adds one
standard deviation.

To add a weight to lsprune: write a file here with a frozen dataclass derived from `Weight`, and add the class to
`weights/__init__.py`. To add one from your own code: `lsprune.register`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, ClassVar, Literal

import numpy as np

from lsprune.attributes import Part
from lsprune.checks import set_number
from lsprune.errors import GraphError, OptionError
from lsprune.graph import Array, Graph, Owned
from lsprune.hashing.base import EdgeKeys, Keys, NodeKeys, View
from lsprune.hashing.keys import in_blocks, of_nodes
from lsprune.kernels import Runtime
from lsprune.keyword_options import KeywordOptions
from lsprune.needs import Needs
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.weighted_sampling import EXACT_LOG_UNIT, FRACTION_BITS, log2
from lsprune.weights.comparison import Comparison

_POWER_BITS = 16  # fraction bits of a power
_LOG_BITS = 16  # fraction bits of a logarithm when it is multiplied

NodeScale = Callable[[Part], Scale]  # from the attributes of nodes, without rows, to their scale


@dataclass(frozen=True, eq=False)
class PerEdge:
    """A number for each neighbour, or each edge in the caller's order, or each slot; two of the three are None."""

    of_neighbour: Array | None = None
    of_edge: Array | None = None
    of_slot: Array | None = None

    def of(self, owned: Owned, start: int, stop: int) -> Array:
        """Return the numbers of the slots start..stop."""
        if self.of_slot is not None:
            return self.of_slot[start:stop]
        numbers: Array
        if self.of_neighbour is not None:
            numbers = self.of_neighbour[owned.neighbour[start:stop]]
        else:
            assert self.of_edge is not None
            numbers = self.of_edge[owned.edges(start, stop)]
        return numbers


@dataclass(frozen=True, kw_only=True)
class Weight(KeywordOptions, ABC):
    """A weight for every edge; its fields are its options.

    Args:
        power: exponent of the weight, in [0, 64]; 0: no preference, larger: a stronger one.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    prefers: ClassVar[Literal["large", "small"]] = "large"
    chosen_by_fit: ClassVar[bool] = False  # a stand-in that `fit` replaces by another weight, or by none
    roles: ClassVar[tuple[str, ...]] = ()  # names of the scales that `fit` returns
    baseline: ClassVar[str] = ""  # the pruner that keeps the edges of largest weight, if it has a name of its own

    power: float = 1.0

    def __post_init__(self) -> None:
        set_number(self, "power", lambda power: 0 <= power <= 64, "a number in [0, 64]")

    def __mul__(self, other: Weight) -> Weight:
        """Return the product of two weights; see `lsprune.weights.product`."""
        if not isinstance(other, Weight):
            return NotImplemented
        from lsprune.weights.product import Product

        return Product(factors=(self, other))

    @property
    def instead_of_pruner(self) -> str:
        """Say what to write where a pruner is wanted, for the end of an error message."""
        pruner = self.baseline or f"TopWeight(keep=0.5, weights={self!r})"
        return f", an edge weight: write LSP(keep=0.5, weights={self!r}) or lsprune.baselines.{pruner}"

    @property
    def learns(self) -> bool:
        """Whether `fit` must learn scales from the training graphs."""
        return False

    @property
    def needs(self) -> Needs:
        """Say what the weight depends on."""
        return Needs()

    def fit(self, graph: Graph, side: str, seed: int, runtime: Runtime, sizes: Mapping[str, int]) -> dict[str, Scale]:
        """Return scales learned from the training graph, by name; most weights learn nothing."""
        return {}

    def learn(self, graph: Graph, side: str, seed: int, runtime: Runtime, scales: Mapping[str, Scale]) -> Array | None:
        """Return what is learned besides scales, as an array of int16; None for most weights."""
        return None

    def learned_problem(self, learned: Array | None, scales: Mapping[str, Scale]) -> str:
        """Say what is wrong with what `learn` returned, as it was read from a file; empty if nothing."""
        return "" if learned is None else f"weights {self.name} learn nothing"

    def carried(self, place: int) -> Weight:
        """Return the weight to use where edges carry logarithms that `comparisons` computed, from `place` on.

        By default the weight itself: it has no comparisons.
        """
        return self

    def comparisons(self, scales: Mapping[str, Scale], learned: Array | None, seed: int) -> tuple[Comparison, ...]:
        """Say how logarithms are computed where no task sees the whole graph; none if single edges are enough."""
        return ()

    def fit_scales(self, template: Graph, side: str, seed: int, scale_of: NodeScale) -> dict[str, Scale]:
        """Return the scales that `fit` returns, where they are computed elsewhere, as on Spark.

        Args:
            template: a graph without nodes and edges, whose attributes are of the right types and widths.
            scale_of: returns the scale of the attributes of nodes, normalised.
        """
        if self.learns:
            raise OptionError(
                f"weights {self.name} must be fitted before: call fit on a graph that fits into memory, or a part of it"
            )
        return {}

    def check(  # noqa: B027  (most weights need no attributes)
        self, graph: Graph, side: str, seed: int, runtime: Runtime, scales: Mapping[str, Scale]
    ) -> None:
        """Raise GraphError if the graph lacks attributes that this weight needs, or they are not finite."""

    def check_attributes(self, graph: Graph, side: str) -> None:  # noqa: B027
        """Raise GraphError if the graph lacks attributes that this weight compares, even if it has no edges."""

    def values(self, graph: Graph, view: View, side: str) -> PerEdge:
        """Return positive numbers (float32 or integers); a subclass defines this or `logs`."""
        raise NotImplementedError(f"{type(self).__name__} must define values or logs")

    def logs(self, graph: Graph, view: View, side: str, scales: Mapping[str, Scale]) -> PerEdge:
        """Return log2 of the values in fixed point with 32 bits of fraction, int64."""
        values = self.values(graph, view, side)
        return PerEdge(
            **{name: None if array is None else self._logs(array, view) for name, array in vars(values).items()}
        )

    def _logs(self, values: Array, view: View) -> Array:
        """Return log2 of values; raise GraphError unless all are > 0 and finite."""
        refusal = GraphError(f"weights={self!r} must be > 0 and finite in float32")
        if view.device is not None:
            logs: Array | None = on_device().log2_of_floats(values)
            if logs is None:
                raise refusal
            return logs
        column = np.asarray(values)

        def block(lo: int, hi: int) -> Array:
            with np.errstate(over="ignore", under="ignore"):  # overflow and underflow are refused below
                numbers = column[lo:hi].astype(np.float32)
            if numbers.size and not (np.isfinite(numbers).all() and numbers.min() > 0):
                raise refusal
            return log2_of_floats(numbers, view.runtime)

        return in_blocks(view, column.shape[0], block)

    def key_offsets(self, graph: Graph, view: View, side: str, unit: int, scales: Mapping[str, Scale]) -> PerEdge:
        """Return what to add to the keys of each neighbour, edge or slot.

        Args:
            unit: what half the weight adds to a key; see `Family.log_unit`.
        """
        power, logs = round(self.power * (1 << _POWER_BITS)), self.logs(graph, view, side, scales)

        def scaled(values: Array) -> Array:
            def block(lo: int, hi: int) -> Array:
                offsets = _scaled(values[lo:hi], power, unit)
                return offsets if self.prefers == "small" else -offsets

            return in_blocks(view, values.shape[0], block)

        return PerEdge(**{name: None if array is None else scaled(array) for name, array in vars(logs).items()})

    @property
    def parts(self) -> tuple[Weight, ...]:
        """The weights that are multiplied: itself, or the factors of a product."""
        return (self,)

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the options as plain data."""
        return {"name": self.name, **{f.name: getattr(self, f.name) for f in fields(self)}}


def _scaled(logs: Array, power: int, unit: int) -> Array:
    """Return logs * power * unit in fixed point, rounded down after each product so that 64 bits are enough."""
    if unit == EXACT_LOG_UNIT:
        exact: Array = (logs * power) >> _POWER_BITS  # below 2^62: a float32 has a log2 of at most 149
        return exact
    scaled = ((logs >> (FRACTION_BITS - _LOG_BITS)) * power) >> _LOG_BITS
    product: Array = (scaled * unit) >> _POWER_BITS
    return product


def on_device() -> Any:
    """Return the module with the same functions for tensors; it imports torch."""
    return import_module("lsprune.weights.device_logs")


def log2_of_floats(values: Array, runtime: Runtime) -> Array:
    """Return log2 of positive float32 numbers in fixed point, exactly as for whole numbers."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    whole = (fraction * (1 << 24)).astype(np.uint64)  # exact: a float32 has 24 bits
    return np.asarray(log2(whole, runtime) + ((exponent.astype(np.int64) - 24) << FRACTION_BITS))


def add_offsets(keys: Keys, view: View, offsets: PerEdge, count: int) -> Keys:
    """Add the offsets to the keys of `count` functions."""
    if view.device is not None:
        added: Keys = on_device().add_offsets(keys, view, offsets, count)
        return added
    owned = view.owned
    if isinstance(keys, NodeKeys) and offsets.of_neighbour is not None:
        table, extra = keys.table, offsets.of_neighbour

        def rows(lo: int, hi: int) -> Array:
            return np.asarray(table[lo:hi, :count].astype(np.int64) + extra[lo:hi, None])

        return of_nodes(view, in_blocks(view, view.neighbours, rows))

    def keys_of_owners(lo: int, hi: int) -> Array:
        start, stop = int(owned.indptr[lo]), int(owned.indptr[hi])
        neighbour, extra = owned.neighbour[start:stop], offsets.of(owned, start, stop)
        if not isinstance(keys, NodeKeys):
            return keys.of(lo, hi) + extra[:, None]
        out = np.empty((stop - start, count), np.int64)
        view.runtime.module.add_to_keys(keys.table, neighbour, extra, out)
        return out

    return EdgeKeys(keys_of_owners)
