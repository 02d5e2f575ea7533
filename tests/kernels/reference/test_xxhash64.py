from __future__ import annotations

import numpy as np

from lsprune.kernels.reference.xxhash64 import xxhash64_stripes
from lsprune.numeric.xxhash64 import FIRST_LANES, finish

# XXH64 of the bytes 0, 1, ..., n - 1, as the published implementation gives it
KNOWN = {32: 0xCBF59C5116FF32B4, 33: 0x0C535D1ACAFB8EAD, 100: 0x6AC1E58032166597, 256: 0x1FACBE8406CD904B}


def test_stripes_and_a_tail_give_the_published_values():
    for length, value in KNOWN.items():
        data, whole, lanes = bytes(range(length)), length - length % 32, np.array(FIRST_LANES, np.uint64)
        xxhash64_stripes(np.frombuffer(data[:whole], np.uint64), lanes)
        assert finish(lanes.tolist(), length, data[whole:]) == value
