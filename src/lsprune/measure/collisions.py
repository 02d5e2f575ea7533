"""The collision curve of a hash: how often two edges at a distance are treated as the same edge.

Locality-sensitive hashing is defined by two probabilities: items closer than d1 collide with probability P1 or more,
items farther apart than d2 with P2 or less. Pruning needs not equal keys but the same winner, so there are two curves.

Take a random set of edges of the graph with different neighbours, and a second set in which every edge corresponds to
one of the first but its attributes differ by a given distance. The second set is shuffled and its neighbours have other
ids, so that only the attributes say which edges correspond.

- same edge: the probability that the hash takes corresponding edges from the two sets. Chance is 1 / (size of a set).
- same key: the probability that two corresponding edges have the same key. It is meaningful for hashes with bins or
  digests; without bins, keys are hardly ever equal.

A distance is the size of Gaussian noise on every column of the attributes, in standard deviations of that column: two
unrelated edges are about sqrt(2) apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lsprune.checks import check_count, check_number
from lsprune.errors import GraphError, OptionError
from lsprune.graph import Array, Graph, Owned, oriented, other_side
from lsprune.kernels import Runtime, runtime
from lsprune.measure.noise import add_noise, column_deviations, is_vector, take_rows
from lsprune.pruners import LocalPruner, PerOwner
from lsprune.selection.choose import KeySource, choose, edge_keys
from lsprune.selection.owners import by_owner, group, neighbour_base_of_owner


@dataclass(frozen=True)
class CollisionCurve:
    """Probabilities for each distance."""

    distances: tuple[float, ...]
    same_edge: tuple[float, ...]
    same_key: tuple[float, ...]
    chance: float  # `same_edge` of a random choice


def collision_curve(
    pruner: LocalPruner, graph: Graph, distances: Iterable[float] = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0), pairs: int = 2000,
    seed: int = 0, *, choices: int = 8, functions: int = 10, threads: int | None = None,
) -> CollisionCurve:  # fmt: skip
    """Return the collision curve of a pruner's first hash function; definitions at the top of this module.

    Args:
        pruner: a local pruner, such as LSP with any hash. It is fitted on the graph. Its budget does not matter, nor do
            weights that compare neighbourhoods ("jaccard", "similarity"), which sets of edges do not have.
        graph: where edges and their attributes come from; x or edge_attr must be vectors. Categories stay as they are.
        distances: in standard deviations of a column. The same noise, scaled, is used for all of them.
        pairs: number of pairs of sets, divided among the functions.
        choices: edges in a set; fewer if the graph has fewer neighbours.
        functions: number of hash functions (seeds) to average over.

    >>> from lsprune import LSP
    >>> random = np.random.default_rng(0)
    >>> graph = Graph.from_edges(random.integers(0, 50, (2, 400)), x=random.standard_normal((50, 6)))
    >>> curve = collision_curve(LSP(k=1), graph, [0.0, 0.2, 2.0], pairs=400)
    >>> curve.same_edge[0], curve.same_edge[1] > 0.6 > curve.same_edge[2], curve.chance
    (1.0, True, 0.125)
    """
    if not isinstance(pruner, LocalPruner):
        raise OptionError(f"pruner must be a local pruner such as LSP, got {pruner!r}")
    wanted = tuple(distances)
    for distance in wanted:
        check_number("distances", distance, 0, 1e6)
    for name, value in (("pairs", pairs), ("choices", choices), ("functions", functions)):
        check_count(name, value)
    check_count("seed", seed, 0)
    if not graph.num_edges or not any(is_vector(part) for part in (graph.x_source, graph.x_target, graph.edge_attr)):
        raise GraphError("the graph must have edges, and vectors as x or edge_attr: only vectors have a distance")
    run, hits = runtime(threads), np.zeros((2, len(wanted)))
    for number in range(functions):
        fitted = _fitted(replace(pruner, seed=(pruner.seed + number) % 2**63), graph, run)
        sets = _Sets.drawn(graph, fitted.side, -(-pairs // functions), choices, (seed, number), run)
        taken, key = _hashed(fitted, sets.graph(graph, 0.0, None), run)
        for at, distance in enumerate(wanted):
            other_taken, other_key = _hashed(fitted, sets.graph(graph, distance, sets.order), run)
            hits[:, at] += (taken & other_taken[sets.order]).sum() / sets.count, (key == other_key[sets.order]).mean()
    same_edge, same_key = (tuple((row / functions).tolist()) for row in hits)
    return CollisionCurve(tuple(float(d) for d in wanted), same_edge, same_key, sets.count / sets.edge.size)


@dataclass(frozen=True, eq=False)
class _Sets:
    """Random sets of edges, each a star: one owner, and a neighbour for each edge."""

    count: int
    side: str
    edge: Array  # [count * size] edges of the graph
    owner: Array  # [count] node of the graph that owns the set
    order: Array  # [count * size] the place of each edge in the shuffled second sets
    seed: tuple[int, ...]

    @classmethod
    def drawn(cls, graph: Graph, side: str, count: int, size: int, seed: tuple[int, ...], run: Runtime) -> _Sets:
        """Draw sets of edges with different neighbours: uniform over neighbours, then over the edges of a neighbour."""
        random = np.random.default_rng(seed)
        edges = by_owner(graph, other_side(side), run)  # of each neighbour
        nodes = np.flatnonzero(np.diff(edges.indptr))
        neighbours = nodes[distinct(random, count, min(size, nodes.size), nodes.size)].ravel()
        slot = random.integers(edges.indptr[neighbours], edges.indptr[neighbours + 1])
        edge = slot if edges.edge is None else edges.edge[slot]
        owner = graph.owners_and_neighbours(side)[0][edge[:: edge.size // count]]
        return cls(count, side, edge, owner, random.permutation(edge.size), seed)

    def graph(self, graph: Graph, distance: float, order: Array | None) -> Graph:
        """Return the sets as a bipartite graph, with noise of size `distance`; edge i is at order[i]."""
        own, other = oriented(self.side, graph.x_source, graph.x_target)
        neighbour = graph.owners_and_neighbours(self.side)[1][self.edge]
        back = np.arange(self.edge.size) if order is None else np.argsort(order)  # the edge at each place
        owners = np.arange(self.edge.size) // (self.edge.size // self.count)
        x_owner = self._noisy(own, self.owner, distance, 1)
        x_neighbour = take_rows(self._noisy(other, neighbour, distance, 0), back)
        return Graph.from_edges(
            oriented(self.side, owners[back], np.arange(self.edge.size)),
            num_nodes=oriented(self.side, self.count, self.edge.size),
            x=oriented(self.side, x_owner, x_neighbour),
            edge_attr=take_rows(self._noisy(graph.edge_attr, self.edge, distance, 2), back),
        )

    def _noisy(self, values: Any, rows: Array, distance: float, which: int) -> Any:
        copies = take_rows(values, rows)
        if distance == 0 or not is_vector(values):
            return copies
        return add_noise(copies, column_deviations(values), distance, (*self.seed, which))


def distinct(random: np.random.Generator, rows: int, size: int, among: int) -> Array:
    """Return `[rows, size]` numbers below `among`, distinct within a row, every such row equally likely.

    >>> np.sort(distinct(np.random.default_rng(0), 2, 3, 3)).tolist()
    [[0, 1, 2], [0, 1, 2]]
    """
    out = np.zeros((rows, 0), np.int64)
    for column in range(size):
        number = random.integers(0, among - column, rows)  # the number-th of those not taken yet
        for taken in np.sort(out, axis=1).T:
            number += number >= taken
        out = np.column_stack([out, number])
    return out


def _fitted(pruner: LocalPruner, graph: Graph, run: Runtime) -> PerOwner:
    """Fit the pruner; without weights that compare neighbourhoods: the curve is one of the hash."""
    fitted = pruner.fit_graph(graph, run)
    return fitted if fitted.needs.scope == "edge" else pruner.without_weights().fit_graph(graph, run)


def _hashed(pruner: PerOwner, sets: Graph, run: Runtime) -> tuple[Array, Array]:
    """Return (whether it is taken, key of the first function) for each edge, in the order of the sets."""
    owned: Owned = group(sets, pruner.rules, run)
    source: KeySource = pruner.key_source(sets, owned, run)
    owners = owned.indptr.size - 1
    quota = np.ones(owners, np.int64)
    taken = choose(
        owned, quota, source, neighbour_base_of_owner(sets, pruner.side), pruner.rules.seed, run, ranked=False
    )
    keys = edge_keys(source.keys(0, 1, 1), owned, 0, owners)[:, 0]
    edges = owned.edges(0, owned.neighbour.shape[0])
    out = np.zeros(edges.size, bool), np.zeros(edges.size, np.int64)
    out[0][edges], out[1][edges] = taken != 0, keys
    return out
