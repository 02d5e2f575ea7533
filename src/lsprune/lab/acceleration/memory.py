"""Peak memory of tensors: the allocator's own count on a GPU, PyTorch's memory profiler on a CPU.

The peak of a whole process cannot be reset and holds what malloc keeps, so that a CPU needs the profiler. It slows what
it looks at: run work for its memory apart from work that is timed.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch.profiler import ProfilerActivity, profile

T = TypeVar("T")


class MemoryOfTensors:
    """Bytes of the tensors made since this object was, and their peaks.

    Args:
        device: where the tensors are.
    """

    def __init__(self, device: torch.device) -> None:
        self.cuda = device.type == "cuda"
        self.before = int(torch.cuda.memory_allocated()) if self.cuda else 0
        self.alive = 0  # of tensors made on a CPU, between two calls of `watch`

    def watch(self, work: Callable[[], T]) -> tuple[T, int]:
        """Return what the work returns and the peak during it, with what was alive before.

        On a CPU, what is made or freed between two calls is not seen: watch one piece of work after the other.
        """
        if self.cuda:
            torch.cuda.reset_peak_memory_stats()
            result = work()
            torch.cuda.synchronize()
            return result, int(torch.cuda.max_memory_allocated()) - self.before
        os.environ.setdefault("KINETO_LOG_LEVEL", "5")  # else the profiler writes lines to the terminal
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
            result = work()
        peak = self.alive
        for change in _changes(profiler):
            self.alive += change
            peak = max(peak, self.alive)
        return result, peak


def _changes(profiler: Any) -> list[int]:
    """Return the bytes of each allocation, negative where memory was freed, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    memory = [event for event in events if event["name"] == "[memory]" and event["args"]["Device Type"] == 0]
    return [int(event["args"]["Bytes"]) for event in sorted(memory, key=lambda event: float(event["ts"]))]
