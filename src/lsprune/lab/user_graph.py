"""A user's graph read from files: edges, features, labels and split. Without torch, so that `inspect` works without."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.adapters.tables.text_id_files import NodeIds, find_rows, number_edges, open_text_ids
from lsprune.checks import did_you_mean
from lsprune.errors import FormatError, OptionError
from lsprune.files import EdgeOptions, FileGraph, read_edges
from lsprune.files import suffix_of as edge_suffix
from lsprune.files.columns import need, stack
from lsprune.files.edge_options import check_split
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.node_columns import is_table, known_suffix, node_suffix, read_columns
from lsprune.files.node_table import NO_FEATURE, WHOLE_IDS, id_column, is_id_name, node_columns, row_order
from lsprune.files.npy import array_names, read_npy
from lsprune.files.seals import VerifiedInput, check_inputs
from lsprune.files.sparse_matrix import is_matrix, to_matrix
from lsprune.files.suffixes import input_suffix
from lsprune.graph import Array, Graph
from lsprune.lab.node_labels import CLASSES, check_task, read_labels, to_numpy
from lsprune.lab.node_splits import MASKS, Masks, chosen_split, masks_of_column, splits_of_masks

DEFAULT_LABEL = "y"
_DIGEST_OPTIONS = ("features", "label", "split", "split_seed", "edge_attr", "source", "target")
_NEWER_DIGEST_OPTIONS = (
    "id",
    "x",
    "task",
    "split_number",
)  # hashed only if set, so that names of graphs from older versions stay the same
Columns = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class UserGraphFiles:
    """The files of a user's graph and the names of the arrays or columns in them.

    Row i of a node file is node i, unless the file has a column of ids; then the ids say which node a row belongs to.

    Args:
        graph: an edge list as `lsprune.files.read_edges` reads it.
        features: a node file (`.npy`, `.npz`, `.parquet`, `.csv`, `.tsv`), or the name of an array in `graph`; default
            `x` in `graph`. Labels, masks and ids in a node file are not features.
        id: column of node ids in node files; default `id`, `node_id` or `node` if there is one.
        x: feature columns in the node file; default `x` if it holds lists, else all columns without another role.
        labels: a file of labels, if they are neither in `graph` nor in the node file.
        label: name of the array or column of labels; default `y` if there is one.
        split: names of three masks, or of one column with the values train, val and test; default `train_mask`,
            `val_mask` and `test_mask` if they exist.
        split_number: of masks with several splits (`[N, splits]`), only this one; default all, one for each seed.
        split_seed: seed of a random split, instead of masks.
        task: what the labels are, one of `node_labels.TASKS`; default: their type and shape say it.
        float_edge_attr: read whole numbers in `edge_attr` as floats, as `read_edges` does.
        memory: limit for the files as in `read_edges`; it does not change the name or digest of the graph.
        verify_input: refuse files that are not as `lsprune.files.seal` sealed them, or have no seal.
    """

    graph: Path
    features: str | None = None
    id: str | None = None
    x: tuple[str, ...] = ()
    labels: Path | None = None
    label: str | None = None
    split: tuple[str, ...] = ()
    split_number: int | None = None
    split_seed: int | None = None
    task: str | None = None
    edge_attr: tuple[str, ...] = ()
    float_edge_attr: bool = False
    source: str | None = None
    target: str | None = None
    memory: str | int | None = None
    verify_input: bool = False

    def __post_init__(self) -> None:
        check_task(self.task)
        check_split(self.split)
        if self.split and self.split_seed is not None:
            raise OptionError(f"split_seed must not be set with split, got {self.split_seed} and {self.split[0]}")
        if self.split_number is not None and self.split_seed is not None:
            raise OptionError(
                f"split_seed must not be set with the number of a split, got {self.split_seed} and {self.split_number}"
            )
        if self.x and self.node_file is None:
            raise OptionError(f"x (--x) needs a node file (--features), got {', '.join(self.x)} without one")
        if self.id is not None and self.node_file is None and self.labels is None:
            raise OptionError(f"id (--id) needs a node file (--features or --labels), got {self.id} without one")

    @property
    def node_file(self) -> Path | None:
        """The node file that holds the features; None if they are an array in `graph`."""
        return Path(self.features) if self.features and known_suffix(self.features) else None

    @property
    def inputs(self) -> tuple[Path, ...]:
        """All files, each once."""
        paths = (self.graph, self.node_file, self.labels)
        return tuple(dict.fromkeys(path for path in paths if path is not None))

    @property
    def name(self) -> str:
        """The graph's file name and the digest of its content, such as `cora-1f2e3d4c`: other content, other name."""
        stem = self.graph.name.removesuffix(edge_suffix(self.graph))
        return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', stem).strip('-.') or 'graph'}-{self.digest()[:8]}"

    def digest(self) -> str:
        """Return the hash of the bytes of all files and of the options that name what is read; not of their paths."""
        digest = hashlib.sha256()
        for path in (self.graph, self.node_file, self.labels):
            if path is not None:
                with path.open("rb") as handle:
                    digest.update(hashlib.file_digest(handle, "sha256").digest())
        options = {name: getattr(self, name) for name in _DIGEST_OPTIONS}
        options |= {
            name: value for name in _NEWER_DIGEST_OPTIONS if (value := getattr(self, name)) not in (None, "", ())
        }
        options |= {"float_edge_attr": True} if self.float_edge_attr else {}
        options |= {"features": None if self.node_file else self.features, "label": self.label or DEFAULT_LABEL}
        digest.update(repr(options).encode())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class UserGraph:
    """A graph with the labels and the splits of its nodes.

    Args:
        y: see `node_labels.NodeLabels`; None without labels. classes: their names. kind: of the labels.
        masks: of the first split, `[N]` bool: train, val, test; None for a random split.
        splits: all splits, one of which is used for each seed.
        features, no_features: names of the columns of the node file that are features, and of those that are neither
            features nor ids; empty without a node file.
    """

    graph: Graph
    y: Array | None
    classes: tuple[str, ...]
    masks: Masks | None
    kind: str = CLASSES
    splits: tuple[Masks, ...] = ()
    features: tuple[str, ...] = ()
    no_features: tuple[str, ...] = ()

    @property
    def labelled(self) -> Array:
        """Which nodes have a label, `[N]` bool."""
        if self.y is None:
            return np.zeros(self.graph.num_nodes, bool)
        if self.kind == CLASSES:
            return np.asarray(self.y >= 0)
        return np.asarray(np.isfinite(self.y).reshape(self.y.shape[0], -1).all(axis=1))


