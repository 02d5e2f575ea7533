"""Edges between nodes with common neighbours are preferred, by the Jaccard similarity of their neighbour sets."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import LSP, Graph, GraphError
from lsprune.common_neighbours import OVERLAP_EDGE_BYTES
from lsprune.kernels import Runtime
from lsprune.weights import Column, Jaccard, jaccard
from lsprune.weights.jaccard import CommonNeighbours


def test_it_is_the_weight_that_a_column_of_similarities_would_be():
    rng = np.random.default_rng(1)
    upper = np.unique(np.sort(rng.integers(0, 300, (2, 3000)), axis=0), axis=1)
    upper = upper[:, upper[0] < upper[1]]
    ends = np.concatenate([upper, upper[::-1]], axis=1)
    near = [set(ends[0][ends[1] == node].tolist()) | {node} for node in range(300)]
    jaccard = [len(near[u] & near[v]) / len(near[u] | near[v]) for u, v in ends.T]
    plain = Graph.from_edges(ends, num_nodes=300)
    weighted = Graph.from_edges(ends, num_nodes=300, edge_attr=np.array(jaccard, np.float32))
    for power in (1.0, 3.0):
        masks = [
            LSP(k=3, hash="identity", weights=weight(power=power)).mask(graph)
            for graph, weight in ((plain, Jaccard), (weighted, Column))
        ]
        assert (masks[0] != masks[1]).mean() < 0.002  # a float32 has fewer digits than the ratio of two numbers
    assert (masks[0] != LSP(k=3, hash="identity").mask(plain)).mean() > 0.1


def test_two_kinds_of_nodes_have_no_common_neighbours():
    graph = Graph.from_edges(np.random.default_rng(0).integers(0, 9, (2, 40)), num_nodes=(9, 9))
    with pytest.raises(GraphError, match='weights="jaccard" needs one kind of nodes'):
        LSP(k=1, hash="identity", weights="jaccard").mask(graph)


def test_the_edges_of_other_owners_are_needed_and_memory_for_all():
    needs = Jaccard().needs
    assert (needs.scope, needs.edge_bytes) == ("neighbourhood", OVERLAP_EDGE_BYTES)
    assert "jaccard" in needs.reason


def test_logarithms_of_large_sets_are_those_of_the_table(monkeypatch):
    rng = np.random.default_rng(0)
    common = rng.integers(1, 40, 200)
    union = common + rng.integers(0, 900, 200)
    table = CommonNeighbours().logs(common, union, Runtime())
    monkeypatch.setattr(jaccard, "MAX_TABLE", 100)
    np.testing.assert_array_equal(CommonNeighbours().logs(common, union, Runtime()), table)
    assert (table[common == union] == 0).all() and (table[common < union] < 0).all()
    assert CommonNeighbours().logs(common[:0], union[:0], Runtime()).shape == (0,)
