"""Whether similar neighbours are preferred, chosen from the data."""

from __future__ import annotations

import dataclasses
from contextlib import nullcontext

import numpy as np
import pytest
from labelled_graphs import labelled_graph

from graphs import communities, same_kind
from lsprune import LSP, Codebook, Constant, Graph, GraphError, OptionError
from lsprune.baselines.top_weight import TopWeight
from lsprune.errors import LabelsWarning
from lsprune.pruners import calibration
from lsprune.weights import AutoWeight, Similarity
from lsprune.weights.auto import FIT_BYTES
from lsprune.weights.recommended import WITH_LABELS, WITHOUT_LABELS
from lsprune.weights.surroundings import noisy_cosines


def test_auto_prefers_the_like_where_noise_does_not_change_who_they_are():
    graph, kind = communities(600, width=40)
    for options in ({"hash": "auto"}, {"hash": "projection"}, {"hash": "identity"}):
        fitted = LSP(keep=0.3, weights="auto", **options).fit(graph)
        given = options["hash"] != "auto"
        assert fitted.options.weights == (Similarity() if given else WITHOUT_LABELS)
        assert fitted.options.hash == (LSP(k=1, **options).hash if given else Constant())
        assert same_kind(graph, kind, fitted.mask(graph)) > 0.6
        np.testing.assert_array_equal(
            LSP(keep=0.3, weights="auto", **options).mask(graph, threads=2), fitted.mask(graph)
        )


@pytest.mark.parametrize(
    ("few", "many"),
    [({"keep": 0.33}, {"keep": 0.34}), ({"k": 3}, {"k": 4})],
)
def test_auto_prefers_nobody_where_a_third_is_kept_or_more(few, many):
    graph, _ = communities(600, width=40)
    assert LSP(weights="auto", **few).fit(graph).options.weights == Similarity()
    assert LSP(weights="auto", hash="auto", **many).fit(graph) == LSP(hash="auto", **many).fit(graph)
    np.testing.assert_array_equal(LSP(weights="auto", **many).mask(graph), LSP(**many).mask(graph))


def test_similar_neighbours_are_preferred_whatever_hash_is_most_stable(monkeypatch):
    """Nodes that are one of twenty vectors with hardly any noise: a codebook tells them apart best."""
    rng = np.random.default_rng(7)
    ends = np.stack([rng.integers(0, 600, 6000), np.repeat(np.arange(600), 10)])
    x = rng.normal(0, 1, (20, 16))[rng.integers(0, 20, 600)] + rng.normal(0, 0.01, (600, 16))
    graph = Graph.from_edges(ends, num_nodes=600, x=x.astype(np.float32))
    assert isinstance(LSP(keep=0.3, hash="auto").fit(graph).options.hash, Codebook)
    monkeypatch.setattr(calibration, "_similarity_overlap", lambda *_: 0.01)
    fitted = LSP.auto(keep=0.3).fit(graph)
    assert (fitted.options.weights, fitted.options.hash) == (WITHOUT_LABELS, Constant())
    top = TopWeight(keep=0.3, weights=WITHOUT_LABELS)
    np.testing.assert_array_equal(fitted.mask(graph), top.fit(graph).mask(graph))


@pytest.mark.parametrize("many", ["graphs", "edge attributes"])
def test_of_many_graphs_and_of_edges_with_attributes_they_must_be_as_stable_as_a_hash(many, monkeypatch):
    graph, _ = communities(600, width=40)
    more = {"ptr": [0, 600, 600]} if many == "graphs" else {"edge_attr": np.zeros((graph.num_edges, 1), np.float32)}
    graph = Graph.from_edges(np.stack(graph.ends()), x=graph.x, **more)
    for overlap, weights in ((0.01, None), (1.0, WITHOUT_LABELS)):
        monkeypatch.setattr(calibration, "_similarity_overlap", lambda *_, overlap=overlap: overlap)
        assert LSP.auto(keep=0.3).fit(graph).options.weights == weights


@pytest.mark.parametrize("keep", [0.1, 0.7])
def test_labels_are_not_used_where_those_of_neighbours_are_independent(keep):
    graph = labelled_graph(noise=0.6)
    mixed = dataclasses.replace(graph, y=np.random.default_rng(0).permutation(graph.y))
    assert LSP.auto(keep=keep).fit(mixed) == LSP.auto(keep=keep, labels=False).fit(graph)
    few = dataclasses.replace(mixed, train_mask=np.arange(graph.num_nodes) < 20)  # hardly any of them are neighbours
    assert LSP.auto(keep=keep).fit(few).options.weights == WITH_LABELS


@pytest.mark.parametrize("keep", [0.1, 0.7])
def test_labels_of_training_nodes_are_used_at_every_share(keep):
    graph = labelled_graph(noise=0.6)
    fitted = LSP.auto(keep=keep).fit(graph)
    assert (fitted.options.weights, fitted.options.hash) == (WITH_LABELS, Constant())
    np.testing.assert_array_equal(fitted.mask(graph), TopWeight(keep=keep, weights=WITH_LABELS).fit(graph).mask(graph))
    given = LSP(keep=keep, hash="identity", weights=AutoWeight(power=0.5, labels=True)).fit(graph).options.weights
    assert [factor.power for factor in given.factors] == [1.0, 0.5, 0.25]


