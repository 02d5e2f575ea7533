"""The pruner contract, and LSP itself: options in, `mask(graph)` out."""

from __future__ import annotations

import dataclasses
import json
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np

from lsprune import adapters, apply
from lsprune.adapters.atomic import atomic_write
from lsprune.adapters.files.npy import read_npz, write_npz
from lsprune.attributes import PARTS, describe
from lsprune.errors import FormatError, OptionError
from lsprune.explain import Explanation, explain_node
from lsprune.graph import SIDES, Array, Graph, Owned
from lsprune.hashing import FAMILIES, Family, Projection, Threshold, family
from lsprune.hashing.base import Keys, View
from lsprune.kernels import Runtime, runtime
from lsprune.pairs import symmetric_mask
from lsprune.scales import Scale, check_fitted, fit_scales
from lsprune.select import (
    TIES,
    Outcome,
    Source,
    bases,
    choose,
    group,
    neighbour_base_of_owner,
    owners_outcome,
    quotas,
)

Symmetric = Literal["union", "intersection"]
SelfLoops = Literal["free", "edge", "drop"]
FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Pruner(ABC):
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

    @abstractmethod
    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """What to keep of a `Graph`."""

    def fit(self, data: Any, *, threads: int | None = None) -> Self:
        """A pruner that has learned what it needs from `data` (the training graphs)."""
        return self

    def mask(self, data: Any, *, threads: int | None = None, executor: str | None = None) -> Any:
        """True for every edge to keep, in the caller's edge order: bool array, list of arrays or dict by relation."""
        return apply.mask(data, self, threads=threads, executor=executor)

    def to_dict(self) -> dict[str, Any]:
        """The options as plain data: what `from_dict`, TOML files, the command line and result lines use."""
        options = {f.name: _plain(getattr(self, f.name)) for f in dataclasses.fields(self) if f.name != "fitted"}
        return {"method": self.name, **options}

    @classmethod
    def from_dict(cls, options: dict[str, Any]) -> Self:
        """The pruner that `to_dict` described."""
        options = dict(options)
        if options.pop("method", cls.name) != cls.name:
            raise OptionError(f"method must be {cls.name!r} for {cls.__name__}")
        known = {f.name for f in dataclasses.fields(cls)}
        for name in options:
            if name not in known:
                has = ", ".join(sorted(known - {"fitted"}))
                raise OptionError(f"{name} is not an option of {cls.name}; it has {has}")
        if isinstance(options.get("hash"), dict):
            options["hash"] = _family_from(options["hash"])
        if isinstance(options.get("attributes"), list):
            options["attributes"] = tuple(options["attributes"])
        return cls(**options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pruner, with what it was fitted to, as one `.npz` file (JSON and arrays, no pickle)."""
        arrays, state = self._state()
        document = {"lsprune": FORMAT, "pruner": self.to_dict(), "state": state}
        arrays["json"] = np.frombuffer(json.dumps(document).encode(), np.uint8)
        with atomic_write(path) as file:
            write_npz(file, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The pruner that `save` wrote."""
        document, arrays = read_saved(path)
        try:
            return cls.from_dict(document["pruner"])._with_state(arrays, document["state"])
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{path} does not hold a valid {cls.name} pruner: {error}") from None

    def _state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        return {}, {}

    def _with_state(self, arrays: dict[str, Array], state: dict[str, Any]) -> Self:
        return self


def read_saved(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    """The JSON document and the arrays of a saved pruner."""
    try:
        arrays = read_npz(Path(path))
        document = json.loads(arrays.pop("json").tobytes())
        version = document["lsprune"]
    except (FormatError, KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path} is not a saved pruner: {error}") from None
    if version != FORMAT:
        raise FormatError(f"{path} was written in format {version}, this version reads {FORMAT}")
    return document, arrays


def _plain(value: Any) -> Any:
    if isinstance(value, Family):
        return {"name": value.name, **dataclasses.asdict(value)}
    return list(value) if isinstance(value, tuple) else value


def _family_from(options: dict[str, Any]) -> Family:
    rest = dict(options)
    kind = FAMILIES[family(str(rest.pop("name", ""))).name]
    known = {f.name for f in dataclasses.fields(kind)}
    for name in rest:
        if name not in known:
            has = ", ".join(sorted(known)) or "none"
            raise OptionError(f"{name} is not an option of hash {kind.name}; it has {has}")
    return kind(**rest)


@dataclass(frozen=True, kw_only=True)
class Local(Pruner):
    """A pruner that lets every owner choose among its own edges: all but the global baselines.

    Args:
        k: the most edges an owner keeps. keep: the share of edges to keep, in (0, 1], met to the edge. Exactly one.
        side: "in": the target owns an edge (what it aggregates); "out": the source does.
        symmetric: keep both directions of an edge when either ("union") or both ("intersection") owners take it.
        self_loops: "free" (kept, not counted), "edge" (like any other) or "drop".
        pooled: meet `keep` over all graphs together instead of in each of them.
        seed: the only source of chance.
    """

    k: int | None = None
    keep: float | None = None
    side: Literal["in", "out"] = "in"
    symmetric: Symmetric | None = None
    self_loops: SelfLoops = "free"
    pooled: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_budget(self.k, self.keep)
        check_choice("side", self.side, SIDES)
        check_choice("symmetric", self.symmetric, (None, "union", "intersection"))
        check_choice("self_loops", self.self_loops, ("free", "edge", "drop"))
        check_seed(self.seed)

    @abstractmethod
    def source(self, graph: Graph, owned: Owned, runtime: Runtime) -> Source:
        """Where the keys of this graph's edges come from."""

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """What to keep of a `Graph`."""
        mode = self.symmetric or ("union" if graph.undirected else None)
        if mode and graph.bipartite:
            raise OptionError("symmetric must be None for a relation between two node types: it has no reverse edges")
        owned = group(graph, self, runtime)
        source = self.source(graph, owned, runtime)
        base = neighbour_base_of_owner(graph, self.side)
        if mode:
            taken = symmetric_mask(graph, self, mode, owned, source, base, runtime)
            return owners_outcome(graph, owned, taken, self.self_loops, runtime)
        quota = quotas(np.diff(owned.indptr), graph, self)
        taken = choose(owned, quota, source, base, self.seed, runtime, ranked=False)
        return owners_outcome(graph, owned, taken, self.self_loops, runtime, quota)

    def explain(self, data: Any, node: int, *, threads: int | None = None) -> Explanation:
        """Why each edge that `node` owns was kept or removed; print the result.

        >>> graph = Graph.from_edges(np.array([[0, 1, 2], [3, 3, 3]]))
        >>> sum(reason.kept for reason in LSP(k=1, hash="identity").explain(graph, 3).edges)
        1
        """
        graphs = adapters.find(data).graphs(data)
        if set(graphs) != {None}:
            raise OptionError("explain must be given a single relation; take it out of the HeteroData first")
        graph, run = graphs[None], runtime(threads)
        owned = group(graph, self, run)
        source = self.source(graph, owned, run)
        return explain_node(graph, self, node, self.mask_graph(graph, run).mask, owned, source, run)


@dataclass(frozen=True, kw_only=True)
class LSP(Local):
    """Locality-Sensitive Pruning: every owner keeps the edges whose attributes hash to the smallest keys.

    `LSP(...)` is calibrated: rows L2-normalised, then centred and scaled; edge and neighbour attributes.
    `LSP.paper(...)` is the paper's text, `LSP.published(...)` what its own runs did.

    Args:
        k, keep, side, symmetric, self_loops, pooled, seed: as for every pruner.
        hash: a hash family, or its name with default options.
        select: "functions": step z uses hash function z; "bottom": the k smallest of one function.
        replace: True is Algorithm 1 to the letter: the union of the k winners, so an owner may keep fewer than k.
        ties: how equal keys are ordered: "hash" of (seed, step, neighbour), "id" of the neighbour, or "position".
        attributes: the parts that describe an edge, out of "owner", "edge", "neighbour".
        values: "unit" (L2-normalised, centred, scaled) or "raw".

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
    fitted: tuple[tuple[str, Scale], ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.hash, str):
            object.__setattr__(self, "hash", family(self.hash))
        if not isinstance(self.hash, Family):
            raise OptionError(f"hash must be a hash family or one of {', '.join(FAMILIES)}, got {self.hash!r}")
        check_choice("select", self.select, ("functions", "bottom"))
        check_choice("ties", self.ties, TIES)
        check_choice("values", self.values, ("unit", "raw"))
        if isinstance(self.attributes, str) or not self.attributes or not set(self.attributes) <= set(PARTS):
            raise OptionError(f"attributes must be a tuple of some of {', '.join(PARTS)}, got {self.attributes!r}")
        if self.replace and self.keep is not None:
            raise OptionError("keep must be None with replace=True: with replacement the share cannot be met; use k")
        if self.replace and self.select == "bottom":
            raise OptionError('replace must be False with select="bottom": one function would take one edge k times')

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

    def fit(self, data: Any, *, threads: int | None = None) -> LSP:
        """A pruner whose scales come from `data` (the training graphs): use it on every other graph too."""
        graphs = adapters.find(data).graphs(data)
        if set(graphs) != {None}:
            raise OptionError("fit must be given one relation at a time; fit a pruner for each edge type")
        return self._fitted_on(graphs[None], runtime(threads))

    def _fitted_on(self, graph: Graph, run: Runtime) -> LSP:
        if not self.family.needs_attributes:
            return self
        parts = describe(graph, self.side, self.attributes, seed=self.seed)
        scales = fit_scales(parts, unit=self.values == "unit", runtime=run)
        return dataclasses.replace(self, fitted=tuple(scales.items()))

    def source(self, graph: Graph, owned: Owned, runtime: Runtime) -> Source:
        """Keys from the hash family; an unfitted pruner is fitted on this graph first."""
        made: list[View] = []

        def keys(first: int, count: int, total: int) -> Keys:
            if not made:  # only when some owner has a choice to make
                made.append(self._view(graph, owned, self.k or total, runtime))
            return self.family.keys(made[0], first, count)

        if self.family.needs_attributes and graph.num_edges:
            describe(graph, self.side, self.attributes, seed=self.seed, sizes=_sizes(self.fitted))
        return Source(keys, bottom=self.select == "bottom", replace=self.replace, ties=TIES.index(self.ties))

    def _view(self, graph: Graph, owned: Owned, total: int, run: Runtime) -> View:
        ready = self if self.fitted is not None else self._fitted_on(graph, run)
        scales = dict(ready.fitted or ())
        parts = (
            describe(graph, self.side, tuple(scales), seed=self.seed, sizes=_sizes(ready.fitted))
            if self.family.needs_attributes
            else {}
        )
        check_fitted(parts, scales)
        return View(
            owned=owned, parts=parts, scales=scales, calibrated=self.values == "unit", seed=self.seed, total=total,
            neighbours=graph.num_sources if self.side == "in" else graph.num_targets,
            neighbour_base=bases(graph, self.side)[1], runtime=run,
        )  # fmt: skip

    def _state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        if self.fitted is None:
            return {}, {}
        arrays: dict[str, Array] = {}
        for role, scale in self.fitted:
            arrays[f"{role}.centre"] = np.array(scale.centre, np.int32)
            arrays[f"{role}.spread"] = np.array(scale.spread, np.int32)
        return arrays, {role: {name: getattr(scale, name) for name in _NUMBERS} for role, scale in self.fitted}

    def _with_state(self, arrays: dict[str, Array], state: dict[str, Any]) -> LSP:
        if not state:
            return self
        scales = {
            role: Scale(
                centre=tuple(arrays[f"{role}.centre"].tolist()), spread=tuple(arrays[f"{role}.spread"].tolist()),
                **{name: values[name] for name in _NUMBERS},
            )
            for role, values in state.items()
        }  # fmt: skip
        return dataclasses.replace(self, fitted=tuple(scales.items()))

    def __repr__(self) -> str:
        """The options that differ from the defaults."""
        return short_repr(self)


_NUMBERS = ("exponent", "unit", "shift", "categories")


def _sizes(fitted: tuple[tuple[str, Scale], ...] | None) -> dict[str, int] | None:
    return None if fitted is None else {role: scale.categories for role, scale in fitted}


def short_repr(pruner: Pruner) -> str:
    """`Name(option=value, ...)` with the options that are not at their defaults."""
    shown = []
    for f in dataclasses.fields(pruner):
        default = f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
        value = getattr(pruner, f.name)
        if f.repr and value != default:
            shown.append(f"{f.name}={value!r}")
    return f"{type(pruner).__name__}({', '.join(shown)})"


def check_budget(k: int | None, keep: float | None) -> None:
    """Raise unless exactly one of k (whole, >= 0) and keep (in (0, 1]) is given."""
    if (k is None) == (keep is None):
        given = "neither" if k is None else f"both k={k} and keep={keep}"
        raise OptionError(f"give exactly one of k (edges per owner) and keep (share of edges to keep), got {given}")
    if k is not None and (isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 0):
        raise OptionError(f"k must be a whole number >= 0, got {k!r}; it is the most edges an owner keeps")
    if keep is not None and not (isinstance(keep, (int, float, np.floating)) and 0 < keep <= 1):
        raise OptionError(f"keep must be in (0, 1], got {keep!r}; it is the share of edges to keep")


def check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Raise unless value is one of the allowed ones."""
    if value not in allowed:
        raise OptionError(f"{name} must be one of {', '.join(repr(a) for a in allowed)}, got {value!r}")


def check_seed(seed: Any) -> None:
    """Raise unless seed is a whole number."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise OptionError(f"seed must be a whole number, got {seed!r}")
