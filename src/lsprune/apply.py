"""From any kind of graph to masks and back: `prune`, and what it may warn about."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from lsprune import adapters
from lsprune.adapters.base import Adapter, Kept, Key
from lsprune.errors import GraphError, IsolatedWarning, OptionError, SymmetryWarning
from lsprune.graph import Array, Graph
from lsprune.kernels import Runtime, plain, runtime
from lsprune.kernels import threads as pool
from lsprune.select import Outcome


class Masker(Protocol):
    """Anything that makes a mask from a Graph: every pruner."""

    @property
    def symmetric(self) -> str | None: ...
    @property
    def side(self) -> str: ...
    @property
    def self_loops(self) -> str: ...

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """What to keep of a graph."""


Plan = Masker | Mapping[Any, Masker]


def prune(
    data: Any,
    pruner: Plan,
    *,
    return_mask: bool = False,
    e_id: bool = False,
    rescale: bool = False,
    reverse: Mapping[Any, Any] | None = None,
    threads: int | None = None,
    executor: str | None = None,
) -> Any:
    """A new object of the same kind with the edges that `pruner` keeps; the input is never changed.

    Args:
        data: a `Graph`, numpy `[2, E]`, scipy matrix, NetworkX graph, PyG `Data`, `Batch`, `HeteroData`, list of
            `Data`, `InMemoryDataset`, `EdgeIndex`, or a torch tensor.
        pruner: a pruner; for `HeteroData` also a mapping from edge type to pruner (other relations stay whole).
        return_mask: give `(pruned, mask)`.
        e_id: put the positions of the kept edges on the result as `e_id`.
        rescale: multiply edge weights by degree / kept of their owner, so that sums keep their size.
        reverse: for `HeteroData`, the reverse of a relation where it is not named `rev_` + its name.
        threads: default LSPRUNE_THREADS, else all cores.
        executor: "cpu" (default), "gpu" (the nearest words of `Codebook` on a CUDA device, all else as "cpu") or
            "reference"; the same mask whichever.

    >>> import numpy as np
    >>> from lsprune import LocalRandom
    >>> prune(np.array([[0, 1, 2, 3], [4, 4, 4, 4]]), LocalRandom(k=2)).shape
    (2, 2)
    """
    adapter, run = adapters.find(data), runtime(threads, executor)
    graphs = adapter.graphs(data)
    masks, sides, isolated = relation_masks(graphs, pruner, reverse or {}, run)
    kept = {
        key: Kept(mask=mask, weight=owner_factors(graphs[key], mask, *sides[key]) if rescale else None, e_id=e_id)
        for key, mask in masks.items()
    }
    with pool.using(run.threads):
        result = adapter.rebuild(data, kept)
    _warn_isolated(isolated)
    return (result, adapter.masks(data, masks)) if return_mask else result


def mask(data: Any, pruner: Masker, *, threads: int | None = None, executor: str | None = None) -> Any:
    """The mask of any kind of graph: an array, a list of them (several graphs) or a dict (relations)."""
    adapter: Adapter = adapters.find(data)
    return adapter.masks(data, relation_masks(adapter.graphs(data), pruner, {}, runtime(threads, executor))[0])


def relation_masks(
    graphs: Mapping[Key, Graph], pruner: Plan, reverse: Mapping[Any, Any], run: Runtime
) -> tuple[dict[Key, Array], dict[Key, tuple[str, str]], int]:
    """For every relation that is to be pruned its mask and (side, self_loops), and how many nodes of a plain graph are
    isolated.

    Of a relation and its reverse one is pruned and the other gets the transposed mask, its owners on the other side.
    """
    if set(graphs) == {None}:
        if isinstance(pruner, Mapping):
            raise OptionError("pruner must be a single pruner for a graph without relations, got a mapping")
        found = checked_mask(graphs[None], pruner, run)
        return {None: found.mask}, {None: _owning(pruner)}, found.isolated
    plan, partner = _plan(graphs, pruner, reverse)
    masks = {key: checked_mask(graphs[key], one, run).mask for key, one in plan.items()}
    sides = {key: _owning(one) for key, one in plan.items()}
    for key in plan:
        other = partner.get(key)
        if other is not None and other not in plan:
            masks[other] = transposed(graphs[key], masks[key], graphs[other], f"{other!r} and {key!r}")
            side, loops = sides[key]
            sides[other] = ("out" if side == "in" else "in", loops)
    return masks, sides, 0


def _owning(pruner: Masker) -> tuple[str, str]:
    return pruner.side, pruner.self_loops


def _plan(
    graphs: Mapping[Key, Graph], pruner: Plan, given: Mapping[Any, Any]
) -> tuple[dict[Key, Masker], dict[Any, Any]]:
    """(which relation gets which pruner, the reverse of each relation): by the caller's word, else `rev_` + name."""
    for key in [*given, *given.values()]:
        if key not in graphs:
            raise OptionError(f"reverse must name edge types of the data, got {key!r}; it has {list(graphs)}")
    relations: list[Any] = list(graphs)
    named = {(s, name, t): (t, f"rev_{name}", s) for s, name, t in relations}
    forward = {**{key: other for key, other in named.items() if other in graphs}, **given}
    partner: dict[Any, Any] = {**{other: key for key, other in forward.items()}, **forward}
    if isinstance(pruner, Mapping):
        for key in pruner:
            if key not in graphs:
                raise OptionError(f"pruner must map edge types of the data, got {key!r}; it has {relations}")
        return dict(pruner), partner
    plan: dict[Key, Masker] = {}
    for key in sorted(relations, key=lambda key: key not in forward):  # of a pair, the one that is not the reverse
        if partner.get(key) not in plan:
            plan[key] = pruner
    return plan, partner


