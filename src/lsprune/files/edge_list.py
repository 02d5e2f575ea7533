"""Edge lists in files: `read_edges` gives a `FileGraph`, `write_edges` writes the kept part of it.

| suffix | reads and writes |
|---|---|
| `.npz` | `edge_index [2, E]`, or `source` and `target`, or `indptr`, `indices` and `rows`; or scipy.sparse.save_npz |
| `.parquet` | a column of sources, a column of targets, any others |
| `.csv` `.tsv` (`.gz`, `.zst`) | the same as text, with or without a header |
| `.txt` `.edges` `.edgelist` (`.gz`, `.zst`) | separated by white space (or commas), `#` and `%` lines are comments |

Every column of a table belongs to its edges; of the arrays in a `.npz`, those that are as long as the edges.

No file is ever unpickled, sizes are checked before memory is taken, and an output file appears whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.checks import as_array
from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files.atomic_write import atomic_write, remove_abandoned
from lsprune.files.content import Content, Edges
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.node_kinds import check_two_kinds, look_like_two_kinds, warn_two_kinds
from lsprune.files.node_table import NodeRows, check_ends
from lsprune.graph import Array, Graph

__all__ = ["FileGraph", "check_output", "read_edges", "write_edges"]

TEXT = (".csv", ".tsv", ".txt", ".edges", ".edgelist")
PACKED = (".gz", ".zst")
SUFFIXES = (".npz", ".parquet", *TEXT, *(f"{suffix}{packed}" for packed in PACKED for suffix in TEXT))
_NODE_BYTES = 16  # that a pruner needs for each node at least: where its edges begin, and how many it keeps
PathLike = str | os.PathLike[str]
NumNodes = int | tuple[int | None, int | None] | None  # a pair: of sources and targets, where they are two kinds
TABLES = ("features", "target_features")


@dataclass(frozen=True, eq=False)
class FileGraph:
    """A graph read from a file, with all that is needed to write a part of it back."""

    graph: Graph
    content: Content
    inputs: tuple[Path, ...]  # the files it came from: none of them may be written over

    def check(self) -> None:
        """FormatError where it is not clear which arrays of the file belong to the edges."""
        try:
            self.content.check((self.graph.num_sources, self.graph.num_targets))
        except FormatError as error:
            raise FormatError(f"{self.inputs[0]}: {error}") from None


# One keyword for each thing that a file may need to be told: long, but a list and nothing else.
def read_edges(
    path: PathLike,
    *,
    source: str | None = None,
    target: str | None = None,
    edge_attr: Sequence[str] = (),
    features: PathLike | None = None,
    id: str | None = None,
    x: Sequence[str] = (),
    num_nodes: NumNodes = None,
    edge_arrays: Sequence[str] = (),
    node_arrays: Sequence[str] = (),
    bipartite: bool | None = None,
    target_features: PathLike | None = None,
    target_id: str | None = None,
    target_x: Sequence[str] = (),
    memory: str | int | MemoryBudget | None = None,
) -> FileGraph:
    """The graph of an edge list, with its file's other columns or arrays kept for `write_edges`.

    Args:
        path: a file with one of the suffixes of this module's table.
        source, target: names of the two columns (or arrays); default `source`/`target`, `src`/`dst`, `s`/`t`,
            `from`/`to`, or the first two columns of a text file without a header.
        edge_attr: names of the columns (or arrays) that describe an edge.
        features: node attributes: `.npy` (memory-mapped), `.npz` (one array, or scipy.sparse.save_npz), `.parquet`. Row
            i is node i, unless the table has a column of ids: its rows are then joined by it.
        id: the column (or array) of ids in `features`; default `id` (or `node_id`, `node`) where there is one.
        x: columns of features; default `x` if it holds lists, else all columns but ids.
        num_nodes: number of nodes; default from the features, else the largest id + 1. A pair of two kinds.
        edge_arrays, node_arrays: names of arrays of a `.npz` that belong to the edges, and are cut with them, or do
            not, and are copied whole. Default: what is as long as the edges belongs to them; where there are as many
            nodes, `write_edges` refuses.
        bipartite: sources and targets are two kinds of nodes with ids of their own; False: they are one. Default: one
            kind, with a warning where the names of the columns look like two.
        target_features, target_id, target_x: those of the targets where there are two kinds; `features`, `id` and `x`
            are then those of the sources.
        memory: bytes that the content of the files may take, such as "2GB"; default what is available. A file that
            declares more is refused before it is read. A `MemoryBudget` is shared with other files.
    """
    if (source is None) != (target is None):
        raise OptionError("source and target must be named together, got only one of them")
    path = Path(path)
    tables = [None if table is None else Path(table) for table in (features, target_features)]
    budget = memory if isinstance(memory, MemoryBudget) else MemoryBudget.of(memory)
    names = (source, target, tuple(edge_attr), tuple(edge_arrays), tuple(node_arrays))
    edges = _read(path, *names, bool(bipartite), num_nodes, budget)
    pair = isinstance(edges.num_nodes, tuple) or isinstance(num_nodes, tuple)
    more = {"target_features": target_features, "target_id": target_id, "target_x": target_x}
    two = check_two_kinds(bipartite, pair, **more)
    asked = ((id, tuple(x)), (target_id, tuple(target_x)))
    rows = [
        _features(table, *columns, option, budget) for table, columns, option in zip(tables, asked, TABLES, strict=True)
    ]
    inputs = (path, *(table for table in tables if table is not None))
    with _naming(path):
        if not two and bipartite is None and look_like_two_kinds(edges.names) and _has_loops(edges):
            warn_two_kinds(edges.names)
        graph = (
            _two_kinds(edges, rows, num_nodes, tables, path)
            if two
            else _one_kind(edges, rows[0], num_nodes, tables[0], path)
        )
    if num_nodes is None:  # a few bytes of a file may claim any number of nodes
        count = graph.num_sources + (graph.num_targets if graph.bipartite else 0)
        budget.take(count * _NODE_BYTES, f"{path}: a graph of {count:,} nodes")
    return FileGraph(graph, edges.content, inputs)


def write_edges(path: PathLike, file_graph: FileGraph, mask: Array) -> None:
    """Write the edges with a True in `mask` to `path`, in the format its suffix names, whole or not at all."""
    check_output(path, *file_graph.inputs)
    file_graph.check()
    path, mask = Path(path), _checked(mask, file_graph.graph.num_edges)
    suffix = suffix_of(path)
    remove_abandoned(path)
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


def _read(
    path: Path,
    source: str | None,
    target: str | None,
    edge_attr: tuple[str, ...],
    edge_arrays: tuple[str, ...],
    node_arrays: tuple[str, ...],
    bipartite: bool,
    num_nodes: NumNodes,
    memory: MemoryBudget,
) -> Edges:
    # Imported only when needed: the table and text readers bring pyarrow with them.
    suffix = suffix_of(path)
    if suffix == ".npz":
        from lsprune.files import npz as archive

        count = None if isinstance(num_nodes, tuple) else num_nodes
        two = bipartite or isinstance(num_nodes, tuple)
        return archive.read(path, source, target, edge_attr, edge_arrays, node_arrays, two, count, memory)
    refuse_arrays(edge_arrays, node_arrays, path)
    if suffix == ".parquet":
        from lsprune.files import parquet as table

        return table.read(path, source, target, edge_attr, memory)
    from lsprune.files import text

    return text.read(path, source, target, edge_attr, memory)


def refuse_arrays(edge_arrays: Sequence[str], node_arrays: Sequence[str], path: Path) -> None:
    """OptionError for names of arrays in a file that is a table."""
    for option, names in (("edge_arrays", edge_arrays), ("node_arrays", node_arrays)):
        if names:
            raise OptionError(
                f"{option} (--{option.replace('_', '-')}) must be names of arrays in a .npz, got {', '.join(names)} "
                f"for {path}: every column of a table belongs to its edges"
            )


def _features(
    path: Path | None, id: str | None, x: tuple[str, ...], option: str, memory: MemoryBudget
) -> NodeRows | None:
    if path is None:
        refuse_columns(id, x, option)
        return None
    from lsprune.files import node_features as features

    return features.read(path, id, x, memory)


def refuse_columns(id: str | None, x: Sequence[str], option: str) -> None:
    """OptionError for names of columns in a table that was not named by this option."""
    prefix = option.removesuffix("features")
    for name, given in (("id", id), ("x", ", ".join(x))):
        if given:
            flag = f"{prefix}{name}".replace("_", "-")
            raise OptionError(
                f"{prefix}{name} (--{flag}) must come with {option} (--{option.replace('_', '-')}), got {given!r} alone"
            )


def _one_kind(edges: Edges, rows: NodeRows | None, num_nodes: NumNodes, table: Path | None, path: Path) -> Graph:
    nodes: Any = edges.num_nodes if num_nodes is None else num_nodes
    x = edges.x if rows is None else rows.x
    if x is None and nodes is None:
        _check_range(edges, path)
    if rows is None or table is None:
        return _graph(edges, x, nodes)
    for end, name in _ends(edges):
        _check_rows(end, name, rows, table, path, edges, known=nodes is not None)
    return replace(_graph(edges, x, nodes), known=(rows.known, rows.known))


def _two_kinds(
    edges: Edges, rows: Sequence[NodeRows | None], num_nodes: NumNodes, tables: Sequence[Path | None], path: Path
) -> Graph:
    stored = edges.num_nodes if isinstance(edges.num_nodes, tuple) else (edges.num_nodes,) * 2
    if isinstance(num_nodes, int):
        raise OptionError(
            f"num_nodes must be a pair (--num-nodes and --num-targets), one for each kind of nodes, got {num_nodes}"
        )
    nodes = [one if given is None else given for given, one in zip(num_nodes or (None, None), stored, strict=True)]
    if edges.indptr is not None and edges.rows is not None:
        nodes[("source", "target").index(edges.rows)] = edges.indptr.shape[0] - 1
    x = [one if found is None else found.x for found, one in zip(rows, edges.x_ends, strict=True)]
    for at, (end, name) in enumerate(_ends(edges)):
        found, table = rows[at], tables[at]
        if found is not None and table is not None:
            _check_rows(end, name, found, table, path, edges, known=nodes[at] is not None)
        if nodes[at] is None and x[at] is None:
            _check_far(end, name, edges, path)
        if nodes[at] is None:
            nodes[at] = int(end.max(initial=-1)) + 1 if x[at] is None else int(x[at].shape[0])
    graph = _graph(edges, (x[0], x[1]), (nodes[0], nodes[1]))
    known = [None if found is None else found.known for found in rows]
    return replace(graph, known=(known[0], known[1]))


def _ends(edges: Edges) -> list[tuple[Array, str]]:
    """The ids of each end and the name of their column; of compressed rows those that have edges."""
    both = zip((edges.source, edges.target), edges.names, strict=True)
    return [(_owning(edges) if end is None else end, name) for end, name in both]


def _owning(edges: Edges) -> Array:
    """The compressed rows that have edges."""
    assert edges.indptr is not None
    return np.flatnonzero(np.diff(edges.indptr))


def _has_loops(edges: Edges) -> bool:
    if edges.source is None or edges.target is None or edges.source.shape != edges.target.shape:
        return False
    return bool((edges.source == edges.target).any())


def _check_rows(ids: Array, name: str, rows: NodeRows, table: Path, path: Path, edges: Edges, *, known: bool) -> None:
    """Raise for an edge whose end is not among the nodes of a table."""
    count = int(rows.x.shape[0])
    if rows.joined:
        check_ends(ids, name, rows, count, path, edges.place)
    elif not known and ids.size and int(ids.max()) >= count:
        raise FormatError(f"{table}: has {count} rows, but the edges name node {int(ids.max())}")


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
    if edges.indptr is None:
        for ids, name in _ends(edges):
            _check_far(ids, name, edges, path)


def _check_far(ids: Array, name: str, edges: Edges, path: Path) -> None:
    if ids.size and int(ids.max()) >= 64 * max(ids.size, 1 << 20):
        raise FormatError(
            f"{path}: column {name!r}, {edges.place(int(ids.argmax()))}: id {int(ids.max())} is far beyond the "
            f"{ids.size} edges; number the nodes 0..N-1, or give num_nodes if it is meant"
        )


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except GraphError as error:
        raise GraphError(str(error) if str(path) in str(error) else f"{path}: {error}") from None


def _checked(mask: Array, count: int) -> Array:
    try:
        mask = as_array(mask, "mask")
    except GraphError as error:
        raise OptionError(str(error)) from None
    if mask.dtype != np.bool_ or mask.shape != (count,):
        raise OptionError(f"mask must be {count} booleans, one for each edge, got {mask.dtype} {list(mask.shape)}")
    return mask


def _same(one: PathLike, other: PathLike) -> bool:
    try:
        return Path(one).samefile(other)
    except FileNotFoundError:
        return os.path.realpath(one) == os.path.realpath(other)
