"""A fitted LSP: its options, and what was learned from the training graphs."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from lsprune.attributes import PARTS, Part
from lsprune.checks import shown
from lsprune.errors import OptionError
from lsprune.graph import Array, Graph, Owned
from lsprune.hashing.base import Keys, View
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.quantisation import Scale, check_finite, check_fitted
from lsprune.numeric.weighted_sampling import EXACT_LOG_UNIT
from lsprune.pruners.contract import PerOwner, Pruner
from lsprune.pruners.registry import load
from lsprune.pruners.saved import NUMBERS
from lsprune.selection.choose import KeySource
from lsprune.selection.owners import group, neighbour_base
from lsprune.selection.per_node import PerNode
from lsprune.weights.base import PerEdge, add_offsets
from lsprune.weights.comparison import Comparison

if TYPE_CHECKING:
    from lsprune.pruners.lsp import LSP

LEARNED_FROM = ("hash", "weights", "attributes", "side", "seed", "values")  # options that `fit` depends on


@dataclass(frozen=True)
class LearnedArray:
    """A small integer array, as bytes so that fitted pruners can be compared."""

    shape: tuple[int, ...]
    data: bytes

    @classmethod
    def of(cls, array: Array) -> LearnedArray:
        """Keep an integer array of 16 bits."""
        return cls(array.shape, array.astype("<i2").tobytes())

    @property
    def array(self) -> Array:
        """The array itself, which must not be changed."""
        return _array_of(self)


@lru_cache(maxsize=4)
def _array_of(learned: LearnedArray) -> Array:
    """Return what was learned as an array, the same one for the next graph; the hash of bytes is computed once."""
    array = np.frombuffer(learned.data, "<i2").reshape(learned.shape).astype(np.int16)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, kw_only=True, repr=False)
class FittedLSP(PerOwner):
    """What `LSP.fit` returns: the options, and the scales and arrays learned with them.

    Args:
        options: the `LSP` that was fitted, with the hash and weights that `fit` chose if they were "auto".
        scales: how attribute rows become integers, by part; and of what the weights compare.
        learned: what the hash family learned, such as the words of a codebook.
        weights_learned: what the weights learned besides scales, such as the teacher of `Labels`.
    """

    options: LSP
    scales: tuple[tuple[str, Scale], ...] = ()
    learned: LearnedArray | None = None
    weights_learned: LearnedArray | None = None

    def __post_init__(self) -> None:
        hashed = [role for role, _ in self.scales if role in PARTS]
        family, weight = self.options.family, self.options.weight
        if self.options.chosen_by_fit or (family.needs_attributes and not hashed):
            raise OptionError("hash must be the one that the pruner was fitted with; fit it again")
        missing = weight is not None and weight.learns and len(hashed) == len(self.scales)
        if missing or (weight is not None and weight.learned_problem(self._weights_array, dict(self.scales))):
            raise OptionError("weights must be those that the pruner was fitted with; fit it again")
        if family.learns and self.learned is None:
            raise OptionError(f"hash {family.name} must have learned from a graph; fit it again")

    @property
    def _weights_array(self) -> Array | None:
        return None if self.weights_learned is None else self.weights_learned.array

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the pruner that was fitted."""
        return self.options.name

    @property
    def about(self) -> str:  # type: ignore[override]
        """One line about the pruner that was fitted."""
        return self.options.about

    @property
    def rules(self) -> LSP:
        """The options of the pruner that was fitted."""
        return self.options

    @property
    def weighted(self) -> bool:
        """Whether the pruner that was fitted has weights."""
        return self.options.weighted

    @property
    def unbiased_problem(self) -> str:
        """Say why kept edges cannot be weighted so that sums are unbiased; empty if they can."""
        return self.options.unbiased_problem

    @property
    def k(self) -> int | None:
        """The most edges an owner keeps, if that is the budget."""
        return self.options.k

    @property
    def keep(self) -> float | None:
        """The share of edges to keep, if that is the budget."""
        return self.options.keep

    @property
    def budget(self) -> PerNode | None:
        """The budget of each owner by itself, if that is the budget."""
        return self.options.budget

    @property
    def seed(self) -> int:
        """The only source of randomness."""
        return self.options.seed

    @property
    def replace(self) -> bool:
        """Whether a step may take an edge that an earlier step took."""
        return self.options.replace

    @cached_property
    def needs(self) -> Needs:
        """Say what is needed of a graph, now that the parts that are hashed are known."""
        return self.options.needs_of(tuple(role for role, _ in self.scales if role in PARTS))

    def functions_needed(self, steps: int) -> int:
        """Return how many functions' keys decide the first `steps` steps."""
        return self.options.functions_needed(steps)

    def with_budget(
        self, *, k: int | None = None, keep: float | None = None, budget: PerNode | None = None
    ) -> FittedLSP:
        """Return the same fit with another budget."""
        return self.with_options(k=k, keep=keep, budget=budget)

    def with_options(self, **changes: Any) -> FittedLSP:
        """Return the same fit with another budget or other options that `fit` does not depend on.

        >>> import numpy as np
        >>> from lsprune import LSP
        >>> LSP(k=1, hash="identity").fit(np.array([[0, 1], [2, 2]])).with_options(k=2).options
        LSP(k=2, hash=Identity())
        """
        for name in changes:
            if name in LEARNED_FROM:
                raise OptionError(f"{name} must stay what the pruner was fitted with, got {shown(changes[name])}")
        return dataclasses.replace(self, options=dataclasses.replace(self.options, **changes))

    def fit(
        self,
        data: Any,
        *,
        categories: Mapping[str, int] | None = None,
        threads: int | None = None,
        executor: str | None = None,
    ) -> FittedLSP:
        """Fit the same options again, on other graphs."""
        return self.options.fit(data, categories=categories, threads=threads, executor=executor)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pruner:
        """Load the pruner that `save` wrote, of whatever kind."""
        return load(path)

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Self:
        """Raise OptionError: plain data has the options of a pruner and nothing that it learned."""
        raise OptionError("from_dict builds pruners that are not fitted; use lsprune.pruners.from_dict, then fit")

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain data; what was learned is left out."""
        return self.options.to_dict()

    def __repr__(self) -> str:
        return f"{self.options!r}.fit(...)"

    def check_attributes(self, graph: Graph) -> None:
        """Raise GraphError if the graph has no attributes to hash, or none that the weights compare."""
        self.options.check_attributes(graph)

    def carrying(self) -> FittedLSP:
        """Return the same fit for edges that carry logarithms of weights."""
        options = self.options.carrying()
        if options == self.options:
            return self
        hashed = tuple((role, scale) for role, scale in self.scales if role in PARTS)
        return dataclasses.replace(self, options=options, scales=hashed, weights_learned=None)

    def comparisons(self) -> tuple[Comparison, ...]:
        """Say how the weights are computed where no task sees the whole graph."""
        weight = self.options.weight
        return () if weight is None else weight.comparisons(dict(self.scales), self._weights_array, self.seed)

    def fitted_parts(self, graph: Graph) -> dict[str, Part]:
        """Describe the edges of a graph as when fitted; raise GraphError if the attributes are of another kind."""
        hashed = {role: scale for role, scale in self.scales if role in PARTS}
        parts = self.options.parts(graph, tuple(hashed), category_sizes(self.scales)) if hashed else {}
        check_fitted(parts, hashed)
        return parts

    def view(self, graph: Graph, owned: Owned, steps: int, runtime: Runtime, **more: bool) -> View:
        """Return what the hash family may look at; see `view_of`."""
        learned = None if self.learned is None else self.learned.array
        view = view_of(self.options, self.scales, learned, graph, owned, steps, runtime, **more)
        return view if self.weights_learned is None else dataclasses.replace(view, weights_learned=self._weights_array)

    def key_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """Return keys from the hash family, with weights added; tables of a graph are made when first needed."""
        keys = _GraphKeys(self, graph, owned, runtime)
        options = self.options
        return KeySource(
            keys.of, bottom=options.select == "bottom", replace=options.replace, ties=options.tie_rule,
            check=keys.check, added=keys.added, factors=keys.factors,
            functions=options.functions, repeats=options.family.has_codes,
        )  # fmt: skip

    def edge_scores(self, graph: Graph, runtime: Runtime) -> Array:
        """Return the weight of each edge, of which large ones are preferred; hashes alone are no scores."""
        weight = self.options.weight
        if weight is None:
            raise OptionError(
                f"{self.options!r} has no scores: it judges edges by hashes; scores are those of weights="
            )
        owned = group(graph, self.options, runtime)
        slots, out = owned.neighbour.shape[0], np.full(graph.num_edges, np.nan)
        if slots:
            view = self.view(graph, owned, 1, runtime)
            logs = weight.key_offsets(graph, view, self.options.side, EXACT_LOG_UNIT, dict(self.scales))
            out[owned.edges(0, slots)] = np.exp2(-logs.of(owned, 0, slots) / EXACT_LOG_UNIT)
        return out

    def _state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        arrays: dict[str, Array] = {}
        for role, scale in self.scales:
            arrays[f"{role}.centre"] = np.array(scale.centre, np.int32)
            arrays[f"{role}.spread"] = np.array(scale.spread, np.int32)
        if self.learned is not None:
            arrays["learned"] = self.learned.array
        if self.weights_learned is not None:
            arrays["weights_learned"] = self.weights_learned.array
        scales = {role: {name: getattr(scale, name) for name in NUMBERS} for role, scale in self.scales}
        return arrays, {"scales": scales}


def category_sizes(scales: Iterable[tuple[str, Scale]]) -> dict[str, int]:
    """Return the number of category values of each part; 0 for vectors."""
    return {role: scale.categories for role, scale in scales}


def view_of(
    options: LSP, scales: Iterable[tuple[str, Scale]], learned: Array | None, graph: Graph, owned: Owned, steps: int,
    run: Runtime, *, needs_all: bool = True, occurring: bool = False,
) -> View:  # fmt: skip
    """Return what the hash family may look at.

    Args:
        steps: number of steps that some owner takes. needs_all: it says nothing about how many functions are needed.
        occurring: describe only category values that occur, see `attributes.describe`.
    """
    sizes, hashed = category_sizes(scales), {role: scale for role, scale in scales if role in PARTS}
    parts = options.parts(graph, tuple(hashed), sizes, occurring) if options.family.needs_attributes else {}
    check_fitted(parts, hashed)
    total = options.k or steps
    return View(
        owned=owned, parts=parts, scales=hashed, normalised=options.normalised, seed=options.seed, total=total,
        needed=total if needs_all else steps, functions=steps,
        neighbours=graph.num_neighbours(options.side), neighbour_base=neighbour_base(graph, options.side, run),
        runtime=run, log_keys=options.weight is not None, learned=learned,
    )  # fmt: skip


class _GraphKeys:
    """The keys of one graph; what all functions share is made once."""

    def __init__(self, pruner: FittedLSP, graph: Graph, owned: Owned, runtime: Runtime) -> None:
        self.pruner, self.graph, self.owned, self.runtime = pruner, graph, owned, runtime
        self.view: View | None = None
        self.offsets: PerEdge | None = None

    def of(self, first: int, count: int, total: int) -> Keys:
        """Return the keys of the steps first+1 .. first+count out of `total`."""
        options = self.pruner.options
        if self.view is None:
            needs_all = options.replace or options.select == "bottom"  # steps say nothing about what is needed
            self.view = self.pruner.view(
                self.graph, self.owned, total, self.runtime, needs_all=needs_all, occurring=True
            )
        keys = options.family.keys(self.view, first, count)
        return keys if options.weight is None else add_offsets(keys, self.view, self._offsets(self.view), count)

    def _offsets(self, view: View) -> PerEdge:
        """Return what the weights add to the keys of each neighbour or edge."""
        options = self.pruner.options
        assert options.weight is not None
        if self.offsets is None:
            unit = options.family.log_unit(view)
            if not unit:
                raise OptionError(f"weights must be None with {options.family!r}: its keys cannot be weighted")
            scales = dict(self.pruner.scales)
            self.offsets = options.weight.key_offsets(self.graph, view, options.side, unit, scales)
        return self.offsets

    def added(self, start: int, stop: int) -> Array | None:
        """Return what the weights added to the keys of some slots."""
        return None if self.offsets is None else self.offsets.of(self.owned, start, stop)

    def factors(self, start: int, stop: int) -> list[tuple[str, Array]]:
        """Return the weights of some slots by factor, if keys were made and the weight is a product."""
        weight = self.pruner.options.weight
        if self.view is None or weight is None or len(weight.parts) == 1:
            return []
        scales, side, found = dict(self.pruner.scales), self.pruner.options.side, []
        for factor in weight.parts:
            offsets = factor.key_offsets(self.graph, self.view, side, EXACT_LOG_UNIT, scales)
            logs = -offsets.of(self.owned, start, stop) / EXACT_LOG_UNIT
            found.append((factor.name, np.exp2(logs)))
        return found

    def check(self) -> None:
        """Raise GraphError for attributes that are not finite, if no key was needed.

        On a device keys may be there all the same, and most families looked at all rows; those that learn did not.
        """
        options, graph = self.pruner.options, self.graph
        looked = self.view is not None and not (self.view.device is not None and options.family.learns)
        if not graph.num_edges or looked:
            return
        if options.family.needs_attributes:
            check_finite(options.parts(graph, options.attributes, category_sizes(self.pruner.scales)), self.runtime)
        if options.weight is not None:
            options.weight.check(graph, options.side, options.seed, self.runtime, dict(self.pruner.scales))
