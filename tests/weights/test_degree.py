"""Low degrees are preferred, in proportion to 1 / degree^power."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import view_of
from lsprune import LSP, Graph
from lsprune.hashing import Identity
from lsprune.numeric.weighted_sampling import FRACTION_BITS
from lsprune.weights import Degree


def two_neighbours(owners: int, extra: int) -> Graph:
    """Every owner has two neighbours of its own; the second has `extra` more edges elsewhere."""
    first, second = np.arange(owners) + owners, np.arange(owners) + 2 * owners
    sink = np.arange(3 * owners, 3 * owners + extra)
    source = np.concatenate([first, second, np.repeat(second, extra)])
    target = np.concatenate([np.arange(owners), np.arange(owners), np.tile(sink, owners)])
    return Graph.from_edges(np.stack([source, target]), num_nodes=3 * owners + extra)


@pytest.mark.parametrize(("power", "share"), [(1.0, 4 / 5), (2.0, 16 / 17), (0.0, 1 / 2), (0.5, 2 / 3)])
def test_the_chance_of_an_edge_is_in_proportion_to_its_weight(power, share):
    owners = 4000
    graph = two_neighbours(owners, 3)  # degrees 1 and 4
    mask = LSP(k=1, hash="identity", weights=Degree(power=power)).mask(graph)
    assert mask[:owners].mean() == pytest.approx(share, abs=0.03)
    assert (mask[:owners] ^ mask[owners : 2 * owners]).all()


def test_shared_neighbours_are_still_kept_alike():
    """Every owner has the same thirty neighbours: with weights as without, all keep the same three."""
    source, target = np.tile(np.arange(30), 40), np.repeat(np.arange(30, 70), 30)
    graph = Graph.from_edges(np.stack([source, target]), num_nodes=70)
    mask = LSP(k=3, hash="identity", weights="degree", select="bottom").mask(graph)
    assert len(set(source[mask].tolist())) == 3


def test_a_projection_prefers_low_degrees_the_more_the_higher_the_power():
    rng = np.random.default_rng(0)
    weight = 1 / (np.arange(400) + 1.0)
    source = rng.choice(400, 6000, p=weight / weight.sum())
    graph = Graph.from_edges(
        np.stack([source, rng.integers(0, 400, 6000)]), x=rng.standard_normal((400, 8)).astype(np.float32)
    )
    degree = np.bincount(source, minlength=400)
    means = []
    for power in (0.0, 0.5, 64.0):
        mask = LSP(keep=0.3, weights=Degree(power=power), self_loops="edge").mask(graph)
        means.append(np.log2(degree[source[mask]]).mean())
    assert means[0] > means[1] + 0.1 > means[2]
    np.testing.assert_array_equal(
        LSP(keep=0.3, weights=Degree(power=0.0)).mask(graph), LSP(keep=0.3).mask(graph)
    )  # power 0 weighs nothing


@pytest.mark.parametrize("side", ["in", "out"])
def test_logs_are_those_of_the_degree_on_the_neighbours_side(side):
    ends = np.random.default_rng(0).integers(0, 30, (2, 400))
    graph = Graph.from_edges(ends, num_nodes=31)
    pruner = LSP(k=1, hash=Identity(), side=side, self_loops="edge", weights=Degree())
    logs = Degree().logs(graph, view_of(pruner, graph), side, {})
    counts = np.bincount(ends[0 if side == "in" else 1], minlength=31)
    np.testing.assert_allclose(logs.of_neighbour / 2**FRACTION_BITS, np.log2(np.maximum(counts, 1)), atol=1e-8)
    assert Degree().needs.degree and Degree().needs.scope == "edge"
