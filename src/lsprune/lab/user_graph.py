"""A user's own graph: what its files say of edges, features, labels and split. No torch here: `inspect` needs none."""

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
from lsprune.files.sparse_matrix import is_matrix, to_matrix
from lsprune.graph import Array, Graph

MASKS = ("train_mask", "val_mask", "test_mask")
PARTS = ("train", "val", "test")
NODE_SUFFIXES = (".npy", ".npz", ".parquet")
LABEL = "y"
_DECIDING = ("features", "label", "split", "split_seed", "edge_attr", "source", "target")
_DECIDING_TOO = ("id", "x")  # part of a name only where given, so that names from before they were stay
Columns = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class OwnFiles:
    """Where a graph of one's own is, and what in it is what.

    Row i of a node file is node i, unless it has a column of ids: its rows are then joined by it.

    Args:
        graph: an edge list as `lsprune.files.read_edges` reads it.
        features: a file of nodes (`.npy`, `.npz`, `.parquet`), or the name of an array in `graph`; default its `x`.
            Labels, masks and a column of ids in such a file are not features.
        id: the column of ids in node files; default `id` (or `node_id`, `node`) where there is one.
        x: columns of features in the node file; default `x` if it holds lists, else all that are nothing else.
        labels: a file of labels, where they are neither in `graph` nor in the file of features.
        label: the name of the labels' array or column; default `y` where there is one.
        split: names of three masks, or of one column with train, val and test; default `train_mask`, `val_mask` and
            `test_mask` where they are.
        split_seed: which random split, instead of masks.
        memory: that the files may take, as in `read_edges`; it has no part in the name or digest of the graph.
    """

    graph: Path
    features: str | None = None
    id: str | None = None
    x: tuple[str, ...] = ()
    labels: Path | None = None
    label: str | None = None
    split: tuple[str, ...] = ()
    split_seed: int | None = None
    edge_attr: tuple[str, ...] = ()
    source: str | None = None
    target: str | None = None
    memory: str | int | None = None

    def __post_init__(self) -> None:
        if len(self.split) not in (0, 1, 3):
            names = ", ".join(self.split)
            raise OptionError(f"split must be three masks or one column, by commas, got {len(self.split)}: {names}")
        if self.split and self.split_seed is not None:
            raise OptionError(f"split_seed must not be given with split, got {self.split_seed} and {self.split[0]}")
        if self.x and self.node_file is None:
            raise OptionError(f"x (--x) must come with a file of features (--features), got {', '.join(self.x)} alone")
        if self.id is not None and self.node_file is None and self.labels is None:
            raise OptionError(f"id (--id) must come with a file of nodes (--features or --labels), got {self.id} alone")

    @property
    def node_file(self) -> Path | None:
        """The file of features, if they are in a file of their own."""
        named = Path(self.features or "")
        return named if named.suffix.lower() in NODE_SUFFIXES else None

    @property
    def name(self) -> str:
        """The graph's file name and its content's digest, such as `cora-1f2e3d4c`: another content, another name."""
        stem = self.graph.name.removesuffix(edge_suffix(self.graph))
        return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', stem).strip('-.') or 'graph'}-{self.digest()[:8]}"

    def digest(self) -> str:
        """The hash of the bytes of all files and of what is read from them; paths have no part in it."""
        told = hashlib.sha256()
        for path in (self.graph, self.node_file, self.labels):
            if path is not None:
                with path.open("rb") as handle:
                    told.update(hashlib.file_digest(handle, "sha256").digest())
        said = {name: getattr(self, name) for name in _DECIDING}
        said |= {name: getattr(self, name) for name in _DECIDING_TOO if getattr(self, name)}
        said |= {"features": None if self.node_file else self.features, "label": self.label or LABEL}
        told.update(repr(said).encode())
        return told.hexdigest()


@dataclass(frozen=True, eq=False)
class OwnGraph:
    """A graph with what its files say of the nodes."""

    graph: Graph
    y: Array | None  # [N] int64, -1 = not known
    classes: tuple[str, ...]
    masks: tuple[Array, Array, Array] | None  # [N] bool: train, val, test


