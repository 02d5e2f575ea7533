"""Small constant arrays on a device: uploaded once, not for every call."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lsprune.graph import Array

MAX_CACHED_BYTES = 1 << 16


def constant(values: Array, device: Any) -> Tensor:
    """Return an array as a tensor on the device; uint64 as int64 with the same bits. It must not be changed."""
    array = np.ascontiguousarray(values)
    if array.dtype == np.uint64:
        array = array.view(np.int64)
    if array.nbytes > MAX_CACHED_BYTES:
        return torch.from_numpy(array).to(device)
    return _cached(array.tobytes(), array.dtype.str, array.shape, torch.device(device))


@lru_cache(maxsize=256)
def _cached(data: bytes, dtype: str, shape: tuple[int, ...], device: Any) -> Tensor:
    return torch.from_numpy(np.frombuffer(data, dtype).reshape(shape).copy()).to(device)
