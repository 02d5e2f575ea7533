"""Promises on top of any pruner: edges that stay, nodes that keep some, degrees that end, what stays connected."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from lsprune.checks import as_array, check_flag, is_whole, set_whole, short_repr, shown
from lsprune.errors import BudgetWarning, GraphError, OptionError, warn
from lsprune.graph import Array, Graph, oriented
from lsprune.kernels import Runtime, plain
from lsprune.numeric.random_numbers import EDGE, draw
from lsprune.pruners import Pruner
from lsprune.pruners.explanation import Explanation, Reason
from lsprune.pruners.registry import PRUNERS, from_dict
from lsprune.selection.forest import forest
from lsprune.selection.items import Items, smallest
from lsprune.selection.outcome import Outcome, outcome
from lsprune.selection.owners import node_base, which_graph
from lsprune.selection.pairs import pair_up

# Why an item stays or goes; a smaller one comes first. Those up to LEAST must stay, those up to JOINS whatever the cap.
PROTECTED, JOINS, LEAST, KEPT, REST, OVER = range(6)
_WORDS = {PROTECTED: "protected", JOINS: "joins what the graph joins", LEAST: "one of the least that a node keeps",
          OVER: "removed by max_degree"}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Protected:
    """Numbers of edges that pruners can be compared by."""

    data: bytes  # ascending int64
    edges: int | None  # how many the graph has, where that is known

    @classmethod
    def of(cls, given: Any) -> Protected:
        """From a boolean array over all edges, or the numbers of some."""
        try:
            array = as_array(given, "protected")
        except GraphError as error:  # a masked array, or lists of unequal length
            raise OptionError(str(error)) from None
        if array.dtype == bool and array.ndim == 1:
            return cls(np.flatnonzero(array).astype("<i8").tobytes(), array.size)
        if array.ndim == 1 and (array.dtype.kind in "iu" or not array.size):
            numbers = np.unique(array.astype("<i8"))
            if not numbers.size or numbers[0] >= 0:
                return cls(numbers.tobytes(), None)
        raise OptionError(
            "protected must be a boolean array over the edges, or the numbers (>= 0) of some, "
            f"got {type(given).__name__} of {array.dtype} {list(array.shape)}"
        )

    @property
    def numbers(self) -> Array:
        return np.frombuffer(self.data, "<i8").astype(np.int64)

    def mask(self, edges: int) -> Array:
        """True for each of them, in a graph of so many edges."""
        numbers, marked = self.numbers, np.zeros(edges, bool)
        if self.edges not in (None, edges) or (numbers.size and numbers[-1] >= edges):
            got = f"one of {self.edges}" if self.edges is not None else f"number {numbers[-1]}"
            raise GraphError(
                f"protected must be a boolean array of the {edges} edges, or numbers below that, got {got}"
            )
        marked[numbers] = True
        return marked

    def __repr__(self) -> str:
        return f"<{self.numbers.size} edges>"


@dataclass(frozen=True, kw_only=True, repr=False)
class Guarded(Pruner):
    """A pruner with promises, within its budget: what has to stay takes the place of other edges that it would keep.

    Promises come before the budget: only where they need more edges than it has, more are kept, and a `BudgetWarning`
    says how many and for which promise. (These are the fewest that will do, except where one edge may serve two
    promises: `min_keep` with `keep_connected`, or with pairs.) Which edges give way is decided by a hash. With
    `symmetric`, edges and their reverses stay and go together. Self-loops count for no node, unless the pruner has
    self_loops="edge".

    Args:
        pruner: any pruner.
        min_keep: edges that every node keeps at least, of those it owns (all of them where it has fewer).
        keep_connected: join what the graph joins, directions aside, by a spanning forest of kept edges where possible.
        protected: edges that stay: a boolean array, or their numbers.
        max_degree: edges that a node keeps at most on either side: of those it owns, and of those it does not. A pair
            such as (None, 10) says it for the two in turn. It may cut below the budget and `min_keep`; protected edges
            and the spanning forest stay all the same, even above it.

    >>> from lsprune import LSP
    >>> Guarded(pruner=LSP(keep=0.3), min_keep=1)
    Guarded(pruner=LSP(keep=0.3), min_keep=1)
    """

    name: ClassVar[str] = "guarded"
    about: ClassVar[str] = "another pruner with promises on top"

    pruner: Pruner
    min_keep: int = 0
    keep_connected: bool = False
    protected: Any = None
    max_degree: int | tuple[int | None, int | None] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.pruner, Pruner):
            raise OptionError(f"pruner must be a pruner such as LSP(keep=0.5), got {shown(self.pruner)}")
        set_whole(self, "min_keep", 0, 2**31 - 1, "a whole number in [0, 2^31)")
        check_flag("keep_connected", self.keep_connected)
        object.__setattr__(self, "keep_connected", bool(self.keep_connected))
        object.__setattr__(self, "max_degree", _checked_degree(self.max_degree))
        if self.protected is not None and not isinstance(self.protected, Protected):
            object.__setattr__(self, "protected", Protected.of(self.protected))

    @property
    def side(self) -> str:
        return self.pruner.side

    @property
    def symmetric(self) -> str | None:
        return self.pruner.symmetric

    @property
    def self_loops(self) -> str:
        return self.pruner.self_loops

    @property
    def seed(self) -> int:
        """The seed of the pruner within, 0 if it has none."""
        return int(getattr(self.pruner, "seed", 0))

    def fit(
        self,
        data: Any,
        *,
        categories: Mapping[str, int] | None = None,
        threads: int | None = None,
        executor: str | None = None,
    ) -> Self:
        """The same promises on the fitted pruner."""
        fitted = self.pruner.fit(data, categories=categories, threads=threads, executor=executor)
        return dataclasses.replace(self, pruner=fitted)

    def with_budget(self, *, k: int | None = None, keep: float | None = None) -> Self:
        """Return the same promises on the pruner with another budget."""
        return dataclasses.replace(self, pruner=self.pruner.with_budget(k=k, keep=keep))

    def to_dict(self) -> dict[str, Any]:
        """Return the options; protected edges, which belong to one graph, are left out."""
        options = {name: value for name, value in vars(self).items() if name not in ("pruner", "protected")}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}
        return {"pruner": self.name, "inner": self.pruner.to_dict(), **plain}

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Self:
        """Build the pruner that `to_dict` described, with the one within."""
        known = {f.name for f in dataclasses.fields(cls)} - {"pruner"} | {"inner"}
        keywords = cls._keywords(options, known)
        inner = keywords.pop("inner", None)
        if isinstance(inner, Mapping):  # of a short form such as "guarded:inner=(lsp:k=8)" it has a name
            inner = from_dict({"pruner" if name == "name" else name: value for name, value in inner.items()})
        return cls(pruner=inner, **keywords)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the promises and the pruner within, fitted or not; refused with protected edges, as of one graph."""
        if self.protected is not None:
            raise OptionError("protected must be None in a pruner that is saved: such edges belong to one graph")
        super().save(path)

    def _state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        return self.pruner._state()

    def _with_state(self, arrays: dict[str, Array], state: dict[str, Any]) -> Self:
        return dataclasses.replace(self, pruner=self.pruner._with_state(arrays, state))

    def __repr__(self) -> str:
        return short_repr(self)

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """What the pruner keeps, changed as little as the promises ask; BudgetWarning where that is more."""
        decided = self._decide(graph, runtime)
        budget = _budget(self.pruner)
        if decided.exceeded and decided.kept > decided.asked and budget:
            warn(self._exceeded(decided, budget), BudgetWarning)
        return outcome(graph, decided.mask, runtime)

    def _exceeded(self, decided: _Decided, budget: str) -> str:
        """What is said where the promises need more edges than the budget."""
        names = {PROTECTED: "protected", JOINS: "keep_connected", LEAST: f"min_keep={self.min_keep}"}
        levels = np.bincount(decided.why[decided.mask & decided.counted], minlength=OVER + 1)
        needs = ", ".join(f"{name} ({levels[level]} edges)" for level, name in names.items() if levels[level])
        total = int(decided.counted.sum())
        return (
            f"{100 * decided.kept / total:.3g} % of the edges are kept ({decided.kept} of {total}), {budget} asks for "
            f"{100 * decided.asked / total:.3g} % ({decided.asked}); the promises need more: {needs}"
        )

    def _decide(self, graph: Graph, runtime: Runtime) -> _Decided:
        """What becomes of each edge, and why."""
        mask = self.pruner.mask_graph(graph, runtime).mask.copy()
        protected = np.zeros(mask.shape, bool) if self.protected is None else self.protected.mask(graph.num_edges)
        why = np.where(mask, KEPT, REST).astype(np.int8)
        source, target = graph.ends()
        counted = (source != target) | graph.bipartite | (self.self_loops == "edge")
        real = np.flatnonzero(counted | protected)
        held = _held(graph, self, real, counted[real], mask[real], runtime)
        kept = held.items(mask[real])
        level = np.where(held.items(protected[real]), PROTECTED, np.where(kept, KEPT, REST)).astype(np.int8)
        if self.keep_connected:
            found = forest(graph, held.ends, np.lexsort((held.ends.draw, level)))
            level[found] = np.minimum(level[found], JOINS)
        if self.min_keep:
            level[held.least(level, self.min_keep)] = LEAST
        chosen, exceeded = held.within(kept, level)
        asked = int(np.count_nonzero(mask[real]))
        if self.max_degree is not None:
            over = held.over(chosen, level, _sides(self.max_degree))
            chosen[over], level[over] = False, OVER
        mask[real], why[real] = chosen[held.of_edge], level[held.of_edge]
        return _Decided(mask, why, counted | protected, asked, exceeded)

    def _explain(self, graph: Graph, node: int, run: Runtime) -> Explanation:
        within = self.pruner._explain(graph, node, run)
        found = self._decide(graph, run)
        edges = (_reason(reason, bool(found.mask[reason.edge]), int(found.why[reason.edge])) for reason in within.edges)
        return dataclasses.replace(within, edges=tuple(edges))


