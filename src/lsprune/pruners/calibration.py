"""`hash="auto"`: which family, options and parts of an edge's description keep the same edges under noise. No labels.

Some owners' edges are taken twice, the second time with noise on every attribute and with the nodes renamed, so that
nothing but the attributes can tell which edge is which. The candidate wins whose two selections overlap most: first a
few families on all parts, then all options on the best parts. Weights and the rule for ties are left out of it.

`weights="auto"`: owners that keep few of their edges prefer neighbours that are like them, where noise changes who
these are no more than it changes what the best candidate keeps. Little is left to the hash then: a projection will do.
Where many edges are kept, a fair sample of the neighbours says more than a choice of the like.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lsprune.attributes import PARTS, Part, describe, is_category
from lsprune.errors import ConstantWarning
from lsprune.graph import Array, Graph, Owned
from lsprune.hashing import Auto, Bins, Codebook, Family, Projection, Signs, Threshold
from lsprune.kernels import BLOCK_VALUES, Runtime
from lsprune.numeric.normal_table import UNIT, normal
from lsprune.numeric.quantisation import check_finite
from lsprune.numeric.random_numbers import NOISE, draw
from lsprune.selection.owners import group
from lsprune.weights.surroundings import around, comparable, tried

if TYPE_CHECKING:
    from lsprune.pruners.lsp import LSP

LEARN = 1 << 18  # edges that candidates learn from
TRY = 1 << 13  # edges of the owners whose choices are compared
HUGE = 1 << 8  # edges of one owner that are compared
VALUES = 1 << 24  # numbers in the rows of the edges compared: fewer edges where rows are very wide
STEPS = 2  # edges that each of these owners keeps
FEW = 1 << 9  # edges that are compared at least,
AROUND = 1 << 17  # where their ends have more neighbours than this
CLOSE = 0.02  # of overlap that is given for neighbours that are like the owner
MANY = 1 / 3  # of the edges kept: from here on neighbours like the owner are not preferred

FAMILIES: tuple[Family, ...] = (Projection(), Codebook(), Signs(bits=6), Threshold())
WITH_OWNER: tuple[Family, ...] = (Signs(bits=6), Threshold())  # the owner is nothing to a projection without bins
OPTIONS: tuple[Family, ...] = (
    Codebook(),
    *(Bins(length=length) for length in (0.5, 1.0, 2.0, 4.0)),
    *(Signs(bits=bits) for bits in (2, 4, 8, 12, 16)),
    *(Threshold(sparsity=sparsity) for sparsity in (2, 4, 12)),
    Threshold(mean=1.0),
)

Parts = tuple[str, ...]
Candidate = tuple[Family, Parts]


@dataclass(frozen=True, eq=False)
class _Trials:
    """What every candidate is tried on."""

    rules: LSP  # the pruner as it is tried
    learn: Graph
    clean: Graph
    noisy: Graph
    sizes: Mapping[str, int]  # of categories, in the whole graph
    run: Runtime

    def scored(self, candidates: Iterable[Candidate]) -> Iterator[tuple[float, Candidate]]:
        """Each candidate with the overlap of its two selections; scales are found once for all that share parts."""
        ready: dict[Parts, LSP] = {}
        for family, parts in candidates:
            fitted = ready.get(parts)
            if fitted is None or family.learns:
                fitted = self._fitted(family, parts)
                ready.setdefault(parts, dataclasses.replace(fitted, learned=None))
            yield self._overlap(dataclasses.replace(fitted, hash=family)), (family, parts)

    def _fitted(self, family: Family, parts: Parts) -> LSP:
        """The candidate after learning; constant parts are no news, as nobody has asked for them."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantWarning)
            trial = dataclasses.replace(self.rules, hash=family, attributes=parts)
            return trial.fitted_on(self.learn, self.run, self.sizes)

    def _overlap(self, fitted: LSP) -> float:
        one, other = (fitted.mask_graph(graph, self.run).mask for graph in (self.clean, self.noisy))
        return _overlap(one, other, self.clean.ends()[1 if fitted.side == "in" else 0])


