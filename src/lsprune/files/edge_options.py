"""How to read an edge list: which columns hold what, and which tables describe the nodes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

import numpy as np

from lsprune.checks import Array, check_flag, counts_of
from lsprune.errors import OptionError
from lsprune.files.columns import refuse_same_ends

PathLike = str | os.PathLike[str]
NumNodes = int | tuple[int | None, int | None] | None  # a pair: of sources and of targets, where they are two kinds


class EdgeKeywords(TypedDict, total=False):
    """The fields of `EdgeOptions` as keywords of `read_edges`, `open_edges` and all functions that call them."""

    source: str | None
    target: str | None
    edge_attr: Sequence[str]
    float_edge_attr: bool
    features: PathLike | None
    id: str | None
    x: Sequence[str]
    num_nodes: NumNodes
    edge_arrays: Sequence[str]
    node_arrays: Sequence[str]
    bipartite: bool | None
    target_features: PathLike | None
    target_id: str | None
    target_x: Sequence[str]
    label: str | None
    train_mask: str | None
    split: Sequence[str]
    split_number: int | None
    columns: Sequence[str]
    verify_input: bool


@dataclass(frozen=True)
class TableOptions:
    """A table of nodes: its file, its column of ids and its columns of features."""

    path: Path
    id: str | None
    x: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class EdgeOptions:
    """How to read an edge list, in memory and streaming alike.

    Args:
        source, target: names of the two columns (or arrays); default `source`/`target`, `src`/`dst`, `s`/`t`,
            `from`/`to`, or the first two columns of a text file without a header.
        edge_attr: names of the columns (or arrays) that describe an edge.
        float_edge_attr: read whole numbers in them as floats: as quantities, such as times or counts. Otherwise one
            column of whole numbers is a category.
        features: node attributes: `.npy` (memory-mapped), `.npz` (one array, or scipy.sparse.save_npz), `.parquet`, or
            text (`.csv`, `.tsv`, also `.gz` and `.zst`) whose first line names the columns. Row i is node i, unless the
            table has a column of ids: its rows are then joined by it.
        id: the column (or array) of ids in `features`; default `id` (or `node_id`, `node`) where there is one.
        x: columns of features; default `x` if it holds lists, else all columns but ids.
        num_nodes: number of nodes; default from the features, else the largest id + 1. A pair for two kinds of nodes.
        edge_arrays, node_arrays: names of arrays of a `.npz` that belong to the edges, and are cut with them, or do
            not, and are copied whole. Default: what is as long as the edges belongs to them; where there are as many
            nodes, writing refuses.
        bipartite: sources and targets are two kinds of nodes with ids of their own; False: they are one. Default: one
            kind, with a warning where the names of the columns look like two.
        target_features, target_id, target_x: those of the targets where there are two kinds; `features`, `id` and `x`
            are then those of the sources.
        label, train_mask: names of the node labels and of the mask of training nodes, for `weights="labels"`: arrays
            of the `.npz` with the edges (default `y` and `train_mask`), or columns of `features`, which are then no
            features. A mask may also be a column of strings, where "train" is a training node.
        split: instead of `train_mask`, names as those of a split: three masks, of which the first is that of training
            nodes, or one column of strings. None of them are features.
        split_number: of a mask with several splits (`[N, splits]`), the one to use.
        columns: names of columns of edges or nodes that a pruner asks for by name (`Timed(time="t")`,
            `TopWeight(column="t")`); those of nodes are then no features. `open_edges` gives those of edges in batches.
        verify_input: refuse files that are not as `lsprune.files.seal` sealed them, or have no seal. Otherwise the size
            of a sealed file is compared, and no more.

    >>> EdgeOptions(source="from_user", target="to_user", edge_attr=["weight"]).edge_attr
    ('weight',)
    """

    source: str | None = None
    target: str | None = None
    edge_attr: Sequence[str] = ()
    float_edge_attr: bool = False
    features: PathLike | None = None
    id: str | None = None
    x: Sequence[str] = ()
    num_nodes: NumNodes = None
    edge_arrays: Sequence[str] = ()
    node_arrays: Sequence[str] = ()
    bipartite: bool | None = None
    target_features: PathLike | None = None
    target_id: str | None = None
    target_x: Sequence[str] = ()
    label: str | None = None
    train_mask: str | None = None
    split: Sequence[str] = ()
    split_number: int | None = None
    columns: Sequence[str] = ()
    verify_input: bool = False

    def __post_init__(self) -> None:
        for name in ("edge_attr", "x", "edge_arrays", "node_arrays", "target_x", "split", "columns"):
            object.__setattr__(self, name, tuple(getattr(self, name) or ()))
        for name in ("features", "target_features"):
            path = getattr(self, name)
            object.__setattr__(self, name, None if path is None else Path(path))
        object.__setattr__(self, "num_nodes", counts_of(self.num_nodes, "num_nodes", OptionError))
        if (self.source is None) != (self.target is None):
            raise OptionError("source and target must be named together, got only one of them")
        refuse_same_ends(self.source, self.target, OptionError)
        for name in self.edge_arrays:
            if name in self.node_arrays:
                raise OptionError(f"edge_arrays and node_arrays must have no name in common, got {name!r} in both")
        check_flag("float_edge_attr", self.float_edge_attr)
        check_split(self.split)
        if self.split and self.train_mask is not None:
            raise OptionError(
                f"train_mask (--train-mask) must not be given with split (--split), got {self.train_mask} and "
                f"{', '.join(self.split)}"
            )
        refuse_columns(self.id, self.x, "features", self.features)
        refuse_columns(self.target_id, self.target_x, "target_features", self.target_features)

    @classmethod
    def of(cls, options: EdgeOptions | None, keywords: EdgeKeywords) -> EdgeOptions:
        """Return the options with the keywords in their place; default options if there are none."""
        return cls(**keywords) if options is None else replace(options, **keywords)

    @property
    def two_kinds(self) -> bool:
        """Whether the caller says that sources and targets are two kinds of nodes."""
        return bool(self.bipartite) or isinstance(self.num_nodes, tuple)

    @property
    def tables(self) -> tuple[TableOptions | None, TableOptions | None]:
        """The table of the sources (of all nodes, if they are one kind), and that of the targets."""
        return (
            None if self.features is None else TableOptions(Path(self.features), self.id, tuple(self.x)),
            None
            if self.target_features is None
            else TableOptions(Path(self.target_features), self.target_id, tuple(self.target_x)),
        )

    def inputs(self, path: Path) -> tuple[Path, ...]:
        """Return the paths of all inputs: the edge list `path` and the tables of nodes."""
        return (path, *(table.path for table in self.tables if table is not None))

    @property
    def label_names(self) -> tuple[str, ...]:
        """The names of labels and masks that the caller gave."""
        return tuple(name for name in (self.label, self.train_mask, *self.split) if name is not None)

    @property
    def training(self) -> str | None:
        """The name of the mask of training nodes that the caller gave."""
        return next(iter(self.split), self.train_mask)

    def quantities(self, edge_attr: Array | None) -> Array | None:
        """Return attributes of edges as floats if the caller says that they are quantities."""
        if edge_attr is None or not self.float_edge_attr or edge_attr.dtype.kind == "f":
            return edge_attr
        return edge_attr.astype(np.float64)

    def refuse_arrays(self, path: Path) -> None:
        """Raise OptionError for names of arrays if the file is a table."""
        for option, names in (("edge_arrays", self.edge_arrays), ("node_arrays", self.node_arrays)):
            if names:
                raise OptionError(
                    f"{option} (--{option.replace('_', '-')}) must be names of arrays in a .npz, got "
                    f"{', '.join(names)} for {path}: every column of a table belongs to its edges"
                )


def check_split(names: Sequence[str]) -> None:
    """Raise OptionError unless there are no names, or those of one column or three masks."""
    if len(names) not in (0, 1, 3):
        raise OptionError(f"split must name three masks or one column, got {len(names)} names: {', '.join(names)}")


def refuse_columns(id: str | None, x: Sequence[str], option: str, table: PathLike | None = None) -> None:
    """Raise OptionError for names of columns if their table (`features` or `target_features`) is not named."""
    prefix = option.removesuffix("features")
    for name, value in (("id", id), ("x", ", ".join(x))):
        if value and table is None:
            flag = f"{prefix}{name}".replace("_", "-")
            raise OptionError(
                f"{prefix}{name} (--{flag}) must come with {option} (--{option.replace('_', '-')}), got {value!r} alone"
            )