def read_own(files: OwnFiles) -> OwnGraph:
    """The graph, its labels as classes 0, 1, .. and its split; each is checked against the number of nodes."""
    memory = MemoryBudget.of(files.memory, "allow more with --memory (memory=)")
    nodes = _read_nodes(files.node_file, "features", files, memory) if files.node_file else {}
    given = _read_nodes(files.labels, "labels", files, memory) if files.labels else {}
    label = files.label or _only(given, files.labels)
    x = _features(nodes, {label, *files.split, *MASKS}, files.x, files.node_file) if files.node_file else None
    edges = read_edges(
        files.graph, source=files.source, target=files.target, edge_attr=files.edge_attr,
        num_nodes=None if x is None else x.shape[0], memory=memory,
    )  # fmt: skip
    stored = dict(getattr(edges.content, "arrays", {}))  # only a .npz holds more than edges
    named = None if files.node_file else files.features
    graph = _with_x(edges.graph, _need(stored, named, "features", files.graph) if named else x)
    known = {**stored, **nodes, **given}
    if files.label is not None:
        _need(known, label, "label", files.labels or files.node_file or files.graph)
    y, classes = _classes(known[label], label, graph.num_nodes) if label in known else (None, ())
    return OwnGraph(graph, y, classes, _masks(files, known, graph.num_nodes))


def _only(given: Columns, path: Path | None) -> str:
    """The name of the labels where none was given: the usual one, or the only one in a file of labels."""
    if path is None or LABEL in given:
        return LABEL
    if len(given) != 1:
        raise OptionError(f"label must name one of {', '.join(given) or 'no arrays'} in {path}, got none")
    return next(iter(given))


def _with_x(graph: Graph, x: Any) -> Graph:
    if x is None:
        return graph
    if x.ndim not in (1, 2) or x.shape[0] != graph.num_nodes or x.dtype.kind not in "fiub":
        raise FormatError(
            f"features must be numbers of shape [{graph.num_nodes}, d], a row for each node, got {x.dtype} "
            f"{list(x.shape)}"
        )
    return replace(graph, x_source=x, x_target=x)


def _need(columns: Mapping[str, Any], name: str, option: str, path: Path) -> Any:
    if name not in columns:
        there = ", ".join(columns) or "which holds no arrays of nodes"
        other = {"label": "; --labels names another file", "features": ", or a file"}.get(option, "")
        raise OptionError(f"{option} must be a name in {path} ({there}), got {name!r}{other}")
    return columns[name]


# Files of nodes


def _read_nodes(path: Path, option: str, files: OwnFiles, memory: MemoryBudget) -> Columns:
    """The columns or arrays of a file of nodes, row i for node i; those of Parquet as Arrow has them."""
    columns = _read_columns(path, option, memory)
    others = (files.label or LABEL, *files.split, *files.x, *MASKS)
    named = files.id if not files.id or files.id in columns or not _elsewhere(files, path) else None
    name = id_column(columns, named, others, path)
    if name is None:
        return columns
    order = row_order(_ids(columns.pop(name), name, path), name, path)
    return {column: _taken(values, order) for column, values in columns.items()}


def _elsewhere(files: OwnFiles, path: Path) -> bool:
    """Whether another file of nodes may have the column of ids that was named: labels beside features."""
    return files.node_file is not None and files.labels is not None and path == files.labels


def _ids(values: Any, name: str, path: Path) -> Array:
    if not hasattr(values, "type"):
        return np.asarray(values)
    from lsprune.files.arrow_columns import integers

    return integers(values, name, path)


def _taken(values: Any, order: Array) -> Any:
    """Rows in another order; what has another number of rows belongs to no node, and stays."""
    if not hasattr(values, "type"):
        return values[order] if getattr(values, "shape", ())[:1] == order.shape else values
    from lsprune.files.arrow_columns import take_rows

    return take_rows(values, order)


def _read_columns(path: Path, option: str, memory: MemoryBudget) -> Columns:
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return {"x" if option == "features" else LABEL: read_npy(path)}
    if suffix == ".npz":
        arrays = read_npz(path, memory)
        return {"x": to_matrix(arrays, path)} if is_matrix(arrays) else dict(arrays)
    if suffix == ".parquet":
        from lsprune.files.parquet import read_parquet

        table = read_parquet(path, memory)
        return {name: table[name] for name in table.column_names}
    raise FormatError(f"{option} must be a file with the suffix {', '.join(NODE_SUFFIXES)}, got {path}")


