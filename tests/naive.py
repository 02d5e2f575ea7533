"""A second reading of the rules, written from the paper and DESIGN alone: dictionaries, loops, Python integers."""

from __future__ import annotations

import hashlib

import numpy as np

from lsprune import Graph
from lsprune.kernels.mix import OFFSET, THRESHOLD, WEIGHT, draw
from lsprune.kernels.normals import normal


def fixed_point(values: np.ndarray, exponent: int) -> list[list[int]]:
    """Raw values as 16-bit fixed point."""
    return [[max(-32767, min(32767, round(float(v) * 2**exponent))) for v in row] for row in values]


def exponent_of(*arrays: np.ndarray) -> int:
    """The finest common fixed point that holds every value in 16 bits."""
    top = max(float(np.abs(a.astype(np.float32)).max()) for a in arrays)
    return 14 - int(np.floor(np.log2(top)))


def vectors(graph: Graph, side: str) -> tuple[list[list[int]], int]:
    """The paper's [owner, edge, neighbour] of every edge in fixed point, and the exponent."""
    source, target = graph.ends()
    owner, neighbour = (target, source) if side == "in" else (source, target)
    given = [a for a in (graph.x, graph.edge_attr) if a is not None]
    exponent = exponent_of(*given)
    x, attr = fixed_point(graph.x, exponent), None
    if graph.edge_attr is not None:
        attr = fixed_point(graph.edge_attr, exponent)
    rows = []
    for e in range(graph.num_edges):
        middle = attr[e] if attr else []
        rows.append([*x[owner[e]], *middle, *x[neighbour[e]]])
    return rows, exponent


def coordinates(graph: Graph) -> list[tuple[int, int]]:
    """(part, coordinate) of every entry of the vector."""
    dims = [
        (0, graph.x.shape[1]),
        (1, 0 if graph.edge_attr is None else graph.edge_attr.shape[1]),
        (2, graph.x.shape[1]),
    ]
    return [(part, j) for part, dim in dims for j in range(dim)]


def projection_key(vector: list[int], step: int, exponent: int, where: list[tuple[int, int]], seed: int) -> int:
    """floor((<x, w> + b) / l) with l = 1 and b ~ U[0, 1], in integers."""
    weights = [int(normal(draw(seed, WEIGHT, step, part, j))) for part, j in where]
    length = 1 << (exponent + 5)
    offset = (int(draw(seed, OFFSET, step)) * length) >> 64
    return (sum(a * b for a, b in zip(vector, weights, strict=True)) + offset) // length


def md5_key(vector: list[int], step: int, exponent: int, where: list[tuple[int, int]], seed: int) -> int:
    """MD5 of the bits x > w, most significant first, modulo 2^31 - 1."""
    bits = ""
    for value, (part, j) in zip(vector, where, strict=True):
        threshold = int(normal(draw(seed, THRESHOLD, step, part, j))) / 32 * 2.0**exponent
        bits += "1" if value > threshold else "0"
    bits += "0" * (-len(bits) % 8)
    packed = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
    return int.from_bytes(hashlib.md5(packed).digest(), "big") % (2**31 - 1)


def algorithm_1(graph: Graph, k: int, key, side: str = "out", seed: int = 0, replace: bool = False) -> np.ndarray:
    """Every owner, every function, the minimal hash; ties by position; self-loops kept and not counted."""
    rows, exponent = vectors(graph, side)
    where = coordinates(graph)
    source, target = graph.ends()
    owner = target if side == "in" else source
    kept = set(np.flatnonzero(source == target).tolist())
    for u in range(graph.num_nodes):
        mine = [e for e in range(graph.num_edges) if owner[e] == u and source[e] != target[e]]
        chosen: list[int] = []
        for step in range(1, k + 1):
            left = mine if replace else [e for e in mine if e not in chosen]
            if left:
                chosen.append(min(left, key=lambda e: (key(rows[e], step, exponent, where, seed), e)))
        kept |= set(chosen)
    return np.isin(np.arange(graph.num_edges), sorted(kept))
