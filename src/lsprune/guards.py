"""Promises on top of any pruner: edges that stay, nodes that keep some, degrees that end, what stays connected."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from lsprune.baselines.spanning_forest import forest
from lsprune.baselines.whole import Items, smallest
from lsprune.errors import GraphError, OptionError
from lsprune.graph import Array, Graph
from lsprune.kernels import Runtime, plain
from lsprune.kernels.mix import EDGE, draw
from lsprune.pairs import pair_up
from lsprune.pruners import Pruner
from lsprune.pruners.options import short_repr
from lsprune.select import Outcome, node_base, outcome, which_graph


@dataclass(frozen=True, kw_only=True, repr=False)
class Guarded(Pruner):
    """A pruner with promises, within its budget: what has to stay takes the place of other edges that it would keep.

    Promises come before the budget: only where they need more edges than it has, more are kept. Which edges give way is
    decided by a hash. With `symmetric`, edges and their reverses stay and go together.

    Args:
        pruner: any pruner.
        min_keep: edges that every node keeps at least, of those it owns (all of them where it has fewer).
        keep_connected: join what the graph joins, directions aside, by a spanning forest of kept edges where possible.
        protected: edges that stay: a boolean array, or their numbers.
        max_degree: edges that a node keeps at most at its other end (those it does not own); it may cut below the
            budget, and through the other promises but `protected`.

    >>> from lsprune import LSP
    >>> Guarded(pruner=LSP(keep=0.3), min_keep=1)
    Guarded(pruner=LSP(keep=0.3), min_keep=1)
    """

    name: ClassVar[str] = "guarded"
    about: ClassVar[str] = "another pruner with promises on top"

    pruner: Pruner
    min_keep: int = 0
    keep_connected: bool = False
    protected: Any = field(default=None, compare=False)
    max_degree: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.pruner, Pruner):
            raise OptionError(f"pruner must be a pruner such as LSP(keep=0.5), got {self.pruner!r}")
        for name, value, least in (("min_keep", self.min_keep, 0), ("max_degree", self.max_degree, 1)):
            if value is not None and (type(value) is not int or value < least):
                raise OptionError(f"{name} must be a whole number >= {least}, got {value!r}")

    @property
    def side(self) -> str:
        return self.pruner.side

    @property
    def symmetric(self) -> str | None:
        return self.pruner.symmetric

    @property
    def self_loops(self) -> str:
        return self.pruner.self_loops

    def fit(self, data: Any, **options: Any) -> Self:
        """The same promises on the fitted pruner."""
        return dataclasses.replace(self, pruner=self.pruner.fit(data, **options))

    def to_dict(self) -> dict[str, Any]:
        """The options; protected edges, which belong to one graph, are left out."""
        plain_options = {name: getattr(self, name) for name in ("min_keep", "keep_connected", "max_degree")}
        return {"method": self.name, "pruner": self.pruner.to_dict(), **plain_options}

    def save(self, path: Any) -> None:
        """Refused: save the pruner inside, and put the promises on again."""
        raise OptionError("a guarded pruner is not saved; save its .pruner, and guard it again when loaded")

    def __repr__(self) -> str:
        return short_repr(self)

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """What the pruner keeps, changed as little as the promises ask."""
        mask = self.pruner.mask_graph(graph, runtime).mask.copy()
        source, target = (plain(end).astype(np.int64, copy=False) for end in graph.ends())
        real = np.flatnonzero((source != target) | graph.bipartite)  # self-loops join and load nobody
        both = bool(self.symmetric) or graph.undirected
        held = _Held(graph, source[real], target[real], both, int(getattr(self.pruner, "seed", 0)), self.side, runtime)
        kept = held.items(mask[real])
        safe = held.items(self._protected(graph)[real])
        must = safe.copy()
        if self.keep_connected:
            must |= held.forest(kept | must)
        if self.min_keep:
            must |= held.items(held.first(held.owner, kept | must, self.min_keep))
        chosen = held.within(kept, must)
        if self.max_degree is not None:
            chosen &= held.capped(chosen, safe, self.max_degree) | safe
        mask[real] = chosen[held.of_edge]
        return outcome(graph, mask, runtime)

    def _protected(self, graph: Graph) -> Array:
        if self.protected is None:
            return np.zeros(graph.num_edges, bool)
        given = np.asarray(self.protected)
        if given.dtype == bool and given.shape == (graph.num_edges,):
            return given
        whole = given.dtype.kind in "iu" and given.ndim == 1
        if not whole or (given.size and (given.min() < 0 or given.max() >= graph.num_edges)):
            raise GraphError(
                f"protected must be a boolean array of the {graph.num_edges} edges, or numbers of some, "
                f"got {given.dtype} {list(given.shape)}"
            )
        marked = np.zeros(graph.num_edges, bool)
        marked[given] = True
        return marked


class _Held:
    """The edges of a graph as items, which stay or go: single edges, or pairs of both directions."""

    def __init__(
        self, graph: Graph, source: Array, target: Array, both: bool, seed: int, side: str, runtime: Runtime
    ) -> None:
        self.graph, self.source, self.target = graph, source, target
        self.owner, self.neighbour = (target, source) if side == "in" else (source, target)
        self.of_edge, self.count = np.arange(source.shape[0]), source.shape[0]
        first, second = source, target
        if both:
            pairs = pair_up(source, target, np.zeros(source.shape, np.int64), graph.num_nodes)
            self.of_edge, self.count = pairs.of_slot, pairs.count
            one = np.zeros(pairs.count, np.int64)
            one[pairs.of_slot[::-1]] = np.arange(source.shape[0])[::-1]
            first, second = np.minimum(source[one], target[one]), np.maximum(source[one], target[one])
        self.first_end, self.second_end = first, second
        self.draw = np.empty(first.shape[0], np.uint64)
        bases = node_base(graph.source_ptr), node_base(graph.target_ptr)
        start = draw(seed, EDGE)
        runtime.spread(self.count, lambda lo, hi: runtime.module.hash_ends(
            start, plain(first), plain(second), *bases, lo, hi, self.draw))  # fmt: skip

    def items(self, of_edges: Array) -> Array:
        """True for items of which some edge is marked."""
        marked = np.zeros(self.count, bool)
        marked[self.of_edge[of_edges]] = True
        return marked

    def forest(self, rather: Array) -> Array:
        """A spanning forest, of these items where it can be."""
        items = Items(self.source, self.target, self.first_end, self.second_end, self.draw)
        return forest(self.graph, items, np.lexsort((self.draw, ~rather)))

    def first(self, node: Array, rather: Array, most: int) -> Array:
        """True for the first edges of each node, `most` of them: rather these items, then by draw."""
        order = np.lexsort((self.draw[self.of_edge], ~rather[self.of_edge], node))
        start = np.searchsorted(node[order], node[order])
        found = np.zeros(node.shape, bool)
        found[order[np.arange(order.size) - start < most]] = True
        return found

    def within(self, kept: Array, must: Array) -> Array:
        """As many items of each graph as were kept: those that must stay, then kept ones by draw."""
        member, graphs = which_graph(self.graph.target_ptr, self.graph.num_targets, False)
        of_item = np.zeros(self.count, np.int64)
        of_item[self.of_edge] = member[self.target]
        budget, needed = (np.bincount(of_item[some], minlength=graphs) for some in (kept, must))
        keys = np.where(must, 0, np.where(kept, 1, 2))
        return smallest(keys, self.draw, of_item, np.maximum(budget, needed))

    def capped(self, chosen: Array, safe: Array, most: int) -> Array:
        """The items that are left when no node has more than `most` at its other end."""
        here = np.flatnonzero(chosen[self.of_edge])
        node, item = self.neighbour[here], self.of_edge[here]
        order = np.lexsort((self.draw[item], ~safe[item], node))
        start = np.searchsorted(node[order], node[order])
        over = order[np.arange(order.size) - start >= most]
        left = chosen.copy()
        left[item[over]] = False
        return left