def calibrated(pruner: LSP, graph: Graph, run: Runtime) -> LSP:
    """The pruner with the candidate that is most stable; the first of equals, and where no owner has two edges."""
    plain = dataclasses.replace(pruner, weights=None) if pruner.weights == "auto" else pruner
    found = _scored(plain, graph, run)
    if pruner.weights == "auto":
        weighted = dataclasses.replace(plain, weights="similarity")
        able = [one for one in found if _takes_weights(one[1][0], weighted)]
        scarce = comparable(graph) and _share(plain, graph, run) < MANY
        if able and scarce and _alike(plain, graph, run) >= _stable(plain, graph, found, run) - CLOSE:
            plain, found = weighted, [one for one in able if one[1][0] == Projection()] or able
    family, chosen = _best(found)
    return dataclasses.replace(plain, hash=family, attributes=chosen)


def _scored(pruner: LSP, graph: Graph, run: Runtime) -> list[tuple[float, Candidate]]:
    """All candidates with what they are worth: the first ones, then those with the parts of the best of these."""
    only = not isinstance(pruner.family, Auto)
    if only and not pruner.family.needs_attributes:
        return [(0.0, (pruner.family, pruner.attributes))]  # other numbers of the nodes are other edges
    parts = describe(graph, pruner.side, PARTS, seed=pruner.seed)
    check_finite({role: part for role, part in parts.items() if not part.categories}, run)
    first = [(pruner.family, pruner.attributes)] if only else _families_on(parts, pruner)
    trials = _trials(pruner, graph, parts, run)
    if trials is None:
        return [(0.0, first[0])]
    found = list(trials.scored(first))
    return found if only else [*found, *trials.scored(_options_on(_best(found)[1], first, pruner))]


def _stable(pruner: LSP, graph: Graph, found: list[tuple[float, Candidate]], run: Runtime) -> float:
    """How stable the best candidate is; a projection of the neighbour where the hash looks at no attributes."""
    if pruner.family.needs_attributes:
        return max(score for score, _ in found)
    other = dataclasses.replace(pruner, hash=Projection(), attributes=("neighbour",))
    return max(score for score, _ in _scored(other, graph, run))


def _share(pruner: LSP, graph: Graph, run: Runtime) -> float:
    """The share of the edges that the pruner is asked to keep."""
    if pruner.keep is not None:
        return float(pruner.keep)
    assert pruner.k is not None
    degree = np.diff(group(graph, pruner, run).indptr)
    return int(np.minimum(degree, pruner.k).sum()) / max(int(degree.sum()), 1)


def _alike(pruner: LSP, graph: Graph, run: Runtime) -> float:
    """The overlap of the neighbours that are most like the owners, without and with noise; -1 where none can be."""
    owned = group(graph, pruner, run)
    steps, most = _steps(owned), TRY
    if not comparable(graph) or not steps:
        return -1.0
    slots = _some(graph, owned, pruner.seed, steps, most, HUGE)
    while most > FEW and around(owned, slots) > AROUND:
        most //= 2
        slots = _some(graph, owned, pruner.seed, steps, most, HUGE)
    slots = _in_order(graph, owned, slots)
    owner = np.searchsorted(owned.indptr, slots, side="right") - 1
    near = tried(graph, owned, pruner.side, slots, pruner.seed, run)
    clean = near(0.0)
    if clean.min() == clean.max():
        return -1.0  # nobody is more like the owner than others
    one, other = (_first(values, owner, steps) for values in (clean, near(_noise(pruner))))
    return _overlap(one, other, np.unique(owner, return_inverse=True)[1])


def _first(values: Array, owner: Array, steps: int) -> Array:
    """Which of each owner's values are its `steps` largest; owners lie together."""
    order = np.lexsort((-values, owner))
    rank = np.arange(owner.shape[0]) - np.searchsorted(owner, owner)
    out = np.zeros(owner.shape[0], np.bool_)
    out[order] = rank < steps
    return out


def _noise(pruner: LSP) -> float:
    return pruner.family.noise if isinstance(pruner.family, Auto) else Auto().noise


def _steps(owned: Owned) -> int:
    """Edges that an owner keeps in a trial; 0 where none has a choice. Owners of two edges at most keep one of them."""
    return max(min(STEPS, int(np.diff(owned.indptr).max(initial=0)) - 1), 0)


def _best(found: list[tuple[float, Candidate]]) -> Candidate:
    return max(found, key=lambda one: one[0])[1]  # max gives the first of equals


