"""Choose edges, or pairs of edges, over a whole graph on a device; see `pruners.global_pruner`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor

from lsprune.device.budget import quotas, target_count
from lsprune.device.edge_keys import end_hashes
from lsprune.device.graph import DeviceGraph
from lsprune.device.mask import outcome
from lsprune.device.owners import which_graph
from lsprune.device.pairs import lexsort, pair_up
from lsprune.graph import oriented
from lsprune.kernels import Runtime
from lsprune.kernels.gpu.splitmix import signed
from lsprune.numeric.weighted_sampling import EXACT_LOG_UNIT, log_times
from lsprune.selection.items import Items
from lsprune.selection.mask import Outcome
from lsprune.selection.self_loops import loops_count, uncounted_loops_stay
from lsprune.selection.unbiased import Draws

GlobalPruner = Any  # `pruners.global_pruner.GlobalPruner`, which stands after this


def mask_graph(pruner: GlobalPruner, graph: DeviceGraph, runtime: Runtime) -> Outcome:
    """Keep the items with the smallest keys, as many as the budget says."""
    source: Any
    target: Any
    source, target = (cast(Any, end).long() for end in graph.ends())
    if loops_count(pruner.self_loops, bipartite=graph.bipartite) or not graph.facts.loops:
        return outcome(graph, _chosen(pruner, graph, source, target, runtime))
    stay = uncounted_loops_stay(pruner.self_loops)
    mask = torch.full((graph.num_edges,), stay, dtype=torch.bool, device=graph.device)
    edges = torch.nonzero_static(source != target, size=graph.num_edges - graph.facts.loops)[:, 0]
    mask[edges] = _chosen(pruner, graph, source[edges], target[edges], runtime)
    return outcome(graph, mask)


def _chosen(pruner: GlobalPruner, graph: DeviceGraph, source: Tensor, target: Tensor, runtime: Runtime) -> Tensor:
    """Mark the edges to keep among those that take part."""
    member, graphs = which_graph(graph.target_ptr, graph.num_targets, pruner.pooled, graph.device)
    of_edge = member[target] if graphs > 1 else None
    if not pruner.symmetry(graph):
        items = _items(pruner, graph, source, target, source, target)
        counts = _counts(pruner, graph, source, target, of_edge, graphs, source.shape[0])
        return _smallest_of(items, pruner.keys(graph, items, runtime), of_edge, counts)
    pairs = pair_up(source, target, graph.num_nodes)
    place = torch.arange(source.shape[0], device=graph.device)
    one = torch.full((pairs.count,), source.shape[0], device=graph.device)
    one.scatter_reduce_(0, pairs.of_slot, place, "amin")  # the first edge of each pair represents it
    of_pair = None if of_edge is None else of_edge[one]
    ends = torch.stack([source[one], target[one]])
    items = _items(pruner, graph, source, target, ends.amin(0), ends.amax(0))
    counts = _counts(pruner, graph, source, target, of_pair, graphs, pairs.count)
    return _smallest_of(items, pruner.keys(graph, items, runtime), of_pair, counts)[pairs.of_slot]


def _smallest_of(items: Items, keys: Any, member: Tensor | None, counts: Tensor) -> Tensor:
    draws: Any = items.draw
    ends: Any = (items.first, items.second)
    return smallest(keys, draws, member, counts, ends)


def edge_draws(pruner: GlobalPruner, graph: DeviceGraph, runtime: Runtime) -> Draws:
    """Return what was drawn for the edges that take part; see `GlobalPruner.unbiased_factors`."""
    source, target = (cast(Any, end).long() for end in graph.ends())
    all_count = loops_count(pruner.self_loops, bipartite=graph.bipartite)
    edge = (torch.ones_like(source, dtype=torch.bool) if all_count else source != target).nonzero()[:, 0]
    source, target = source[edge], target[edge]
    member, graphs = which_graph(graph.target_ptr, graph.num_targets, pruner.pooled, graph.device)
    pair = source * graph.num_targets + target
    draws = Draws(*cast(Any, (edge, member[target], graphs, "graph", pair)))
    if not pruner.weighted:
        return draws
    items = _items(pruner, graph, source, target, source, target)
    none: Any = torch.zeros(1, dtype=torch.int64, device=graph.device)
    keys, times = pruner.keys(graph, items, runtime), log_times(items.draw, none, runtime)
    return replace(draws, keys=keys, offsets=keys - times, unit=EXACT_LOG_UNIT)


def _items(
    pruner: GlobalPruner, graph: DeviceGraph, source: Tensor, target: Tensor, first: Tensor, second: Tensor
) -> Items:
    """Return items of tensors; their draws are int64 with the bits of the host's uint64."""
    draws = end_hashes(graph, first, second, pruner.seed)
    return Items(*cast(Any, (source, target, first, second, draws)))


def _counts(
    pruner: GlobalPruner, graph: DeviceGraph, source: Tensor, target: Tensor, member: Tensor | None, graphs: int,
    items: int,
) -> Tensor:  # fmt: skip
    """Return how many items (edges or pairs) to keep in each graph."""
    one_size = torch.tensor([items], device=graph.device)
    sizes = one_size if member is None else torch.bincount(member, minlength=graphs)
    if pruner.keep is not None:
        return target_count(pruner.keep, sizes)
    owner, owners = oriented(pruner.side, source, target)[0], graph.num_owners(pruner.side)
    degree = torch.bincount(owner, minlength=owners)
    ptr = oriented(pruner.side, graph.source_ptr, graph.target_ptr)[0]
    number, _ = which_graph(ptr, owners, pruner.pooled, graph.device)
    quota: Any = quotas(torch.cat([degree.new_zeros(1), degree.cumsum(0)]), graph, pruner)[0]
    kept, edges = (
        torch.zeros(graphs, dtype=torch.int64, device=graph.device).index_add_(0, number, values)
        for values in (degree.clamp(max=quota), degree)
    )
    share = (kept * sizes).double() / edges.clamp(min=1).double()
    return target_count(1.0, share)  # the same share of pairs as of edges


def smallest(keys: Tensor, draws: Tensor, member: Tensor | None, counts: Tensor, ends: tuple[Tensor, Tensor]) -> Tensor:
    """Mark the counts[g] items of each graph that come first by key, then draw as uint64, then position.

    As in `selection.items.smallest`, `ends` come before position if all graphs have one budget.
    """
    order_of_draws = draws ^ signed(1 << 63)
    if keys is draws:
        keys = order_of_draws
    if member is None:
        return _smallest_of_all(keys, order_of_draws, int(counts[0]), ends)
    order = lexsort(keys, member) if keys is order_of_draws else lexsort(order_of_draws, keys, member)
    of_order = member[order]
    start = torch.searchsorted(of_order, torch.arange(counts.shape[0], device=keys.device))
    selected = torch.zeros(keys.shape, dtype=torch.bool, device=keys.device)
    first = torch.arange(order.shape[0], device=keys.device) - start[of_order] < counts[of_order]
    selected[order] = first
    return selected


def _smallest_of_all(keys: Tensor, draws: Tensor, count: int, ends: tuple[Tensor, Tensor]) -> Tensor:
    if count >= keys.shape[0]:
        return torch.ones(keys.shape, dtype=torch.bool, device=keys.device)
    limit = torch.sort(keys).values[count]
    selected = keys < limit
    equal = (keys == limit).nonzero()[:, 0]
    rest = count - int(selected.sum())
    first, second = (end[equal] for end in ends)
    selected[equal[lexsort(second, first, draws[equal])][:rest]] = True
    return selected
