"""A fitted LSP: what was learned stays with the options that it was learned for."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from graphs import communities, random_graph
from lsprune import LSP, Codebook, FormatError, Graph, GraphError, OptionError, Random
from lsprune.hashing import Auto, Identity
from lsprune.pruners import FittedLSP, Guarded, PaperLSP
from lsprune.pruners.fitted import LEARNED_FROM, LearnedArray
from lsprune.weights import Degree, Similarity
from lsprune.weights.surroundings import SIMILARITY_ROLE

GRAPH = random_graph(0, nodes=20, edges=200, edge_dim=3)
OTHER = random_graph(1, nodes=25, edges=150, edge_dim=3)


def test_another_budget_needs_no_other_fit():
    fitted = LSP(k=2, hash=Codebook(words=8)).fit(GRAPH)
    for budget in ({"k": 5}, {"keep": 0.3}):
        other = fitted.with_budget(**budget)
        assert (other.scales, other.learned) == (fitted.scales, fitted.learned)
        assert other == LSP(**budget, hash=Codebook(words=8)).fit(GRAPH)
        np.testing.assert_array_equal(other.mask(OTHER), LSP(**budget, hash=Codebook(words=8)).fit(GRAPH).mask(OTHER))
    assert fitted.k == 2  # unchanged


@pytest.mark.parametrize(
    "changes",
    [{"select": "bottom"}, {"symmetric": "union"}, {"self_loops": "edge"}, {"pooled": True}, {"k": None, "keep": 0.4}],
    ids=str,
)
def test_options_that_fit_does_not_depend_on_can_be_changed(changes):
    fitted = LSP(k=2).fit(GRAPH)
    expected = dataclasses.replace(LSP(k=2), **changes).fit(GRAPH)
    assert fitted.with_options(**changes) == expected
    np.testing.assert_array_equal(fitted.with_options(**changes).mask(OTHER), expected.mask(OTHER))


@pytest.mark.parametrize(
    ("pruner", "changes"),
    [
        (LSP(k=2), {"hash": Identity()}),
        (LSP(k=2), {"hash": "codebook"}),
        (LSP(k=2), {"weights": Similarity()}),
        (LSP(k=2), {"weights": Degree()}),
        (LSP(k=2), {"attributes": ("edge",)}),
        (LSP(k=2), {"side": "out"}),
        (LSP(k=2), {"seed": 5}),
        (PaperLSP(k=2), {"values": "raw"}),
        (LSP(k=2), {"k": 3, "seed": 5}),
    ],
    ids=str,
)
def test_options_that_fit_depends_on_must_stay(pruner, changes):
    name = next(name for name in changes if name in LEARNED_FROM)
    with pytest.raises(OptionError, match=f"{name} must stay what the pruner was fitted with, got "):
        pruner.fit(GRAPH).with_options(**changes)


def test_every_option_that_changes_what_is_learned_is_among_those_that_must_stay():
    """Other options give the same scales and words."""
    base = {"k": 2, "hash": Codebook(words=8), "weights": "similarity"}
    fitted = PaperLSP(**base).fit(GRAPH)
    for changes in ({"k": 7}, {"select": "bottom"}, {"ties": "id"}, {"symmetric": "union"}, {"pooled": True}):
        other = PaperLSP(**base | changes).fit(GRAPH)
        assert (other.scales, other.learned) == (fitted.scales, fitted.learned)
    for changes in (
        {"hash": Codebook(words=9)}, {"attributes": ("edge",)}, {"seed": 1}, {"values": "raw"}, {"weights": "degree"},
    ):  # fmt: skip
        other = PaperLSP(**base | changes).fit(GRAPH)
        assert (other.scales, other.learned) != (fitted.scales, fitted.learned)


def test_what_was_not_learned_must_be_learned_first():
    plain = LSP(k=2).fit(GRAPH)
    for options, says in (
        (LSP(k=2, weights="similarity"), "weights must be those that the pruner was fitted with; fit it again"),
        (LSP(k=2, weights="auto"), "hash must be the one|weights must be those"),
        (LSP(k=2, hash=Auto()), "hash must be the one that the pruner was fitted with; fit it again"),
        (LSP(k=2, hash="codebook"), "hash codebook must have learned from a graph; fit it again"),
    ):
        with pytest.raises(OptionError, match=says):
            FittedLSP(options=options, scales=plain.scales)
    with pytest.raises(OptionError, match="hash must be the one that the pruner was fitted with; fit it again"):
        FittedLSP(options=LSP(k=2))


def test_options_are_seen_through():
    pruner = LSP(keep=0.3, side="out", symmetric="union", self_loops="drop", pooled=True, seed=7)
    fitted = pruner.fit(GRAPH)
    for name in ("keep", "k", "side", "symmetric", "self_loops", "seed", "name", "about", "replace"):
        assert getattr(fitted, name) == getattr(pruner, name)
    assert fitted.rules is fitted.options and fitted.to_dict() == pruner.to_dict()
    assert repr(LSP(k=2).fit(GRAPH)) == "LSP(k=2).fit(...)"
    assert fitted.functions_needed(300) == pruner.functions_needed(300)


def test_it_can_be_fitted_again():
    fitted = LSP(k=2, hash="codebook").fit(GRAPH)
    assert fitted.fit(GRAPH) == fitted
    assert fitted.fit(OTHER) == LSP(k=2, hash="codebook").fit(OTHER) != fitted


def test_fitted_pruners_are_compared_by_what_they_learned():
    assert LSP(k=2).fit(GRAPH) == LSP(k=2).fit(GRAPH)
    assert hash(LSP(k=2).fit(GRAPH)) == hash(LSP(k=2).fit(GRAPH))
    assert LSP(k=2).fit(GRAPH) != LSP(k=2).fit(OTHER)
    words = np.arange(-6, 6, dtype=np.int16).reshape(3, 4)
    assert LearnedArray.of(words) == LearnedArray.of(words.astype(np.int64))
    np.testing.assert_array_equal(LearnedArray.of(words).array, words)


def test_attributes_must_be_as_when_fitted():
    fitted = LSP(k=2).fit(GRAPH)
    assert set(fitted.fitted_parts(OTHER)) == {"edge", "neighbour"}
    no_edges = Graph.from_edges(GRAPH.ends(), num_nodes=20, x=GRAPH.x)
    for wrong, says in (
        (no_edges, "fitted on edge, neighbour attributes, this graph gives neighbour"),
        (random_graph(0, dim=9, edge_dim=3), "x must have 5 columns as when fitted, got 9"),
    ):
        for check in (fitted.fitted_parts, fitted.mask):
            with pytest.raises(GraphError, match=says):
                check(wrong)
    with pytest.raises(GraphError, match="neither node attributes"):
        fitted.check_attributes(Graph.from_edges(GRAPH.ends()))


def test_needs_are_those_of_the_parts_that_were_there():
    nodes_only = random_graph(0)
    assert LSP(k=2).needs.edge and LSP(k=2).needs.neighbour
    needs = LSP(k=2).fit(nodes_only).needs
    assert needs.neighbour and not needs.edge and needs.by_neighbour
    similar = LSP(k=2, hash="identity", weights="similarity").fit(communities()[0])
    assert [role for role, _ in similar.scales] == [SIMILARITY_ROLE]
    assert similar.needs.scope == "neighbourhood"


def test_weights_are_added_once_to_each_graph(monkeypatch):
    calls, offsets = [], Degree.key_offsets
    monkeypatch.setattr(Degree, "key_offsets", lambda self, *rest: calls.append(1) or offsets(self, *rest))
    LSP(k=40, weights="degree").fit(GRAPH).mask(random_graph(3, nodes=3, edges=300, edge_dim=3))  # three blocks
    assert len(calls) == 1


def test_promises_go_with_the_fitted_pruner():
    guarded = Guarded(pruner=LSP(k=2), min_keep=1).fit(GRAPH)
    assert isinstance(guarded.pruner, FittedLSP)
    assert guarded.with_budget(keep=0.5).pruner == LSP(keep=0.5).fit(GRAPH)
    assert Guarded(pruner=Random(k=2)).with_budget(keep=0.5) == Guarded(pruner=Random(keep=0.5))


def test_the_scales_of_the_training_graphs_count():
    moved = Graph.from_edges(OTHER.ends(), num_nodes=25, x=OTHER.x + 3, edge_attr=OTHER.edge_attr)
    assert (LSP(k=2).fit(GRAPH).mask(moved) != LSP(k=2).fit(moved).mask(moved)).any()
    np.testing.assert_array_equal(LSP(k=2).fit(moved).mask(moved), LSP(k=2).mask(moved))


def test_a_fitted_pruner_is_loaded_and_has_no_plain_data_of_its_own(tmp_path):
    graph = random_graph(0)
    fitted = LSP(k=2).fit(graph)
    fitted.save(tmp_path / "fitted.npz")
    assert FittedLSP.load(tmp_path / "fitted.npz") == fitted
    with pytest.raises(OptionError, match="from_dict builds pruners that are not fitted"):
        FittedLSP.from_dict(fitted.to_dict())


def test_lsp_loads_its_presets_and_no_other_pruner(tmp_path):
    preset = LSP.paper("p", k=2)
    preset.save(tmp_path / "paper.npz")
    assert LSP.load(tmp_path / "paper.npz") == preset
    Random(keep=0.5).save(tmp_path / "random.npz")
    with pytest.raises(FormatError, match="does not hold a valid lsp pruner: it holds random"):
        LSP.load(tmp_path / "random.npz")


def test_a_node_without_edges_is_explained_without_a_fit():
    bare = Graph.from_edges(np.zeros((2, 0), int), num_nodes=2)
    assert LSP(k=1).explain(bare, 0).edges == ()
    alone = Graph.from_edges(np.array([[0, 1], [1, 0]]), num_nodes=3, x=np.eye(3))
    assert LSP(k=1, hash="codebook:words=50").explain(alone, 2).edges == ()


def test_what_was_learned_is_one_array_that_nobody_changes():
    learned = LearnedArray.of(np.arange(6).reshape(2, 3))
    assert learned.array is learned.array and learned.array.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ValueError, match="read-only"):
        learned.array[0] = 1
    assert LearnedArray.of(learned.array + 1).array[0, 0] == 1
