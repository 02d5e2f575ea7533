"""Which edges each owner takes, step by step, and beyond the last hash function."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lsprune import LSP, Graph
from lsprune.graph import Owned
from lsprune.hashing.base import EdgeKeys, NodeKeys
from lsprune.kernels import Runtime, reference
from lsprune.pruners import PaperLSP
from lsprune.selection.budget import quotas
from lsprune.selection.choose import TIES, KeySource, choose, edge_keys, has_choice
from lsprune.selection.owners import group


def test_a_share_that_is_nearly_all_needs_many_blocks_of_functions():
    rng = np.random.default_rng(0)
    edges = np.stack([rng.integers(1, 400, 300), np.zeros(300, int)])
    graph = Graph.from_edges(edges, num_nodes=400, x=rng.standard_normal((400, 6)))
    mask = LSP(keep=0.9).mask(graph)
    assert mask.sum() == 270
    np.testing.assert_array_equal(mask, LSP(keep=0.9).mask(graph, executor="reference"))
    np.testing.assert_array_equal(mask, LSP(k=270).mask(graph))


def hub(edges=700, seed=0, distinct=400):
    """One owner with many edges, parallel ones and equal attributes among them, and a few small owners."""
    rng = np.random.default_rng(seed)
    source = np.append(rng.integers(1, distinct, edges), rng.integers(1, distinct, 40))
    target = np.append(np.zeros(edges, int), rng.integers(1, 9, 40))
    x = rng.standard_normal((distinct, 5)).round(1)
    x[distinct // 2 :] = x[: distinct - distinct // 2]  # the same attributes: their keys are equal, ties decide
    return Graph.from_edges(np.stack([source, target]), num_nodes=distinct, x=x, edge_attr=rng.random((edges + 40, 1)))


def keys_of(pruner, graph, owner, functions):
    """(edges of an owner, their keys [edges, functions]) as the hash family gives them."""
    run = Runtime()
    fitted = pruner.fit(graph)
    owned = group(graph, fitted, run)
    source = fitted.key_source(graph, owned, run)
    blocks = [edge_keys(source.keys(z, 1, functions), owned, owner, owner + 1) for z in range(functions)]
    return owned.edges(int(owned.indptr[owner]), int(owned.indptr[owner + 1])), np.concatenate(blocks, axis=1)


def kept_by_the_rule(pruner, graph, owner, steps):
    """Edges of an owner by the rule: 256 steps with a function each, then what is left in the order of function 257."""
    edges, keys = keys_of(pruner, graph, owner, 257)
    neighbour = graph.ends()[0]
    left = list(range(len(edges)))

    def order(step):
        return lambda i: (
            int(keys[i, step - 1]),
            *reference.tie_order(TIES.index(pruner.ties), pruner.seed, step, int(neighbour[edges[i]]), int(edges[i])),
        )

    taken = []
    for step in range(1, min(steps, 256) + 1):
        taken.append(min(left, key=order(step)))
        left.remove(taken[-1])
    return set(edges[taken + sorted(left, key=order(257))[: steps - len(taken)]].tolist())


@pytest.mark.parametrize("ties", ["hash", "id", "position"])
@pytest.mark.parametrize("attributes", [("neighbour",), ("edge", "neighbour")])
def test_steps_after_256_take_what_is_left_in_the_order_of_function_257(ties, attributes):
    graph = hub()
    target = graph.ends()[1]
    for k in (256, 257, 400, 699):
        pruner = PaperLSP(k=k, ties=ties, attributes=attributes, seed=3)
        mask = pruner.mask(graph)
        assert set(np.flatnonzero(mask & (target == 0)).tolist()) == kept_by_the_rule(pruner, graph, 0, k)


def test_the_rule_is_the_same_on_every_executor_and_nested():
    graph, before = hub(), np.zeros(740, bool)
    for keep in (0.3, 0.5, 0.7, 0.95):
        mask = LSP(keep=keep).mask(graph)
        np.testing.assert_array_equal(mask, LSP(keep=keep).mask(graph, executor="reference"))
        assert mask.sum() == np.floor(keep * 740 + 0.5) and mask[before].all()
        before = mask
    order = np.random.default_rng(1).permutation(740)
    source, target = graph.ends()
    shuffled = Graph.from_edges((source[order], target[order]), num_nodes=400, x=graph.x)
    bare = Graph.from_edges((source, target), num_nodes=400, x=graph.x)
    kept, again = ((LSP(keep=0.7).mask(one), one.ends()) for one in (bare, shuffled))
    np.testing.assert_array_equal(*(np.sort(s[mask] * 400 + t[mask]) for mask, (s, t) in (kept, again)))


def test_every_step_has_its_own_function_where_the_paper_says_so():
    graph = hub()
    target = graph.ends()[1]
    for pruner in (LSP.paper("p", k=300), LSP.published("p", k=300, sparsity=3), PaperLSP(k=300, replace=True)):
        assert pruner.functions is None
    assert PaperLSP(keep=0.5, values="raw").functions == 256  # a share is no preset
    pruner = PaperLSP(k=300, values="raw", ties="position")
    edges, keys = keys_of(pruner, graph, 0, 300)
    left = list(range(len(edges)))
    for z in range(300):
        left.remove(min(left, key=lambda i, z=z: (int(keys[i, z]), i)))
    assert set(np.flatnonzero(~pruner.mask(graph) & (target == 0)).tolist()) == set(edges[left].tolist())


def test_the_keys_asked_for_do_not_grow_with_what_a_hub_keeps():
    graph, run, asked = hub(), Runtime(), []
    pruner = LSP(k=650).fit(graph)
    owned = group(graph, pruner, run)
    source = pruner.key_source(graph, owned, run)

    def keys(first, count, total):
        asked.append((first, count))
        return source.keys(first, count, total)

    quota = quotas(owned.indptr, graph, pruner, run)
    choose(owned, quota, replace(source, keys=keys), np.empty(0, np.int64), 0, run, ranked=False)
    assert sum(count for _, count in asked) == 257


def owned_by(degrees) -> Owned:
    indptr = np.append(0, np.cumsum(degrees))
    return Owned(indptr, np.random.default_rng(0).integers(0, 50, int(indptr[-1])), None)


def test_only_owners_with_more_edges_than_their_quota_have_a_choice():
    owned = owned_by([3, 0, 5])
    for quota, choice in (([3, 0, 5], False), ([9, 9, 9], False), ([2, 9, 9], True), ([0, 0, 0], False)):
        assert has_choice(owned, np.array(quota), None, replace=False) == choice
    assert has_choice(owned, np.array([3, 0, 5]), None, replace=True)  # a step may take an edge twice
    assert has_choice(owned, None, 2, replace=False) and has_choice(owned, None, None, replace=False)
    assert not has_choice(owned, None, 0, replace=False)
    assert not has_choice(owned_by([0, 0]), None, 2, replace=False)


def test_without_a_choice_no_key_is_asked_for_but_attributes_are_checked():
    owned, checked = owned_by([3, 0, 5]), []

    def keys(first, count, total):
        raise AssertionError("asked for keys")

    source = KeySource(keys, check=lambda: checked.append(1))
    taken = choose(owned, np.array([3, 0, 9]), source, np.empty(0, np.int64), 0, Runtime(), ranked=False)
    assert taken.all() and checked == [1]
    taken = choose(owned, np.array([0, 0, 9]), source, np.empty(0, np.int64), 0, Runtime(), ranked=False)
    assert taken.astype(bool).tolist() == [False] * 3 + [True] * 5


@pytest.mark.parametrize("executor", ["cpu", "reference"])
def test_one_key_for_each_edge_takes_the_smallest(executor):
    owned = owned_by([4, 3])
    values = np.array([5, -2, 9, 0, 7, 7, 1])
    source = KeySource.of_edges(lambda lo, hi: values[owned.indptr[lo] : owned.indptr[hi]])
    run = Runtime(executor)
    taken = choose(owned, np.array([2, 1]), source, np.empty(0, np.int64), 0, run, ranked=False)
    assert taken.astype(bool).tolist() == [False, True, False, True, False, False, True]
    ranks = choose(owned, np.array([3, 1]), source, np.empty(0, np.int64), 0, run, ranked=True)
    assert ranks.tolist() == [3, 1, 0, 2, 0, 0, 1]


def test_the_work_ends_where_enough_is_known():
    owned, asked = owned_by([60]), []

    def keys(first, count, total):
        asked.append((first, count))
        return EdgeKeys(lambda lo, hi: np.random.default_rng(first).integers(0, 99, (60, count)))

    choose(owned, np.array([40]), KeySource(keys), np.empty(0, np.int64), 0, Runtime(), ranked=True,
           stop=lambda ranks: (ranks > 0).sum() >= 16)  # fmt: skip
    assert asked == [(0, 16)]


def test_keys_of_edges_are_those_of_a_table_or_made():
    owned = owned_by([4, 3])
    table = np.arange(400, dtype=np.int32).reshape(50, 8)
    np.testing.assert_array_equal(edge_keys(NodeKeys(table), owned, 0, 2, 3), table[owned.neighbour, :3])
    np.testing.assert_array_equal(edge_keys(NodeKeys(table), owned, 1, 2), table[owned.neighbour[4:], :1])
    made = EdgeKeys(lambda lo, hi: np.full((hi - lo, 2), 7))
    assert edge_keys(made, owned, 0, 2).tolist() == [[7, 7], [7, 7]]
