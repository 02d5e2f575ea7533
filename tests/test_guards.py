"""Promises on top of a pruner hold, within its budget, and change nothing where they are kept already."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from lsprune import LSP, Graph, GraphError, LocalRandom, NoEdges, OptionError, Random
from lsprune.guards import Guarded

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


def parts(one: Graph, mask: np.ndarray) -> int:
    source, target = one.ends()
    matrix = coo_array((np.ones(mask.sum()), (source[mask], target[mask])), shape=(one.num_nodes,) * 2)
    return connected_components(matrix, directed=False)[0]


def symmetric(one: Graph, mask: np.ndarray) -> bool:
    source, target = one.ends()
    kept = set(zip(source[mask].tolist(), target[mask].tolist(), strict=True))
    return all((t, s) in kept for s, t in kept)


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
def test_no_node_has_more_than_allowed_at_its_other_end(base):
    one = graph(3, nodes=15, edges=300)
    pruner = Guarded(pruner=base, max_degree=2)
    mask = pruner.mask(one)
    source, target = one.ends()
    real = source != target
    other = source if base.side == "in" else target
    assert np.bincount(other[mask & real]).max() <= 2
    assert not (mask & ~base.mask(one)).any()
    assert symmetric(one, mask) or not base.symmetric


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


@pytest.mark.parametrize(
    ("build", "error", "says"),
    [
        (lambda: Guarded(pruner=3), OptionError, "pruner must be a pruner such as"),
        (lambda: Guarded(pruner=NoEdges(), min_keep=-1), OptionError, "min_keep must be a whole number >= 0, got -1"),
        (lambda: Guarded(pruner=NoEdges(), max_degree=0), OptionError, "max_degree must be a whole number >= 1, got 0"),
        (lambda: Guarded(pruner=NoEdges(), protected=[999]).mask(graph()), GraphError, "protected must be a boolean"),
        (lambda: Guarded(pruner=NoEdges()).save("x"), OptionError, "save its .pruner"),
    ],
)
def test_bad_options_are_named(build, error, says):
    with pytest.raises(error, match=says):
        build()
