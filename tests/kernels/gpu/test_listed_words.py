"""The words that rows find in lists on a device are those of the definition, whatever the blocks and chunks."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from lsprune.kernels import reference  # noqa: E402
from lsprune.kernels.gpu import listed_words as kernel  # noqa: E402


def lists(seed: int, count: int, sizes: list[int], dim: int, high: int) -> tuple[np.ndarray, ...]:
    """Rows, coarse words, words, where lists begin, and radii, of which some are 0 and some are large."""
    rng = np.random.default_rng(seed)
    start = np.append(0, np.cumsum(sizes))
    coarse, words = (rng.integers(-high, high + 1, (n, dim)).astype(np.int16) for n in (len(sizes), start[-1]))
    rows = np.clip(words[rng.integers(0, start[-1], count)] + rng.integers(-1, 2, (count, dim)), -127, 127)
    return rows.astype(np.int16), coarse, words, start, rng.choice([0, 1, 3, 2**40], start[-1])


def defined(arrays: tuple[np.ndarray, ...], max_lists: int) -> np.ndarray:
    rows, *tables = arrays
    out = np.full(rows.shape[0], -1, np.int32)
    reference.list_searcher(*tables, max_lists)(rows, out)
    return out


def found(arrays: tuple[np.ndarray, ...], max_lists: int, device) -> np.ndarray:
    rows, *tables = arrays
    search = kernel.searcher(*tables, max_lists, device)
    nearest = search.nearest(torch.from_numpy(rows.astype(np.int8)).to(device))
    assert nearest.dtype == torch.int32
    return nearest.cpu().numpy()


@pytest.mark.parametrize("high", [1, 30, 127])
@pytest.mark.parametrize("sizes", [[1], [3, 1], [40, 1, 7, 300, 2], [2] * 256], ids=len)
@pytest.mark.parametrize("max_lists", [1, 3, 400])
def test_words_are_those_of_the_definition(device, sizes, high, max_lists):
    for dim in (1, 9, 128):
        arrays = lists(dim, 33, sizes, dim, high)
        np.testing.assert_array_equal(found(arrays, max_lists, device), defined(arrays, max_lists))


def test_keys_and_sums_of_the_largest_rows_are_exact(device):
    low, high = np.full((1, 128), -128, np.int16), np.full((1, 128), 127, np.int16)
    words, start = np.concatenate([high, low, low, high]), np.array([0, 2, 4])
    for rows in (low, high):
        arrays = (rows, np.concatenate([low, high]), words, start, np.zeros(4, np.int64))
        np.testing.assert_array_equal(found(arrays, 2, device), defined(arrays, 2))


def test_chunks_change_nothing(device, monkeypatch):
    arrays = lists(0, 200, [5, 80, 1, 33], 6, 4)
    expected = defined(arrays, 4)
    for rows, values in ((1, 1 << 25), (3, 300), (64, 1 << 12)):
        monkeypatch.setattr(kernel, "BLOCK_ROWS", rows)
        monkeypatch.setattr(kernel, "CHUNK_VALUES", values)
        np.testing.assert_array_equal(found(arrays, 4, device), expected)


def test_no_rows_find_no_word(device):
    arrays = lists(0, 5, [2, 2], 3, 3)
    assert found((arrays[0][:0], *arrays[1:]), 2, device).shape == (0,)


@pytest.mark.parametrize("size", [1, 2, 64])
def test_every_place_is_in_one_block_of_its_list(device, size):
    rng = np.random.default_rng(0)
    for count in (1, 2, 100):
        number = torch.from_numpy(np.sort(rng.choice([0, 2, 3, 6], count))).to(device)
        start = torch.tensor([0, 5, 6, 9, 20, 21, 22, 30], device=device)
        blocks = kernel.Blocks.of(number, start, size)
        places = []
        for first, stop, begin, end in zip(*(values.tolist() for values in vars(blocks).values()), strict=True):
            for place in range(first, min(first + size, stop)):
                places.append(place)
                listed = int(number[place])
                assert (begin, end) == (int(start[listed]), int(start[listed + 1]))
        assert places == list(range(count))
