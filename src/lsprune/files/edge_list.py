"""Edge lists in files: `read_edges` reads one into memory, `open_edges` streams it, `write_edges` writes a part.

| path | reads, and writes the kept edges of |
|---|---|
| `.npz` | `edge_index [2, E]`, or `source` and `target`, or `indptr`, `indices` and `rows`; or scipy.sparse.save_npz |
| `.parquet` | a column of sources, a column of targets, any others |
| `.csv` `.tsv` (`.gz`, `.zst`) | the same as text, with or without a header |
| `.txt` `.edges` `.edgelist` (`.gz`, `.zst`) | separated by white space (or commas), `#` and `%` lines are comments |

`open_edges` also takes a `.npy` with `edge_index [2, E]`, and a folder of Parquet, text or `.npy` files (arrays named
as in a `.npz`); it memory-maps arrays, so that a `.npz` must have no compression.

Every column of a table belongs to its edges; of the arrays in a `.npz`, those that are as long as the edges.

A path may be a URL such as `s3://bucket/edges.parquet` (`files.remote`).

No file is ever unpickled, sizes are checked before memory is taken, and an output file appears whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from lsprune.checks import as_array
from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files.atomic_write import atomic_write, remove_abandoned
from lsprune.files.edge_files import EdgeFiles, LoadedEdges
from lsprune.files.edge_options import EdgeKeywords, EdgeOptions, PathLike
from lsprune.files.file_graph import FileGraph, build_graph
from lsprune.files.folders import list_files, refuse_copies
from lsprune.files.manifest import manifest_of
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.named_columns import with_named_columns
from lsprune.files.node_columns import read_columns
from lsprune.files.node_kinds import check_two_kinds
from lsprune.files.node_labels import check_names, from_table, with_labels
from lsprune.files.remote import Place, fetched, refuse_url, uploaded, url_of
from lsprune.files.seals import VerifiedInput, check_inputs
from lsprune.files.suffixes import input_suffix, suffix_of
from lsprune.graph import Array

if TYPE_CHECKING:
    from lsprune.files.parquet import ParquetFiles
    from lsprune.files.text import TextFiles

_NODE_BYTES = 16  # that a pruner needs for each node at least: where its edges begin, and how many it keeps


def read_edges(
    path: PathLike,
    options: EdgeOptions | None = None,
    *,
    memory: str | int | MemoryBudget | None = None,
    **keywords: Unpack[EdgeKeywords],
) -> FileGraph:
    """Return the graph of an edge list, with its file's other columns or arrays kept for `write_edges`.

    Args:
        path: a file with one of the suffixes of this module's table, or its URL.
        options: which columns hold what, and which tables describe the nodes.
        memory: bytes that the content of the files may take, such as "2GB"; default what is available. A file that
            declares more is refused before it is read. A `MemoryBudget` is shared with other files.
        keywords: fields of `EdgeOptions`: `source`, `target`, `edge_attr`, `float_edge_attr`, `features`, `id`, `x`,
            `num_nodes`, `edge_arrays`, `node_arrays`, `bipartite`, `target_features`, `target_id`, `target_x`, `label`,
            `train_mask`, `split`, `split_number`, `columns`, `verify_input`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "edges.csv"
    ...     _ = file.write_text("user,friend\\n0,1\\n1,2\\n")
    ...     read_edges(file, source="user", target="friend").graph
    Graph(nodes=3, edges=2)
    """
    options = EdgeOptions.of(options, keywords)
    budget = memory if isinstance(memory, MemoryBudget) else MemoryBudget.of(memory)
    with fetched(path, options) as (local, local_options):
        file_graph = _read(local, local_options, budget)
        if url_of(path) is not None or local_options is not options:
            file_graph.verified.check()
            file_graph = replace(file_graph, verified=VerifiedInput())  # of copies, which are removed now
    tables = (options.features, options.target_features)
    return replace(file_graph, inputs=tuple(Path(one) for one in (path, *tables) if one is not None))


def _read(path: Path, options: EdgeOptions, budget: MemoryBudget) -> FileGraph:
    """Return the graph of a file on this machine."""
    verified = check_inputs(options.inputs(path), sealed=options.verify_input)
    edges = _load(path, options, budget)
    targets = {name: getattr(options, name) for name in ("target_features", "target_id", "target_x")}
    two_kinds = check_two_kinds(options.bipartite, isinstance(edges.num_nodes, tuple), **targets)
    arrays = getattr(edges.content, "arrays", {})  # only a .npz holds more than edges
    own = options.tables[0]
    columns = read_columns(own.path, budget) if own is not None and options.label_names else {}
    check_names(options, (*arrays, *columns), path if own is None else own.path)
    from lsprune.files.node_features import read as read_features

    skip = (*options.label_names, *options.columns)
    rows = [
        None if table is None else read_features(table.path, table.id, table.x, budget, skip)
        for table in options.tables
    ]
    graph = build_graph(edges, rows, options, path, two_kinds=two_kinds)
    if options.num_nodes is None:  # a few bytes of a file may claim any number of nodes
        count = graph.num_sources + (graph.num_targets if graph.bipartite else 0)
        budget.take(count * _NODE_BYTES, f"{path}: a graph of {count:,} nodes")
    graph = with_labels(graph, options, arrays, lambda name: from_table(own, name, columns))
    graph = with_named_columns(graph, options, edges.content, path, budget)
    return FileGraph(graph, edges.content, options.inputs(path), verified)


def open_edges(path: PathLike, options: EdgeOptions | None = None, **keywords: Unpack[EdgeKeywords]) -> EdgeFiles:
    """Return an edge list on disk, a file or a folder, to be read in batches of bounded size.

    Footers and headers of all files are read and compared first. An id beyond `num_nodes` is an error when it is read.

    Args:
        path: a file or folder of this module's table.
        options: which columns hold what. Tables of nodes (`features`, `target_features`) are not read.
        keywords: fields of `EdgeOptions`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "edges.npy", np.array([[0, 1, 2], [1, 2, 0]]))
    ...     [batch.source.tolist() for batch in open_edges(Path(folder) / "edges.npy").batches(2)]
    [[0, 1], [2]]
    """
    refuse_url(path, "an edge list to be read in batches (`prune_stream` makes a copy)")
    options, path = EdgeOptions.of(options, keywords), Path(path)
    if options.verify_input:
        check_inputs([path], sealed=True)
    if path.is_dir():
        suffix, names = list_files(path)
        paths = [path / name for name in names]
    else:
        suffix = ".npy" if path.suffix.lower() == ".npy" else suffix_of(path)
        names, paths = ("",), [path]
    if suffix in (".npz", ".npy"):
        from lsprune.files.arrays import open_arrays

        files: EdgeFiles = open_arrays(path, paths, options)
    else:
        tables = open_tables(path, paths, names, suffix, options)
        refuse_copies(paths, tables.has_edges)
        files = tables
    check_two_kinds(options.bipartite, files.limits is not None)
    files.prepare()
    if options.float_edge_attr and files.attr_dtype is not None and files.attr_dtype.kind != "f":
        files.attr_dtype = np.dtype(np.float64)
    return files


def write_edges(path: PathLike, file_graph: FileGraph, mask: Array) -> None:
    """Write the edges with a True in `mask` to `path`, in the format its suffix names, whole or not at all."""
    check_output(path, *file_graph.inputs)
    file_graph.check()
    mask = _check_mask(mask, file_graph.graph.num_edges)
    with uploaded(path) as local:
        suffix = suffix_of(local)
        remove_abandoned(local)
        try:
            with atomic_write(local) as handle:
                file_graph.content.write(handle, suffix, mask)
        except FormatError as error:
            raise FormatError(f"{local}: {error}") from None
        manifest_of(local).unlink(missing_ok=True)  # of a file that was there before


def check_output(path: PathLike, *inputs: PathLike) -> None:
    """Raise if `path` has no known suffix, is one of the inputs, or its folder does not exist."""
    url = url_of(path)
    suffix_of(Path(os.fspath(path) if url is None else Place.of(url).path))
    for other in inputs:
        if _same_file(path, other):
            raise OptionError(f"the output must not be an input file, got {os.fspath(path)!r} for both")
    if url is not None:
        return
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"no such folder for the output: {folder}")


def _load(path: Path, options: EdgeOptions, memory: MemoryBudget) -> LoadedEdges:
    suffix = input_suffix(path)
    if suffix == ".npz":
        from lsprune.files.arrays import load_npz

        return load_npz(path, options, memory)
    return open_tables(path, [path], [""], suffix, options).load(memory)


def open_tables(
    path: Path, paths: Sequence[Path], names: Sequence[str], suffix: str, options: EdgeOptions
) -> ParquetFiles | TextFiles:
    """Return the files of a table of edges, not read yet."""
    # Formats are imported when they are needed: `import lsprune` stays fast.
    options.refuse_arrays(path)
    if suffix == ".parquet":
        from lsprune.files.parquet import ParquetFiles

        return ParquetFiles(paths, names, options)
    from lsprune.files.text import TextFiles

    return TextFiles(paths, names, options)


def _check_mask(mask: Array, count: int) -> Array:
    try:
        mask = as_array(mask, "mask")
    except GraphError as error:
        raise OptionError(str(error)) from None
    if mask.dtype != np.bool_ or mask.shape != (count,):
        raise OptionError(f"mask must be {count} booleans, one for each edge, got {mask.dtype} {list(mask.shape)}")
    return mask


def _same_file(path: PathLike, other: PathLike) -> bool:
    if (url := url_of(path)) is not None or url_of(other) is not None:
        return url == url_of(other)
    try:
        return Path(path).samefile(other)
    except FileNotFoundError:
        return os.path.realpath(path) == os.path.realpath(other)
