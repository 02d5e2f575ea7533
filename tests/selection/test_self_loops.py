from __future__ import annotations

import numpy as np
import pytest

from lsprune import LSP, Graph, LocalRandom, NoEdges, Random
from lsprune.selection.self_loops import SELF_LOOPS, loops_count, uncounted_loops_stay

ENDS = np.array([[0, 1, 2, 2, 3, 1], [2, 2, 2, 2, 2, 1]])  # node 2 has two self-loops, node 1 has one
LOOPS = ENDS[0] == ENDS[1]


def test_only_edge_and_two_kinds_of_nodes_make_them_count():
    assert [loops_count(rule, bipartite=False) for rule in SELF_LOOPS] == [False, True, False]
    assert all(loops_count(rule, bipartite=True) for rule in SELF_LOOPS)
    assert [uncounted_loops_stay(rule) for rule in SELF_LOOPS] == [True, False, False]


@pytest.mark.parametrize("kind", [LSP, LocalRandom, Random])
def test_what_each_rule_does_to_a_mask(kind):
    options = {"hash": "identity"} if kind is LSP else {}
    graph = Graph.from_edges(ENDS, num_nodes=4)
    masks = {rule: kind(k=1, self_loops=rule, **options).mask(graph) for rule in SELF_LOOPS}
    assert masks["free"][LOOPS].all()
    assert not masks["drop"][LOOPS].any()
    for rule in ("free", "drop"):
        assert masks[rule][~LOOPS].sum() == 1  # node 2 keeps one of three; loops are not counted
    assert masks["edge"].sum() == 2  # one for node 1, which has nothing but its loop, and one for node 2


def test_without_edges_only_free_loops_stay():
    graph = Graph.from_edges(ENDS, num_nodes=4)
    np.testing.assert_array_equal(NoEdges().mask(graph), LOOPS)
    assert not NoEdges(self_loops="drop").mask(graph).any()
    assert not NoEdges().mask(Graph.from_edges(ENDS, num_nodes=(4, 4))).any()  # equal ids of two kinds of nodes
