"""Edge lists on disk read in order in bounded pieces: `open_edges` gives an `EdgeFiles`.

| path | reads, and writes kept rows of |
|---|---|
| `.parquet`, or a folder of them | a column of sources, a column of targets, any others |
| `.csv` `.tsv` `.txt` `.edges` `.edgelist` (`.gz`, `.zst`), or a folder of them | text with or without a header |
| `.npz` without compression | `edge_index [2, E]`, two arrays of ids, or compressed rows; memory-mapped |
| `.npy`, or a folder of them | `edge_index [2, E]`; in a folder, arrays named as in a `.npz` |

Names, columns and errors are those of `lsprune.files`, which reads the same files into memory.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lsprune.checks import counts_of
from lsprune.errors import OptionError
from lsprune.files import NumNodes, refuse_arrays, suffix_of
from lsprune.files.batches.base import Batch, EdgeFiles, Kept, Shard
from lsprune.files.batches.folders import list_files, refuse_twice
from lsprune.files.node_kinds import check_two_kinds

__all__ = ["Batch", "EdgeFiles", "Kept", "Shard", "open_edges"]


def open_edges(
    path: str | os.PathLike[str],
    *,
    source: str | None = None,
    target: str | None = None,
    edge_attr: Sequence[str] = (),
    num_nodes: NumNodes = None,
    edge_arrays: Sequence[str] = (),
    node_arrays: Sequence[str] = (),
    bipartite: bool | None = None,
) -> EdgeFiles:
    """An edge list on disk, a file or a folder; footers and headers of all files are read and compared first.

    Args:
        path: a file or folder of this module's table.
        source, target: names of the two columns (or arrays), with the defaults of `read_edges`.
        edge_attr: names of the columns (or arrays) that describe an edge.
        num_nodes: number of nodes, where it is known: an id beyond it is then an error. A pair where sources and
            targets are two kinds of nodes.
        edge_arrays, node_arrays, bipartite: as in `read_edges`.

    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "edges.npy", np.array([[0, 1, 2], [1, 2, 0]]))
    ...     [batch.source.tolist() for batch in open_edges(Path(folder) / "edges.npy").batches(2)]
    [[0, 1], [2]]
    """
    if (source is None) != (target is None):
        raise OptionError("source and target must be named together, got only one of them")
    num_nodes = counts_of(num_nodes, "num_nodes", OptionError)
    path, two = Path(path), bool(bipartite)
    if path.is_dir():
        suffix, names = list_files(path)
        paths = [path / name for name in names]
    else:
        suffix = ".npy" if path.suffix.lower() == ".npy" else suffix_of(path)
        names, paths = ("",), [path]
    options = (source, target, tuple(edge_attr), num_nodes)
    if suffix in (".npz", ".npy"):
        from lsprune.files.batches.arrays import open_arrays

        arrays = open_arrays(path, paths, *options, tuple(edge_arrays), tuple(node_arrays), two)
        check_two_kinds(bipartite, arrays.limits is not None)
        return arrays
    refuse_arrays(edge_arrays, node_arrays, path)
    if suffix == ".parquet":
        from lsprune.files.batches.parquet import ParquetFiles

        tables = ParquetFiles(paths, names, *options, two)
        refuse_twice(paths, tables.has_edges)
        return tables
    from lsprune.files.batches.text import TextFiles

    lists = TextFiles(paths, names, *options, two)
    refuse_twice(paths, lists.has_edges)
    return lists
