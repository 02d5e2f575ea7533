"""Weights computed in rounds of messages, or from sets of neighbours, are those that are computed in memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphs import communities
from lsprune import LSP, Graph, GraphError
from lsprune.kernels import Runtime, runtime
from lsprune.selection.owners import group
from lsprune.weights.comparison import RowComparison, SetComparison, view_of_nodes

GRAPH, KIND = communities()
LABELS = {"classes": KIND, "labels": np.eye(3)[KIND], "numbers": KIND * 1.5 + GRAPH.x[:, 0]}


def by_rounds(comparison: RowComparison, graph: Graph, owner, neighbour, run: Runtime) -> np.ndarray:
    """Send messages as Spark does, over all edges at once."""
    nodes = replace(graph, source=owner[:0], target=owner[:0])
    known = comparison.start(nodes, run)
    for _ in range(comparison.rounds):
        message = comparison.message(known)
        assert message.dtype == comparison.message_type
        sums = message.astype(np.int64)
        np.add.at(sums, owner, message[neighbour])
        known = comparison.update(known, sums, np.bincount(owner, minlength=graph.num_nodes), run)
    rows = comparison.finish(known, run)
    assert rows.dtype == comparison.row_type
    return comparison.logs(rows[owner], rows[neighbour], run)


def by_sets(comparison: SetComparison, graph: Graph, owner, neighbour, run: Runtime) -> np.ndarray:
    sets = [{u, *neighbour[owner == u].tolist()} for u in range(graph.num_nodes)]
    pairs = [(sets[u], sets[v]) for u, v in zip(owner.tolist(), neighbour.tolist(), strict=True)]
    common, union = (np.array([len(both(a, b)) for a, b in pairs]) for both in (set.intersection, set.union))
    return comparison.logs(common, union, run)


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("weights", ["jaccard", "similarity", *LABELS])
@pytest.mark.parametrize("executor", ["cpu", "reference"])
def test_the_same_logarithms_as_in_memory(weights, side, executor):
    graph, run = replace(GRAPH, y=LABELS.get(weights)), runtime(1, executor)
    pruner = LSP(k=1, hash="identity", weights="labels" if weights in LABELS else weights, side=side).fit(graph)
    owned = group(graph, pruner.rules, run)
    owner, slots = owned.owners(0, graph.num_nodes), owned.neighbour.shape[0]
    view = pruner.view(graph, owned, 1, run)
    expected = pruner.options.weight.logs(graph, view, side, dict(pruner.scales)).of(owned, 0, slots)
    (comparison,) = pruner.comparisons()
    compute = by_rounds if isinstance(comparison, RowComparison) else by_sets
    np.testing.assert_array_equal(compute(comparison, graph, owner, owned.neighbour, run), expected)
    assert np.unique(expected).shape[0] > 5


def test_a_teacher_sends_a_round_of_messages_for_each_hop():
    pruner = LSP(k=1, hash="identity", weights="labels").fit(replace(GRAPH, y=KIND))
    (comparison,) = pruner.comparisons()
    assert comparison.rounds == comparison.teacher.weights.shape[0] - 1


@pytest.mark.parametrize("weights", ["jaccard", "similarity", "labels"])
def test_graphs_that_have_nothing_to_compare_are_refused(weights):
    (comparison,) = LSP(k=1, hash="identity", weights=weights).fit(replace(GRAPH, y=KIND)).comparisons()
    comparison.check(GRAPH)
    with pytest.raises(GraphError, match="needs one kind of nodes"):
        comparison.check(replace(GRAPH, bipartite=True))
    if isinstance(comparison, RowComparison):
        with pytest.raises(GraphError, match="columns as when fitted"):
            comparison.check(replace(GRAPH, x_source=GRAPH.x[:, :2], x_target=GRAPH.x[:, :2]))


def test_a_view_of_nodes_has_no_edges():
    view = view_of_nodes(3, 7, Runtime())
    assert (view.neighbours, view.seed, view.owned.neighbour.shape[0], view.owned.indptr.tolist()) == (3, 7, 0, [0] * 4)