def transposed(graph: Graph, mask: Array, other: Graph, names: str) -> Array:
    """The mask of `other`, whose edges are those of `graph` turned round, in whatever order."""
    (s, t), (back_s, back_t) = graph.ends(), other.ends()
    order, back = np.lexsort((t, s)), np.lexsort((back_s, back_t))
    if s.shape != back_s.shape or np.any(s[order] != back_t[back]) or np.any(t[order] != back_s[back]):
        raise GraphError(
            f"{names} must hold the same edges in opposite directions; name the reverse with reverse={{…}}"
        )
    out = np.empty_like(mask)
    out[back] = mask[order]
    return out


def checked_mask(graph: Graph, pruner: Masker, run: Runtime) -> Outcome:
    """What the pruner keeps, after a word of warning if it prunes an undirected graph one direction at a time."""
    if isinstance(pruner, type) or not hasattr(pruner, "mask_graph"):
        raise OptionError(f"pruner must be a pruner such as LSP(keep=0.5), got {pruner!r}")
    found = pruner.mask_graph(graph, run)
    quiet = pruner.symmetric is not None or bool(_SAID) or graph.undirected or graph.bipartite or bool(found.mask.all())
    if not quiet and found_undirected(graph, run):
        warn_undirected()
    return found


_SAID: list[bool] = []  # the warning is given once in a process


def warn_undirected() -> None:
    """Say, once in a process, that the directions of an undirected graph are pruned one by one."""
    if not _SAID:
        _SAID.append(True)
        warnings.warn(
            "the graph is undirected, and each direction of an edge is pruned by itself: the result is directed. "
            'symmetric="union" or "intersection" keeps or removes both directions together',
            SymmetryWarning,
            stacklevel=outside(),
        )


def found_undirected(graph: Graph, run: Runtime) -> bool:
    """Whether every edge has its reverse (up to a chance of 2^-64), in one pass and without sorting."""
    source, target = (plain(end) for end in graph.ends())
    parts: list[int] = []
    run.spread(source.shape[0], lambda lo, hi: parts.append(int(run.module.balance(source, target, lo, hi))))
    return sum(parts) % 2**64 == 0


def _warn_isolated(nodes: int) -> None:
    if nodes:
        warnings.warn(
            f"pruning left {nodes} node{'s' * (nodes > 1)} without any edge; keep more, or prune by side so that every "
            "node keeps some",
            IsolatedWarning,
            stacklevel=outside(),
        )


def outside() -> int:
    """The stack level of the first caller that is not lsprune itself: where a warning belongs."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "lsprune":
        frame, level = frame.f_back, level + 1
    return level


def owner_factors(graph: Graph, mask: Array, side: str, self_loops: str = "free") -> Array:
    """degree / kept of the owner of each edge as float32; 1 for self-loops that are not counted."""
    source, target = graph.ends()
    owner, owners = (target, graph.num_targets) if side == "in" else (source, graph.num_sources)
    real = np.ones(mask.shape, bool) if graph.bipartite or self_loops == "edge" else source != target
    degree = np.bincount(owner[real], minlength=owners)
    kept = np.bincount(owner[real & mask], minlength=owners)
    factor = (degree / np.maximum(kept, 1)).astype(np.float32)
    return np.where(real, factor[owner], np.float32(1))
