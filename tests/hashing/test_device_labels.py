"""Weisfeiler-Lehman labels of tensors on a device: those of the host, whatever the blocks."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import any_graph, numpy_of, views

from lsprune import LSP
from lsprune.hashing import device_labels
from lsprune.hashing.structure import labels_of


@pytest.mark.parametrize("rounds", [0, 1, 3])
@pytest.mark.parametrize("side", ["in", "out"])
def test_labels_are_those_of_the_host(rounds, side, monkeypatch):
    for seed in range(6):
        graph = any_graph(np.random.default_rng(seed), edges=(1, 300))
        here, there = views(LSP(k=1, hash="structure", side=side), graph)
        expected = labels_of(here, rounds)
        assert expected.dtype == np.uint64
        for slots in (1 << 26, 20):
            monkeypatch.setattr(device_labels, "CHUNK_SLOTS", slots)
            np.testing.assert_array_equal(numpy_of(labels_of(there, rounds)).view(np.uint64), expected)
