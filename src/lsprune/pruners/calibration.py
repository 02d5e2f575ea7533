"""`hash="auto"` and `weights="auto"`: what `fit` chooses, without labels, by what stays the same under noise.

The hash: some owners choose twice, the second time with noise on every attribute and with the nodes renumbered, so that
only the attributes tell which edge is which. The candidate wins whose two selections overlap most: first a few families
on all parts, then all options on the best parts. Weights and the tie rule are left out of it.

The weights: with labels of training nodes (`y` and `train_mask`), the recommended product with labels, unless
neighbours have independent labels: then it does not help to know whether both ends have the same one. Without labels,
owners that keep few of their edges prefer similar neighbours. When many edges are kept, a random sample of the
neighbours is more informative than the most similar ones. Of several graphs, of edges with attributes, and with a
hash that is given, similar neighbours are preferred only if noise changes who is similar no more than it changes what
the best candidate keeps. Where the hash is to be chosen too, the recommended product alone decides: each owner keeps
the edges of largest weight.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lsprune.attributes import PARTS, Part, describe
from lsprune.errors import ConstantWarning, GraphError, LabelsWarning, OptionError, warn
from lsprune.graph import UNUSABLE_MASK, Array, Graph, Owned
from lsprune.hashing import Auto, Bins, Codebook, Constant, Family, Projection, Signs, Threshold
from lsprune.kernels import Runtime
from lsprune.numeric.quantisation import Scale, check_finite
from lsprune.numeric.random_numbers import is_tensor
from lsprune.pruners.calibration_graphs import (
    disturbed_graph,
    in_host_memory,
    sample_slots,
    slots_in_order,
    slots_to_graph,
)
from lsprune.pruners.fitted import FittedLSP
from lsprune.selection.owners import group
from lsprune.weights import Similarity, Weight
from lsprune.weights.assortativity import labels_are_assortative
from lsprune.weights.labels import training_labels
from lsprune.weights.recommended import WITH_LABELS, WITHOUT_LABELS, scaled
from lsprune.weights.surroundings import comparable, count_surrounding_edges, ends_of, noisy_cosines
from lsprune.weights.teacher import MAX_COLUMNS

if TYPE_CHECKING:
    from lsprune.pruners.lsp import LSP

MAX_LEARNING_EDGES = 1 << 18  # that candidates learn from
MAX_TRIAL_EDGES = 1 << 13  # of the owners whose choices are compared
MAX_OWNER_EDGES = 1 << 8  # of one owner that are compared
MAX_TRIAL_VALUES = 1 << 24  # numbers in the rows of the edges compared: fewer edges if rows are very wide
TRIAL_STEPS = 2  # edges that each of these owners keeps
MIN_TRIAL_EDGES = 1 << 9  # that are compared at least,
MAX_SURROUNDING_EDGES = 1 << 17  # if their ends have more edges than this
OVERLAP_TOLERANCE = 0.02  # by which similar neighbours, or a candidate, may overlap less than the best
FEW_EDGES_SHARE = 1 / 3  # of the edges kept: from here on similar neighbours are not preferred

FIRST_FAMILIES: tuple[Family, ...] = (Projection(), Codebook(), Signs(bits=6), Threshold())
FAMILIES_WITH_OWNER: tuple[Family, ...] = (Signs(bits=6), Threshold())  # a projection without bins ignores the owner
FAMILY_OPTIONS: tuple[Family, ...] = (
    Codebook(),
    *(Bins(length=length) for length in (0.5, 1.0, 2.0, 4.0)),
    *(Signs(bits=bits) for bits in (2, 4, 8, 12, 16)),
    *(Threshold(sparsity=sparsity) for sparsity in (2, 4, 12)),
    Threshold(mean=1.0),
)

Parts = tuple[str, ...]
Scales = tuple[tuple[str, Scale], ...]


@dataclass(frozen=True)
class Candidate:
    """A family on some parts of an edge's description."""

    family: Family
    parts: Parts


@dataclass(frozen=True)
class Scored:
    """A candidate and the overlap of its two selections."""

    overlap: float
    candidate: Candidate


