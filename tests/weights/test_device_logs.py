"""Logarithms of edge weights on a device: to the bit those of the host."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import HOST, any_graph, both, key_tables, numpy_of, torch, views

from graphs import random_graph
from lsprune import LSP, Graph
from lsprune.device.graph import upload
from lsprune.hashing.base import EdgeKeys, NodeKeys
from lsprune.weights import weight
from lsprune.weights.base import PerEdge, add_offsets, log2_of_floats
from lsprune.weights.device_logs import log2_of_floats as on_device

PRODUCTS = ["jaccard:0.5*degree:0.5", "similarity*edge:1*neighbour:2", "degree*neighbour:0"]


def test_logarithms_of_floats_are_those_of_the_host():
    rng = np.random.default_rng(0)
    values = np.concatenate([2.0 ** rng.uniform(-140, 120, 2000), [1, 2, 3, 0.5, 2.0**-149]]).astype(np.float32)
    np.testing.assert_array_equal(numpy_of(on_device(torch.from_numpy(values))), log2_of_floats(values, HOST))
    whole = np.arange(1, 500)
    expected = log2_of_floats(whole.astype(np.float32), HOST)
    np.testing.assert_array_equal(numpy_of(on_device(torch.from_numpy(whole))), expected)
    assert on_device(torch.empty(0)).shape == (0,)


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf, 1e300, 1e-300])
def test_numbers_that_are_no_weights_are_refused_as_on_the_host(wrong):
    assert on_device(torch.tensor([1.0, wrong], dtype=torch.float64)) is None
    graph = random_graph(0, nodes=5, edges=40)
    column = np.ones(40)
    column[7] = wrong
    weighted = Graph.from_edges(graph.ends(), num_nodes=5, edge_attr=column)
    host, device = both(LSP(k=2, hash="identity", weights="edge"), weighted)
    assert device == host and device.endswith("must be > 0 and finite in float32")


@pytest.mark.parametrize(
    "name", ["degree", "jaccard", "similarity", "edge:1", "neighbour:2", "similarity:power=0.3", *PRODUCTS]
)
@pytest.mark.parametrize("side", ["in", "out"])
def test_offsets_are_those_of_the_host(name, side):
    for seed in range(4):
        graph = random_graph(seed, nodes=30, edges=400, dim=200 if seed == 3 else 5, edge_dim=3)
        graph = Graph.from_edges(graph.ends(), num_nodes=30, x=np.abs(graph.x) + 1, edge_attr=np.abs(graph.edge_attr))
        pruner = LSP(k=3, hash="signs", weights=name, side=side, attributes=("neighbour",))
        here, there = views(pruner, graph)
        scales = dict(pruner.fit_graph(graph, HOST).scales)
        chosen = weight(name)
        slots = int(here.owned.neighbour.shape[0])
        expected = chosen.key_offsets(graph, here, side, 1 << 18, scales).of(here.owned, 0, slots)
        found = chosen.key_offsets(upload(graph, "cpu"), there, side, 1 << 18, scales).of(there.owned, 0, slots)
        np.testing.assert_array_equal(numpy_of(found), expected)
        assert len(np.unique(expected)) > 5


def test_weights_choose_the_edges_of_the_host():
    for seed in range(6):
        graph = any_graph(np.random.default_rng(seed), edges=(300,))
        for name in ("degree", "jaccard", "similarity", "jaccard:0.5*degree:0.5*similarity"):
            for options in ({"k": 3, "hash": "identity"}, {"keep": 0.3, "hash": "signs", "side": "out"}):
                host, device = both(LSP(**options, weights=name), graph)
                assert device == host


@pytest.mark.parametrize("of", ["of_neighbour", "of_edge", "of_slot"])
@pytest.mark.parametrize("attributes", [("neighbour",), ("owner", "edge", "neighbour")])
def test_offsets_are_added_to_keys_of_nodes_and_of_edges(of, attributes):
    graph = random_graph(0, nodes=30, edges=400, edge_dim=2)
    here, there = views(LSP(k=3, hash="signs", weights="degree", attributes=attributes, self_loops="edge"), graph, 3)
    numbers = np.random.default_rng(0).integers(-(2**40), 2**40, 30 if of == "of_neighbour" else 400)
    family = LSP(k=3, hash="signs").family
    expected = add_offsets(family.keys(here, 0, 3), here, PerEdge(**{of: numbers}), 3)
    found = add_offsets(family.keys(there, 0, 3), there, PerEdge(**{of: torch.from_numpy(numbers)}), 3)
    table = attributes == ("neighbour",) and of == "of_neighbour"
    assert isinstance(found, NodeKeys if table else EdgeKeys)
    np.testing.assert_array_equal(key_tables(there, found, 3), key_tables(here, expected, 3))
