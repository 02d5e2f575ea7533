"""The constant hash: weights alone decide, to the last bit; without weights the tie rule does."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import keys_of, random_graph
from lsprune import LSP, Constant, Graph
from lsprune.weights import Column, Degree


def test_all_keys_are_equal_and_no_attributes_are_needed():
    graph = random_graph(0, dim=0)
    pruner = LSP(k=2, hash="constant", self_loops="edge")
    assert pruner.family == Constant() and pruner.is_fitted
    assert not keys_of(pruner, graph, 20).any()
    assert pruner.mask(graph).sum() == np.minimum(np.bincount(graph.ends()[1], minlength=12), 2).sum()


@pytest.mark.parametrize("select", ["functions", "bottom"])
@pytest.mark.parametrize("power", [0.25, 1.0, 64.0])
def test_the_edges_of_largest_weight_are_kept_however_close_they_are(select, power):
    """Neighbouring float32 values differ by 2^-23 of themselves: hashes with weights do not tell them apart."""
    ends = np.stack([np.arange(1, 7), np.zeros(6, int)])
    close = np.float32(1.5) + np.arange(6, dtype=np.float32) * np.spacing(np.float32(1.5))
    for values in (close, np.array([1e-38, 1e-30, 1.0, 2.0, 1e30, 1e38], np.float32)):
        graph = Graph.from_edges(ends, edge_attr=values)
        for k in range(7):
            mask = LSP(k=k, hash="constant", select=select, weights=Column(power=power)).mask(graph)
            assert mask.tolist() == [False] * (6 - k) + [True] * k


def test_keys_are_minus_the_logarithm_of_the_weight():
    graph = random_graph(0, nodes=30, edges=300)
    keys = keys_of(LSP(k=1, hash="constant", weights=Degree(power=0.5), self_loops="edge"), graph, 1)[:, 0]
    degree = np.bincount(graph.ends()[0], minlength=30)[graph.ends()[0]]
    np.testing.assert_allclose(keys / 2**32, 0.5 * np.log2(degree), atol=1e-8)
