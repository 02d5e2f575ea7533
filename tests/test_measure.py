from __future__ import annotations

import numpy as np

from lsprune import Graph
from lsprune.measure import Summary, summary


def test_summary_counts():
    graph = Graph.from_edges(np.array([[0, 1, 2, 3], [4, 4, 5, 3]]), num_nodes=8)
    mask = np.array([True, False, False, True])
    assert summary(graph, mask) == Summary(edges=4, kept=2, share=0.5, owners=3, owners_cut=2, isolated=3)
    assert summary(graph, mask, side="out").owners == 4


def test_summary_of_csr_is_that_of_coo():
    csr = Graph.from_csr(np.array([0, 0, 1, 3]), np.array([0, 0, 1]), rows="target")
    mask = np.array([False, False, True])
    coo = Graph.from_edges(csr.ends(), num_nodes=3)
    assert summary(csr, mask) == summary(coo, mask)
    assert summary(csr, mask).isolated == 1


def test_nothing_is_a_whole_share():
    empty = Graph.from_edges(np.empty((2, 0), int), num_nodes=3)
    assert summary(empty, np.empty(0, bool)) == Summary(edges=0, kept=0, share=1.0, owners=0, owners_cut=0, isolated=0)
