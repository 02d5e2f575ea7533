"""The configurations whose masks never change, and the graphs they are computed on.

`EXACT` and `ONE_MACHINE` map a name to (a function without arguments that makes the pruner, the name of a graph); the
digests are in `golden_masks.json`, the tests in `test_reproducible.py`. A refactoring may change how pruners are made
here. It may not change a digest.

`python tests/golden_masks.py` compares all digests; with `--write` it adds those that are missing. It never changes one
that is there: a mask that has to change is a breaking change, and its digest is edited by hand.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
from golden_graphs import graph_named

from lsprune import LSP, First, Guarded, LocalRandom, NoEdges, PerNode, Random, Timed
from lsprune.baselines import (
    Cosine,
    Disparity,
    DSpar,
    EffectiveResistance,
    Jaccard,
    LocalDegree,
    LowDegree,
    MetricBackbone,
    SpanningForest,
    TopWeight,
)
from lsprune.hashing import (
    Auto,
    Bins,
    Both,
    Codebook,
    Identity,
    PaperProjection,
    PaperThreshold,
    Projection,
    Signs,
    Structure,
    Threshold,
)
from lsprune.kernels import runtime
from lsprune.pruners import FittedLSP, PaperLSP, Pruner
from lsprune.pruners.fitted import LearnedArray
from lsprune.weights import weight
from lsprune.weights.teacher import Teacher

FILE = Path(__file__).with_suffix(".json")
MACHINE = "x86_64"  # where the digests of ONE_MACHINE are promised
ALL = ("owner", "edge", "neighbour")
Entry = tuple[Callable[[], Pruner], str]


# Configurations.


def _lsp(graph: str = "plain", *, power: float = 1.0, **options: Any) -> Entry:
    """LSP, or `PaperLSP` for the options that only it has; `power` is that of the weight."""
    if "weights" in options:
        options["weights"] = dataclasses.replace(weight(options["weights"]), power=power)
    return partial(PaperLSP if {"values", "replace", "ties"} & set(options) else LSP, **options), graph


def _taught(graph: str = "positive", **options: Any) -> Entry:
    """LSP with weights of labels and a teacher of given integers: no training, in which floats would decide."""

    def make() -> Pruner:
        pruner, given, run = LSP(**options), graph_named(graph), runtime(1)
        scales = dict(pruner.without_weights().fit_graph(given, run).scales)
        scales |= pruner.weight.fit(given, "in", 0, run, {})
        columns = scales["taught"].dim
        numbers = np.arange(3 * 4 * columns).reshape(3, 4, columns) * 7919 % 4001 - 2000
        teacher = Teacher("classes", 15, np.arange(4) << 12, numbers.astype(np.int16))
        learned = LearnedArray.of(teacher.packed())
        return FittedLSP(options=pruner, scales=tuple(scales.items()), weights_learned=learned)

    return make, graph


def _labels() -> Iterator[tuple[str, Entry]]:
    for family in ("projection", "signs", "constant"):
        yield f"{family} labels", _taught(k=3, hash=family, weights="labels")
        yield f"{family} labels of a product", _taught(k=3, hash=family, weights="labels:2*jaccard:0.5*degree:0.5")
    for family in ("projection", "signs"):  # without a hash, a power changes nothing
        yield f"{family} labels^0.25", _taught(k=3, hash=family, weights="labels:0.25")
    yield "labels of words", _taught("words", keep=0.2, hash="constant", select="bottom", weights="labels")
    yield (
        "labels of sparse words",
        _taught("sparse words", keep=0.2, hash="constant", select="bottom", weights="labels"),
    )
    yield "labels of categories", _taught("category", k=3, hash="identity", weights="labels")


def _guarded(pruner: Callable[..., Pruner], graph: str = "plain", **options: Any) -> Entry:
    return lambda: Guarded(pruner=pruner(), **options), graph


def _table(*groups: Iterator[tuple[str, Entry]]) -> dict[str, Entry]:
    """The configurations of some groups by name; a name must not come twice."""
    entries = list(chain(*groups))
    table = dict(entries)
    assert len(table) == len(entries), "two configurations have one name"
    return table


def _families() -> Iterator[tuple[str, Entry]]:
    """Every hash family: its options, both budgets, and what the graphs may hold; `auto` is in ONE_MACHINE."""
    families = {
        "projection": Projection(),
        "projection l": Projection(l=0.25),
        "projection l normal": PaperProjection(l=0.25, offset="normal"),
        "projection l uniform": PaperProjection(l=0.25, offset="uniform"),
        "projection sparsity": Projection(sparsity=4),
        "projection l sparsity": Projection(l=0.25, sparsity=4),
        "threshold": Threshold(),
        "threshold m": Threshold(m=7),
        "threshold md5": PaperThreshold(digest="md5"),
        "threshold affine": PaperThreshold(digest="affine"),
        "threshold sparsity": Threshold(sparsity=2),
        "threshold all": Threshold(sparsity=None),
        "threshold mean": Threshold(mean=1.0),
        "identity": Identity(),
        "signs": Signs(),
        "signs bits": Signs(bits=3),
        "bins": Bins(),
        "bins length": Bins(length=2.0),
        "bins levels": Bins(length=0.5, levels=1),
        "codebook": Codebook(),
        "codebook words": Codebook(words=16),
        "codebook iterations": Codebook(words=16, iterations=1),
        "structure": Structure(),
        "structure degree": Structure(rounds=0),
        "structure rounds": Structure(rounds=3),
        "both": Both(),
        "both signs projection": Both(edge=Signs(bits=2), node=Projection()),
        "both projection threshold": Both(edge=Projection(l=0.5), node=Threshold(sparsity=2)),
        "both bins identity": Both(edge=Bins(), node=Identity()),
        "both words structure": Both(edge=Codebook(words=5), node=Structure()),
    }
    for name, family in families.items():
        yield f"{name} k", _lsp(k=4, hash=family)
        if not family.needs_k:
            yield f"{name} keep", _lsp(keep=0.35, hash=family)
    plain = {
        "projection": Projection(), "bins of projection": Projection(l=0.25), "threshold": Threshold(),
        "md5": PaperThreshold(digest="md5"), "affine": PaperThreshold(digest="affine"), "identity": Identity(),
        "signs": Signs(bits=4), "bins": Bins(), "codebook": Codebook(), "structure": Structure(),
    }  # fmt: skip
    on_graphs = ("nodes", "edges", "single", "category", "words", "sparse words", "bipartite", "several")
    for name, family in plain.items():
        for graph in on_graphs if family.needs_attributes else ("bipartite", "several", "bare"):
            yield f"{name} on {graph}", _lsp(graph, k=3, hash=family)
    yield "codebook lists", _lsp("many", k=4, hash=Codebook(words=17_000))
    yield "codebook exact", _lsp("many", k=4, hash=Codebook(words=17_000, exact=True))
    for graph in ("single", "category", "bipartite", "several"):
        yield f"both on {graph}", _lsp(graph, k=3, hash="both")


def _weights() -> Iterator[tuple[str, Entry]]:
    """Every weight with a projection and with families of codes; `auto` is in ONE_MACHINE."""
    for weights in ("degree", "jaccard", "similarity", "edge:2", "neighbour:1"):
        for power in (1.0, 0.25):
            shown = "" if power == 1 else f"^{power}"
            for family in ("projection", "signs"):
                yield f"{family} {weights}{shown}", _lsp("positive", k=3, hash=family, weights=weights, power=power)
        for family in ("threshold", "identity", "codebook", "structure", "both"):
            yield f"{family} {weights}", _lsp("positive", keep=0.3, hash=family, weights=weights)
        yield f"bottom {weights}", _lsp("positive", k=3, hash="identity", select="bottom", weights=weights)
        yield f"out {weights}", _lsp("positive", k=3, side="out", weights=weights)
        yield f"several {weights}", _lsp("several", keep=0.3, hash="identity", weights=weights)
    yield "power 0", _lsp("positive", k=3, hash="identity", weights="degree", power=0)
    yield "power 64", _lsp("positive", k=3, hash="identity", weights="degree", power=64)
    yield "sparse projection degree", _lsp(k=3, hash=Projection(sparsity=4), weights="degree")
    yield "edge of one column", _lsp("single", k=3, weights="edge")
    yield "edge of one column, signs", _lsp("single", k=3, hash="signs", weights="edge", power=2)
    yield "similarity of categories", _lsp("category", k=3, hash="identity", weights="similarity")
    yield "similarity of words", _lsp("words", keep=0.2, weights="similarity")
    yield "similarity of sparse words", _lsp("sparse words", keep=0.2, weights="similarity")
    yield "similarity of nodes", _lsp("nodes", keep=0.2, weights="similarity", self_loops="edge")
    for family in ("projection", "signs", "identity", "constant"):
        for graph, product in (("positive", "jaccard:0.5*degree:0.5"), ("positive", "similarity*edge:2*neighbour:1")):
            yield f"{family} {product}", (partial(LSP, k=3, hash=family, weights=product), graph)
    yield "degree of a hub", _lsp("hub", keep=0.9, weights="degree")
    yield "bipartite degree", _lsp("bipartite", k=3, weights="degree", power=0.5)
    yield "bipartite degree out", _lsp("bipartite", k=3, hash="identity", side="out", weights="degree")
    yield "union degree", _lsp("pairs", keep=0.3, symmetric="union", weights="degree")
    yield "intersection similarity", _lsp("pairs", k=3, symmetric="intersection", weights="similarity")


def _options() -> Iterator[tuple[str, Entry]]:
    """Every other option of LSP, with families that have ties and with those that have none."""
    sets = [roles for count in (1, 2, 3) for roles in combinations(ALL, count)]
    for family in (Projection(l=0.25), Threshold(), Codebook()):
        for roles in sets:
            yield f"{family.name} of {' '.join(roles)}", _lsp(k=5, hash=family, attributes=roles)
    yield "projection of owner and edge, no bins", _lsp(k=4, attributes=("owner", "edge"))
    yield "owner out", _lsp(k=3, hash="signs", attributes=("owner", "neighbour"), side="out")
    for family in (
        Projection(),
        Projection(l=2.0),
        Threshold(),
        PaperThreshold(digest="md5"),
        Signs(),
        Bins(),
        Codebook(),
    ):
        shown = family.name.removeprefix("paper-") + "".join(
            [" l"] * (family == Projection(l=2.0)) + [" md5"] * ("md5" in repr(family))
        )
        yield f"raw {shown} k", _lsp(k=3, hash=family, values="raw")
        yield f"raw {shown} keep", _lsp(keep=0.3, hash=family, values="raw")
    yield "raw category", _lsp("category", k=3, values="raw")
    yield "raw single", _lsp("single", k=3, values="raw")
    yield "raw hub", _lsp("hub", k=300, values="raw", hash=Projection(l=2.0))
    for ties in ("hash", "id", "position"):
        for select in ("functions", "bottom"):
            yield f"ties {ties} {select}", _lsp(k=4, hash=Signs(bits=1), ties=ties, select=select)
        yield f"ties {ties} keep", _lsp("category", keep=0.3, attributes=("neighbour",), ties=ties)
        yield f"ties {ties} replace", _lsp(k=6, hash=Signs(bits=1), ties=ties, replace=True)
        yield f"ties {ties} out", _lsp("category", k=2, attributes=("neighbour",), ties=ties, side="out")
        yield f"ties {ties} union", _lsp("pairs", keep=0.3, hash=Signs(bits=1), ties=ties, symmetric="union")
        yield f"ties {ties} several", _lsp("several", k=2, hash=Signs(bits=1), ties=ties)
    for family in ("projection", "threshold", "identity", "signs", "bins", "codebook", "structure", "both"):
        yield f"bottom {family}", _lsp(keep=0.3, hash=family, select="bottom")
        yield f"replace {family}", _lsp(k=5, hash=family, replace=True)
    yield "k 0", _lsp(k=0)
    yield "k 1", _lsp(k=1)
    yield "k 20 of a hub", _lsp("hub", k=20)  # more than one block of functions
    yield "k 300 of a hub", _lsp("hub", k=300, hash="identity")  # more than all functions
    yield "k 300 of a hub, bottom", _lsp("hub", k=300, hash="identity", select="bottom")
    yield "k 300 of a hub, replace", _lsp("hub", k=300, hash="identity", replace=True)
    yield "hub union", _lsp("hub", keep=0.7, symmetric="union")
    yield "keep 0.001", _lsp(keep=0.001)
    yield "keep 0.99", _lsp(keep=0.99)
    for name, budget in (("k", {"k": 3}), ("keep", {"keep": 0.25})):
        yield f"out {name}", _lsp(**budget, side="out")
        yield f"loops edge {name}", _lsp(**budget, self_loops="edge")
        yield f"loops drop {name}", _lsp(**budget, self_loops="drop")
        for symmetric in ("union", "intersection"):
            yield f"{symmetric} {name}", _lsp(**budget, symmetric=symmetric)
            yield f"{symmetric} pairs {name}", _lsp("pairs", **budget, symmetric=symmetric)
            yield f"{symmetric} pairs loops {name}", _lsp("pairs", **budget, symmetric=symmetric, self_loops="edge")
            yield f"{symmetric} signs out {name}", _lsp(**budget, hash="signs", symmetric=symmetric, side="out")
        yield f"one direction of pairs {name}", _lsp("pairs", **budget)
        yield f"undirected {name}", _lsp("undirected", **budget)
        yield f"undirected loops {name}", _lsp("undirected", **budget, self_loops="edge")
        yield f"bipartite out {name}", _lsp("bipartite", **budget, side="out", self_loops="drop")
    for seed in (1, -3, 2**63 + 5):
        yield f"seed {seed}", _lsp(k=3, seed=seed)
        yield f"seed {seed} threshold", _lsp(keep=0.3, hash="threshold", seed=seed)
    yield "seed of categories", _lsp("category", k=3, seed=4)
    yield "several keep", _lsp("several", keep=0.3)
    yield "several keep out", _lsp("several", keep=0.3, side="out", self_loops="edge")
    yield "pooled", _lsp("several", keep=0.3, pooled=True)
    yield "pooled out", _lsp("several", keep=0.3, pooled=True, side="out", self_loops="edge")
    yield "pooled identity", _lsp("several", keep=0.3, pooled=True, hash="identity")
    yield "pooled union", _lsp("several", keep=0.3, pooled=True, symmetric="union")
    yield "several union", _lsp("several", keep=0.3, symmetric="union")
    yield "sorted", _lsp("sorted", k=3)
    yield "sorted, compressed", _lsp("compressed", k=3)
    yield "sorted 20", _lsp("sorted", k=20, self_loops="drop")
    yield "sorted replace", _lsp("sorted", k=5, replace=True, self_loops="edge")
    yield "sorted bottom", _lsp("sorted", k=3, hash="signs", select="bottom")
    yield "sorted identity", _lsp("sorted", k=3, hash="identity")
    yield "sorted identity, compressed", _lsp("compressed", k=3, hash="identity")
    yield "sorted codebook", _lsp("sorted", k=3, hash="codebook")
    yield "sorted out", _lsp("sorted by source", k=3, side="out", ties="position")
    for kind in ("p", "t"):
        yield f"paper {kind} seed", (partial(LSP.paper, kind, k=2, seed=9), "plain")
        yield f"published {kind} sparsity", (partial(LSP.published, kind, k=2, sparsity=3, seed=9), "plain")
        for graph in ("category", "bipartite", "several", "words", "sparse words"):
            yield f"paper {kind} on {graph}", (partial(LSP.paper, kind, k=3), graph)
            yield f"published {kind} on {graph}", (partial(LSP.published, kind, k=3), graph)


def _baselines(*methods: str) -> Iterator[tuple[str, Entry]]:
    """Baselines with both budgets, every option that all of them have, and graphs of every kind."""
    for name in methods:
        kind, graphs = BASELINES[name]
        yield f"{name} k", (partial(kind, k=2), "plain")
        yield f"{name} keep", (partial(kind, keep=0.12), "plain")
        yield f"{name} out", (partial(kind, k=2, side="out", self_loops="edge"), "plain")
        yield f"{name} drop", (partial(kind, keep=0.12, self_loops="drop", seed=11), "plain")
        yield f"{name} union", (partial(kind, keep=0.12, symmetric="union"), "pairs")
        yield f"{name} intersection", (partial(kind, k=2, symmetric="intersection", self_loops="edge"), "plain")
        yield f"{name} undirected", (partial(kind, keep=0.12), "undirected")
        yield f"{name} several", (partial(kind, keep=0.12), "several")
        yield f"{name} pooled", (partial(kind, keep=0.12, pooled=True), "several")
        yield f"{name} per node", (partial(kind, budget=PerNode(share=0.13), seed=3), "plain")
        for graph in graphs:
            yield f"{name} on {graph}", (partial(kind, k=2), graph)


BASELINES: dict[str, tuple[Callable[..., Pruner], tuple[str, ...]]] = {
    "random": (Random, ("bipartite", "hub")),
    "local-random": (LocalRandom, ("bipartite", "hub", "sorted", "compressed")),
    "first": (First, ("bipartite", "hub", "sorted", "compressed")),
    "low-degree": (LowDegree, ("bipartite", "hub")),
    "local-degree": (LocalDegree, ("bipartite", "hub")),
    "jaccard": (Jaccard, ("hub",)),
    "jaccard exact": (partial(Jaccard, exact=True), ("hub",)),
    "cosine": (Cosine, ("bipartite", "category", "single", "words", "sparse words")),
    "top-weight": (partial(TopWeight, column=1), ("bipartite", "hub")),
    "top-weight of a product": (partial(TopWeight, weights="jaccard:0.5*degree:0.5"), ("hub",)),
    "dspar": (DSpar, ("bipartite", "hub")),
    "effective-resistance": (partial(EffectiveResistance, trees=16), ("bipartite", "hub")),
    "spanning-forest": (SpanningForest, ("bipartite", "hub")),
}


def _guards() -> Iterator[tuple[str, Entry]]:
    """Every promise around LSP and around Random; those that look for a spanning forest are in ONE_MACHINE."""
    some = np.arange(0, 4000, 37)
    within = {"lsp": partial(LSP, keep=0.15), "random": partial(Random, keep=0.15)}
    for name, pruner in within.items():
        yield f"guarded {name} min_keep", _guarded(pruner, min_keep=3)
        yield f"guarded {name} min_keep over budget", _guarded(pruner, min_keep=5)
        yield f"guarded {name} protected", _guarded(pruner, protected=some)
        yield f"guarded {name} max_degree", _guarded(pruner, max_degree=2)
        yield f"guarded {name} max_degree of owners", _guarded(pruner, max_degree=(2, None))
        yield f"guarded {name} max_degree of neighbours", _guarded(pruner, max_degree=(None, 3))
        yield f"guarded {name} out", _guarded(partial(pruner, side="out"), min_keep=4, max_degree=6)
        yield f"guarded {name} loops", _guarded(partial(pruner, self_loops="edge"), min_keep=3, protected=some)
        yield f"guarded {name} drop", _guarded(partial(pruner, self_loops="drop"), min_keep=3, protected=some)
        yield f"guarded {name} seed", _guarded(partial(pruner, seed=3), min_keep=3)
        yield f"guarded {name} union", _guarded(partial(pruner, symmetric="union"), "pairs", min_keep=2, max_degree=9)
        yield (
            f"guarded {name} intersection",
            _guarded(partial(pruner, symmetric="intersection"), "pairs", min_keep=2, protected=some[some < 3000]),
        )
        yield f"guarded {name} undirected", _guarded(pruner, "undirected", min_keep=2, max_degree=9)
        yield f"guarded {name} several", _guarded(pruner, "several", min_keep=2, max_degree=6)
        yield f"guarded {name} bipartite", _guarded(pruner, "bipartite", min_keep=2, max_degree=(8, 9))
    yield "guarded by a mask", _guarded(within["lsp"], protected=np.arange(4000) % 37 == 1)
    yield "guarded k", _guarded(partial(LSP, k=3), max_degree=(None, 7), min_keep=2)
    yield "guarded codebook", _guarded(partial(LSP, keep=0.15, hash="codebook"), min_keep=3)
    yield "guarded local-random", _guarded(partial(LocalRandom, k=2), max_degree=3)
    yield "guarded no-edges", _guarded(NoEdges, min_keep=1)
    yield "guarded twice", _guarded(lambda: Guarded(pruner=Random(keep=0.15), min_keep=2), max_degree=4)


def _timed(pruner: Callable[..., Pruner], graph: str = "timed", **options: Any) -> Entry:
    return lambda: Timed(pruner=pruner(), **options), graph


def _times() -> Iterator[tuple[str, Entry]]:
    """Every option of time, with times beyond 2^53."""
    first, few = 2**60, partial(LSP, k=3)
    date = np.datetime64(first + 12, "ns")
    yield "timed until", _timed(few, until=first + 12)
    yield "timed until, by date", _timed(partial(LSP, k=4), time="date", until=date)
    yield "timed since", _timed(few, since=first + 12)
    yield "timed until and since", _timed(few, until=first + 20, since=first + 5)
    yield "timed until, window", _timed(few, until=first + 20, window=6)
    yield "timed by date, window", _timed(few, time="date", until=date, window="5ns")
    yield "timed window", _timed(few, window=4)
    yield "timed owner", _timed(few, until="owner")
    yield "timed owner, window", _timed(few, until="owner", window=4)
    yield "timed owner, another name", _timed(few, until="owner", node_time="born")
    yield "timed owner out", _timed(partial(LSP, k=3, side="out"), until="owner")
    yield "timed random", _timed(partial(Random, keep=0.2), until=first + 12)
    yield "timed bipartite", _timed(few, "timed bipartite", until="owner")
    yield "timed guarded", _timed(lambda: Guarded(pruner=LSP(keep=0.15), min_keep=2), until=first + 12)


EXACT: dict[str, Entry] = {
    # The first fifteen: their names and digests are older than this table.
    "lsp": _lsp(k=3),
    "lsp keep": _lsp(keep=0.6, seed=7),
    "lsp neighbour": _lsp(k=5, attributes=("neighbour",)),
    "lsp bottom": _lsp(k=3, select="bottom"),
    "threshold": _lsp(k=3, hash="threshold"),
    "identity": _lsp(k=3, hash="identity"),
    "union": _lsp(keep=0.3, symmetric="union"),
    "paper p": (partial(LSP.paper, "p", k=3), "plain"),
    "paper t": (partial(LSP.paper, "t", k=3), "plain"),
    "published p": (partial(LSP.published, "p", k=3), "plain"),
    "published t": (partial(LSP.published, "t", k=3), "plain"),
    "hub": _lsp("hub", keep=0.9),
    "hub bottom": _lsp("hub", keep=0.9, select="bottom"),
    "random": (partial(Random, keep=0.5), "plain"),
    "local random": (partial(LocalRandom, k=3), "plain"),
    **_table(_families(), _weights(), _labels(), _options()),
    **_table(_baselines(*(name for name in BASELINES if name not in ("effective-resistance", "spanning-forest")))),
    "share of each node": _lsp(budget=PerNode(share=0.3)),
    "share of each node, union": _lsp("pairs", budget=PerNode(share=0.2, at_least=2), symmetric="union"),
    "power of each degree": _lsp("hub", budget=PerNode(exponent=0.6), side="out"),
    "share of each node, paper": _lsp(budget=PerNode(share=0.25), ties="id"),
    "ties of weights kept": (partial(TopWeight, k=3, ties="keep"), "category"),
    "ties of hubs kept": (partial(LocalDegree, k=3, ties="keep"), "plain"),
    "ties of jaccard kept": (partial(Jaccard, k=3, hashes=7, ties="keep"), "plain"),
    "ties of cosine kept": (partial(Cosine, k=2, ties="keep"), "category"),
    "ties of degrees kept": (partial(LowDegree, budget=PerNode(exponent=0.4), ties="keep"), "plain"),
    "jaccard of few hashes": (partial(Jaccard, k=3, hashes=5), "plain"),
    "top-weight of one column": (partial(TopWeight, k=3), "single"),
    "top-weight of integers": (partial(TopWeight, keep=0.4), "category"),
    "top-weight of integers, seed": (partial(TopWeight, keep=0.4, seed=11), "category"),
    "no-edges": (NoEdges, "plain"),
    "no-edges edge": (partial(NoEdges, self_loops="edge"), "plain"),
    "no-edges drop": (partial(NoEdges, self_loops="drop"), "plain"),
    "no-edges bipartite": (NoEdges, "bipartite"),
    **_table(_guards()),
    **_table(_times()),
}

# Digests that are promised on one type of machine: x86-64 with the library versions of constraints.txt. Here floats
# decide (the overlaps that `auto` compares), or scipy does (components and spanning forests). The tests skip these on
# other machines.
ONE_MACHINE: dict[str, Entry] = {
    "auto k": _lsp(k=3, hash="auto"),
    "auto keep": _lsp(keep=0.5, hash="auto"),
    "auto noise": _lsp(k=3, hash=Auto(noise=1.0), seed=2),
    "auto on nodes": _lsp("nodes", k=3, hash="auto"),
    "auto on edges": _lsp("edges", k=3, hash="auto", side="out"),
    "auto on category": _lsp("category", k=3, hash="auto"),
    "auto on bipartite": _lsp("bipartite", k=3, hash="auto"),
    "auto on several": _lsp("several", keep=0.3, hash="auto"),
    "auto on words": _lsp("words", k=3, hash="auto"),
    "auto on sparse words": _lsp("sparse words", k=3, hash="auto"),
    "auto degree": _lsp("positive", k=3, hash="auto", weights="degree"),
    "auto auto k": _lsp(k=3, hash="auto", weights="auto"),
    "auto auto keep": _lsp(keep=0.25, hash="auto", weights="auto"),
    "auto auto labels": _lsp(keep=0.25, hash="auto", weights="auto:labels=true"),
    "auto auto many": _lsp(keep=0.7, hash="auto", weights="auto"),
    "auto auto power": _lsp(k=3, hash="auto", weights="auto", power=0.25),
    "auto auto on positive": _lsp("positive", k=3, hash="auto", weights="auto"),
    "auto auto on bipartite": _lsp("bipartite", k=2, hash="auto", weights="auto"),
    "auto auto union": _lsp("pairs", keep=0.25, hash="auto", weights="auto", symmetric="union"),
    "projection auto": _lsp(k=3, weights="auto"),
    "projection auto^0.25": _lsp(k=3, weights="auto", power=0.25),
    "projection auto on positive": _lsp("positive", k=3, weights="auto"),
    "signs auto": _lsp("positive", k=3, hash="signs", weights="auto"),
    "signs auto^0.25": _lsp("positive", k=3, hash="signs", weights="auto", power=0.25),
    "identity auto": _lsp("positive", keep=0.25, hash="identity", weights="auto"),
    **_table(_baselines("effective-resistance", "spanning-forest")),
    "disparity": (partial(Disparity, keep=0.12, column=1), "positive"),
    "disparity union": (partial(Disparity, k=2, column=1, symmetric="union", side="out"), "positive"),
    "disparity intersection": (partial(Disparity, keep=0.2, column=0, symmetric="intersection"), "positive"),
    "disparity per node": (partial(Disparity, budget=PerNode(share=0.3), column=2, self_loops="edge"), "positive"),
    "disparity pooled": (partial(Disparity, keep=0.2, pooled=True, seed=3, self_loops="drop"), "category"),
    "metric-backbone": (partial(MetricBackbone, column=1), "positive"),
    "metric-backbone of similarities": (partial(MetricBackbone, column=0, weights="similarity"), "positive"),
    "metric-backbone drop": (partial(MetricBackbone, column=2, self_loops="drop"), "positive"),
    "metric-backbone edge": (partial(MetricBackbone, column=1, self_loops="edge"), "positive"),
    "effective-resistance of many trees": (partial(EffectiveResistance, keep=0.4, trees=64), "plain"),
    **{
        f"guarded {name} {promise}": _guarded(pruner, graph, keep_connected=True, **more)
        for name, pruner in (("lsp", LSP), ("random", Random))
        for promise, pruner, graph, more in (
            ("connected", partial(pruner, keep=0.1), "plain", {}),
            ("connected out", partial(pruner, keep=0.1, side="out"), "hub", {"min_keep": 1}),
            ("connected, all promises", partial(pruner, keep=0.15), "plain",
             {"min_keep": 2, "max_degree": 4, "protected": np.arange(0, 4000, 91)}),
            ("connected union", partial(pruner, keep=0.1, symmetric="union"), "pairs", {"min_keep": 1}),
            ("connected bipartite", partial(pruner, keep=0.05), "bipartite", {}),
            ("connected several", partial(pruner, keep=0.1), "several", {"max_degree": (None, 6)}),
        )
    },
}  # fmt: skip

CONFIGURATIONS: dict[str, Entry] = {**EXACT, **ONE_MACHINE}


def promised() -> list[str]:
    """The names of the configurations whose digests are promised on this machine."""
    return list(CONFIGURATIONS if platform.machine() == MACHINE else EXACT)


def known() -> dict[str, str]:
    """The digests as they were written."""
    return dict(json.loads(FILE.read_text())) if FILE.exists() else {}


def digest_of(mask: np.ndarray) -> str:
    """The first 16 hex digits of the SHA-256 of a mask, one byte an edge."""
    return hashlib.sha256(mask.astype(np.uint8).tobytes()).hexdigest()[:16]


def digest(name: str) -> str:
    """The digest of a configuration, computed in memory."""
    make, graph = CONFIGURATIONS[name]
    return digest_of(make().mask(graph_named(graph)))


def main(arguments: list[str]) -> int:
    """Compare all digests; with --write, add those that are missing. 1 if one differs, or is missing after that."""
    if arguments not in ([], ["--write"]):
        print(__doc__)
        return 2
    warnings.simplefilter("ignore")
    before, found = known(), {name: digest(name) for name in promised()}
    changed = [name for name in found if before.get(name, found[name]) != found[name]]
    gone, missing = (
        [name for name in before if name not in CONFIGURATIONS],
        [name for name in found if name not in before],
    )
    for name in changed:
        print(f"{name}: {found[name]}, but it was {before[name]}; a digest is never changed by this program")
    for name in gone:
        print(f"{name}: has a digest and no configuration")
    if arguments and not (changed or gone):
        both = {**found, **before}
        FILE.write_text(json.dumps({name: both[name] for name in CONFIGURATIONS if name in both}, indent=1) + "\n")
    print(f"{len(found)} compared, {len(changed)} differ, {len(missing)} {'added' if arguments else 'missing'}")
    return int(bool(changed or gone or (missing and not arguments)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
