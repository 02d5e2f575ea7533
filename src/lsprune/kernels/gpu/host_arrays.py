"""The GPU executor for arrays in host memory: nearest codebook words are found on the device, all else on the CPU.

Streaming and Spark use it, whose edges are on disk. A graph that fits the device is pruned there as a whole. Words in
lists are searched on the CPU: a search that goes from list to list suits it better.
"""

from __future__ import annotations

from typing import Any

from lsprune.kernels import cpu
from lsprune.kernels.gpu import nearest_words as words

SEARCH_ROWS = words.SEARCH_ROWS
searcher = words.searcher
check_device = words.check_device


def __getattr__(name: str) -> Any:
    return getattr(cpu, name)
