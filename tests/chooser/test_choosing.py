"""`choose` picks what is clearly better, says why, looks at no test label, and goes on where it was stopped."""

from __future__ import annotations

import dataclasses
import json
import math
import warnings

import numpy as np
import pytest
import scipy.sparse
from labelled_graphs import labelled_graph
from threadpoolctl import threadpool_info, threadpool_limits

import lsprune
from lsprune import LSP, BudgetWarning, Graph, GraphError, LocalRandom, OptionError, choose
from lsprune.baselines.top_weight import TopWeight
from lsprune.chooser import choosing
from lsprune.chooser.candidates import BASELINE, CANDIDATES, NO_EDGES, UNPRUNED

FEW = {"jaccard": TopWeight(k=1, weights="jaccard"), "labels": TopWeight(k=1, weights="labels")}


def thirds(graph):
    part = np.random.default_rng(5).integers(0, 3, graph.num_nodes)
    return {"train_mask": part == 0, "val_mask": part == 1}, part == 2


def test_labels_win_where_most_edges_are_noise():
    graph = labelled_graph(nodes=800, degree=12, noise=0.6)
    masks, test = thirds(graph)
    choice = choose(graph, keep=0.25, candidates=FEW, **masks)
    assert choice.name == "labels" and choice.keep == 0.25 and choice.finished
    rows = {row.name: row for row in choice.tried}
    assert rows["labels"].low > 0 and rows["labels"].score > rows[BASELINE].score
    assert math.isnan(rows[BASELINE].gain) and math.isnan(rows[UNPRUNED].gain)
    pruned = choice.prune(graph)
    loops = int(np.equal(*graph.ends()).sum())
    assert pruned.num_edges == rows["labels"].edges == round(0.25 * (graph.num_edges - loops)) + loops
    source, target = pruned.ends()
    before = (graph.y[graph.ends()[0]] == graph.y[graph.ends()[1]]).mean()
    assert (graph.y[source] == graph.y[target])[test[target]].mean() > before + 0.1  # for nodes it had no label of too


def test_no_test_label_is_looked_at():
    graph = labelled_graph(nodes=300)
    masks, test = thirds(graph)
    choices = [choose(graph, keep=0.25, candidates=FEW, y=np.where(test, other, graph.y), **masks) for other in (0, 9)]
    first, second = ([(row.name, row.score, row.gain) for row in choice.tried[2:]] for choice in choices)
    assert first == second and choices[0].reason == choices[1].reason
    assert np.array_equal(choices[0].pruner.mask(graph), choices[1].pruner.mask(graph))


def test_the_chosen_pruner_learns_from_training_nodes_only():
    graph = labelled_graph(nodes=300, noise=0.7)
    masks, _ = thirds(graph)
    choice = choose(graph, keep=0.25, candidates={"labels": TopWeight(k=1, weights="labels")}, **masks)
    again = TopWeight(keep=0.25, weights="labels").fit(
        labelled_graph(nodes=300, noise=0.7, train_mask=masks["train_mask"])
    )
    assert choice.name == "labels" and np.array_equal(choice.pruner.mask(graph), again.mask(graph))


def test_the_smallest_lossless_share_is_chosen():
    graph = labelled_graph(nodes=600, degree=20, noise=0.0)
    masks, _ = thirds(graph)
    choice = choose(graph, shares=(0.05, 0.5), candidates=FEW, **masks)
    assert {row.keep for row in choice.tried} == {0.0, 0.05, 0.5, 1.0}
    assert choice.keep == 0.5  # one neighbour is not enough
    with pytest.warns(BudgetWarning, match="20.0 edges on average"):
        none = choose(graph, shares=(0.01,), candidates=FEW, **masks)
    assert "No share that was tried is lossless" in none.reason


def test_with_too_few_labels_to_judge_the_name_says_whether_they_are_learned_from():
    graph = labelled_graph(nodes=200, degree=12)
    few = dataclasses.replace(graph, train_mask=np.arange(200) < 30)
    assert choose(few, keep=0.25).name == "lsp-auto-labels"


