"""Means over neighbours as an operator: the products of the matrix itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from labelled_graphs import labelled_graph
from scipy.sparse import csr_array, random_array

from lsprune.baselines import TopWeight
from lsprune.weights import teacher_training
from lsprune.weights.propagated_rows import PropagatedRows


def parts(nodes: int = 50, columns: int = 400) -> tuple[csr_array, csr_array]:
    random = np.random.default_rng(0)
    x = csr_array(random_array((nodes, columns), density=0.05, rng=random, dtype=np.float32))
    links = csr_array((random.random((nodes, nodes)) < 0.1).astype(np.float32) + np.eye(nodes, dtype=np.float32))
    return x, csr_array(links.multiply(1 / links.sum(1)[:, None]).astype(np.float32))


@pytest.mark.parametrize("hops", [0, 1, 2])
def test_products_are_those_of_the_stored_matrix(hops):
    x, means = parts()
    nodes = np.array([3, 1, 30, 49, 17])
    rows = PropagatedRows.of(x, means, hops, nodes, seed=0)
    stored = x.toarray()
    for _ in range(hops):
        stored = means @ stored
    stored = stored[nodes] * rows.factor
    random = np.random.default_rng(1)
    weights, values = random.normal(size=(400, 3)).astype(np.float32), random.normal(size=(5, 3)).astype(np.float32)
    assert rows.shape == stored.shape
    assert np.allclose(rows @ weights, stored @ weights, atol=1e-4)
    assert np.allclose(rows.T @ values, stored.T @ values, atol=1e-4)
    some = np.array([True, False, True, True, False])
    assert np.allclose(rows[some] @ weights, stored[some] @ weights, atol=1e-4)
    assert np.allclose(rows[some].T @ values[some], stored[some].T @ values[some], atol=1e-4)
    assert np.square(stored).sum(1).mean() == pytest.approx(1, rel=0.5)  # as estimated from few random vectors


def test_rows_of_zeros_have_a_finite_factor():
    x, means = parts()
    rows = PropagatedRows.of(x * 0, means, 1, np.arange(50), seed=0)
    assert np.isfinite(rows.factor) and not (rows @ np.ones((400, 2), np.float32)).any()


def test_a_teacher_of_sparse_rows_predicts_as_one_of_stored_means(monkeypatch):
    graph = labelled_graph(nodes=300, noise=0.5)
    random = np.random.default_rng(3)
    words = np.zeros((300, 400), np.float32)
    words[np.arange(300)[:, None], (100 * graph.y[:, None] + random.integers(0, 120, (300, 8))) % 400] = 1
    graph = replace(graph, x_source=words, x_target=words)
    masks = []
    for most in (0, 1 << 40):
        monkeypatch.setattr(teacher_training, "MAX_DENSE_VALUES", most)
        masks.append(TopWeight(keep=0.3, weights="labels").mask(graph))
    assert (masks[0] == masks[1]).mean() > 0.98
