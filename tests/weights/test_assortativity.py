"""The assortativity of labels is what its definition says, and tells whether labels of neighbours are alike."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from lsprune import Graph
from lsprune.weights.assortativity import MIN_EDGES, assortativity, labels_are_assortative


def random_edges(seed=0, nodes=60, edges=900):
    return np.random.default_rng(seed).integers(0, nodes, (2, edges))


def test_of_classes_it_is_adjusted_homophily():
    (source, target), nodes = random_edges(), np.arange(60)
    classes = np.random.default_rng(1).integers(0, 4, 60)
    loops = source == target
    first, second = classes[source[~loops]], classes[target[~loops]]
    ends = np.bincount(np.concatenate([first, second]), minlength=4) / (2 * first.size)
    expected = ((first == second).mean() - (ends**2).sum()) / (1 - (ends**2).sum())
    assert assortativity(source, target, 60, nodes, np.eye(4)[classes]) == pytest.approx(expected)


def test_of_numbers_it_is_their_correlation_over_edges_in_both_directions():
    (source, target), nodes = random_edges(), np.arange(60)
    values = np.random.default_rng(1).standard_normal(60) + np.arange(60) / 10
    loops = source == target
    ends = np.concatenate([source[~loops], target[~loops]]), np.concatenate([target[~loops], source[~loops]])
    expected = np.corrcoef(values[ends[0]], values[ends[1]])[0, 1]
    assert assortativity(source, target, 60, nodes, values[:, None]) == pytest.approx(expected)


@pytest.mark.parametrize("block", [1, 7, 1 << 16])
def test_blocks_of_edges_change_nothing(monkeypatch, block):
    (source, target), labels = random_edges(), np.eye(3)[np.arange(60) % 3]
    whole = assortativity(source, target, 60, np.arange(60), labels)
    monkeypatch.setattr("lsprune.weights.assortativity._BLOCK_EDGES", block)
    assert assortativity(source, target, 60, np.arange(60), labels) == pytest.approx(whole)


def test_only_edges_between_labelled_nodes_count():
    (source, target), some = random_edges(), np.arange(0, 60, 2)
    labels = np.eye(2)[some // 2 % 2]
    inner = np.isin(source, some) & np.isin(target, some)
    alone = assortativity(source[inner] // 2, target[inner] // 2, 30, np.arange(30), labels)
    assert assortativity(source, target, 60, some, labels) == pytest.approx(alone)


def test_it_is_unknown_with_few_edges_or_equal_labels():
    source = np.arange(MIN_EDGES)
    target, nodes = source + 1, np.arange(MIN_EDGES + 1)
    labels = np.eye(2)[nodes % 2]
    assert assortativity(source, target, nodes.size, nodes, labels) == pytest.approx(-1, abs=0.1)
    assert assortativity(source[1:], target[1:], nodes.size, nodes, labels) is None
    assert assortativity(source, target, nodes.size, nodes, np.ones((nodes.size, 1))) is None


def graph_with(y, train=None):
    edges = random_edges(nodes=200, edges=4000)
    same = edges[:, (edges[0] // 50) == (edges[1] // 50)]  # four groups
    return Graph.from_edges(same, num_nodes=200, x=np.zeros((200, 1)), y=y, train_mask=train)


def test_labels_of_other_nodes_are_not_looked_at():
    train = np.arange(200) % 2 == 0
    groups = np.arange(200) // 50
    noise = np.random.default_rng(3).integers(0, 4, 200)
    assert labels_are_assortative(graph_with(np.where(train, groups, noise), train))
    assert not labels_are_assortative(graph_with(np.where(train, noise, groups), train))


def test_compressed_rows_and_any_order_of_edges_give_the_same():
    graph = graph_with(np.arange(200) // 50)
    noise = graph_with(np.random.default_rng(3).integers(0, 4, 200))
    for one, expected in ((graph, True), (noise, False)):
        source, target = one.ends()
        order = np.lexsort((source, target))
        indptr = np.append(0, np.cumsum(np.bincount(target, minlength=200)))
        rows = Graph.from_csr(indptr, source[order], rows="target", x=one.x, y=one.y)
        assert labels_are_assortative(one) == labels_are_assortative(rows) == expected
        back = dataclasses.replace(one, source=source[::-1], target=target[::-1])
        assert labels_are_assortative(back) == expected
