"""Whether Triton's kernels can run where a tensor lives; if not, plain torch gives the same bits more slowly."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

MIN_CAPABILITY = (8, 0)  # CUDA compute capability that Triton compiles for


@cache
def triton_kernels(name: str, device: Any) -> ModuleType | None:
    """Return our module of Triton kernels with this name, or None if Triton does not work on the torch device.

    `LSPRUNE_TRITON=0` switches Triton off. With `TRITON_INTERPRET=1` its kernels run on CPU tensors too, interpreted.
    The answer is remembered: a call prunes in a millisecond, and asks a dozen times.
    """
    if os.environ.get("LSPRUNE_TRITON") == "0":
        return None
    if os.environ.get("TRITON_INTERPRET") == "1":
        return _module(name) if _can_import() else None
    if device.type != "cuda" or not _compiles(device):
        return None
    return _module(name)


def _module(name: str) -> ModuleType:
    return import_module(f"lsprune.kernels.gpu.{name}")


@cache
def _can_import() -> bool:
    try:
        import_module("triton")
    except ImportError:
        return False
    return True


@cache
def _compiles(device: Any) -> bool:
    """Compile and run a small kernel: that needs a C compiler, headers and a folder to write to, not only an import."""
    import torch

    if torch.cuda.get_device_capability(device) < MIN_CAPABILITY or not _can_import():
        return False
    try:
        values = torch.arange(3, device=device)
        _module("splitmix_triton").mix_values(values)
    except Exception:  # whatever it is, torch can do the work
        return False
    return True
