from __future__ import annotations

import numpy as np
import pytest

from graphs import random_graph
from lsprune import Graph, GraphError, OptionError
from lsprune.measure import Summary, quadratic_error, structure, summary
from lsprune.measure.adjacency import owner_rows
from lsprune.measure.noise import subgraph
from lsprune.measure.structure import degrees


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


def test_a_mask_may_be_a_list_and_read_only():
    graph, mask = random_graph(0), np.arange(60) % 3 > 0
    found = summary(graph, mask)
    assert summary(graph, mask.tolist()) == found
    mask.flags.writeable = False
    assert summary(graph, mask) == summary(graph, np.repeat(mask, 2)[::2]) == found


@pytest.mark.parametrize("mask", [np.ones(60, int), np.ones(59, bool), np.ones((60, 1), bool), [True], [[True], []]])
@pytest.mark.parametrize(
    "measure",
    [summary, quadratic_error, subgraph, lambda graph, mask: owner_rows(graph, mask, "in"), structure, degrees],
)
def test_any_other_mask_is_named(measure, mask):
    graph = random_graph(0)
    with pytest.raises(GraphError, match=r"mask must be bool \[60\], got"):
        measure(graph, mask)


@pytest.mark.parametrize("measure", [summary, quadratic_error, subgraph])
def test_no_mask_is_named_where_one_is_needed(measure):
    with pytest.raises(GraphError, match=r"mask must be bool \[60\], got object \[\]"):
        measure(random_graph(0), None)


def test_an_unknown_side_is_named():
    graph = random_graph(0)
    for side in ("x", None, 1):
        with pytest.raises(OptionError, match="side must be one of 'in', 'out', got"):
            summary(graph, np.ones(60, bool), side=side)
    with pytest.raises(OptionError, match="side must be one of None, 'in', 'out', got 'x'"):
        degrees(graph, side="x")
