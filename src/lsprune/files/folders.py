"""Which files of a folder are the edge list, in which order, and that none of them is there twice."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from lsprune.errors import FormatError
from lsprune.files.suffixes import SUFFIXES, suffix_of, uncompressed

_TAIL_BYTES = 1 << 16  # holds the footer of most Parquet files, with the statistics of its columns
_BLOCK_BYTES = 1 << 20


def list_files(folder: Path) -> tuple[str, tuple[str, ...]]:
    """Return the suffix of an edge list's files, without compression, and their names relative to `folder`, sorted.

    Sub-folders are searched. What begins with a dot or an underscore is skipped, as Spark and Hive do; so is what has
    no suffix of ours (README.md).
    """
    by_suffix: dict[str, list[str]] = {}
    for name in _walk(folder):
        suffix = _kind(Path(name))
        if suffix:
            by_suffix.setdefault(suffix, []).append(name)
    if not by_suffix:
        wanted = ", ".join(sorted({suffix for suffix in SUFFIXES if suffix.count(".") == 1} | {".npy"}))
        raise FormatError(f"{folder}: the folder is empty: no file in it ends in one of {wanted}")
    if len(by_suffix) > 1:
        examples = " and ".join(f"{names[0]!r}" for names in by_suffix.values())
        raise FormatError(f"{folder}: must hold files of one format, got {examples}")
    suffix, names = by_suffix.popitem()
    return suffix, tuple(sorted(names))


def refuse_copies(paths: Sequence[Path], has_edges: Callable[[Path], bool]) -> None:
    """Raise FormatError if a file is there twice, as a link or as a copy with the same bytes.

    A file without edges may be there any number of times: engines that write one file per task do so.
    """
    seen: dict[tuple[int, int], Path] = {}
    alike: dict[tuple[int, bytes], list[Path]] = {}
    for path in paths:
        status = path.stat()
        first = seen.setdefault((status.st_dev, status.st_ino), path)
        if first is not path:
            raise FormatError(f"{path}: is the same file as {first}; its edges would count twice")
        alike.setdefault((status.st_size, _tail(path, status.st_size)), []).append(path)
    for group in alike.values():
        for other in group[1:]:
            if _same_bytes(group[0], other) and has_edges(other):
                raise FormatError(f"{other}: is a copy of {group[0]}; its edges would count twice")


def _walk(folder: Path) -> list[str]:
    names = []
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        names += [(Path(here) / name).relative_to(folder).as_posix() for name in files if name[0] not in "._"]
    return names


def _kind(path: Path) -> str | None:
    if path.name.lower().endswith(".npy"):
        return ".npy"
    try:
        return uncompressed(suffix_of(path))
    except FormatError:
        return None


def _tail(path: Path, size: int) -> bytes:
    with path.open("rb") as handle:
        handle.seek(max(0, size - _TAIL_BYTES))
        return hashlib.sha256(handle.read()).digest()


def _same_bytes(path: Path, other: Path) -> bool:
    with path.open("rb") as first, other.open("rb") as second:
        while True:
            block = first.read(_BLOCK_BYTES)
            if block != second.read(_BLOCK_BYTES):
                return False
            if not block:
                return True