def read_user_graph(files: UserGraphFiles) -> UserGraph:
    """Return the graph, its labels and its splits, all checked against the number of nodes."""
    verified = check_inputs(files.inputs, sealed=True) if files.verify_input else VerifiedInput()
    memory = MemoryBudget.of(files.memory, "allow more with --memory (memory=)")
    tables = [
        _NodeTable.read(path, option, files, memory)
        for path, option in ((files.node_file, "features"), (files.labels, "labels"))
        if path is not None
    ]
    label = files.label or _default_label({} if files.labels is None else tables[-1].columns, files.labels)
    _check_names(files, tables)
    features = _feature_names(tables[0], {label, *files.split, *MASKS}, files.x) if files.node_file else ()
    no_features = tuple(name for name in tables[0].columns if name not in features) if files.node_file else ()
    edges, tables = _read_edges(files, tables, features, memory)
    graph_arrays = dict(getattr(edges.content, "arrays", {}))  # only a .npz holds more than edges
    if files.node_file is not None:
        x = _features(tables[0], features, files.x)
    else:
        x = _column(graph_arrays, files.features, "features", files.graph) if files.features else None
    graph = _with_x(edges.graph, x)
    columns = {**graph_arrays, **{name: column for table in tables for name, column in table.columns.items()}}
    path = files.labels or files.node_file or files.graph
    if files.label is not None:
        _column(columns, label, "label", path)
    splits = _splits(files, columns, graph.num_nodes)
    masks = splits[0] if splits else None
    verified.check()
    if label not in columns:
        return UserGraph(graph, None, (), masks, splits=splits, features=features, no_features=no_features)
    labels = read_labels(columns[label], label, graph.num_nodes, path, files.task)
    return UserGraph(graph, labels.y, labels.classes, masks, labels.kind, splits, features, no_features)


