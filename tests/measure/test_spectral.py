from __future__ import annotations

import numpy as np
import pytest

from graphs import random_graph, reordered
from lsprune import Graph, GraphError, LocalRandom, OptionError
from lsprune.kernels import runtime
from lsprune.measure import Spectral, quadratic_error, spectral
from lsprune.measure.spectral import laplacian, smooth_signals


def form(graph: Graph, mask, signal, weight=None) -> float:
    """x'Lx by the definition, a stored edge weighing 1/2."""
    source, target = graph.ends()
    weight = np.ones(source.size) if weight is None else weight
    parts = [w / 2 * (signal[s] - signal[t]) ** 2 for s, t, w in zip(source, target, weight, strict=True)]
    return sum(part for part, kept in zip(parts, mask, strict=True) if kept)


@pytest.mark.parametrize("rescale", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_random_signals_by_the_definition(seed, rescale):
    graph = random_graph(seed, nodes=15, edges=60)
    mask = LocalRandom(k=2).mask_graph(graph, runtime()).mask
    source, target = graph.ends()
    owned = [[e for e in range(60) if target[e] == node and source[e] != node] for node in range(15)]
    factor = [len(owned[t]) / max(sum(mask[e] for e in owned[t]), 1) for t in target]
    random = np.random.default_rng(7)
    signals = np.concatenate([random.standard_normal((15, count)) for count in (spectral.SIGNALS_AT_ONCE, 2)], axis=1)
    errors = []
    for x in signals.T:
        before = form(graph, np.ones(60, bool), x)
        errors.append(abs(form(graph, mask, x, factor if rescale else None) - before) / before)
    found = quadratic_error(graph, mask, rescale=rescale, vectors=spectral.SIGNALS_AT_ONCE + 2, seed=7)
    assert (found.random_mean, found.random_max) == pytest.approx((np.mean(errors), np.max(errors)), rel=1e-5)


def test_a_stored_edge_weighs_a_half():
    graph, x = random_graph(3, nodes=9, edges=30), np.random.default_rng(0).standard_normal(9)
    whole = laplacian(*graph.ends(), np.ones(30), 9)
    assert x @ (whole @ x) == pytest.approx(form(graph, np.ones(30, bool), x))


def test_ring_has_cosines_for_smooth_signals():
    # On a ring every node has degree 2: D^-1 L has the eigenvalues 1 - cos(2 pi j / n), each twice.
    n = 12
    ring = laplacian(np.arange(n), np.roll(np.arange(n), -1), np.ones(n), n)
    signals = smooth_signals(ring, 4, seed=0)
    degree = ring.diagonal()
    found = [(x @ (ring @ x)) / (x @ (degree * x)) for x in signals.T]
    assert found == pytest.approx([1 - np.cos(2 * np.pi * j / n) for j in (1, 1, 2, 2)], abs=1e-9)


@pytest.mark.parametrize("nodes", [40, 400])  # all eigenvectors, and some by Lanczos
def test_smooth_signals_solve_their_equation(nodes):
    graph = random_graph(1, nodes=nodes, edges=4 * nodes)
    whole = laplacian(*graph.ends(), np.ones(4 * nodes), nodes)
    signals, degree = smooth_signals(whole, 3, seed=0), whole.diagonal()
    dense = whole.toarray()[degree > 0][:, degree > 0] / degree[degree > 0][:, None]
    lowest = np.sort(np.linalg.eigvals(dense).real)
    zeros = int((lowest < 1e-9).sum())
    found = [(x @ (whole @ x)) / (x @ (degree * x)) for x in signals.T]
    assert signals.shape == (nodes, 3) and zeros == 1
    assert found == pytest.approx(lowest[1:4].tolist(), rel=1e-2)
    assert np.all(signals[degree == 0] == 0)


def test_lowest_errors_are_those_of_the_smooth_signals():
    graph = random_graph(4, nodes=30, edges=120)
    mask = np.arange(120) % 2 == 0
    whole = laplacian(*graph.ends(), np.ones(120), 30)
    errors = []
    for x in smooth_signals(whole, 3, seed=0).T:
        before = form(graph, np.ones(120, bool), x)
        errors.append(abs(form(graph, mask, x) - before) / before)
    found = quadratic_error(graph, mask, lowest=3)
    assert (found.lowest_mean, found.lowest_max) == pytest.approx((np.mean(errors), np.max(errors)))
    assert found.lowest_max > found.lowest_mean


def test_only_the_largest_component_has_smooth_signals():
    clique = np.array([(a, b) for a in range(5) for b in range(a)]).T
    graph = Graph.from_edges(np.concatenate([[[0], [1]], clique + 3], axis=1), num_nodes=8)
    signals = smooth_signals(laplacian(*graph.ends(), np.ones(11), 8), 10, seed=0)
    assert signals.shape == (8, 4) and np.all(signals[:3] == 0)


def test_two_cliques_lose_their_bridge():
    # The smoothest signal of two cliques tells them apart: without the bridge it varies much less, a random one hardly.
    clique = [(a, b) for a in range(8) for b in range(a)]
    ends = np.array([*clique, *((a + 8, b + 8) for a, b in clique), (0, 8)]).T
    graph = Graph.from_edges(ends)
    found = quadratic_error(graph, np.arange(ends.shape[1]) < ends.shape[1] - 1, lowest=1)
    assert found.lowest_max > 0.5 > 0.1 > found.random_max


def test_no_error_and_full_error():
    graph = random_graph(0)
    assert quadratic_error(graph, np.ones(60, bool)) == Spectral(0, 0, 0, 0)
    assert quadratic_error(graph, np.zeros(60, bool)) == Spectral(1, 1, 1, 1)
    star = Graph.from_edges(np.array([[0] * 6, range(1, 7)]))
    half = quadratic_error(star, np.array([True] * 3 + [False] * 3), rescale=True, side="out")
    plain = quadratic_error(star, np.array([True] * 3 + [False] * 3))
    assert half.random_mean != plain.random_mean and plain.random_max <= 1


def test_rescaling_makes_local_random_nearly_right():
    graph = random_graph(0, nodes=60, edges=1500)
    after = {True: [], False: []}
    for seed in range(20):
        mask = LocalRandom(k=8, seed=seed).mask_graph(graph, runtime()).mask
        for rescale, errors in after.items():
            errors.append(quadratic_error(graph, mask, rescale=rescale, vectors=8, lowest=0).random_mean)
    assert np.mean(after[True]) < 0.1 < 0.5 < np.mean(after[False])


def test_graphs_without_variation_give_nothing():
    for graph in (Graph.from_edges(np.empty((2, 0), int), num_nodes=3), Graph.from_edges(np.array([[1], [1]]))):
        found = quadratic_error(graph, np.ones(graph.num_edges, bool))
        assert all(np.isnan(value) for value in vars(found).values())
    assert np.isnan(quadratic_error(random_graph(0), np.ones(60, bool), lowest=0).lowest_mean)
    assert np.isnan(quadratic_error(Graph.from_edges(np.empty((2, 0), int)), np.ones(0, bool)).random_mean)


def test_order_and_direction_do_not_matter():
    graph, mask = random_graph(2, nodes=20, edges=80), np.arange(80) % 3 > 0
    found = quadratic_error(graph, mask)
    order = np.random.default_rng(0).permutation(80)
    source, target = graph.ends()
    turned = Graph.from_edges((target, source), num_nodes=20)
    for other, its in ((reordered(graph, order), mask[order]), (turned, mask)):
        assert list(vars(quadratic_error(other, its)).values()) == pytest.approx(list(vars(found).values()))


def test_an_unfinished_search_gives_what_it_found(monkeypatch):
    import scipy.sparse.linalg

    real = scipy.sparse.linalg.eigsh

    def stops(matrix, k, **options):
        values, vectors = real(matrix, k=k, **options)
        raise scipy.sparse.linalg.ArpackNoConvergence("no", values[-2:], vectors[:, -2:])

    monkeypatch.setattr(scipy.sparse.linalg, "eigsh", stops)
    graph = random_graph(1, nodes=400, edges=2000)
    assert smooth_signals(laplacian(*graph.ends(), np.ones(2000), 400), 5, seed=0).shape == (400, 1)


def test_a_relation_is_measured_over_both_types():
    relation = Graph.from_edges(np.array([[0, 1, 1], [0, 0, 1]]), num_nodes=(2, 2))
    assert quadratic_error(relation, np.array([True, True, False])).random_mean > 0
    assert quadratic_error(relation, np.ones(3, bool), rescale=True).random_max == 0


def test_faults_are_named():
    graph = random_graph(0)
    with pytest.raises(GraphError, match=r"mask must be bool \[60\]"):
        quadratic_error(graph, np.ones(5, bool))
    with pytest.raises(OptionError, match="side must be one of 'in', 'out', got"):
        quadratic_error(graph, np.ones(60, bool), side="up")
    for name in ("vectors", "lowest"):
        with pytest.raises(OptionError, match=f"{name} must be a whole number"):
            quadratic_error(graph, np.ones(60, bool), **{name: -1})
    with pytest.raises(OptionError, match="seed must be a whole number >= 0, got -1"):
        quadratic_error(graph, np.ones(60, bool), seed=-1)
