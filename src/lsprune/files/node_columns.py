"""Files of nodes: which suffixes they have, and their columns by name, as Arrow columns or arrays."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lsprune.errors import FormatError
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.npy import read_npz
from lsprune.files.suffixes import COMPRESSIONS, uncompressed

_TEXTS = (".csv", ".tsv")
SUFFIXES = (".npy", ".npz", ".parquet", *_TEXTS, *(f"{text}{packed}" for packed in COMPRESSIONS for text in _TEXTS))


def node_suffix(path: Path, option: str = "features") -> str:
    """Return the suffix that decides the format; raise FormatError for a file that can hold no nodes."""
    if (suffix := known_suffix(path)) is None:
        raise FormatError(f"{path}: {option} must be a file with the suffix {', '.join(SUFFIXES)}")
    return suffix


def known_suffix(path: str | os.PathLike[str]) -> str | None:
    """Return the suffix of a file of nodes, with that of a compression; None for any other name.

    >>> known_suffix("nodes.CSV.gz"), known_suffix("x")
    ('.csv.gz', None)
    """
    name = Path(path).name.lower()
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)


def is_table(path: Path) -> bool:
    """Return whether a file of nodes is a table, whose columns are Arrow columns."""
    return known_suffix(path) not in (".npy", ".npz", None)


def is_text(suffix: str) -> bool:
    """Return whether files of this suffix are text."""
    return uncompressed(suffix) in _TEXTS


def read_columns(path: Path, memory: MemoryBudget) -> dict[str, Any]:
    """Return the columns of a file of nodes, Arrow columns or arrays; none of a `.npy`, which has no names."""
    suffix = node_suffix(path)
    if suffix == ".npy":
        return {}
    if suffix == ".npz":
        return dict(read_npz(path, memory))
    # formats are imported when they are needed: `import lsprune` stays fast
    if is_text(suffix):
        from lsprune.files.text_nodes import TextNodes

        table = TextNodes(path).load(memory)
    else:
        from lsprune.files.parquet import read_parquet

        table = read_parquet(path, memory)
    return {name: table[name] for name in table.column_names}
