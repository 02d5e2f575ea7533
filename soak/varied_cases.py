"""More kinds of graphs and pruners than `soak.cases`: what an executor must give the same bits for.

Nothing here needs torch, so that any environment with numpy, scipy and numba can run these cases.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from lsprune import LSP, Graph, Guarded, Timed
from lsprune.baselines import Cosine, Jaccard, LocalDegree, LowDegree, TopWeight
from lsprune.errors import LspruneError
from lsprune.hashing import Auto, PaperProjection, PaperThreshold
from lsprune.kernels import executors
from lsprune.pruners import PaperLSP, Pruner
from lsprune.selection import owners
from soak.cases import Options, random_graph, random_pruner

PARTS = (("neighbour",), ("edge", "neighbour"), ("owner", "edge", "neighbour"))


@dataclass(frozen=True)
class Case:
    """A graph, a pruner, and its mask by the definition: the reference in plain Python."""

    graph: Graph
    pruner: Pruner
    mask: np.ndarray


def varied_case(
    area: int,
    number: int,
    options: Options = Options(),  # noqa: B008  # frozen
    accepts: Callable[[Pruner], bool] = lambda pruner: True,
) -> Case:
    """Return a case by number; pruners that refuse the graph, or that `accepts` refuses, are drawn again."""
    rng = np.random.default_rng([area, number])
    graph = varied_graph(rng, options)
    return case_on(graph, lambda: varied_pruner(rng, graph, options), accepts)


def case_on(
    graph: Graph,
    draw: Callable[[], Pruner],
    accepts: Callable[[Pruner], bool] = lambda pruner: True,
) -> Case:
    """Return a case on this graph with the first pruner drawn that is accepted and does not refuse the graph."""
    while True:
        try:
            pruner = draw()
            if accepts(pruner):
                return Case(graph, pruner, pruner.mask(graph, executor="reference"))
        except LspruneError:
            continue


def varied_graph(rng: np.random.Generator, options: Options = Options()) -> Graph:  # noqa: B008
    """Return a graph as of `soak.cases`, often in another form: compressed, sorted, bipartite, several in one."""
    graph = random_graph(rng, options)
    while graph.num_edges == 0 and rng.random() < 0.8:  # graphs without edges say little
        graph = random_graph(rng, options)
    changes = (_small_types, _sorted, _compressed, _bipartite, _several, _undirected, _sparse, _timed)
    chosen = int(rng.integers(2 * len(changes)))
    return changes[chosen](rng, graph) if chosen < len(changes) else graph


def reordered(graph: Graph, order: np.ndarray) -> Graph:
    """Return the graph with its edges in another order."""
    source, target = graph.ends()
    columns = graph.edge_columns or {}
    return dataclasses.replace(
        graph, source=source[order], target=target[order], indptr=None, rows=None,
        edge_attr=None if graph.edge_attr is None else graph.edge_attr[order],
        edge_weight=None if graph.edge_weight is None else graph.edge_weight[order],
        edge_columns={name: values[order] for name, values in columns.items()} or None,
    )  # fmt: skip


def _small_types(rng: np.random.Generator, graph: Graph) -> Graph:
    """Ids of 32 bits, attributes of 16 or 64 bits, in columns."""
    kind = rng.choice(["f2", "f8"])
    x, attr = (
        rows if rows is None or rows.dtype.kind != "f" else np.asfortranarray(np.clip(rows, -1000, 1000).astype(kind))
        for rows in (graph.x, graph.edge_attr)
    )
    ends = np.stack(graph.ends()).astype(np.int32)
    return Graph.from_edges(ends, num_nodes=graph.num_nodes, x=x, edge_attr=attr)


def _sorted(rng: np.random.Generator, graph: Graph) -> Graph:
    return reordered(graph, np.argsort(graph.ends()[rng.integers(2)], kind="stable"))


def _compressed(rng: np.random.Generator, graph: Graph) -> Graph:
    """The edges as compressed rows of sources or targets."""
    return compressed(graph, str(rng.choice(["source", "target"])))[0]


def compressed(graph: Graph, rows: Any) -> tuple[Graph, np.ndarray]:
    """Return the graph as compressed rows, and the order of its edges there."""
    row, other = graph.ends() if rows == "source" else graph.ends()[::-1]
    order = np.argsort(row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=graph.num_nodes))])
    attr = None if graph.edge_attr is None else graph.edge_attr[order]
    return Graph.from_csr(indptr, other[order], rows=rows, x=graph.x, edge_attr=attr), order


def _bipartite(rng: np.random.Generator, graph: Graph) -> Graph:
    source, target = graph.ends()
    targets = int(rng.integers(1, graph.num_nodes + 1))
    x = None if graph.x is None else (graph.x, graph.x[:targets])
    ends = (source, target % targets)
    return Graph.from_edges(ends, num_nodes=(graph.num_nodes, targets), x=x, edge_attr=graph.edge_attr)


def _several(rng: np.random.Generator, graph: Graph) -> Graph:
    """The graph cut into three; the edges between its parts are left out."""
    ptr = np.array([0, *np.sort(rng.integers(0, graph.num_nodes + 1, 2)), graph.num_nodes])
    source, target = graph.ends()
    member = [np.searchsorted(ptr[1:], end, side="right") for end in (source, target)]
    within = member[0] == member[1]
    attr = None if graph.edge_attr is None else graph.edge_attr[within]
    ends = (source[within], target[within])
    return Graph.from_edges(ends, num_nodes=graph.num_nodes, x=graph.x, edge_attr=attr, ptr=ptr)


def _undirected(rng: np.random.Generator, graph: Graph) -> Graph:
    """Every edge and its reverse, which are one."""
    ends = np.stack(graph.ends())
    some = ends[0] != ends[1]
    both = np.concatenate([ends, ends[::-1, some]], axis=1)
    attr = None if graph.edge_attr is None else np.concatenate([graph.edge_attr, graph.edge_attr[some]])
    return Graph.from_edges(both, num_nodes=graph.num_nodes, x=graph.x, edge_attr=attr, undirected=True)


def _sparse(rng: np.random.Generator, graph: Graph) -> Graph:
    """Node attributes as a sparse matrix."""
    if graph.x is None:
        return graph
    x = scipy.sparse.csr_array(np.where(rng.random(graph.x.shape) < 0.5, 0, graph.x).astype(np.float32))
    return Graph.from_edges(graph.ends(), num_nodes=graph.num_nodes, x=x, edge_attr=graph.edge_attr)


def _timed(rng: np.random.Generator, graph: Graph) -> Graph:
    """Times of edges and nodes that float64 cannot tell apart, and edge weights."""
    times = [2**60 + rng.integers(0, 30, count) for count in (graph.num_edges, graph.num_nodes)]
    weighted = dataclasses.replace(graph, edge_weight=1 + rng.integers(0, 5, graph.num_edges) / 4)
    return weighted.with_columns({"time": times[0]}, {"time": times[1]})


def varied_pruner(rng: np.random.Generator, graph: Graph, options: Options = Options()) -> Pruner:  # noqa: B008
    """Return a pruner that may suit the graph: one of `soak.cases`, or a rarer one."""
    if graph.bipartite:  # no pairs, and attributes of sources stand for those of both ends
        options = dataclasses.replace(options, symmetric=False)
    plain = random_pruner(rng, dataclasses.replace(graph, bipartite=False), options)
    if graph.edge_columns and rng.random() < 0.5:
        return Timed(pruner=plain, until="owner" if rng.random() < 0.5 else 2**60 + int(rng.integers(30)))
    kind = int(rng.integers(10))
    if kind == 0:
        return _paper(rng, plain)
    if kind == 1:
        preset = (LSP.paper, LSP.published)[rng.integers(2)]
        return preset(str(rng.choice(["p", "t"])), k=int(rng.integers(1, 6)), seed=plain.seed)
    if kind == 2 and not options.streams:
        return _guarded(rng, plain)
    if kind == 3:
        return _pooled(rng, plain)
    if kind == 4 and not options.streams:
        return _kept_ties(rng, plain)
    if kind == 5 and isinstance(plain, LSP):
        return dataclasses.replace(plain, attributes=PARTS[rng.integers(len(PARTS))])
    return plain


def _paper(rng: np.random.Generator, plain: Pruner) -> Pruner:
    """LSP with options of the paper."""
    families = (PaperProjection(l=1.0), PaperThreshold(digest="md5"), "identity", "signs:bits=1", "projection")
    options: dict[str, Any] = {"side": plain.side, "self_loops": plain.self_loops, "seed": plain.seed}
    options |= {"k": int(rng.integers(0, 9))} if rng.random() < 0.5 else {"keep": float(rng.uniform(0.05, 1))}
    return PaperLSP(
        **options, hash=families[rng.integers(len(families))], ties=str(rng.choice(["hash", "id", "position"])),
        values=str(rng.choice(["unit", "raw"])), replace=bool("k" in options and rng.random() < 0.3),
        attributes=PARTS[rng.integers(len(PARTS))],
    )  # fmt: skip


def _guarded(rng: np.random.Generator, plain: Pruner) -> Pruner:
    most: Any = [None, int(rng.integers(1, 9)), (int(rng.integers(1, 9)), None), (None, int(rng.integers(1, 9)))]
    return Guarded(pruner=plain, min_keep=int(rng.integers(0, 4)), max_degree=most[rng.integers(4)])


def _pooled(rng: np.random.Generator, plain: Pruner) -> Pruner:
    return dataclasses.replace(plain, pooled=True) if hasattr(plain, "pooled") else plain


def _kept_ties(rng: np.random.Generator, plain: Pruner) -> Pruner:
    """A baseline by scores, with the edges tied with the last one."""
    kinds = (Jaccard, Cosine, LowDegree, LocalDegree, TopWeight)
    options = {"side": plain.side, "self_loops": plain.self_loops, "seed": plain.seed}
    return kinds[rng.integers(len(kinds))](k=int(rng.integers(0, 6)), ties="keep", **options)


def learned_case(area: int, number: int) -> Case:
    """Return a case whose pruner looks for the best family or weight: floats of one machine decide."""
    rng = np.random.default_rng([area, number])
    graph = random_graph(rng)
    while graph.x is None and graph.edge_attr is None:
        graph = random_graph(rng)
    weights = None if rng.random() < 0.5 else "auto"
    return case_on(graph, lambda: LSP(keep=round(float(rng.uniform(0.1, 0.9)), 2), hash=Auto(), weights=weights))


def by_content(pruner: Pruner) -> bool:
    """Whether the caller's order of edges decides nothing."""
    inner = getattr(pruner, "pruner", pruner)
    return not (pruner.needs.position or inner.needs.position)


@contextmanager
def small_blocks() -> Iterator[None]:
    """Let a few edges fill a block, so that small graphs are shared out among threads."""
    sizes = ((owners, "BLOCK_EDGES", 7), (executors, "SPAN_EDGES", 5), (executors, "BLOCK_ROWS", 3))
    before = [getattr(module, name) for module, name, _ in sizes]
    for module, name, size in sizes:
        setattr(module, name, size)
    try:
        yield
    finally:
        for (module, name, _), size in zip(sizes, before, strict=True):
            setattr(module, name, size)
