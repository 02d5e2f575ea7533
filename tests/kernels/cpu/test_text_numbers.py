"""Numbers of texts: as the plain dictionary of the reference gives them, whatever the hashes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune.kernels import cpu, reference
from lsprune.kernels.cpu import text_numbers

TEXTS = st.lists(st.text("ab\0é", max_size=4).map(str.encode), max_size=30)


def column(texts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """(offsets, bytes) as Arrow has them, with something before the first text."""
    offsets = np.cumsum([3, *(len(text) for text in texts)])
    return offsets, np.frombuffer(b"xyz" + b"".join(texts), np.uint8)


def numbered(module, batches, slots: int = 256):
    """All numbers and texts after some batches of two columns."""
    table, starts, store = np.zeros(slots, np.uint64), np.zeros(200, np.int64), np.zeros(2000, np.uint8)
    count, found = 0, []
    for first, second in batches:
        rows = min(len(first), len(second))
        out = np.empty(rows, np.int64), np.empty(rows, np.int64)
        columns = column(first[:rows]), column(second[:rows])
        count = module.number_texts(columns, table, starts, store, count, out, True)
        found += [numbers.tolist() for numbers in out]
    texts = [store[starts[i] : starts[i + 1]].tobytes() for i in range(count)]
    return found, texts, (table, starts, store, count)


@given(batches=st.lists(st.tuples(TEXTS, TEXTS), max_size=3))
@settings(max_examples=60, deadline=None)
def test_numbers_are_those_of_the_reference(batches):
    found, texts, _ = numbered(cpu, batches)
    assert (found, texts) == numbered(reference, batches)[:2]
    order = dict.fromkeys(
        text for first, second in batches for pair in zip(first, second, strict=False) for text in pair
    )
    assert texts == list(order)


@given(texts=TEXTS, asked=TEXTS)
@settings(max_examples=40, deadline=None)
def test_texts_are_found_and_others_are_not_added(texts, asked):
    for module in (cpu, reference):
        _, known, state = numbered(module, [(texts, texts)])
        out = np.empty(len(asked), np.int64)
        assert module.number_texts((column(asked),), *state, (out,), False) == len(known)
        assert out.tolist() == [known.index(text) if text in known else -1 for text in asked]


def test_a_larger_table_holds_the_same_texts():
    texts = [f"node {i}".encode() for i in range(60)]
    _, known, (_, starts, store, count) = numbered(cpu, [(texts, texts)])
    larger = np.zeros(1024, np.uint64)
    cpu.hash_texts(starts, store, count, larger)
    out = np.empty(60, np.int64)
    cpu.number_texts((column(texts),), larger, starts, store, count, (out,), False)
    assert out.tolist() == list(range(60)) and len(known) == 60


def test_texts_with_equal_hashes_are_told_apart():
    """All texts in one chain of slots, with one tag: only their bytes differ."""
    table, starts, store = np.zeros(8, np.uint64), np.array([0, 1, 2, 3]), np.frombuffer(b"abc", np.uint8).copy().copy()
    same = text_numbers._hash(store, 0, 1)
    tag = (np.uint64(same) >> np.uint64(32)) << np.uint64(32)
    at = int(same & np.uint64(7))
    for i, number in enumerate((2, 1, 3)):  # c, b and a stand before where "a" is looked for
        table[(at + i) % 8] = tag | np.uint64(number)
    out = np.empty(1, np.int64)
    cpu.number_texts((column([b"a"]),), table, starts, store, 3, (out,), False)
    assert out[0] == 0


@pytest.mark.parametrize("module", [cpu, reference])
def test_empty_texts_have_a_number(module):
    found, texts, _ = numbered(module, [([b"", b"a"], [b"", b""])])
    assert found == [[0, 1], [0, 0]] and texts == [b"", b"a"]