def _default_label(columns: Columns, path: Path | None) -> str:
    """Return the name of the labels if the user names none: `y`, or the only column of a file of labels."""
    if path is None or DEFAULT_LABEL in columns:
        return DEFAULT_LABEL
    if len(columns) != 1:
        raise OptionError(f"label must name one of {', '.join(columns) or 'no arrays'} in {path}, got none")
    return next(iter(columns))


def _with_x(graph: Graph, x: Any) -> Graph:
    if x is None:
        return graph
    if x.ndim not in (1, 2) or x.shape[0] != graph.num_nodes or x.dtype.kind not in "fiub":
        raise FormatError(
            f"features must be numbers of shape [{graph.num_nodes}, d], one row per node, got {x.dtype} {list(x.shape)}"
        )
    return replace(graph, x_source=x, x_target=x)


def _column(columns: Mapping[str, Any], name: str, option: str, path: Path) -> Any:
    """Return the column of that name; raise OptionError if there is none."""
    if name not in columns:
        names = ", ".join(columns) or "which holds no node arrays"
        hint = {"label": "; --labels names another file", "features": ", or a file"}.get(option, "")
        raise OptionError(
            f"{option} must be a name in {path} ({names}), got {name!r}{did_you_mean(name, columns) or hint}"
        )
    return columns[name]


# Node files


@dataclass(frozen=True, eq=False)
class _NodeTable:
    """A node file: its columns without that of ids, those of tables as Arrow arrays, and the ids, if there are any."""

    path: Path
    columns: Columns
    id: str | None = None
    ids: Any = None

    @classmethod
    def read(cls, path: Path, option: str, files: UserGraphFiles, memory: MemoryBudget) -> _NodeTable:
        columns = _read_columns(path, option, memory)
        other_roles = (files.label or DEFAULT_LABEL, *files.split, *files.x, *MASKS)
        option_id = files.id if not files.id or files.id in columns or not _id_may_be_elsewhere(files, path) else None
        name = id_column(columns, option_id, other_roles, path)
        return cls(path, columns) if name is None else cls(path, columns, name, columns.pop(name))

    @property
    def node_ids(self) -> NodeIds:
        if self.id is None:
            names = ", ".join(self.columns)
            raise FormatError(f"{self.path}: must have a column of ids, as those of edges are text; it has {names}")
        return NodeIds(self.path, self.id, self.ids)

    def placed(self, rows: Array, count: int) -> _NodeTable:
        """Return the table with these of its `count` rows, in this order."""
        columns = {name: _taken(values, rows, count) for name, values in self.columns.items()}
        return _NodeTable(self.path, columns)

    def ordered(self) -> _NodeTable:
        """Return the table with row i for node i, by its ids if it has any."""
        if self.id is None:
            return self
        return self.placed(row_order(_ids(self.ids, self.id, self.path), self.id, self.path), len(self.ids))


def _check_names(files: UserGraphFiles, tables: Sequence[_NodeTable]) -> None:
    """Raise OptionError if labels or a split are not there, before anything is taken for a feature in their place."""
    names = dict.fromkeys(name for table in tables for name in table.columns)
    names |= dict.fromkeys(array_names(files.graph) if input_suffix(files.graph) == ".npz" else ())
    path = files.labels or files.node_file or files.graph
    for option, name in (("label", files.label), *(("split", name) for name in files.split)):
        if name is not None:
            _column(names, name, option, path)


