"""What owners take on a device: blocks of steps, parts of the owners, ranks, and the steps beyond the last function."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from device_helpers import HOST, both, device_run, numpy_of, torch

from graphs import random_graph
from lsprune import LSP, Graph, LocalRandom
from lsprune.device import choose as module
from lsprune.device.choose import Choice, choose
from lsprune.device.graph import from_tensors, upload
from lsprune.device.owners import group
from lsprune.hashing import Projection, Signs
from lsprune.hashing.base import EdgeKeys
from lsprune.selection import choose as host_choose
from lsprune.selection import owners as host_owners
from lsprune.selection.choose import KeySource


def chosen(pruner, graph, quota, *, ranked, stop=None) -> tuple[np.ndarray, np.ndarray]:
    """What the host and the device choose for one quota, as arrays over the slots."""
    fitted = pruner.fit_graph(graph, HOST)
    owned = host_owners.group(graph, fitted.rules, HOST)
    every = np.full(owned.indptr.shape[0] - 1, quota)
    here = host_choose.choose(
        owned, every, fitted.key_source(graph, owned, HOST), np.empty(0, np.int64), 0, HOST, ranked=ranked, stop=stop
    )
    there, run = upload(graph, "cpu"), device_run()
    owned = group(there, fitted.rules)
    choice, _ = Choice.of(owned, quota, None, 0, ranked=ranked)
    taken = choose(choice, fitted.key_source(there, owned, run), stop=stop)
    return here, numpy_of(taken)


@pytest.mark.parametrize("quota", [0, 1, 5, 16, 17, 40])
@pytest.mark.parametrize("hash", [Projection(), Signs(bits=2)])
@pytest.mark.parametrize("attributes", [("neighbour",), ("owner", "edge", "neighbour")])
def test_ranks_are_those_of_the_host(quota, hash, attributes):
    graph = random_graph(0, nodes=15, edges=400, edge_dim=2)
    here, there = chosen(LSP(k=1, hash=hash, attributes=attributes), graph, quota, ranked=True)
    np.testing.assert_array_equal(there, here)
    assert there.max() == min(quota, int(np.bincount(graph.ends()[1]).max())) or quota == 40
    here, there = chosen(LSP(k=1, hash=hash, attributes=attributes), graph, quota, ranked=False)
    np.testing.assert_array_equal(there != 0, here != 0)


def test_work_may_end_after_any_block():
    graph, seen = random_graph(0, nodes=4, edges=300), []

    def stop(ranks) -> bool:
        seen.append(int(ranks.max()))
        return True

    here, there = chosen(LSP(k=1), graph, 60, ranked=True, stop=stop)
    assert seen == [16, 16]
    np.testing.assert_array_equal(there, here)


@pytest.mark.parametrize("options", [{"k": 280}, {"keep": 0.9}, {"k": 270, "hash": "signs", "symmetric": "union"}])
def test_steps_beyond_the_last_function_take_what_is_left(options):
    rng = np.random.default_rng(0)
    ends = np.stack([rng.integers(1, 60, 900), np.zeros(900, int)])  # one owner of 900 edges
    graph = Graph.from_edges(ends, x=rng.standard_normal((60, 3)).astype(np.float32))
    host, device = both(LSP(**options), graph)
    assert device == host and 256 < sum(host[1]) < 900


@pytest.mark.parametrize("budget", [{"k": 3}, {"k": 20}, {"keep": 0.3}])
@pytest.mark.parametrize("select", ["functions", "bottom"])
@pytest.mark.parametrize("self_loops", ["free", "edge"])
def test_keys_of_edges_are_made_for_some_owners_at_a_time(budget, select, self_loops, monkeypatch):
    graph = random_graph(0, nodes=30, edges=700, edge_dim=2)
    ptr = np.array([0, 10, 30])
    ends = [end[(graph.ends()[0] < 10) == (graph.ends()[1] < 10)] for end in graph.ends()]
    several = Graph.from_edges(ends, num_nodes=30, x=graph.x, edge_attr=graph.edge_attr[: ends[0].size], ptr=ptr)
    pruner = LSP(**budget, select=select, self_loops=self_loops)
    calls, part = [], module.Choice.part
    monkeypatch.setattr(module.Choice, "part", lambda *args: calls.append(1) or part(*args))
    width = 1 if select == "bottom" else 16
    monkeypatch.setattr(module, "EDGE_KEY_BYTES", 8 * width * 50)  # fifty slots
    tied = dataclasses.replace(
        several, edge_attr=several.edge_attr * 0, x_source=None, x_target=None
    )  # ties go by ids within a graph
    for given in (graph, several, tied):
        host, device = both(pruner, given)
        assert device == host
    assert len(calls) > 4


def test_keys_that_are_made_while_the_host_waits_are_used():
    graph = upload(random_graph(0, nodes=6, edges=80), "cpu")
    rules = LocalRandom(k=2)
    owned, asked = group(graph, rules), []

    def keys(first, count, total):
        asked.append((first, count, total))
        return EdgeKeys(lambda lo, hi: torch.arange(owned.neighbour.shape[0])[:, None].expand(-1, count))

    source = KeySource(keys)
    choice, ready = Choice.of(owned, 2, None, 0, ranked=False, meanwhile=lambda: source.keys(0, 2, 2))
    taken = choose(choice, source, ready)
    assert asked == [(0, 2, 2)]
    first = numpy_of(owned.indptr)[:-1]
    expected = [slot - first[owner] < 2 for owner, slot in zip(owned.owners(0, 6), range(taken.shape[0]), strict=True)]
    assert taken.bool().tolist() == expected


def test_what_is_known_before_any_key_is_made():
    ends = (torch.tensor([0, 1, 2, 1, 2, 0, 3, 4]), torch.tensor([0, 0, 0, 1, 1, 2, 3, 3]))
    graph = from_tensors(ends, num_nodes=5)
    owned = group(graph, LocalRandom(k=1, self_loops="free"), loops_may_stay=True)
    assert owned.loops.tolist() == [1, 1, 0, 1, 0]
    choice, _ = Choice.of(owned, 1, None, 0, ranked=False)
    assert choice.exists and choice.kept == 4 and choice.steps() == 1  # owners 0..3 keep one edge to another node
    assert not choice.loops_alone
    assert not Choice.of(owned, 2, None, 0, ranked=False)[0].exists
    assert Choice.of(owned, 2, None, 0, ranked=False)[0].steps() == 0
    by_owner = Choice.of(owned, torch.tensor([1, 1, 1, 1, 0]), None, 0, ranked=False)[0]
    assert by_owner.kept == 4
    lonely = from_tensors((torch.tensor([0, 1]), torch.tensor([0, 2])), num_nodes=3)
    alone = group(lonely, LocalRandom(k=1), loops_may_stay=True)
    assert Choice.of(alone, 1, None, 0, ranked=False)[0].loops_alone
