"""What kind of graph it is, and what each method would keep of it: no training, no torch."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any

import numpy as np

from lsprune.attributes import is_category
from lsprune.errors import LspruneError, LspruneWarning, OptionError
from lsprune.graph import Array, Graph
from lsprune.lab.studies.compare import method_names
from lsprune.lab.studies.methods import BUDGETED, FRESH, pruner_for
from lsprune.lab.user_graph import OwnGraph
from lsprune.measure import Structure, consistency, stability, structure, summary
from lsprune.measure.structure import degrees

METHODS = ("random", "local-random", "lsp-p", "lsp-auto-a", "low-degree", "jaccard")
BARE = {"lsp-p": "lsp-i", "lsp-auto-a": "lsp-i"}  # where there are no attributes
SHARES = (0.1, 0.25, 0.5)
DENSE, SPARE = 20, 3  # mean neighbours of a node: tens are many (Computers has 36), a molecule has two
PAIRS = 2000  # of nodes, for the likeness of neighbourhoods


@dataclass(frozen=True)
class Attributes:
    """What describes nodes or edges: nothing, a category with so many values, or vectors of so many columns."""

    kind: str
    size: int = 0

    @classmethod
    def of(cls, values: Any) -> Attributes:
        """The kind of these attributes, as pruners take them."""
        if values is None:
            return cls("none")
        if is_category(values):
            return cls("category", int(np.unique(values).size))
        return cls("vector", int(np.prod(values.shape[1:])))

    def __str__(self) -> str:
        what = {"none": "none", "category": f"one category of {self.size:,} values"}
        return what.get(self.kind, f"vectors of {self.size:,}")


@dataclass(frozen=True)
class Portrait:
    """A graph before pruning."""

    shape: Structure
    kind: str  # "symmetric", "directed" or "bipartite"
    reciprocal: float  # share of the edges, self-loops not counted, whose reverse is there too
    self_loops: int
    duplicates: int  # edges with the same two ends as an earlier one
    heard: float  # mean number of different nodes that a node hears
    nodes: Attributes
    edges: Attributes
    classes: int
    labelled: int
    homophily: float | None  # share of the edges, of those between labelled nodes, whose ends have one class

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return plain(self)


def portrait(own: OwnGraph) -> Portrait:
    """What kind of graph it is."""
    graph, y = own.graph, own.y
    reciprocal, loops, duplicates = _ends(graph)
    heard = degrees(graph, None, "in")
    kind = "bipartite" if graph.bipartite else "symmetric" if reciprocal == 1 else "directed"
    return Portrait(
        structure(graph), kind, reciprocal, loops, duplicates,
        float(heard.mean()) if heard.size else 0.0, Attributes.of(graph.x_target), Attributes.of(graph.edge_attr),
        len(own.classes), 0 if y is None else int((y >= 0).sum()), homophily(own),
    )  # fmt: skip


def _ends(graph: Graph) -> tuple[float, int, int]:
    """(share of edges whose reverse is there, self-loops, duplicates)."""
    source, target = (end.astype(np.int64) for end in graph.ends())
    width = max(graph.num_sources, graph.num_targets, 1)
    there = np.unique(source * width + target)
    duplicates = int(source.size - there.size)
    if graph.bipartite:
        return 0.0, 0, duplicates
    real = source != target
    back = np.isin(target[real] * width + source[real], there)
    return float(back.mean()) if back.size else 0.0, int((~real).sum()), duplicates


def homophily(own: OwnGraph, mask: Array | None = None) -> float | None:
    """The share of the edges between two labelled nodes whose ends have one class, self-loops not counted."""
    if own.y is None or own.graph.bipartite:
        return None
    source, target = own.graph.ends()
    counted = (source != target) & (own.y[source] >= 0) & (own.y[target] >= 0)
    counted = counted if mask is None else counted & mask
    return float((own.y[source[counted]] == own.y[target[counted]]).mean()) if counted.any() else None


@dataclass(frozen=True, eq=False)
class Trial:
    """What a method keeps at a share."""

    method: str
    keep: float
    kept: int
    share: float
    isolated: int  # nodes that had a neighbour and have none left
    components: int
    degree_max: float  # neighbours of the node with most
    alike: float  # rank correlation of the overlap of two neighbourhoods before and after: 1, if likeness survives
    homophily: float | None  # share of the kept edges between nodes of one class
    noise: float | None  # mean overlap of what a node keeps here and in a copy with noise on the attributes ...
    dropout: float | None  # ... and in a copy with a tenth of the edges less
    seconds: float
    mask: Array = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without the mask."""
        said = plain(self)
        return {name: said[name] for name in said if name != "mask"}


