"""Node attributes from a file: `.npy`, `.npz` or `.parquet`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lsprune.adapters.files.archive import is_matrix, to_matrix
from lsprune.adapters.files.content import stack
from lsprune.adapters.files.memory import MemoryBudget
from lsprune.adapters.files.npy import read_npy, read_npz
from lsprune.errors import FormatError

SUFFIXES = (".npy", ".npz", ".parquet")


def read(path: Path, memory: MemoryBudget | None = None) -> Any:
    """Node attributes `[N, d]` or `[N]`: a memory map from `.npy`, dense or scipy.sparse from `.npz`."""
    memory = memory or MemoryBudget.of()
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise FormatError(f"{path}: features must be one of {', '.join(SUFFIXES)}")
    if suffix == ".npy":
        return checked(read_npy(path), path)
    return checked(_from_npz(path, memory) if suffix == ".npz" else _from_parquet(path, memory), path)


def checked(x: Any, path: Path) -> Any:
    """The array, which holds numbers `[N, d]` or `[N]`."""
    if x.dtype.kind not in "fiub":
        raise FormatError(f"{path}: features must be numbers, got {x.dtype}")
    if x.ndim not in (1, 2):
        raise FormatError(f"{path}: features must have shape [N, d] or [N], got {list(x.shape)}")
    return x


def _from_npz(path: Path, memory: MemoryBudget) -> Any:
    arrays = read_npz(path, memory)
    if is_matrix(arrays):
        return to_matrix(arrays, path)
    if len(arrays) != 1:
        raise FormatError(f"{path}: must hold one array or a scipy matrix, got {', '.join(arrays) or 'nothing'}")
    return next(iter(arrays.values()))


def _from_parquet(path: Path, memory: MemoryBudget) -> Any:
    from lsprune.adapters.files.table import numbers, read_parquet

    table = read_parquet(path, memory)
    if table.num_columns == 0:
        raise FormatError(f"{path}: has no columns")
    return stack([numbers(table[name], name, path) for name in table.column_names])
