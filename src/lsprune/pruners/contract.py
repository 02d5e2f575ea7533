"""The pruner contract: options in, `mask(graph)` out.

Three phases, in this order: **fit** (the only place where floats of the data decide), **keys**, **select**.
`PerOwner.mask_graph` shows them.
"""

from __future__ import annotations

import dataclasses
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Self

from lsprune import adapters
from lsprune.attributes import Part
from lsprune.checks import is_whole, short_repr, shown
from lsprune.errors import FormatError, OptionError, naming_graph
from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime, runtime
from lsprune.keyword_options import KeywordOptions
from lsprune.needs import Needs
from lsprune.numeric.quantisation import Scale
from lsprune.pruners.explanation import Explanation, explain_mask, explain_node
from lsprune.pruners.placement import own_arrays, where_it_is
from lsprune.pruners.relations import relation_masks
from lsprune.pruners.saved import read_saved, write_saved
from lsprune.selection.budget import quotas
from lsprune.selection.choose import KeySource, choose, has_choice
from lsprune.selection.mask import Outcome, owners_outcome
from lsprune.selection.owners import group, neighbour_base_of_owner
from lsprune.selection.pairs import symmetric_mask
from lsprune.selection.per_node import PerNode
from lsprune.selection.rules import SelectionRules
from lsprune.selection.unbiased import owner_draws, refuse_pairs, unbiased_factors
from lsprune.weights.comparison import Comparison

SAME_EDGES = "it keeps the same edges with every seed, and no factor makes up for the others"  # of an unbiased_problem
ScaleOf = Callable[[str, Part, bool], Scale]  # (role, part, normalised) -> the scale of one part by itself