def _features(nodes: Columns, others: set[str], asked: tuple[str, ...], path: Path) -> Any:
    """The features in a file of nodes: what was asked for, or is neither label nor part of the split nor id."""
    need(list(nodes), asked, path)
    left = list(asked) or [name for name in nodes if name not in others and not is_id_name(name)]
    if path.suffix.lower() != ".parquet":
        names = left if asked else ["x"] if "x" in left else left
        if not asked and len(names) != 1:
            raise FormatError(f"{path}: features must be an array x, or the only other array, got {', '.join(left)}")
        return nodes[names[0]] if len(names) == 1 else stack([np.asarray(nodes[name]) for name in names])
    from lsprune.files.arrow_columns import is_list, numbers

    if not left:
        raise FormatError(f"{path}: features must be columns of numbers, got none beside {', '.join(nodes)}")
    chosen = node_columns({name: is_list(nodes[name].type) for name in left}, None, asked, path)
    return stack([numbers(nodes[name], name, path) for name in chosen.features])


def _plain(values: Any) -> Array:
    """A column as a numpy array: missing numbers are NaN, missing strings None."""
    if hasattr(values, "to_numpy"):
        if str(values.type).startswith("dictionary"):
            values = values.cast(values.type.value_type)
        return np.asarray(values.to_numpy())
    return np.asarray(values)


# Labels and split


def _classes(column: Any, name: str, nodes: int) -> tuple[Array, tuple[str, ...]]:
    """(the class of each node, the classes' names): whole numbers or strings; below 0, NaN or nothing is not known."""
    values = _plain(column)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.shape != (nodes,):
        raise FormatError(f"label {name} must have shape [{nodes}], one for each node, got {list(values.shape)}")
    if values.dtype.kind == "f":
        known = np.isfinite(values) & (values >= 0)
        if np.any(values[known] != np.floor(values[known])):
            raise FormatError(f"label {name} must be whole numbers or strings, got {values[known][0]:g}, a measure?")
        values = np.where(known, values, -1).astype(np.int64)
    elif values.dtype.kind in "iub":
        known = values >= 0 if values.dtype.kind == "i" else np.ones(nodes, bool)
    else:
        known = np.array([isinstance(value, str) and value != "" for value in values], bool)
    names, place = np.unique(
        values[known].astype(str if values.dtype.kind == "O" else values.dtype), return_inverse=True
    )
    y = np.full(nodes, -1, np.int64)
    y[known] = place
    return y, tuple(map(str, names.tolist()))


def _masks(files: OwnFiles, known: Columns, nodes: int) -> tuple[Array, Array, Array] | None:
    """The masks of the split that was asked for, or of the usual names; None where a random one is to be drawn."""
    if files.split_seed is not None:
        return None
    if not files.split and not all(name in known for name in MASKS):
        return None
    names, place = files.split or MASKS, files.labels or files.node_file or files.graph
    columns = [_plain(_need(known, name, "split", place)) for name in names]
    if len(columns) == 1:
        return _parts(columns[0], names[0], nodes)
    first, second, third = (_mask(values, name, nodes) for values, name in zip(columns, names, strict=True))
    return first, second, third


def _parts(values: Array, name: str, nodes: int) -> tuple[Array, Array, Array]:
    if values.shape != (nodes,):
        raise FormatError(f"split {name} must have shape [{nodes}], one for each node, got {list(values.shape)}")
    train, val, test = (np.asarray(values == part) for part in PARTS)
    if not (train.any() and val.any() and test.any()):
        there = ", ".join(sorted({str(value) for value in values[:1000]})[:5])
        raise FormatError(f"split {name} must hold train, val and test, got {there}")
    return train, val, test


def _mask(values: Array, name: str, nodes: int) -> Array:
    if values.shape != (nodes,) or not (values.dtype.kind == "b" or np.isin(values, (0, 1)).all()):
        raise FormatError(f"split {name} must be [{nodes}] truth values, got {values.dtype} {list(values.shape)}")
    return values.astype(bool)
