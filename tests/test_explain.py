from __future__ import annotations

import numpy as np
import pytest

from graphs import PRUNERS, name_of, random_graph
from lsprune import LSP, First, GraphError, NoEdges, Random

LOCAL = [p for p in PRUNERS if not isinstance(p, (Random, NoEdges))]


@pytest.mark.parametrize("pruner", LOCAL, ids=name_of)
def test_reasons_agree_with_the_mask(pruner):
    graph = random_graph(4, nodes=10, edges=90, edge_dim=2)
    mask = pruner.mask(graph)
    source, target = graph.ends()
    owner = target if pruner.side == "in" else source
    for node in range(10):
        explanation = pruner.explain(graph, node)
        assert sorted(reason.edge for reason in explanation.edges) == np.flatnonzero(owner == node).tolist()
        assert all(reason.kept == mask[reason.edge] for reason in explanation.edges)
        steps = [reason.step for reason in explanation.edges if reason.step]
        assert len(set(steps)) == len(steps)


def test_the_words_say_who_won():
    graph = random_graph(4, nodes=10, edges=90)
    text = str(LSP(k=2).explain(graph, 3))
    assert "quota 2" in text
    assert "taken at step 1: the first of" in text
    assert "beaten at every step, most narrowly at step" in text
    assert "the node keeps no edge" in str(LSP(k=0).explain(graph, 3))
    assert "its reverse was taken by the neighbour" in "".join(
        str(LSP(k=1, symmetric="union").explain(graph, node)) for node in range(10)
    )
    assert "self-loop, kept and not counted" in str(First(k=1).explain(np.array([[2, 0], [2, 2]]), 2))


@pytest.mark.parametrize("pruner", [Random(keep=0.4), NoEdges()], ids=name_of)
def test_global_pruners_say_that_nobody_chose(pruner):
    graph = random_graph(4, nodes=10, edges=90)
    explanation = pruner.explain(graph, 3)
    assert [reason.kept for reason in explanation.edges] == pruner.mask(graph)[graph.ends()[1] == 3].tolist()
    assert "decided over the whole graph" in str(explanation)
    with pytest.raises(GraphError, match=r"node must be in \[0, 10\), got -1"):
        pruner.explain(graph, -1)


def test_unknown_nodes_are_named():
    with pytest.raises(GraphError, match=r"node must be in \[0, 12\), got 12"):
        LSP(k=1).explain(random_graph(0), 12)
