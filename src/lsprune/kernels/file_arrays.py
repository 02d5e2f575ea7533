"""Arrays whose memory is a file, for what does not fit into memory.

The file has no name and is gone with the array, also when the process is killed. Its space on the disk is reserved at
once, so that a full disk is an error here and not a crash at the first write.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.graph import Array

MIN_FILE_BYTES = 1 << 20  # smaller arrays stay in memory


def array_in_file(folder: Path, shape: int | tuple[int, ...], dtype: Any) -> Array:
    """Return an array of zeros in a nameless file of `folder`."""
    count, kind = int(np.prod(shape, dtype=np.int64)), np.dtype(dtype)
    handle, name = tempfile.mkstemp(dir=folder, prefix="array-")
    try:
        Path(name).unlink()
        return array_of_file(handle, count * kind.itemsize, kind).reshape(shape)
    finally:
        os.close(handle)  # the mapping stays


def array_of_file(handle: int, size: int, dtype: Any) -> Array:
    """Return the first `size` bytes of an open file as an array; they are reserved on the disk."""
    if size == 0:
        return np.zeros(0, dtype)
    reserve(handle, size)
    return np.frombuffer(mmap.mmap(handle, size), dtype)


def reserve(handle: int, size: int) -> None:
    """Make an open file at least `size` bytes long, with all of them on the disk."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size)
    else:
        os.truncate(handle, size)  # pragma: no cover  (not on Linux: a full disk shows at the first write)