@pytest.mark.parametrize(
    "missing",
    [
        {"y": None}, {"train_mask": None}, {"train_mask": np.zeros(240, bool)},
        {"train_mask": np.ones((240, 10), bool)}, {"y": np.full(240, -1)},
    ],
    ids=["y", "train_mask", "no training nodes", "ten splits", "no labels"],
)  # fmt: skip
def test_without_labels_that_may_be_looked_at_none_are(missing):
    graph = labelled_graph(**missing)
    bare = Graph.from_edges(np.stack(graph.ends()), x=graph.x)
    absent = any(value is None for value in missing.values())
    with nullcontext() if absent else pytest.warns(LabelsWarning, match="labels are not used: "):
        fitted = LSP.auto(keep=0.2).fit(graph)
    assert fitted == LSP.auto(keep=0.2).fit(bare)


def test_labels_can_be_left_alone():
    graph = labelled_graph()
    bare = Graph.from_edges(np.stack(graph.ends()), x=graph.x)
    unlabelled = LSP(keep=0.2, hash="auto", weights="auto")
    assert LSP.auto(keep=0.2, labels=False) == unlabelled != LSP.auto(keep=0.2)
    np.testing.assert_array_equal(unlabelled.mask(graph), LSP.auto(keep=0.2).mask(bare))
    with pytest.raises(OptionError, match="labels"):
        AutoWeight(labels=2)


def test_auto_leaves_weights_where_edges_say_more():
    """Edges that are one of twenty vectors with hardly any noise, between nodes that nothing is known of."""
    rng = np.random.default_rng(6)
    ends = np.stack([rng.integers(0, 300, 3000), np.repeat(np.arange(300), 10)])
    which = rng.integers(0, 20, 3000)
    edges = rng.normal(0, 1, (20, 16))[which] + rng.normal(0, 0.01, (3000, 16))
    graph = Graph.from_edges(
        ends, num_nodes=300, x=rng.normal(0, 1, (300, 4)).astype(np.float32), edge_attr=edges.astype(np.float32)
    )
    fitted = LSP(keep=0.3, hash="auto", weights="auto").fit(graph)
    assert (fitted.options.weights, fitted.options.attributes) == (None, ("edge",))
    assert fitted == LSP(keep=0.3, hash="auto").fit(graph)


def test_auto_looks_at_few_nodes_of_a_dense_graph(monkeypatch):
    graph, _ = communities(2100)
    seen = []

    def watched(graph, owned, side, slots, seed, run):
        seen.append(slots.size)
        return noisy_cosines(graph, owned, side, slots, seed, run)

    monkeypatch.setattr(calibration, "MAX_SURROUNDING_EDGES", 3000)
    monkeypatch.setattr(calibration, "noisy_cosines", watched)
    fitted = LSP(keep=0.3, weights="auto").fit(graph)
    assert seen == [calibration.MIN_TRIAL_EDGES]
    assert fitted.options.weights == Similarity()


def test_auto_refuses_what_is_not_finite_where_nobody_has_a_choice_too():
    x = np.zeros((9, 4), np.float32)
    x[7, 1] = np.nan
    for hash in ("identity", "projection"):
        with pytest.raises(GraphError, match="finite"):
            LSP(k=2, hash=hash, weights="auto").mask(Graph.from_edges(np.array([[0], [1]]), num_nodes=9, x=x))


@pytest.mark.parametrize("hash", ["identity", "structure"])
def test_auto_measures_noise_against_a_projection_where_the_hash_has_none(hash, monkeypatch):
    graph, _ = communities(600, width=40)
    assert LSP(keep=0.1, hash=hash, weights="auto").fit(graph).options.weights == Similarity()
    monkeypatch.setattr(calibration, "_similarity_overlap", lambda *_: 0.1)
    assert LSP(keep=0.1, hash=hash, weights="auto").fit(graph) == LSP(keep=0.1, hash=hash).fit(graph)


@pytest.mark.parametrize("hash", ["identity", "projection", "auto"])
@pytest.mark.filterwarnings("ignore::lsprune.errors.ConstantWarning")
def test_auto_prefers_nobody_where_all_nodes_are_alike(hash):
    graph, _ = communities(600)
    same = Graph.from_edges(np.stack(graph.ends()), num_nodes=600, x=np.ones((600, 3), np.float32))
    assert LSP(keep=0.1, hash=hash, weights="auto").fit(same).options.weights is None


def test_auto_leaves_weights_where_nodes_have_no_attributes():
    ends = np.random.default_rng(0).integers(0, 30, (2, 300))
    pruner = LSP(keep=0.2, hash="identity", weights="auto")
    graph = Graph.from_edges(ends)
    np.testing.assert_array_equal(pruner.mask(graph), LSP(keep=0.2, hash="identity").mask(graph))
    assert pruner.fit(graph).options.weights is None


def test_the_power_is_that_of_the_similarity_that_is_chosen():
    graph, _ = communities(600, width=40)
    fitted = LSP(keep=0.1, weights=AutoWeight(power=0.25)).fit(graph)
    assert fitted.options.weights == Similarity(power=0.25)


def test_it_is_chosen_by_fit_and_says_what_that_takes():
    needs = AutoWeight().needs
    assert AutoWeight().chosen_by_fit and LSP(k=1, hash="identity", weights="auto").chosen_by_fit
    assert (needs.scope, needs.fit_edges, needs.fit_bytes) == ("neighbourhood", True, FIT_BYTES)
    with pytest.raises(OptionError, match=r"power must be a number in \[0, 64\], got 65"):
        AutoWeight(power=65)
