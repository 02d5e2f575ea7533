"""A trial is the score of what a candidate keeps; what candidates share is learned once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from labelled_graphs import labelled_graph
from scipy.sparse import issparse

from lsprune import LSP, Graph
from lsprune.baselines.top_weight import TopWeight
from lsprune.chooser import trials as trials_module
from lsprune.chooser.candidates import CANDIDATES, NO_EDGES, UNPRUNED, Candidate
from lsprune.chooser.known_labels import known_labels
from lsprune.chooser.probe import Probe
from lsprune.chooser.trials import Step, Trials, compact, plan_trials

GIVEN = {"y": None, "train_mask": None, "val_mask": None}


@pytest.fixture
def trials():
    graph = labelled_graph()
    return Trials(graph, known_labels(graph, graph, GIVEN, 0), 0, None)


def test_the_plan_begins_with_all_and_no_edges(trials):
    plan = plan_trials(CANDIDATES, trials.graph, trials.labels, (0.1, 0.5))
    assert [(step.name, step.keep) for step in plan[:4]] == [
        (UNPRUNED, 1.0), (NO_EDGES, 0.0), (CANDIDATES[0].name, 0.1), (CANDIDATES[0].name, 0.5),
    ]  # fmt: skip
    assert len(plan) == 2 + 2 * len(CANDIDATES)


def test_a_teacher_never_sees_the_labels_that_the_probe_is_trained_on(trials):
    candidate = Candidate("labels", TopWeight(k=1, weights="labels"))
    masks = []
    for chosen in trials.labels.rounds:
        graph = labelled_graph(y=trials.labels.as_y(240), train_mask=chosen.teaching)
        masks.append(candidate.at(0.25, 0).fit(graph).mask(graph))
    expected = Probe(trials.graph, trials.labels, 0).score((masks[0], masks[1]))
    scores, kept = trials.run(Step("labels", 0.25, candidate))
    assert np.array_equal(scores.closeness, expected.closeness) and kept == masks[0].sum()
    assert not np.array_equal(*masks)


@pytest.mark.parametrize("weights", ["labels:2*jaccard:0.5", "labels:power=3", "labels*similarity"])
def test_what_was_learned_for_other_powers_or_shares_is_the_same(trials, weights):
    trials.run(Step("labels", 0.25, Candidate("labels", TopWeight(k=1, weights="labels"))))
    step = Step("other", 0.5, Candidate("other", TopWeight(k=1, weights=weights)))
    shared, alone = trials.run(step), Trials(trials.graph, trials.labels, 0, None).run(step)
    assert np.array_equal(shared[0].closeness, alone[0].closeness)


def test_both_sides_of_an_undirected_graph_learn_the_same_once(monkeypatch):
    graph = labelled_graph()
    ends = np.stack(graph.ends())
    graph = Graph.from_edges(np.concatenate([ends, ends[::-1]], 1), x=graph.x_target, y=graph.y)
    labels = known_labels(graph, graph, {"y": graph.y, "train_mask": None, "val_mask": None}, 0)
    trials, taught = Trials(graph, labels, 0, None), []
    fit = Trials.fit
    monkeypatch.setattr(Trials, "fit", lambda self, *arguments: taught.append(1) or fit(self, *arguments))
    both = [Candidate(side, TopWeight(k=1, weights="labels*jaccard", side=side)) for side in ("in", "out")]
    shared = [trials.run(Step(candidate.name, 0.25, candidate))[0] for candidate in both]
    assert len(taught) == 2  # one teacher for each round
    alone = Trials(graph, labels, 0, None).run(Step("out", 0.25, both[1]))[0]
    assert np.array_equal(shared[1].hits, alone.hits) and np.array_equal(shared[1].closeness, alone.closeness)


def test_what_depends_on_the_share_is_chosen_for_each(trials, monkeypatch):
    shares = []
    fit = LSP.fit
    monkeypatch.setattr(LSP, "fit", lambda self, *a, **k: shares.append(self.keep) or fit(self, *a, **k))
    for candidate in (Candidate("auto", LSP.auto(keep=0.5)), Candidate("projection", LSP(keep=0.5))):
        for share in (0.1, 0.5):
            trials.run(Step(candidate.name, share, candidate))
    assert shares == [0.1, 0.5, 0.1]


def bag_of_words(dtype: type = np.float32) -> Graph:
    graph, random = labelled_graph(), np.random.default_rng(0)
    x = ((random.random((graph.num_nodes, 200)) < 0.02) * random.integers(1, 5, 200)).astype(dtype)
    return replace(graph, x_source=x, x_target=x)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_bags_of_words_are_worked_on_as_sparse_matrices_with_the_same_masks(dtype, monkeypatch):
    graph = bag_of_words(dtype)
    labels = known_labels(graph, graph, GIVEN, 0)
    sparse = Trials(graph, labels, 0, None)
    monkeypatch.setattr(trials_module, "compact", lambda same: same)
    dense = Trials(graph, labels, 0, None)
    assert issparse(sparse.graph.x_target) and not issparse(dense.graph.x_target)
    for candidate in CANDIDATES:
        number = 0 if candidate.needs_labels else None
        masks = [trials._mask(candidate, 0.2, number) for trials in (sparse, dense)]
        assert np.array_equal(*masks), candidate.name


def test_other_attributes_stay_as_they_are():
    narrow, mixed = labelled_graph(), bag_of_words()
    full = replace(mixed, x_source=mixed.x_source + 1, x_target=mixed.x_target + 1)
    for graph in (narrow, full, replace(mixed, x_target=mixed.x_target.copy()), bag_of_words(np.float16)):
        assert compact(graph) is graph
