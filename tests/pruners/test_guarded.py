"""Promises on top of a pruner hold, within its budget, and change nothing where they are kept already."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import lsprune
from graphs import ALL_PRUNERS, name_of, random_graph
from lsprune import LSP, BudgetWarning, Graph, GraphError, LocalRandom, NoEdges, OptionError, Random, prune
from lsprune.pruners import FittedLSP, Pruner
from lsprune.pruners.guarded import Guarded

BASES = [
    Random(keep=0.3),
    LSP(keep=0.3, hash="identity"),
    LocalRandom(k=2, side="out"),
    Random(keep=0.4, symmetric="union"),
]
every_base = pytest.mark.parametrize("base", BASES, ids=repr)


def graph(seed: int = 0, nodes: int = 40, edges: int = 160) -> Graph:
    """Both directions of random edges, with a few self-loops."""
    rng = np.random.default_rng(seed)
    once = np.unique(np.sort(rng.integers(0, nodes, (2, edges)), axis=0), axis=1)
    loop = once[0] == once[1]
    return Graph.from_edges(np.concatenate([once, once[::-1][:, ~loop]], axis=1), num_nodes=nodes)


def sparse(seed: int, directed: bool) -> Graph:
    """Few random edges, some of them parallel, or both directions of them; no self-loops."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, 16, (2, 40))
    ends = ends[:, ends[0] != ends[1]]
    return Graph.from_edges(ends if directed else ends[:, ends[0] < ends[1]], num_nodes=16)


def parts(one: Graph, mask: np.ndarray) -> int:
    source, target = one.ends()
    matrix = coo_array((np.ones(mask.sum()), (source[mask], target[mask])), shape=(one.num_nodes,) * 2)
    return connected_components(matrix, directed=False)[0]


def symmetric(one: Graph, mask: np.ndarray) -> bool:
    source, target = one.ends()
    kept = set(zip(source[mask].tolist(), target[mask].tolist(), strict=True))
    return all((t, s) in kept for s, t in kept)


def ends_of(one: Graph, pruner: Pruner) -> tuple[np.ndarray, np.ndarray]:
    """Owner and neighbour of each edge."""
    source, target = one.ends()
    return (target, source) if pruner.side == "in" else (source, target)


def lacking(one: Graph, pruner: Pruner, mask: np.ndarray, least: int) -> int:
    """How many edges nodes lack to have `least` of theirs, or all; self-loops aside."""
    source, target = one.ends()
    owner = ends_of(one, pruner)[0]
    degree, kept = (np.bincount(owner[some & (source != target)], minlength=one.num_nodes) for some in (True, mask))
    return int(np.maximum(np.minimum(degree, least) - kept, 0).sum())


@every_base
def test_without_promises_nothing_changes(base):
    one = graph()
    np.testing.assert_array_equal(Guarded(pruner=base).mask(one), base.mask(one))


@every_base
def test_every_node_keeps_some_within_the_budget(base):
    for seed in range(4):
        one = graph(seed)
        plain, mask = base.mask(one), Guarded(pruner=base, min_keep=1).mask(one)
        source, target = one.ends()
        real = source != target
        owner = target if base.side == "in" else source
        degree, kept = (np.bincount(owner[some], minlength=40) for some in (real, mask & real))
        assert (kept >= np.minimum(degree, 1)).all()
        assert mask.sum() == plain.sum()
        assert symmetric(one, mask) or not base.symmetric


@every_base
def test_what_is_connected_stays_connected_within_the_budget(base):
    one = graph(1, nodes=30, edges=200)
    plain, mask = base.mask(one), Guarded(pruner=base, keep_connected=True).mask(one)
    assert parts(one, plain) >= parts(one, mask) == parts(one, np.ones(one.num_edges, bool))
    assert mask.sum() == plain.sum()
    assert symmetric(one, mask) or not base.symmetric
    if parts(one, plain) == parts(one, mask):
        np.testing.assert_array_equal(mask, plain)  # nothing was to be done


@every_base
def test_protected_edges_stay(base):
    one = graph(2)
    chosen = np.random.default_rng(0).permutation(one.num_edges)[:15]
    marked = np.zeros(one.num_edges, bool)
    marked[chosen] = True
    by_number, by_mask = (Guarded(pruner=base, protected=some).mask(one) for some in (chosen, marked))
    np.testing.assert_array_equal(by_number, by_mask)
    assert by_mask[chosen].all()
    assert by_mask.sum() == base.mask(one).sum()