def _families_on(roles: Iterable[str], pruner: LSP) -> list[Candidate]:
    """A few families on every set of parts that the graph has; the owner alone only where there is nothing else."""
    others = [role for role in PARTS if role in roles and role != "owner"]
    sets: list[Parts] = [(role,) for role in others]
    sets += [tuple(others)] * (len(others) == 2)
    pairs = [(family, chosen) for chosen in sets or [("owner",)] for family in FAMILIES]
    if "owner" in roles:
        pairs += [(family, ("owner", *chosen)) for chosen in sets for family in WITH_OWNER]
    return [pair for pair in pairs if _takes_weights(pair[0], pruner)]


def _options_on(parts: Parts, tried: list[Candidate], pruner: LSP) -> list[Candidate]:
    """All options on these parts that were not tried yet."""
    pairs = [(family, parts) for family in OPTIONS if _takes_weights(family, pruner)]
    return [pair for pair in pairs if pair not in tried]


def _takes_weights(family: Family, pruner: LSP) -> bool:
    """Whether the family's keys can be weighted, where the pruner does that; see `Family.doubling`."""
    plain = family == Projection() and pruner.values == "unit"
    return pruner.weights is None or family.hashed or plain


def _trials(pruner: LSP, graph: Graph, parts: Mapping[str, Part], run: Runtime) -> _Trials | None:
    """What to try candidates on; None where no owner has a choice."""
    owned = group(graph, pruner, run)
    steps = _steps(owned)
    if not steps:
        return None
    width = max((part.rows.dim for part in parts.values() if not part.categories), default=1)
    most = min(TRY, max(VALUES // max(width, 1), HUGE))
    learn = _graph(graph, owned, pruner.side, _some(graph, owned, pruner.seed, 0, LEARN, LEARN))
    tried = _in_order(graph, owned, _some(graph, owned, pruner.seed, steps, most, HUGE))
    clean = _graph(graph, owned, pruner.side, tried)
    noisy = _disturbed(clean, _noise(pruner), pruner.seed)
    rules = dataclasses.replace(pruner, k=steps, keep=None, symmetric=None, ties="hash", weights=None)
    return _Trials(rules, learn, clean, noisy, {role: part.categories for role, part in parts.items()}, run)


def _some(graph: Graph, owned: Owned, seed: int, least: int, most: int, each: int) -> Array:
    """Slots of some owners with more than `least` edges: `most` slots in all and `each` of one owner, at most."""
    degree = np.diff(owned.indptr)
    able = np.flatnonzero(degree > least)
    order = able[np.argsort(draw(seed, NOISE, 0, able), kind="stable")]
    before = np.append(0, np.cumsum(np.minimum(degree[order], each)))
    count = int(np.searchsorted(before[1:], most, side="right"))
    slots = [_slots(graph, owned, seed, int(owner), each) for owner in np.sort(order[:count])]
    if (room := most - int(before[count])) > least and count < order.shape[0]:
        slots.append(_slots(graph, owned, seed, int(order[count]), room))
    return np.concatenate(slots)


def _slots(graph: Graph, owned: Owned, seed: int, owner: int, each: int) -> Array:
    """The owner's slots; of more than `each`, those whose neighbours have the smallest names, in any order of edges."""
    slots = np.arange(owned.indptr[owner], owned.indptr[owner + 1])
    if slots.shape[0] <= each:
        return slots
    names = draw(seed, NOISE, 1, owner, owned.neighbour[slots])
    near = np.flatnonzero(names <= np.partition(names, each - 1)[each - 1])  # more than `each` if edges are parallel
    order = np.lexsort((_content(graph.edge_attr, _edges(owned, slots[near])), names[near]))
    return slots[near[order[:each]]]


def _in_order(graph: Graph, owned: Owned, slots: Array) -> Array:
    """The slots by owner, neighbour and content, so that nothing that follows depends on the order of edges."""
    owner = np.searchsorted(owned.indptr, slots, side="right")
    content = _content(graph.edge_attr, _edges(owned, slots))
    return np.asarray(slots[np.lexsort((content, owned.neighbour[slots], owner))])


def _edges(owned: Owned, slots: Array) -> Array:
    return slots if owned.edge is None else owned.edge[slots]


def _graph(graph: Graph, owned: Owned, side: str, slots: Array) -> Graph:
    """The edges in these slots as a graph of owners and neighbours, which are numbered anew."""
    owner = np.searchsorted(owned.indptr, slots, side="right") - 1
    ends = (owned.neighbour[slots], owner) if side == "in" else (owner, owned.neighbour[slots])
    nodes, places = zip(*(np.unique(end, return_inverse=True) for end in ends), strict=True)
    return Graph.from_edges(
        np.stack(places),
        num_nodes=(nodes[0].shape[0], nodes[1].shape[0]),
        x=(_taken(graph.x_source, nodes[0]), _taken(graph.x_target, nodes[1])),
        edge_attr=_taken(graph.edge_attr, _edges(owned, slots)),
    )


def _taken(rows: Any, ids: Array) -> Any:
    """Some rows, sparse ones as sparse."""
    if rows is None:
        return None
    return rows.tocsr()[ids] if hasattr(rows, "tocsr") else rows[ids]


def _disturbed(graph: Graph, noise: float, seed: int) -> Graph:
    """The same edges in the same order with noise on their attributes and their nodes, which get other numbers."""
    sides = [
        _renamed(end, x, count, noise, seed, side)
        for side, (end, x, count) in enumerate(
            zip(graph.ends(), graph.x, (graph.num_sources, graph.num_targets), strict=True)
        )
    ]
    return Graph.from_edges(
        np.stack([end for end, _ in sides]),
        num_nodes=(graph.num_sources, graph.num_targets),
        x=tuple(x for _, x in sides),
        edge_attr=_noisy(graph.edge_attr, noise, seed, 2),
    )


def _renamed(end: Array, x: Any, count: int, noise: float, seed: int, side: int) -> tuple[Array, Any]:
    """One end of every edge and the attributes of its nodes, after the nodes got other numbers."""
    names = np.argsort(draw(seed, NOISE, 2, side, np.arange(count)), kind="stable")  # new number -> old
    return np.argsort(names)[end], _taken(_noisy(x, noise, seed, side), names)


def _noisy(rows: Any, noise: float, seed: int, kind: int) -> Any:
    """Rows with normal noise on every column that has numbers; one integer column is a category and stays."""
    if rows is None or is_category(rows):
        return rows
    values = _flat(rows, np.arange(rows.shape[0]))
    scale = values.std(0, dtype=np.float64) * (noise / UNIT)
    most, columns = float(np.finfo(np.float32).max), np.arange(values.shape[1])[None, :]
    for some in _blocks(*values.shape):
        drawn = normal(draw(seed, NOISE, 3, kind, np.arange(some.start, some.stop)[:, None], columns))
        values[some] = np.clip(values[some] + drawn * scale, -most, most)
    return values


def _content(rows: Any, ids: Array) -> Array:
    """A number for what each of some rows holds; 0 without rows."""
    out = np.zeros(ids.shape[0], np.uint64)
    if rows is None:
        return out
    rows = rows.tocsr() if hasattr(rows, "tocsr") else rows
    factors = draw(0, NOISE, np.arange(math.prod(rows.shape[1:])))
    for some in _blocks(ids.shape[0], factors.shape[0]):
        bits = (_flat(rows, ids[some]) + np.float32(0)).view(np.uint32)  # -0 becomes 0, as in sparse rows
        with np.errstate(over="ignore"):
            out[some] = (bits.astype(np.uint64) * factors).sum(1, dtype=np.uint64)
    return out


def _blocks(count: int, width: int) -> Iterator[slice]:
    """Rows at a time, few where they are wide."""
    size = max(BLOCK_VALUES // 4 // max(width, 1), 1)
    return (slice(lo, min(lo + size, count)) for lo in range(0, count, size))


def _flat(rows: Any, ids: Array) -> Array:
    """Some rows as a new array `[ids, columns]` float32."""
    some = _taken(rows, ids)
    dense = some.toarray() if hasattr(some, "toarray") else some
    return np.array(dense.reshape(ids.shape[0], math.prod(rows.shape[1:])), dtype=np.float32, order="C")


def _overlap(one: Array, other: Array, owner: Array) -> float:
    """The mean Jaccard overlap of two selections, over the owners, each of whom had to choose."""
    both, either = (np.bincount(owner, weights=values) for values in (one & other, one | other))
    return float((both / either).mean())
