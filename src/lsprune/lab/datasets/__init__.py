"""The paper's datasets and two more, each with its splits: from a local copy, or downloaded by PyG's own classes."""

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
from lsprune.numeric.random_numbers import draw

try:
    import torch
    from torch_geometric import datasets as pyg
    from torch_geometric.data import Data
    from torch_geometric.transforms import NormalizeFeatures

    from lsprune.lab.datasets.compact_files import ppi_npz, qm9_npz
    from lsprune.lab.datasets.locations import Place
except ImportError as error:
    raise MissingDependency("lsprune.lab needs PyTorch Geometric: pip install 'lsprune[gnn]'") from error

QM9_TARGETS = ("mu", "alpha", "homo", "lumo", "gap", "r2", "zpve", "U0", "U", "H", "G", "Cv")
_SPLIT = 1001  # what a draw is for (kernels.mix), past the numbers that pruners use


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset with its splits.

    Where `single` is true, `train`, `val` and `test` are the same `Data`, with `train_mask`, `val_mask` and
    `test_mask`. Else they are three sequences of `Data`; so also for PPI, whose nodes are classified on unseen graphs.

    Args:
        task: "node-classification", "graph-regression" or "graph-classification".
        num_features: columns of `x`; 0 where there is none.
        num_classes: classes, or labels of a node that has several, or regression targets; 0 where there is no `y`.
        targets: names of the first columns of a regression's `y`. QM9 has seven more columns than names.
        categories: how many values `x` and `edge_attr` may have where they are categories; some are too rare to be in
            every part.
        lacks: what this copy has not, of "features" and "labels": a study that needs it says so and skips.
    """

    name: str
    task: str
    train: Any = field(repr=False)
    val: Any = field(repr=False)
    test: Any = field(repr=False)
    num_features: int
    num_classes: int
    targets: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    categories: Mapping[str, int] = field(default_factory=dict)

    @property
    def single(self) -> bool:
        """True where the three splits are masks over the nodes of one graph."""
        return isinstance(self.train, Data)


def load(name: str, *, data: str | os.PathLike[str] | None = None, split_seed: int = 0) -> Dataset:
    """The dataset of that name, with the splits of the paper.

    Planetoid's three have their "full" split and row-normalised features; GitHub, Computers and CS 60/20/20 of the
    nodes; QM9 110,000 / 10,000 / the rest; ZINC and PPI their own.

    Args:
        name: one of `NAMES`, in upper or lower case.
        data: a folder with local copies, the only place searched; it is never written to. Default: LSPRUNE_DATA; where
            that is not set either, PyG downloads into the cache folder (LSPRUNE_CACHE, else ~/.cache/lsprune).
        split_seed: which of the random splits, for the datasets that have no split of their own.

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
    given = os.environ.get("LSPRUNE_DATA") if data is None else data
    place, finish = _DATASETS[key]
    return finish(key, place.read(key, Path(given).expanduser().absolute() if given else None), int(split_seed))


def _split(count: int, sizes: tuple[int, int], seed: int) -> list[Array]:
    """Sorted positions of the train, validation and test parts: from counters, so the same with any numpy."""
    order = np.argsort(draw(seed, _SPLIT, np.arange(count)), kind="stable")
    return [np.sort(part) for part in np.split(order, np.cumsum(sizes))]


def split_nodes(nodes: Array, seed: int) -> list[Array]:
    """60, 20 and 20 % of these nodes, for training, validation and test.

    >>> [part.tolist() for part in split_nodes(np.arange(10), 0)]
    [[1, 2, 3, 4, 7, 8], [0, 6], [5, 9]]
    """
    count = len(nodes)
    return [nodes[part] for part in _split(count, (count * 60 // 100, count * 20 // 100), seed)]


def _masked(name: str, read: Any, seed: int) -> Dataset:
    """A graph that comes with its masks."""
    graph = read[0]
    for key in ("train_mask", "val_mask", "test_mask"):
        if not graph[key].any():  # PyG reads a cut index file of Planetoid's without an error
            raise FormatError(f"dataset {name} has no node in its {key}: its files are damaged")
    classes = int(graph.y.max()) + 1
    return Dataset(name, "node-classification", graph, graph, graph, graph.num_node_features, classes)


def _unmasked(name: str, read: Any, seed: int) -> Dataset:
    """A graph that gets masks over 60, 20 and 20 % of its nodes."""
    graph = read[0]
    count = graph.num_nodes
    parts = split_nodes(np.arange(count), seed)
    for key, part in zip(("train_mask", "val_mask", "test_mask"), parts, strict=True):
        graph[key] = torch.zeros(count, dtype=torch.bool)
        graph[key][torch.from_numpy(part)] = True
    return _masked(name, [graph], seed)


def _zinc(name: str, read: Any, seed: int) -> Dataset:
    train, val, test = read
    features, targets = train[0].num_node_features, ("constrained_solubility",)
    atoms = {"x": 28, "edge_attr": 4}  # bonds 1 to 3
    return Dataset(name, "graph-regression", train, val, test, features, 1, targets=targets, categories=atoms)


def _ppi(name: str, read: Any, seed: int) -> Dataset:
    train, val, test = read
    lacks = tuple(what for what, key in (("features", "x"), ("labels", "y")) if key not in train[0])
    labels = train[0].y.shape[1] if "y" in train[0] else 0
    return Dataset(name, "node-classification", train, val, test, train[0].num_node_features, labels, lacks=lacks)


def _qm9(name: str, read: Any, seed: int) -> Dataset:
    if len(read) <= 120_000:
        raise FormatError(f"qm9 must have more than 120,000 molecules for the paper's split, got {len(read)}")
    train, val, test = (read[part] for part in _split(len(read), (110_000, 10_000), seed))
    features, known = read[0].num_node_features, {"x": 10, "edge_attr": 4}  # up to fluorine; bonds 1 to 3
    return Dataset(
        name, "graph-regression", train, val, test, features, len(QM9_TARGETS), targets=QM9_TARGETS,
        categories=known if features == 1 else {},
    )  # fmt: skip


def _citation(name: str) -> Place:
    make = partial(pyg.Planetoid, name=name, split="full", transform=NormalizeFeatures())
    return Place(f"Planetoid/{name}", make, inside=name)


# Where each dataset is and what makes a `Dataset` of what is read there.
_DATASETS = {
    "cora": (_citation("Cora"), _masked),
    "citeseer": (_citation("CiteSeer"), _masked),
    "pubmed": (_citation("PubMed"), _masked),
    "github": (Place("GitHub", partial(pyg.GitHub)), _unmasked),
    "ppi": (Place("PPI", partial(pyg.PPI), own_splits=True, npz="ppi_structure.npz", read_npz=ppi_npz), _ppi),
    "qm9": (Place("QM9", partial(pyg.QM9), npz="qm9.npz", read_npz=qm9_npz), _qm9),
    "zinc": (Place("ZINC", partial(pyg.ZINC, subset=True), own_splits=True), _zinc),
    "computers": (Place("Amazon/Computers", partial(pyg.Amazon, name="Computers"), inside="Computers"), _unmasked),
    "cs": (Place("Coauthor/CS", partial(pyg.Coauthor, name="CS"), inside="CS"), _unmasked),
}
NAMES = tuple(_DATASETS)
