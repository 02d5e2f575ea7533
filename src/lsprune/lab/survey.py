"""A profile of a graph and trials of pruning methods on it, without training and without torch."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from math import isfinite, log
from typing import Any

import numpy as np

from lsprune.attributes import is_category
from lsprune.errors import LabelsWarning, LspruneError, LspruneWarning, OptionError
from lsprune.graph import Array, Graph
from lsprune.lab.node_labels import CLASSES
from lsprune.lab.studies.compare import methods_with_shares
from lsprune.lab.studies.methods import Method, find_method
from lsprune.lab.user_graph import UserGraph
from lsprune.measure import Structure, consistency, stability, structure, summary
from lsprune.measure.structure import degrees
from lsprune.pruners.calibration import has_labels
from lsprune.weights.assortativity import labels_are_assortative

METHODS = ("random", "local-random", "lsp-projection", "lsp-auto", "low-degree", "jaccard")
WITHOUT_ATTRIBUTES = {  # what replaces a method if there are no attributes
    "lsp-projection": "lsp-identity",
    "lsp-auto": "lsp-identity",
}
WITH_LABELS = {"lsp-auto": "lsp-auto-labels"}  # ... and if the recommended one learns from labels
SHARES = (0.1, 0.25, 0.5)
SUGGESTED_SHARES = (0.1, 0.25, 0.5, 0.75)
KEPT_IN_DEGREE = 4  # neighbours that a node should keep on average
MIN_IN_DEGREE = 3  # mean below which a graph has hardly any edge to spare (molecules have 2)
CONSISTENCY_PAIRS = 2000  # pairs of nodes whose neighbourhoods are compared


@dataclass(frozen=True)
class Attributes:
    """The attributes of nodes or edges: none, a category with `size` values, or vectors with `size` columns."""

    kind: str  # "none", "category" or "vector"
    size: int = 0

    @classmethod
    def of(cls, values: Any) -> Attributes:
        """Return the kind of these attributes, by the rule that pruners follow."""
        if values is None:
            return cls("none")
        if is_category(values):
            return cls("category", int(np.unique(values).size))
        return cls("vector", int(np.prod(values.shape[1:])))

    def __str__(self) -> str:
        text = {"none": "none", "category": f"one category of {self.size:,} values"}
        return text.get(self.kind, f"vectors of {self.size:,}")


@dataclass(frozen=True)
class Profile:
    """What describes a graph before pruning."""

    shape: Structure
    kind: str  # "symmetric", "directed" or "bipartite"
    reciprocal: float  # share of the edges, without self-loops, whose reverse is an edge too
    self_loops: int
    duplicates: int  # edges with the same ends as an earlier edge
    in_degree: float  # mean number of distinct in-neighbours
    nodes: Attributes
    edges: Attributes
    classes: int
    labelled: int
    homophily: float | None  # share of the edges between labelled nodes whose ends have the same class
    label_kind: str  # what labels are: classes, labels (several a node) or numbers; empty without any
    learns: bool  # whether the recommended pruner learns from labels: those of training nodes, beside the edges

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON-able data."""
        return to_json(self)


def profile(user_graph: UserGraph) -> Profile:
    """Return the profile of a graph."""
    graph, y = user_graph.graph, user_graph.y
    reciprocal, loops, duplicates = _count_edges(graph)
    in_degrees = degrees(graph, None, "in")
    kind = "bipartite" if graph.bipartite else "symmetric" if reciprocal == 1 else "directed"
    return Profile(
        structure(graph), kind, reciprocal, loops, duplicates, float(in_degrees.mean()) if in_degrees.size else 0.0,
        Attributes.of(graph.x_target), Attributes.of(graph.edge_attr), len(user_graph.classes),
        int(user_graph.labelled.sum()), homophily(user_graph), "" if y is None else user_graph.kind,
        _learns(user_graph),
    )  # fmt: skip


def labelled_graph(user_graph: UserGraph) -> Graph:
    """Return the graph as `lsprune prune` reads it with the same options: with its labels and training nodes."""
    graph = user_graph.graph
    if graph.y is not None or user_graph.y is None or user_graph.masks is None or graph.bipartite:
        return graph
    return replace(graph, y=user_graph.y, train_mask=user_graph.masks[0])


def _learns(user_graph: UserGraph) -> bool:
    """Return whether `lsprune prune --preset auto` learns from labels of this graph."""
    graph = labelled_graph(user_graph)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelsWarning)  # `prune` warns of labels that it cannot use
        return has_labels(graph) and labels_are_assortative(graph)


def _count_edges(graph: Graph) -> tuple[float, int, int]:
    """Return (share of edges whose reverse is an edge, number of self-loops, number of duplicates)."""
    source, target = (end.astype(np.int64) for end in graph.ends())
    width = max(graph.num_sources, graph.num_targets, 1)
    pairs = np.unique(source * width + target)
    duplicates = int(source.size - pairs.size)
    if graph.bipartite:
        return 0.0, 0, duplicates
    proper = source != target
    has_reverse = np.isin(target[proper] * width + source[proper], pairs)
    return float(has_reverse.mean()) if has_reverse.size else 0.0, int((~proper).sum()), duplicates


def homophily(user_graph: UserGraph, mask: Array | None = None) -> float | None:
    """Return the share of the (kept) edges between labelled nodes whose ends have the same class, without self-loops.

    None if the graph has no classes, two kinds of nodes, or no such edge.
    """
    y = user_graph.y
    if y is None or user_graph.kind != CLASSES or user_graph.graph.bipartite:
        return None
    source, target = user_graph.graph.ends()
    counted = (source != target) & (y[source] >= 0) & (y[target] >= 0)
    counted = counted if mask is None else counted & mask
    return float((y[source[counted]] == y[target[counted]]).mean()) if counted.any() else None


