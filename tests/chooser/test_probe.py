"""A probe prefers graphs whose edges tell the labels, and its scores are those of a plain ridge regression."""

from __future__ import annotations

import numpy as np
import pytest
from labelled_graphs import labelled_graph
from scipy import sparse

from lsprune import Graph
from lsprune.chooser.known_labels import known_labels
from lsprune.chooser.metrics import ROC_AUC
from lsprune.chooser.probe import MAX_COLUMNS, Probe, _solve, ridge
from lsprune.chooser.scores import paired_gain

NOTHING = {"y": None, "train_mask": None, "val_mask": None}


def probe_of(graph, **given):
    return Probe(graph, known_labels(graph, graph, {**NOTHING, **given}, 0), 0)


def score(probe, mask):
    return probe.score((mask, mask))


def test_edges_within_a_class_are_better_than_all_and_these_better_than_wrong_ones():
    graph = labelled_graph(nodes=400)
    source, target = graph.ends()
    same = graph.y[source] == graph.y[target]
    probe = probe_of(graph)
    right, every, wrong = (score(probe, mask) for mask in (same, np.ones_like(same), ~same))
    for field in ("hits", "closeness"):
        assert getattr(right, field).mean() > getattr(every, field).mean() + 0.02
        assert getattr(every, field).mean() > getattr(wrong, field).mean()


def test_edges_that_tell_a_rare_class_count_though_no_node_is_predicted_to_be_of_it():
    rng = np.random.default_rng(0)
    signal, target = rng.normal(size=1500), np.repeat(np.arange(1500), 5)
    source = rng.integers(0, 1500, target.size)
    told = np.bincount(target, signal[source], 1500) / 5
    y = (rng.random(1500) < 0.12 / (1 + np.exp(-3 * told))).astype(int)
    graph = Graph.from_edges(np.stack([source, target]), x=np.stack([signal, np.ones(1500)], 1).astype(np.float32), y=y)
    probe = probe_of(graph)
    every, none = (score(probe, np.full(target.size, flag)).hits for flag in (True, False))
    assert probe.labels.metric is ROC_AUC and 0.4 < none.mean() < 0.6
    mean, error = paired_gain(every, none)
    assert mean > 0.05 and mean > 2 * error


def test_each_round_has_its_own_mask():
    graph = labelled_graph()
    source, target = graph.ends()
    same = graph.y[source] == graph.y[target]
    probe = probe_of(graph)
    good, bad, mixed = (probe.score(pair).closeness.mean() for pair in ((same, same), (~same, ~same), (same, ~same)))
    assert bad < mixed < good


def test_ridge_is_the_textbook_formula():
    rng = np.random.default_rng(0)
    rows, weights = rng.normal(size=(300, 7)).astype(np.float32), rng.normal(size=(7, 2)).astype(np.float32)
    targets = rows @ weights + 3
    new = rng.normal(size=(20, 7)).astype(np.float32)
    assert np.abs(ridge(rows, targets)(new) - (new @ weights + 3)).max() < 0.05


def test_features_are_means_over_the_kept_neighbours():
    graph = Graph.from_edges(np.array([[1, 2, 0, 0], [0, 0, 1, 0]]), x=np.eye(3, dtype=np.float32), y=np.zeros(3))
    probe = object.__new__(Probe)
    probe.graph, probe.edge_rows = graph, None
    probe.source, probe.target = graph.ends()
    probe._of_items = lambda rows: rows
    rows = np.eye(3, dtype=np.float32)
    once = probe.features(np.ones(4, bool), rows)[:, 3:6]
    assert np.allclose(once, [[0, 0.5, 0.5], [1, 0, 0], [0, 0, 0]])  # the self-loop is no neighbour
    few = probe.features(np.array([True, False, False, True]), rows)
    assert np.allclose(few[:, 3:6], [[0, 1, 0], [0, 0, 0], [0, 0, 0]])