@dataclass(frozen=True, eq=False)
class _Decided:
    """What becomes of each edge."""

    mask: Array  # [E] is it kept
    why: Array  # [E] PROTECTED .. OVER
    counted: Array  # [E] does it count for the budget
    asked: int  # counted edges that the pruner within keeps
    exceeded: bool  # in some graph the promises need more than that

    @property
    def kept(self) -> int:
        """Counted edges that are kept."""
        return int(np.count_nonzero(self.mask & self.counted))


def _budget(pruner: Pruner) -> str:
    """The budget of a pruner as its option; empty for one without."""
    if isinstance(pruner, Guarded):
        return _budget(pruner.pruner)
    return next(
        (f"{name}={getattr(pruner, name)}" for name in ("k", "keep") if getattr(pruner, name, None) is not None), ""
    )


def _reason(within: Reason, kept: bool, why: int) -> Reason:
    """What became of an edge, from what became of it in the pruner within."""
    word = _WORDS.get(
        why, "not kept" if not within.kept else "kept" if kept else "removed to make room for edges that must stay"
    )
    return dataclasses.replace(within, kept=kept, why=f"{word}; by the pruner within: {within.why}")


def _checked_degree(given: Any) -> int | tuple[int | None, int | None] | None:
    """A whole number, a pair of them or None, in Python's own types."""
    if given is None or _is_degree(given):
        return None if given is None else int(given)
    if isinstance(given, tuple | list) and len(given) == 2 and all(one is None or _is_degree(one) for one in given):
        first, second = (None if one is None else int(one) for one in given)
        return first, second
    raise OptionError(
        f"max_degree must be a whole number in [1, 2^31), or a pair of these (or None) for owner and neighbour, got "
        f"{shown(given)}"
    )


