"""Only labels that may be seen are seen, and teacher, probe and judges have different ones."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from labelled_graphs import labelled_graph

from lsprune import Graph, GraphError
from lsprune.chooser.known_labels import known_labels
from lsprune.chooser.metrics import ACCURACY, ROC_AUC

NOTHING = {"y": None, "train_mask": None, "val_mask": None}


def masks(nodes, seed=1):
    part = np.random.default_rng(seed).integers(0, 3, nodes)
    return part == 0, part == 1


def test_teacher_probe_and_judges_share_no_label():
    graph = labelled_graph()
    train, val = masks(graph.num_nodes)
    known = known_labels(graph, graph, {"y": None, "train_mask": train, "val_mask": val}, 0)
    assert known.level == "nodes" and known.kind == "classes"
    assert np.array_equal(known.items[known.judged], np.flatnonzero(val))
    assert np.array_equal(known.training, train)
    for one, other in (known.rounds, known.rounds[::-1]):
        teaching, training = np.flatnonzero(one.teaching), known.items[one.training]
        assert not set(teaching) & set(training) and not set(training) & set(known.items[known.judged])
        assert set(teaching) | set(training) == set(np.flatnonzero(train))
        assert np.array_equal(teaching, np.sort(known.items[other.training]))  # in turns


def test_labels_of_other_nodes_change_nothing():
    graph = labelled_graph()
    train, val = masks(graph.num_nodes)
    poisoned = np.where(train | val, graph.y, 77)
    first, second = (
        known_labels(graph, graph, {"y": y, "train_mask": train, "val_mask": val}, 0) for y in (graph.y, poisoned)
    )
    assert np.array_equal(first.items, second.items) and np.array_equal(first.targets, second.targets)
    assert np.array_equal(first.as_y(graph.num_nodes), second.as_y(graph.num_nodes))
    assert (first.as_y(graph.num_nodes)[~(train | val)] == -1).all()


def test_without_validation_nodes_a_third_of_the_training_nodes_of_each_class_is_judged():
    graph = labelled_graph()
    known = known_labels(graph, graph, {**NOTHING, "train_mask": graph.train_mask}, 0)
    assert set(known.items) == set(np.flatnonzero(graph.train_mask))
    judged = np.bincount(graph.y[known.items[known.judged]])
    every = np.bincount(graph.y[known.items])
    assert (np.abs(judged - every / 3) < 1).all()


def test_two_classes_are_judged_by_the_roc_auc_and_more_by_accuracy():
    graph = labelled_graph()
    assert known_labels(graph, graph, NOTHING, 0).metric is ACCURACY
    two = (graph.y == 0).astype(int)
    known = known_labels(graph, graph, {**NOTHING, "y": two}, 0)
    assert (known.kind, known.metric) == ("classes", ROC_AUC)
    one = known_labels(graph, graph, {"y": two, "train_mask": two >= 0, "val_mask": None}, 0)
    assert dataclasses.replace(one, judged=one.judged[one.targets[one.judged, 1] == 1]).metric is ACCURACY


@pytest.mark.parametrize("name", ["train_mask", "val_mask"])
def test_masks_that_do_not_fit_are_described(name):
    graph = labelled_graph()
    train, val = masks(graph.num_nodes)
    given = {"y": None, "train_mask": train, "val_mask": val}
    for mask, words in ((train.astype(np.float32), rf"{name}\.bool\(\)"), (np.flatnonzero(train), "look like indices")):
        with pytest.raises(GraphError, match=f"{name} must hold one truth value for each of the .*{words}"):
            known_labels(graph, graph, {**given, name: mask}, 0)


@pytest.mark.parametrize("name", ["train_mask", "val_mask"])
def test_a_mask_on_some_graphs_of_a_list_alone_is_refused(name):
    graph = labelled_graph()
    train, val = masks(graph.num_nodes)
    parts = [SimpleNamespace(y=graph.y, train_mask=train, val_mask=val) for _ in range(3)]
    delattr(parts[1], name)
    with pytest.raises(GraphError, match=f"{name} must be on every graph of the list or on none, got 2 of 3"):
        known_labels(parts, Graph.concat([graph] * 3), NOTHING, 0)


def test_a_validation_mask_needs_a_training_mask():
    graph = labelled_graph(train_mask=None)
    with pytest.raises(GraphError, match="val_mask needs train_mask"):
        known_labels(graph, graph, {**NOTHING, "val_mask": masks(graph.num_nodes)[1]}, 0)


def test_labels_are_found_on_an_object_and_on_a_list():
    graph = labelled_graph()
    plain = Graph.from_edges(np.stack(graph.ends()), x=graph.x)
    train, val = masks(graph.num_nodes)
    data = SimpleNamespace(y=graph.y, train_mask=train, val_mask=val)
    assert np.array_equal(known_labels(data, plain, NOTHING, 0).items, np.flatnonzero(train | val))
    many = Graph.from_edges(np.zeros((2, 0), int), num_nodes=400, ptr=np.arange(0, 401, 4))
    graphs = [SimpleNamespace(y=np.array([i / 7.0])) for i in range(100)]
    known = known_labels(graphs, many, NOTHING, 0)
    assert known.level == "graphs" and known.kind == "numbers" and known.items.size == 100


def test_several_labels_and_numbers_come_back_as_they_were():
    graph = labelled_graph(train_mask=None)
    for y in (np.eye(3)[graph.y], np.random.default_rng(0).normal(size=(graph.num_nodes, 2))):
        known = known_labels(graph, graph, {**NOTHING, "y": y}, 0)
        assert np.allclose(known.as_y(graph.num_nodes), y)


def test_none_without_labels_or_with_too_few():
    graph = labelled_graph()
    bare = Graph.from_edges(np.stack(graph.ends()), x=graph.x)
    assert known_labels(bare, bare, NOTHING, 0) is None
    few = np.arange(graph.num_nodes) < 12
    assert known_labels(graph, graph, {**NOTHING, "train_mask": few}, 0) is None


@pytest.mark.parametrize(
    ("name", "value"), [("y", np.zeros(7)), ("train_mask", np.ones((240, 10), bool)), ("val_mask", np.ones(3, bool))]
)
def test_what_does_not_fit_is_refused(name, value):
    graph = labelled_graph()
    with pytest.raises(GraphError, match=name):
        known_labels(graph, graph, {**NOTHING, "train_mask": graph.train_mask, name: value}, 0)
