"""A second reading of the rules, from the paper and docs/how-it-works.md alone: dictionaries, loops, integers."""

from __future__ import annotations

import hashlib

import numpy as np

from lsprune import Graph
from lsprune.kernels.reference import mix
from lsprune.numeric.normal_table import normal
from lsprune.numeric.random_numbers import AFFINE, CODE, ENTRY, OFFSET, THRESHOLD, WEIGHT, below, draw


def fixed_point(values: np.ndarray, exponent: int) -> list[list[int]]:
    """Raw values as 16-bit fixed point."""
    return [[max(-32767, min(32767, round(float(v) * 2**exponent))) for v in row] for row in values]


def exponent_of(*arrays: np.ndarray) -> int:
    """The finest common fixed point that holds every value in 16 bits."""
    top = max(float(np.abs(a.astype(np.float32)).max()) for a in arrays)
    return 14 - int(np.floor(np.log2(top)))


def vectors(graph: Graph) -> tuple[list[list[int]], int]:
    """The paper's [owner, edge, neighbour] of every edge in fixed point, and the exponent."""
    owner, neighbour = graph.ends()
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


def published_projection_key(
    vector: list[int], step: int, exponent: int, where: list[tuple[int, int]], seed: int, sparsity: int = 4
) -> int:
    """`sparsity` entries drawn with replacement, their weights and the offset N(0, 1), bins of length 1."""
    total = int(normal(draw(seed, OFFSET, step))) * (1 << exponent)
    for i in range(sparsity):
        entry = int(below(draw(seed, ENTRY, step, i), len(vector)))
        total += vector[entry] * int(normal(draw(seed, WEIGHT, step, i)))
    return total // (1 << (exponent + 5))


def published_signature(
    vector: list[int], k: int, exponent: int, where: list[tuple[int, int]], seed: int, sparsity: int = 4
) -> int:
    """k groups of entries without replacement against thresholds N(1, 1), all their bits in one signature."""
    signature = 0
    for group in range(1, k + 1):
        order = sorted(range(len(where)), key=lambda i: int(draw(seed, ENTRY, group, *where[i])))
        for i in order[:sparsity]:
            part, j = where[i]
            threshold = (int(normal(draw(seed, THRESHOLD, group, part, j))) / 32 + 1) * 2.0**exponent
            if vector[i] > threshold:
                signature += int(draw(seed, CODE, group, part, j))
    return mix(signature % 2**64) % (2**31 - 1)


def published_threshold_key(k: int):
    """The key of LSP-T as published, for k functions: an affine permutation of the one signature."""

    def key(vector: list[int], step: int, exponent: int, where: list[tuple[int, int]], seed: int) -> int:
        slope = 1 + int(below(draw(seed, AFFINE, step, 0), 2**31 - 2))
        offset = int(below(draw(seed, AFFINE, step, 1), 2**31 - 1))
        return (slope * published_signature(vector, k, exponent, where, seed) + offset) % (2**31 - 1)

    return key


def algorithm_1(graph: Graph, k: int, key, seed: int = 0, replace: bool = False, loops: bool = False) -> np.ndarray:
    """Every source, every function, the minimal hash; ties by position; self-loops free, or like any edge (`loops`)."""
    rows, exponent = vectors(graph)
    where = coordinates(graph)
    source, target = graph.ends()
    kept = set() if loops else set(np.flatnonzero(source == target).tolist())
    for u in range(graph.num_nodes):
        mine = [e for e in range(graph.num_edges) if source[e] == u and (loops or source[e] != target[e])]
        chosen: list[int] = []
        for step in range(1, k + 1):
            left = mine if replace else [e for e in mine if e not in chosen]
            if left:
                chosen.append(min(left, key=lambda e: (key(rows[e], step, exponent, where, seed), e)))
        kept |= set(chosen)
    return np.isin(np.arange(graph.num_edges), sorted(kept))