@dataclass(frozen=True, eq=False)
class _Trials:
    """What every candidate is tried on. Of a graph on a device, they learn there; the few edges compared are here."""

    pruner: LSP  # as it is tried
    learning: Graph  # where the whole graph is
    clean: Graph  # in host memory
    noisy: Graph
    sizes: Mapping[str, int]  # of categories, in the whole graph
    run: Runtime

    def score(self, candidates: Iterable[Candidate], highest: float = 0.0) -> Iterator[Scored]:
        """Score each candidate; scales are computed once for all that share parts.

        Families that learn take most of the time. Leave them out once the two selections of another candidate are
        nearly the same.

        Args:
            highest: the best overlap before.
        """
        known: dict[Parts, Scales] = {}
        for candidate in candidates:
            if candidate.family.learns and highest >= 1 - OVERLAP_TOLERANCE:
                continue
            options = dataclasses.replace(self.pruner, hash=candidate.family, attributes=candidate.parts)
            if candidate.parts in known and not candidate.family.learns:
                fitted = FittedLSP(options=options, scales=known[candidate.parts])
            else:
                fitted = self._fit(options)
                known.setdefault(candidate.parts, fitted.scales)
            scored = Scored(self._overlap(fitted), candidate)
            highest = max(highest, scored.overlap)
            yield scored

    def _fit(self, options: LSP) -> FittedLSP:
        """Fit without a warning about constant parts, which the user did not ask for."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantWarning)
            return options.fit_graph(self.learning, self.run, self.sizes)

    def _overlap(self, fitted: FittedLSP) -> float:
        host = dataclasses.replace(self.run, device=None)
        clean, noisy = (fitted.mask_graph(graph, host).mask for graph in (self.clean, self.noisy))
        return mean_overlap(clean, noisy, self.clean.owners_and_neighbours(fitted.side)[0])


@dataclass(frozen=True)
class _Similar:
    """The pruner that prefers similar neighbours.

    Args:
        overlap: of the most similar neighbours without and with noise. settled: no hash need be compared with it.
    """

    pruner: LSP
    overlap: float
    settled: bool


def calibrated(pruner: LSP, graph: Graph, run: Runtime) -> LSP:
    """Return the pruner with the hash and the weights that suit the graph."""
    weight = pruner.weight if pruner.weight is not None and pruner.weight.chosen_by_fit else None
    if weight is None:
        return _most_stable(pruner, _score_all(pruner, graph, run))
    options = dataclasses.replace(pruner, weights=None)
    by_labels = _by_labels(options, weight, graph)
    if by_labels is not None:
        return by_labels
    similar = _by_similarity(options, weight, graph, run)
    if similar is not None and similar.settled:
        return similar.pruner
    scored = _score_all(options, graph, run)
    if similar is not None and similar.overlap >= _best_overlap(options, graph, scored, run) - OVERLAP_TOLERANCE:
        return similar.pruner
    return _most_stable(options, scored)


def _most_stable(options: LSP, scored: list[Scored]) -> LSP:
    """Return the pruner with the most stable candidate: the first of equals."""
    best = _best(scored).candidate
    return dataclasses.replace(options, hash=best.family, attributes=best.parts)


def _by_labels(options: LSP, weight: Weight, graph: Graph) -> LSP | None:
    """Return the pruner with weights that learn from labels; None if there are none that help."""
    if not getattr(weight, "labels", False) or not has_labels(graph) or not labels_are_assortative(graph):
        return None
    return _weighted(options, WITH_LABELS, scaled(WITH_LABELS, weight.power))


def _by_similarity(options: LSP, weight: Weight, graph: Graph, run: Runtime) -> _Similar | None:
    """Return the pruner that prefers similar neighbours; None if that cannot be or many edges are kept."""
    pruner = _weighted(options, WITHOUT_LABELS, Similarity(power=weight.power))
    if pruner is None or not comparable(graph) or _share_kept(options, graph, run) >= FEW_EDGES_SHARE:
        return None
    overlap = _similarity_overlap(options, graph, run)
    alone = options.family.chosen_by_fit and graph.edge_attr is None and graph.num_graphs == 1
    return _Similar(pruner, overlap, alone and overlap >= 0)


def has_labels(graph: Graph) -> bool:
    """Return whether the graph says which labels may be learned from, and has node attributes to predict them.

    Labels without `train_mask` are not looked at, unless `weights="labels"` asks for it: some may be test labels.
    """
    if not comparable(graph) or graph.train_mask is None:
        return False
    if graph.y is None and (not graph.unusable_y or graph.train_mask is UNUSABLE_MASK):
        return False  # neither fits the nodes: they are of whole graphs
    try:
        return bool(training_labels(graph)[1].size) and math.prod(graph.x_source.shape[1:]) <= MAX_COLUMNS
    except GraphError as error:  # for example a mask for each of ten splits
        warn(
            f"labels are not used: {error}; with labels=False (--hash auto --weights auto) there is no warning",
            LabelsWarning,
        )
        return False


def _weighted(options: LSP, product: Weight, weights: Weight) -> LSP | None:
    """Return the pruner with weights; None if it does not take them.

    Args:
        product: decides alone, if the hash is not chosen yet. weights: those of a hash that is.
    """
    if not options.family.chosen_by_fit:
        takes = _takes_weights(options.family, dataclasses.replace(options, weights=weights))
        return dataclasses.replace(options, weights=weights) if takes else None
    try:
        return dataclasses.replace(options, hash=Constant(), weights=product, select="bottom")
    except OptionError:  # with replacement there is no selection by weight alone
        return None


def _score_all(pruner: LSP, graph: Graph, run: Runtime) -> list[Scored]:
    """Score a few families on all parts, then all options on the parts of the best of these."""
    only = not pruner.family.chosen_by_fit
    if only and not pruner.family.needs_attributes:
        return [Scored(0.0, Candidate(pruner.family, pruner.attributes))]  # renumbered nodes are other edges to it
    parts = describe(graph, pruner.side, PARTS, seed=pruner.seed)
    check_finite({role: part for role, part in parts.items() if not part.categories}, run)
    first = [Candidate(pruner.family, pruner.attributes)] if only else _families_on(parts, pruner)
    trials = _trials(pruner, graph, parts, run)
    if trials is None:
        return [Scored(0.0, first[0])]
    scored = list(trials.score(first))
    if only:
        return scored
    best = _best(scored)
    return [*scored, *trials.score(_options_on(best.candidate.parts, first, pruner), best.overlap)]


def _best_overlap(pruner: LSP, graph: Graph, scored: list[Scored], run: Runtime) -> float:
    """Return the overlap of the best candidate; that of a projection of the neighbour if no attributes are hashed."""
    if not pruner.family.needs_attributes:
        projection = dataclasses.replace(pruner, hash=Projection(), attributes=("neighbour",))
        scored = _score_all(projection, graph, run)
    return max(result.overlap for result in scored)


def _share_kept(pruner: LSP, graph: Graph, run: Runtime) -> float:
    """Return the share of the edges that the pruner is asked to keep."""
    if pruner.keep is not None:
        return float(pruner.keep)
    degree: Any = _degrees(group(graph, pruner, run))
    total = max(int(degree.sum()), 1)
    if pruner.k is not None:
        return int(degree.clip(None, pruner.k).sum()) / total
    assert pruner.budget is not None
    degree = degree.cpu().numpy() if is_tensor(degree) else degree
    quota = pruner.budget.of_owners(np.append(0, np.cumsum(degree)), 0, degree.shape[0])
    return int(np.minimum(degree, quota).sum()) / total


def _similarity_overlap(pruner: LSP, graph: Graph, run: Runtime) -> float:
    """Return the overlap of the most similar neighbours without and with noise; -1 if there are none."""
    owned = group(graph, pruner, run)
    steps, most = _trial_steps(owned), MAX_TRIAL_EDGES
    if not comparable(graph) or not steps:
        return -1.0
    slots = sample_slots(graph, owned, pruner.seed, steps, most, MAX_OWNER_EDGES)
    while most > MIN_TRIAL_EDGES and count_surrounding_edges(owned, slots) > MAX_SURROUNDING_EDGES:
        most //= 2
        slots = sample_slots(graph, owned, pruner.seed, steps, most, MAX_OWNER_EDGES)
    slots = slots_in_order(graph, owned, slots)
    owner = ends_of(owned, slots)[0]
    cosines = noisy_cosines(graph, owned, pruner.side, slots, pruner.seed, run)
    clean = cosines(0.0)
    if clean.min() == clean.max():
        return -1.0  # no neighbour is more similar than another
    before, after = (_largest(values, owner, steps) for values in (clean, cosines(_noise(pruner))))
    return mean_overlap(before, after, np.unique(owner, return_inverse=True)[1])


def _largest(values: Array, owner: Array, steps: int) -> Array:
    """Mark the `steps` largest values of each owner; owners lie together."""
    order = np.lexsort((-values, owner))
    rank = np.arange(owner.shape[0]) - np.searchsorted(owner, owner)
    out = np.zeros(owner.shape[0], np.bool_)
    out[order] = rank < steps
    return out


def _noise(pruner: LSP) -> float:
    return float(getattr(pruner.family, "noise", Auto().noise))


def _trial_steps(owned: Owned) -> int:
    """Return the edges that an owner keeps in a trial: one if none has more than two, 0 if none has a choice."""
    degree = _degrees(owned)
    return max(min(TRIAL_STEPS, (int(degree.max()) if degree.shape[0] else 0) - 1), 0)


def _degrees(owned: Owned) -> Array:
    """Return the number of edges of each owner, where they are."""
    return owned.indptr[1:] - owned.indptr[:-1]


def _best(scored: list[Scored]) -> Scored:
    return max(scored, key=lambda result: result.overlap)  # the first of equals


def _families_on(roles: Iterable[str], pruner: LSP) -> list[Candidate]:
    """Pair a few families with every set of parts that the graph has; the owner alone only if there is nothing else."""
    others = [role for role in PARTS if role in roles and role != "owner"]
    sets: list[Parts] = [(role,) for role in others]
    sets += [tuple(others)] * (len(others) == 2)
    candidates = [Candidate(family, parts) for parts in sets or [("owner",)] for family in FIRST_FAMILIES]
    if "owner" in roles:
        candidates += [Candidate(family, ("owner", *parts)) for parts in sets for family in FAMILIES_WITH_OWNER]
    return [candidate for candidate in candidates if _takes_weights(candidate.family, pruner)]


def _options_on(parts: Parts, tried: list[Candidate], pruner: LSP) -> list[Candidate]:
    """Return all options on these parts that were not tried yet."""
    candidates = [Candidate(family, parts) for family in FAMILY_OPTIONS if _takes_weights(family, pruner)]
    return [candidate for candidate in candidates if candidate not in tried]


def _takes_weights(family: Family, pruner: LSP) -> bool:
    """Say whether the family's keys can be weighted, if the pruner has weights; see `Family.log_unit`."""
    return pruner.weights is None or family.has_codes or (family == Projection() and pruner.normalised)


