"""Masks of a graph and of the relations of a heterogeneous graph, and the warning about undirected graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lsprune.adapters.arrays import cut_edges
from lsprune.adapters.base import Key
from lsprune.checks import check_pruner
from lsprune.errors import GraphError, OptionError, SymmetryWarning, warn
from lsprune.graph import Array, Graph, other_side
from lsprune.kernels import Runtime, plain
from lsprune.numeric.random_numbers import is_tensor
from lsprune.pruners.shared_budget import SharedBudget
from lsprune.selection.mask import Outcome
from lsprune.selection.rescale import owner_factors

if TYPE_CHECKING:
    from lsprune.pruners.contract import Pruner

# One pruner, or one for each relation, with budgets of their own or one that they share.
Plan: TypeAlias = "Pruner | Mapping[Any, Pruner] | SharedBudget"


@dataclass(frozen=True, eq=False)
class RelationMasks:
    """The masks of all relations that were pruned."""

    masks: dict[Key, Array]
    rules: dict[Key, tuple[str, str]]  # side and self_loops of the pruner of each relation
    isolated: int  # nodes left without an edge; 0 for a graph of several relations
    kept: dict[Key, int | None] = field(default_factory=dict)  # numbers of edges that masks keep, where known
    pruners: dict[Key, Pruner] = field(default_factory=dict)  # of the relations that were not turned round
    turned: dict[Key, Key] = field(default_factory=dict)  # relations with the mask of another, turned round


def pruners_of(plan: Plan) -> list[Pruner]:
    """Return all pruners of a plan."""
    if isinstance(plan, SharedBudget):
        return plan.pruners()
    return list(plan.values()) if isinstance(plan, Mapping) else [plan]


def check_plan(plan: Any) -> None:
    """Raise OptionError unless it is a pruner, a mapping from relation to pruner, or a budget that relations share."""
    for pruner in pruners_of(plan):
        check_pruner(pruner)


def relation_masks(graphs: Mapping[Key, Graph], plan: Plan, reverse: Mapping[Any, Any], run: Runtime) -> RelationMasks:
    """Prune every relation that is to be pruned.

    Of a relation and its reverse, one is pruned and the other gets the transposed mask, with owners on the other side.
    """
    shared = plan if isinstance(plan, SharedBudget) else None
    pruner = plan.pruner if isinstance(plan, SharedBudget) else plan
    if set(graphs) == {None}:
        if isinstance(pruner, Mapping):
            raise OptionError("pruner must be a single pruner for a graph without relations, got a mapping")
        pruner = shared.divided(graphs, {None: pruner}, {})[None] if shared else pruner
        outcome = checked_mask(graphs[None], pruner, run)
        of_pruner = (pruner.side, pruner.self_loops)
        kept: dict[Key, int | None] = {None: outcome.kept}
        return RelationMasks({None: outcome.mask}, {None: of_pruner}, outcome.isolated, kept, {None: pruner})
    pruners, partner = _plan(graphs, pruner, reverse)
    turned = {partner[key]: key for key in pruners if key in partner and partner[key] not in pruners}
    pruners = shared.divided(graphs, pruners, turned) if shared else pruners
    masks = {key: checked_mask(graphs[key], chosen, run).mask for key, chosen in pruners.items()}
    rules = {key: (chosen.side, chosen.self_loops) for key, chosen in pruners.items()}
    for other, key in turned.items():
        masks[other] = transposed(graphs[key], masks[key], graphs[other], f"{other!r} and {key!r}")
        side, self_loops = rules[key]
        rules[other] = (other_side(side), self_loops)
    return RelationMasks(masks, rules, 0, {}, pruners, turned)


def relation_factors(graphs: Mapping[Key, Graph], results: RelationMasks, rescale: Any, run: Runtime) -> dict[Key, Any]:
    """Return factors for the edges of every relation that was pruned; none if `rescale` is False.

    Unbiased factors belong to edges, whoever sums them up, so a relation that was turned round has those of the other.
    """
    if rescale != "unbiased":
        return {key: _factors_of_owners(graphs, results, key) for key in (results.masks if rescale else ())}
    factors = {
        key: pruner.unbiased_factors(graphs[key], results.masks[key], run) for key, pruner in results.pruners.items()
    }
    for other, key in results.turned.items():
        factors[other] = transposed(graphs[key], factors[key], graphs[other], f"{other!r} and {key!r}")
    return factors


def _factors_of_owners(graphs: Mapping[Key, Graph], results: RelationMasks, key: Key) -> Array:
    """Return degree / kept of the owner of each edge; edges that were ruled out beforehand do not count."""
    graph, mask, forward = graphs[key], results.masks[key], results.turned.get(key, key)
    allowed = results.pruners[forward].allowed(graphs[forward])
    if allowed is None:
        return owner_factors(graph, mask, *results.rules[key])
    if forward != key:
        allowed = transposed(graphs[forward], allowed, graph, f"{key!r} and {forward!r}")
    factors = np.ones(mask.shape, np.float32)
    factors[allowed] = owner_factors(cut_edges(graph, allowed), mask[allowed], *results.rules[key])
    return factors


def _plan(
    graphs: Mapping[Key, Graph], pruner: Pruner | Mapping[Any, Pruner], reverse: Mapping[Any, Any]
) -> tuple[dict[Key, Pruner], dict[Any, Any]]:
    """Return which relation gets which pruner, and the reverse of each relation.

    The reverse is the one that the caller names, else the one that is called `rev_` + name.
    """
    for key in [*reverse, *reverse.values()]:
        if key not in graphs:
            raise OptionError(f"reverse must name edge types of the data, got {key!r}; it has {list(graphs)}")
    relations: list[Any] = list(graphs)
    named = {(s, name, t): (t, f"rev_{name}", s) for s, name, t in relations}
    forward = {**{key: other for key, other in named.items() if other in graphs}, **reverse}
    partner: dict[Any, Any] = {**{other: key for key, other in forward.items()}, **forward}
    if isinstance(pruner, Mapping):
        for key in pruner:
            if key not in graphs:
                raise OptionError(f"pruner must map edge types of the data, got {key!r}; it has {relations}")
        return dict(pruner), partner
    plan: dict[Key, Pruner] = {}
    for key in sorted(relations, key=lambda key: key not in forward):  # of a pair, the one that is not the reverse
        if partner.get(key) not in plan or getattr(pruner, "each_direction", False):
            plan[key] = pruner
    return plan, partner


def transposed(graph: Graph, values: Array, other: Graph, names: str) -> Array:
    """The values of `other`, whose edges are those of `graph` turned round, in whatever order: a mask, or factors."""
    (s, t), (back_s, back_t) = graph.ends(), other.ends()
    order, back = _lexsort(t, s), _lexsort(back_s, back_t)
    if s.shape != back_s.shape or bool((s[order] != back_t[back]).any() or (t[order] != back_s[back]).any()):
        raise GraphError(
            f"{names} must hold the same edges in opposite directions; name the reverse with reverse={{…}}"
        )
    out: Array = values[order]
    out[back] = values[order]
    return out


def _lexsort(second: Array, first: Array) -> Array:
    """Return the order by `first`, then `second`, of arrays or tensors."""
    if not is_tensor(first):
        return np.lexsort((second, first))
    order: Array = import_module("lsprune.device.pairs").lexsort(second, first)
    return order


def checked_mask(graph: Graph, pruner: Pruner, run: Runtime) -> Outcome:
    """Prune one graph; warn if it is undirected and each direction of an edge was pruned by itself."""
    check_pruner(pruner)
    outcome = pruner.mask_graph(graph, run)
    may_warn = not (_warned or pruner.symmetric or graph.undirected or graph.bipartite or _keeps_all(graph, outcome))
    if may_warn and is_undirected(graph, run):
        warn_undirected()
    return outcome


def _keeps_all(graph: Graph, outcome: Outcome) -> bool:
    return bool(outcome.mask.all()) if outcome.kept is None else outcome.kept == graph.num_edges


_warned: list[bool] = []  # not empty once the warning was given in this process


def warn_undirected() -> None:
    """Warn, once in a process, that the two directions of an undirected edge are pruned one by one."""
    if not _warned:
        _warned.append(True)
        warn(
            "the graph is undirected, and each direction of an edge is pruned by itself: the result is directed. "
            'symmetric="union" or "intersection" keeps or removes both directions together',
            SymmetryWarning,
        )


def is_undirected(graph: Graph, run: Runtime) -> bool:
    """Test whether every edge has its reverse (wrong with probability 2^-64), in one pass and without sorting."""
    if run.device is not None:
        return bool(import_module("lsprune.device.graph").is_undirected(graph))
    source, target = (plain(end) for end in graph.ends())
    balances: list[int] = []
    run.spread(source.shape[0], lambda lo, hi: balances.append(int(run.module.reverse_balance(source, target, lo, hi))))
    return sum(balances) % 2**64 == 0
