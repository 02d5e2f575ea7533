"""The GPU executor: the nearest codebook word of each row is found on a CUDA device, all else on the CPU.

Words in lists are searched on the CPU: a search that goes from list to list suits it better.

`nearest_words` searches with torch, `nearest_words_triton` does the same in one Triton kernel. Selection and all else
are limited by the speed of memory already, and stay where the graph is.
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
