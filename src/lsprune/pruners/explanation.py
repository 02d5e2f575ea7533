"""Explain in words why each edge of a node was kept or removed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lsprune.errors import GraphError
from lsprune.graph import Array, Graph, Owned, oriented
from lsprune.hashing.base import BLOCK_FUNCTIONS
from lsprune.kernels import Runtime
from lsprune.selection.budget import quotas
from lsprune.selection.choose import KeySource, choose, edge_keys
from lsprune.selection.owners import neighbour_base_of_owner
from lsprune.selection.rules import SelectionRules
from lsprune.selection.self_loops import loops_count


@dataclass(frozen=True)
class Reason:
    """Why one edge was kept or removed."""

    edge: int  # position in the caller's edge order
    neighbour: int
    kept: bool
    step: int | None  # the step at which its owner took it, or None
    why: str


@dataclass(frozen=True)
class Explanation:
    """Why the edges that a node owns were kept or removed; print it."""

    node: int
    side: str
    degree: int  # edges that took part
    quota: int  # how many of these the node may keep
    edges: tuple[Reason, ...]

    def ends(self, reason: Reason) -> tuple[int, int]:
        """Return the source and the target of an edge that the node owns."""
        return oriented(self.side, self.node, reason.neighbour)

    def __str__(self) -> str:
        kept = sum(reason.kept for reason in self.edges)
        lines = [
            f"node {self.node} owns {len(self.edges)} edges (side={self.side!r}), keeps {kept}; quota {self.quota}"
        ]
        for reason in sorted(self.edges, key=lambda reason: (not reason.kept, reason.step or 0, reason.edge)):
            source, target = self.ends(reason)
            state = "kept   " if reason.kept else "removed"
            lines.append(f"  {state} edge {reason.edge} ({source} -> {target}): {reason.why}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class _Keys:
    """The keys of a node's edges, `[edges, steps]`, and what weights added to each of them."""

    table: Array
    added: Array | None
    winners: Array  # [steps] which edge each step took
    last_rank: int
    factors: list[tuple[str, Array]]  # of a product of weights: their names, and the weight of each edge

    @property
    def steps(self) -> int:
        return int(self.table.shape[1])

    def show(self, i: int, z: int) -> str:
        factors = " * ".join(f"{name} {values[i]:.3g}" for name, values in self.factors)
        by_factor = f": {factors}" if factors else ""
        weights = "" if self.added is None else f" (weights {int(self.added[i]):+d}{by_factor})"
        return f"{int(self.table[i, z])}{weights}"


def explain_node(
    graph: Graph, rules: SelectionRules, node: int, mask: Array, owned: Owned, source: KeySource, run: Runtime
) -> Explanation:
    """Explain why each edge that `node` owns is in `mask` or not."""
    degree = np.diff(owned.indptr)
    if not 0 <= node < degree.shape[0]:
        raise GraphError(f"node must be in [0, {degree.shape[0]}), got {node}")
    both_ways = rules.symmetric is not None or graph.undirected
    quota = degree if both_ways and rules.keep is not None else quotas(owned.indptr, graph, rules, run)
    mine = np.zeros_like(quota)
    mine[node] = steps = min(int(quota[node]), int(degree[node])) if not source.replace else int(quota[node])
    start, stop = int(owned.indptr[node]), int(owned.indptr[node + 1])
    base = neighbour_base_of_owner(graph, rules.side)
    ranks = choose(owned, mine, source, base, rules.seed, run, ranked=True)[start:stop]
    shown = (1 if source.bottom else min(steps, BLOCK_FUNCTIONS)) if stop > start else 0
    keys = (
        edge_keys(source.keys(0, shown, steps), owned, node, node + 1, shown)
        if shown
        else np.zeros((stop - start, 0), np.int64)
    )
    edges, node_keys = owned.edges(start, stop), _Keys(
        keys, source.added(start, stop) if shown else None, _winners(keys, ranks, source.bottom),
        int(ranks.max(initial=0)), source.factors(start, stop) if shown else [],
    )  # fmt: skip
    reasons = [
        Reason(int(edges[i]), int(owned.neighbour[start + i]), bool(mask[edges[i]]), int(ranks[i]) or None,
               _why(i, ranks, node_keys, bool(mask[edges[i]]), source))
        for i in range(stop - start)
    ]  # fmt: skip
    loops = [] if loops_count(rules.self_loops, bipartite=graph.bipartite) else _loops(graph, node, mask)
    return Explanation(node, rules.side, stop - start, steps, tuple(reasons + loops))


def explain_mask(graph: Graph, node: int, side: str, mask: Array, about: str) -> Explanation:
    """Explain each edge that `node` owns if the pruner decides over the whole graph: one sentence for all."""
    owner, neighbour = graph.owners_and_neighbours(side)
    owners = graph.num_owners(side)
    if not 0 <= node < owners:
        raise GraphError(f"node must be in [0, {owners}), got {node}")
    edges = np.flatnonzero(owner == node)
    reasons = (
        Reason(int(e), int(neighbour[e]), bool(mask[e]), None, f"decided over the whole graph: {about}") for e in edges
    )
    return Explanation(node, side, edges.size, int(mask[edges].sum()), tuple(reasons))


def _loops(graph: Graph, node: int, mask: Array) -> list[Reason]:
    source, target = graph.ends()
    loops = np.flatnonzero((source == node) & (target == node))
    why = {True: "self-loop, kept and not counted", False: "self-loop, dropped"}
    return [Reason(int(e), node, bool(mask[e]), None, why[bool(mask[e])]) for e in loops]


def _why(i: int, ranks: Array, keys: _Keys, kept: bool, source: KeySource) -> str:
    rank = int(ranks[i])
    if rank and kept:
        if source.functions is not None and rank > source.functions:
            return f"taken at step {rank}: steps after {source.functions} go by function {source.functions + 1}"
        z = 0 if source.bottom else rank - 1
        key = f", key {keys.show(i, z)}" if z < keys.steps else ""
        among = ranks.shape[0] if source.replace else ranks.shape[0] - rank + 1
        return f"taken at step {rank}: the first of {among}{key}"
    if rank:
        return f"taken here at step {rank}, but its pair was not kept: see the other end, or the share was met before"
    if kept:
        return "not taken here, but its reverse was taken by the neighbour"
    if not keys.steps:
        return "the node keeps no edge"
    return _beaten(i, ranks, keys, source)


def _beaten(i: int, ranks: Array, keys: _Keys, source: KeySource) -> str:
    table = keys.table
    if source.functions is not None and keys.last_rank > source.functions:
        return f"beaten at every step; steps after {source.functions} go by function {source.functions + 1}"
    if source.bottom:
        z, winner, where = 0, int(keys.winners[0]), "by the last edge kept"
    else:
        z = int(np.argmin(table[i] - table[keys.winners, np.arange(keys.steps)]))
        winner, where = int(keys.winners[z]), f"at every step, most narrowly at step {z + 1}"
    tie = " (tie rule)" if table[i, z] == table[winner, z] else ""
    return f"beaten {where}: key {keys.show(i, z)} against {keys.show(winner, z)}{tie}"


def _winners(table: Array, ranks: Array, bottom: bool) -> Array:
    """Return the edge that each step took; if an earlier step took it already, the one with the smallest key."""
    if bottom:
        return np.array([np.argmax(ranks)] if ranks.size else [], np.int64)
    winners = np.argmin(table, axis=0) if table.shape[0] else np.zeros(table.shape[1], np.int64)
    taken = np.flatnonzero((ranks > 0) & (ranks <= table.shape[1]))
    winners[ranks[taken] - 1] = taken
    return winners
