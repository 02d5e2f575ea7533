from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from baselines_helpers import best_of_each, owned_edges

from graphs import random_graph
from lsprune import Graph, GraphError, OptionError
from lsprune.baselines import Jaccard
from lsprune.baselines.jaccard import MINHASH
from lsprune.numeric.random_numbers import draw

sides = pytest.mark.parametrize(("side", "loops"), [("in", False), ("out", False), ("in", True)])


def sets_of(graph: Graph, side: str, loops: bool) -> dict[int, set[int]]:
    return {u: {v for _, v in mine} for u, mine in owned_edges(graph, side, loops).items()}


@sides
def test_the_exact_similarity_decides(side, loops):
    for seed in range(6):
        graph = random_graph(seed, nodes=14, edges=80)
        sets = sets_of(graph, side, loops)
        expected = best_of_each(
            graph, 2, lambda u, v, e, s=sets: -Fraction(len(s[u] & s[v]), len(s[u] | s[v])), side, loops, seed
        )
        pruner = Jaccard(k=2, exact=True, side=side, self_loops="edge" if loops else "free", seed=seed)
        np.testing.assert_array_equal(pruner.mask(graph), expected)


@sides
@pytest.mark.parametrize("hashes", [1, 16, 37])
def test_the_number_of_equal_min_hashes_decides(side, loops, hashes):
    for seed in range(3):
        graph = random_graph(seed, nodes=14, edges=80)
        value = np.array([draw(seed, MINHASH, z, np.arange(14)) >> np.uint64(33) for z in range(hashes)])
        least = {u: value[:, sorted(s)].min(axis=1) for u, s in sets_of(graph, side, loops).items() if s}

        def key(u, v, e, least=least):
            return -int((least[u] == least[v]).sum()) if v in least else 0

        expected = best_of_each(graph, 2, key, side, loops, seed)
        pruner = Jaccard(k=2, hashes=hashes, side=side, self_loops="edge" if loops else "free", seed=seed)
        np.testing.assert_array_equal(pruner.mask(graph), expected)


def test_min_hashes_find_what_the_exact_similarity_finds():
    # two groups of nodes that know each other, and edges between them at random: those are the ones to lose
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 30)
    source, target = np.nonzero(rng.random((60, 60)) < np.where(group[:, None] == group, 0.5, 0.08))
    graph = Graph.from_edges((source, target), num_nodes=60)
    within = group[source] == group[target]
    for pruner in (Jaccard(keep=0.3), Jaccard(keep=0.3, exact=True)):
        assert within.mean() < 0.9
        assert within[pruner.mask(graph)].mean() > 0.99


def test_parallel_edges_make_one_member():
    # 1 shares {3} of {3} with 0's {1, 2, 3}; 2 shares nothing, however often it hears of 4
    ends = np.array([[1, 2, 3, 3, 4, 4, 4, 4], [0, 0, 0, 1, 2, 2, 2, 2]])
    for exact in (False, True):
        assert Jaccard(k=1, exact=exact).mask(Graph.from_edges(ends))[:3].tolist() == [True, False, False]
    twice = Graph.from_edges(np.concatenate([ends, ends[:, 3:4], ends[:, 3:4]], axis=1))
    assert Jaccard(k=1, exact=True).mask(twice)[:3].tolist() == [True, False, False]


def test_what_is_wrong_is_named():
    with pytest.raises(GraphError, match="jaccard needs one kind of nodes"):
        Jaccard(k=1).mask(Graph.from_edges(np.zeros((2, 1), int), num_nodes=(1, 1)))
    for hashes in (0, 2**16, True, 1.5):
        with pytest.raises(OptionError, match="hashes must be a whole number in"):
            Jaccard(k=1, hashes=hashes)
    with pytest.raises(OptionError, match="exact must be True or False"):
        Jaccard(k=1, exact="yes")
