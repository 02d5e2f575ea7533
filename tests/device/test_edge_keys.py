"""Keys of baselines on a device: those of the host, ids within each graph."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from device_helpers import HOST, any_graph, both, device_run, numpy_of, torch, upload

from graphs import random_graph
from lsprune import First, Graph, LocalRandom
from lsprune.baselines import Cosine, Jaccard, LocalDegree, LowDegree, TopWeight
from lsprune.baselines.top_weight import descending as host_descending
from lsprune.device.edge_keys import descending, end_hashes, random_keys
from lsprune.device.owners import group
from lsprune.selection import owners as host_owners


def compare(pruner, graphs=8) -> None:
    """Compare the keys of a pruner that looks at the ids, degrees or rows of some graphs with those of the host."""
    side = pruner.side
    for number in range(graphs):
        graph = any_graph(np.random.default_rng(number), edges=(5, 300))
        if graph.bipartite or graph.edge_attr is None or graph.x is None:
            graph = random_graph(number, nodes=12, edges=60, edge_dim=1)
        owned = host_owners.group(graph, pruner, HOST)
        expected = pruner.key_source(graph, owned, HOST).keys(0, 1, 1)
        there = upload(graph, "cpu")
        keys = pruner.key_source(there, group(there, pruner), device_run()).keys(0, 1, 1)
        owners = graph.num_owners(side)
        for lo, hi in ((0, owners), (owners // 3, owners // 2)):
            np.testing.assert_array_equal(numpy_of(keys.of(lo, hi)), expected.of(lo, hi))


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("seed", [0, 1, -3, 2**63 + 5])
def test_random_keys_are_those_of_the_host(side, seed):
    compare(LocalRandom(k=1, side=side, seed=seed))


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize(
    "kind",
    [First, LowDegree, LocalDegree, Cosine, partial(TopWeight, column=0), Jaccard, partial(Jaccard, hashes=3),
     partial(Jaccard, exact=True)],
)  # fmt: skip
def test_keys_of_baselines_are_those_of_the_host(kind, side):
    compare(kind(k=1, side=side))


def test_keys_of_many_functions_are_made_part_by_part():
    compare(Jaccard(k=1, hashes=40, seed=2), graphs=2)


def test_keys_are_not_negative_and_differ():
    graph = upload(any_graph(np.random.default_rng(3), edges=(300,)), "cpu")
    keys = random_keys(graph, group(graph, LocalRandom(k=1)), "in", 0)(0, graph.num_owners("in"))
    assert int(keys.min()) >= 0 and len(set(keys.tolist())) > 0.5 * keys.shape[0]


def test_hashes_of_ends_are_draws_of_ids_within_each_graph():
    ends = np.array([[0, 1, 4], [1, 0, 3]])
    one = upload(Graph.from_edges(np.array([[0, 1, 1], [1, 0, 0]])), "cpu")
    two = upload(Graph.from_edges(ends, num_nodes=5, ptr=[0, 3, 5]), "cpu")
    assert end_hashes(one, *one.ends(), 7).tolist() == end_hashes(two, *two.ends(), 7).tolist()
    assert end_hashes(one, *one.ends(), 8).tolist() != end_hashes(two, *two.ends(), 7).tolist()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i8", "u1", "?"])
def test_keys_fall_as_weights_rise_in_every_type(dtype):
    rng = np.random.default_rng(0)
    weights = (rng.standard_normal(200) * 50).astype(dtype)
    if weights.dtype.kind == "f":
        weights[:4] = 0.0, -0.0, np.finfo(dtype).max, -np.finfo(dtype).tiny
    keys = descending(torch.from_numpy(weights))
    np.testing.assert_array_equal(keys.numpy(), host_descending(weights, np.arange(200)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("self_loops", ["free", "edge"])
@pytest.mark.parametrize("budget", [{"k": 1}, {"k": 9}, {"k": 0, "symmetric": "union"}, {"keep": 0.5}])
def test_weights_must_be_finite_where_the_host_says_so(value, self_loops, budget):
    ends, loop, edge = np.array([[0, 1, 2, 1], [1, 1, 0, 2]]), 1, 2  # one self-loop
    errors = 0
    for place in (loop, edge):
        weights = np.ones(4, np.float32)
        weights[place] = value
        host, there = both(TopWeight(**budget, self_loops=self_loops), Graph.from_edges(ends, edge_attr=weights))
        assert host == there
        errors += isinstance(host, str)
    assert errors == (0 if "symmetric" in budget else 1 + (self_loops == "edge"))


@pytest.mark.parametrize("bipartite", [False, True])
def test_rows_that_are_not_finite_are_told_as_on_the_host(bipartite):
    x = np.ones((3, 2), np.float32)
    x[1, 1] = np.nan
    ends = np.array([[0, 1, 2], [1, 2, 0]])
    graph = Graph.from_edges(ends, num_nodes=(3, 3), x=(x, x.copy())) if bipartite else Graph.from_edges(ends, x=x)
    host, there = both(Cosine(k=1), graph)
    assert host == there and "must be finite in float32, got nan in row 1" in host


def test_weights_of_the_graph_come_before_a_column():
    graph = random_graph(3, nodes=12, edges=80, edge_dim=1)
    graph = replace(graph, edge_weight=np.random.default_rng(0).permutation(80).astype(np.float32))
    host, there = both(TopWeight(k=2), graph)
    assert np.array_equal(host[1], there[1]) and not np.array_equal(host[1], TopWeight(k=2, column=0).mask(graph))
