"""Masks of relations and their reverses, and the warning about undirected graphs."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP, Graph, GraphError, LocalRandom, OptionError, Random, prune
from lsprune.errors import SymmetryWarning
from lsprune.kernels import runtime
from lsprune.pruners import relations as relations_module
from lsprune.pruners.relations import is_undirected, relation_factors, relation_masks, transposed
from lsprune.selection.rescale import owner_factors

RUN = runtime(2)


@pytest.fixture
def unwarned(monkeypatch):
    monkeypatch.setattr(relations_module, "_warned", [])


def both_ways():
    once = np.array([[0, 1, 2, 0], [1, 2, 3, 2]])
    return np.concatenate([once, once[::-1]], axis=1)


def test_undirected_graphs_warn_once(unwarned):
    with pytest.warns(SymmetryWarning, match='symmetric="union"') as caught:
        prune(both_ways(), LocalRandom(k=1))
        prune(both_ways(), LocalRandom(k=1))
    assert sum(issubclass(one.category, SymmetryWarning) for one in caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("error::lsprune.errors.SymmetryWarning")
def test_no_warning_where_there_is_nothing_to_warn_about(unwarned):
    prune(both_ways(), LocalRandom(k=1, symmetric="union"))
    prune(both_ways(), LocalRandom(k=9))  # nothing removed
    prune(np.array([[0, 1, 2], [1, 2, 1]]), LocalRandom(k=1))  # directed
    assert relations_module._warned == []


def test_undirected_means_every_edge_with_its_reverse():
    assert is_undirected(Graph.from_edges(both_ways()), RUN)
    assert not is_undirected(Graph.from_edges(both_ways()[:, :-1]), RUN)
    twice = np.concatenate([both_ways(), both_ways()[:, :1]], axis=1)
    assert not is_undirected(Graph.from_edges(twice), RUN)


LIKES, LIKED_BY, KNOWS = ("user", "likes", "item"), ("item", "rev_likes", "user"), ("user", "knows", "user")


def relations():
    rng = np.random.default_rng(0)
    s, t = rng.integers(0, 6, 40), rng.integers(0, 8, 40)
    order = rng.permutation(40)
    users, items = rng.standard_normal((6, 3)), rng.standard_normal((8, 5))
    return {
        LIKES: Graph.from_edges((s, t), num_nodes=(6, 8), x=(users, items)),
        LIKED_BY: Graph.from_edges((t[order], s[order]), num_nodes=(8, 6), x=(items, users)),
        KNOWS: Graph.from_edges(rng.integers(0, 6, (2, 20)), num_nodes=6, x=users),
    }


@pytest.mark.parametrize("plan", [LSP(k=2), {LIKES: LSP(k=2)}], ids=["one", "mapping"])
def test_the_reverse_relation_gets_the_transposed_mask(plan):
    graphs = relations()
    masks = relation_masks(graphs, plan, {}, RUN).masks
    forward = sorted(zip(*(end[masks[LIKES]].tolist() for end in graphs[LIKES].ends()), strict=True))
    back = sorted(zip(*(end[masks[LIKED_BY]].tolist() for end in graphs[LIKED_BY].ends()[::-1]), strict=True))
    assert forward == back
    assert (KNOWS in masks) == (plan == LSP(k=2))


def test_a_reverse_by_another_name_can_be_told():
    graphs = relations()
    graphs["item", "fans", "user"] = graphs.pop(LIKED_BY)
    masks = relation_masks(graphs, {LIKES: LSP(k=2)}, {LIKES: ("item", "fans", "user")}, RUN).masks
    assert set(masks) == {LIKES, ("item", "fans", "user")}
    assert masks[LIKES].sum() == masks["item", "fans", "user"].sum()
    assert set(relation_masks(graphs, {LIKES: LSP(k=2)}, {}, RUN).masks) == {LIKES}


@pytest.mark.parametrize("reverse", [{}, {LIKES: LIKED_BY}, {LIKED_BY: LIKES}, {LIKES: LIKED_BY, LIKED_BY: LIKES}])
@pytest.mark.parametrize("plan", [LSP(k=1), {LIKES: LSP(k=1)}, {LIKED_BY: LSP(k=1)}], ids=["one", "there", "back"])
def test_a_relation_and_its_reverse_stay_in_step_however_they_are_told(plan, reverse):
    found = relation_masks(relations(), plan, reverse, RUN)
    masks, sides = found.masks, found.rules
    assert masks[LIKES].sum() == masks[LIKED_BY].sum() < 40
    assert {sides[LIKES][0], sides[LIKED_BY][0]} == {"in", "out"}


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("mapping", [False, True])
def test_weights_of_a_reverse_relation_are_those_of_the_relation(side, mapping):
    graphs = relations()
    pruner = LSP(k=2, side=side)
    found = relation_masks(graphs, {LIKES: pruner} if mapping else pruner, {}, RUN)
    masks, sides = found.masks, found.rules
    weights = {key: owner_factors(graphs[key], masks[key], *sides[key]) for key in (LIKES, LIKED_BY)}
    listed = {}
    for key, turn in ((LIKES, 1), (LIKED_BY, -1)):
        ends = [end[masks[key]].tolist() for end in graphs[key].ends()[::turn]]
        listed[key] = sorted(zip(*ends, weights[key][masks[key]].tolist(), strict=True))
    assert listed[LIKES] == listed[LIKED_BY]


def test_both_directions_can_have_pruners_of_their_own():
    masks = relation_masks(relations(), {LIKES: LSP(k=1), LIKED_BY: Random(keep=0.5)}, {}, RUN).masks
    assert masks[LIKED_BY].sum() == 20


def test_bad_plans_are_named():
    graphs = relations()
    with pytest.raises(OptionError, match="pruner must map edge types of the data, got 'likes'"):
        relation_masks(graphs, {"likes": LSP(k=1)}, {}, RUN)
    with pytest.raises(OptionError, match="reverse must name edge types of the data"):
        relation_masks(graphs, LSP(k=1), {LIKES: ("a", "b", "c")}, RUN)
    with pytest.raises(OptionError, match="single pruner for a graph without relations"):
        prune(random_graph(0), {LIKES: LSP(k=1)})
    with pytest.raises(GraphError, match="must hold the same edges in opposite directions"):
        transposed(graphs[LIKES], np.ones(40, bool), graphs[LIKES], "these")


@pytest.mark.parametrize("rescale", [True, "unbiased"])
def test_factors_of_a_reverse_relation_are_those_of_the_relation(rescale):
    source, target = np.unique(np.random.default_rng(0).integers(0, 9, (2, 60)), axis=1)
    order = np.random.default_rng(1).permutation(source.size)
    graphs = {
        LIKES: Graph.from_edges((source, target), num_nodes=(9, 9)),
        LIKED_BY: Graph.from_edges((target[order], source[order]), num_nodes=(9, 9)),
    }
    pruner = LSP(k=2, hash="identity", weights="degree", select="bottom")
    found = relation_masks(graphs, pruner, {}, RUN)
    factors = relation_factors(graphs, found, rescale, RUN)
    kept = found.masks[LIKES]
    np.testing.assert_array_equal(factors[LIKED_BY][found.masks[LIKED_BY]], factors[LIKES][order][kept[order]])
    assert np.unique(factors[LIKES]).size > 3
    assert relation_factors(graphs, found, False, RUN) == {}
