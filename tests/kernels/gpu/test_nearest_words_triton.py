"""One Triton kernel finds the words of the definition: on a device, or as Triton's interpreter runs it elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs, torch

from lsprune.kernels import reference
from lsprune.kernels.gpu import nearest_words as kernel


@elsewhere
def test_in_the_interpreter():
    assert run_interpreted(__file__) == 0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device here")
def test_a_device_is_searched_by_it():
    assert kernel.searcher(np.ones((3, 4), np.int16), "cuda").fused is not None


@pytest.fixture
def search(monkeypatch):
    """A function (words, rows) -> the words that the kernel finds."""
    from lsprune.kernels.gpu import nearest_words_triton as fused

    monkeypatch.setattr(kernel, "_fused", lambda where: fused)

    def found(words: np.ndarray, rows: np.ndarray) -> np.ndarray:
        out = np.full(rows.shape[0], -1, np.int32)
        kernel.searcher(words, DEVICE)(rows, out)
        return out

    return found


def defined(words: np.ndarray, rows: np.ndarray) -> np.ndarray:
    out = np.full(rows.shape[0], -1, np.int32)
    reference.searcher(words)(rows, out)
    return out


@runs
@pytest.mark.parametrize("values", [(-1, 0, 1), (-128, -127, 0, 127), range(-127, 128)], ids=["few", "extreme", "all"])
@pytest.mark.parametrize(("count", "dim"), [(1, 1), (7, 5), (257, 33), (700, 128)])
@pytest.mark.parametrize("rows", [1, 127, 129])
def test_words_are_those_of_the_definition(search, count, dim, values, rows):
    rng = np.random.default_rng(count + rows)
    words, points = (rng.choice(np.array(values, np.int16), (n, dim)) for n in (count, rows))
    words[count // 2 :] = words[: count - count // 2]  # every word of the first half comes again
    np.testing.assert_array_equal(search(words, points), defined(words, points))


@runs
@pytest.mark.parametrize("equal", [(0, 1), (3, 127), (127, 128), (100, 255), (255, 256), (7, 700), (512, 767)])
def test_the_first_of_equal_words_wins_within_and_across_blocks(search, equal):
    words = np.full((1024, 3), 100, np.int16)
    words[list(equal)] = 5
    assert set(search(words, np.tile(np.array([[4, 5, 6]], np.int16), (50, 1))).tolist()) == {equal[0]}


@runs
def test_keys_of_the_largest_rows_fit_int32(search):
    low, high = np.full((1, 128), -128, np.int16), np.full((1, 128), 127, np.int16)
    words = np.concatenate([np.tile(high, (255, 1)), low, low, np.tile(high, (300, 1))])
    assert search(words, np.concatenate([low, high])).tolist() == [255, 0]
    assert search(high, low).tolist() == search(low, high).tolist() == [0]  # above a place that is no word


@runs
def test_no_rows_are_no_words(search):
    assert search(np.ones((3, 4), np.int16), np.ones((0, 4), np.int16)).shape == (0,)
