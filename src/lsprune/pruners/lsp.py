"""LSP itself: its options, and how it is fitted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Never

from lsprune import adapters
from lsprune.attributes import PARTS, Part, describe
from lsprune.checks import check_choice, is_whole, shown
from lsprune.errors import ConstantWarning, FormatError, GraphError, OptionError, warn
from lsprune.graph import Array, Graph, Owned, oriented, other_side
from lsprune.hashing import FAMILIES, Family, Projection, family
from lsprune.hashing.base import Keys
from lsprune.kernels import Runtime
from lsprune.keyword_options import positional_error
from lsprune.needs import Needs
from lsprune.numeric.quantisation import Scale, adjusted, check_finite, fit_scales
from lsprune.pruners.calibration import calibrated
from lsprune.pruners.contract import LocalPruner, PerOwner, Pruner, ScaleOf
from lsprune.pruners.fitted import FittedLSP, LearnedArray, view_of
from lsprune.pruners.known_nodes import without_unknown
from lsprune.pruners.placement import where_it_is
from lsprune.pruners.registry import PRUNERS, load
from lsprune.pruners.saved import read_scales, read_small
from lsprune.selection.choose import MAX_FUNCTIONS, TIES, KeySource
from lsprune.selection.owners import group
from lsprune.selection.per_node import PerNode
from lsprune.weights import AutoWeight, Weight, weight
from lsprune.weights.comparison import Comparison


@dataclass(frozen=True, kw_only=True, repr=False)
class LSP(LocalPruner):
    """Locality-Sensitive Pruning: every owner keeps the edges whose attributes hash to the smallest keys.

    Attributes are normalised: rows divided by their L2 norm, then centred and scaled. `LSP.auto(...)` is the
    recommended setting. `LSP.paper(...)` is the paper's text, `LSP.published(...)` what its own runs did.

    Args:
        k, keep, budget: the budget, exactly one of them: the most edges an owner keeps, the share of all edges to keep,
            or a number for each owner by itself (`PerNode`).
        hash: a hash family, or its name, with options or without ("signs:bits=4"); "auto" is chosen by `fit`.
        weights: prefer some edges, alike in every neighbourhood: an edge weight such as `Degree(power=0.4)`, or its
            name, with options or without: "degree", "degree:power=0.4", "jaccard", "similarity", "auto" (chosen by
            `fit`), "edge" or "edge:2" (a column of edge_attr), "neighbour:0" (a column of the neighbour's x), or a
            product of weights ("jaccard:power=0.5*degree", `Jaccard() * Degree()`). With hash families of codes this is
            weighted min-hash; with Projection, half the weight moves an edge back by `power` standard deviations.
        attributes: the parts that describe an edge, out of "owner", "edge", "neighbour".
        select: "functions": step z uses hash function z (the steps after 256 take what is left in the order of
            function 257); "bottom": the k smallest of one function.
        side, symmetric, self_loops, pooled, seed: as for every pruner.

    >>> LSP(keep=0.5)
    LSP(keep=0.5)
    >>> LSP(k=8, weights="degree")
    LSP(k=8, weights=Degree(power=1.0))
    """

    name: ClassVar[str] = "lsp"
    about: ClassVar[str] = "locality-sensitive pruning: the edges whose attributes have the smallest hashes"

    hash: Family | str = field(default_factory=Projection)
    weights: Weight | str | None = None
    attributes: tuple[str, ...] = ("edge", "neighbour")
    select: Literal["functions", "bottom"] = "functions"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.hash, str | Mapping):
            object.__setattr__(self, "hash", family(self.hash))
        if not isinstance(self.hash, Family):
            raise OptionError(f"hash must be a hash family or one of {', '.join(FAMILIES)}, got {shown(self.hash)}")
        object.__setattr__(self, "weights", weight(self.weights))
        check_choice("select", self.select, ("functions", "bottom"))
        self._check_attributes()
        if self.family.needs_k and self.k is None:
            raise OptionError("k must be given with this hash: its signature depends on the number of functions")

    def _check_attributes(self) -> None:
        roles = self.attributes
        known = isinstance(roles, (list, tuple)) and all(isinstance(role, str) and role in PARTS for role in roles)
        if not known or not roles:
            raise OptionError(f"attributes must be a tuple of some of {', '.join(PARTS)}, got {shown(roles)}")
        object.__setattr__(self, "attributes", tuple(role for role in PARTS if role in roles))
        if missing := self.family.missing_parts(self.attributes):
            raise OptionError(
                f"attributes must be more than {self.attributes}: hash {self.family.name} needs {missing}"
            )

    @classmethod
    def auto(
        cls,
        *values: Never,
        k: int | None = None,
        keep: float | None = None,
        budget: PerNode | None = None,
        labels: bool = True,
        **rules: Any,
    ) -> LSP:
        """Return the recommended setting: `fit` chooses the hash, the attributes and the weights from the data.

        Args:
            labels: learn from the labels of training nodes (`y` and `train_mask`, if the graph has both) and from no
                others; False: from none.

        >>> LSP.auto(keep=0.3)
        LSP(keep=0.3, hash=Auto(noise=0.3), weights=AutoWeight(power=1.0, labels=True))
        """
        if values:
            raise positional_error("LSP.auto", ("k", "keep"), values[0])
        if given := {"hash", "weights"} & rules.keys():
            raise OptionError(f"LSP.auto chooses hash and weights by itself, got {sorted(given)[0]}: use LSP instead")
        return cls(k=k, keep=keep, budget=budget, hash="auto", weights=AutoWeight(labels=labels), **rules)

    @classmethod
    def paper(cls, kind: Literal["p", "t"], *, k: int, seed: int = 0) -> LSP:
        """Return LSP-P or LSP-T as the paper's text has it."""
        from lsprune.pruners.presets import paper

        return paper(kind, k=k, seed=seed)

    @classmethod
    def published(cls, kind: Literal["p", "t"], *, k: int, sparsity: int = 25, seed: int = 0) -> LSP:
        """Return LSP-P or LSP-T as the paper's own runs computed it."""
        from lsprune.pruners.presets import published

        return published(kind, k=k, sparsity=sparsity, seed=seed)

    @property
    def family(self) -> Family:
        """The hash family."""
        assert isinstance(self.hash, Family)
        return self.hash

    @property
    def weight(self) -> Weight | None:
        """The edge weight."""
        assert self.weights is None or isinstance(self.weights, Weight)
        return self.weights

    @property
    def normalised(self) -> bool:
        """Whether attributes are L2-normalised, centred and scaled; else raw values, as in the paper's presets."""
        return True

    @property
    def tie_rule(self) -> int:
        """How equal keys are ordered: an index into TIES."""
        return TIES.index("hash")

    @property
    def functions(self) -> int | None:
        """How many steps have a hash function of their own; None: all (as in the paper's presets), or all share one."""
        return None if self.select == "bottom" else MAX_FUNCTIONS

    @property
    def weighted(self) -> bool:
        """Whether some edges are drawn with larger chances than others."""
        return self.weight is not None

    @property
    def unbiased_problem(self) -> str:
        """Say why kept edges cannot be weighted so that sums are unbiased; empty if they can."""
        if self.replace:
            return "with replace=True an edge may win several steps"
        if problem := self.family.unbiased_problem:
            return problem
        if self.weighted and self.select != "bottom":
            return 'with weights, the chance of an edge is known for select="bottom" only'
        return ""

    def functions_needed(self, steps: int) -> int:
        """Return how many functions' keys decide the first `steps` steps."""
        if self.select == "bottom":
            return 1
        return steps if self.functions is None else min(steps, self.functions + 1)

    @property
    def chosen_by_fit(self) -> bool:
        """Whether `fit` has something to choose: the hash or the weights."""
        return self.family.chosen_by_fit or (self.weight is not None and self.weight.chosen_by_fit)

    @property
    def is_fitted(self) -> bool:
        """Whether there is nothing to learn: the hash looks at no attributes, and no weight does."""
        learns = self.family.needs_attributes or self.family.learns or self.chosen_by_fit
        return not learns and (self.weight is None or not self.weight.learns)

    @property
    def needs(self) -> Needs:
        """Combine what the hash, the weights and the ties need; attributes are those that were asked for."""
        roles = self.attributes if self.family.needs_attributes else ()
        return self.needs_of(roles)

    def needs_of(self, roles: tuple[str, ...]) -> Needs:
        """Say what is needed if these parts are hashed."""
        table = "owner" not in self.family.uses(roles) and not self.replace
        needs = self.family.needs | Needs(
            owner="owner" in roles, neighbour="neighbour" in roles, edge="edge" in roles, key_table=table,
            position=TIES[self.tie_rule] == "position", gpu=not self.replace,
        )  # fmt: skip
        return needs if self.weight is None else needs | self.weight.needs

    def without_weights(self) -> LSP:
        """Return the same pruner without edge weights."""
        return replace(self, weights=None)

    def carrying(self) -> LSP:
        """Return the same pruner for edges that carry logarithms of weights."""
        return self if self.weight is None else replace(self, weights=self.weight.carried(0))

    def comparisons(self) -> tuple[Comparison, ...]:
        """Say how the weights, which have nothing to learn, are computed where no task sees the whole graph."""
        return FittedLSP(options=self).comparisons()

    def for_trials(self, k: int) -> LSP:
        """Return the pruner as candidates for "auto" are compared: k edges per owner, without weights and pairs."""
        return replace(self, k=k, keep=None, budget=None, symmetric=None, weights=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain data; those of the hash and of the weights as tables with their names."""
        weights = None if self.weight is None else self.weight.to_dict()
        return {**super().to_dict(), "hash": self.family.to_dict(), "weights": weights}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pruner:
        """Load the LSP, fitted or not, that `save` wrote; raise FormatError for another pruner."""
        loaded = load(path)
        if not isinstance(getattr(loaded, "options", loaded), cls):
            raise FormatError(f"{path} does not hold a valid {cls.name} pruner: it holds {loaded.name}")
        return loaded

    def fit(
        self,
        data: Any,
        *,
        categories: Mapping[str, int] | None = None,
        threads: int | None = None,
        executor: str | None = None,
    ) -> FittedLSP:
        """Return a pruner whose scales come from `data` (the training graphs): use it on every other graph too.

        Args:
            categories: the number of values of "x" or "edge_attr" if it is a category, so that later graphs may have
                values that `data` lacks. Default: one more than the largest in `data`.
            executor: as in `prune`; what is learned is the same on each.

        >>> import numpy as np
        >>> ends = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> seen, rare = (Graph.from_edges(ends, x=np.array([0, 1, 2, last])) for last in (1, 5))
        >>> LSP(keep=0.5).fit(seen, categories={"x": 6}).mask(rare).shape
        (4,)
        """
        sizes = _category_sizes(categories or {})
        adapter = adapters.find(data).configured(columns=self.needs.edge_columns)

        def fitted(graphs: Mapping[Any, Graph], run: Runtime) -> FittedLSP:
            if set(graphs) != {None}:
                raise OptionError("fit must be given one relation at a time; fit a pruner for each edge type")
            return self.fit_graph(graphs[None], run, sizes)

        return where_it_is(adapter, data, [self], threads, executor, fitted)

    def fit_graph(self, graph: Graph, runtime: Runtime, sizes: Mapping[str, int] | None = None) -> FittedLSP:
        """Return what `fit` returns for a `Graph`; `sizes` are numbers of category values by part."""
        graph = without_unknown(graph, runtime)
        if self.chosen_by_fit:
            return calibrated(self, graph, runtime).fit_graph(graph, runtime, sizes)
        scales, learned = self._fit_hash(graph, runtime, sizes) if self.family.needs_attributes else ({}, None)
        if self.weight is not None:
            scales |= self.weight.fit(graph, self.side, self.seed, runtime, sizes or {})
            taught = self.weight.learn(graph, self.side, self.seed, runtime, scales)
        else:
            taught = None
        more = None if taught is None else LearnedArray.of(taught)
        return FittedLSP(options=self, scales=tuple(scales.items()), learned=learned, weights_learned=more)

    def edge_scores(self, graph: Graph, runtime: Runtime) -> Array:
        """Return the weight of each edge, of which large ones are preferred; hashes alone are no scores."""
        if self.weight is None:
            raise OptionError(f"{self!r} has no scores: it judges edges by hashes; scores are those of weights=")
        return self.fit_graph(graph, runtime).edge_scores(graph, runtime)

    def _fit_hash(
        self, graph: Graph, run: Runtime, sizes: Mapping[str, int] | None
    ) -> tuple[dict[str, Scale], LearnedArray | None]:
        """Learn the scales of the parts that are hashed, and what the family learns."""
        scales = fit_scales(self.parts(graph, self.attributes, sizes), unit=self.normalised, runtime=run)
        self._warn_constant(scales, graph, graph.num_edges)
        if not self.family.learns:
            return scales, None
        view = view_of(self, tuple(scales.items()), None, graph, group(graph, self, run), 1, run)
        return scales, LearnedArray.of(self.family.learn(view))

    def _warn_constant(self, scales: Mapping[str, Scale], graph: Graph, edges: int) -> None:
        """Warn if hashes cannot tell the edges of an owner apart, so that ties decide."""
        if edges < 2:
            return
        if self.normalised and not any(any(scale.spread) for scale in scales.values()):
            message = "all attributes that are hashed are constant: all edges have equal keys, and ties decide"
            warn(message, ConstantWarning)
        elif set(scales) == {"owner"} and self.weight is None:
            what = "the graph" if graph.relation is None else f"relation {graph.relation}"
            warn(f"{what} is pruned at random: {_owner_alone(graph, self.side)}", ConstantWarning)

    def fit_scales(self, template: Graph, scale_of: ScaleOf, edges: int) -> FittedLSP:
        """Fit from scales that are computed elsewhere, part by part, as on Spark."""
        if self.is_fitted:
            return FittedLSP(options=self)
        if self.family.learns or self.chosen_by_fit:
            raise OptionError(
                f"hash {self.family.name} must be fitted before: it learns from all edges at once; call fit on a part "
                "of the graph that fits into memory"
            )
        parts = self.parts(template, self.attributes, None) if self.family.needs_attributes else {}
        apart = {role: scale_of(role, part, self.normalised) for role, part in parts.items()}
        scales = adjusted(apart, unit=self.normalised) if apart else {}
        if apart:
            self._warn_constant(scales, template, edges)
        if self.weight is not None:
            own = self.weight.fit_scales(template, self.side, self.seed, lambda part: scale_of("neighbour", part, True))
            scales |= {role: adjusted({role: scale}, unit=True)[role] for role, scale in own.items()}
        return FittedLSP(options=self, scales=tuple(scales.items()))

    def parts(
        self, graph: Graph, asked: tuple[str, ...], sizes: Mapping[str, int] | None, occurring: bool = False
    ) -> dict[str, Part]:
        """Describe the edges of a graph; see `attributes.describe`."""
        parts = describe(graph, self.side, asked, seed=self.seed, sizes=sizes, occurring=occurring)
        if missing := self.family.missing_parts(parts):
            raise GraphError(f"the graph lacks what hash {self.family.name} needs: {missing}")
        return parts

    def check_attributes(self, graph: Graph) -> None:
        """Raise GraphError if the graph has no attributes to hash, or none that the weights compare."""
        if self.family.needs_attributes:
            describe(graph, self.side, self.attributes, seed=self.seed)
        if self.weight is not None:
            self.weight.check_attributes(graph, self.side)

    def check_graph(self, graph: Graph, runtime: Runtime) -> None:
        """Raise GraphError if the graph lacks attributes that fit would look at, or they are not finite."""
        if graph.num_edges and self.family.needs_attributes:
            check_finite(self.parts(graph, self.attributes, None), runtime)
        if graph.num_edges and self.weight is not None:
            self.weight.check(graph, self.side, self.seed, runtime, {})

    def key_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """Return the keys if there is nothing to learn; else a source for a graph where no owner has a choice."""
        if self.is_fitted:
            return FittedLSP(options=self).key_source(graph, owned, runtime)
        return KeySource(_no_keys, replace=self.replace, check=lambda: self.check_graph(graph, runtime))

    def _with_state(self, arrays: dict[str, Array], state: dict[str, Any]) -> PerOwner:
        if not state:
            return self
        state = state["scales"]
        own = () if self.weight is None else self.weight.roles
        hashed = {role: values for role, values in state.items() if role not in own}
        scales = read_scales(hashed, arrays, PARTS, unit=self.normalised)
        learned = read_small(arrays, "learned") if "learned" in arrays else None
        dims = {role: scale.dim for role, scale in scales.items()}
        if hashed and (problem := self.family.learned_problem(learned, dims)):
            raise FormatError(problem)
        for role in own:
            if role in state:
                scales |= read_scales({role: state[role]}, arrays, (role,), unit=True)
        taught = read_small(arrays, "weights_learned") if "weights_learned" in arrays else None
        if self.weight is not None and (problem := self.weight.learned_problem(taught, scales)):
            raise FormatError(problem)
        kept, more = (None if array is None else LearnedArray.of(array) for array in (learned, taught))
        return FittedLSP(options=self, scales=tuple(scales.items()), learned=kept, weights_learned=more)


def _owner_alone(graph: Graph, side: str) -> str:
    """Say why hashes of the owner alone leave the choice to ties, and what to use instead."""
    if oriented(side, graph.x_source, graph.x_target)[1] is not None:
        return 'attributes=("owner",) leaves out what tells the edges of an owner apart'
    owners, others = oriented(side, "source", "target")
    return (
        f"of its nodes, only the {owners} nodes, which own the edges, have attributes (x), so that ties decide; give "
        f'the {others} nodes an x, let them own the edges (side="{other_side(side)}"), or use LocalRandom or '
        'hash="identity", which need no attributes'
    )


def _no_keys(first: int, count: int, total: int) -> Keys:
    raise OptionError("the pruner must be fitted before keys are made")


def _category_sizes(categories: Mapping[str, int]) -> dict[str, int]:
    """Return the number of values by part, from what a user says by name."""
    roles = {"x": ("owner", "neighbour"), "edge_attr": ("edge",)}
    for name, count in categories.items():
        if name not in roles:
            raise OptionError(f"categories must be of x or edge_attr, got {name!r}")
        if not is_whole(count) or count < 1:
            raise OptionError(f"categories of {name} must be a whole number >= 1, got {shown(count)}")
    return {role: int(count) for name, count in categories.items() for role in roles[name]}


PRUNERS.add(LSP)