@dataclass(frozen=True, kw_only=True)
class Pruner(KeywordOptions, ABC):
    """A function from a graph to a boolean mask over its edges; its fields are its options."""

    name: ClassVar[str]
    about: ClassVar[str]

    @property
    @abstractmethod
    def side(self) -> str:
        """Which end of an edge owns it."""

    @property
    @abstractmethod
    def symmetric(self) -> str | None:
        """How the two directions of an edge are kept together."""

    @property
    @abstractmethod
    def self_loops(self) -> str:
        """What becomes of self-loops."""

    @property
    def needs(self) -> Needs:
        """Say what the pruner must know of a graph; by default, everything at once."""
        return Needs(scope="graph", reason=f"{self.name} must see the whole graph at once")

    @property
    def is_fitted(self) -> bool:
        """Whether there is nothing left to learn from a graph."""
        return True

    def among_allowed(self) -> Pruner:
        """Return the pruner to use where the edges that `needs.within` rules out are gone already."""
        return self

    def around(self, pruner: Pruner) -> Pruner:
        """Return this pruner with another one (often the same, fitted) in the place of `among_allowed()`."""
        return pruner

    @property
    def restricts(self) -> bool:
        """Whether some edges are ruled out before any is chosen; see `allowed`."""
        return False

    def allowed(self, graph: Graph) -> Array | None:
        """Return which edges are not ruled out beforehand, `[E]` bool; None: all. Only these count as degree."""
        return None

    @property
    def each_direction(self) -> bool:
        """Whether a relation and its reverse are pruned one by one, since more than the edges themselves decides."""
        return False

    @abstractmethod
    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """Decide what to keep of a `Graph`."""

    @property
    def unbiased_problem(self) -> str:
        """Say why kept edges cannot be weighted so that sums are unbiased; empty if `unbiased_factors` weights them."""
        return f"{self.name} does not say how likely it keeps an edge"

    def refuse_biased(self) -> None:
        """Raise OptionError if kept edges cannot be weighted so that sums are unbiased."""
        if self.unbiased_problem:
            raise OptionError(
                f'rescale="unbiased" is not possible with {self!r}: {self.unbiased_problem}; '
                "rescale=True keeps sums at their size, but is biased"
            )

    def unbiased_factors(self, graph: Graph, mask: Array, runtime: Runtime) -> Array:
        """Return a float32 factor for each edge that makes sums over the edges of `mask` unbiased.

        Args:
            mask: what `mask_graph` keeps of this graph.
        """
        self.refuse_biased()
        raise NotImplementedError(f"{type(self).__name__} must define unbiased_factors, or say why not")

    def fit(
        self,
        data: Any,
        *,
        categories: Mapping[str, int] | None = None,
        threads: int | None = None,
        executor: str | None = None,
    ) -> Pruner:
        """Return a pruner that has learned what it needs from `data` (the training graphs).

        Args:
            categories: the number of values of "x" or "edge_attr" if it is a category; default: those in `data`.
            executor: as in `prune`; what is learned is the same on each.
        """
        return self

    def with_budget(self, *, k: int | None = None, keep: float | None = None, budget: PerNode | None = None) -> Pruner:
        """Return the same pruner with another budget; a pruner without one stays as it is."""
        return self

    def mask(self, data: Any, *, threads: int | None = None, executor: str | None = None) -> Any:
        """Return True for every edge to keep, in the caller's edge order: an array, a list of arrays or a dict."""
        adapter = adapters.find(data).configured(columns=self.needs.edge_columns)
        if adapter.pruned_apart(data):
            masks = []
            for place, item in enumerate(data):
                with naming_graph(place):
                    masks.append(self.mask(item, threads=threads, executor=executor))
            return masks

        def masks_of(graphs: Mapping[Any, Graph], run: Runtime) -> dict[Any, Array]:
            return own_arrays(adapter, data, relation_masks(graphs, self, {}, run).masks)

        return adapter.masks(data, where_it_is(adapter, data, [self], threads, executor, masks_of))

    def scores(self, data: Any, *, threads: int | None = None) -> Any:
        """Return the number that each edge is judged by, in the caller's edge order and in the form of `mask`.

        For a threshold of your own. What the numbers mean, and whether large or small ones are kept, the class says;
        NaN for self-loops that do not count. Raise OptionError for pruners that have no such number.

        >>> import numpy as np
        >>> from lsprune.baselines import LowDegree
        >>> LowDegree(k=1).scores(np.array([[0, 0, 1], [2, 3, 3]]))
        array([2., 2., 1.])
        """
        adapter = adapters.find(data).configured(columns=self.needs.edge_columns)
        run = runtime(threads)
        return adapter.masks(data, {key: self.edge_scores(one, run) for key, one in adapter.graphs(data).items()})

    def edge_scores(self, graph: Graph, runtime: Runtime) -> Array:
        """Return what `scores` returns for a `Graph`."""
        raise OptionError(f"{self!r} has no scores: it judges edges by chance, by hashes or by all of them together")

    def explain(self, data: Any, node: int, *, threads: int | None = None) -> Explanation:
        """Explain why each edge that `node` owns was kept or removed; print the result.

        >>> import numpy as np
        >>> from lsprune import LocalRandom
        >>> graph = np.array([[0, 1, 2], [3, 3, 3]])
        >>> sum(reason.kept for reason in LocalRandom(k=1).explain(graph, 3).edges)
        1
        """
        if not is_whole(node):
            raise OptionError(f"node must be the number of a node, got {shown(node)}")
        graphs = adapters.find(data).configured(columns=self.needs.edge_columns).graphs(data)
        if set(graphs) != {None}:
            raise OptionError("explain must be given a single relation; take it out of the HeteroData first")
        return self._explain(graphs[None], int(node), runtime(threads))

    def _explain(self, graph: Graph, node: int, run: Runtime) -> Explanation:
        return explain_mask(graph, node, self.side, self.mask_graph(graph, run).mask, self.about)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain data: what `from_dict`, TOML files, the command line and result lines use."""
        options = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}
        return {"pruner": self.name, **plain}

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Self:
        """Build the pruner that `to_dict` described."""
        return cls(**cls._keywords(options, {f.name for f in dataclasses.fields(cls)}))

    @classmethod
    def _keywords(cls, options: Mapping[str, Any], known: set[str]) -> dict[str, Any]:
        """Return the options without the pruner's name; raise OptionError for those that are not known."""
        rest = dict(options)
        if rest.pop("pruner", cls.name) != cls.name:
            raise OptionError(f"pruner must be {cls.name!r} for {cls.__name__}")
        for name in rest:
            if name not in known:
                raise OptionError(f"{name} is not an option of {cls.name}; it has {', '.join(sorted(known))}")
        return {name: tuple(value) if isinstance(value, list) else value for name, value in rest.items()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pruner, with what it has learned, as one `.npz` file (JSON and arrays, no pickle)."""
        arrays, state = self._state()
        write_saved(path, self.to_dict(), state, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pruner:
        """Load the pruner that `save` wrote."""
        return cls.from_saved(path, *read_saved(path))

    @classmethod
    def from_saved(cls, path: str | os.PathLike[str], document: dict[str, Any], arrays: dict[str, Array]) -> Pruner:
        """Build the pruner from what was read from `path`."""
        try:
            return cls.from_dict(document["pruner"])._with_state(arrays, document["state"])
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise FormatError(f"{path} does not hold a valid {cls.name} pruner: {error}") from None

    def _state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        return {}, {}

    def _with_state(self, arrays: dict[str, Array], state: dict[str, Any]) -> Pruner:
        return self


@dataclass(frozen=True, kw_only=True, repr=False)
class BudgetedPruner(SelectionRules, Pruner):
    """A pruner with a budget (`k`, `keep` or `budget`); its other options are those of `SelectionRules`."""

    def with_budget(self, *, k: int | None = None, keep: float | None = None, budget: PerNode | None = None) -> Self:
        """Return the same pruner with another budget."""
        return dataclasses.replace(self, k=k, keep=keep, budget=PerNode.of(budget))

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain data; a budget per node, which few have, only where there is one."""
        options = super().to_dict()
        own = options.pop("budget")
        return options if own is None else {**options, "budget": own.to_dict()}

    def __repr__(self) -> str:
        """Show the options that differ from the defaults."""
        return short_repr(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class PerOwner(Pruner):
    """A pruner that lets every owner choose among its own edges."""

    @property
    @abstractmethod
    def rules(self) -> SelectionRules:
        """The budget and the other options that selection follows."""

    @property
    def side(self) -> str:
        """Which end of an edge owns it."""
        return self.rules.side

    @property
    def symmetric(self) -> str | None:
        """How the two directions of an edge are kept together."""
        return self.rules.symmetric

    @property
    def self_loops(self) -> str:
        """What becomes of self-loops."""
        return self.rules.self_loops

    @property
    def replace(self) -> bool:
        """Whether a step may take an edge that an earlier step took."""
        return False

    @property
    def weighted(self) -> bool:
        """Whether some edges are drawn with larger chances than others."""
        return False

    def functions_needed(self, steps: int) -> int:
        """Return how many functions' keys decide the first `steps` steps; 1 if one key orders the edges."""
        return 1

    @abstractmethod
    def key_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """Say where the keys of this graph's edges come from; the pruner has been fitted."""

    def check_attributes(self, graph: Graph) -> None:  # noqa: B027  (most baselines need none)
        """Raise GraphError if the graph lacks attributes that the keys need; it may have no edges."""

    def fit_graph(self, graph: Graph, runtime: Runtime) -> PerOwner:
        """Return what `fit` returns for a `Graph`."""
        return self

    def without_weights(self) -> PerOwner:
        """Return the same pruner without edge weights."""
        return self

    def carrying(self) -> PerOwner:
        """Return the pruner to use where edges carry logarithms of weights that `comparisons` computed."""
        return self

    def comparisons(self) -> tuple[Comparison, ...]:
        """Say how the fitted pruner's weights are computed where no task sees the whole graph; see `Weight.carried`."""
        return ()

    def fit_scales(self, template: Graph, scale_of: ScaleOf, edges: int) -> PerOwner:
        """Fit from scales that are computed elsewhere, part by part, as on Spark.

        Args:
            template: a graph without nodes and edges, whose attributes are of the right types and widths.
            scale_of: scale_of(role, part, normalised) returns the scale of one part by itself. edges: their number.
        """
        if self.is_fitted:
            return self
        raise OptionError(f"{self!r} must be fitted before: call fit on a part of the graph that fits into memory")

    def fitted_parts(self, graph: Graph) -> dict[str, Part]:
        """Describe the edges of a graph as when fitted; raise GraphError if the attributes are of another kind."""
        return {}

    def fitted_keys(self, graph: Graph, owned: Owned, quota: Array | None, runtime: Runtime) -> KeySource:
        """Fit on this graph if that was not done before and some owner has a choice; then return the keys.

        Args:
            quota: the most edges that each owner keeps; None for symmetric selection.
        """
        ready: PerOwner = self
        always = self.functions_needed(2) == 1  # one key orders the edges: it is made even if no owner has a choice
        if not self.is_fitted and (always or has_choice(owned, quota, self.rules.k, replace=self.replace)):
            ready = self.fit_graph(graph, runtime)
        return ready.key_source(graph, owned, runtime)

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """Group the edges by owner, fit, make keys, and let every owner select."""
        if runtime.device is not None:
            outcome: Outcome = import_module("lsprune.device.pruning").mask_graph(self, graph, runtime)
            return outcome
        rules = self.rules
        mode = rules.symmetry(graph)
        owned = group(graph, rules, runtime)
        quota = None if mode else quotas(owned.indptr, graph, rules, runtime)
        source = self.fitted_keys(graph, owned, quota, runtime)
        base = neighbour_base_of_owner(graph, rules.side)
        if quota is None:
            taken = symmetric_mask(graph, rules, str(mode), owned, source, base, runtime)
        else:
            taken = choose(owned, quota, source, base, rules.seed, runtime, ranked=False)
        return owners_outcome(graph, owned, taken, rules.self_loops, runtime, quota)

    def unbiased_factors(self, graph: Graph, mask: Array, runtime: Runtime) -> Array:
        """Return one over the chance of each kept edge, given the draws of the owner's other edges."""
        ready = self if self.is_fitted else self.fit_graph(graph, runtime)
        ready.refuse_biased()
        refuse_pairs(self.rules.symmetry(graph))
        owned = group(graph, self.rules, runtime)
        source = ready.key_source(graph, owned, runtime) if ready.weighted else None
        return unbiased_factors(owner_draws(owned, source), mask)

    def _explain(self, graph: Graph, node: int, run: Runtime) -> Explanation:
        owned = group(graph, self.rules, run)
        has_edges = 0 <= node < owned.indptr.shape[0] - 1 and owned.indptr[node] < owned.indptr[node + 1]
        ready = self.fit_graph(graph, run) if (has_edges or self.replace) and not self.is_fitted else self
        source = ready.key_source(graph, owned, run)
        return explain_node(graph, self.rules, node, ready.mask_graph(graph, run).mask, owned, source, run)


@dataclass(frozen=True, kw_only=True, repr=False)
class LocalPruner(BudgetedPruner, PerOwner):
    """A pruner that lets every owner choose among its own edges, with a budget: what baselines derive from.

    A subclass is a frozen dataclass with `name`, `about`, `needs` and `key_source`; see `baselines.top_weight`.
    """

    @property
    def needs(self) -> Needs:
        """Say what the keys are made of. A subclass that does not say so is not pruned in batches (Spark)."""
        return Needs(scope="neighbourhood", reason=f"{self.name} does not declare what its keys are made of (needs)")

    @property
    def rules(self) -> SelectionRules:
        """The options themselves."""
        return self