def planned(own: OwnGraph, methods: Iterable[str] = (), shares: Iterable[float] = SHARES) -> list[tuple[str, float]]:
    """The methods and shares to try, checked.

    Args:
        methods: default `METHODS`, with a hash that needs no attributes where there are none.
    """
    attributes = own.graph.x_target is not None or own.graph.edge_attr is not None
    names = method_names(methods) or list(dict.fromkeys(METHODS if attributes else (BARE.get(n, n) for n in METHODS)))
    for name in names:
        if name not in BUDGETED or name in FRESH:
            raise OptionError(f"methods must be some that prune once and have a share, got {name!r}")
    return [(name, share) for name in names for share in sorted(set(shares))]


def trial(own: OwnGraph, method: str, keep: float, *, stable: bool = False, seed: int = 0) -> Trial:
    """What a method would keep at a share.

    Args:
        stable: also measure how much stays the same in a slightly different copy, which prunes three times more.
    """
    graph, pruner = own.graph, pruner_for(method, None, seed, keep=keep)
    assert pruner is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LspruneWarning)  # what pruning does to the graph is what is told
        try:
            alike = consistency(graph, pruner, pairs=PAIRS)  # loads compiled code too, which is not pruning
        except LspruneError as error:  # it lacks attributes, say
            raise type(error)(f"method {method}: {error}") from None
        start = time.perf_counter()
        mask = pruner.mask(graph)
        seconds = time.perf_counter() - start
        shaken = stability(graph, pruner) if stable else None
    counts = summary(graph, mask, pruner.side)
    shape = structure(graph, mask, sample=1)  # its clustering is not told
    return Trial(
        method, keep, counts.kept, counts.share, counts.isolated, shape.components, shape.degrees[-1],
        alike.correlation, homophily(own, mask), shaken.noise if shaken else None, shaken.dropout if shaken else None,
        seconds, mask,
    )  # fmt: skip


def plain(one: Any) -> dict[str, Any]:
    """The fields of a dataclass as JSON has them: no NaN, dataclasses within as dictionaries."""

    def value(given: Any) -> Any:
        if hasattr(given, "__dataclass_fields__"):
            return plain(given)
        if isinstance(given, tuple):
            return [value(item) for item in given]
        return None if isinstance(given, float) and not isfinite(given) else given

    return {part.name: value(getattr(one, part.name)) for part in fields(one)}


def suggestion(found: Portrait, graph: str) -> tuple[str, str]:
    """(where to begin, the command that says what is lost); the rules and numbers are those of docs/choosing.md.

    Args:
        graph: the graph's file, and the options that say what is what in it, as words of a command.
    """
    bare = found.nodes.kind == found.edges.kind == "none"
    method, others = "lsp-i" if bare else "lsp-auto-a", ["local-random"]
    options = "--hash identity" if bare else "--hash auto --weights auto"
    near = f"A node hears {found.heard:.3g} others on average"
    if found.heard < SPARE:
        first = f"{near}, so that hardly an edge is too many: prune only if you must."
    elif found.heard < DENSE:
        first = f"{near}, a handful: begin with {method} ({options}) at keep=0.6."
    else:
        first = f"{near}, tens: begin with {method} ({options}) at keep=0.25."
        others = ["local-random", "low-degree", "jaccard"]
    return first, f"lsprune compare {graph} --methods {','.join([method, *others])}"
