"""Generated graphs and pruners by number: the cases that checks are tried on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lsprune import LSP, First, Graph, LocalRandom, PerNode, Random
from lsprune.baselines import Cosine, DSpar, Jaccard, LocalDegree, LowDegree, TopWeight
from lsprune.hashing import Bins, Both, Codebook, Family, Identity, Projection, Signs, Structure, Threshold
from lsprune.pruners import Pruner
from lsprune.weights import Column, Degree, Similarity, Weight
from lsprune.weights import Jaccard as JaccardWeight

SHAPES = ("uniform", "power-law", "hub", "cliques", "empty", "pairs")


@dataclass(frozen=True)
class Options:
    """What a case may have.

    Args:
        nodes, edges: the most nodes and edges.
        streams: only pruners that `--stream` and Spark take.
        symmetric: pairs of edges, too.
    """

    nodes: int = 40
    edges: int = 300
    streams: bool = False
    symmetric: bool = True


def random_graph(rng: np.random.Generator, options: Options = Options()) -> Graph:  # noqa: B008  # frozen
    """Return a graph of a random shape, with or without attributes, self-loops and parallel edges."""
    nodes = int(rng.integers(1, options.nodes + 1))
    ends = _ends(rng, str(rng.choice(SHAPES)), nodes, int(rng.integers(0, options.edges + 1)))
    count = ends.shape[1]
    return Graph.from_edges(
        ends,
        num_nodes=nodes,
        x=_rows(rng, nodes, 0.8),
        edge_attr=_rows(rng, count, 0.3),
    )


def _ends(rng: np.random.Generator, shape: str, nodes: int, edges: int) -> np.ndarray:
    """Return sources and targets, `[2, E]` int64."""
    ends = rng.integers(0, nodes, (2, edges))
    if shape == "empty":
        ends = ends[:, :0]
    elif shape == "power-law":
        ends[1] = (nodes * rng.random(edges) ** 3).astype(np.int64)
    elif shape == "hub":
        ends[1] = np.where(rng.random(edges) < 0.7, 0, ends[1])
    elif shape == "cliques":
        size = int(rng.integers(2, 7))
        ends[1] = np.minimum(ends[0] // size * size + rng.integers(0, size, edges), nodes - 1)
    elif shape == "pairs":
        ends = np.concatenate([ends, ends[::-1]], axis=1)
    return ends if rng.random() < 0.5 else np.unique(ends, axis=1)


def _rows(rng: np.random.Generator, count: int, chance: float) -> np.ndarray | None:
    """Return attributes: vectors of floats, few different values, mostly zeros, or one column of categories."""
    if rng.random() > chance:
        return None
    width = int(rng.integers(1, 7))
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(0, 5, (count, 1))
    if kind == 1:
        return rng.integers(-2, 3, (count, width)).astype(np.float32)
    rows = (rng.standard_normal((count, width)) * 10.0 ** rng.integers(-3, 4)).astype(np.float32)
    return rows if kind == 2 else np.where(rng.random(rows.shape) < 0.7, 0, rows).astype(np.float32)


def random_pruner(rng: np.random.Generator, graph: Graph, options: Options = Options()) -> Pruner:  # noqa: B008
    """Return a pruner with random options that the graph has the attributes for."""
    budget = _budget(rng)
    budget["seed"] = int(rng.integers(0, 2**31))
    budget["side"] = str(rng.choice(["in", "out"]))
    budget["self_loops"] = str(rng.choice(["free", "edge", "drop"]))
    if options.symmetric and rng.random() < 0.2:
        budget["symmetric"] = str(rng.choice(["union", "intersection"]))
    if rng.random() < 0.3:
        return _baseline(rng, graph, options, budget)
    family = _family(rng, graph, options)
    weighable = not isinstance(family, Bins) and getattr(family, "l", None) is None  # whole steps cannot be weighted
    weights = _weight(rng, graph, options) if weighable else None
    return LSP(hash=family, weights=weights, select=str(rng.choice(["functions", "bottom"])), **budget)


def _budget(rng: np.random.Generator) -> dict[str, object]:
    kind = rng.integers(4)
    if kind < 2:
        return {"k": int(rng.integers(0, 9))}
    if kind == 2:
        return {"keep": round(float(rng.uniform(0.01, 1.0)), 3)}
    return {"budget": PerNode(share=round(float(rng.uniform(0.05, 1.0)), 2), at_least=int(rng.integers(0, 3)))}


def _family(rng: np.random.Generator, graph: Graph, options: Options) -> Family:
    plain: list[Family] = [Identity()]
    if not options.streams:
        plain.append(Structure(rounds=int(rng.integers(0, 3))))
    if graph.x is not None or graph.edge_attr is not None:
        plain += [
            Projection(), Projection(l=0.25), Threshold(), Signs(bits=int(rng.integers(1, 9))), Bins(), Codebook(),
        ]  # fmt: skip
    if graph.x is not None and graph.edge_attr is not None:
        plain.append(Both(edge=Signs(bits=2), node=Projection()))
    return plain[rng.integers(len(plain))]


def _weight(rng: np.random.Generator, graph: Graph, options: Options) -> Weight | None:
    if rng.random() < 0.5:
        return None
    power = float(rng.choice([0.25, 0.5, 1.0, 2.0]))
    weights: list[Weight] = [Degree(power=power)]
    if not options.streams:
        weights.append(JaccardWeight(power=power))
        if graph.x is not None:
            weights.append(Similarity(power=power))
            weights.append(JaccardWeight() * Similarity(power=power))
    if graph.edge_attr is not None and graph.edge_attr.dtype.kind == "f" and bool((graph.edge_attr[:, 0] > 0).all()):
        weights.append(Column(column=0, power=power))
    return weights[rng.integers(len(weights))]


def _baseline(rng: np.random.Generator, graph: Graph, options: Options, budget: dict[str, object]) -> Pruner:
    made: list[type] = [LocalRandom, First]
    if not options.streams:
        made += [LowDegree, LocalDegree, Jaccard]
        made += [Cosine] if graph.x is not None and graph.x.shape[1] > 1 else []
    if "keep" in budget:
        made += [] if options.streams else [Random, DSpar]
    if graph.edge_attr is not None and graph.edge_attr.shape[1] == 1 and "budget" not in budget:
        made.append(TopWeight)
    return made[rng.integers(len(made))](**budget)
