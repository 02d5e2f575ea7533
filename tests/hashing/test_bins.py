"""Bins of several lengths: coarse first, finer within."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import keys_of
from lsprune import LSP, Graph, OptionError
from lsprune.hashing import Bins
from lsprune.numeric.random_numbers import OFFSET, WORD, draw


def test_keys_are_hashes_of_coarse_then_finer_bins():
    """One column: the projection is the value times one weight, so that bins can be told by hand."""
    value = np.linspace(-1, 1, 200, dtype=np.float32)
    graph = Graph.from_edges(np.stack([np.arange(200), np.full(200, 199)]), x=value[:, None])
    keys = keys_of(LSP(k=1, hash=Bins(length=0.5, levels=2), self_loops="edge"), graph, 1)[:, 0]
    coarse, fine = keys >> 30, keys & ((1 << 30) - 1)
    changes = np.flatnonzero(np.diff(coarse))
    assert 4 <= changes.size <= 9  # the values span 3.5 standard deviations: seven bins of one half
    assert all(np.diff(fine)[i] != 0 for i in changes)
    assert 1.4 <= np.flatnonzero(np.diff(fine)).size / changes.size <= 2.6  # finer bins are half as long
    assert np.unique(coarse).size == changes.size + 1  # no bin comes twice: bins are intervals


def test_bin_offsets_and_hashes_depend_on_the_function():
    assert draw(0, OFFSET, 1) != draw(0, OFFSET, 2)
    assert draw(0, WORD, 0, 1, 5) != draw(0, WORD, 1, 1, 5)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"length": 0}, "length must be a number > 0, got 0"),
        ({"length": "a"}, "length must be a number > 0, got 'a'"),
        ({"levels": 7}, r"levels must be a whole number in \[1, 6\], got 7"),
    ],
)
def test_bad_options_are_named(options, says):
    with pytest.raises(OptionError, match=says):
        Bins(**options)


def test_weights_do_not_go_with_bins():
    graph = Graph.from_edges(np.random.default_rng(0).integers(0, 9, (2, 40)), x=np.eye(9, dtype=np.float32))
    with pytest.raises(OptionError, match="weights must be None with Bins"):
        LSP(k=1, hash="bins", weights="degree").mask(graph)
