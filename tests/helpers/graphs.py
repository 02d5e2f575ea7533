"""Small graphs for tests: random ones with everything that can go wrong, and strategies for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from lsprune import LSP, First, Graph, Identity, LocalRandom, NoEdges, PerNode, Projection, Random, Threshold
from lsprune.baselines import (
    Cosine,
    DSpar,
    EffectiveResistance,
    Jaccard,
    LocalDegree,
    LowDegree,
    SpanningForest,
    TopWeight,
)
from lsprune.hashing import Both, Codebook, Signs
from lsprune.hashing.base import View
from lsprune.kernels import runtime
from lsprune.pruners import PaperLSP, PerOwner
from lsprune.selection.choose import edge_keys
from lsprune.selection.owners import group
from lsprune.weights import Degree

STEPS = 5  # hash functions that keys are compared for


def random_graph(seed: int, nodes: int = 12, edges: int = 60, dim: int = 5, edge_dim: int = 0, **options) -> Graph:
    """A directed graph with self-loops, parallel edges and isolated nodes."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, max(nodes - 1, 1), (2, edges if nodes else 0))  # the last node stays isolated
    return Graph.from_edges(
        ends.astype(options.get("dtype", np.int64)),
        num_nodes=nodes,
        x=rng.standard_normal((nodes, dim)).astype(np.float32) if dim else None,
        edge_attr=rng.standard_normal((ends.shape[1], edge_dim)).astype(np.float32) if edge_dim else None,
    )


def communities(nodes: int = 240, width: int = 12, noise: float = 1.0, seed: int = 0) -> tuple[Graph, np.ndarray]:
    """Nodes of three kinds, each with some ten neighbours, half of them of its kind; attributes tell the kind."""
    rng = np.random.default_rng(seed)
    kind = np.arange(nodes) % 3
    target = np.repeat(np.arange(nodes), 10)
    source = rng.integers(0, nodes, target.size)
    near = rng.random(target.size) < 0.3
    source[near] = source[near] // 3 * 3 + kind[target[near]]
    source, target = np.unique(np.stack([source, target]), axis=1)
    x = rng.normal(0, 1, (3, width))[kind] + 5 + rng.normal(0, noise, (nodes, width))
    return Graph.from_edges(np.stack([source, target]), num_nodes=nodes, x=x.astype(np.float32)), kind


def same_kind(graph: Graph, kind: np.ndarray, mask: np.ndarray) -> float:
    """The share of the kept edges that join nodes of one kind."""
    source, target = (end[mask] for end in graph.ends())
    return float((kind[source] == kind[target]).mean())


@st.composite
def graphs(draw, max_nodes: int = 10, max_edges: int = 40) -> Graph:
    """Any small graph: directed, with loops and duplicates, coarse attributes that make ties, sometimes edge_attr."""
    nodes = draw(st.integers(1, max_nodes))
    edges = draw(st.integers(0, max_edges))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from([np.int32, np.int64]))
    coarse = draw(st.booleans())
    x = rng.integers(-1, 2, (nodes, 3)).astype(float) if coarse else rng.standard_normal((nodes, 4))
    x = x.astype(draw(st.sampled_from([np.float16, np.float32, np.float64])))
    attr = rng.integers(0, 2, (edges, 2)).astype(np.float32) if draw(st.booleans()) else None
    return Graph.from_edges(rng.integers(0, nodes, (2, edges)).astype(kind), num_nodes=nodes, x=x, edge_attr=attr)


def with_budget(k=None, keep=None) -> list:
    """One pruner of every kind for a budget."""
    budget = {"k": k, "keep": keep}
    return [
        LSP(**budget),
        PaperLSP(**budget, side="out", ties="id"),
        LSP(**budget, select="bottom"),
        LSP(**budget, hash=Projection(l=0.25, sparsity=3)),
        LSP(**budget, hash=Threshold(), attributes=("owner", "edge", "neighbour")),
        LSP(**budget, hash=Identity(), self_loops="edge"),
        LSP(**budget, symmetric="union"),
        LSP(**budget, symmetric="intersection", self_loops="drop"),
        Random(**budget),
        Random(**budget, symmetric="union"),
        LocalRandom(**budget),
        LocalRandom(**budget, symmetric="intersection"),
        First(**budget),
        LowDegree(**budget),
        LocalDegree(**budget, side="out", symmetric="union"),
        Jaccard(**budget, hashes=20),
        Jaccard(**budget, exact=True, self_loops="edge"),
        Cosine(**budget, side="out"),
        TopWeight(**budget, column=0),
        DSpar(**budget),
        EffectiveResistance(**budget, trees=8, self_loops="edge"),
        SpanningForest(**budget),
        SpanningForest(**budget, symmetric="intersection", self_loops="edge"),
    ]


