"""A graph of one's own as a `Dataset`: nodes are classified, by the masks in the files or 60/20/20."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from lsprune.attributes import is_category
from lsprune.errors import FormatError, OptionError
from lsprune.graph import Array
from lsprune.lab.datasets import Dataset, split_nodes
from lsprune.lab.user_graph import MASKS, OwnFiles, OwnGraph, read_own

CATEGORIES = 4096  # the most values of a category that a model gets as columns of zeros and ones


def own_dataset(files: OwnFiles) -> Dataset:
    """The dataset in these files. Pruners get `x`, `edge_index` and `edge_attr` of it, never `y`."""
    own = read_own(files)
    y = checked_labels(own)
    source, target = own.graph.ends()
    data = Data(
        x=torch.from_numpy(model_features(own.graph.x)), y=torch.from_numpy(y),
        edge_index=torch.from_numpy(np.stack([source, target]).astype(np.int64)),
    )  # fmt: skip
    if own.graph.edge_attr is not None:
        data.edge_attr = torch.from_numpy(np.array(own.graph.edge_attr))
    for name, mask in zip(MASKS, masks_of(own, y, files.split_seed or 0), strict=True):
        data[name] = torch.from_numpy(mask)
    return Dataset(files.name, "node-classification", data, data, data, data.num_node_features, len(own.classes))


def checked_labels(own: OwnGraph) -> Array:
    """The labels `[N]` of a graph that can be trained on."""
    if own.graph.bipartite:
        raise OptionError("the graph must have one kind of nodes; sources and targets of this one are two")
    if own.y is None:
        raise OptionError("label must name the labels of the nodes, an array or column (--label), or --labels a file")
    if len(own.classes) < 2:
        raise FormatError(f"the labels must have at least two classes, got {len(own.classes)}")
    return own.y


def model_features(x: Any) -> Array:
    """`[N, d]` float32; a single column of whole numbers is a category, which becomes zeros and ones."""
    if x is None:
        raise OptionError("features must be given to train on: an array x in the graph's .npz, or --features FILE")
    dense = np.array(x.toarray() if hasattr(x, "tocsr") else x)
    if is_category(dense):
        names, place = np.unique(dense.reshape(-1), return_inverse=True)
        if names.size > CATEGORIES:
            raise FormatError(f"features of one column must have at most {CATEGORIES} values, got {names.size}")
        return np.eye(names.size, dtype=np.float32)[place]
    if not np.isfinite(dense).all():
        row = int(np.flatnonzero(~np.isfinite(dense.reshape(dense.shape[0], -1)).all(axis=1))[0])
        raise FormatError(f"features must be finite numbers, got NaN or infinity at node {row}")
    return dense.reshape(dense.shape[0], -1).astype(np.float32)


def masks_of(own: OwnGraph, y: Array, seed: int) -> list[Array]:
    """The three masks, of labelled nodes only, none empty, no node in two of them."""
    masks = list(own.masks) if own.masks else [np.isin(np.arange(y.size), part) for part in _drawn(y, seed)]
    for name, mask in zip(MASKS, masks, strict=True):
        if not mask.any():
            raise FormatError(f"{name} must hold at least one node, got none; label more nodes or give --split")
        if np.any(y[mask] < 0):
            raise FormatError(
                f"{name} must hold labelled nodes only, got node {int(np.flatnonzero(mask & (y < 0))[0])}"
            )
    twice = np.flatnonzero(np.sum(masks, axis=0) > 1)
    if twice.size:
        raise FormatError(
            f"no node may be in two parts of the split, got node {int(twice[0])} and {twice.size - 1} more"
        )
    return masks


def _drawn(y: Array, seed: int) -> list[Array]:
    return split_nodes(np.flatnonzero(y >= 0), seed)
