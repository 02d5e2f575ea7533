"""A user's graph as a `Dataset` for tasks on nodes, split by the masks in its files or 60/20/20."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from lsprune.attributes import is_category
from lsprune.errors import FormatError, OptionError
from lsprune.graph import Array
from lsprune.lab.datasets import Dataset
from lsprune.lab.datasets.splits import split_nodes
from lsprune.lab.node_labels import CLASSES, LABELS, NUMBERS
from lsprune.lab.node_splits import MASKS, Masks
from lsprune.lab.user_graph import UserGraph, UserGraphFiles, read_user_graph

MAX_ONE_HOT_COLUMNS = 4096  # of a category that is one-hot encoded for the model


def user_graph_dataset(files: UserGraphFiles) -> Dataset:
    """Return the dataset in these files. Pruners read its `x`, `edge_index` and `edge_attr`, never `y`."""
    user_graph = read_user_graph(files)
    graph, y = user_graph.graph, checked_labels(user_graph)
    splits = checked_splits(user_graph, files.split_seed or 0)
    data = Data(
        x=torch.from_numpy(model_features(graph.x)), y=torch.from_numpy(y),
        edge_index=torch.from_numpy(np.stack(graph.ends()).astype(np.int64)),
    )  # fmt: skip
    if graph.edge_attr is not None:
        data.edge_attr = torch.from_numpy(np.array(graph.edge_attr))
    data = split_of_seed(splits, data, 0)
    task = "node-regression" if user_graph.kind == NUMBERS else "node-classification"
    outputs = {CLASSES: len(user_graph.classes), LABELS: y.shape[-1], NUMBERS: 1}[user_graph.kind]
    redraw = partial(split_of_seed, splits) if len(splits) > 1 else None
    return Dataset(files.name, task, data, data, data, data.num_node_features, outputs, redraw=redraw)


def split_of_seed(splits: Sequence[Masks], data: Data, seed: int) -> Data:
    """Return the graph with the masks of a split: seed 0 has the first one; after the last one they begin again."""
    data = copy(data)
    for name, mask in zip(MASKS, splits[seed % len(splits)], strict=True):
        data[name] = torch.from_numpy(mask)
    return data


def checked_labels(user_graph: UserGraph) -> Array:
    """Return the labels; raise if a model cannot be trained on this graph."""
    if user_graph.graph.bipartite:
        raise OptionError("the graph must have one kind of nodes, got a bipartite graph with two")
    if user_graph.y is None:
        raise OptionError(
            "label must name the array or column of node labels (--label), or labels must be a file of them (--labels)"
        )
    if user_graph.kind == CLASSES and len(user_graph.classes) < 2:
        raise FormatError(f"the labels must have at least two classes, got {len(user_graph.classes)}")
    known = user_graph.y[user_graph.labelled]
    if user_graph.kind != CLASSES and np.unique(known).size < 2:
        what = "both 0 and 1" if user_graph.kind == LABELS else "at least two different numbers"
        raise FormatError(f"the labels must have {what}, got {np.unique(known).tolist() or 'none'}")
    return user_graph.y


def model_features(x: Any) -> Array:
    """Return features `[N, d]` float32 for a model; a single integer column is a category and is one-hot encoded."""
    if x is None:
        raise OptionError(
            "training needs node features: an array x in the graph's .npz, or features= (--features FILE)"
        )
    dense = np.array(x.toarray() if hasattr(x, "tocsr") else x)
    if is_category(dense):
        values, category = np.unique(dense.reshape(-1), return_inverse=True)
        if values.size > MAX_ONE_HOT_COLUMNS:
            raise FormatError(
                f"a single integer column of features must have at most {MAX_ONE_HOT_COLUMNS} values, got {values.size}"
            )
        return np.eye(values.size, dtype=np.float32)[category]
    if not np.isfinite(dense).all():
        row = int(np.flatnonzero(~np.isfinite(dense.reshape(dense.shape[0], -1)).all(axis=1))[0])
        raise FormatError(f"features must be finite numbers, got NaN or infinity at node {row}")
    return dense.reshape(dense.shape[0], -1).astype(np.float32)


def checked_splits(user_graph: UserGraph, seed: int) -> list[Masks]:
    """Return the splits; raise if a mask is empty, has unlabelled nodes or overlaps another of its split."""
    labelled = user_graph.labelled
    splits = list(user_graph.splits) or [_random_masks(labelled, seed)]
    for number, masks in enumerate(splits):
        _check_split(masks, labelled, f" in split {number}" if len(splits) > 1 else "")
    return splits


def _check_split(masks: Masks, labelled: Array, where: str) -> None:
    for name, mask in zip(MASKS, masks, strict=True):
        if not mask.any():
            raise FormatError(
                f"{name} must have at least one node, got none{where}; label more nodes or name masks (--split)"
            )
        if np.any(mask & ~labelled):
            node = int(np.flatnonzero(mask & ~labelled)[0])
            raise FormatError(f"{name} must have labelled nodes only, got node {node}{where}")
    overlap = np.flatnonzero(np.sum(masks, axis=0) > 1)
    if overlap.size:
        raise FormatError(
            f"each node must be in at most one mask, got node {int(overlap[0])} and {overlap.size - 1} more in "
            f"several{where}"
        )


def _random_masks(labelled: Array, seed: int) -> Masks:
    train, val, test = (np.isin(np.arange(labelled.size), part) for part in split_nodes(np.flatnonzero(labelled), seed))
    return train, val, test
