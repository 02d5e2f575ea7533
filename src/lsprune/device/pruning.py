"""Prune a graph on a device: group by owner, count, make keys, choose, mask.

The host waits for the device where a number decides what comes next: for the facts about the edges (`device.graph`),
for the numbers of owners that have to choose, and at the end for what was not finite or isolated. For compressed rows
the first two are one. Keys that are sure to be needed are made while it waits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor

from lsprune.device.budget import quotas
from lsprune.device.choose import Choice, choose
from lsprune.device.graph import DeviceGraph
from lsprune.device.mask import isolated_nodes, to_mask
from lsprune.device.owners import DeviceOwned, group, neighbour_base_of_owner
from lsprune.device.pairs import symmetric_choice
from lsprune.errors import LspruneError
from lsprune.hashing.base import BLOCK_FUNCTIONS, Keys
from lsprune.kernels import Runtime, not_finite
from lsprune.kernels.gpu.quantisation import bad_rows
from lsprune.selection.choose import KeySource
from lsprune.selection.mask import Outcome
from lsprune.selection.rules import SelectionRules
from lsprune.selection.self_loops import loops_count, uncounted_loops_stay

PerOwner = Any  # `pruners.contract.PerOwner`, which stands after this


def mask_graph(pruner: PerOwner, graph: DeviceGraph, runtime: Runtime) -> Outcome:
    """Decide what to keep of a graph on a device; see `PerOwner.mask_graph`."""
    rules = pruner.rules
    mode = rules.symmetry(graph)
    needs = pruner.needs
    stay = mode is None and needs.scope == "edge" and not needs.degree
    owned = group(graph, rules, loops_may_stay=stay)
    bases = neighbour_base_of_owner(graph, rules.side)
    if mode:
        source = pruner.fitted_keys(graph, owned, None, runtime)
        taken, kept = symmetric_choice(graph, rules, mode, owned, source, bases)
        keeps = False
    else:
        taken, kept, keeps = _by_owners(pruner, graph, owned, bases, runtime)
    mask = to_mask(graph, owned, taken, rules.self_loops)
    if not loops_count(rules.self_loops, bipartite=graph.bipartite) and uncounted_loops_stay(rules.self_loops):
        kept += graph.facts.loops
    check = _begin_check(graph, owned, taken, rules, runtime, keeps=keeps)
    return Outcome(cast(Any, mask), runtime.later(check), kept)


def _by_owners(
    pruner: PerOwner, graph: DeviceGraph, owned: DeviceOwned, bases: Tensor | None, runtime: Runtime
) -> tuple[Tensor, int, bool]:
    """Return which slots are taken, how many, and whether every owner of an edge to another node keeps one."""
    rules = pruner.rules
    if rules.k is None and not graph.facts.loops:  # the edges are checked before their degrees decide
        owned = replace(owned, loops=None)
    quota, least = quotas(owned.indptr, graph, rules, owned.loops)
    source = pruner.key_source(graph, owned, runtime) if pruner.is_fitted else None
    choice, keys = Choice.of(
        owned,
        quota,
        bases,
        rules.seed,
        ranked=False,
        numbers=graph.numbers,
        meanwhile=lambda: _first_keys(source, quota, graph.num_edges),
    )
    if not graph.facts.loops and owned.loops is not None:
        choice = replace(choice, owned=replace(owned, loops=None))
    if source is None:
        always = pruner.functions_needed(2) == 1  # one key orders the edges: it is made even if no owner has a choice
        ready = pruner.fit_graph(graph, runtime) if always or choice.steps() else pruner
        source = ready.key_source(graph, owned, runtime)
    return choose(choice, source, keys), choice.kept, least > 0 and not choice.loops_alone


def _first_keys(source: KeySource | None, quota: Tensor | int, edges: int) -> Keys | None:
    """Return the keys of the first block of steps, if it is known which they are.

    An error is put off: it may be that no owner has a choice, so that no key is needed.
    """
    if source is None or not isinstance(quota, int) or not quota or not edges:
        return None
    count = 1 if source.bottom else min(quota, BLOCK_FUNCTIONS, source.functions or quota)
    try:
        return source.keys(0, count, 1 if source.bottom else quota)
    except LspruneError:
        return None


def _first_bad_edge(rows: Any, owned: DeviceOwned, found: int) -> int:
    """Return the edge that was found if it takes part, else the first whose attributes are not finite and which does.

    The number of rows if there is none.
    """
    part = torch.zeros(rows.count, dtype=torch.bool, device=rows.values.device)
    slots, owners = int(owned.neighbour.shape[0]), int(owned.indptr.shape[0]) - 1
    taking: Any = owned.edges(0, slots)
    if owned.loops is not None:
        taking = taking[torch.as_tensor(owned.neighbour) != torch.as_tensor(owned.owners(0, owners))]
    part[taking] = True
    if part[found]:
        return found
    bad = (part & bad_rows(rows.values)).nonzero()
    return int(bad[0, 0]) if bad.shape[0] else int(rows.count)


def _begin_check(
    graph: DeviceGraph, owned: DeviceOwned, taken: Tensor, rules: SelectionRules, runtime: Runtime, *, keeps: bool
) -> Callable[[], int]:
    """Count the isolated nodes; the result waits for all work, and raises GraphError for attributes not finite."""
    isolated = isolated_nodes(graph, owned, taken, rules, owners_keep=keeps)
    faults = list(runtime.faults)
    runtime.faults.clear()
    counted = [*(bad for _, bad in faults), *([] if isolated is None else [isolated])]

    def check() -> int:
        numbers = [int(counted[0])] if len(counted) == 1 else torch.stack(counted).tolist() if counted else []
        for (rows, _), first in zip(faults, numbers, strict=False):
            bad = first if first == rows.count or rows.name == "x" else _first_bad_edge(rows, owned, first)
            if bad < rows.count:
                row: Any = rows.values[bad]
                raise not_finite(rows.name, row.float().cpu().numpy(), bad)
        return 0 if isolated is None else numbers[-1]

    return check
