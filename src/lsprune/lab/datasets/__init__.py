"""The paper's datasets and two more, with their splits, read from a local folder or downloaded by PyG."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.checks import is_whole
from lsprune.errors import FormatError, MissingDependency, OptionError
from lsprune.graph import Array
from lsprune.lab.user_graph import MASKS
from lsprune.numeric.random_numbers import draw

try:
    import torch
    from torch_geometric import datasets as pyg
    from torch_geometric.data import Data
    from torch_geometric.transforms import NormalizeFeatures

    from lsprune.lab.datasets.dataset_files import DatasetFiles
    from lsprune.lab.datasets.npz_files import read_ppi_npz, read_qm9_npz
except ImportError as error:
    raise MissingDependency("lsprune.lab needs PyTorch Geometric: pip install 'lsprune[gnn]'") from error

QM9_TARGETS = ("mu", "alpha", "homo", "lumo", "gap", "r2", "zpve", "U0", "U", "H", "G", "Cv")
_SPLIT_STREAM = 1001  # stream of random numbers; pruners use smaller numbers


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset with its splits.

    If `single` is True, `train`, `val` and `test` are the same `Data`, with `train_mask`, `val_mask` and `test_mask`.
    Else they are three sequences of `Data`; also for PPI, whose nodes are classified on unseen graphs.

    Args:
        task: "node-classification", "graph-regression" or "graph-classification".
        num_features: number of columns of `x`; 0 without `x`.
        num_classes: number of classes, of labels per node, or of regression targets; 0 without `y`.
        targets: names of the first columns of `y` of a regression. QM9 has seven more columns than names.
        missing: which of "features" and "labels" this copy does not have; studies skip it with a message.
        categories: number of values of `x` and `edge_attr` if they are categories; not every split has all of them.
    """

    name: str
    task: str
    train: Any = field(repr=False)
    val: Any = field(repr=False)
    test: Any = field(repr=False)
    num_features: int
    num_classes: int
    targets: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    categories: Mapping[str, int] = field(default_factory=dict)

    @property
    def single(self) -> bool:
        """Whether the three splits are masks over the nodes of one graph."""
        return isinstance(self.train, Data)


def load(name: str, *, data: str | os.PathLike[str] | None = None, split_seed: int = 0) -> Dataset:
    """Return the dataset of that name, with the splits of the paper.

    The Planetoid datasets have the "full" split and row-normalised features; GitHub, Computers and CS 60/20/20 % of the
    nodes; QM9 110,000 / 10,000 / the rest; ZINC and PPI have splits of their own.

    Args:
        name: one of `NAMES`, in upper or lower case.
        data: the folder of local datasets, which is never written to. Default: LSPRUNE_DATA; if that is not set either,
            PyG downloads into the cache folder (LSPRUNE_CACHE, else ~/.cache/lsprune).
        split_seed: seed of the random split, for datasets without splits of their own.

    >>> load("karate")
    Traceback (most recent call last):
    lsprune.errors.OptionError: dataset must be one of cora, citeseer, pubmed, github, ppi, qm9, zinc, computers, cs, \
got 'karate'
    """
    key = name.lower() if isinstance(name, str) else name
    if key not in NAMES:
        raise OptionError(f"dataset must be one of {', '.join(NAMES)}, got {name!r}")
    if not is_whole(split_seed) or split_seed < 0:
        raise OptionError(f"split_seed must be an integer >= 0, got {split_seed!r}")
    folder = os.environ.get("LSPRUNE_DATA") if data is None else data
    files, to_dataset = _DATASETS[key]
    content = files.read(key, Path(folder).expanduser().absolute() if folder else None)
    return to_dataset(key, content, int(split_seed))


def _split(count: int, sizes: tuple[int, int], seed: int) -> list[Array]:
    """Return sorted positions of train, validation and test: from counters, so the same with any numpy version."""
    order = np.argsort(draw(seed, _SPLIT_STREAM, np.arange(count)), kind="stable")
    return [np.sort(part) for part in np.split(order, np.cumsum(sizes))]


