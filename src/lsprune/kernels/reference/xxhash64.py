"""XXH64, the checksum of zstd frames: its loop over stripes of four words."""

from __future__ import annotations

from lsprune.graph import Array
from lsprune.numeric.xxhash64 import take_word


def xxhash64_stripes(words: Array, lanes: Array) -> None:
    """Take words `[4 n]` uint64 into the four lanes `[4]` uint64, in place."""
    for at, word in enumerate(words.tolist()):
        lanes[at % 4] = take_word(int(lanes[at % 4]), word)
