"""The graphs of the golden digests, made without any random generator of numpy, whose stream may change."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from lsprune import Graph


def golden_graph(hub: bool = False) -> Graph:
    """211 nodes, 4,000 edges with self-loops and parallel edges, x [211, 12], edge_attr [4000, 3]; or with a hub."""
    e = np.arange(4000, dtype=np.int64)
    source, target = (e * e * 7 + e * 13) % 211, (e * 31 + e // 17) % 211
    if hub:
        target[:1000] = 5
    x = ((np.arange(211)[:, None] * 37 + np.arange(12)[None, :] * 101 + 5) % 97).astype(np.float32) - 48
    attr = ((e[:, None] * 11 + np.arange(3)[None, :] * 29) % 53).astype(np.float32) / 8
    return Graph.from_edges((source, target), num_nodes=211, x=x, edge_attr=attr)


def _with(x: Any = None, edge_attr: Any = None) -> Graph:
    """The edges of the golden graph with other attributes."""
    return Graph.from_edges(golden_graph().ends(), num_nodes=211, x=x, edge_attr=edge_attr)


def _sorted_by(end: int) -> Graph:
    """The edges sorted by source (0) or target (1), node attributes alone: what is streamed in one pass."""
    plain = golden_graph()
    order = np.argsort(plain.ends()[end], kind="stable")
    source, target = (side[order] for side in plain.ends())
    return Graph.from_edges((source, target), num_nodes=211, x=plain.x)


def _compressed() -> Graph:
    """The graph that is sorted by target, as compressed rows with ids of 32 bits."""
    source, target = _sorted_by(1).ends()
    indptr = np.searchsorted(target, np.arange(212)).astype(np.int32)
    return Graph.from_csr(indptr, source.astype(np.int32), rows="target", x=golden_graph().x)


def _words() -> np.ndarray:
    """Counts of 150 words in 211 texts, most of them 0."""
    node, word = np.arange(211)[:, None], np.arange(150)[None, :]
    value = (node * node * 3 + word * 89 + (node + 1) * word * 7) % 101
    return np.where(value < 6, value + 1, 0).astype(np.float32)


def _pairs(undirected: bool) -> Graph:
    """Edges in both directions, as such or as a graph that is undirected."""
    plain = golden_graph()
    some = np.stack(plain.ends())[:, :1500]
    attr = np.concatenate([plain.edge_attr[:1500]] * 2)
    ends = np.concatenate([some, some[::-1]], axis=1)
    return Graph.from_edges(ends, num_nodes=211, x=plain.x, edge_attr=attr, undirected=undirected)


def _positive() -> Graph:
    """All attributes above 0, as weights must be, and sources of very different degrees."""
    e = np.arange(4000)
    ends = (e % 13) * (e % 31) % 211, (e * 31 + e // 17) % 211
    x, attr = golden_graph().x + 49, golden_graph().edge_attr + np.float32(0.125)
    return Graph.from_edges(ends, num_nodes=211, x=x, edge_attr=attr)


def _bipartite() -> Graph:
    """90 sources and 50 targets; equal ids are no self-loops."""
    plain = _positive()
    source, target = plain.ends()
    ends = (source[:2000] * 5 + target[:2000]) % 90, target[:2000] % 50
    x = plain.x[:90], plain.x[90:140]
    return Graph.from_edges(ends, num_nodes=(90, 50), x=x, edge_attr=plain.edge_attr[:2000])


def _several() -> Graph:
    """Four graphs in one: 70 nodes, none, one with self-loops alone, 140 nodes; their edges come mixed."""
    plain = _positive()
    source, target = plain.ends()
    e, ptr = np.arange(4000), np.array([0, 70, 70, 71, 211])
    member = np.where(e % 4 == 0, 0, np.where(e % 400 == 1, 2, 3))
    size, base = np.diff(ptr)[member], ptr[member]
    ends = base + (source + target * 3) % size, base + target % size
    return Graph.from_edges(ends, num_nodes=211, x=plain.x, edge_attr=plain.edge_attr, ptr=ptr)


def _many() -> Graph:
    """30,000 edges with attributes around those of 20,000 kinds: enough for words in lists."""
    e, column = np.arange(30_000), np.arange(8)[None, :]
    kind = (e * 7919 % 20_000)[:, None]
    values = (kind * kind * (31 * column + 17) + kind * (101 * column + 7)) % 1009 + e[:, None] * (column + 3) % 97
    source, target = e * 37 % 400, e * 91 % 399
    ends = source, target + (source == target)
    return Graph.from_edges(ends, num_nodes=400, edge_attr=values.astype(np.float32))


def _timed(bipartite: bool = False) -> Graph:
    """The golden graph, or the bipartite one, with times that float64 cannot tell apart, and dates."""
    plain = _bipartite() if bipartite else golden_graph()
    e, first = np.arange(plain.num_edges), 2**60
    owners, others = (first + np.arange(count) * 13 % 31 for count in (plain.num_sources, plain.num_targets))
    times = first + e * e * 3 % 29
    return plain.with_columns(
        {"time": times, "date": times.view("M8[ns]")},
        {
            "time": (owners, others) if bipartite else owners,
            "born": (others[:1].repeat(90), others) if bipartite else owners[::-1],
        },
    )


GRAPHS: dict[str, Callable[[], Graph]] = {
    "plain": golden_graph,
    "hub": partial(golden_graph, True),
    "bare": _with,  # no attributes
    "nodes": lambda: _with(golden_graph().x),  # no edge attributes: keys of nodes
    "edges": lambda: _with(None, golden_graph().edge_attr),  # no node attributes
    "positive": _positive,
    "single": lambda: _with(_positive().x[:, :1], _positive().edge_attr[:, 0]),  # one column of each
    "category": lambda: _with(np.arange(211) * 7 % 13, np.arange(4000)[:, None] * 3 % 5),
    "words": lambda: _with(_words()),
    "sparse words": lambda: _with(csr_array(_words())),  # the same numbers
    "pairs": partial(_pairs, False),
    "undirected": partial(_pairs, True),
    "bipartite": _bipartite,
    "several": _several,
    "sorted": partial(_sorted_by, 1),
    "sorted by source": partial(_sorted_by, 0),
    "many": _many,
    "timed": _timed,
    "timed bipartite": partial(_timed, True),
    "compressed": _compressed,  # the same edges as "sorted"
}


@cache
def graph_named(name: str) -> Graph:
    """One of the graphs, made once."""
    return GRAPHS[name]()
