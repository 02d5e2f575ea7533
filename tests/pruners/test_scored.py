"""Scores as numbers: what the pruner keeps is what has the best of them."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import owners_of, random_graph
from lsprune import LSP, Graph, Guarded, LocalRandom, NoEdges, OptionError, Random, Signs
from lsprune.baselines import Cosine, DSpar, EffectiveResistance, Jaccard, LocalDegree, LowDegree, TopWeight

GRAPH = random_graph(11, nodes=20, edges=200, edge_dim=2)
SOURCE, TARGET = GRAPH.ends()
COUNTED = SOURCE != TARGET

LARGE_FIRST = [
    TopWeight(k=2, column=0),
    TopWeight(k=2, weights="jaccard:power=0.5*degree"),
    LocalDegree(k=2),
    Jaccard(k=2, exact=True),
    Jaccard(k=2, side="out"),
    Cosine(k=2),
]


@pytest.mark.parametrize("pruner", [*LARGE_FIRST, LowDegree(k=2)], ids=repr)
def test_owners_keep_the_edges_of_best_score(pruner):
    scores, mask, owner = pruner.scores(GRAPH), pruner.mask(GRAPH), owners_of(GRAPH, pruner.side)
    best = -scores if isinstance(pruner, LowDegree) else scores
    for node in range(20):
        kept, removed = best[(owner == node) & COUNTED & mask], best[(owner == node) & COUNTED & ~mask]
        assert not kept.size or not removed.size or kept.min() >= removed.max()
    if pruner.weights is None if isinstance(pruner, TopWeight) else False:
        assert np.isfinite(scores).all()  # the weights as they are
    else:
        np.testing.assert_array_equal(np.isnan(scores), ~COUNTED)


def test_scores_are_the_numbers_that_they_say():
    ends = np.array([[0, 1, 2, 3, 0], [2, 2, 0, 0, 1]])
    graph = Graph.from_edges(ends, edge_weight=np.array([5, -1, 3, 2, 2**60], np.int64), x=np.eye(4)[[0, 1, 0, 2]])
    assert TopWeight(k=1).scores(graph).tolist() == [5, -1, 3, 2, 2**60]  # exact, in their own type
    assert LowDegree(k=1).scores(graph).tolist() == [2, 1, 1, 1, 2]  # out-degrees of the sources
    np.testing.assert_allclose(Cosine(k=1).scores(graph), [1, 0, 1, 0, 0], atol=1e-3)
    # In-neighbours: of 0 {2, 3}, of 1 {0}, of 2 {0, 1}.
    np.testing.assert_allclose(Jaccard(k=1, exact=True).scores(graph)[:2], [0, 1 / 2], atol=1e-6)
    np.testing.assert_allclose(DSpar(k=1).scores(graph)[0], 1 / 4 + 1 / 3)
    np.testing.assert_allclose(EffectiveResistance(k=1, trees=64).scores(graph)[3], 1, rtol=0.05)  # a bridge


def test_scores_of_lsp_are_those_of_its_weights():
    weights = LSP(k=2, hash="identity", weights="degree").scores(GRAPH)
    out_degree = np.bincount(SOURCE[COUNTED], minlength=20)
    np.testing.assert_allclose(weights[COUNTED], 1 / out_degree[SOURCE[COUNTED]], rtol=1e-6)
    fitted = TopWeight(k=2, weights="similarity").fit(GRAPH)
    np.testing.assert_array_equal(fitted.scores(GRAPH), TopWeight(k=2, weights="similarity").scores(GRAPH))


@pytest.mark.parametrize("pruner", [LSP(k=2), LSP(k=2, hash=Signs(bits=2)), LocalRandom(k=2), Random(k=2), NoEdges()])
def test_chance_and_hashes_have_no_scores(pruner):
    with pytest.raises(OptionError, match="has no scores"):
        pruner.scores(GRAPH)


def test_scores_come_in_the_form_of_the_mask():
    from scipy.sparse import coo_array

    matrix = coo_array((np.array([3.0, 1.0, 2.0]), (np.array([0, 2, 1]), np.array([1, 0, 2]))), shape=(3, 3))
    assert TopWeight(k=1).scores(matrix).tolist() == [3.0, 1.0, 2.0]


def test_plain_data_names_ties_only_where_they_are_kept():
    assert "ties" not in TopWeight(k=2).to_dict()
    assert TopWeight.from_dict(TopWeight(k=2, ties="keep").to_dict()) == TopWeight(k=2, ties="keep")
    assert "all edges of an owner" in TopWeight(k=2, ties="keep").needs.reason


def test_pruners_around_others_say_whom_to_ask():
    with pytest.raises(OptionError, match="no scores of its own: ask the pruner within, TopWeight"):
        Guarded(pruner=TopWeight(k=2, column=0), min_keep=1).scores(GRAPH)
    with pytest.raises(OptionError, match="judges edges by hashes"):
        LSP(k=1).scores(np.array([[0, 1], [1, 2]]))  # without attributes too
