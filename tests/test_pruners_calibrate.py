"""hash="auto": the parts and the family that noise does not disturb, whatever the order of edges."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import LSP, Graph, GraphError, OptionError
from lsprune.hashing import Auto, Codebook
from lsprune.kernels import runtime
from lsprune.pruners import calibrate
from lsprune.select import group


def clustered() -> Graph:
    """Kinds of edges told clearly by their attributes, between nodes whose attributes are noise."""
    rng = np.random.default_rng(0)
    kinds = 3 * rng.standard_normal((400, 12))
    pairs = rng.choice(300 * 300, 4000, replace=False)  # no edge twice
    source, target = pairs // 300, 300 + pairs % 300
    attr = kinds[rng.integers(0, 400, 4000)] + 0.2 * rng.standard_normal((4000, 12))
    x = rng.standard_normal((600, 12))
    return Graph.from_edges(np.stack([source, target]), x=x.astype(np.float32), edge_attr=attr.astype(np.float32))


def test_the_part_that_can_be_told_apart_is_chosen():
    fitted = LSP(keep=0.3, hash="auto").fit(clustered())
    assert fitted.attributes == ("edge",)
    assert fitted.family == Codebook()
    assert fitted.keep == 0.3


def test_the_winner_is_the_most_stable_of_all(monkeypatch):
    scores, original = [], calibrate._overlap

    def spy(*parts):
        scores.append(original(*parts))
        return scores[-1]

    monkeypatch.setattr(calibrate, "_overlap", spy)
    graph = clustered()
    fitted = LSP(k=2, hash="auto").fit(graph)
    tried = list(calibrate._candidates(graph))
    assert len(scores) == len(tried) == 12
    assert tried[int(np.argmax(scores))] == (fitted.family, fitted.attributes)


def test_fitted_and_unfitted_agree_on_every_executor_and_in_any_order():
    graph = clustered()
    pruner = LSP(k=2, hash="auto", seed=3)
    mask = pruner.mask(graph)
    np.testing.assert_array_equal(pruner.fit(graph).mask(graph, threads=1), mask)
    order = np.random.default_rng(1).permutation(4000)
    source, target = graph.ends()
    other = Graph.from_edges(np.stack([source, target])[:, order], x=graph.x, edge_attr=graph.edge_attr[order])
    assert pruner.fit(other) == pruner.fit(graph)
    np.testing.assert_array_equal(pruner.mask(other), mask[order])


def test_identity_of_nodes_is_of_no_help():
    """Ties go by the neighbour's number: nodes are renamed, so that who cannot tell edges apart scores low."""
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 200, (2, 3000)), x=np.ones((200, 4), np.float32))
    scores = []
    pruner = LSP(k=2, hash="auto")
    original = calibrate._overlap

    def spy(*parts):
        scores.append(original(*parts))
        return scores[-1]

    calibrate._overlap = spy
    try:
        pruner.fit(graph)
    finally:
        calibrate._overlap = original
    assert max(scores) < 0.2


def test_noise_leaves_categories_alone_and_renames_nodes():
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 40, (2, 300)), x=rng.integers(0, 5, 40), edge_attr=rng.random((300, 2)))
    owned = group(graph, LSP(k=1), runtime(1))
    clean, _ = calibrate._some(graph, owned, LSP(k=1), 10**6)
    noisy = calibrate._disturbed(clean, 0.5, 0)
    np.testing.assert_array_equal(noisy.x[noisy.ends()[0]], clean.x[clean.ends()[0]])  # the same node, another number
    assert (noisy.ends()[0] != clean.ends()[0]).mean() > 0.9
    off = (noisy.edge_attr - clean.edge_attr).std(0) / clean.edge_attr.std(0)
    np.testing.assert_allclose(off, 0.5, atol=0.1)


def test_two_kinds_of_nodes_and_graphs_without_attributes():
    rng = np.random.default_rng(0)
    ends = np.stack([rng.integers(0, 20, 200), rng.integers(0, 30, 200)])
    x = (rng.standard_normal((20, 6)).astype(np.float32), rng.standard_normal((30, 4)).astype(np.float32))
    for side in ("in", "out"):
        mask = LSP(k=2, hash="auto", side=side).mask(Graph.from_edges(ends, num_nodes=(20, 30), x=x))
        assert mask.sum() == np.minimum(np.bincount(ends[1 if side == "in" else 0]), 2).sum()
    with pytest.raises(GraphError, match="neither node attributes"):
        LSP(k=1, hash="auto").fit(Graph.from_edges(ends, num_nodes=(20, 30)))


def test_bad_options_are_named():
    with pytest.raises(OptionError, match=r"noise must be a number in \(0, 100\), got 0"):
        Auto(noise=0)
