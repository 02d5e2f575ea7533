from __future__ import annotations

import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP, First, Graph, GraphError, LocalRandom, OptionError, Projection, Random, Threshold
from lsprune.measure import collision_curve
from lsprune.measure.collisions import distinct
from lsprune.pruners import PaperLSP

DISTANCES = (0.0, 0.1, 0.3, 1.0, 3.0)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return random_graph(0, nodes=400, edges=3000, dim=10, edge_dim=6)


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("attributes", [("edge",), ("neighbour",), ("edge", "neighbour")])
def test_projections_fall_from_certainty_towards_chance(graph, side, attributes):
    curve = collision_curve(LSP(k=2, side=side, attributes=attributes), graph, DISTANCES, 1000)
    assert curve.distances == DISTANCES and curve.chance == 1 / 8
    assert curve.same_edge[0] > 0.99 and curve.same_key[0] == 1
    assert list(curve.same_edge) == sorted(curve.same_edge, reverse=True)
    assert 0.85 < curve.same_edge[1] < 0.97 and 0.4 < curve.same_edge[3] < 0.6 and curve.same_edge[4] > 0.15
    assert max(curve.same_key[1:]) < 0.02  # without bins


@pytest.mark.parametrize(
    "pruner", [LSP(k=1, weights="jaccard"), LSP(keep=0.1, weights="similarity"), LSP(k=1, weights="auto")]
)
def test_weights_that_go_by_the_neighbourhood_are_left_out(graph, pruner):
    assert collision_curve(pruner, graph, DISTANCES, 200) == collision_curve(LSP(k=1), graph, DISTANCES, 200)


def test_the_same_edge_by_definition():
    # One column, one part: the smallest projection is the smallest (or largest) value; noise by the definition.
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 300, (2, 2000)), edge_attr=rng.standard_normal((2000, 1)))
    found = collision_curve(PaperLSP(k=1, values="raw"), graph, [0.5], 6000, choices=5).same_edge[0]
    clean = rng.standard_normal((200_000, 5))
    moved = clean + 0.5 * rng.standard_normal(clean.shape)
    assert found == pytest.approx((clean.argmin(axis=1) == moved.argmin(axis=1)).mean(), abs=0.03)


def test_the_same_key_by_definition():
    # Bins of length l: P(same bin) at noise d is the mean of max(0, 1 - |d w g| / l) over weights and noise.
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 300, (2, 3000)), edge_attr=rng.standard_normal((3000, 4)))
    pruner = PaperLSP(k=1, hash=Projection(l=1.0), values="raw")
    found = collision_curve(pruner, graph, [0.3], 4000, functions=200).same_key[0]
    shift = 0.3 * (rng.standard_normal((200_000, 4)) * rng.standard_normal((200_000, 4))).sum(axis=1)
    assert found == pytest.approx(np.maximum(0, 1 - np.abs(shift)).mean(), abs=0.03)


def test_longer_signatures_lose_sooner(graph):
    short, long = (collision_curve(LSP(k=1, hash=Threshold(sparsity=bits)), graph, [0.2], 1500) for bits in (4, 16))
    assert short.same_key[0] > long.same_key[0] + 0.2


@pytest.mark.parametrize("pruner", [LocalRandom(k=1), LSP(k=1, hash="identity"), First(k=1)], ids=repr)
def test_what_ignores_attributes_is_at_chance(graph, pruner):
    curve = collision_curve(pruner, graph, (0.0, 1.0), 4000, choices=4)
    assert curve.same_edge == pytest.approx((0.25, 0.25), abs=0.04)


def test_the_budget_and_pairs_of_directions_do_not_matter(graph):
    plain = collision_curve(LSP(k=1), graph, DISTANCES, 200)
    for pruner in (LSP(k=7), LSP(keep=0.5), LSP(k=1, symmetric="union")):
        assert collision_curve(pruner, graph, DISTANCES, 200) == plain


def test_the_shared_signature_of_k_groups_keeps_its_length(graph):
    one, nine = (collision_curve(LSP.published("t", k=k, sparsity=2), graph, [0.2], 1000) for k in (1, 9))
    assert one.same_key[0] > nine.same_key[0] + 0.1


def test_seeds(graph):
    first, again, other = (collision_curve(LSP(k=1), graph, [0.5], 300, seed=seed) for seed in (0, 0, 1))
    assert first == again != other
    assert collision_curve(LSP(k=1, seed=99), graph, [0.5], 300) != first


def test_relations_categories_and_sparse_attributes():
    import scipy.sparse

    rng = np.random.default_rng(0)
    ends, x = rng.integers(0, 40, (2, 300)), rng.standard_normal((40, 5))
    two = Graph.from_edges(ends, num_nodes=(40, 40), x=(x, np.arange(40)))  # vectors, and categories for targets
    half = Graph.from_edges(ends, num_nodes=(40, 40), x=(x, None))
    sparse = Graph.from_edges(ends, x=scipy.sparse.csr_array(x))
    for graph, side in ((two, "in"), (two, "out"), (half, "in"), (sparse, "in"), (sparse, "out")):
        assert collision_curve(LSP(k=1, side=side), graph, [0.0], 200).same_edge[0] > 0.98
    assert collision_curve(LSP(k=1, side="out"), half, [0.0], 400).same_edge[0] < 0.3  # neighbours without attributes
    assert collision_curve(LSP(k=1), two, [1.0], 200).same_edge[0] < 0.8
    assert collision_curve(LSP(k=1), sparse, [1.0], 200).same_edge[0] < 0.8


def test_small_graphs_have_small_sets():
    graph = Graph.from_edges(np.array([[0, 1, 2], [3, 3, 3]]), x=np.random.default_rng(0).standard_normal((4, 5)))
    assert collision_curve(LSP(k=1), graph, [0.0], 50).chance == pytest.approx(1 / 3)


def test_distinct_is_uniform():
    rows = distinct(np.random.default_rng(0), 60_000, 3, 4)
    assert all(len(set(row)) == 3 for row in rows[:1000].tolist()) and rows.min() == 0 and rows.max() == 3
    _, counts = np.unique(rows, axis=0, return_counts=True)
    assert counts.size == 24 and counts == pytest.approx(np.full(24, 2500), rel=0.1)


def test_faults_are_named(graph):
    with pytest.raises(OptionError, match="pruner must be a local pruner such as LSP"):
        collision_curve(Random(keep=0.5), graph)
    with pytest.raises(OptionError, match="distances must be a number"):
        collision_curve(LSP(k=1), graph, [-1.0])
    for name in ("pairs", "choices", "functions"):
        with pytest.raises(OptionError, match=f"{name} must be a whole number >= 1"):
            collision_curve(LSP(k=1), graph, **{name: 0})
    for bare in (Graph.from_edges(np.array([[0], [1]])), Graph.from_edges(np.array([[0], [1]]), x=np.arange(2))):
        with pytest.raises(GraphError, match="only vectors have a distance"):
            collision_curve(LSP(k=1), bare)
    with pytest.raises(GraphError, match="must have edges"):
        collision_curve(LSP(k=1), Graph.from_edges(np.empty((2, 0), int), x=np.ones((3, 2))))
    with pytest.raises(OptionError, match="seed must be a whole number >= 0, got -1"):
        collision_curve(LSP(k=1), graph, seed=-1)
