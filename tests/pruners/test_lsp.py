"""The options of LSP, what they mean together, and how it is fitted."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP, Graph, GraphError, Identity, OptionError, Projection
from lsprune.errors import ConstantWarning
from lsprune.hashing import Both, Codebook, PaperThreshold, Signs, Structure
from lsprune.kernels import runtime
from lsprune.numeric.quantisation import fit_scales
from lsprune.pruners import FittedLSP
from lsprune.weights import AutoWeight, Degree

GRAPH = random_graph(0, nodes=20, edges=200, edge_dim=3)


def test_the_defaults_are_those_of_the_design():
    pruner = LSP(k=3)
    assert (pruner.side, pruner.attributes, pruner.normalised) == ("in", ("edge", "neighbour"), True)
    assert (pruner.hash, pruner.weights, pruner.select) == (Projection(l=None), None, "functions")
    assert not pruner.replace
    auto = LSP.auto(keep=0.3, seed=4)
    assert auto == LSP(keep=0.3, hash="auto", weights="auto:labels=true", seed=4)
    assert LSP.auto(keep=0.3, labels=False) == LSP(keep=0.3, hash="auto", weights="auto")
    assert auto.weights == AutoWeight(labels=True)
    for name in ("hash", "weights"):
        with pytest.raises(OptionError, match=f"LSP.auto chooses hash and weights by itself, got {name}: use LSP"):
            LSP.auto(keep=0.3, **{name: "identity"})


def test_fit_returns_another_object_with_the_same_masks():
    pruner = LSP(k=2)
    fitted = pruner.fit(GRAPH)
    assert not pruner.is_fitted and fitted.is_fitted
    assert isinstance(fitted, FittedLSP) and fitted.options == pruner
    np.testing.assert_array_equal(pruner.mask(GRAPH), fitted.mask(GRAPH))
    with pytest.raises(dataclasses.FrozenInstanceError):
        pruner.k = 3


def test_what_looks_at_no_attributes_is_fitted_from_the_start():
    for pruner in (LSP(k=2, hash="identity"), LSP(k=2, hash="structure", weights="degree")):
        assert pruner.is_fitted
        np.testing.assert_array_equal(pruner.mask(GRAPH), pruner.fit(GRAPH).mask(GRAPH))
    for pruner in (LSP(k=2, hash="identity", weights="similarity"), LSP(k=2, hash="identity", weights="auto")):
        assert not pruner.is_fitted


def test_no_key_is_made_before_fit():
    with pytest.raises(OptionError, match="the pruner must be fitted before keys are made"):
        LSP(k=2).key_source(GRAPH, None, runtime(1)).keys(0, 1, 1)


def test_fit_is_left_out_where_nobody_has_a_choice(monkeypatch):
    fits, fit = [], LSP.fit_graph
    monkeypatch.setattr(LSP, "fit_graph", lambda self, *rest: fits.append(self.k) or fit(self, *rest))
    assert LSP(k=1000).mask(GRAPH).all() and not fits
    assert not LSP(k=2).mask(GRAPH).all() and fits == [2]


@pytest.mark.parametrize("k", [1, 1000])
def test_attributes_are_checked_whether_anybody_has_a_choice_or_not(k):
    bare = Graph.from_edges(GRAPH.ends(), num_nodes=20)
    with pytest.raises(GraphError, match="neither node attributes"):
        LSP(k=k).mask(bare)
    bad = GRAPH.x.copy()
    bad[5, 0] = np.nan
    with pytest.raises(GraphError, match="x must be finite in float32, got nan in row 5"):
        LSP(k=k).mask(Graph.from_edges(GRAPH.ends(), num_nodes=20, x=bad))
    with pytest.raises(GraphError, match="neither node attributes"):
        LSP(k=k).check_attributes(Graph.from_edges(np.zeros((2, 0), int), num_nodes=3))


def test_constant_attributes_are_warned_of():
    same = Graph.from_edges(GRAPH.ends(), num_nodes=20, x=np.ones((20, 3)))
    with pytest.warns(ConstantWarning, match="all attributes that are hashed are constant"):
        LSP(k=2).fit(same)


def one_sided(side: str, relation: object = None) -> Graph:
    """A graph of two kinds of nodes, of which the targets alone (side "in") or the sources alone have attributes."""
    x = np.random.default_rng(0).standard_normal((20, 3))
    sides = (None, x) if side == "in" else (x, None)
    ends = np.random.default_rng(1).integers(0, 20, (2, 200))
    return dataclasses.replace(Graph.from_edges(ends, num_nodes=(20, 20), x=sides), relation=relation)


@pytest.mark.parametrize("pruner", [LSP(k=2), LSP(k=2, hash="codebook"), LSP.auto(k=2)])
def test_attributes_of_the_owner_alone_are_warned_of_once(pruner):
    with pytest.warns(
        ConstantWarning, match="^the graph is pruned at random: .*only the target nodes.*LocalRandom"
    ) as w:
        pruner.fit(one_sided("in"))
    assert len(w) == 1
    with pytest.warns(ConstantWarning, match=r"only the source nodes.*give the target nodes an x.*side=\"in\""):
        dataclasses.replace(pruner, side="out").fit(one_sided("out"))
    with pytest.warns(ConstantWarning, match=r"attributes=\(\"owner\",\) leaves out"):
        LSP(k=2, attributes=("owner",)).fit(GRAPH)


@pytest.mark.filterwarnings("error::lsprune.ConstantWarning")
def test_owners_that_see_their_neighbours_are_not_warned_of():
    LSP(k=2, side="out").fit(one_sided("in"))
    LSP(k=2, attributes=("owner", "neighbour")).fit(GRAPH)
    LSP(k=2, hash="signs", weights="degree").fit(one_sided("in"))  # the weights tell edges apart
    assert LSP(k=200).mask(one_sided("in")).all()  # nothing is chosen


def test_messages_name_the_relation():
    relation = ("b", "r", "a")
    with pytest.warns(ConstantWarning, match=r"^relation \('b', 'r', 'a'\) is pruned at random"):
        LSP(k=2).fit(one_sided("in", relation))
    bare = Graph.from_edges(np.array([[0, 1], [0, 0]]), num_nodes=(2, 1))
    with pytest.raises(GraphError, match=r"^relation \('b', 'r', 'a'\) has neither node attributes"):
        LSP(k=1).fit(dataclasses.replace(bare, relation=relation))


def test_categories_may_have_values_that_the_training_graphs_lack():
    ends = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
    seen, rare = (Graph.from_edges(ends, x=np.array([0, 1, 2, last])) for last in (1, 5))
    with pytest.raises(GraphError, match=r"x as a category must be in \[0, 3\) as fitted, got 5"):
        LSP(k=0, hash="signs").fit(seen).mask(rare)
    assert LSP(keep=0.5).fit(seen, categories={"x": 6}).mask(rare).sum() == 2
    for categories, says in (({"y": 3}, "categories must be of x or edge_attr, got 'y'"),
                             ({"x": 0}, "categories of x must be a whole number >= 1, got 0")):  # fmt: skip
        with pytest.raises(OptionError, match=says):
            LSP(keep=0.5).fit(seen, categories=categories)


def test_scales_that_are_computed_part_by_part_are_those_of_fit():
    template = Graph.from_edges(
        np.zeros((2, 0), int), num_nodes=0, x=np.zeros((0, GRAPH.x.shape[1]), np.float32),
        edge_attr=np.zeros((0, 3), np.float32),
    )  # fmt: skip
    pruner = LSP(k=2, attributes=("owner", "edge", "neighbour"))
    parts = pruner.parts(GRAPH, pruner.attributes, None)

    def scale_of(role, part, normalised):
        return fit_scales({role: parts[role]}, unit=normalised, runtime=runtime(1))[role]

    assert pruner.fit_scales(template, scale_of, GRAPH.num_edges) == pruner.fit(GRAPH)
    for hash in ("codebook", "auto"):
        with pytest.raises(OptionError, match=f"hash {hash} must be fitted before: it learns from all edges at once"):
            LSP(k=2, hash=hash).fit_scales(template, scale_of, GRAPH.num_edges)


@pytest.mark.parametrize(
    ("pruner", "steps", "functions"),
    [
        (LSP(k=300), 300, 257),
        (LSP(k=20), 20, 20),
        (LSP(k=300, select="bottom"), 300, 1),
        (LSP.paper("p", k=300), 300, 300),
    ],
    ids=repr,
)
def test_how_many_functions_decide(pruner, steps, functions):
    assert pruner.functions_needed(steps) == functions


def test_needs_are_those_of_the_hash_the_attributes_and_the_weights_together():
    needs = LSP(k=2).needs
    assert (needs.owner, needs.neighbour, needs.edge, needs.key_table) == (False, True, True, True)
    assert not LSP(k=2, hash=Both()).needs.key_table
    assert LSP(k=2, attributes=("owner", "neighbour")).needs.key_table  # without bins the owner decides nothing
    assert not LSP(k=2, hash=Projection(l=1.0), attributes=("owner", "neighbour")).needs.key_table
    assert LSP(k=2, hash=Codebook()).needs.fit_bytes > 0
    assert LSP(k=2, hash=Structure()).needs.scope == "neighbourhood"
    identity = LSP(k=2, hash=Identity()).needs
    assert identity.by_neighbour and not identity.neighbour
    assert LSP(k=2, hash=Identity(), weights=Degree()).needs.degree
    assert LSP.paper("p", k=2).needs.position and not needs.position


def test_a_pruner_without_its_weights_and_as_it_is_tried():
    pruner = LSP(keep=0.3, symmetric="union", weights="degree", hash="signs", seed=3)
    assert pruner.without_weights() == LSP(keep=0.3, symmetric="union", hash="signs", seed=3)
    assert pruner.for_trials(2) == LSP(k=2, hash="signs", seed=3)


def test_a_relation_at_a_time_is_fitted():
    pytest.importorskip("torch_geometric")
    import torch
    from torch_geometric.data import HeteroData

    data = HeteroData()
    data["a"].num_nodes = data["b"].num_nodes = 3
    data["a", "to", "b"].edge_index = torch.zeros((2, 1), dtype=torch.long)
    with pytest.raises(OptionError, match="fit must be given one relation at a time"):
        LSP(k=1, hash="signs").fit(data)


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: LSP(k=1, attributes=5), "attributes must be a tuple"),
        (lambda: LSP(k=1, attributes=()), "attributes must be a tuple"),
        (lambda: LSP(k=1, attributes=("nodes",)), "attributes must be a tuple of some of owner, edge, neighbour"),
        (lambda: LSP(k=1, attributes="edge"), "attributes must be a tuple"),
        (lambda: LSP(keep=0.5, hash=PaperThreshold(digest="affine")), "k must be given with this hash"),
        (lambda: LSP(k=1, select="top"), "select must be one of 'functions', 'bottom', got 'top'"),
        (lambda: LSP(k=1, hash=3), "hash must be a hash family or one of projection, threshold, codebook, signs"),
        (lambda: LSP(k=1, hash="md5"), "hash must be one of .* got 'md5'"),
        (lambda: LSP(k=1, hash=Signs), "hash must be a hash family"),
        (lambda: LSP(k=1, weights="age"), "weights must be one of .* got 'age'"),
        (lambda: LSP(k=1, hash=Both(), attributes=("edge",)), "hash both needs node attributes"),
    ],
)
def test_bad_options_are_named(build, says):
    with pytest.raises(OptionError, match=says):
        build()


def test_attributes_are_kept_in_one_order():
    assert LSP(k=1, attributes=["neighbour", "edge"]) == LSP(k=1, attributes=("edge", "neighbour"))
