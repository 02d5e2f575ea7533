"""Prefer edges by several weights at once: their product."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any, ClassVar

from lsprune.checks import shown
from lsprune.errors import OptionError
from lsprune.graph import Array, Graph
from lsprune.hashing.base import View
from lsprune.hashing.keys import in_blocks
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.weighted_sampling import EXACT_LOG_UNIT
from lsprune.weights.base import NodeScale, PerEdge, Weight
from lsprune.weights.comparison import Comparison

MAX_LOG = 1 << 14  # of log2 of a product, so that offsets of keys stay within 64 bits


@dataclass(frozen=True, kw_only=True, repr=False)
class Product(Weight):
    """The weight is the product of the factors, each with its own power; `*` builds it.

    The logarithms of the factors are added as integers, so their order does not matter. A product of products is one
    product.

    Args:
        factors: two or more edge weights; none that `fit` has yet to choose ("auto").

    >>> from lsprune.weights import Degree, Jaccard
    >>> Jaccard(power=0.5) * Degree(power=0.5)
    Jaccard(power=0.5) * Degree(power=0.5)
    """

    name: ClassVar[str] = "product"
    about: ClassVar[str] = 'several weights multiplied: "jaccard:power=0.5*degree:power=0.5"'

    power: float = field(default=1.0, init=False)
    factors: tuple[Weight, ...] = ()

    def __post_init__(self) -> None:
        factors = self.factors if isinstance(self.factors, (list, tuple)) else (self.factors,)
        flat: list[Any] = []
        for factor in factors:
            flat += factor.factors if isinstance(factor, Product) else [factor]
        if len(flat) < 2 or not all(isinstance(factor, Weight) for factor in flat):
            raise OptionError(f"factors must be two or more edge weights, got {shown(self.factors)}")
        if any(factor.chosen_by_fit for factor in flat):
            raise OptionError(f"factors must be weights that are chosen already, got {shown(self.factors)}")
        object.__setattr__(self, "factors", tuple(flat))

    def __repr__(self) -> str:
        return " * ".join(repr(factor) for factor in self.factors)

    @property
    def parts(self) -> tuple[Weight, ...]:
        """The factors."""
        return self.factors

    @property
    def roles(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the scales that the factors learn."""
        return tuple(dict.fromkeys(role for factor in self.factors for role in factor.roles))

    @property
    def learns(self) -> bool:
        """Whether a factor learns."""
        return any(factor.learns for factor in self.factors)

    @property
    def needs(self) -> Needs:
        """Combine what the factors need."""
        return reduce(or_, (factor.needs for factor in self.factors))

    def fit(self, graph: Graph, side: str, seed: int, runtime: Runtime, sizes: Mapping[str, int]) -> dict[str, Scale]:
        """Return the scales of all factors; factors of one kind learn the same ones."""
        kinds = {type(factor): factor for factor in self.factors}
        return reduce(or_, (factor.fit(graph, side, seed, runtime, sizes) for factor in kinds.values()))

    def learn(self, graph: Graph, side: str, seed: int, runtime: Runtime, scales: Mapping[str, Scale]) -> Array | None:
        """Return what the factors learn besides scales; factors of one kind learn the same."""
        learner = self._learner(scales)
        return None if learner is None else learner.learn(graph, side, seed, runtime, scales)

    def learned_problem(self, learned: Array | None, scales: Mapping[str, Scale]) -> str:
        """Say what is wrong with what a factor learned; empty if nothing."""
        learner = self._learner(scales)
        return super().learned_problem(learned, scales) if learner is None else learner.learned_problem(learned, scales)

    def _learner(self, scales: Mapping[str, Scale]) -> Weight | None:
        """Return the factor that learns an array: one that is not content with none."""
        return next((factor for factor in self.factors if factor.learned_problem(None, scales)), None)

    def carried(self, place: int) -> Weight:
        """Return the product of what the factors use where edges carry logarithms."""
        factors: list[Weight] = []
        for factor in self.factors:
            factors.append(factor.carried(place))
            place += factors[-1] is not factor
        return Product(factors=tuple(factors))

    def comparisons(self, scales: Mapping[str, Scale], learned: Array | None, seed: int) -> tuple[Comparison, ...]:
        """Return the comparisons of all factors, in their order."""
        return tuple(one for factor in self.factors for one in factor.comparisons(scales, learned, seed))

    def fit_scales(self, template: Graph, side: str, seed: int, scale_of: NodeScale) -> dict[str, Scale]:
        """Return the scales of all factors."""
        return reduce(or_, (factor.fit_scales(template, side, seed, scale_of) for factor in self.factors))

    def check(self, graph: Graph, side: str, seed: int, runtime: Runtime, scales: Mapping[str, Scale]) -> None:
        """Raise GraphError if the graph lacks attributes that a factor needs, or they are not finite."""
        for factor in self.factors:
            factor.check(graph, side, seed, runtime, scales)

    def check_attributes(self, graph: Graph, side: str) -> None:
        """Raise GraphError if the graph lacks attributes that a factor compares."""
        for factor in self.factors:
            factor.check_attributes(graph, side)

    def logs(self, graph: Graph, view: View, side: str, scales: Mapping[str, Scale]) -> PerEdge:
        """Return the sum of the logarithms of the factors, at most MAX_LOG either way."""
        offsets = [factor.key_offsets(graph, view, side, EXACT_LOG_UNIT, scales) for factor in self.factors]
        return _minus_sum(offsets, view)

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the factors as plain data."""
        return {"name": self.name, "factors": [factor.to_dict() for factor in self.factors]}


def _minus_sum(offsets: list[PerEdge], view: View) -> PerEdge:
    """Return minus the sum of some numbers: by neighbour or by edge if all are, else by slot."""

    def total(arrays: list[Array]) -> Array:
        most = MAX_LOG * EXACT_LOG_UNIT
        limited: Array = (-reduce(lambda a, b: a + b, arrays)).clip(-most, most)
        return limited

    for name in ("of_neighbour", "of_edge"):
        arrays = [getattr(numbers, name) for numbers in offsets]
        if all(array is not None for array in arrays):

            def block(lo: int, hi: int, arrays: list[Array] = arrays) -> Array:
                return total([array[lo:hi] for array in arrays])

            return PerEdge(**{name: in_blocks(view, arrays[0].shape[0], block)})
    slots = int(view.owned.neighbour.shape[0])

    def of_slots(lo: int, hi: int) -> Array:
        return total([numbers.of(view.owned, lo, hi) for numbers in offsets])

    return PerEdge(of_slot=in_blocks(view, slots, of_slots))