@pytest.mark.parametrize("labelled", [True, False])
def test_a_share_that_leaves_too_little_is_warned_of_once_and_only_if_it_is_selected(labelled):
    sparse = labelled_graph(nodes=300, degree=1)
    masks = thirds(sparse)[0] if labelled else {}
    sparse = sparse if labelled else dataclasses.replace(sparse, y=None, train_mask=None)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", BudgetWarning)
        choose(sparse, goal="lossless", candidates=FEW, **masks)
    (warning,) = (one for one in said if one.category is BudgetWarning)
    assert "at 50 % of them" in str(warning.message)
    dense = labelled_graph(nodes=300, degree=15, noise=0.0)  # 0.75 edges at 5 %
    with warnings.catch_warnings():
        warnings.simplefilter("error", BudgetWarning)
        assert choose(dense, goal="lossless", candidates=FEW, **thirds(dense)[0]).keep > 0.05


def test_a_graph_without_edges_is_refused():
    graph = Graph.from_edges(np.empty((2, 0), int), x=np.ones((50, 2)), y=np.arange(50) % 3)
    with pytest.raises(GraphError, match="the graph has no edges: there is nothing to prune"):
        choose(graph, keep=0.5)


def test_without_labels_or_attributes_it_falls_back_and_says_so():
    graph = labelled_graph()
    bare = Graph.from_edges(np.stack(graph.ends()), x=graph.x)
    choice = choose(bare, keep=0.25)
    assert choice.name == "lsp-auto" and choice.tried == ()
    assert choice.reason == "lsp-auto at 25 % of the edges: there are no labels to judge candidates by."
    assert np.array_equal(choice.pruner.mask(bare), LSP.auto(keep=0.25).fit(bare).mask(bare))
    edges = Graph.from_edges(np.stack(graph.ends()), y=graph.y)
    assert "no node attributes" in choose(edges, keep=0.25).reason


def test_it_says_when_edges_do_not_help():
    graph = labelled_graph(nodes=600, noise=1.0)
    masks, _ = thirds(graph)
    assert "do not clearly help" in choose(graph, keep=0.25, candidates=FEW, **masks).reason
    graph = labelled_graph(nodes=600, noise=0.0)
    assert "do not clearly help" not in choose(graph, keep=0.25, candidates=FEW, **masks).reason


def test_it_stops_in_time_and_goes_on_later(tmp_path, monkeypatch):
    graph = labelled_graph(nodes=300)
    masks, _ = thirds(graph)
    file = tmp_path / "trials.jsonl"
    first = choose(graph, keep=0.25, candidates=FEW, seconds=0, resume=file, **masks)
    assert not first.finished and [row.name for row in first.tried] == [UNPRUNED, NO_EDGES, BASELINE]
    seen = []
    second = choose(graph, keep=0.25, candidates=FEW, resume=file, progress=lambda *step: seen.append(step), **masks)
    assert (
        second.finished and seen[-1] == (5, 5, "") and [step[2] for step in seen[:3]] == [UNPRUNED, NO_EDGES, BASELINE]
    )
    monkeypatch.setattr("lsprune.chooser.probe.Probe", None)  # nothing is probed again
    third = choose(graph, keep=0.25, candidates=FEW, resume=file, **masks)
    assert [row.score for row in third.tried] == pytest.approx([row.score for row in second.tried])
    assert third.name == second.name and third.reason == second.reason


def test_trials_of_another_graph_or_seed_are_not_taken(tmp_path):
    graph = labelled_graph(nodes=300)
    masks, _ = thirds(graph)
    file = tmp_path / "trials.jsonl"
    choose(graph, keep=0.25, candidates=FEW, resume=file, **masks)
    lines = len(file.read_text().splitlines())
    choose(labelled_graph(nodes=300, seed=1), keep=0.25, candidates=FEW, resume=file, **masks)
    assert len(file.read_text().splitlines()) == 2 * lines
    choose(graph, keep=0.25, candidates=FEW, resume=file, seed=1, **masks)
    assert len(file.read_text().splitlines()) == 3 * lines


def test_labels_of_graphs_choose_among_pruners_without_labels():
    rng = np.random.default_rng(0)
    sizes = np.full(90, 6)
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    ends = np.stack([ptr[:-1, None] + rng.integers(0, 6, (90, 12)), ptr[:-1, None] + rng.integers(0, 6, (90, 12))])
    graph = Graph.from_edges(ends.reshape(2, -1), x=rng.normal(size=(540, 3)).astype(np.float32), ptr=ptr)
    choice = choose(graph, keep=0.5, y=rng.normal(size=90).astype(np.float32))
    assert choice.metric.startswith("minus") and not any("labels" in row.name for row in choice.tried)


