"""Weighted min-hash: an edge comes first with a probability in proportion to its weight, alike everywhere."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from lsprune import LSP, Graph, GraphError, OptionError
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


def test_edge_weights_are_weights():
    owners = 4000
    ends = np.stack([np.arange(2 * owners) + owners, np.tile(np.arange(owners), 2)])
    weight = np.repeat(np.array([3.0, 1.0], np.float32), owners)
    graph = Graph.from_edges(ends, num_nodes=3 * owners, edge_attr=weight)
    mask = LSP(k=1, hash="identity", weights="edge").mask(graph)
    assert mask[:owners].mean() == pytest.approx(3 / 4, abs=0.03)
    scaled = Graph.from_edges(ends, num_nodes=3 * owners, edge_attr=weight * 2**20)
    np.testing.assert_array_equal(LSP(k=1, hash="identity", weights="edge").mask(scaled), mask)  # only ratios count


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("sparse", [False, True])
def test_any_column_of_edges_or_neighbours_can_be_a_weight(side, sparse):
    owners = 4000
    other, own = np.arange(2 * owners) + owners, np.tile(np.arange(owners), 2)
    ends = np.stack([other, own] if side == "in" else [own, other])
    weight = np.repeat(np.array([3.0, 1.0], np.float32), owners)
    table = np.stack([np.ones(2 * owners), weight], axis=1).astype(np.float32)
    x = np.concatenate([np.ones((owners, 2), np.float32), table])
    of_edge = Graph.from_edges(ends, num_nodes=3 * owners, edge_attr=table)
    of_node = Graph.from_edges(ends, num_nodes=3 * owners, x=scipy.sparse.csr_array(x) if sparse else x)
    for graph, weights in ((of_edge, "edge:1"), (of_node, "neighbour:1")):
        mask = LSP(k=1, hash="identity", weights=weights, side=side).mask(graph)
        assert mask[:owners].mean() == pytest.approx(3 / 4, abs=0.03)
        same = LSP(k=1, hash="identity", weights=weights[:-1] + "0", side=side).mask(graph)
        assert same[:owners].mean() == pytest.approx(1 / 2, abs=0.03)


def test_similarity_is_a_weight_that_needs_no_column():
    rng = np.random.default_rng(1)
    upper = np.unique(np.sort(rng.integers(0, 300, (2, 3000)), axis=0), axis=1)
    upper = upper[:, upper[0] < upper[1]]
    ends = np.concatenate([upper, upper[::-1]], axis=1)
    near = [set(ends[0][ends[1] == node].tolist()) | {node} for node in range(300)]
    jaccard = [len(near[u] & near[v]) / len(near[u] | near[v]) for u, v in ends.T]
    plain = Graph.from_edges(ends, num_nodes=300)
    weighted = Graph.from_edges(ends, num_nodes=300, edge_attr=np.array(jaccard, np.float32))
    for power in (1.0, 3.0):
        masks = [
            LSP(k=3, hash="identity", weights=weights, power=power).mask(graph)
            for graph, weights in ((plain, "jaccard"), (weighted, "edge"))
        ]
        assert (masks[0] != masks[1]).mean() < 0.002  # a float32 has fewer digits than the ratio of two numbers
    assert (masks[0] != LSP(k=3, hash="identity").mask(plain)).mean() > 0.1


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


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"weights": "age"}, OptionError, 'weights must be "degree", "jaccard", "similarity", "auto", "edge", '),
        ({"weights": "edge:-1"}, OptionError, "weights must be .*, got 'edge:-1'"),
        ({"weights": "owner:1"}, OptionError, "weights must be .*, got 'owner:1'"),
        ({"weights": 3}, OptionError, "weights must be .*, got 3"),
        ({"weights": "neighbour:9"}, GraphError, 'weights="neighbour:9" needs x with more than 9 columns, got 9'),
        ({"weights": "neighbour:2"}, GraphError, 'weights="neighbour:2" needs x > 0 and finite'),
        ({"weights": "jaccard", "values": "raw"}, OptionError, "weights must be None with Projection"),
        ({"weights": "edge:0"}, GraphError, 'weights="edge:0" needs edge_attr with more than 0 columns, got none'),
        ({"weights": "degree", "power": -1}, OptionError, r"power must be a number in \[0, 64\], got -1"),
        ({"weights": "edge"}, GraphError, 'weights="edge" needs edge_attr with one column, got none'),
        ({"weights": "degree", "values": "raw"}, OptionError, "weights must be None with Projection"),
    ],
)
def test_bad_options_are_named(options, error, says):
    graph = Graph.from_edges(np.random.default_rng(0).integers(0, 9, (2, 40)), x=np.eye(9, dtype=np.float32))
    with pytest.raises(error, match=says):
        LSP(k=1, **options).mask(graph)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_weights_must_be_positive_and_finite(bad):
    ends = np.random.default_rng(0).integers(0, 9, (2, 40))
    weight = np.ones(40, np.float32)
    weight[7] = bad
    with pytest.raises(GraphError, match="finite"):
        LSP(k=1, hash="identity", weights="edge").mask(Graph.from_edges(ends, edge_attr=weight))


def test_weights_of_wider_arrays_belong_to_their_edges():
    ends = np.stack([np.arange(40) + 1, np.zeros(40, int)])
    attr = np.ones((40, 2, 3), np.float32)
    attr[7, 1, 2] = 1e6
    for seed in range(20):
        mask = LSP(k=1, hash="identity", weights="edge:5", seed=seed).mask(Graph.from_edges(ends, edge_attr=attr))
        assert np.flatnonzero(mask).tolist() == [7]
    x = scipy.sparse.coo_array(np.concatenate([np.ones((1, 2)), np.full((40, 2), 2.0)]).astype(np.float32))
    graph = Graph.from_edges(ends, num_nodes=41, x=x)
    assert LSP(k=1, hash="identity", weights="neighbour:0").mask(graph).sum() == 1
