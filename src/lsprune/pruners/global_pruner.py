"""Pruners that choose edges (or pairs of edges) over the whole graph, to the exact share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

import numpy as np

from lsprune.graph import Array, Graph, oriented
from lsprune.kernels import Runtime, plain
from lsprune.numeric.random_numbers import EDGE, draw
from lsprune.numeric.weighted_sampling import EXACT_LOG_UNIT, log_times
from lsprune.pruners.contract import BudgetedPruner
from lsprune.selection.budget import quotas, target_count
from lsprune.selection.items import Items, smallest
from lsprune.selection.mask import Outcome, outcome
from lsprune.selection.owners import node_base, which_graph
from lsprune.selection.pairs import pair_up
from lsprune.selection.self_loops import loops_count, uncounted_loops_stay
from lsprune.selection.unbiased import Draws, refuse_pairs, unbiased_factors


@dataclass(frozen=True, kw_only=True, repr=False)
class GlobalPruner(BudgetedPruner):
    """A pruner that keeps the items with the smallest keys in each graph.

    Args:
        keep: the share to keep. k: as many edges as a local pruner with this k keeps, the sum of min(k, degree); budget
            likewise. side: whose degree these refer to.
        symmetric: "union" and "intersection" are the same, as pairs have no owner.
    """

    weighted: ClassVar[bool] = False  # whether keys are `log_times` of the draws, with weights

    @abstractmethod
    def keys(self, graph: Graph, items: Items, runtime: Runtime) -> Array:
        """Return an integer for each item; smaller ones are kept first, equal ones by their draw, then by position."""

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """Keep the items with the smallest keys, as many as the budget says."""
        if runtime.device is not None:
            there: Outcome = import_module("lsprune.device.global_choice").mask_graph(self, graph, runtime)
            return there
        source, target = (plain(end) for end in graph.ends())
        real = np.ones(source.shape, bool)
        if not loops_count(self.self_loops, bipartite=graph.bipartite):
            real = source != target
        mask = np.full(source.shape, uncounted_loops_stay(self.self_loops))
        edges = None if real.all() else np.flatnonzero(real)
        if edges is not None:
            source, target = source[edges], target[edges]
        chosen = self._chosen(graph, source, target, runtime)
        if edges is None:
            return outcome(graph, chosen, runtime)
        mask[edges] = chosen
        return outcome(graph, mask, runtime)

    def unbiased_factors(self, graph: Graph, mask: Array, runtime: Runtime) -> Array:
        """Return one over the chance of each kept edge, given the draws of the other edges of its graph."""
        self.refuse_biased()
        refuse_pairs(self.symmetry(graph))
        return unbiased_factors(self._edge_draws(graph, runtime), mask)

    def _edge_draws(self, graph: Graph, runtime: Runtime) -> Draws:
        """Return what was drawn for the edges that take part."""
        if runtime.device is not None:
            there: Draws = import_module("lsprune.device.global_choice").edge_draws(self, graph, runtime)
            return there
        source, target = (plain(end) for end in graph.ends())
        all_count = loops_count(self.self_loops, bipartite=graph.bipartite)
        edge = np.arange(source.shape[0]) if all_count else np.flatnonzero(source != target)
        source, target = source[edge].astype(np.int64), target[edge].astype(np.int64)
        member, graphs = which_graph(graph.target_ptr, graph.num_targets, self.pooled)
        ends = (edge, member[target], graphs, "graph", source * graph.num_targets + target)
        if not self.weighted:
            return Draws(*ends)
        items = Items(source, target, source, target, self._draws(graph, source, target, runtime))
        keys, times = self.keys(graph, items, runtime), log_times(items.draw, np.zeros(1, np.int64), runtime)
        return Draws(*ends, keys, keys - times, EXACT_LOG_UNIT)

    def _chosen(self, graph: Graph, source: Array, target: Array, runtime: Runtime) -> Array:
        member, graphs = which_graph(graph.target_ptr, graph.num_targets, self.pooled)
        of_edge = member[target] if graphs > 1 else np.zeros(0, np.int64)
        if self.symmetry(graph):
            pairs = pair_up(source, target, graph.num_nodes)
            one = np.zeros(pairs.count, np.int64)
            one[pairs.of_slot[::-1]] = np.arange(source.shape[0])[::-1]  # the first edge of each pair represents it
            low, high = np.minimum(source[one], target[one]), np.maximum(source[one], target[one])
            of_pair = of_edge[one] if graphs > 1 else of_edge
            counts = self._counts(graph, source, target, of_pair, graphs, pairs.count, runtime)
            items = Items(source, target, low, high, self._draws(graph, low, high, runtime))
            return smallest(self.keys(graph, items, runtime), items.draw, of_pair, counts, (low, high))[pairs.of_slot]
        counts = self._counts(graph, source, target, of_edge, graphs, source.shape[0], runtime)
        items = Items(source, target, source, target, self._draws(graph, source, target, runtime))
        return smallest(self.keys(graph, items, runtime), items.draw, of_edge, counts, (source, target))

    def _draws(self, graph: Graph, first: Array, second: Array, runtime: Runtime) -> Array:
        out = np.empty(first.shape[0], np.uint64)
        first_base, second_base = node_base(graph.source_ptr), node_base(graph.target_ptr)
        start = draw(self.seed, EDGE)
        runtime.spread(out.shape[0], lambda lo, hi: runtime.module.hash_ends(
            start, first, second, first_base, second_base, lo, hi, out))  # fmt: skip
        return out

    def _counts(
        self, graph: Graph, source: Array, target: Array, member: Array, graphs: int, items: int, runtime: Runtime
    ) -> Array:  # fmt: skip
        """Return how many items (edges or pairs) to keep in each graph."""
        sizes = np.bincount(member, minlength=graphs) if graphs > 1 else np.array([items])
        if self.keep is not None:
            return target_count(self.keep, sizes)
        owner, owners = oriented(self.side, source, target)[0], graph.num_owners(self.side)
        degree = np.bincount(owner, minlength=owners)
        local = np.minimum(degree, quotas(np.append(0, np.cumsum(degree)), graph, self, runtime))
        number, _ = which_graph(oriented(self.side, graph.source_ptr, graph.target_ptr)[0], owners, self.pooled)
        kept = np.bincount(number, weights=local, minlength=graphs).astype(np.int64)
        edges = np.bincount(number, weights=degree, minlength=graphs)
        share: Array = kept * sizes / np.maximum(edges, 1)
        return target_count(1.0, share)  # the same share of pairs as of edges
