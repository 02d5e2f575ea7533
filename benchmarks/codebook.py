"""LSP-Q on 10 M edges of 40 columns: seconds to find the nearest of 8,192 and of 32,768 words, exactly."""

from __future__ import annotations

import sys
import time

import numpy as np

from lsprune.hashing import codebook
from lsprune.kernels import runtime


def main(edges: int) -> None:
    """Print the seconds for `edges` rows."""
    run, rng = runtime(), np.random.default_rng(0)
    rows = rng.integers(-127, 128, (edges, 40)).astype(np.int16)
    for words in (8_192, 32_768):
        book = rows[:words].copy()
        codebook._nearest(rows[:4096], book, run)  # compile
        start = time.perf_counter()
        found = codebook._nearest(rows, book, run)
        seconds = time.perf_counter() - start
        right = (found[:words] == np.arange(words)).mean()
        rate = edges * words * 40 / seconds / 1e9
        print(f"{words:,} words: {seconds:.1f} s for {edges:,} edges on {run.threads} threads, {rate:.0f} G products/s")
        assert right == 1, "a word is its own nearest word"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
