"""LSP-T: keys are digests of the bits "entry > threshold"."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import keys_of, random_graph, view_of
from lsprune import LSP, Graph, OptionError, Threshold


def codes(graph: Graph, family: Threshold, function: int) -> list[int]:
    """Which edges have the same bits, by the definition: the first edge with the same."""
    view = view_of(LSP(k=5, hash=family, attributes=("neighbour",), self_loops="edge"), graph)
    bits = family._bits(view, range(function, function + 1))
    rows, scale = view.parts["neighbour"].rows.values, view.scales["neighbour"]
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    centred = np.rint(unit * 2.0**scale.exponent - np.array(scale.centre) / 256)
    marks = centred[:, bits.coordinate[0]] > bits.threshold[0]
    first = {row: i for i, row in reversed([*enumerate(map(tuple, marks.tolist()))])}
    return [first[tuple(marks[node].tolist())] for node in range(rows.shape[0])]


@pytest.mark.parametrize("sparsity", [2, 3, None])
def test_keys_are_equal_where_the_bits_are(sparsity):
    rng = np.random.default_rng(0)
    x = np.sign(rng.standard_normal((60, 4))).astype(np.float32) * rng.uniform(1, 1.2, (60, 1)).astype(np.float32)
    graph = Graph.from_edges(np.stack([np.arange(60), np.full(60, 59)]), x=x)
    family = Threshold(sparsity=sparsity)
    keys = keys_of(LSP(k=5, hash=family, attributes=("neighbour",), self_loops="edge"), graph)
    for z in range(5):
        _, first, group = np.unique(keys[:, z], return_index=True, return_inverse=True)
        assert first[group].tolist() == codes(graph, family, z + 1)
    assert 1 < np.unique(keys[:, 0]).size < 60


def test_digests_are_below_m_and_few_bins_make_ties():
    graph = random_graph(0, nodes=40, edges=400)
    few = keys_of(LSP(k=5, hash=Threshold(m=7), self_loops="edge"), graph)
    assert few.min() >= 0 and few.max() < 7
    many = keys_of(LSP(k=5, hash=Threshold(), self_loops="edge"), graph)
    assert np.unique(many).size > np.unique(few).size


def test_a_function_looks_at_as_many_entries_as_asked_for_each_once():
    view = view_of(LSP(k=1, hash=Threshold()), random_graph(0, dim=7, edge_dim=3))
    for sparsity, size in ((4, 4), (None, 10), (99, 10)):
        bits = Threshold(sparsity=sparsity)._bits(view, range(1, 4))
        assert bits.coordinate.shape == (3, size)
        for roles, coordinates in zip(bits.role, bits.coordinate, strict=True):
            assert len({*zip(roles.tolist(), coordinates.tolist(), strict=True)}) == size


def test_thresholds_lie_about_their_mean():
    view = view_of(LSP(k=1, hash=Threshold()), random_graph(0, dim=6))
    spread = np.array(view.scales["neighbour"].spread) / 32  # in quanta
    for mean in (0.0, 2.0):
        bits = Threshold(sparsity=None, mean=mean)._bits(view, range(1, 600))
        np.testing.assert_allclose(bits.threshold.mean(0), mean * spread, atol=0.2 * spread.max())


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Threshold(m=0), r"m must be a whole number in \[1, 2\^63\), got 0"),
        (lambda: Threshold(sparsity=True), "sparsity must be a whole number"),
        (lambda: Threshold(mean=float("inf")), r"mean must be a number in \(-2\^20, 2\^20\), got inf"),
    ],
)
def test_bad_options_are_named(build, says):
    with pytest.raises(OptionError, match=says):
        build()
