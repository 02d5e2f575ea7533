"""Training: hops and regularisation are chosen on left-out training nodes; sparse attributes teach the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from threadpoolctl import threadpool_info, threadpool_limits

from graphs import communities
from lsprune import Graph
from lsprune.kernels import runtime
from lsprune.numeric.quantisation import fit_scales
from lsprune.weights import teacher_training
from lsprune.weights.labels import training_labels
from lsprune.weights.surroundings import node_part
from lsprune.weights.teacher_training import Lesson, train

RUN = runtime(1)


def taught(graph: Graph, seed: int = 0):
    part = node_part(graph, "in", 0)
    scale = fit_scales({"taught": part}, unit=True, runtime=RUN)["taught"]
    return train(graph, "in", part, scale, Lesson(*training_labels(graph)), seed)


def ring(nodes: int = 300, hops: int = 1) -> tuple[Graph, np.ndarray]:
    """A ring where the class of a node is told by the attributes of the node before it; a tenth is wrong."""
    rng = np.random.default_rng(0)
    told = rng.integers(0, 2, nodes)
    x = np.stack([told, 1 - told], 1) + rng.normal(0, 0.05, (nodes, 2))
    graph = Graph.from_edges((np.roll(np.arange(nodes), 1), np.arange(nodes)), num_nodes=nodes, x=x.astype(np.float32))
    return graph, np.roll(told, hops) ^ (rng.random(nodes) < 0.1)


@pytest.mark.parametrize("hops", [0, 1, 2])
def test_hops_are_as_many_as_the_labels_need(hops):
    graph, label = ring(hops=hops)
    assert taught(replace(graph, y=label)).weights.shape[0] == hops + 1


def test_sparse_attributes_and_shuffled_edges_teach_the_same():
    graph, kind = communities(nodes=120)
    x = np.where(np.abs(graph.x) > 5, graph.x, 0).astype(np.float32)
    dense = Graph.from_edges(graph.ends(), num_nodes=120, x=x, y=kind)
    one = taught(dense)
    order = np.random.default_rng(0).permutation(graph.num_edges)
    shuffled = Graph.from_edges(tuple(end[order] for end in graph.ends()), num_nodes=120, x=x, y=kind)
    np.testing.assert_array_equal(taught(shuffled).packed(), one.packed())
    sparse = taught(Graph.from_edges(graph.ends(), num_nodes=120, x=scipy.sparse.csr_array(x), y=kind))
    assert (sparse.shift, sparse.weights.shape) == (one.shift, one.weights.shape)
    assert np.abs(sparse.weights - one.weights).max() < 20  # of 8000: floats are summed in another order


def test_many_training_nodes_are_sampled(monkeypatch):
    graph, kind = communities(nodes=240)
    monkeypatch.setattr(teacher_training, "MAX_TRAINING_NODES", 60)
    seen = []
    monkeypatch.setattr(teacher_training, "_left_out", lambda lesson, seed: seen.append(lesson) or np.zeros(60, bool))
    taught(replace(graph, y=kind))
    assert seen[0].nodes.shape == (60,) and len(set(seen[0].nodes.tolist())) == 60
    np.testing.assert_array_equal(seen[0].targets.argmax(1), kind[seen[0].nodes])


def test_every_fifth_node_of_each_class_is_left_out():
    targets = np.eye(3, dtype=np.float32)[np.repeat([0, 1, 2], [20, 4, 11])]
    lesson = Lesson("classes", np.random.default_rng(0).permutation(35), targets)
    left = teacher_training._left_out(lesson, 0)
    assert targets[left].sum(0).tolist() == [4, 0, 2]
    assert (left != teacher_training._left_out(lesson, 1)).any()


def test_the_number_of_blas_threads_changes_nothing(monkeypatch):
    graph, label = ring()
    graph = replace(graph, y=label, train_mask=np.ones(300, bool))
    used, fit = [], teacher_training._fit
    monkeypatch.setattr(teacher_training, "_fit", lambda *arguments: used.append(blas_threads()) or fit(*arguments))
    with threadpool_limits(2, user_api="blas"):
        taught(graph)
    assert set(used) == {1}


def blas_threads() -> int:
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
