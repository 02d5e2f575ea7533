"""The pruner contract: options in, `mask(graph)` out."""

from __future__ import annotations

import dataclasses
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from lsprune import adapters
from lsprune.checks import is_whole, short_repr, shown
from lsprune.errors import FormatError, OptionError
from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime, runtime
from lsprune.pruners.explanation import Explanation, explain_mask, explain_node
from lsprune.pruners.relations import relation_masks
from lsprune.pruners.saved import read_saved, write_saved
from lsprune.selection.budget import quotas
from lsprune.selection.choose import Source, choose
from lsprune.selection.outcome import Outcome, owners_outcome
from lsprune.selection.owners import group, neighbour_base_of_owner
from lsprune.selection.pairs import symmetric_mask
from lsprune.selection.rules import SelectionRules


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

    @property
    @abstractmethod
    def self_loops(self) -> str:
        """What becomes of self-loops."""

    @abstractmethod
    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """What to keep of a `Graph`."""

    def fit(
        self,
        data: Any,
        *,
        categories: Mapping[str, int] | None = None,
        threads: int | None = None,
        executor: str | None = None,
    ) -> Self:
        """A pruner that has learned what it needs from `data` (the training graphs).

        Args:
            categories: how many values "x" or "edge_attr" may have where it is a category; default: those in `data`.
            executor: as in `prune`; what is learned is the same on each.
        """
        return self

    def mask(self, data: Any, *, threads: int | None = None, executor: str | None = None) -> Any:
        """True for every edge to keep, in the caller's edge order: bool array, list of arrays or dict by relation."""
        adapter = adapters.find(data)
        return adapter.masks(data, relation_masks(adapter.graphs(data), self, {}, runtime(threads, executor)).masks)

    def explain(self, data: Any, node: int, *, threads: int | None = None) -> Explanation:
        """Why each edge that `node` owns was kept or removed; print the result.

        >>> import numpy as np
        >>> from lsprune import LSP
        >>> graph = Graph.from_edges(np.array([[0, 1, 2], [3, 3, 3]]))
        >>> sum(reason.kept for reason in LSP(k=1, hash="identity").explain(graph, 3).edges)
        1
        """
        if not is_whole(node):
            raise OptionError(f"node must be the number of a node, got {shown(node)}")
        graphs = adapters.find(data).graphs(data)
        if set(graphs) != {None}:
            raise OptionError("explain must be given a single relation; take it out of the HeteroData first")
        return self._explain(graphs[None], int(node), runtime(threads))

    def _explain(self, graph: Graph, node: int, run: Runtime) -> Explanation:
        return explain_mask(graph, node, self.side, self.mask_graph(graph, run).mask, self.about)

    def to_dict(self) -> dict[str, Any]:
        """The options as plain data: what `from_dict`, TOML files, the command line and result lines use."""
        options = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in _STATE}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}
        return {"method": self.name, **plain}

    @classmethod
    def from_dict(cls, options: dict[str, Any]) -> Self:
        """The pruner that `to_dict` described."""
        options = dict(options)
        if options.pop("method", cls.name) != cls.name:
            raise OptionError(f"method must be {cls.name!r} for {cls.__name__}")
        known = {f.name for f in dataclasses.fields(cls)}
        for name in options:
            if name not in known:
                has = ", ".join(sorted(known - _STATE))
                raise OptionError(f"{name} is not an option of {cls.name}; it has {has}")
        if isinstance(options.get("attributes"), list):
            options["attributes"] = tuple(options["attributes"])
        return cls(**options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pruner, with what it was fitted to, as one `.npz` file (JSON and arrays, no pickle)."""
        arrays, state = self._state()
        write_saved(path, self.to_dict(), state, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The pruner that `save` wrote."""
        return cls.from_saved(path, *read_saved(path))

    @classmethod
    def from_saved(cls, path: str | os.PathLike[str], document: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """The pruner in what was read from `path`."""
        try:
            return cls.from_dict(document["pruner"])._with_state(arrays, document["state"])
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise FormatError(f"{path} does not hold a valid {cls.name} pruner: {error}") from None

    def _state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        return {}, {}

    def _with_state(self, arrays: dict[str, Array], state: dict[str, Any]) -> Self:
        return self


_STATE = {"fitted", "learned"}  # fields that hold what a pruner has learned, not options


@dataclass(frozen=True, kw_only=True, repr=False)
class BudgetedPruner(SelectionRules, Pruner):
    """A pruner with a budget, `k` or `keep`; its other options are those of `SelectionRules`."""

    def __repr__(self) -> str:
        """Show the options that differ from the defaults."""
        return short_repr(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class LocalPruner(BudgetedPruner):
    """A pruner that lets every owner choose among its own edges."""

    @abstractmethod
    def source(self, graph: Graph, owned: Owned, runtime: Runtime) -> Source:
        """Where the keys of this graph's edges come from."""

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """What to keep of a `Graph`."""
        mode = self.symmetry(graph)
        owned = group(graph, self, runtime)
        source = self.source(graph, owned, runtime)
        base = neighbour_base_of_owner(graph, self.side)
        if mode:
            taken = symmetric_mask(graph, self, mode, owned, source, base, runtime)
            return owners_outcome(graph, owned, taken, self.self_loops, runtime)
        quota = quotas(owned.indptr, graph, self, runtime)
        taken = choose(owned, quota, source, base, self.seed, runtime, ranked=False)
        return owners_outcome(graph, owned, taken, self.self_loops, runtime, quota)

    def _explain(self, graph: Graph, node: int, run: Runtime) -> Explanation:
        owned = group(graph, self, run)
        source = self.source(graph, owned, run)
        return explain_node(graph, self, node, self.mask_graph(graph, run).mask, owned, source, run)