def split_nodes(nodes: Array, seed: int) -> list[Array]:
    """Return 60, 20 and 20 % of these nodes, for training, validation and test.

    >>> [part.tolist() for part in split_nodes(np.arange(10), 0)]
    [[1, 2, 3, 4, 7, 8], [0, 6], [5, 9]]
    """
    count = len(nodes)
    return [nodes[part] for part in _split(count, (count * 60 // 100, count * 20 // 100), seed)]


def _with_own_masks(name: str, content: Any, seed: int) -> Dataset:
    """Return the dataset of a graph that has masks."""
    graph = content[0]
    for key in MASKS:
        if not graph[key].any():  # PyG reads a truncated index file of Planetoid without an error
            raise FormatError(f"dataset {name} has no node in its {key}: its files are damaged")
    classes = int(graph.y.max()) + 1
    return Dataset(name, "node-classification", graph, graph, graph, graph.num_node_features, classes)


def _with_random_masks(name: str, content: Any, seed: int) -> Dataset:
    """Return the dataset of a graph without masks, with random ones over 60, 20 and 20 % of its nodes."""
    graph = content[0]
    count = graph.num_nodes
    parts = split_nodes(np.arange(count), seed)
    for key, part in zip(MASKS, parts, strict=True):
        graph[key] = torch.zeros(count, dtype=torch.bool)
        graph[key][torch.from_numpy(part)] = True
    return _with_own_masks(name, [graph], seed)


def _zinc(name: str, content: Any, seed: int) -> Dataset:
    train, val, test = content
    features, targets = train[0].num_node_features, ("constrained_solubility",)
    categories = {"x": 28, "edge_attr": 4}  # bonds 1 to 3
    return Dataset(name, "graph-regression", train, val, test, features, 1, targets=targets, categories=categories)


def _ppi(name: str, content: Any, seed: int) -> Dataset:
    train, val, test = content
    missing = tuple(word for word, key in (("features", "x"), ("labels", "y")) if key not in train[0])
    labels = train[0].y.shape[1] if "y" in train[0] else 0
    return Dataset(name, "node-classification", train, val, test, train[0].num_node_features, labels, missing=missing)


def _qm9(name: str, content: Any, seed: int) -> Dataset:
    if len(content) <= 120_000:
        raise FormatError(f"qm9 must have more than 120,000 molecules for the paper's split, got {len(content)}")
    train, val, test = (content[part] for part in _split(len(content), (110_000, 10_000), seed))
    features, categories = content[0].num_node_features, {"x": 10, "edge_attr": 4}  # up to fluorine; bonds 1 to 3
    return Dataset(
        name, "graph-regression", train, val, test, features, len(QM9_TARGETS), targets=QM9_TARGETS,
        categories=categories if features == 1 else {},  # else PyG's own QM9, whose attributes are vectors
    )  # fmt: skip


def _planetoid(name: str) -> DatasetFiles:
    pyg_class = partial(pyg.Planetoid, name=name, split="full", transform=NormalizeFeatures())
    return DatasetFiles(f"Planetoid/{name}", pyg_class, raw_parent=name)


def _named(folder: str, pyg_class: Any, name: str) -> DatasetFiles:
    """Return the files of one dataset of a PyG class that has several."""
    return DatasetFiles(f"{folder}/{name}", partial(pyg_class, name=name), raw_parent=name)


_PPI = DatasetFiles("PPI", partial(pyg.PPI), has_splits=True, npz="ppi_structure.npz", read_npz=read_ppi_npz)
# The files of each dataset, and the function that makes a `Dataset` of their content.
_DATASETS = {
    "cora": (_planetoid("Cora"), _with_own_masks),
    "citeseer": (_planetoid("CiteSeer"), _with_own_masks),
    "pubmed": (_planetoid("PubMed"), _with_own_masks),
    "github": (DatasetFiles("GitHub", partial(pyg.GitHub)), _with_random_masks),
    "ppi": (_PPI, _ppi),
    "qm9": (DatasetFiles("QM9", partial(pyg.QM9), npz="qm9.npz", read_npz=read_qm9_npz), _qm9),
    "zinc": (DatasetFiles("ZINC", partial(pyg.ZINC, subset=True), has_splits=True), _zinc),
    "computers": (_named("Amazon", pyg.Amazon, "Computers"), _with_random_masks),
    "cs": (_named("Coauthor", pyg.Coauthor, "CS"), _with_random_masks),
}
NAMES = tuple(_DATASETS)
