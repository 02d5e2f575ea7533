"""Files to which rows are appended while their number is not known; when complete, they are mapped as an array."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.files.atomic_write import create_new
from lsprune.graph import Array


class AppendFile:
    """A file of rows of one type and shape, open for appending."""

    def __init__(self, path: Path, dtype: Any, shape: tuple[int, ...] = ()) -> None:
        self.path, self.dtype, self.shape = path, np.dtype(dtype), shape
        self.handle, self.size, self.crc = create_new(path), 0, 0

    def add(self, rows: Array) -> None:
        """Append rows."""
        data = np.ascontiguousarray(rows, self.dtype).reshape(-1).view(np.uint8).data
        self.size, self.crc = self.size + data.nbytes, zlib.crc32(data, self.crc)
        self.handle.write(data)

    def close(self) -> Array:
        """Write all rows to the disk, and return them mapped for reading."""
        self.handle.flush()
        os.fsync(self.handle.fileno())  # before the journal names the file
        self.handle.close()
        return map_rows(self.path, self.dtype, self.shape)


def map_rows(path: Path, dtype: Any, shape: tuple[int, ...] = ()) -> Array:
    """Return the rows of a complete file, mapped for reading."""
    if path.stat().st_size == 0:
        return np.zeros((0, *shape), dtype)
    flat = np.memmap(path, np.dtype(dtype), mode="r")
    return np.asarray(flat).reshape(-1, *shape)
