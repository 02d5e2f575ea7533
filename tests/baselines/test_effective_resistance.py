from __future__ import annotations

import numpy as np
import pytest

from lsprune import Graph, GraphError, OptionError
from lsprune.baselines import EffectiveResistance, effective_resistance
from lsprune.kernels import runtime
from lsprune.selection.items import Items, links_of


def weights(graph: Graph, executor: str = "cpu", threads: int = 1, **options) -> np.ndarray:
    """The estimated resistance of every edge."""
    source, target = graph.ends()
    items = Items(source, target, source, target, np.zeros(source.shape, np.uint64))
    links, pruner = links_of(graph, items), EffectiveResistance(k=1, **options)
    found = pruner.weights(graph, links, runtime(threads, executor)) / 2.0**32 / (pruner.trees + 1)
    return np.append(found, np.nan)[links.of_item]


def true_resistances(graph: Graph) -> np.ndarray:
    """From the pseudo-inverse of the Laplacian of the undirected graph without parallel links."""
    source, target = graph.ends()
    target = target + (graph.num_sources if graph.bipartite else 0)
    joined = np.zeros((graph.num_nodes,) * 2)
    joined[source, target] = joined[target, source] = 1
    np.fill_diagonal(joined, 0)
    inverse = np.linalg.pinv(np.diag(joined.sum(axis=1)) - joined, hermitian=True)
    return np.diag(inverse)[source] + np.diag(inverse)[target] - 2 * inverse[source, target]


def some_graph(seed: int, nodes: int = 16, edges: int = 36) -> Graph:
    return Graph.from_edges(np.random.default_rng(seed).integers(0, nodes, (2, edges)), num_nodes=nodes + 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_estimates_are_near_the_resistances(seed):
    graph = some_graph(seed)
    source, target = graph.ends()
    real = source != target
    found, true = weights(graph, trees=8000), true_resistances(graph)
    assert np.isnan(found[~real]).all()
    assert abs(found - true)[real].max() < 0.03  # five standard errors
    assert true[real].min() < 0.35 < true[real].max()


def test_two_kinds_of_nodes():
    ends = np.random.default_rng(0).integers(0, 6, (2, 18))
    graph = Graph.from_edges(ends, num_nodes=(6, 6))
    assert abs(weights(graph, trees=8000) - true_resistances(graph)).max() < 0.03


def test_bridges_are_in_every_tree():
    ring = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 0, 0]])  # a square and a pendant
    found = weights(Graph.from_edges(ring), trees=500)
    assert found[4] == pytest.approx((500 + 1 / 4 + 1 / 2) / 501)
    assert found[:4].sum() == pytest.approx((3 * 500 + 4 / 3 + 4 / 3 - 2 / 3 + 1 / 2) / 501, abs=0.01)


def test_what_hangs_on_a_link_needs_no_walk():
    # a ring of 5 with a path of 5,000 nodes at it, and a second path by itself
    ring = np.stack([np.arange(5), (np.arange(5) + 1) % 5])
    paths = np.stack([np.arange(4, 10_000), np.arange(5, 10_001)])
    paths = paths[:, paths[0] != 5_000]
    found = weights(Graph.from_edges(np.concatenate([ring, paths], axis=1)), trees=400)
    assert abs(found[:5] - 4 / 5).max() < 0.09
    assert found[5:].min() > 0.99


def test_every_edge_has_at_least_its_lower_bound_in_one_tree():
    full = Graph.from_edges(np.nonzero(~np.eye(30, dtype=bool)))
    found = weights(full, trees=1)
    assert found.min() == pytest.approx((1 / 30 + 1 / 30) / 2)
    assert found.max() == pytest.approx((1 + 1 / 30 + 1 / 30) / 2)


def test_resistance_is_the_chance_of_the_first_edge():
    graph = Graph.from_edges(np.array([[0, 1, 2, 3, 4], [1, 2, 0, 0, 3]]))  # a triangle with a tail of two bridges
    masks = np.array([EffectiveResistance(keep=0.2, seed=seed).mask(graph) for seed in range(2500)])
    true = true_resistances(graph)
    np.testing.assert_allclose(true, [2 / 3, 2 / 3, 2 / 3, 1, 1])
    assert abs(masks.mean(axis=0) - true / true.sum()).max() < 0.035


@pytest.mark.parametrize("executor", ["cpu", "reference"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_counts_are_the_same_on_every_executor(executor, threads):
    graph = some_graph(5)
    np.testing.assert_array_equal(weights(graph, executor, threads, trees=20), weights(graph, trees=20))


def test_directions_and_parallel_edges_do_not_count():
    graph = some_graph(1)
    source, target = graph.ends()
    more = Graph.from_edges((np.tile(target, 3), np.tile(source, 3)), num_nodes=17)
    np.testing.assert_array_equal(weights(more), np.tile(weights(graph), 3))


def test_self_loops_come_last_where_they_are_edges():
    ends = np.array([[0, 1, 2, 0, 1, 2], [1, 2, 0, 0, 1, 2]])
    pruner = EffectiveResistance(keep=0.5, self_loops="edge")
    assert pruner.mask(Graph.from_edges(ends)).tolist() == [True] * 3 + [False] * 3


def test_graphs_in_which_walks_never_end_are_refused(monkeypatch):
    monkeypatch.setattr(effective_resistance, "EXTRA_WALK_STEPS", 0)
    monkeypatch.setattr(effective_resistance, "MAX_WALK_STEPS_PER_NODE", 2)
    ring = np.stack([np.arange(300), (np.arange(300) + 1) % 300])
    for executor in ("cpu", "reference"):
        with pytest.raises(GraphError, match="effective-resistance takes too long .* use dspar"):
            EffectiveResistance(k=1, trees=2).mask(Graph.from_edges(ring), executor=executor)


def test_bad_options_are_named():
    for trees in (0, 2**20, True, 1.5):
        with pytest.raises(OptionError, match="trees must be a whole number in"):
            EffectiveResistance(k=1, trees=trees)
