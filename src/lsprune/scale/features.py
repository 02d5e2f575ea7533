"""Node attributes larger than memory: memory-mapped, after a copy to scratch space where the format needs one."""

from __future__ import annotations

import math
import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from lsprune.adapters.files.archive import is_matrix
from lsprune.adapters.files.content import stack
from lsprune.adapters.files.features import SUFFIXES, checked
from lsprune.adapters.files.npy import check_member, members_of, read_npy, reading_npz
from lsprune.adapters.files.table import numbers
from lsprune.errors import FormatError
from lsprune.graph import Array
from lsprune.scale.inputs.base import check_rows
from lsprune.scale.inputs.folders import list_files
from lsprune.scale.inputs.members import npz_members
from lsprune.scale.inputs.parquet import Part, column_of, compare, footer, no_rows, read
from lsprune.scale.memory import check_disk

SPOOLED = "features.npy"
_BLOCK = 1 << 22
_ADVICE = "features that are compressed, or Parquet, are copied there; --scratch DIR (scratch=) chooses another"


def open_features(path: str | os.PathLike[str], scratch: Path, rows: int) -> Array:
    """Node attributes `[N, d]` or `[N]`, memory-mapped, with the values that the reader in memory gives.

    Args:
        path: `.npy` and `.npz` with one array are mapped where they lie; a `.npz` that is compressed, and `.parquet`
            (a file or a folder), are copied to `features.npy` in `scratch` first.
        scratch: a folder on disk.
        rows: about the number of rows in memory at a time.
    """
    check_rows(rows)
    path = Path(path)
    if path.is_dir():
        suffix, names = list_files(path)
        if suffix != ".parquet":
            raise FormatError(f"{path}: a folder of features must hold .parquet files, got {names[0]!r}")
        return checked(_spool_parquet([path / name for name in names], scratch, rows), path)  # type: ignore[no-any-return]
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise FormatError(f"{path}: features must be one of {', '.join(SUFFIXES)}")
    if suffix == ".npy":
        return checked(read_npy(path), path)  # type: ignore[no-any-return]
    x = _from_npz(path, scratch) if suffix == ".npz" else _spool_parquet([path], scratch, rows)
    return checked(x, path)  # type: ignore[no-any-return]


def _from_npz(path: Path, scratch: Path) -> Array:
    with path.open("rb") as handle, reading_npz(path), zipfile.ZipFile(handle) as archive:
        found = members_of(archive, os.fstat(handle.fileno()).st_size, path)
        _one(list(found), path)
        ((name, info),) = found.items()
        if info.compress_type != zipfile.ZIP_STORED:
            check_member(archive, info, f"{path}: {name}")
            check_disk(scratch, info.file_size, _ADVICE)
            with archive.open(info) as stream, (scratch / SPOOLED).open("wb") as out:
                shutil.copyfileobj(stream, out, _BLOCK)
            return read_npy(scratch / SPOOLED)
    member = next(iter(npz_members(path).values()))
    member.verify()
    x = member.array()
    if x.flags.aligned:
        return x
    with (scratch / SPOOLED).open("wb") as out:  # kernels want numbers at addresses that are multiples of their size
        for block in member.blocks():
            out.write(block)
    return read_npy(scratch / SPOOLED)


def _one(names: list[str], path: Path) -> None:
    if is_matrix(dict.fromkeys(names, np.empty(0))):
        raise FormatError(f"{path}: a scipy matrix cannot be streamed; write the features as .npy or .parquet")
    if len(names) != 1:
        raise FormatError(f"{path}: must hold one array, got {', '.join(names) or 'nothing'}")


def _spool_parquet(paths: list[Path], scratch: Path, rows: int) -> Array:
    parts: list[Part] = []
    for path in paths:
        parts.append(footer(path, "", parts[-1].first + parts[-1].rows if parts else 0))
    first = parts[0]
    names = tuple(first.types)
    if not names:
        raise FormatError(f"{first.path}: has no columns")
    for part in parts:
        compare(part, first, names)
    template = stack([numbers(no_rows(first.types[name]), name, first.path) for name in names])
    assert template is not None
    shape = (parts[-1].first + parts[-1].rows, *template.shape[1:])
    check_disk(scratch, math.prod(shape) * template.dtype.itemsize, _ADVICE)
    with (scratch / SPOOLED).open("wb") as out:
        _write_header(out, shape, template)
        for block in _blocks(parts, names, rows):
            out.write(np.ascontiguousarray(block, template.dtype).data)
    return read_npy(scratch / SPOOLED)


def _blocks(parts: list[Part], names: tuple[str, ...], rows: int) -> Iterator[Array]:
    for part in parts:
        for at, batch in read(part, rows, list(names)):
            columns = [
                numbers(column_of(batch, name), name, part.path, lambda i, part=part, at=at: part.place(at + i))  # type: ignore[misc]
                for name in names
            ]
            block = stack(columns)
            assert block is not None
            yield block


def _write_header(out: BinaryIO, shape: tuple[int, ...], like: Array) -> None:
    descr = np.lib.format.dtype_to_descr(like.dtype)
    np.lib.format.write_array_header_1_0(out, {"descr": descr, "fortran_order": False, "shape": shape})