@every_base
@pytest.mark.parametrize("most", [2, (None, 2), (3, 1), (1, None)], ids=str)
def test_no_node_has_more_than_allowed_on_either_side_and_no_edge_goes_without_need(base, most):
    one = graph(3, nodes=15, edges=300)
    before, mask = base.mask(one), Guarded(pruner=base, max_degree=most).mask(one)
    source, target = one.ends()
    real = source != target
    full = np.zeros(one.num_edges, bool)  # an end of the edge, or of its reverse, has no room
    for end, cap in zip(ends_of(one, base), most if isinstance(most, tuple) else (most, most), strict=True):
        degree = np.bincount(end[mask & real], minlength=15)
        assert degree.max() <= (cap or 99)
        full |= (degree == cap)[end] | ((degree == cap)[source + target - end] & bool(base.symmetric))
    assert not (mask & ~before).any()
    assert full[before & ~mask].all()
    assert before.sum() > mask.sum()
    assert symmetric(one, mask) or not base.symmetric


@every_base
def test_protected_edges_and_the_forest_stay_above_the_allowed_degree(base):
    star = np.stack([np.zeros(20, np.int64), np.arange(1, 21)])
    one = Graph.from_edges(np.concatenate([star, star[::-1], [[1, 3], [2, 4]], [[2, 4], [1, 3]]], axis=1))
    chosen = [1, 2, 3, 21, 22, 23]
    mask = Guarded(pruner=base, protected=chosen, max_degree=2).mask(one)
    assert np.flatnonzero(mask[:40]).tolist() == chosen  # node 0 has no room for others
    joined = Guarded(pruner=base, keep_connected=True, max_degree=1).mask(one)
    assert parts(one, joined) == 1


def test_the_least_of_a_node_comes_before_other_edges_where_degrees_end():
    one = Graph.from_edges(np.array([[0, 0, 0, 0, 0, 9, 9, 9, 9], [1, 2, 3, 4, 5, 2, 3, 4, 5]]))
    for seed in range(20):
        base = Random(keep=1.0, seed=seed)
        mask = Guarded(pruner=base, min_keep=1, protected=[5, 6, 7, 8], max_degree=(None, 1)).mask(one)
        assert np.flatnonzero(mask).tolist() == [0, 5, 6, 7, 8]


def test_the_least_of_nodes_gives_way_to_the_allowed_degree_and_the_seed_says_which():
    one, found = Graph.from_edges(np.array([[0] * 6, [1, 2, 3, 4, 5, 6]])), set()
    for seed in range(20):
        base = LSP(k=0, hash="identity", seed=seed)
        mask = Guarded(pruner=base, min_keep=1, max_degree=(None, 2)).mask(one)
        assert mask.sum() == 2
        found.add(mask.tobytes())
    assert len(found) > 5


def test_a_node_with_an_edge_that_must_stay_is_given_no_other():
    one = Graph.from_edges(np.array([[0, 1, 3, 4, 5, 6], [2, 2, 2, 2, 7, 7]]))
    for seed in range(200):
        base = LSP(k=1, hash="identity", seed=seed)
        mask = Guarded(pruner=base, protected=[0], min_keep=1).mask(one)
        assert mask[0]
        assert mask[:4].sum() == mask[4:].sum() == 1


@pytest.mark.parametrize("base", [*BASES[:3], NoEdges(), LSP(k=1, hash="identity")], ids=repr)
@pytest.mark.parametrize("least", [0, 1, 3])
def test_no_more_is_kept_than_the_budget_or_what_the_promises_need(base, least):
    for seed in range(30):
        one, rng = sparse(seed, not base.symmetric), np.random.default_rng(seed)
        marked = rng.random(one.num_edges) < rng.choice([0, 0.1, 0.4])
        budget, everything = base.mask(one).sum(), np.ones(one.num_edges, bool)
        nodes, joins = lacking(one, base, marked, least), parts(one, marked) - parts(one, everything)
        if not base.symmetric:
            mask = Guarded(pruner=base, protected=marked, min_keep=least).mask(one)
            assert mask[marked].all()
            assert not lacking(one, base, mask, least)
            assert mask.sum() == max(budget, marked.sum() + nodes)
        mask = Guarded(pruner=base, protected=marked, keep_connected=True).mask(one)
        assert parts(one, mask) == parts(one, everything)
        assert mask.sum() == max(budget, marked.sum() + joins)
        mask = Guarded(pruner=base, protected=marked, min_keep=least, keep_connected=True).mask(one)
        assert parts(one, mask) == parts(one, everything)
        assert not lacking(one, base, mask, least)
        assert max(budget, marked.sum() + max(nodes, joins)) <= mask.sum()
        assert mask.sum() <= max(budget, marked.sum() + nodes + joins)