def _trials(pruner: LSP, graph: Graph, parts: Mapping[str, Part], run: Runtime) -> _Trials | None:
    """Make the graphs that candidates are tried on; None if no owner has a choice."""
    owned = group(graph, pruner, run)
    steps = _trial_steps(owned)
    if not steps:
        return None
    width = max((part.rows.dim for part in parts.values() if not part.categories), default=1)
    most = min(MAX_TRIAL_EDGES, max(MAX_TRIAL_VALUES // max(width, 1), MAX_OWNER_EDGES))
    learning = sample_slots(graph, owned, pruner.seed, 0, MAX_LEARNING_EDGES, MAX_LEARNING_EDGES)
    compared = slots_in_order(graph, owned, sample_slots(graph, owned, pruner.seed, steps, most, MAX_OWNER_EDGES))
    clean = in_host_memory(slots_to_graph(graph, owned, pruner.side, compared), run)
    return _Trials(
        pruner=pruner.for_trials(steps),
        learning=slots_to_graph(graph, owned, pruner.side, learning),
        clean=clean,
        noisy=disturbed_graph(clean, _noise(pruner), pruner.seed),
        sizes={role: part.categories for role, part in parts.items()},
        run=run,
    )


def mean_overlap(first: Array, second: Array, owner: Array) -> float:
    """Return the mean Jaccard overlap of two selections over the owners, each of whom had to choose."""
    both, either = (np.bincount(owner, weights=values) for values in (first & second, first | second))
    return float((both / either).mean())
