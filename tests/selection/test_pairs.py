from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given, settings

from graphs import graphs
from lsprune import LSP, Graph, LocalRandom, OptionError, Random
from lsprune.kernels import runtime
from lsprune.pruners import PaperLSP
from lsprune.selection.choose import choose
from lsprune.selection.owners import group
from lsprune.selection.pairs import pair_up, symmetric_mask

FEW = settings(max_examples=25, deadline=None, derandomize=True)


def undirected(seed=0, nodes=12, edges=30):
    rng = np.random.default_rng(seed)
    low = np.unique(np.sort(rng.integers(0, nodes, (2, edges)), axis=0), axis=1)
    low = low[:, low[0] != low[1]]
    return Graph.from_edges(
        np.concatenate([low, low[::-1]], axis=1), num_nodes=nodes, x=rng.standard_normal((nodes, 4))
    )


def test_parallel_edges_pair_up_by_rank():
    owner, neighbour = np.array([0, 0, 1, 1, 0]), np.array([1, 1, 0, 0, 2])
    pairs = pair_up(owner, neighbour, 3).by_rank(np.array([9, 1, 2, 7, 5]))
    assert pairs.count == 3
    assert pairs.of_slot[1] == pairs.of_slot[2]  # the first taken of either direction
    assert pairs.of_slot[0] == pairs.of_slot[3]
    assert (pairs.of_slot == pairs.of_slot[4]).sum() == 1  # no reverse: a pair of one


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("make", [LSP, LocalRandom])
def test_union_and_intersection_are_what_they_say(make, k):
    graph = undirected()
    source, target = graph.ends()
    plain = make(k=k).mask(graph)
    taken = {(s, t): kept for s, t, kept in zip(source.tolist(), target.tolist(), plain.tolist(), strict=True)}
    for mode, both in (("union", any), ("intersection", all)):
        mask = make(k=k, symmetric=mode).mask(graph)
        expected = [both([taken[s, t], taken[t, s]]) for s, t in zip(source.tolist(), target.tolist(), strict=True)]
        assert mask.tolist() == expected


@given(graph=graphs(max_nodes=5))
@FEW
def test_an_edge_and_its_reverse_share_their_fate(graph):
    source, target = np.unique(np.stack(graph.ends()), axis=1)
    graph = Graph.from_edges((source, target), num_nodes=graph.num_nodes, x=graph.x)
    for pruner in (
        LSP(k=1, symmetric="union"),
        LSP(keep=0.5, symmetric="intersection"),
        Random(keep=0.5, symmetric="union"),
    ):
        mask = pruner.mask(graph)
        for s in range(5):
            for t in range(s):
                forward, back = mask[(source == s) & (target == t)], mask[(source == t) & (target == s)]
                assert len(forward) == 0 or len(back) == 0 or forward[0] == back[0]


def test_keep_counts_pairs():
    graph = undirected()
    for make in (LSP, LocalRandom, Random):
        for mode in ("union", "intersection"):
            mask = make(keep=0.4, symmetric=mode).mask(graph)
            assert mask.sum() == 2 * np.floor(0.4 * graph.num_edges / 2 + 0.5)


def test_a_relation_has_no_pairs():
    graph = Graph.from_edges(np.array([[0], [0]]), num_nodes=(1, 1), x=(np.ones((1, 1)), np.ones((1, 1))))
    with pytest.raises(OptionError, match="symmetric must be None for a relation between two node types"):
        LSP(k=1, symmetric="union").mask(graph)


def test_parallel_edges_elsewhere_change_nothing_with_replacement():
    graph = undirected()
    source, target = graph.ends()
    more = Graph.from_edges(
        (np.append(source, [12, 12]), np.append(target, [13, 13])),
        num_nodes=14,
        x=np.concatenate([graph.x, np.ones((2, 4))]),
    )
    pruner = PaperLSP(k=9, replace=True, symmetric="union").fit(graph)
    np.testing.assert_array_equal(pruner.mask(more)[:-2], pruner.mask(graph))


def test_one_parallel_edge_does_not_make_every_owner_go_through_all_its_steps():
    # A hub, its reverse edges, and one edge twice between two other nodes.
    leaves = np.arange(3, 403)
    hub = np.stack([np.append(leaves, [1, 1, 2]), np.append(np.zeros(400, int), [2, 2, 1])])
    graph = Graph.from_edges(np.concatenate([hub, hub[::-1, :400]], axis=1), num_nodes=403, x=np.ones((403, 2)))
    for mode in ("union", "intersection"):
        pruner, run, asked = LSP(k=2, symmetric=mode).fit(graph), runtime(), []
        owned = group(graph, pruner, run)
        source = pruner.key_source(graph, owned, run)

        def keys(first, count, total, source=source, asked=asked):
            asked.append(first + count)
            return source.keys(first, count, total)

        mine = replace(source, keys=keys)
        symmetric_mask(graph, pruner, mode, owned, mine, np.empty(0, np.int64), run)
        assert max(asked) == 2


@pytest.mark.parametrize("mode", ["union", "intersection"])
def test_parallel_edges_go_with_the_first_taken_of_the_other_way_even_if_never_taken_themselves(mode):
    # By the rule itself: every owner ranks all its edges; of parallel edges the first taken are partners.
    rng = np.random.default_rng(5)
    for seed in range(12):
        ends = rng.integers(0, 4, (2, 60))
        ends = ends[:, ends[0] != ends[1]]
        size = ends.shape[1]
        graph = Graph.from_edges(ends, num_nodes=4, edge_attr=rng.standard_normal((size, 2)))
        rank = np.zeros(size, int)
        before = np.zeros(size, bool)
        for k in range(1, size + 1):
            mask = LSP(k=k, seed=seed).mask(graph)
            rank[mask & ~before] = k
            before = mask
        groups = {}
        for e in np.argsort(rank):
            groups.setdefault((int(ends[0, e]), int(ends[1, e])), []).append(int(e))
        for k in (1, 3, 6):
            expected = np.zeros(size, bool)
            for a in range(4):
                for b in range(a):
                    for pair in zip_longest(groups.get((a, b), []), groups.get((b, a), [])):
                        pair = [e for e in pair if e is not None]
                        best = (min if mode == "union" else max)(rank[pair])
                        expected[pair] = best <= k
            np.testing.assert_array_equal(LSP(k=k, seed=seed, symmetric=mode).mask(graph), expected)


@pytest.mark.parametrize("mode", ["union", "intersection"])
def test_where_nobody_has_a_step_no_pair_is_kept(mode):
    for graph in (undirected(), Graph.from_edges(np.array([[0, 1], [0, 1]]), num_nodes=2, x=np.ones((2, 1)))):
        source, target = graph.ends()
        mask = LSP(k=0, symmetric=mode).mask(graph)
        np.testing.assert_array_equal(mask, source == target)  # free self-loops stay
        pruner, run = LSP(k=0, symmetric=mode), runtime()
        owned = group(graph, pruner, run)
        quota, nowhere = np.zeros(graph.num_nodes, np.int64), np.empty(0, np.int64)
        ranks = choose(owned, quota, pruner.key_source(graph, owned, run), nowhere, 0, run, ranked=True)
        assert ranks.dtype == np.int32  # room for the rank of what is never taken