def test_promises_that_the_pruner_keeps_change_nothing():
    for seed in range(20):
        one = graph(seed, nodes=20, edges=60)
        base = LSP(k=2, hash="identity", symmetric="union", seed=seed)
        mask = base.mask(one)
        joined = parts(one, mask) == parts(one, np.ones(one.num_edges, bool))
        for protected in (None, mask):
            guarded = Guarded(pruner=base, min_keep=2, keep_connected=joined, protected=protected)
            np.testing.assert_array_equal(guarded.mask(one), mask)


def test_of_two_pairs_that_would_do_the_one_that_was_kept_stays():
    path = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    one, seen = Graph.from_edges(np.concatenate([path, path[::-1]], axis=1)), 0
    for seed in range(200):
        base = Random(keep=0.5, symmetric="union", seed=seed)
        if np.flatnonzero(base.mask(one)).tolist() == [2, 3, 6, 7]:
            assert np.flatnonzero(Guarded(pruner=base, min_keep=1).mask(one)).tolist() == [0, 2, 3, 4, 6, 7]
            seen += 1
    assert seen > 10


@pytest.mark.parametrize("least", [1, 2])
def test_of_pairs_none_is_kept_above_the_budget_that_no_node_needs(least):
    for seed in range(20):
        one, base = graph(seed, nodes=20, edges=30), Random(keep=0.05, symmetric="union", seed=seed)
        mask = Guarded(pruner=base, min_keep=least).mask(one)
        assert not lacking(one, base, mask, least)
        assert mask.sum() > base.mask(one).sum()
        source, target = one.ends()
        for edge in np.flatnonzero(mask & (source < target)):
            both = np.isin(source, [source[edge], target[edge]]) & np.isin(target, [source[edge], target[edge]])
            assert lacking(one, base, mask & ~(both & (source != target)), least)


@pytest.mark.parametrize("loops", ["free", "edge", "drop"])
@pytest.mark.parametrize("both", [None, "union"])
def test_protected_self_loops_stay_and_take_the_place_of_others(loops, both):
    one = Graph.from_edges(np.array([[0, 1, 1, 2, 0, 3, 3], [0, 1, 2, 1, 3, 0, 3]]))
    none = Guarded(pruner=LSP(k=0, hash="identity", self_loops=loops), protected=[0, 1]).mask(one)
    assert np.flatnonzero(none).tolist() == ([0, 1, 6] if loops == "free" else [0, 1])
    base = Random(keep=1.0, self_loops=loops, symmetric=both)
    mask = Guarded(pruner=base, protected=[0, 1]).mask(one)
    assert mask[:2].all()
    assert mask[6] == (loops != "drop")
    assert mask.sum() == (base.mask(one).sum() if both is None or loops != "drop" else 2)  # two pairs gave way


def test_self_loops_count_for_nodes_only_where_they_are_edges_like_others():
    one = Graph.from_edges(np.array([[0, 1, 0], [0, 0, 0]]))
    for loops, kept in (("drop", 3), ("edge", 2)):
        base = LSP(k=0, hash="identity", self_loops=loops)
        assert Guarded(pruner=base, protected=[0, 2], min_keep=1).mask(one).sum() == kept
    capped = Guarded(pruner=Random(keep=1.0, self_loops="edge"), max_degree=1).mask(one)
    assert capped.sum() == 1
    assert Guarded(pruner=Random(keep=1.0), max_degree=1).mask(one).all()


def test_nodes_of_two_kinds_with_equal_numbers_are_no_self_loops():
    same = Graph.from_edges(np.array([[0, 1, 2, 0, 1], [0, 1, 2, 1, 0]]), num_nodes=(3, 3))
    for base in (LSP(k=0, hash="identity"), NoEdges()):
        mask = Guarded(pruner=base, min_keep=1).mask(same)
        assert np.bincount(same.target[mask], minlength=3).tolist() == [1, 1, 1]
        assert Guarded(pruner=base, keep_connected=True).mask(same).sum() == 4  # 6 nodes, 2 parts
        assert np.flatnonzero(Guarded(pruner=base, protected=[3]).mask(same)).tolist() == [3]  # 1 to 0 is no reverse
    mask = Guarded(pruner=Random(keep=1.0), max_degree=1).mask(same)
    assert np.bincount(same.source[mask]).max() == np.bincount(same.target[mask]).max() == 1


