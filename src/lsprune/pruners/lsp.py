"""LSP itself: which hash, which attributes, which preset."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np

from lsprune import adapters
from lsprune.attributes import PARTS, Part, describe
from lsprune.checks import check_choice, check_flag, is_whole, set_number, shown
from lsprune.errors import ConstantWarning, FormatError, GraphError, OptionError
from lsprune.graph import Array, Graph, Owned
from lsprune.hashing import FAMILIES, Auto, Family, Projection, Threshold, family, family_from
from lsprune.hashing.base import Keys, View
from lsprune.kernels import Runtime, runtime
from lsprune.numeric.quantisation import Scale, check_finite, check_fitted, fit_scales
from lsprune.pruners.calibration import calibrated
from lsprune.pruners.contract import LocalPruner
from lsprune.pruners.known_nodes import without_unknown
from lsprune.pruners.registry import PRUNERS
from lsprune.pruners.saved import NUMBERS, read_scales, read_small
from lsprune.selection.choose import MOST_FUNCTIONS, TIES, Source
from lsprune.selection.owners import bases, group
from lsprune.weights.handicap import Handicap, check_weights, handicap, weighed
from lsprune.weights.surroundings import ROLE, comparable, described

MOST_REPLACED = 1 << 16  # steps with replacement, each of which looks at all edges of an owner


@dataclass(frozen=True)
class Learned:
    """A small integer array that pruners can be compared by."""

    shape: tuple[int, ...]
    data: bytes

    @classmethod
    def of(cls, array: Array) -> Learned:
        return cls(array.shape, array.astype("<i2").tobytes())

    @property
    def array(self) -> Array:
        return np.frombuffer(self.data, "<i2").reshape(self.shape).astype(np.int16)


@dataclass(frozen=True, kw_only=True, repr=False)
class LSP(LocalPruner):
    """Locality-Sensitive Pruning: every owner keeps the edges whose attributes hash to the smallest keys.

    `LSP(...)` is calibrated: rows L2-normalised, then centred and scaled; edge and neighbour attributes.
    `LSP.paper(...)` is the paper's text, `LSP.published(...)` what its own runs did.

    Args:
        k, keep, side, symmetric, self_loops, pooled, seed: as for every pruner.
        hash: a hash family, or its name with default options.
        select: "functions": step z uses hash function z (the steps after 256 take what is left in the order of function
            257, except with `replace` or k of raw values); "bottom": the k smallest of one function.
        replace: True is Algorithm 1 to the letter: the union of the k winners, so an owner may keep fewer than k.
        ties: how equal keys are ordered: "hash" of (seed, step, neighbour), "id" of the neighbour, or "position".
        attributes: the parts that describe an edge, out of "owner", "edge", "neighbour".
        values: "unit" (L2-normalised, centred, scaled) or "raw".
        weights: prefer some edges, alike in every neighbourhood: "degree" those whose neighbour has few edges,
            "jaccard" those whose ends have most of their neighbours in common, "edge" those with a large edge_attr (one
            column, > 0), "edge:2" those with a large column 2 of it, "neighbour:0" those whose neighbour has a large
            column 0 of x. "similarity" prefers those whose ends have like surroundings (their own attributes and those
            of their neighbours); "auto" does so where less than a third of the edges is kept and noise on the
            attributes does not change who is alike, and weighs nothing elsewhere; `fit` decides, and with hash="auto"
            takes a projection to go with it. With hash families of codes weights are weighted min-hash.
        power: how much: the weight is 1 / degree^power, jaccard^power, 2^(16 power cosine) or column^power. With
            Projection, every doubling of the weight moves an edge forward by `power` standard deviations.

    >>> LSP(keep=0.5)
    LSP(keep=0.5)
    """

    name: ClassVar[str] = "lsp"
    about: ClassVar[str] = "locality-sensitive pruning: the edges whose attributes have the smallest hashes"

    hash: Family | str = field(default_factory=Projection)
    select: Literal["functions", "bottom"] = "functions"
    replace: bool = False
    ties: Literal["hash", "id", "position"] = "hash"
    attributes: tuple[str, ...] = ("edge", "neighbour")
    values: Literal["unit", "raw"] = "unit"
    weights: str | None = None
    power: float = 1.0
    fitted: tuple[tuple[str, Scale], ...] | None = field(default=None, repr=False)
    learned: Learned | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.hash, str):
            object.__setattr__(self, "hash", family(self.hash))
        if not isinstance(self.hash, Family):
            raise OptionError(f"hash must be a hash family or one of {', '.join(FAMILIES)}, got {shown(self.hash)}")
        check_choice("select", self.select, ("functions", "bottom"))
        check_choice("ties", self.ties, TIES)
        check_choice("values", self.values, ("unit", "raw"))
        self._check_attributes()
        check_weights(self.weights)
        set_number(self, "power", lambda power: 0 <= power <= 64, "a number in [0, 64]")
        check_flag("replace", self.replace)
        object.__setattr__(self, "replace", bool(self.replace))
        _check_fitted(self.fitted, self.learned)
        if self.replace and self.keep is not None:
            raise OptionError("keep must be None with replace=True: with replacement the share cannot be met; use k")
        if self.replace and (self.k or 0) > MOST_REPLACED:
            raise OptionError(f"k must be at most {MOST_REPLACED} with replace=True, got {self.k}: every step is run")
        if self.replace and self.select == "bottom":
            raise OptionError('replace must be False with select="bottom": one function would take one edge k times')
        if self.family.needs_k and self.k is None:
            raise OptionError("k must be given with this hash: its signature depends on the number of functions")

    def _check_attributes(self) -> None:
        given = self.attributes
        known = isinstance(given, (list, tuple)) and all(isinstance(role, str) and role in PARTS for role in given)
        if not known or not given:
            raise OptionError(f"attributes must be a tuple of some of {', '.join(PARTS)}, got {shown(given)}")
        object.__setattr__(self, "attributes", tuple(role for role in PARTS if role in given))
        if lacks := self.family.lacks(self.attributes):
            raise OptionError(f"attributes must be more than {self.attributes}: hash {self.family.name} needs {lacks}")

    @classmethod
    def paper(cls, kind: Literal["p", "t"], *, k: int, seed: int = 0) -> LSP:
        """LSP-P or LSP-T as the paper's text has it."""
        check_choice("kind", kind, ("p", "t"))
        chosen = Projection(l=1.0) if kind == "p" else Threshold(digest="md5", sparsity=None)
        return cls(k=k, hash=chosen, side="out", attributes=PARTS, values="raw", ties="position", seed=seed)

    @classmethod
    def published(cls, kind: Literal["p", "t"], *, k: int, sparsity: int = 25, seed: int = 0) -> LSP:
        """LSP-P or LSP-T as the paper's own runs computed it."""
        check_choice("kind", kind, ("p", "t"))
        chosen = (
            Projection(l=1.0, offset="normal", sparsity=sparsity)
            if kind == "p"
            else Threshold(digest="affine", sparsity=sparsity, mean=1.0)
        )
        return cls(
            k=k, hash=chosen, side="out", attributes=PARTS, values="raw", ties="position", self_loops="edge", seed=seed
        )

    @property
    def family(self) -> Family:
        """The hash family."""
        assert isinstance(self.hash, Family)
        return self.hash

    @property
    def functions(self) -> int | None:
        """How many steps have a hash function of their own; None: all (as in the paper's presets), or all share one."""
        as_published = self.replace or (self.values == "raw" and self.k is not None)
        return None if as_published or self.select == "bottom" else MOST_FUNCTIONS

    @property
    def calibrates(self) -> bool:
        """Whether `fit` has something to choose: the hash or the weights."""
        return isinstance(self.hash, Auto) or self.weights == "auto"

    def to_dict(self) -> dict[str, Any]:
        """The options as plain data; those of the hash, and of the families within it, with their names."""
        return {**super().to_dict(), "hash": self.family.to_dict()}

    @classmethod
    def from_dict(cls, options: dict[str, Any]) -> Self:
        """The pruner that `to_dict` described."""
        given = options.get("hash")
        return super().from_dict({**options, "hash": family_from(given)} if isinstance(given, Mapping) else options)

    def fit(
        self,
        data: Any,
        *,
        categories: Mapping[str, int] | None = None,
        threads: int | None = None,
        executor: str | None = None,
    ) -> LSP:
        """A pruner whose scales come from `data` (the training graphs): use it on every other graph too.

        Args:
            categories: how many values "x" or "edge_attr" may have where it is a category, so that graphs to come may
                have values that `data` lacks. Default: one more than the largest in `data`.
            executor: as in `prune`; what is learned is the same on each.

        >>> ends = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
        >>> seen, rare = (Graph.from_edges(ends, x=np.array([0, 1, 2, last])) for last in (1, 5))
        >>> LSP(keep=0.5).fit(seen, categories={"x": 6}).mask(rare).shape
        (4,)
        """
        sizes = _checked_categories(categories or {})
        graphs = adapters.find(data).graphs(data)
        if set(graphs) != {None}:
            raise OptionError("fit must be given one relation at a time; fit a pruner for each edge type")
        return self.fitted_on(graphs[None], runtime(threads, executor), sizes)

    def fitted_on(self, graph: Graph, run: Runtime, sizes: Mapping[str, int] | None = None) -> LSP:
        """What `fit` gives for a `Graph`; `sizes` are numbers of category values by part."""
        graph = without_unknown(graph, run)
        if self.calibrates:
            return calibrated(self, graph, run).fitted_on(graph, run, sizes)
        bare = dataclasses.replace(self, fitted=None, learned=None)
        ready = bare._fitted_hash(graph, run, sizes) if self.family.needs_attributes else bare
        if self.weights != "similarity":
            return ready
        part = described(graph, self.side, self.seed, size=(sizes or {}).get("neighbour"))
        scale = fit_scales({ROLE: part}, unit=True, runtime=run)[ROLE]
        if graph.num_edges > 1 and not any(scale.spread):
            said = "all nodes have the same attributes: nobody is more like the owner than others"
            warnings.warn(said, ConstantWarning, stacklevel=2)
        return dataclasses.replace(ready, fitted=(*(ready.fitted or ()), (ROLE, scale)))

    def _ready(self, graph: Graph, run: Runtime) -> LSP:
        """This pruner if it was fitted, else one that is fitted on the graph."""
        if self.fitted is None:
            return self.fitted_on(graph, run)
        hashed = [role for role, _ in self.fitted if role != ROLE]
        weighs = self.weights != "auto" and (self.weights != "similarity" or len(hashed) < len(self.fitted))
        if not weighs or (self.family.needs_attributes and not hashed):
            raise OptionError("hash and weights must be those that the pruner was fitted with; fit it again")
        return self

    def _fitted_hash(self, graph: Graph, run: Runtime, sizes: Mapping[str, int] | None) -> LSP:
        """With the scales of the parts that are hashed, and what the family learns."""
        parts = self._parts(graph, self.attributes, sizes)
        scales = fit_scales(parts, unit=self.values == "unit", runtime=run)
        if self.values == "unit" and graph.num_edges > 1 and not any(any(scale.spread) for scale in scales.values()):
            said = "all attributes that are hashed are constant: every edge looks alike, and ties are broken at random"
            warnings.warn(said, ConstantWarning, stacklevel=2)
        ready = dataclasses.replace(self, fitted=tuple(scales.items()), learned=None)
        if not self.family.learns:
            return ready
        view = ready._view(graph, group(graph, self, run), 1, run)
        return dataclasses.replace(ready, learned=Learned.of(self.family.learn(view)))

    def source(self, graph: Graph, owned: Owned, runtime: Runtime) -> Source:
        """Keys from the hash family; an unfitted pruner is fitted on this graph first."""
        made: list[tuple[LSP, View]] = []

        def keys(first: int, count: int, total: int) -> Keys:
            if not made:  # only when some owner has a choice to make
                fitted = self._ready(graph, runtime)
                every = self.replace or self.select == "bottom"  # steps say nothing about what is needed
                view = fitted._view(graph, owned, total, runtime, needs_all=every, occurring=True)
                made.append((fitted, view))
            ready, view = made[0]
            found = ready.family.keys(view, first, count)
            return found if ready.weights is None else weighed(found, view, ready._handicap(graph, view), count)

        def check() -> None:
            if self.family.needs_attributes and graph.num_edges and not made:
                check_finite(self._parts(graph, self.attributes, _sizes(self.fitted)), runtime)
            asked = self.weights == "similarity" or (self.weights == "auto" and comparable(graph))
            if asked and graph.num_edges and not made:
                scale = dict(self.fitted or ()).get(ROLE)
                check_finite({ROLE: described(graph, self.side, self.seed, scale=scale)}, runtime)

        def added(start: int, stop: int) -> Array | None:
            ready, view = made[0]
            return None if ready.weights is None else ready._handicap(graph, view).of(owned, start, stop)

        ties, bottom = TIES.index(self.ties), self.select == "bottom"
        return Source(
            keys, bottom=bottom, replace=self.replace, ties=ties, check=check, added=added, functions=self.functions
        )

    def _parts(
        self, graph: Graph, asked: tuple[str, ...], sizes: Mapping[str, int] | None, occurring: bool = False
    ) -> dict[str, Part]:
        parts = describe(graph, self.side, asked, seed=self.seed, sizes=sizes, occurring=occurring)
        if lacks := self.family.lacks(parts):
            raise GraphError(f"the graph lacks what hash {self.family.name} needs: {lacks}")
        return parts

    def _handicap(self, graph: Graph, view: View) -> Handicap:
        """What is added to the keys of each neighbour or edge, made once."""
        if "handicap" not in view.cache:
            unit = self.family.doubling(view)
            if not unit:
                raise OptionError(f"weights must be None with {self.family!r} and values={self.values!r}")
            assert self.weights is not None
            power = round(self.power * (1 << 16))
            scale = dict(self.fitted or ()).get(ROLE)
            view.cache["handicap"] = handicap(graph, view, self.side, self.weights, power, unit, scale)
        made: Handicap = view.cache["handicap"]
        return made

    def _view(
        self, graph: Graph, owned: Owned, steps: int, run: Runtime, *, needs_all: bool = True, occurring: bool = False
    ) -> View:
        """What the family may look at; `occurring`: rows of categories for the values that occur, see `describe`."""
        total = self.k or steps
        scales = {role: scale for role, scale in self.fitted or () if role != ROLE}
        needs = self.family.needs_attributes
        parts = self._parts(graph, tuple(scales), _sizes(self.fitted), occurring) if needs else {}
        check_fitted(parts, scales)
        return View(
            owned=owned, parts=parts, scales=scales, calibrated=self.values == "unit", seed=self.seed, total=total,
            needed=total if needs_all else steps, functions=steps,
            neighbours=graph.num_sources if self.side == "in" else graph.num_targets,
            neighbour_base=bases(graph, self.side)[1], runtime=run,
            race=self.weights is not None, learned=None if self.learned is None else self.learned.array,
        )  # fmt: skip

    def _state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        if self.fitted is None:
            return {}, {}
        arrays: dict[str, Array] = {}
        for role, scale in self.fitted:
            arrays[f"{role}.centre"] = np.array(scale.centre, np.int32)
            arrays[f"{role}.spread"] = np.array(scale.spread, np.int32)
        if self.learned is not None:
            arrays["learned"] = self.learned.array
        return arrays, {role: {name: getattr(scale, name) for name in NUMBERS} for role, scale in self.fitted}

    def _with_state(self, arrays: dict[str, Array], state: dict[str, Any]) -> LSP:
        if not state:
            return self
        hashed = {role: values for role, values in state.items() if role != ROLE}
        scales = read_scales(hashed, arrays, PARTS, unit=self.values == "unit")
        learned = read_small(arrays, "learned") if "learned" in arrays else None
        if hashed and (fault := self.family.learned_fault(learned, {role: scales[role].dim for role in scales})):
            raise FormatError(fault)
        if ROLE in state:
            scales |= read_scales({ROLE: state[ROLE]}, arrays, (ROLE,), unit=True)
        kept = None if learned is None else Learned.of(learned)
        return dataclasses.replace(self, fitted=tuple(scales.items()), learned=kept)


