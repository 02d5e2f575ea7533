"""Numbers of texts in the order in which they first appear; the texts are kept side by side in one array."""

from __future__ import annotations

from lsprune.graph import Array


def number_texts(
    columns: tuple[tuple[Array, Array], ...], slots: Array, starts: Array, store: Array, count: int,
    out: tuple[Array, ...], add: bool,
) -> int:  # fmt: skip
    """Fill `out` with the numbers of texts, row by row through the columns; return how many texts have numbers now.

    Args:
        columns: one or two of (offsets `[n + 1]`, bytes): text i is bytes[offsets[i]:offsets[i + 1]].
        slots: a table of hashes for executors that use one; `hash_texts` fills it.
        starts: `[more than count]`: text number i is store[starts[i]:starts[i + 1]]. store: bytes. Both have room left.
        count: how many texts have numbers. add: number new texts; else theirs is -1.
    """
    texts = [store[starts[i] : starts[i + 1]].tobytes() for i in range(count)]
    known = {text: number for number, text in enumerate(texts)}
    for row in range(out[0].shape[0]):
        for (offsets, data), numbers in zip(columns, out, strict=True):
            text = data[offsets[row] : offsets[row + 1]].tobytes()
            if add and text not in known:
                store[starts[count] : starts[count] + len(text)] = list(text)
                starts[count + 1] = starts[count] + len(text)
                known[text] = count
                count += 1
            numbers[row] = known.get(text, -1)
    return count


def hash_texts(starts: Array, store: Array, count: int, slots: Array) -> None:
    """Fill the table of hashes of the first `count` texts; here there is none."""
