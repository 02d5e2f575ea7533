"""The suffixes of edge lists: which format a file has, and whether it is compressed."""

from __future__ import annotations

from pathlib import Path

from lsprune.errors import FormatError

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".edges", ".edgelist")
COMPRESSIONS = (".gz", ".zst")
SUFFIXES = (
    ".npz",
    ".parquet",
    *TEXT_SUFFIXES,
    *(f"{text}{packed}" for packed in COMPRESSIONS for text in TEXT_SUFFIXES),
)


def suffix_of(path: Path) -> str:
    """Return the suffix that decides the format, with that of a compression; FormatError for any other suffix."""
    name = path.name.lower()
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            return suffix
    raise FormatError(f"{path}: the suffix must be one of {', '.join(SUFFIXES)}")


def input_suffix(path: Path) -> str:
    """Return the suffix of a file that is read into memory; FormatError for a folder."""
    if path.is_dir():
        raise FormatError(f"{path} is a folder: folders are read by `lsprune prune --stream` (prune_stream)")
    return suffix_of(path)


def uncompressed(name: str) -> str:
    """Return a file name or suffix without the suffix of its compression."""
    return name.removesuffix(".gz").removesuffix(".zst")
