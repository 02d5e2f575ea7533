"""Weights as what is added to keys: exact logarithms, of neighbours, edges or slots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from graphs import keys_of, random_graph, view_of
from lsprune import LSP, Graph, GraphError, Identity, OptionError
from lsprune.hashing import Bins, Projection
from lsprune.kernels import runtime
from lsprune.numeric.weighted_sampling import FRACTION_BITS, LOG_KEY_UNIT
from lsprune.pruners import PaperLSP
from lsprune.weights import Column, Degree, PerEdge, Similarity, Weight
from lsprune.weights.base import add_offsets, log2_of_floats

GRAPH = random_graph(0, nodes=12, edges=80, edge_dim=1)


@dataclass(frozen=True, kw_only=True)
class EvenFirst(Weight):
    """A weight from outside: neighbours with an even number count four times."""

    name = "even-first"
    about = "prefer even numbers"

    def values(self, graph, view, side):
        return PerEdge(of_neighbour=np.where(np.arange(view.neighbours) % 2 == 0, 4, 1))


@dataclass(frozen=True, kw_only=True)
class Empty(Weight):
    name = "empty"
    about = "says nothing"


def test_a_weight_needs_no_more_than_values():
    owners = 3000
    ends = np.stack([np.concatenate([2 * np.arange(owners), 2 * np.arange(owners) + 1]), np.tile(np.arange(owners), 2)])
    graph = Graph.from_edges(ends, num_nodes=(2 * owners, owners))
    for power, share in ((1.0, 4 / 5), (0.5, 2 / 3), (0.0, 1 / 2)):
        mask = LSP(k=1, hash="identity", weights=EvenFirst(power=power)).mask(graph)
        assert mask[:owners].mean() == pytest.approx(share, abs=0.03)
    with pytest.raises(NotImplementedError, match="Empty must define values or logs"):
        LSP(k=1, hash="identity", weights=Empty()).mask(graph)


@pytest.mark.parametrize("bad", [0, -1, np.nan, np.inf, 1e39, 1e-60])
def test_values_that_are_no_weights_are_refused(bad):
    class Bad(EvenFirst):
        def values(self, graph, view, side):
            return PerEdge(of_neighbour=np.array([1.0] * (view.neighbours - 1) + [bad]))

    with pytest.raises(GraphError, match=r"weights=.*Bad\(power=1.0\) must be > 0 and finite in float32"):
        LSP(k=1, hash="identity", weights=Bad()).mask(GRAPH)


def test_keys_are_moved_by_the_logarithm_of_the_weight():
    pruner = {"k": 5, "hash": Identity(), "self_loops": "edge"}
    plain = keys_of(LSP(**pruner, weights=EvenFirst(power=0.0)), GRAPH)
    even = GRAPH.ends()[0] % 2 == 0
    for power in (0.5, 1.0, 3.0):
        moved = keys_of(LSP(**pruner, weights=EvenFirst(power=power)), GRAPH) - plain
        expected = np.where(even, -2 * power * LOG_KEY_UNIT, 0)  # log2 4 is 2; larger weights come first
        np.testing.assert_array_equal(moved, np.repeat(expected[:, None], 5, axis=1).astype(np.int64))


def test_logarithms_of_floats_are_exact_for_powers_of_two_and_near_elsewhere():
    run = runtime(1)
    powers = 2.0 ** np.arange(-140, 128)
    np.testing.assert_array_equal(log2_of_floats(powers.astype(np.float32), run), np.arange(-140, 128) << FRACTION_BITS)
    values = np.random.default_rng(0).uniform(1e-9, 1e9, 5000).astype(np.float32)
    np.testing.assert_allclose(
        log2_of_floats(values, run) / 2**FRACTION_BITS, np.log2(values.astype(np.float64)), atol=1e-8
    )
    np.testing.assert_array_equal(log2_of_floats(values, runtime(1, "reference")), log2_of_floats(values, run))


def test_numbers_of_neighbours_edges_and_slots_are_those_of_each_slot():
    view = view_of(LSP(k=1), GRAPH)
    owned, rng = view.owned, np.random.default_rng(0)
    node, edge, slot = rng.integers(0, 99, 12), rng.integers(0, 99, 80), rng.integers(0, 99, owned.neighbour.size)
    np.testing.assert_array_equal(PerEdge(of_neighbour=node).of(owned, 3, 20), node[owned.neighbour[3:20]])
    np.testing.assert_array_equal(PerEdge(of_edge=edge).of(owned, 3, 20), edge[owned.edges(3, 20)])
    np.testing.assert_array_equal(PerEdge(of_slot=slot).of(owned, 3, 20), slot[3:20])


@pytest.mark.parametrize("executor", ["cpu", "reference"])
@pytest.mark.parametrize("attributes", [("neighbour",), ("owner", "neighbour")])
def test_offsets_are_added_to_tables_and_to_keys_of_edges(attributes, executor):
    view = view_of(LSP(k=4, hash=Projection(l=0.5), attributes=attributes), GRAPH, executor=executor)
    keys, owned = Projection(l=0.5).keys(view, 0, 4), view.owned
    offsets = np.arange(12) * 10**6
    before = add_offsets(keys, view, PerEdge(of_slot=np.zeros(owned.neighbour.size, np.int64)), 4).of(0, 12)
    expected = before[:, :4] + offsets[owned.neighbour][:, None]
    by_slot = add_offsets(keys, view, PerEdge(of_slot=offsets[owned.neighbour]), 4)
    np.testing.assert_array_equal(by_slot.of(0, 12)[:, :4], expected)
    by_node = add_offsets(keys, view, PerEdge(of_neighbour=offsets), 4)
    rows = by_node.table[owned.neighbour] if hasattr(by_node, "table") else by_node.of(0, 12)
    np.testing.assert_array_equal(rows[:, :4], expected)


@pytest.mark.parametrize("power", [-1, 64.5, "1", True, None, float("nan")])
def test_the_power_is_a_number_up_to_64(power):
    for kind in (Degree, Column, Similarity):
        with pytest.raises(OptionError, match=r"power must be a number in \[0, 64\], got"):
            kind(power=power)
    assert type(Degree(power=np.float32(2)).power) is float


@pytest.mark.parametrize("weights", ["degree", "jaccard"])
def test_families_whose_keys_cannot_be_weighted_are_named(weights):
    with pytest.raises(OptionError, match=r"weights must be None with Projection\(.*: its keys cannot be weighted"):
        PaperLSP(k=1, values="raw", weights=weights).mask(GRAPH)
    for family in (Bins(), Projection(l=1.0)):
        with pytest.raises(OptionError, match="weights must be None with"):
            LSP(k=1, hash=family, weights=weights).mask(GRAPH)


def test_plain_data_holds_the_name_and_every_option():
    assert Degree(power=0.5).to_dict() == {"name": "degree", "power": 0.5}
    assert Column(column=2).to_dict() == {"name": "column", "power": 1.0, "part": "edge", "column": 2}