@dataclass(frozen=True, eq=False)
class Trial:
    """What a method keeps at a share of the edges."""

    method: str
    keep: float
    kept: int
    share: float
    isolated: int  # nodes that lost their last neighbour
    components: int
    degree_max: float  # largest number of neighbours
    alike: float  # rank correlation of the overlaps of pairs of neighbourhoods before and after; 1 is best
    homophily: float | None  # share of the kept edges between nodes of the same class
    noise: float | None  # mean overlap of a node's kept edges with those in a copy with noise on the attributes ...
    dropout: float | None  # ... and in a copy without a tenth of the edges
    seconds: float
    mask: Array = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON-able data, without the mask."""
        data = to_json(self)
        return {name: data[name] for name in data if name != "mask"}


def plan_trials(
    user_graph: UserGraph, methods: Iterable[Any] = (), shares: Iterable[float] = SHARES
) -> list[tuple[Method, float]]:
    """Return the (method, share) pairs to try; raise OptionError for a method that cannot be tried.

    Args:
        methods: names, tables or short forms, see `studies.methods.find_method`; default `METHODS`, on a graph without
            attributes methods that need none, and `lsp-auto-labels` if `--preset auto` learns from its labels.
    """
    graph = user_graph.graph
    has_attributes = graph.x_target is not None or graph.edge_attr is not None
    instead = (WITH_LABELS if _learns(user_graph) else {}) if has_attributes else WITHOUT_ATTRIBUTES
    candidates = methods_with_shares(tuple(methods) or tuple(instead.get(name, name) for name in METHODS))
    for method in candidates:
        if not method.has_budget or method.every_epoch:
            raise OptionError(f"methods must be pruners with a share that prune once, got {method.name!r}")
    return [(method, share) for method in candidates for share in sorted(set(shares))]


def run_trial(user_graph: UserGraph, method: Any, keep: float, *, stable: bool = False, seed: int = 0) -> Trial:
    """Return what a method keeps of a graph at a share.

    Args:
        method: a method, its name, a table or a short form.
        stable: also measure how much of it is kept in slightly different copies, which takes three more prunings.
    """
    method = find_method(method)
    graph, pruner = labelled_graph(user_graph), method.make(keep=keep, seed=seed)
    assert pruner is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LspruneWarning)  # the trial reports what the warnings are about
        try:
            # also loads compiled code, before the clock starts
            overlap = consistency(graph, pruner, pairs=CONSISTENCY_PAIRS)
        except LspruneError as error:  # for example no attributes
            raise type(error)(f"method {method.name}: {error}") from None
        start = time.perf_counter()
        mask = pruner.mask(graph)
        seconds = time.perf_counter() - start
        stable_share = stability(graph, pruner) if stable else None
    counts = summary(graph, mask, pruner.side)
    shape = structure(graph, mask, sample=1)  # its clustering is not reported
    return Trial(
        method.name, keep, counts.kept, counts.share, counts.isolated, shape.components, shape.degrees[-1],
        overlap.correlation, homophily(user_graph, mask), stable_share.noise if stable_share else None,
        stable_share.dropout if stable_share else None, seconds, mask,
    )  # fmt: skip


def distinct_trials(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials without repetitions: of shares at which a method keeps as many edges, the first one.

    On a graph of two edges, for example, 0.25 and 0.5 both keep one edge, and a larger share keeps a superset.
    """
    return list({(trial.method, trial.kept): trial for trial in reversed(list(trials))}.values())[::-1]


def to_json(instance: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as JSON-able data: NaN becomes None, nested dataclasses become dictionaries."""

    def convert(value: Any) -> Any:
        if hasattr(value, "__dataclass_fields__"):
            return to_json(value)
        if isinstance(value, tuple):
            return [convert(item) for item in value]
        return None if isinstance(value, float) and not isfinite(value) else value

    return {entry.name: convert(getattr(instance, entry.name)) for entry in fields(instance)}


def suggest(graph_profile: Profile, graph: str) -> tuple[str, str]:
    """Return (advice, command that compares methods by training); the rules are those of docs/choosing.md.

    Args:
        graph: the graph's file and the options that describe it, as words of a command.
    """
    bare = graph_profile.nodes.kind == graph_profile.edges.kind == "none"
    auto = "lsp-auto-labels" if graph_profile.learns else "lsp-auto"
    method, options = ("lsp-identity", "--hash identity") if bare else (auto, "--preset auto")
    mean, keep = graph_profile.in_degree, suggested_share(graph_profile.in_degree)
    advice = f"A node has {mean:.3g} in-neighbours on average. "
    if keep is None:
        advice += "Hardly any edge is redundant: prune only if you must."
    else:
        advice += f"Start with {method} ({options}) at keep={keep:g}, which leaves {keep * mean:.2g} of them."
    if keep is not None and graph_profile.label_kind and graph_profile.nodes.kind != "none":
        advice += f" Your labels can choose better: lsprune choose {graph} --keep {keep:g}"
    return advice, f"lsprune compare {graph} --methods {method},local-random,low-degree,jaccard"


def suggested_share(in_degree: float) -> float | None:
    """Return a share at which a node keeps about four in-neighbours; None if there is hardly any edge to spare.

    >>> [suggested_share(mean) for mean in (2, 3.9, 8, 18.5, 36, 500)]
    [None, 0.75, 0.5, 0.25, 0.1, 0.1]
    """
    if in_degree < MIN_IN_DEGREE:
        return None
    return min(SUGGESTED_SHARES, key=lambda share: abs(log(share * in_degree / KEPT_IN_DEGREE)))
