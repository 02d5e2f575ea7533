"""The torch executor: the cpu executor, but for the nearest word of a row, which a device finds.

Selection and all else run at the speed of memory already, and stay where the graph is.
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
