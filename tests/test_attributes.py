from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from lsprune import LSP, Graph, GraphError
from lsprune.attributes import describe, is_category
from lsprune.pruners import PaperLSP


def graph(x=None, edge_attr=None):
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 6, (2, 20))
    return Graph.from_edges(edges, num_nodes=6, x=x, edge_attr=edge_attr)


X, ATTR = np.random.default_rng(1).standard_normal((6, 4)), np.random.default_rng(2).standard_normal((20, 3))
ALL = ("owner", "edge", "neighbour")


@pytest.mark.parametrize(
    ("x", "edge_attr", "asked", "found"),
    [
        (X, ATTR, ALL, ["owner", "edge", "neighbour"]),
        (X, None, ALL, ["owner", "neighbour"]),
        (None, ATTR, ALL, ["edge"]),
        (X, ATTR, ("edge", "neighbour"), ["edge", "neighbour"]),
        (X, None, ("edge", "neighbour"), ["neighbour"]),
        (X, None, ("edge",), ["neighbour"]),
        (None, ATTR, ("neighbour",), ["edge"]),
    ],
)
def test_parts_of_appendix_a(x, edge_attr, asked, found):
    assert list(describe(graph(x, edge_attr), "in", asked, seed=0)) == found


def test_nothing_to_hash_names_the_family_that_needs_nothing():
    with pytest.raises(GraphError, match='hash="identity"'):
        LSP(k=1).mask(graph())


def test_side_decides_whose_attributes_are_the_neighbours():
    pair = Graph.from_edges(np.array([[0], [0]]), num_nodes=(2, 3), x=(np.ones((2, 5)), np.ones((3, 7))))
    assert describe(pair, "in", ("neighbour",), seed=0)["neighbour"].rows.dim == 5
    assert describe(pair, "out", ("neighbour",), seed=0)["neighbour"].rows.dim == 7


def test_one_integer_column_is_a_category_with_its_own_random_vector():
    values = np.array([0, 3, 3, 1, 2, 0])
    for x in (values, values[:, None], values.astype(np.uint8)):
        part = describe(graph(x), "in", ("neighbour",), seed=5)["neighbour"]
        assert (part.categories, part.rows.dim) == (4, 4)
        rows = part.rows.take(part.rows_of(np.arange(6)))
        np.testing.assert_array_equal(rows[1], rows[2])
        assert (rows[0] != rows[1]).any()
    two_columns = describe(graph(np.stack([values, values], axis=1)), "in", ("neighbour",), seed=5)["neighbour"]
    assert two_columns.categories == 0


def test_categories_of_nodes_and_edges_have_different_matrices():
    parts = describe(graph(np.array([0, 1, 2, 0, 1, 2]), np.arange(20) % 3), "in", ALL, seed=0)
    assert (parts["edge"].rows.block(0, 3) != parts["neighbour"].rows.block(0, 3)).any()
    np.testing.assert_array_equal(parts["owner"].rows.block(0, 3), parts["neighbour"].rows.block(0, 3))


@pytest.mark.parametrize("bad", [-1, 4])
def test_unseen_categories_are_errors(bad):
    fitted = LSP(k=1).fit(graph(np.array([0, 1, 2, 3, 0, 1])))
    with pytest.raises(GraphError, match=rf"x as a category must be in \[0, 4\) as fitted, got {bad}"):
        fitted.mask(graph(np.array([0, 1, bad, 3, 0, 1])))


def test_quantities_are_not_taken_for_categories():
    with pytest.raises(GraphError, match="edge_attr is one integer column, so a category, .* make them floats"):
        LSP(k=1).mask(graph(X, np.arange(20) + 1_700_000_000))


def test_attributes_without_columns_are_named():
    for pruner in (LSP(k=1), LSP.paper("t", k=1), LSP.published("p", k=1)):
        with pytest.raises(GraphError, match="x must have at least one column"):
            pruner.mask(graph(np.zeros((6, 0))))


def test_owner_attributes_alone_leave_the_choice_to_the_tie_rule():
    pair = Graph.from_edges(np.array([[0, 1, 2], [0, 0, 0]]), num_nodes=(3, 1), x=(None, np.ones((1, 4))))
    for one in (pair, graph(X)):
        pruner = LSP(k=1) if one is pair else LSP(k=1, attributes=("owner",))
        np.testing.assert_array_equal(pruner.mask(one), pruner.mask(one, executor="reference"))
    assert LSP(k=1).mask(pair).sum() == 1


def test_shapes_must_be_those_that_were_fitted():
    fitted = LSP(k=1).fit(graph(X))
    with pytest.raises(GraphError, match="x must have 4 columns as when fitted, got 2"):
        fitted.mask(graph(X[:, :2]))
    with pytest.raises(GraphError, match="fitted on neighbour attributes, this graph gives"):
        fitted.mask(graph(None, ATTR))
    with pytest.raises(GraphError, match="must be a vector as when fitted"):
        fitted.mask(graph(np.arange(6)))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("values", ["unit", "raw"])
@pytest.mark.parametrize("where", ["x", "edge_attr"])
def test_values_that_are_not_finite_are_named(bad, values, where):
    x, attr = X.copy(), ATTR.copy()
    good = graph(X, ATTR)
    (x if where == "x" else attr)[4, 1] = bad
    pruner = PaperLSP(k=1, values=values)
    for one in (pruner, pruner.fit(good), PaperLSP(k=100, values=values)):  # also where nobody has a choice to make
        with pytest.raises(GraphError, match=f"{where} must be finite in float32, got (nan|inf|-inf) in row 4"):
            one.mask(graph(x, attr))


@pytest.mark.parametrize(
    ("values", "category"),
    [
        (np.arange(3), True),
        (np.arange(3, dtype=np.uint8)[:, None], True),
        (np.zeros((0, 1), int), True),
        (np.arange(6).reshape(3, 2), False),
        (np.zeros((3, 0), int), False),
        (np.arange(3.0), False),
        (np.array([True, False]), False),
        (scipy.sparse.csr_array(np.arange(3)[:, None]), False),
        (None, False),
    ],
)
def test_one_column_of_integers_is_a_category(values, category):
    assert is_category(values) is category
