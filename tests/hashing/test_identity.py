"""Min-hash of identities: owners that share neighbours keep the same ones."""

from __future__ import annotations

import numpy as np

from graphs import keys_of
from lsprune import LSP, Graph, Identity
from lsprune.numeric.random_numbers import IDENTITY, draw


def test_identity_keeps_the_same_neighbours_everywhere():
    rng = np.random.default_rng(0)
    shared = rng.choice(50, 20, replace=False)
    edges = np.stack([np.tile(shared, 4), np.repeat(np.arange(50, 54), 20)])
    mask = LSP(k=5, hash=Identity()).mask(edges).reshape(4, 20)
    assert (mask == mask[0]).all()
    assert mask[0].sum() == 5


def test_keys_are_draws_of_the_neighbour_and_the_function():
    ends = np.random.default_rng(0).integers(0, 30, (2, 100))
    keys = keys_of(LSP(k=20, hash=Identity(), self_loops="edge", seed=4), Graph.from_edges(ends), 20)
    expected = draw(4, IDENTITY, np.arange(1, 21)[None, :], ends[0][:, None]) >> np.uint64(34)
    np.testing.assert_array_equal(keys, expected)


def test_in_a_batch_neighbours_are_numbered_from_the_start_of_their_graph():
    ends = np.random.default_rng(1).integers(0, 12, (2, 60))
    twice = Graph.from_edges(np.concatenate([ends, ends + 12], axis=1), num_nodes=24, ptr=np.array([0, 12, 24]))
    mask = LSP(k=2, hash="identity").mask(twice)
    np.testing.assert_array_equal(mask[:60], mask[60:])
    np.testing.assert_array_equal(mask[:60], LSP(k=2, hash="identity").mask(ends))


def test_nothing_is_left_to_fit():
    assert LSP(k=2, hash="identity").is_fitted
    assert not LSP(k=2).is_fitted