def _is_degree(value: Any) -> bool:
    return is_whole(value) and 1 <= value < 2**31


def _sides(most: int | tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    return most if isinstance(most, tuple) else (most, most)


@dataclass(frozen=True, eq=False)
class _Held:
    """The edges of a graph as items, which stay or go: single edges, or pairs of both directions."""

    graph: Graph
    ends: Items
    of_edge: Array  # [edges that take part] its item
    item: Array  # [edges that count for nodes] likewise
    owner: Array
    neighbour: Array

    def items(self, of_edges: Array) -> Array:
        """True for items of which some edge is marked."""
        marked = np.zeros(self.ends.draw.shape, bool)
        marked[self.of_edge[of_edges]] = True
        return marked

    def least(self, level: Array, most: int) -> Array:
        """True for the items that are to stay besides those that must, so that nodes have `most` of theirs."""
        order = np.lexsort((self.ends.draw[self.item], level[self.item], self.owner))
        first = order[_places(self.owner[order]) < most]
        found = np.zeros(level.shape, bool)
        found[self.item[first]] = True
        found &= level > JOINS
        # A pair counts for two nodes: one that neither needs is given back.
        stays = (found | (level <= JOINS))[self.item]
        owners = int(self.owner.max(initial=-1)) + 1
        has, had = (np.bincount(node, minlength=owners) for node in (self.owner[stays], self.owner))
        room, here = has - np.minimum(had, most), np.flatnonzero(found[self.item])
        if not room.any():
            return found
        return found & ~fitting(self.item[here], self.owner[here], room, -self._rank(level))

    def within(self, kept: Array, level: Array) -> tuple[Array, bool]:
        """As many items of each graph as were kept: those that must stay, then kept ones by draw.

        And whether more had to stay in some graph.
        """
        member, graphs = which_graph(self.graph.target_ptr, self.graph.num_targets, False)
        of_item = np.zeros(level.shape, np.int64)
        of_item[self.of_edge] = member[self.ends.target]
        budget, needed = (np.bincount(of_item[some], minlength=graphs) for some in (kept, level <= LEAST))
        chosen = smallest(level, self.ends.draw, of_item, np.maximum(budget, needed))
        return chosen, bool(np.any(needed > budget))

    def over(self, chosen: Array, level: Array, most: tuple[int | None, int | None]) -> Array:
        """True for the chosen items to remove, so that nodes have at most so many that they own and do not own."""
        caps = [(node, cap) for node, cap in zip((self.owner, self.neighbour), most, strict=True) if cap is not None]
        nodes, here = self.graph.num_nodes, np.flatnonzero(chosen[self.item])
        item = np.tile(self.item[here], len(caps))
        node = np.concatenate([here[:0], *(node[here] + i * nodes for i, (node, _) in enumerate(caps))])
        safe = level[item] <= JOINS
        room = np.repeat([cap for _, cap in caps], nodes) - np.bincount(node[safe], minlength=nodes * len(caps))
        over = np.zeros(level.shape, bool)
        over[item[~safe]] = True
        return over & ~fitting(item[~safe], node[~safe], room, self._rank(level))

    def _rank(self, level: Array) -> Array:
        """The place of each item by level, then draw, then position."""
        rank = np.empty(level.shape, np.int64)
        rank[np.lexsort((self.ends.draw, level))] = np.arange(level.size)
        return rank


def _held(graph: Graph, pruner: Guarded, real: Array, counted: Array, kept: Array, runtime: Runtime) -> _Held:
    """The edges `real` as items; of these the `counted` ones count for their nodes."""
    source, target = (plain(end).astype(np.int64, copy=False)[real] for end in graph.ends())
    of_edge, first, second = np.arange(source.size), source, target
    if (pruner.symmetric or graph.undirected) and not graph.bipartite:
        of_edge = _paired(source, target, kept, graph.num_nodes)
        one = np.zeros(int(of_edge.max(initial=-1)) + 1, np.int64)
        one[of_edge[::-1]] = np.arange(source.size)[::-1]  # the first edge of each pair speaks for it
        first, second = np.minimum(source[one], target[one]), np.maximum(source[one], target[one])
    draws = np.empty(first.shape, np.uint64)
    bases = node_base(graph.source_ptr), node_base(graph.target_ptr)
    start = draw(pruner.seed, EDGE)
    runtime.spread(draws.size, lambda lo, hi: runtime.module.hash_ends(
        start, plain(first), plain(second), *bases, lo, hi, draws))  # fmt: skip
    owner, neighbour = oriented(pruner.side, source, target)
    ends = Items(source, target, first, second, draws)
    return _Held(graph, ends, of_edge, of_edge[counted], owner[counted], neighbour[counted])


def _paired(source: Array, target: Array, kept: Array, nodes: int) -> Array:
    """The pair of each edge. Of parallel edges a kept one goes with a kept one, as the pruner had them."""
    of_edge, count = np.empty(source.shape, np.int64), 0
    for some in (np.flatnonzero(kept), np.flatnonzero(~kept)):
        pairs = pair_up(source[some], target[some], nodes)
        of_edge[some] = pairs.of_slot + count
        count += pairs.count
    return of_edge


def fitting(item: Array, node: Array, room: Array, rank: Array) -> Array:
    """True for the items that get in, one after the other by rank, each if all its nodes have room for it.

    Args:
        item, node: `[uses]` which item takes a place at which node, none twice at the same.
        room: `[nodes]` places. rank: `[items]`, distinct.

    >>> fitting(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1]), np.array([1, 1]), np.array([0, 1, 2]))
    array([ True, False,  True])
    """
    inside = np.zeros(rank.shape, bool)
    left = ~_some(item, room[node] <= 0, rank.size)
    order = np.lexsort((rank[item[left]], node[left]))
    item, node = item[left][order], node[left][order]
    while item.size:  # what is early enough at all its nodes gets in whatever becomes of the rest: many in each round
        late = _some(item, _places(node) >= room[node], rank.size)
        inside[item[~late]] = True
        room = room - np.bincount(node[~late], minlength=room.size)
        left = late & ~_some(item, room[node] <= 0, rank.size)
        item, node = item[left], node[left]
    return inside


def _some(item: Array, marked: Array, items: int) -> Array:
    """True for each use of an item that has a marked use."""
    found = np.zeros(items, bool)
    found[item[marked]] = True
    return found[item]


def _places(node: Array) -> Array:
    """0, 1, 2 ... within each run of equal nodes, which ascend."""
    return np.arange(node.size) - np.searchsorted(node, node)


PRUNERS.add(Guarded)