@pytest.mark.parametrize("mode", ["union", "intersection"])
def test_parallel_edges_stay_with_the_reverses_that_the_pruner_gave_them(mode):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        one = Graph.from_edges(
            rng.integers(0, 5, (2, 60)), x=rng.normal(size=(5, 3)), edge_attr=rng.normal(size=(60, 3))
        )
        base = LSP(k=3, symmetric=mode, seed=seed).fit(one)
        np.testing.assert_array_equal(Guarded(pruner=base).mask(one), base.mask(one))


def test_promises_come_before_the_budget():
    one = graph()
    mask = Guarded(pruner=NoEdges(), keep_connected=True).mask(one)
    assert parts(one, mask) == parts(one, np.ones(one.num_edges, bool))
    assert mask[: one.num_edges].sum() >= 39 - parts(one, mask)


def test_budgets_hold_in_each_graph_and_batches_are_as_their_graphs():
    small = [graph(seed, nodes=12, edges=50) for seed in range(3)]
    starts = np.concatenate([[0], np.cumsum([12] * 3)])
    ends = np.concatenate([np.stack(one.ends()) + 12 * i for i, one in enumerate(small)], axis=1)
    batch = Graph.from_edges(ends, num_nodes=36, ptr=starts)
    pruner = Guarded(pruner=Random(keep=0.4), min_keep=1, keep_connected=True)
    whole = np.concatenate([pruner.mask(one) for one in small])
    np.testing.assert_array_equal(pruner.mask(batch), whole)


def test_order_threads_and_executors_do_not_matter():
    one = graph(5)
    pruner = Guarded(pruner=LSP(keep=0.3, hash="identity"), min_keep=1, keep_connected=True, max_degree=4)
    mask = pruner.mask(one)
    order = np.random.default_rng(0).permutation(one.num_edges)
    other = Graph.from_edges(np.stack(one.ends())[:, order], num_nodes=40)
    np.testing.assert_array_equal(pruner.mask(other), mask[order])
    np.testing.assert_array_equal(pruner.mask(one, executor="reference"), mask)
    np.testing.assert_array_equal(pruner.fit(one).mask(one, threads=1), mask)


def test_options_round_trip_and_are_compared():
    base = LSP(keep=0.3, hash="identity", seed=3)
    for options in ({}, {"min_keep": 2, "keep_connected": True}, {"max_degree": 3}, {"max_degree": (None, 3)}):
        guarded = Guarded(pruner=base, **options)
        assert Guarded.from_dict(json.loads(json.dumps(guarded.to_dict()))) == guarded
        assert (guarded == Guarded(pruner=base)) == (not options)
    twice = Guarded(pruner=Guarded(pruner=base, min_keep=1), max_degree=2)
    assert Guarded.from_dict(twice.to_dict()) == twice
    whole = Guarded(pruner=base, min_keep=np.int64(1), max_degree=np.int32(4), keep_connected=np.True_)
    assert whole == Guarded(pruner=base, min_keep=1, max_degree=4, keep_connected=True)
    assert repr(whole) == f"Guarded(pruner={base!r}, min_keep=1, keep_connected=True, max_degree=4)"
    assert json.dumps(whole.to_dict())


def test_protected_edges_are_shown_and_compared():
    one, two, three = (Guarded(pruner=NoEdges(), protected=some) for some in (np.array([3, 1]), [1, 3, 3], [2]))
    assert one == two != three
    assert hash(one) == hash(two)
    assert repr(one) == "Guarded(pruner=NoEdges(), protected=<2 edges>)"
    assert one != Guarded(pruner=NoEdges())
    assert dataclasses.replace(one, min_keep=1).protected == one.protected
    assert "protected" not in one.to_dict()
    given = np.array([1])
    kept = Guarded(pruner=NoEdges(), protected=given)
    given[0] = 2
    assert kept == Guarded(pruner=NoEdges(), protected=[1])
    for none in ([], np.zeros(0, np.int64), np.zeros(graph().num_edges, bool)):
        np.testing.assert_array_equal(Guarded(pruner=NoEdges(), protected=none).mask(graph()), NoEdges().mask(graph()))


