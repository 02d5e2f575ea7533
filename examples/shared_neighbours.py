"""The paper's Example: two classes that only shared neighbours tell apart, pruned to half the edges.

Nodes of class 1 have the neighbours 1 and 4, nodes of class 2 the neighbours 2 and 3; each also has two others, and for
every node of one class there is one of the other class with the same two others. Consistent pruning keeps the same
neighbours wherever they occur, so a class stays recognisable; random pruning keeps only the two that say nothing with
probability 1/6 for each node, 1/36 for both of a pair. Run it: `python examples/shared_neighbours.py`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from lsprune import LSP, Graph, LocalRandom

SIGNS = {1: (1, 4), 2: (2, 3)}  # the neighbours that make a class
OTHERS = ((8, 20), (9, 21), (10, 22), (11, 23))  # one pair for each of the four nodes of a class
CLASS_1, CLASS_2 = range(30, 34), range(34, 38)  # E, F, G, H and A, B, C, D


def example_graph() -> Graph:
    """The eight nodes with their four neighbours each."""
    edges = [
        (neighbour, node)
        for label, nodes in ((1, CLASS_1), (2, CLASS_2))
        for node, others in zip(nodes, OTHERS, strict=True)
        for neighbour in (*SIGNS[label], *others)
    ]
    return Graph.from_edges(np.array(edges).T, num_nodes=38)


def confused(graph: Graph, mask: np.ndarray) -> list[bool]:
    """For each pair of nodes with the same two others: whether only these are left on both sides."""
    source, target = graph.ends()
    left = {node: frozenset(source[mask & (target == node)].tolist()) for node in (*CLASS_1, *CLASS_2)}
    return [left[a] == left[b] == frozenset(others) for a, b, others in zip(CLASS_1, CLASS_2, OTHERS, strict=True)]


def exact_probability() -> float:
    """The chance that both nodes of a pair keep just the two others: by counting all ways."""
    ways = list(combinations(("sign", "sign'", "other", "other'"), 2))
    return (sum(way == ("other", "other'") for way in ways) / len(ways)) ** 2


def simulated(draws: int = 20_000) -> float:
    """The same by pruning at random with `draws` seeds."""
    graph = example_graph()
    return float(
        np.mean([confused(graph, LocalRandom(k=2, seed=seed).mask(graph, threads=1)) for seed in range(draws)])
    )


def consistent() -> tuple[int, int]:
    """Of 2,000 consistent prunings, those that keep the signs of class 1: (how many confuse a pair, how many)."""
    graph = example_graph()
    masks = [LSP(k=2, hash="identity", select="bottom", seed=seed).mask(graph, threads=1) for seed in range(2000)]
    source, target = graph.ends()
    ranked = [
        mask for mask in masks if all(mask[(target == node) & np.isin(source, SIGNS[1])].all() for node in CLASS_1)
    ]
    return sum(any(confused(graph, mask)) for mask in ranked), len(ranked)


def main(argv: Sequence[str] | None = None) -> None:
    """Print how often each kind of pruning confuses a pair."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20_000, help="seeds of the simulation")
    draws = parser.parse_args(argv).draws
    chance, share = exact_probability(), simulated(draws)
    print(f"random pruning confuses a pair with probability {chance:.4%} (1/36), simulated {share:.4%}")
    wrong, seen = consistent()
    print(f"consistent pruning that keeps the signs of class 1 confuses {wrong} pairs in {seen} draws")


if __name__ == "__main__":
    main()
