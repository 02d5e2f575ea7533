"""Tables of keys, projections and sums: exact integers, whatever the blocks, the executor and the kind of rows."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse

from graphs import keys_of, random_graph, view_of
from lsprune import LSP, Graph, GraphError, Signs
from lsprune.hashing import keys
from lsprune.hashing.base import EdgeKeys, NodeKeys
from lsprune.hashing.keys import NO_KEY, in_blocks, of_nodes, of_sums, project, quantised, spread_of, sums_of, uniform
from lsprune.kernels import runtime
from lsprune.kernels.threads import spans
from lsprune.numeric.weighted_sampling import LOG_KEY_UNIT

ALL = ("owner", "edge", "neighbour")


def quanta(view, role: str) -> np.ndarray:
    """The rows of a part as the integers that they are hashed as, by the definition."""
    scale, rows = view.scales[role], view.parts[role].rows.block(0, view.parts[role].rows.count).astype(np.float64)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return np.clip(np.rint(unit * 2.0**scale.exponent - np.array(scale.centre) / 256), -127, 127).astype(np.int64)


@pytest.mark.parametrize("width", [None, 8])
@pytest.mark.parametrize("sparse", [False, True])
def test_projections_are_products_of_integers(sparse, width):
    graph = random_graph(0, nodes=30, edges=90, dim=9)
    if sparse:
        graph = dataclasses.replace(graph, x_source=scipy.sparse.csr_array(graph.x), x_target=None)
    view = view_of(LSP(k=1, attributes=("neighbour",)), graph)
    weights = np.random.default_rng(1).integers(-99, 100, (8, 9)).astype(np.int16)
    found = project(view, view.parts["neighbour"], view.scales["neighbour"], weights, width=width)
    expected = quanta(view, "neighbour") @ weights.T.astype(np.int64)
    assert np.abs(found - expected).max() <= 2 * np.abs(weights).max()  # a quantum may be rounded the other way
    assert (found == expected).mean() > 0.95
    assert found.dtype == (np.int32 if width and not sparse else np.int64)


def test_quanta_that_are_kept_give_the_same_projections(monkeypatch):
    view = view_of(LSP(k=40), random_graph(0, nodes=30, dim=9), 40)
    weights = np.random.default_rng(1).integers(-99, 100, (8, 9)).astype(np.int16)
    part, scale = view.parts["neighbour"], view.scales["neighbour"]
    assert view.functions > keys.MAX_UNCACHED_FUNCTIONS
    kept = project(view, part, scale, weights, width=8).copy()
    assert quantised(view, "neighbour") is quantised(view, "neighbour")
    monkeypatch.setattr(keys, "MAX_UNCACHED_FUNCTIONS", 10**6)
    np.testing.assert_array_equal(project(view, part, scale, weights, width=8), kept)


def test_tables_are_fast_where_keys_fit_and_wide_where_not():
    graph = random_graph(0, nodes=30, edges=90)
    view = view_of(LSP(k=1, self_loops="edge"), graph)
    small = np.arange(90).reshape(30, 3) - 40
    table = of_nodes(view, small)
    assert isinstance(table, NodeKeys) and table.table.shape == (30, 8)
    np.testing.assert_array_equal(table.table[:, :3], small)
    for bad in (NO_KEY, -(2**31) - 1):
        large = small.astype(np.int64)
        large[7, 1] = bad
        wide = of_nodes(view, large)
        assert isinstance(wide, EdgeKeys)
        owners = view.owned.indptr.shape[0] - 1
        np.testing.assert_array_equal(wide.of(0, owners), large[view.owned.neighbour])
        np.testing.assert_array_equal(
            wide.of(3, 9), large[view.owned.neighbour[view.owned.indptr[3] : view.owned.indptr[9]]]
        )


@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_of_rows_are_put_together(monkeypatch, threads):
    monkeypatch.setattr(keys, "TABLE_ROWS", 7)
    view = view_of(LSP(k=1), random_graph(0), threads=threads)
    seen = []
    made = in_blocks(view, 40, lambda lo, hi: seen.append(hi - lo) or np.arange(lo, hi)[:, None] * np.array([1, 10]))
    np.testing.assert_array_equal(made, np.arange(40)[:, None] * np.array([1, 10]))
    assert max(seen) == 7
    assert in_blocks(view, 0, lambda lo, hi: np.zeros((hi - lo, 3), np.int8)).shape == (0, 3)


def test_sums_add_the_parts_of_an_edge():
    graph = random_graph(0, nodes=12, edges=60, edge_dim=2)
    view = view_of(LSP(k=1, attributes=ALL, self_loops="edge"), graph)
    rng = np.random.default_rng(0)
    own, other, edge = (rng.integers(-9, 9, (size, 2)) for size in (12, 12, 60))
    found = of_sums(view, {"owner": own, "neighbour": other}, lambda ids: edge[ids], lambda sums: 3 * sums)
    source, target = graph.ends()
    expected = 3 * (own[target] + other[source] + edge)
    owned = view.owned
    np.testing.assert_array_equal(found.of(0, 12), expected[owned.edges(0, 60)])
    alone = of_sums(view, {"neighbour": other}, None, lambda sums: 3 * sums)
    np.testing.assert_array_equal(alone.table[:, :2], 3 * other)


def test_parts_are_shifted_so_that_they_weigh_alike():
    graph = random_graph(0, nodes=40, edges=300, edge_dim=1)  # a single column has finer quanta
    view = view_of(LSP(k=1, self_loops="edge"), graph)
    shift = view.scales["neighbour"].shift
    assert shift > 0
    ones = {role: np.ones((1, view.scales[role].dim), np.int16) for role in view.parts}
    both, edge = (sums_of(view, {role: ones[role] for role in roles}, lambda sums: sums).of(0, 40) for roles in
                  (("edge", "neighbour"), ("edge",)))  # fmt: skip
    node = project(view, view.parts["neighbour"], view.scales["neighbour"], ones["neighbour"])
    np.testing.assert_array_equal(both - edge, node[view.owned.neighbour] << shift)


def test_an_edge_attribute_that_is_not_finite_is_named_by_the_callers_row():
    graph = random_graph(0, nodes=12, edges=60, edge_dim=2)
    fitted = LSP(k=1, hash=Signs(), attributes=("edge",), self_loops="edge").fit(graph)
    bad = graph.edge_attr.copy()
    bad[17, 1] = np.inf
    with pytest.raises(GraphError, match="edge_attr must be finite in float32, got inf in row 17"):
        keys_of(fitted, dataclasses.replace(graph, edge_attr=bad))


def test_keys_of_draws_are_their_top_bits_or_the_times_of_a_race():
    view = view_of(LSP(k=1), random_graph(0))
    draws = np.random.default_rng(0).integers(0, 2**64, (4000, 2), np.uint64)
    np.testing.assert_array_equal(uniform(view, draws), draws >> np.uint64(34))
    race = uniform(dataclasses.replace(view, log_keys=True), draws)
    exact = np.log2(-np.log2((draws | np.uint64(1)).astype(np.float64) / 2.0**64))
    np.testing.assert_allclose(race / LOG_KEY_UNIT, exact + 32, atol=1e-3)  # times are in units of 2^-32
    np.testing.assert_array_equal(np.argsort(race[:, 0], kind="stable")[:50], np.argsort(exact[:, 0])[:50])


def test_the_spread_is_the_deviation_of_a_random_projection():
    graph = random_graph(0, nodes=300, edges=900, dim=8)
    view = view_of(LSP(k=1, attributes=("neighbour",)), graph)
    weights = np.rint(32 * np.random.default_rng(0).standard_normal((200, 8))).astype(np.int16)
    sums = project(view, view.parts["neighbour"], view.scales["neighbour"], weights)
    assert sums.std() == pytest.approx(spread_of(view), rel=0.1)


@pytest.mark.parametrize("executor", ["cpu", "reference"])
def test_executors_make_the_same_keys(executor):
    graph = random_graph(2, nodes=20, edges=80, edge_dim=2)
    for attributes in (ALL, ("neighbour",), ("edge",)):
        pruner = LSP(k=5, hash=Signs(bits=3), attributes=attributes, self_loops="edge")
        expected = keys_of(pruner.fit_graph(graph, runtime(1)), graph)
        np.testing.assert_array_equal(keys_of(pruner, graph, executor=executor, threads=2), expected)


def test_wide_sums_of_a_hub_are_made_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    ends = np.stack([rng.integers(1, 90, 200), np.zeros(200, int)])
    graph = Graph.from_edges(
        ends, num_nodes=90, x=rng.standard_normal((90, 3)), edge_attr=rng.standard_normal((200, 2))
    )
    cases = [LSP(k=9, hash=Signs(bits=5), attributes=roles) for roles in (("owner", "neighbour"), ("edge",))]
    whole = [pruner.mask(graph) for pruner in cases]
    monkeypatch.setattr(keys, "BLOCK_VALUES", 9 * 5 * 7)
    monkeypatch.setattr(keys, "MAX_SUM_COLUMNS", 9 * 5)
    sizes = []
    monkeypatch.setattr(keys, "spans", lambda total, size: sizes.append(size) or spans(total, size))
    for pruner, mask in zip(cases, whole, strict=True):
        np.testing.assert_array_equal(pruner.mask(graph), mask)
    assert sizes == [7, 7]
