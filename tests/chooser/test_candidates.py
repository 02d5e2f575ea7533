"""Candidates keep the same number of edges, say what they need, and the baseline is the first."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from labelled_graphs import labelled_graph

from lsprune import LSP, Graph, LocalRandom, LspruneError, OptionError
from lsprune.chooser.candidates import BASELINE, CANDIDATES, Candidate, own_candidates, recommended_first
from lsprune.chooser.known_labels import known_labels


def test_the_baseline_is_first_and_names_are_different():
    assert CANDIDATES[0].name == BASELINE and isinstance(CANDIDATES[0].pruner, LocalRandom)
    assert len({candidate.name for candidate in CANDIDATES}) == len(CANDIDATES)


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda candidate: candidate.name)
def test_a_candidate_says_whether_it_needs_labels_and_attributes(candidate):
    graph = labelled_graph(nodes=60)
    ends = np.stack(graph.ends())
    bare, unlabelled = Graph.from_edges(ends), Graph.from_edges(ends, x=graph.x)
    pruner = candidate.at(0.25, 3)
    assert (pruner.keep, pruner.seed) == (0.25, 3)
    kept = pruner.fit(graph).mask(graph).sum()
    assert kept == CANDIDATES[0].at(0.25, 3).mask(graph).sum()
    unlearned = not candidate.needs_labels
    for other, able in ((bare, candidate.fits(bare) and unlearned), (unlabelled, unlearned)):
        if able:
            assert pruner.fit(other).mask(other).sum() == kept
        else:
            with pytest.raises(LspruneError, match=r"needs|attributes"):
                pruner.fit(other).mask(other)


def test_own_candidates_keep_their_options_and_seed():
    own = own_candidates({"mine": LocalRandom(k=3, side="out", seed=9)})
    assert [candidate.name for candidate in own] == [BASELINE, "mine"]
    assert own[1].at(0.5, None) == LocalRandom(keep=0.5, side="out", seed=9)


@pytest.mark.parametrize("name", ["local-random", "unpruned", "no-edges"])
def test_names_of_what_is_always_tried_are_taken(name):
    with pytest.raises(OptionError, match=f"candidates must have names of their own, got '{name}'"):
        own_candidates({name: LocalRandom(k=1, side="out")})


@pytest.mark.parametrize("wrong", [{}, {"a": None}, {1: LocalRandom(k=1)}, {"a": "local-random"}])
def test_what_is_no_candidate_is_refused(wrong):
    with pytest.raises(OptionError, match="candidates must be"):
        own_candidates(wrong)


def test_a_product_with_labels_needs_them():
    needs = {candidate.name for candidate in CANDIDATES if candidate.needs_labels}
    assert needs == {name for name in (candidate.name for candidate in CANDIDATES) if "labels" in name}
    assert not Candidate("k", LocalRandom(k=1)).needs_labels


def test_the_recommended_candidate_is_what_auto_uses():
    graph = labelled_graph(nodes=300)
    mixed = dataclasses.replace(graph, y=np.random.default_rng(0).permutation(graph.y))
    for one, name in ((graph, "top-labels-jaccard-degree"), (mixed, "top-jaccard-similarity")):
        known = known_labels(one, one, {"y": None, "train_mask": None, "val_mask": None}, 0)
        ordered = recommended_first(one, known)
        assert sorted(ordered, key=CANDIDATES.index) == list(CANDIDATES)
        assert [ordered[0].name, ordered[1].name] == [BASELINE, name]
        learned = dataclasses.replace(one, train_mask=known.training)
        assert LSP.auto(keep=0.2).fit(learned).options.weights == ordered[1].pruner.weights


def test_validation_labels_do_not_decide_what_is_recommended():
    graph = labelled_graph(nodes=600)
    train, noise = np.arange(600) < 300, np.random.default_rng(0).permutation(graph.y)
    for y, name in (
        (np.where(train, graph.y, noise), "top-labels-jaccard-degree"),
        (np.where(train, noise, graph.y), "top-jaccard-similarity"),
    ):
        known = known_labels(graph, graph, {"y": y, "train_mask": train, "val_mask": ~train}, 0)
        assert recommended_first(graph, known)[1].name == name