def test_a_choice_is_saved_as_its_pruner_and_told_as_json(tmp_path):
    graph = labelled_graph(nodes=300)
    masks, _ = thirds(graph)
    choice = choose(graph, keep=0.25, candidates=FEW, **masks)
    choice.save(tmp_path / "choice.npz")
    assert np.array_equal(lsprune.load(tmp_path / "choice.npz").mask(graph), choice.pruner.mask(graph))
    told = json.loads(json.dumps(choice.to_dict(), allow_nan=False))
    assert told["name"] == choice.name and [row["name"] for row in told["tried"]][:3] == [UNPRUNED, NO_EDGES, BASELINE]
    assert str(choice).count("\n") == len(choice.tried) + 1 and choice.reason in str(choice)


def test_all_our_candidates_run():
    graph = labelled_graph(nodes=120)
    masks, _ = thirds(graph)
    choice = choose(graph, keep=0.25, **masks)
    assert [row.name for row in choice.tried[2:]] == [candidate.name for candidate in CANDIDATES]
    assert len({row.edges for row in choice.tried[2:]}) == 1  # exactly the same number of edges


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"keep": 0.1, "seed": 1.5}, "seed"),
        ({"keep": 0.1, "seconds": -1}, "seconds"),
        ({"keep": 0.1, "candidates": {}}, "at least one"),
        ({"keep": 0.1, "candidates": {"a": 3}}, "candidates must be pruners"),
        ({"keep": 0.1, "candidates": {"a": LSP(k=1, hash="identity").fit(np.zeros((2, 0), int))}}, "not fitted"),
        ({}, "exactly one"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        choose(labelled_graph(nodes=60), **options)


def test_two_kinds_of_nodes_are_refused():
    graph = Graph.from_edges(np.array([[0, 1], [0, 0]]), num_nodes=(2, 1))
    with pytest.raises(OptionError, match="one kind of nodes"):
        choose(graph, keep=0.5)


def test_labels_that_cannot_judge_are_not_said_to_be_missing():
    graph = labelled_graph()
    masks, _ = thirds(graph)
    few = choose(graph, keep=0.3, train_mask=masks["train_mask"], val_mask=masks["train_mask"])
    assert "at least 20 nodes or graphs with a label" in few.reason and not few.tried
    nobody = np.zeros(graph.num_nodes, bool)
    empty = choose(graph, keep=0.3, train_mask=nobody, val_mask=masks["val_mask"])
    assert "train_mask selects no node, so candidates cannot be judged" in empty.reason and not empty.tried
    both = choose(dataclasses.replace(graph, train_mask=None), keep=0.3, train_mask=nobody, val_mask=nobody)
    assert "train_mask and val_mask select no node" in both.reason
    none = choose(dataclasses.replace(graph, y=None, train_mask=None), keep=0.3)
    assert "there are no labels to judge candidates by" in none.reason


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_attributes_that_are_not_finite_are_refused_at_once(bad, sparse):
    graph = labelled_graph()
    x = graph.x.copy()
    x[3, 2] = bad
    x = scipy.sparse.csr_array(x) if sparse else x
    with pytest.raises(GraphError, match="x must be finite"):
        choose(dataclasses.replace(graph, x_source=x, x_target=x), keep=0.3, seconds=0)


def test_own_candidates_are_named():
    with pytest.raises(OptionError, match="candidates must be pruners by name"):
        choose(labelled_graph(), keep=0.3, candidates=[LocalRandom(k=3)])


def test_own_candidates_come_after_the_baseline():
    graph = labelled_graph(nodes=300)
    masks, _ = thirds(graph)
    choice = choose(graph, keep=0.25, candidates={"mine": LocalRandom(k=3, seed=4)}, **masks)
    assert [row.name for row in choice.tried[2:]] == [BASELINE, "mine"]


def test_blas_has_one_thread(monkeypatch):
    used, run_trials = [], choosing.run_trials

    def record(*arguments):
        used.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        return run_trials(*arguments)

    monkeypatch.setattr(choosing, "run_trials", record)
    with threadpool_limits(2, user_api="blas"):
        masks, _ = thirds(labelled_graph())
        choose(labelled_graph(), keep=0.2, candidates=FEW, threads=2, **masks)
    assert set(used) == {1}
