"""Budgets for each node by itself: exact, the same on every executor, and refused where they make no sense."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphs import owners_of, random_graph
from lsprune import LSP, Graph, GraphError, Guarded, LocalRandom, OptionError, PerNode, Random, load, prune
from lsprune.baselines import Jaccard
from lsprune.outofcore import prune_stream


def kept_by_owner(graph: Graph, mask: np.ndarray, side: str = "in") -> np.ndarray:
    """Count the kept edges of each owner, self-loops aside."""
    source, target = graph.ends()
    return np.bincount(owners_of(graph, side)[mask & (source != target)], minlength=graph.num_owners(side))


def degrees(graph: Graph, side: str = "in") -> np.ndarray:
    """Count the edges of each owner, self-loops aside."""
    return kept_by_owner(graph, np.ones(graph.num_edges, bool), side)


@given(share=st.integers(1, 1000).map(lambda n: n / 1000), degree=st.integers(0, 2**40))
@settings(max_examples=200)
def test_a_share_is_the_decimal_number_it_is_written_as(share, degree):
    exact = math.ceil(Fraction(str(share)) * degree)
    assert PerNode(share=share).of_degrees(np.array([degree]))[0] == exact


def test_a_short_float_means_what_it_shows():
    assert PerNode(share=np.float32(0.1)) == PerNode(share=0.1)


def test_floats_do_not_round_a_share_up():
    assert math.ceil(0.07 * 100) == 8  # what floats say
    assert PerNode(share=0.07).of_degrees(np.array([100]))[0] == 7


@given(root=st.integers(0, 10**6), more=st.integers(-2, 2))
@settings(max_examples=200)
def test_powers_are_exact_at_perfect_squares_and_beside_them(root, more):
    degree = max(root * root + more, 0)
    exact = math.isqrt(degree) + (math.isqrt(degree) ** 2 < degree)
    assert PerNode(exponent=0.5).of_degrees(np.array([degree]))[0] == exact


def test_other_exponents():
    degree = np.array([0, 1, 2, 8, 9, 1024])
    np.testing.assert_array_equal(PerNode(exponent=0.2).of_degrees(degree), [0, 1, 2, 2, 2, 4])
    np.testing.assert_array_equal(PerNode(exponent=1).of_degrees(degree), degree)
    np.testing.assert_array_equal(PerNode(exponent=0).of_degrees(degree), [0, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(PerNode(exponent=0.2, at_least=3).of_degrees(degree), [3, 3, 3, 3, 3, 4])


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("make", [LSP, LocalRandom])
def test_every_owner_keeps_its_quota(make, side):
    graph = random_graph(3, nodes=40, edges=500)
    degree = degrees(graph, side)
    counts = np.arange(40) % 5
    for budget, quota in (
        (PerNode(share=0.3), np.ceil(degree * 3 / 10)),
        (PerNode(exponent=0.5, at_least=2), np.maximum(np.ceil(np.sqrt(degree)), 2)),
        (PerNode(counts=counts), counts),
    ):
        mask = make(budget=budget, side=side).mask(graph)
        np.testing.assert_array_equal(kept_by_owner(graph, mask, side), np.minimum(quota, degree))


def test_equal_counts_are_k():
    graph = random_graph(4, nodes=30, edges=300)
    for options in ({}, {"symmetric": "union"}, {"symmetric": "intersection"}, {"select": "bottom"}):
        np.testing.assert_array_equal(
            LSP(budget=PerNode(counts=np.full(30, 4)), **options).mask(graph), LSP(k=4, **options).mask(graph)
        )
    assert Random(budget=PerNode(counts=np.full(30, 4))).mask(graph).sum() == Random(k=4).mask(graph).sum()


def test_pairs_are_kept_if_either_or_both_ends_take_them():
    ends = np.unique(random_graph(5, nodes=30, edges=300).ends(), axis=1)
    ends = ends[:, ends[0] < ends[1]]
    graph = Graph.from_edges(np.hstack([ends, ends[::-1]]), num_nodes=30)
    half = ends.shape[1]
    options = {"budget": PerNode(share=0.4), "hash": "identity"}
    one_way = LSP(**options).mask(graph)
    either, both = one_way[:half] | one_way[half:], one_way[:half] & one_way[half:]
    for mode, expected in (("union", either), ("intersection", both)):
        np.testing.assert_array_equal(LSP(**options, symmetric=mode).mask(graph), np.tile(expected, 2))


def test_local_sparsification_keeps_a_power_of_the_degree():
    graph = random_graph(6, nodes=30, edges=400)
    mask = Jaccard(budget=PerNode(exponent=0.5)).mask(graph)
    np.testing.assert_array_equal(kept_by_owner(graph, mask), np.ceil(np.sqrt(degrees(graph))))


@pytest.mark.parametrize("budget", [PerNode(share=0.3), PerNode(exponent=0.5), PerNode(counts=np.arange(40) % 4)])
@pytest.mark.parametrize("symmetric", [None, "union"])
def test_streaming_keeps_the_same_edges(tmp_path, budget, symmetric):
    graph = random_graph(7, nodes=40, edges=600)
    np.savez(tmp_path / "graph.npz", edge_index=np.stack(graph.ends()), x=graph.x_source, num_nodes=40)
    pruner = LSP(budget=budget, symmetric=symmetric)
    prune_stream(tmp_path / "graph.npz", tmp_path / "small.npz", pruner)
    expected = np.stack(graph.ends())[:, pruner.mask(graph)]
    np.testing.assert_array_equal(np.load(tmp_path / "small.npz")["edge_index"], expected)


def test_promises_come_on_top():
    graph = random_graph(8, nodes=30, edges=300)
    mask = Guarded(pruner=LSP(budget=PerNode(share=0.1)), min_keep=3).mask(graph)
    assert (kept_by_owner(graph, mask) >= np.minimum(degrees(graph), 3)).all()


def test_a_fitted_pruner_takes_another_budget_and_survives_a_file(tmp_path):
    graph = random_graph(9, nodes=30, edges=300)
    for budget in (PerNode(share=0.25, at_least=2), PerNode(counts=np.arange(30))):
        fitted = LSP(k=3).fit(graph).with_budget(budget=budget)
        fitted.save(tmp_path / "pruner.npz")
        again = load(tmp_path / "pruner.npz")
        assert again == fitted and hash(again.options.budget) == hash(budget)
        np.testing.assert_array_equal(again.mask(graph), LSP(budget=budget).mask(graph))
        assert fitted.with_budget(k=3) == LSP(k=3).fit(graph)


def test_counts_cannot_be_changed_from_outside():
    counts = np.array([1, 2, 3])
    budget = PerNode(counts=counts)
    counts[0] = 9
    assert budget.counts.tolist() == [1, 2, 3] and budget == PerNode(counts=[1, 2, 3])
    assert budget != PerNode(counts=[1, 2, 4]) and budget != PerNode(share=0.5)
    with pytest.raises(ValueError, match="read-only"):
        budget.counts[0] = 9
    with pytest.raises(dataclasses.FrozenInstanceError):
        budget.counts = None


def test_text_and_tables_make_the_same_budget():
    assert PerNode.of("share=0.3,at_least=2") == PerNode.of({"share": 0.3, "at_least": 2})
    assert LSP(budget="exponent=0.5") == LSP(budget=PerNode(exponent=0.5))
    assert repr(LSP(budget=PerNode(share=0.3))) == "LSP(budget=PerNode(share=0.3))"
    assert repr(PerNode(counts=np.arange(9))) == "PerNode(counts=<9 counts>)"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "exactly one of share, exponent and counts to PerNode, got none"),
        ({"share": 0.5, "exponent": 0.5}, "got share, exponent"),
        ({"share": 0}, r"share must be in \(0, 1\], got 0"),
        ({"share": 1.5}, "share must be in"),
        ({"exponent": -1}, r"exponent must be in \[0, 1\], got -1"),
        ({"exponent": float("nan")}, "exponent must be in"),
        ({"share": 0.5, "at_least": -1}, "at_least must be a whole number"),
        ({"counts": [1, 2], "at_least": 1}, "at_least must be 0 with counts"),
        ({"counts": [1.5]}, "counts must be whole numbers in one dimension, got float64"),
        ({"counts": [[1]]}, "counts must be whole numbers in one dimension"),
        ({"counts": [-1]}, r"counts must be in \[0, 2\^31\), got -1"),
        ({"counts": [2**31]}, "got 2147483648"),
    ],
    ids=str,
)
def test_bad_options_are_named(options, says):
    with pytest.raises(OptionError, match=says):
        PerNode(**options)


def test_bad_budgets_are_named():
    for budget, says in (
        (0.3, "budget must be a PerNode"),
        ({"shar": 0.3}, "shar is not an option of PerNode; it has share"),
        ("share", "NAME=VALUE"),
    ):
        with pytest.raises(OptionError, match=says):
            LSP(budget=budget)
    with pytest.raises(OptionError, match=r"exactly one of .* got k=2 and budget=PerNode\(share=0.5\)"):
        LSP(k=2, budget=PerNode(share=0.5))
    with pytest.raises(OptionError, match="budget must be None with replace=True"):
        from lsprune import PaperLSP

        PaperLSP(budget=PerNode(share=0.5), replace=True)


def test_counts_of_another_graph_are_refused():
    graph = random_graph(1, nodes=12)
    for counts in (np.ones(11, int), np.ones(13, int)):
        with pytest.raises(GraphError, match=f"one entry for each of 12 owners, got {len(counts)}"):
            prune(graph, LSP(budget=PerNode(counts=counts)))
