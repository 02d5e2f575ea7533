"""Edge lists in files: `read_edges` gives a `FileGraph`, `write_edges` writes the kept part of it.

| suffix | reads and writes |
|---|---|
| `.npz` | `edge_index [2, E]`, or `source` and `target`, or `indptr`, `indices` and `rows`; or scipy.sparse.save_npz |
| `.parquet` | a column of sources, a column of targets, any others |
| `.csv` `.tsv` (`.gz`, `.zst`) | the same as text, with or without a header |
| `.txt` `.edges` `.edgelist` (`.gz`, `.zst`) | separated by white space (or commas), `#` and `%` lines are comments |

No file is ever unpickled, sizes are checked before memory is taken, and an output file appears whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.adapters.atomic import atomic_write
from lsprune.adapters.files.content import Content, Edges
from lsprune.adapters.files.memory import MemoryBudget
from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.graph import Array, Graph

__all__ = ["FileGraph", "check_output", "read_edges", "write_edges"]

TEXT = (".csv", ".tsv", ".txt", ".edges", ".edgelist")
PACKED = (".gz", ".zst")
SUFFIXES = (".npz", ".parquet", *TEXT, *(f"{suffix}{packed}" for packed in PACKED for suffix in TEXT))
_NODE_BYTES = 16  # that a pruner needs for each node at least: where its edges begin, and how many it keeps
PathLike = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class FileGraph:
    """A graph read from a file, with all that is needed to write a part of it back."""

    graph: Graph
    content: Content
    inputs: tuple[Path, ...]  # the files it came from: none of them may be written over


def read_edges(
    path: PathLike,
    *,
    source: str | None = None,
    target: str | None = None,
    edge_attr: Sequence[str] = (),
    features: PathLike | None = None,
    num_nodes: int | None = None,
    memory: str | int | MemoryBudget | None = None,
) -> FileGraph:
    """The graph of an edge list, with its file's other columns or arrays kept for `write_edges`.

    Args:
        path: a file with one of the suffixes of this module's table.
        source, target: names of the two columns (or arrays); default `source`/`target`, `src`/`dst`, `s`/`t`,
            `from`/`to`, or the first two columns of a text file without a header.
        edge_attr: names of the columns (or arrays) that describe an edge.
        features: node attributes: `.npy` (memory-mapped), `.npz` (one array, or scipy.sparse.save_npz), `.parquet`.
        num_nodes: number of nodes; default from the features, else the largest id + 1.
        memory: bytes that the content of the files may take, such as "2GB"; default what is available. A file that
            declares more is refused before it is read. A `MemoryBudget` is shared with other files.
    """
    if (source is None) != (target is None):
        raise OptionError("source and target must be named together, got only one of them")
    path = Path(path)
    inputs = (path,) if features is None else (path, Path(features))
    budget = memory if isinstance(memory, MemoryBudget) else MemoryBudget.of(memory)
    edges = _reader(suffix_of(path))(path, source, target, tuple(edge_attr), budget)
    x = edges.x if features is None else _features(Path(features), budget)
    nodes: Any = edges.num_nodes if num_nodes is None else num_nodes
    if x is None and nodes is None:
        _check_range(edges, path)
    if features is not None and nodes is None:
        _check_rows(edges, x, Path(features))
    with _naming(path):
        graph = _graph(edges, x, nodes)
    if num_nodes is None:  # a few bytes of a file may claim any number of nodes
        count = graph.num_sources + (graph.num_targets if graph.bipartite else 0)
        budget.take(count * _NODE_BYTES, f"{path}: a graph of {count:,} nodes")
    return FileGraph(graph, edges.content, inputs)


def write_edges(path: PathLike, file_graph: FileGraph, mask: Array) -> None:
    """Write the edges with a True in `mask` to `path`, in the format its suffix names, whole or not at all."""
    check_output(path, *file_graph.inputs)
    path, mask = Path(path), _checked(mask, file_graph.graph.num_edges)
    suffix = suffix_of(path)
    try:
        with atomic_write(path) as handle:
            file_graph.content.write(handle, suffix, mask)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None


def check_output(path: PathLike, *inputs: PathLike) -> None:
    """Nothing; raises where `path` has no known suffix, is one of the inputs, or its folder is not there."""
    suffix_of(Path(path))
    for given in inputs:
        if _same(path, given):
            raise OptionError(f"the output must not be an input file, got {os.fspath(path)!r} for both")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"no such folder for the output: {folder}")


def suffix_of(path: Path) -> str:
    """The suffix that decides the format, that of a compression included."""
    name = path.name.lower()
    found = [suffix for suffix in SUFFIXES if name.endswith(suffix)]
    if not found:
        raise FormatError(f"{path}: the suffix must be one of {', '.join(SUFFIXES)}")
    return found[0]


def _reader(suffix: str) -> Any:
    # Imported only when needed: the table and text readers bring pyarrow with them.
    if suffix == ".npz":
        from lsprune.adapters.files import archive

        return archive.read
    if suffix == ".parquet":
        from lsprune.adapters.files import table

        return table.read
    from lsprune.adapters.files import text

    return text.read


def _check_rows(edges: Edges, x: Any, features: Path) -> None:
    ids = [end for end in (edges.source, edges.target) if end is not None and end.size]
    largest = max((int(end.max()) for end in ids), default=-1)
    if largest >= x.shape[0]:
        raise FormatError(f"{features}: has {x.shape[0]} rows, but the edges name node {largest}")


def _features(path: Path, memory: MemoryBudget) -> Any:
    from lsprune.adapters.files import features

    return features.read(path, memory)


def _graph(edges: Edges, x: Any, num_nodes: Any) -> Graph:
    if edges.indptr is None:
        return Graph.from_edges((edges.source, edges.target), num_nodes=num_nodes, x=x, edge_attr=edges.edge_attr)
    other = edges.target if edges.rows == "source" else edges.source
    return Graph.from_csr(
        edges.indptr, other, rows=edges.rows or "source", num_nodes=num_nodes, x=x, edge_attr=edges.edge_attr
    )


def _check_range(edges: Edges, path: Path) -> None:
    # Arrays as long as the largest id are about to be made. Real graphs number their nodes 0..N-1; account numbers and
    # damaged digits do not, and would ask for terabytes.
    if edges.indptr is not None:
        return
    for name, ids in zip(edges.names, (edges.source, edges.target), strict=True):
        if ids is not None and ids.size and int(ids.max()) >= 64 * max(ids.size, 1 << 20):
            raise FormatError(
                f"{path}: column {name!r}, {edges.place(int(ids.argmax()))}: id {int(ids.max())} is far beyond the "
                f"{ids.size} edges; number the nodes 0..N-1, or give num_nodes if it is meant"
            )


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except GraphError as error:
        raise GraphError(f"{path}: {error}") from None


def _checked(mask: Array, count: int) -> Array:
    mask = np.asarray(mask)
    if mask.dtype != np.bool_ or mask.shape != (count,):
        raise OptionError(f"mask must be {count} booleans, one for each edge, got {mask.dtype} {list(mask.shape)}")
    return mask


def _same(one: PathLike, other: PathLike) -> bool:
    try:
        return Path(one).samefile(other)
    except FileNotFoundError:
        return os.path.realpath(one) == os.path.realpath(other)
