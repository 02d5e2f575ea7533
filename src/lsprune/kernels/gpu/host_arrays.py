"""The GPU executor for arrays in host memory: near codebook words are found on the device, all else on the CPU.

Streaming and Spark use it, whose edges are on disk, and the training of codebooks. A graph that fits the device is
pruned there as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from threading import Lock
from typing import Any

import numpy as np

from lsprune.graph import Array
from lsprune.kernels import cpu
from lsprune.kernels.gpu import nearest_words as words

SEARCH_ROWS = words.SEARCH_ROWS
MIN_LISTED_ROWS = 1 << 13  # fewer rows are searched for in lists on the CPU: rounds take as long for one row
searcher = words.searcher
check_device = words.check_device


def list_searcher(
    coarse: Array, listed: Array, start: Array, radius: Array, max_lists: int
) -> Callable[[Array, Array], None]:
    """Return a function of (rows, out) that fills `out` as `reference.listed_words` does; threads may share it."""
    arrays, lock = (coarse, listed, start, radius, max_lists), Lock()

    @cache
    def on_cpu() -> Callable[[Array, Array], None]:
        return cpu.list_searcher(*arrays)

    @cache
    def on_device() -> Any:
        return import_module("lsprune.kernels.gpu.listed_words").searcher(*arrays, words.DEVICE)

    def search(rows: Array, out: Array) -> None:
        if rows.shape[0] < MIN_LISTED_ROWS:
            on_cpu()(rows, out)
            return
        torch, small = import_module("torch"), rows.astype(np.int8)
        assert np.array_equal(small, rows)
        with lock:
            near = on_device().nearest(torch.from_numpy(small).to(words.DEVICE))
            out[:] = near.cpu().numpy()

    return search


def __getattr__(name: str) -> Any:
    return getattr(cpu, name)