def _read_edges(
    files: UserGraphFiles, tables: list[_NodeTable], features: tuple[str, ...], memory: MemoryBudget
) -> tuple[FileGraph, list[_NodeTable]]:
    """Return the edges, and the tables with row i for node i."""
    options = EdgeOptions(
        source=files.source, target=files.target, edge_attr=files.edge_attr, float_edge_attr=files.float_edge_attr
    )
    text = open_text_ids(files.graph, options)
    if text is None:
        tables = [table.ordered() for table in tables]
        rows = _count(tables[0].columns[features[0]]) if features else None
        return read_edges(files.graph, options, num_nodes=rows, memory=memory), tables
    numbered = number_edges(files.graph, text, options, tables[0].node_ids if tables else None, memory)
    graph = numbered.graph()
    placed = []
    for table in tables:  # one without ids has the rows of the first
        first = table is tables[0] or table.id is None
        rows_of = numbered.table_rows if first else find_rows(numbered, table.node_ids)
        placed.append(table.placed(rows_of, len((tables[0] if first else table).ids)))
    return FileGraph(graph, numbered.content, (files.graph,)), placed


def _id_may_be_elsewhere(files: UserGraphFiles, path: Path) -> bool:
    """Return whether `path` is the file of labels beside a file of features, which may be the one with the ids."""
    return files.node_file is not None and files.labels is not None and path == files.labels


def _ids(values: Any, name: str, path: Path) -> Array:
    if not hasattr(values, "type"):
        return np.asarray(values)
    from lsprune.files.arrow_columns import integers

    return integers(values, name, path, hint=WHOLE_IDS)


def _count(values: Any) -> int:
    return len(values) if hasattr(values, "type") else int(values.shape[0]) if values.ndim else 0


def _taken(values: Any, rows: Array, count: int) -> Any:
    """Return these rows of `count`; an array with another number of rows is not about nodes and stays as it is."""
    if not hasattr(values, "type"):
        return values[rows] if getattr(values, "shape", ())[:1] == (count,) else values
    from lsprune.files.arrow_columns import take_rows

    return take_rows(values, rows)


def _read_columns(path: Path, option: str, memory: MemoryBudget) -> Columns:
    suffix = node_suffix(path, option)
    if suffix == ".npy":
        return {"x" if option == "features" else DEFAULT_LABEL: read_npy(path)}
    columns = read_columns(path, memory)
    return {"x": to_matrix(columns, path)} if suffix == ".npz" and is_matrix(columns) else columns


def _feature_names(table: _NodeTable, other_roles: set[str], x: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the features in a node file: `x`, by default all that are not label, split or id."""
    columns, path = table.columns, table.path
    need(list(columns), x, path)
    candidates = list(x) or [name for name in columns if name not in other_roles and not is_id_name(name)]
    if is_table(path):
        if not candidates:
            raise FormatError(f"{path}: features must be columns of numbers, got none beside {', '.join(columns)}")
        from lsprune.files.arrow_columns import is_list

        return node_columns({name: is_list(columns[name].type) for name in candidates}, None, x, path).features
    names = candidates if x else ["x"] if "x" in candidates else candidates
    if not x and len(names) != 1:
        others = ", ".join(candidates)
        raise FormatError(f"{path}: features must be an array x, or the only other array, got {others}")
    return tuple(names)


def _features(table: _NodeTable, names: tuple[str, ...], x: tuple[str, ...]) -> Any:
    """Return the features of these names in a node file."""
    columns = table.columns
    if is_table(table.path):
        from lsprune.files.arrow_columns import numbers

        hint = "" if x else NO_FEATURE
        return stack([numbers(columns[name], name, table.path, hint=hint) for name in names])
    return columns[names[0]] if len(names) == 1 else stack([np.asarray(columns[name]) for name in names])


def _splits(files: UserGraphFiles, columns: Columns, nodes: int) -> tuple[Masks, ...]:
    """Return the splits in the masks that the option split names, or in those of the default names; none if random."""
    if files.split_seed is not None:
        return ()
    if not files.split and not all(name in columns for name in MASKS):
        return chosen_split((), files.split_number)
    names, path = files.split or MASKS, files.labels or files.node_file or files.graph
    arrays = tuple(to_numpy(_column(columns, name, "split", path), name, path) for name in names)
    if len(arrays) == 1:
        return (masks_of_column(arrays[0], names[0], nodes),)
    return chosen_split(splits_of_masks(arrays, names, nodes), files.split_number)
