from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune import LSP, Graph, LocalRandom
from lsprune.kernels import Runtime, reference
from lsprune.numeric.random_numbers import OWNER
from lsprune.pruners import PaperLSP
from lsprune.selection.budget import quotas, target_count
from lsprune.selection.choose import TIES, choose, edge_keys
from lsprune.selection.owners import group

FEW = settings(max_examples=60, deadline=None, derandomize=True)


def star_graph(degrees, ptr=None):
    owner = np.repeat(np.arange(len(degrees)), degrees)
    return Graph.from_edges((np.zeros_like(owner), owner), num_nodes=len(degrees), ptr=ptr)


def offsets(degrees):
    return np.append(0, np.cumsum(np.asarray(degrees, np.int64)))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=20), st.floats(0.001, 1.0), st.integers(0, 5))
@FEW
def test_budget_is_the_largest_k_and_the_rest_by_hashed_owner(degrees, keep, seed):
    degree = np.array(degrees)
    quota = quotas(offsets(degree), star_graph(degrees), LocalRandom(keep=keep, seed=seed), Runtime())
    target = int(np.floor(keep * degree.sum() + 0.5))
    k = max(k for k in range(32) if np.minimum(k, degree).sum() <= target)
    if k > degree.max():
        k = int(degree.max())
    left = target - int(np.minimum(k, degree).sum())
    start = reference.mix(reference.mix(seed) ^ OWNER)
    order = sorted((u for u in range(len(degrees)) if degrees[u] > k), key=lambda u: (reference.mix(start ^ u), u))
    expected = np.full(len(degrees), k)
    expected[order[:left]] += 1
    np.testing.assert_array_equal(np.minimum(quota, degree), np.minimum(expected, degree))


@given(st.lists(st.lists(st.integers(0, 9), min_size=0, max_size=6), min_size=1, max_size=6), st.floats(0.01, 1.0))
@FEW
def test_budgets_of_several_graphs_are_those_of_each(graphs, keep):
    degrees = np.array([d for graph in graphs for d in graph], int)
    ptr = np.cumsum([0, *(len(graph) for graph in graphs)])
    pruner = LocalRandom(keep=keep, seed=3)
    together = quotas(offsets(degrees), star_graph(degrees, ptr), pruner, Runtime())
    alone = [quotas(offsets(graph), star_graph(graph), pruner, Runtime()) for graph in graphs if graph]
    np.testing.assert_array_equal(
        np.minimum(together, degrees), np.minimum(np.concatenate([*alone, np.empty(0, int)]), degrees)
    )


@pytest.mark.parametrize(
    ("keep", "edges", "target"), [(0.5, 3, 2), (0.5, 4, 2), (0.1, 4, 0), (0.125, 4, 1), (1.0, 7, 7)]
)
def test_target_rounds_half_up(keep, edges, target):
    assert target_count(keep, np.array([edges])).tolist() == [target]


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