def _check_fitted(fitted: Any, learned: Any) -> None:
    """Raise unless these are what `fit` puts there."""
    pairs = fitted if isinstance(fitted, tuple) else ((),)
    if fitted is not None and not all(_is_scale(pair) for pair in pairs):
        raise OptionError(f"fitted must be what fit learned, got {shown(fitted)}")
    if learned is not None and not isinstance(learned, Learned):
        raise OptionError(f"learned must be what fit learned, got {shown(learned)}")


def _is_scale(pair: Any) -> bool:
    return isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], Scale)


def _checked_categories(given: Mapping[str, int]) -> dict[str, int]:
    """The number of values by part, from what a user says by name."""
    roles = {"x": ("owner", "neighbour"), "edge_attr": ("edge",)}
    for name, count in given.items():
        if name not in roles:
            raise OptionError(f"categories must be of x or edge_attr, got {name!r}")
        if not is_whole(count) or count < 1:
            raise OptionError(f"categories of {name} must be a whole number >= 1, got {shown(count)}")
    return {role: int(count) for name, count in given.items() for role in roles[name]}


def _sizes(fitted: tuple[tuple[str, Scale], ...] | None) -> dict[str, int] | None:
    return None if fitted is None else {role: scale.categories for role, scale in fitted}


PRUNERS.add(LSP)
