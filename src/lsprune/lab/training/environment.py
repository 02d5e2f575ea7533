"""Where a run is trained: its device, the versions of the libraries, time and memory."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from typing import Any

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

import numpy as np
import torch
from torch_geometric import __version__ as pyg_version

from lsprune._version import __version__
from lsprune.errors import OptionError

Seconds = float


def checked_device(name: str) -> torch.device:
    """Return the device of that name; raise OptionError if this machine does not have it."""
    if name.partition(":")[0] == "cuda" and not torch.cuda.is_available():
        raise OptionError(f"device must be one that this machine has, and it has no CUDA device, got {name!r}")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise OptionError(
            f"device must be one that this machine has, such as cpu or cuda, got {name!r}: {error}"
        ) from None
    return device


def environment(device: torch.device) -> dict[str, Any]:
    """Return what a record says of the hardware and the versions of the libraries."""
    cuda = device.type == "cuda"
    name = torch.cuda.get_device_name() if cuda else f"cpu ({torch.get_num_threads()} threads)"
    precision = torch.get_float32_matmul_precision()
    versions = {
        "lsprune": __version__, "torch": torch.__version__, "pyg": pyg_version, "numpy": np.__version__,
        "python": platform.python_version(),
    }  # fmt: skip
    return {"device": name, "precision": precision, "versions": versions}


def timed(device: torch.device, work: Callable[[], Any]) -> tuple[Seconds, Any]:
    """Return (seconds, result) of the work; the device is synchronised before the clock is read."""
    _synchronise(device)
    start = time.perf_counter()
    result = work()
    _synchronise(device)
    return time.perf_counter() - start, result


def _synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def reset_peak_bytes(device: torch.device) -> None:
    """Start a new measurement of the GPU's peak memory; a process's peak on the CPU cannot be reset."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()


def peak_bytes(device: torch.device) -> int:
    """Return the peak memory in bytes: on the GPU since `reset_peak_bytes`, on the CPU since the process started.

    0 where the system does not tell (Windows).
    """
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated())
    if resource is None:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit
