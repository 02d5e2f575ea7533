"""Budgets on a device: `keep` is met to the edge in each graph, by the same owners as on the host."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import HOST, any_graph, device_run, numpy_of, torch

from graphs import random_graph
from lsprune import LSP, Graph, LocalRandom, PerNode, Random
from lsprune.device.budget import quotas, target_count
from lsprune.device.graph import upload
from lsprune.device.owners import group
from lsprune.kernels.gpu.owner_budget import LARGE_DEGREE
from lsprune.selection import budget as host_budget
from lsprune.selection import owners as host_owners

KEEPS = (0.01, 0.2, 0.5, 0.9, 1.0)


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("pooled", [False, True])
def test_quotas_are_those_of_the_host(keep, pooled):
    for seed in range(12):
        graph = any_graph(np.random.default_rng(seed))
        rules = LocalRandom(keep=keep, pooled=pooled, seed=seed, side="in" if seed % 2 else "out")
        here, there = host_owners.group(graph, rules, HOST), group(upload(graph, "cpu"), rules)
        expected = host_budget.quotas(here.indptr, graph, rules, HOST)
        np.testing.assert_array_equal(numpy_of(quotas(there.indptr, upload(graph, "cpu"), rules)[0]), expected)


@pytest.mark.parametrize("keep", [0.2, 0.6, 0.95])
def test_levels_beyond_the_degrees_that_are_counted_one_by_one(keep):
    degrees = np.array([3 * LARGE_DEGREE, 2 * LARGE_DEGREE, LARGE_DEGREE, 40, 0])
    owner = np.repeat(np.arange(5), degrees)
    graph = Graph.from_edges(np.stack([np.arange(owner.size) % 5, owner]), num_nodes=5)
    rules = LocalRandom(keep=keep, self_loops="edge")
    quota = numpy_of(quotas(group(upload(graph, "cpu"), rules).indptr, upload(graph, "cpu"), rules)[0])
    assert np.minimum(quota, degrees).sum() == np.floor(keep * degrees.sum() + 0.5)
    np.testing.assert_array_equal(quota, host_budget.quotas(np.append(0, degrees.cumsum()), graph, rules, HOST))


@pytest.mark.parametrize("keep", [0.013, 0.3, 0.5, 0.77])
@pytest.mark.parametrize("pruner", [LSP, LocalRandom])
def test_keep_is_met_to_the_edge_in_each_graph(pruner, keep):
    parts = [random_graph(seed, nodes=5 * seed + 1, edges=37 * seed) for seed in range(6)]  # one without edges
    graph = Graph.concat(parts)
    for self_loops in ("edge", "drop"):
        mask = pruner(keep=keep, self_loops=self_loops).mask_graph(upload(graph, "cpu"), device_run()).mask
        cut = np.cumsum([part.num_edges for part in parts])[:-1]
        for part, kept in zip(parts, np.split(numpy_of(mask), cut), strict=True):
            source, target = part.ends()
            counted = part.num_edges if self_loops == "edge" else int((source != target).sum())
            assert kept.sum() == np.floor(keep * counted + 0.5)


def test_graphs_that_are_pooled_share_one_budget():
    graph = Graph.concat([random_graph(seed, nodes=20, edges=101) for seed in range(3)])
    mask = LocalRandom(keep=0.31, pooled=True, self_loops="edge").mask_graph(upload(graph, "cpu"), device_run()).mask
    assert int(mask.sum()) == np.floor(0.31 * 303 + 0.5)


@pytest.mark.parametrize("symmetric", [None, "union", "intersection"])
def test_budgets_of_single_nodes_are_those_of_the_host(symmetric):
    graph = random_graph(3, nodes=30, edges=400)
    for budget in (PerNode(share=0.3), PerNode(exponent=0.5, at_least=2), PerNode(counts=np.arange(30) % 5)):
        for make in (LSP, LocalRandom, Random):
            pruner = make(budget=budget, symmetric=symmetric)
            mask = pruner.mask_graph(upload(graph, "cpu"), device_run()).mask
            np.testing.assert_array_equal(numpy_of(mask), pruner.mask(graph))


def test_k_is_the_quota_of_everybody():
    graph = upload(random_graph(0), "cpu")
    assert quotas(group(graph, LocalRandom(k=3)).indptr, graph, LocalRandom(k=3)) == (3, 3)


def test_targets_round_half_up_as_on_the_host():
    edges = np.arange(200)
    for keep in (0.5, 0.25, 0.1, 1 / 3, 1.0):
        expected = host_budget.target_count(keep, edges)
        np.testing.assert_array_equal(numpy_of(target_count(keep, torch.from_numpy(edges))), expected)
