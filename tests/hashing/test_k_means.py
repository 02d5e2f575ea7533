"""Words are rounded means of the rows that are nearest to them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from lsprune.hashing import k_means as module
from lsprune.hashing.k_means import assign, cluster_means, k_means, nearest
from lsprune.kernels import runtime

NEAREST = partial(nearest, runtime=runtime(1))


def test_k_means_are_rounded_means_and_words_without_rows_stay():
    rows = np.array([[0], [1], [10], [13]], np.int16)
    words = np.array([[2], [9], [100]], np.int16)
    assert k_means(rows, words, 1, NEAREST).ravel().tolist() == [1, 12, 100]  # 0.5 and 11.5 go up
    assert words.ravel().tolist() == [2, 9, 100]


def test_it_ends_when_nothing_changes():
    rows, asked = np.array([[0], [4], [50]], np.int16), []
    words = k_means(rows, rows[:2], 100, lambda *args: asked.append(1) or NEAREST(*args))
    assert words.ravel().tolist() == [2, 50] and len(asked) == 3


def test_means_of_labels_that_anyone_gave():
    rows = np.array([[-3, 0], [0, 9], [-4, 1]], np.int16)
    words, sizes = cluster_means(rows, np.zeros((3, 2), np.int16), np.array([1, 2, 1]))
    assert words.tolist() == [[0, 0], [-3, 1], [0, 9]] and sizes.tolist() == [0, 2, 1]  # -3.5 and 0.5 go up


@pytest.mark.parametrize("threads", [1, 3])
def test_every_row_is_searched_once(threads):
    seen = np.zeros(5000, int)

    def search(rows: np.ndarray, out: np.ndarray) -> None:
        seen[rows[:, 0]] += 1
        out[:] = rows[:, 0] * 2

    rows = np.arange(5000, dtype=np.int16)[:, None]
    np.testing.assert_array_equal(assign(rows, search, runtime(threads)), 2 * np.arange(5000))
    assert seen.min() == seen.max() == 1


@pytest.mark.parametrize("limit", [0, 1 << 24], ids=["int64", "int32"])
def test_means_are_rounded_sums_of_the_rows(limit, monkeypatch):
    monkeypatch.setattr(module, "MAX_INT32_ROWS", limit)
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(-128, 128, (500, 3)).astype(np.int16), rng.integers(0, 40, 500).astype(np.int32)
    labels[labels == 7] = 8
    before = rng.integers(-128, 128, (40, 3)).astype(np.int16)
    words, sizes = cluster_means(rows, before, labels)
    assert words.dtype == np.int16 and sizes.tolist() == np.bincount(labels, minlength=40).tolist()
    for label in range(40):
        own = rows[labels == label].astype(int)
        expected = np.floor(own.sum(0) / len(own) + 0.5) if len(own) else before[label]
        np.testing.assert_array_equal(words[label], expected)
