"""What is read of a graph on a device to compare sampled edges: the arrays of the host."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import HOST, device_run, torch, upload

from graphs import random_graph
from lsprune import LSP, Graph
from lsprune.selection.owners import group
from lsprune.weights import surroundings
from lsprune.weights.surroundings import count_surrounding_edges, ends_of, noisy_cosines


def grouped(graph: Graph, side: str):
    there = upload(graph, "cpu")
    rules = LSP(k=1, side=side)
    return there, group(graph, rules, HOST), group(there, rules, device_run())


def graphs() -> list[Graph]:
    """Vectors, very wide ones, one column, and a category; some nodes have many parallel edges."""
    made = [random_graph(seed, nodes=30, edges=900, dim=dim) for seed, dim in enumerate((5, 200, 1))]
    return [*made, Graph.from_edges(made[0].ends(), num_nodes=30, x=np.arange(30) % 4)]


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("graph", graphs(), ids=lambda graph: f"{graph.x.dtype}{graph.x.shape}")
def test_cosines_with_and_without_noise_are_those_of_the_host(graph, side, monkeypatch):
    monkeypatch.setattr(surroundings, "MAX_NEIGHBOURS", 25)
    there, here, owned = grouped(graph, side)
    slots = np.arange(0, here.neighbour.shape[0], 11)
    moved = torch.from_numpy(slots)
    for expected, found in zip(ends_of(here, slots), ends_of(owned, moved), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert count_surrounding_edges(owned, moved) == count_surrounding_edges(here, slots)
    expected = noisy_cosines(graph, here, side, slots, 4, HOST)
    found = noisy_cosines(there, owned, side, moved, 4, device_run())
    for noise in (0.0, 0.3, 2.0):
        np.testing.assert_array_equal(found(noise), expected(noise))


def test_a_sample_of_the_neighbours_is_that_of_the_host(monkeypatch):
    graph = random_graph(3, nodes=12, edges=400)
    _, here, owned = grouped(graph, "in")
    nodes = np.array([0, 3, 4, 11])
    for most in (1, 20, 33, 1000):
        monkeypatch.setattr(surroundings, "MAX_NEIGHBOURS", most)
        expected, found = (surroundings._subgraph_around(some, nodes, 5) for some in (here, owned))
        np.testing.assert_array_equal(found[1], expected[1])
        np.testing.assert_array_equal(found[0].indptr, expected[0].indptr)
        for lo, hi in zip(expected[0].indptr[:-1], expected[0].indptr[1:], strict=True):
            np.testing.assert_array_equal(np.sort(found[0].neighbour[lo:hi]), np.sort(expected[0].neighbour[lo:hi]))
