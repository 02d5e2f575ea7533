"""Products of weights: logarithms are added, the order of the factors does not matter, and plain data holds them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import lsprune
from graphs import random_graph, reordered, view_of
from lsprune import LSP, Graph, GraphError, OptionError
from lsprune.numeric.weighted_sampling import EXACT_LOG_UNIT
from lsprune.weights import AutoWeight, Column, Degree, Jaccard, Product, Similarity, weight
from lsprune.weights.product import MAX_LOG

BARE = random_graph(1, nodes=30, edges=400, edge_dim=2)
GRAPH = Graph.from_edges(BARE.ends(), num_nodes=30, x=BARE.x, edge_attr=np.abs(BARE.edge_attr) + 0.5)
FACTORS = (Jaccard(power=0.5), Degree(power=0.5), Similarity(power=0.1), Column(column=1, power=2.0))


def score(chosen, graph: Graph = GRAPH) -> np.ndarray:
    """log2 of the weight of every slot, as a float."""
    pruner = LSP(k=1, hash="constant", weights=chosen, self_loops="edge")
    view, scales = view_of(pruner, graph), dict(pruner.fit_graph(graph, lsprune.kernels.runtime(1)).scales)
    offsets = chosen.key_offsets(graph, view, "in", EXACT_LOG_UNIT, scales)
    return -offsets.of(view.owned, 0, graph.num_edges) / EXACT_LOG_UNIT


def test_the_logarithm_of_a_product_is_the_sum_of_those_of_its_factors():
    product = Product(factors=FACTORS)
    np.testing.assert_allclose(score(product), sum(score(factor) for factor in FACTORS), atol=1e-8)
    assert len(np.unique(score(product))) > 100


@pytest.mark.parametrize("hash", ["projection", "signs", "constant"])
def test_the_order_of_factors_and_edges_does_not_matter_and_executors_agree(hash):
    masks = [LSP(k=3, hash=hash, weights=Product(factors=order)).mask(GRAPH) for order in permutations(FACTORS)]
    assert {mask.tobytes() for mask in masks} == {masks[0].tobytes()}
    pruner = LSP(k=3, hash=hash, weights=Product(factors=FACTORS))
    np.testing.assert_array_equal(pruner.mask(GRAPH, executor="reference"), masks[0])
    np.testing.assert_array_equal(pruner.mask(GRAPH, threads=3), masks[0])
    order = np.random.default_rng(0).permutation(GRAPH.num_edges)
    np.testing.assert_array_equal(pruner.mask(reordered(GRAPH, order)), masks[0][order])
    for one in FACTORS:
        assert (masks[0] != LSP(k=3, hash=hash, weights=one).mask(GRAPH)).any()


def test_factors_of_neighbours_stay_a_table_of_neighbours():
    graph = Graph.from_edges(GRAPH.ends(), num_nodes=30, x=np.abs(GRAPH.x) + 1, edge_attr=GRAPH.edge_attr)
    nodes, edges = Degree() * Column(part="neighbour", column=0), Column(column=0) * Column(column=1)
    view = view_of(LSP(k=1, hash="identity", weights=nodes), graph)
    assert nodes.logs(graph, view, "in", {}).of_neighbour.shape == (30,)
    assert edges.logs(graph, view, "in", {}).of_edge.shape == (400,)
    assert (nodes * edges).logs(graph, view, "in", {}).of_slot is not None
    assert LSP(k=1, hash="identity", weights=nodes).needs.by_neighbour


def test_products_of_products_are_flat_and_shown_as_written():
    product = Jaccard(power=0.5) * Degree(power=0.5) * Similarity()
    assert product == Jaccard(power=0.5) * (Degree(power=0.5) * Similarity())
    assert repr(product) == "Jaccard(power=0.5) * Degree(power=0.5) * Similarity(power=1.0)"
    assert repr(LSP(k=2, weights=Degree() * Jaccard())) == "LSP(k=2, weights=Degree(power=1.0) * Jaccard(power=1.0))"
    with pytest.raises(TypeError):
        Degree() * 2


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("jaccard:0.5*degree:0.5", Jaccard(power=0.5) * Degree(power=0.5)),
        ("jaccard:power=0.5 * degree * edge:1", Jaccard(power=0.5) * Degree() * Column(column=1)),
        ("column:part=neighbour,column=3*similarity", Column(part="neighbour", column=3) * Similarity()),
        ({"name": "product", "factors": ["degree", {"name": "jaccard", "power": 2}]}, Degree() * Jaccard(power=2.0)),
    ],
    ids=str,
)
def test_short_forms_and_tables_stand_for_products(spec, expected):
    assert weight(spec) == expected == weight(expected.to_dict())
    pruner = LSP(k=2, hash="identity", weights=spec)
    assert lsprune.pruner(pruner.to_dict()) == pruner
    if isinstance(spec, str):
        assert lsprune.pruner(f"lsp:k=2,hash=identity,weights=({spec})") == pruner


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Product(), "factors must be two or more edge weights, got"),
        (lambda: Product(factors=(Degree(),)), "factors must be two or more edge weights"),
        (lambda: Product(factors=(Degree(), 3)), "factors must be two or more edge weights"),
        (lambda: Product(factors=3), "factors must be two or more edge weights, got 3"),
        (lambda: Degree() * AutoWeight(), "factors must be weights that are chosen already"),
        (lambda: weight("degree*"), "weights must be one of .*, got ''"),
        (lambda: weight("degree*age"), "weights must be one of .*, got 'age'"),
        (lambda: weight({"name": "product", "power": 2}), "power is not an option of weights product"),
        (lambda: weight("product"), "factors must be two or more"),
        (lambda: weight("degree:0.5.5*degree"), "power must be a number"),
    ],
)
def test_what_is_no_product_is_named(build, says):
    with pytest.raises(OptionError, match=says):
        build()


def test_needs_and_checks_are_those_of_all_factors():
    needs = (Degree() * Column(column=0)).needs
    assert needs.degree and needs.edge and needs.gpu and needs.scope == "edge" and not needs.key_table
    both = Degree() * Jaccard()
    assert both.needs.scope == "neighbourhood" and "jaccard" in both.needs.reason and not both.learns
    assert (both * Similarity()).learns
    bare = Graph.from_edges(GRAPH.ends(), num_nodes=30)
    with pytest.raises(GraphError, match='weights="similarity" needs node attributes'):
        LSP(k=2, hash="identity", weights=both * Similarity()).mask(bare)
    with pytest.raises(GraphError, match="needs edge_attr with more than 0 columns"):
        LSP(k=2, hash="identity", weights=Degree() * Column(column=0)).mask(bare)
    with pytest.raises(OptionError, match="weights must be None with"):
        LSP(k=2, hash="bins", weights=both).mask(GRAPH)


def test_a_saved_fit_gives_the_same_mask(tmp_path):
    fitted = LSP(k=3, weights=Product(factors=FACTORS)).fit(GRAPH)
    fitted.save(tmp_path / "fit.npz")
    loaded = lsprune.load(tmp_path / "fit.npz")
    assert loaded == fitted
    other = random_graph(5, nodes=20, edges=200, edge_dim=2)
    other = Graph.from_edges(other.ends(), num_nodes=20, x=other.x, edge_attr=np.abs(other.edge_attr) + 0.5)
    np.testing.assert_array_equal(loaded.mask(other), fitted.mask(other))


def test_extreme_products_are_limited_not_wrapped():
    """Weights beyond 2^MAX_LOG are equal: the logarithms would not fit 64 bits otherwise."""
    ends = np.stack([np.arange(1, 5), np.zeros(4, int)])
    attr = np.array([1e-38, 1e38, 1.0, 2.0], np.float32)
    product = Product(factors=(Column(power=64.0),) * 8)
    graph = Graph.from_edges(ends, edge_attr=attr)
    assert score(product, graph)[:3].tolist() == [-MAX_LOG, MAX_LOG, 0]
    for k, kept in ((1, [1]), (2, [1, 3]), (3, [1, 2, 3])):
        mask = LSP(k=k, hash="constant", weights=product, select="bottom").mask(graph)
        assert np.flatnonzero(mask).tolist() == kept
