"""XXH64, the checksum of zstd frames: its loop over stripes of four words."""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.jit import kernel
from lsprune.numeric.xxhash64 import PRIME_1, PRIME_2


@kernel
def xxhash64_stripes(words, lanes):
    """Take words `[4 n]` uint64 into the four lanes `[4]` uint64, in place."""
    first, second, third, fourth = lanes
    for at in range(0, words.shape[0], 4):
        first = _round(first, words[at])
        second = _round(second, words[at + 1])
        third = _round(third, words[at + 2])
        fourth = _round(fourth, words[at + 3])
    lanes[0], lanes[1], lanes[2], lanes[3] = first, second, third, fourth


@kernel
def _round(lane, word):
    lane = lane + word * np.uint64(PRIME_2)
    lane = (lane << np.uint64(31)) | (lane >> np.uint64(33))
    return lane * np.uint64(PRIME_1)