def test_of_wide_attributes_the_probe_knows_what_a_teacher_knows():
    """Words that tell the class are many and rare: their main directions tell nothing, all of them together do."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 900)
    words = (rng.random((900, 3000)) < 0.01 * (1 + (np.arange(3000)[None] % 2 == y[:, None]))).astype(np.float32)
    graph = Graph.from_edges(np.zeros((2, 0), int), num_nodes=900, x=words, y=y)
    probe = probe_of(graph)
    assert probe.rows[0].shape[1] == MAX_COLUMNS + 2 and probe.rows[0] is not probe.rows[1]
    for rows, chosen in zip(probe.rows, probe.labels.rounds, strict=True):
        others = probe.labels.items[chosen.training]  # whose labels the linear model has not seen
        guess = rows[:, MAX_COLUMNS:].argmax(1)
        assert (guess[others] == y[others]).mean() > 0.85
    assert score(probe, np.zeros(0, bool)).hits.mean() > 0.85


@pytest.mark.parametrize("kind", ["dense", "sparse", "wide", "category"])
def test_all_kinds_of_attributes(kind):
    graph = labelled_graph(nodes=300)
    x = np.asarray(graph.x)
    if kind == "wide":
        x = x @ np.random.default_rng(0).normal(size=(8, MAX_COLUMNS + 40)).astype(np.float32)
    if kind == "category":
        x = x[:, :3].argmax(1)
    ends = np.stack(graph.ends())
    other = Graph.from_edges(ends, x=sparse.csr_array(x) if kind == "sparse" else x, y=graph.y)
    source, target = graph.ends()
    same = graph.y[source] == graph.y[target]
    probe = probe_of(other)
    assert score(probe, same).hits.mean() > score(probe, ~same).hits.mean() + 0.1


def test_edge_attributes_count():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    target = np.repeat(np.arange(200), 4)
    graph = Graph.from_edges(
        np.stack([rng.integers(0, 200, 800), target]), x=rng.normal(size=(200, 2)).astype(np.float32), y=y,
        edge_attr=(y[target] + rng.normal(0, 0.1, 800)).astype(np.float32)[:, None],
    )  # fmt: skip
    probe = probe_of(graph)
    assert score(probe, np.ones(800, bool)).hits.mean() > score(probe, np.zeros(800, bool)).hits.mean() + 0.2


def test_labels_of_whole_graphs():
    rng = np.random.default_rng(0)
    sizes = rng.integers(4, 9, 120)
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    target = np.arange(ptr[-1])
    source = np.maximum(target - 1, np.repeat(ptr[:-1], sizes))
    kinds = rng.integers(0, 3, ptr[-1])
    pairs = (kinds[source] == kinds[target]) & (source != target)
    y = np.add.reduceat(pairs, ptr[:-1]) / sizes
    graph = Graph.from_edges(np.stack([source, target]), x=kinds, ptr=ptr)
    probe = probe_of(graph, y=y.astype(np.float32))
    every, none = (score(probe, np.full(target.size, flag)) for flag in (True, False))
    assert every.hits.mean() > none.hits.mean() + 0.02  # minus an error
    assert every.closeness.mean() > none.closeness.mean()


def test_several_labels_a_node():
    graph = labelled_graph(nodes=300)
    probe = probe_of(graph, y=np.eye(3)[graph.y])
    source, target = graph.ends()
    same = graph.y[source] == graph.y[target]
    assert 0 <= score(probe, ~same).hits.mean() < score(probe, same).hits.mean() <= 1


def test_sums_that_are_not_quite_positive_definite_are_solved_too():
    gram = np.array([[1, 1 + 1e-3], [1 + 1e-3, 1]], np.float32)  # an eigenvalue of -1e-3
    weights = _solve(gram, np.array([[1.0], [0.0]], np.float32), 1e-6)
    expected = np.linalg.solve(gram.astype(np.float64) + 1e-6 * np.eye(2), [[1.0], [0.0]])
    np.testing.assert_allclose(weights, expected, rtol=1e-4)