def test_what_is_fitted_is_saved_with_its_promises(tmp_path):
    rng = np.random.default_rng(0)
    one = Graph.from_edges(np.stack(graph().ends()), x=rng.normal(size=(40, 5)))
    fitted = Guarded(pruner=LSP(keep=0.3), min_keep=1, max_degree=(None, 5)).fit(one)
    fitted.save(tmp_path / "guarded.npz")
    loaded = Guarded.load(tmp_path / "guarded.npz")
    assert loaded == fitted
    assert isinstance(loaded.pruner, FittedLSP)
    np.testing.assert_array_equal(loaded.mask(one), fitted.mask(one))


def test_reasons_say_which_promise_an_edge_stays_for():
    one = Graph.from_edges(np.array([[0, 1, 2, 3, 2, 0, 4], [4, 4, 4, 4, 5, 5, 6]]))

    lsp = LSP(k=1, hash="identity", seed=1)

    def why(node: int, base: Pruner = lsp, **options: Any) -> dict[int, str]:
        guarded = Guarded(pruner=base, **options)
        explained, mask = guarded.explain(one, node), guarded.mask(one)
        assert all(reason.kept == mask[reason.edge] for reason in explained.edges)
        assert sorted(reason.edge for reason in explained.edges) == np.flatnonzero(one.target == node).tolist()
        return {reason.edge: reason.why for reason in explained.edges}

    taken = int(np.flatnonzero(lsp.mask(one))[0])
    other = [edge for edge in range(4) if edge != taken]
    assert why(4)[taken].startswith("kept; by the inner pruner: taken at step 1")
    assert why(4)[other[0]].startswith("not kept; by the inner pruner: beaten at every step")
    assert why(4, protected=other[:1])[other[0]].startswith("protected; by the inner pruner: beaten")
    joined = why(4, protected=other[:1], keep_connected=True)
    in_forest = "part of the spanning forest (keep_connected)"
    assert [joined[edge].split(";")[0] for edge in other] == ["protected", in_forest, in_forest]
    gone = why(4, protected=[*other, 4, 5, 6])[taken]
    assert gone.startswith("removed to make room for edges that must stay; by the inner pruner: taken at step 1")
    assert why(6, NoEdges(), keep_connected=True)[6].startswith(f"{in_forest}; by the inner pruner: dec")
    assert why(6, NoEdges(), min_keep=1)[6].startswith("needed for min_keep; by the inner pruner")
    over = why(4, Random(keep=1.0), max_degree=(1, None))
    assert sorted(text.split(";")[0] for text in over.values()) == ["kept"] + ["removed by max_degree"] * 3


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"pruner": 3}, "pruner must be a pruner such as"),
        ({"pruner": LSP}, "pruner must be a pruner such as"),
        ({"min_keep": -1}, "min_keep must be a whole number in \\[0, 2\\^31\\), got -1"),
        ({"min_keep": None}, "min_keep must be a whole number in \\[0, 2\\^31\\), got None"),
        ({"min_keep": True}, "min_keep must be a whole number in \\[0, 2\\^31\\), got True"),
        ({"min_keep": 1.0}, "min_keep must be a whole number in \\[0, 2\\^31\\), got 1.0"),
        ({"keep_connected": "no"}, "keep_connected must be True or False, got 'no'"),
        ({"keep_connected": 1}, "keep_connected must be True or False, got 1"),
        ({"max_degree": 0}, r"max_degree must be a whole number in \[1, 2\^31\), or a pair .*, got 0"),
        ({"max_degree": True}, "max_degree must be .*, got True"),
        ({"max_degree": (1, 0)}, r"max_degree must be .*, got \(1, 0\)"),
        ({"max_degree": (1, 2, 3)}, r"max_degree must be .*, got \(1, 2, 3\)"),
        ({"protected": [0.5]}, r"protected must be .*, got list of float64 \[1\]"),
        ({"protected": [-1]}, "protected must be a boolean array over the edges, or the numbers"),
        ({"protected": [[1], [2]]}, r"protected must be .*, got list of int64 \[2, 1\]"),
        ({"protected": [[1], [2, 3]]}, "protected must be"),
        ({"protected": {1}}, "protected must be .*, got set of object"),
    ],
)
def test_bad_options_are_named(options, says):
    with pytest.raises(OptionError, match=says):
        Guarded(**{"pruner": NoEdges(), **options})


