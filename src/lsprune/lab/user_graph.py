"""A user's graph read from files: edges, features, labels and split. Without torch, so that `inspect` works without."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.errors import FormatError, OptionError
from lsprune.files import read_edges
from lsprune.files import suffix_of as edge_suffix
from lsprune.files.columns import need, stack
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.node_table import id_column, is_id_name, node_columns, row_order
from lsprune.files.npy import read_npy, read_npz
from lsprune.files.seals import VerifiedInput, check_inputs
from lsprune.files.sparse_matrix import is_matrix, to_matrix
from lsprune.graph import Array, Graph
from lsprune.lab.node_labels import CLASSES, check_task, read_labels, to_numpy
from lsprune.lab.node_splits import MASKS, Masks, chosen_split, masks_of_column, splits_of_masks

NODE_SUFFIXES = (".npy", ".npz", ".parquet")
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
        features: a node file (`.npy`, `.npz`, `.parquet`), or the name of an array in `graph`; default `x` in `graph`.
            Labels, masks and ids in a node file are not features.
        id: column of node ids in node files; default `id`, `node_id` or `node` if there is one.
        x: feature columns in the node file; default `x` if it holds lists, else all columns without another role.
        labels: a file of labels, if they are neither in `graph` nor in the node file.
        label: name of the array or column of labels; default `y` if there is one.
        split: names of three masks, or of one column with the values train, val and test; default `train_mask`,
            `val_mask` and `test_mask` if they exist.
        split_number: of masks with several splits (`[N, splits]`), only this one; default all, one for each seed.
        split_seed: seed of a random split, instead of masks.
        task: what the labels are, one of `node_labels.TASKS`; default: their type and shape say it.
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
    source: str | None = None
    target: str | None = None
    memory: str | int | None = None
    verify_input: bool = False

    def __post_init__(self) -> None:
        check_task(self.task)
        if len(self.split) not in (0, 1, 3):
            names = ", ".join(self.split)
            raise OptionError(f"split must name three masks or one column, got {len(self.split)} names: {names}")
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
        path = Path(self.features or "")
        return path if path.suffix.lower() in NODE_SUFFIXES else None

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
    """

    graph: Graph
    y: Array | None
    classes: tuple[str, ...]
    masks: Masks | None
    kind: str = CLASSES
    splits: tuple[Masks, ...] = ()

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
    feature_columns = _read_nodes(files.node_file, "features", files, memory) if files.node_file else {}
    label_columns = _read_nodes(files.labels, "labels", files, memory) if files.labels else {}
    label = files.label or _default_label(label_columns, files.labels)
    x = _features(feature_columns, {label, *files.split, *MASKS}, files.x, files.node_file) if files.node_file else None
    edges = read_edges(
        files.graph, source=files.source, target=files.target, edge_attr=files.edge_attr,
        num_nodes=None if x is None else x.shape[0], memory=memory,
    )  # fmt: skip
    graph_arrays = dict(getattr(edges.content, "arrays", {}))  # only a .npz holds more than edges
    array_name = None if files.node_file else files.features
    graph = _with_x(edges.graph, _column(graph_arrays, array_name, "features", files.graph) if array_name else x)
    columns = {**graph_arrays, **feature_columns, **label_columns}
    if files.label is not None:
        _column(columns, label, "label", files.labels or files.node_file or files.graph)
    splits = _splits(files, columns, graph.num_nodes)
    masks = splits[0] if splits else None
    verified.check()
    if label not in columns:
        return UserGraph(graph, None, (), masks, splits=splits)
    path = files.labels or files.node_file or files.graph
    labels = read_labels(columns[label], label, graph.num_nodes, path, files.task)
    return UserGraph(graph, labels.y, labels.classes, masks, labels.kind, splits)


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
        raise OptionError(f"{option} must be a name in {path} ({names}), got {name!r}{hint}")
    return columns[name]


# Node files


def _read_nodes(path: Path, option: str, files: UserGraphFiles, memory: MemoryBudget) -> Columns:
    """Return the columns of a node file with row i for node i; those of Parquet as Arrow arrays."""
    columns = _read_columns(path, option, memory)
    other_roles = (files.label or DEFAULT_LABEL, *files.split, *files.x, *MASKS)
    option_id = files.id if not files.id or files.id in columns or not _id_may_be_elsewhere(files, path) else None
    name = id_column(columns, option_id, other_roles, path)
    if name is None:
        return columns
    order = row_order(_ids(columns.pop(name), name, path), name, path)
    return {column: _reordered(values, order) for column, values in columns.items()}


def _id_may_be_elsewhere(files: UserGraphFiles, path: Path) -> bool:
    """Return whether `path` is the file of labels beside a file of features, which may be the one with the ids."""
    return files.node_file is not None and files.labels is not None and path == files.labels


def _ids(values: Any, name: str, path: Path) -> Array:
    if not hasattr(values, "type"):
        return np.asarray(values)
    from lsprune.files.arrow_columns import integers

    return integers(values, name, path)


def _reordered(values: Any, order: Array) -> Any:
    """Return the rows in this order; an array with another number of rows is not about nodes and stays as it is."""
    if not hasattr(values, "type"):
        return values[order] if getattr(values, "shape", ())[:1] == order.shape else values
    from lsprune.files.arrow_columns import take_rows

    return take_rows(values, order)


def _read_columns(path: Path, option: str, memory: MemoryBudget) -> Columns:
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return {"x" if option == "features" else DEFAULT_LABEL: read_npy(path)}
    if suffix == ".npz":
        arrays = read_npz(path, memory)
        return {"x": to_matrix(arrays, path)} if is_matrix(arrays) else dict(arrays)
    if suffix == ".parquet":
        from lsprune.files.parquet import read_parquet

        table = read_parquet(path, memory)
        return {name: table[name] for name in table.column_names}
    raise FormatError(f"{option} must be a file with the suffix {', '.join(NODE_SUFFIXES)}, got {path}")


def _features(columns: Columns, other_roles: set[str], x: tuple[str, ...], path: Path) -> Any:
    """Return the features in a node file: the columns `x`, by default all that are not label, split or id."""
    need(list(columns), x, path)
    candidates = list(x) or [name for name in columns if name not in other_roles and not is_id_name(name)]
    if path.suffix.lower() != ".parquet":
        names = candidates if x else ["x"] if "x" in candidates else candidates
        if not x and len(names) != 1:
            others = ", ".join(candidates)
            raise FormatError(f"{path}: features must be an array x, or the only other array, got {others}")
        return columns[names[0]] if len(names) == 1 else stack([np.asarray(columns[name]) for name in names])
    from lsprune.files.arrow_columns import is_list, numbers

    if not candidates:
        raise FormatError(f"{path}: features must be columns of numbers, got none beside {', '.join(columns)}")
    roles = node_columns({name: is_list(columns[name].type) for name in candidates}, None, x, path)
    return stack([numbers(columns[name], name, path) for name in roles.features])


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
