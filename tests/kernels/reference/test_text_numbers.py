"""Numbers of texts by the definition: in the order of first appearance, a row's first column before its second."""

from __future__ import annotations

import numpy as np

from lsprune.kernels.reference.text_numbers import hash_texts, number_texts


def column(texts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """(offsets, bytes) of texts."""
    return np.cumsum([0, *(len(text) for text in texts)]), np.frombuffer(b"".join(texts), np.uint8)


def test_rows_are_numbered_one_after_the_other():
    starts, store, slots = np.zeros(9, np.int64), np.zeros(99, np.uint8), np.zeros(4, np.uint64)
    first, second = [b"b", b"a", b"b"], [b"a", b"cc", b""]
    out = np.empty(3, np.int64), np.empty(3, np.int64)
    count = number_texts((column(first), column(second)), slots, starts, store, 0, out, True)
    assert count == 4 and [numbers.tolist() for numbers in out] == [[0, 1, 0], [1, 2, 3]]
    assert store[: starts[4]].tobytes() == b"bacc" and starts[:5].tolist() == [0, 1, 2, 4, 4]
    found = np.empty(2, np.int64)
    assert number_texts((column([b"cc", b"c"]),), slots, starts, store, 4, (found,), False) == 4
    assert found.tolist() == [2, -1]
    hash_texts(starts, store, 4, slots)
    assert not slots.any()  # the definition needs no table
