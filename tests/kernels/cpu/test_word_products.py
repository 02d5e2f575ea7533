"""Scores are exact whatever instructions the machine has, also for the largest bytes."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from numba.extending import intrinsic

from lsprune.kernels.cpu import word_products as products

EXTREMES = np.array([-128, -127, -1, 0, 1, 127], np.int16)


def scores(words: np.ndarray, rows: np.ndarray) -> np.ndarray:
    wide = words.astype(np.int64)
    return 2 * rows.astype(np.int64) @ wide.T - (wide**2).sum(1)


@pytest.mark.parametrize("features", [{"avx512vnni"}, {"avx512bw"}, {"avx2"}, set()], ids=str)
@pytest.mark.parametrize("dim", [1, 7, 128])
def test_every_machine_computes_the_same_scores(features, dim, monkeypatch):
    own = products._features()
    if not features <= own:
        pytest.skip(f"this machine has no {', '.join(features)}")
    monkeypatch.setattr(products, "_features", lambda: features)
    # a fresh compilation, as on that machine
    one_row, eight_rows = (intrinsic(f._defn) for f in (products.word_scores, products.best_words))

    @njit
    def compute(rows, stored, bias, every, best):
        eight_rows(rows, 0, stored.shape[1], stored, bias, stored.shape[0], best)
        for row in range(rows.shape[0]):
            one_row(rows, row, stored.shape[1], stored, bias, 1, stored.shape[0] - 1, every[row])

    rng = np.random.default_rng(dim)
    words, rows = rng.choice(EXTREMES, (40, dim)), rng.choice(EXTREMES, (8, dim))
    words[20], words[21], rows[0], rows[1] = -128, 127, -128, 127
    every, best = np.zeros((8, 32), np.int32), np.zeros((8, 2, 16), np.int32)
    compute(products.packed_rows(rows), *products.packed(words), every, best)
    expected = scores(words, rows)
    np.testing.assert_array_equal(every[:, :24], expected[:, 16:])  # the last two of three blocks
    assert every[:, 24:].max() < expected.min()  # places without a word
    np.testing.assert_array_equal(best[:, 0].max(1), expected.max(1))
    found = np.take_along_axis(expected, best[:, 1] * 16 + np.arange(16), 1)[:, :8]  # the lanes that hold three words
    np.testing.assert_array_equal(found, best[:, 0, :8])


def test_words_lie_where_they_are_placed():
    words = np.arange(-5, 5, dtype=np.int16).reshape(5, 2)
    places = np.array([0, 17, 3, 40, 16])
    stored, bias = products.packed(words, places, 3)
    assert stored.shape == (3, 1, 16)
    assert stored.ctypes.data % 64 == bias.ctypes.data % 64 == 0
    coordinates = np.ascontiguousarray(stored).view(np.int8).reshape(48, 4)
    np.testing.assert_array_equal(coordinates[places, :2], words)
    assert (bias.ravel() == products.PADDING_BIAS).sum() == 43