@pytest.mark.parametrize(
    ("act", "error", "says"),
    [
        (lambda: Guarded(pruner=NoEdges(), protected=[999]).mask(graph()), GraphError, "protected must .* number 999"),
        (lambda: Guarded(pruner=NoEdges(), protected=[True]).mask(graph()), GraphError, "protected must .* one of 1"),
        (lambda: Guarded(pruner=NoEdges(), protected=[1]).save("x"), OptionError, "protected must be None in a pruner"),
        (lambda: Guarded.from_dict({"min_keep": 1}), OptionError, "pruner must be a pruner such as"),
        (lambda: Guarded.from_dict({"inner": {"pruner": "lps"}}), OptionError, "pruner must be one of"),
        (lambda: Guarded.from_dict({"inner": {"pruner": "no-edges"}, "kep": 1}), OptionError, "kep is not an option"),
    ],
)
def test_what_cannot_be_done_is_named(act, error, says):
    with pytest.raises(error, match=says):
        act()


@pytest.mark.parametrize(
    ("promises", "needs"),
    [
        ({"min_keep": 1}, r"min_keep=1 \(\d+ edges\)$"),
        ({"keep_connected": True}, r"keep_connected \(\d+ edges\)$"),
        ({"protected": list(range(20))}, r"protected \(20 edges\)$"),
        (
            {"min_keep": 1, "keep_connected": True, "protected": [3]},
            r"protected \(1 edges\), keep_connected \(\d+ edges\), min_keep=1 \(\d+ edges\)$",
        ),
    ],
    ids=str,
)
def test_more_than_the_budget_is_said_once_with_the_promise_that_needs_it(promises, needs):
    one = graph()
    real = int(np.count_nonzero(one.source != one.target))
    pruner = Guarded(pruner=LSP(keep=0.02, hash="identity"), **promises)
    with pytest.warns(BudgetWarning) as said:
        mask = pruner.mask(one)
    kept = int(np.count_nonzero(mask[one.source != one.target]))
    asked = round(0.02 * real)
    assert len(said) == 1
    assert said[0].filename == __file__
    shares = rf"^{100 * kept / real:.3g} % of the edges are kept \({kept} of {real}\), keep=0.02 asks for "
    assert re.match(
        shares + rf"{100 * asked / real:.3g} % \({asked}\); the promises need more: " + needs, str(said[0].message)
    )
    with pytest.warns(BudgetWarning, match="k=0 asks for 0 %"):
        prune(one, Guarded(pruner=LSP(k=0, hash="identity"), **promises))


def test_nothing_is_said_where_the_budget_is_met_or_nobody_gave_one(recwarn):
    one = graph()
    for pruner in (
        Guarded(pruner=LSP(keep=0.6, hash="identity"), min_keep=1, keep_connected=True, protected=[0]),
        Guarded(pruner=NoEdges(), min_keep=1),
        Guarded(pruner=LSP(k=1, hash="identity"), min_keep=1, max_degree=1),
        Guarded(pruner=Random(keep=0.02), max_degree=2),
    ):
        pruner.mask(one)
        pruner.explain(one, 3)
    Guarded(pruner=Random(keep=0.02), min_keep=1).explain(one, 3)
    assert not [warning for warning in recwarn if warning.category is BudgetWarning]


@pytest.mark.parametrize("base", ALL_PRUNERS, ids=name_of)
@pytest.mark.parametrize("promises", [{"min_keep": 1}, {"keep_connected": True, "max_degree": (None, 3)}], ids=str)
def test_a_saved_pruner_with_promises_is_loaded_whatever_is_within(tmp_path, base, promises):
    one = random_graph(0, edge_dim=2)
    for pruner in (Guarded(pruner=base, **promises), Guarded(pruner=base, **promises).fit(one)):
        pruner.save(tmp_path / "pruner.npz")
        for load in (lsprune.load, Guarded.load):
            again = load(tmp_path / "pruner.npz")
            assert again == pruner
            np.testing.assert_array_equal(again.mask(one), pruner.mask(one))


def test_promises_on_promises_are_loaded(tmp_path):
    one = random_graph(0)
    twice = Guarded(pruner=Guarded(pruner=LSP(keep=0.3), min_keep=1), max_degree=2).fit(one)
    twice.save(tmp_path / "pruner.npz")
    assert lsprune.load(tmp_path / "pruner.npz") == twice