ALL_PRUNERS = [
    *with_budget(k=2),
    *with_budget(keep=0.4),
    LSP(budget=PerNode(share=0.4)),
    LSP(budget=PerNode(exponent=0.6, at_least=2), symmetric="union", side="out"),
    LocalRandom(budget=PerNode(share=0.3)),
    Random(budget=PerNode(exponent=0.5)),
    TopWeight(k=1, column=0, ties="keep"),
    LowDegree(budget=PerNode(share=0.2), ties="keep", symmetric="intersection"),
    LSP(k=2, hash="codebook"),
    LSP(keep=0.4, hash="codebook", select="bottom", weights="degree"),
    LSP(k=2, hash="auto"),
    LSP(k=2, hash=Signs(bits=3)),
    LSP(k=2, hash="bins"),
    LSP(keep=0.4, hash="structure"),
    LSP(k=2, hash="both"),
    LSP(keep=0.4, hash=Both(edge=Codebook(), node=Projection()), attributes=("owner", "edge", "neighbour")),
    LSP(k=2, hash=Both(edge=Signs(bits=2), node=Identity()), weights="degree"),
    LSP(k=2, hash="identity", weights="degree"),
    LSP(keep=0.4, weights=Degree(power=0.5)),
    LSP(k=2, hash="signs", weights="jaccard:power=0.5*degree:power=0.5"),
    TopWeight(k=2, weights="jaccard:power=0.5*degree:power=0.5"),
    TopWeight(keep=0.4, weights="similarity*degree"),
    LSP(k=2, hash="constant", weights="jaccard"),
    PaperLSP(k=2, replace=True),
    LSP(k=20),
    LSP.paper("p", k=2),
    LSP.paper("t", k=2),
    LSP.published("p", k=2, sparsity=3),
    LSP.published("t", k=2, sparsity=3),
    NoEdges(),
]


def suits(pruner, graph: Graph) -> bool:
    """Whether the graph has the attributes without which the pruner refuses to work."""
    column = isinstance(pruner, TopWeight) and pruner.weights is None
    return graph.edge_attr is not None or not (column or isinstance(getattr(pruner, "hash", None), Both))


def name_of(pruner) -> str:
    """A short id for pytest."""
    return repr(pruner)[:60]


def owners_of(graph: Graph, side: str) -> np.ndarray:
    """The owner of each edge."""
    source, target = graph.ends()
    return target if side == "in" else source


def kept_edges(graph: Graph, mask: np.ndarray, attr: bool = True) -> list[tuple]:
    """The kept edges as a sorted list of (source, target, attributes): what a shuffle must not change."""
    source, target = graph.ends()
    rows = graph.edge_attr if attr and graph.edge_attr is not None else np.zeros((graph.num_edges, 0))
    return sorted((int(source[e]), int(target[e]), *rows[e].tolist()) for e in np.flatnonzero(mask))


def keys_of(pruner: PerOwner, graph: Graph, count: int = STEPS, executor: str = "cpu", threads: int = 1) -> np.ndarray:
    """The keys `[edges, count]` of a pruner, fitted if need be, in the caller's order; self-loops must be counted."""
    run = runtime(threads, executor)
    fitted = pruner if pruner.is_fitted else pruner.fit_graph(graph, run)
    owned = group(graph, fitted.rules, run)
    source = fitted.key_source(graph, owned, run)
    keys = np.empty((graph.num_edges, count), np.int64)
    for first in range(0, count, 16):
        few = min(16, count - first)
        block = edge_keys(source.keys(first, few, count), owned, 0, owned.indptr.shape[0] - 1, few)
        keys[owned.edges(0, graph.num_edges), first : first + few] = block
    return keys


def view_of(pruner: LSP, graph: Graph, steps: int = 1, executor: str = "cpu", threads: int = 1) -> View:
    """What the hash family of a pruner, fitted to the graph, may look at."""
    run = runtime(threads, executor)
    fitted = pruner.fit_graph(graph, run)
    return fitted.view(graph, group(graph, fitted.rules, run), steps, run)


def reordered(graph: Graph, order: np.ndarray) -> Graph:
    """The same graph with its edges in another order."""
    source, target = graph.ends()
    attr = None if graph.edge_attr is None else graph.edge_attr[order]
    return Graph.from_edges((source[order], target[order]), num_nodes=graph.num_nodes, x=graph.x, edge_attr=attr)
