"""The paper's datasets and others, with their splits, read from a local folder or downloaded by PyG."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.checks import did_you_mean, is_whole
from lsprune.errors import FormatError, MissingDependency, OptionError
from lsprune.lab.node_splits import MASKS

try:
    import torch
    from torch_geometric import datasets as pyg
    from torch_geometric.data import Data, HeteroData
    from torch_geometric.transforms import NormalizeFeatures

    from lsprune.lab.datasets.dataset_files import CompactFile, DatasetFiles
    from lsprune.lab.datasets.hgb import ACM, DBLP, Schema, read_hgb_npz
    from lsprune.lab.datasets.npz_files import read_graph_npz, read_labelled_ppi_npz, read_ppi_npz, read_qm9_npz
    from lsprune.lab.datasets.splits import labelled_kind, split_known_labels, split_nodes, split_positions
    from lsprune.lab.datasets.undirected_graph import Features, undirected_graph
except ImportError as error:
    raise MissingDependency("lsprune.lab needs PyTorch Geometric: pip install 'lsprune[gnn]'") from error

# Columns of `y` of QM9. Of the four energies the atomisation energies, as the authors of MXMNet train: a total energy
# is nearly that of the single atoms, by thousands of eV.
QM9_TARGETS = {
    "mu": 0, "alpha": 1, "homo": 2, "lumo": 3, "gap": 4, "r2": 5, "zpve": 6, "U0": 12, "U": 13, "H": 14, "G": 15,
    "Cv": 11,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset with its splits.

    If `single` is True, `train`, `val` and `test` are the same `Data`, with `train_mask`, `val_mask` and `test_mask`.
    Else they are three sequences of `Data`; also for PPI, whose nodes are classified on unseen graphs. If `hetero` is
    True, the single graph is a `HeteroData`, one kind of whose nodes has `y` and the masks.

    Args:
        task: "node-classification", "node-regression", "graph-regression" or "graph-classification".
        num_features: number of columns of `x`; 0 without `x`.
        num_classes: number of classes, of labels per node, or of regression targets; 0 without `y`.
        targets: column of `y` of each target of a regression, by name.
        missing: which of "features" and "labels" this copy does not have; studies skip it with a message.
        rebuilt: which of them are not the published ones, so that results do not compare with published figures.
        metric: "roc-auc" for two classes of different sizes, where accuracy says little; None: the metric of the task.
        categories: number of values of `x` and `edge_attr` if they are categories; not every split has all of them.
        redraw: draws the masks of a single graph again, `redraw(graph, seed)`, if every seed of a study has a split of
            its own; None: all seeds have the same.
    """

    name: str
    task: str
    train: Any = field(repr=False)
    val: Any = field(repr=False)
    test: Any = field(repr=False)
    num_features: int
    num_classes: int
    targets: Mapping[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    rebuilt: tuple[str, ...] = ()
    metric: str | None = None
    categories: Mapping[str, int] = field(default_factory=dict)
    redraw: Callable[[Any, int], Any] | None = field(default=None, repr=False)

    @property
    def single(self) -> bool:
        """Whether the three splits are masks over the nodes of one graph."""
        return isinstance(self.train, Data | HeteroData)

    @property
    def hetero(self) -> bool:
        """Whether that graph has several kinds of nodes and relations."""
        return isinstance(self.train, HeteroData)


def load(name: str, *, data: str | os.PathLike[str] | None = None, split_seed: int = 0) -> Dataset:
    """Return the dataset of that name, with the splits of the paper.

    The Planetoid datasets have the "full" split and row-normalised features; QM9 110,000 / 10,000 / the rest; ZINC and
    PPI have splits of their own. The filtered Squirrel and Chameleon, Actor, Tolokers and Minesweeper have ten splits
    of their own, of which `split_seed` is the number. ACM and DBLP: 40/20/40 % of the nodes whose labels are sound, and
    every seed of a study has a split of its own. All others: 60/20/20 % of the nodes.

    Args:
        name: one of `NAMES`, in upper or lower case.
        data: the folder of local datasets, which is never written to. Default: LSPRUNE_DATA; if that is not set either,
            PyG downloads into the cache folder (LSPRUNE_CACHE, else ~/.cache/lsprune).
        split_seed: seed of the random split, for datasets without splits of their own, or number of one of ten splits.

    >>> load("karate")
    Traceback (most recent call last):
    lsprune.errors.OptionError: dataset must be one of cora, citeseer, pubmed, github, ppi, qm9, zinc, computers, cs, \
cora-ml, blogcatalog, flickr, facebook-pages, twitch-de, squirrel-filtered, chameleon-filtered, actor, tolokers, \
minesweeper, acm, dblp, got 'karate'
    """
    key = name.lower() if isinstance(name, str) else name
    if key not in NAMES:
        raise OptionError(f"dataset must be one of {', '.join(NAMES)}, got {name!r}{did_you_mean(name, NAMES)}")
    if not is_whole(split_seed) or split_seed < 0:
        raise OptionError(f"split_seed must be an integer >= 0, got {split_seed!r}")
    folder = os.environ.get("LSPRUNE_DATA") if data is None else data
    files, to_dataset = _DATASETS[key]
    content = files.read(key, Path(folder).expanduser().absolute() if folder else None)
    return to_dataset(key, content, int(split_seed))


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


def _with_ten_splits(name: str, content: Any, seed: int, metric: str | None = None) -> Dataset:
    """Return the dataset of a graph with masks `[N, 10]`; the seed is the number of a split."""
    graph = undirected_graph(content[0])
    splits = graph[MASKS[0]].shape[1]
    if seed >= splits:
        raise OptionError(f"split_seed must be in 0..{splits - 1} for {name}, which has {splits} splits, got {seed}")
    for key in MASKS:
        graph[key] = graph[key][:, seed].contiguous()
    return replace(_with_own_masks(name, [graph], seed), metric=metric)


def _undirected(name: str, content: Any, seed: int, features: Features = "stored") -> Dataset:
    """Return the dataset of an undirected graph without masks."""
    return _with_random_masks(name, [undirected_graph(content[0], features)], seed)


def _zinc(name: str, content: Any, seed: int) -> Dataset:
    train, val, test = content
    features, targets = train[0].num_node_features, {"constrained_solubility": 0}
    categories = {"x": 28, "edge_attr": 4}  # bonds 1 to 3
    return Dataset(name, "graph-regression", train, val, test, features, 1, targets=targets, categories=categories)


def _ppi(name: str, content: Any, seed: int) -> Dataset:
    train, val, test = content
    missing = tuple(word for word, key in (("features", "x"), ("labels", "y")) if key not in train[0])
    labels = train[0].y.shape[1] if "y" in train[0] else 0
    return Dataset(
        name, "node-classification", train, val, test, train[0].num_node_features, labels, missing=missing,
        rebuilt=train[0].rebuilt if "rebuilt" in train[0] else (),
    )  # fmt: skip


def _qm9(name: str, content: Any, seed: int) -> Dataset:
    if len(content) <= 120_000:
        raise FormatError(f"qm9 must have more than 120,000 molecules for the paper's split, got {len(content)}")
    train, val, test = (content[part] for part in split_positions(len(content), (110_000, 10_000), seed))
    features, categories = content[0].num_node_features, {"x": 10, "edge_attr": 4}  # up to fluorine; bonds 1 to 3
    return Dataset(
        name, "graph-regression", train, val, test, features, len(QM9_TARGETS), targets=QM9_TARGETS,
        categories=categories if features == 1 else {},  # else PyG's own QM9, whose attributes are vectors
    )  # fmt: skip


def hetero_dataset(name: str, graph: HeteroData, seed: int) -> Dataset:
    """Return the dataset of a graph of several kinds of nodes, with masks over those whose labels are known."""
    graph, nodes = split_known_labels(graph, seed), graph[labelled_kind(graph)]
    classes = int(nodes.y.max()) + 1
    return Dataset(
        name, "node-classification", graph, graph, graph, nodes.x.shape[1], classes, redraw=split_known_labels
    )


def _planetoid(name: str) -> DatasetFiles:
    pyg_class = partial(pyg.Planetoid, name=name, split="full", transform=NormalizeFeatures())
    return DatasetFiles(f"Planetoid/{name}", pyg_class, raw_parent=name)


def _named(folder: str, pyg_class: Any, name: str) -> DatasetFiles:
    """Return the files of one dataset of a PyG class that has several."""
    return DatasetFiles(f"{folder}/{name}", partial(pyg_class, name=name), raw_parent=name)


def _graph_npz(name: str) -> tuple[CompactFile, ...]:
    return (CompactFile(f"graphs/{name}.npz", read_graph_npz),)


def _npz_or_pyg(npz: str, folder: str, pyg_class: partial[Any], raw_parent: str = "") -> DatasetFiles:
    """Return the files of a graph of which PyG has the same data."""
    return DatasetFiles(folder, pyg_class, raw_parent, compact=_graph_npz(npz))


def _npz_only(npz: str) -> DatasetFiles:
    """Return the file of a graph that PyG does not have, or only with other features."""
    return DatasetFiles("graphs", None, compact=_graph_npz(npz))


def _hgb(npz: str, schema: Schema) -> DatasetFiles:
    """Return the file of a graph of several kinds of nodes; PyG's class has other names and masks."""
    return DatasetFiles(
        "graphs", None, compact=(CompactFile(f"graphs/{npz}.npz", partial(read_hgb_npz, schema=schema)),)
    )


_PPI_FILES = (
    CompactFile("graphs/ppi.npz", read_labelled_ppi_npz),
    CompactFile("PPI/ppi_structure.npz", read_ppi_npz),
)
_QM9_FILES = (CompactFile("QM9/qm9.npz", read_qm9_npz),)
_BLOGCATALOG = partial(pyg.AttributedGraphDataset, name="BlogCatalog")
_FLICKR = partial(pyg.AttributedGraphDataset, name="Flickr")
_TOLOKERS = partial(pyg.HeterophilousGraphDataset, name="Tolokers")
_MINESWEEPER = partial(pyg.HeterophilousGraphDataset, name="Minesweeper")
_counted_words, _ranked_nodes = (
    partial(_undirected, features="row-normalised"),
    partial(_with_ten_splits, metric="roc-auc"),
)
# The files of each dataset, and the function that makes a `Dataset` of their content.
_DATASETS: dict[str, tuple[DatasetFiles, Callable[[str, Any, int], Dataset]]] = {
    "cora": (_planetoid("Cora"), _with_own_masks),
    "citeseer": (_planetoid("CiteSeer"), _with_own_masks),
    "pubmed": (_planetoid("PubMed"), _with_own_masks),
    "github": (DatasetFiles("GitHub", partial(pyg.GitHub)), _with_random_masks),
    "ppi": (DatasetFiles("PPI", partial(pyg.PPI), has_splits=True, compact=_PPI_FILES), _ppi),
    "qm9": (DatasetFiles("QM9", partial(pyg.QM9), compact=_QM9_FILES), _qm9),
    "zinc": (DatasetFiles("ZINC", partial(pyg.ZINC, subset=True), has_splits=True), _zinc),
    "computers": (_named("Amazon", pyg.Amazon, "Computers"), _with_random_masks),
    "cs": (_named("Coauthor", pyg.Coauthor, "CS"), _with_random_masks),
    "cora-ml": (
        _npz_or_pyg("cora_ml", "CitationFull/Cora_ML", partial(pyg.CitationFull, name="Cora_ML"), "cora_ml"),
        partial(_undirected, features="binary"),  # as PyG reads this family of files
    ),
    "blogcatalog": (
        _npz_or_pyg("blogcatalog_attr", "AttributedGraphDataset/BlogCatalog", _BLOGCATALOG, "blogcatalog"),
        _counted_words,
    ),
    "flickr": (_npz_or_pyg("flickr_attr", "AttributedGraphDataset/Flickr", _FLICKR, "flickr"), _counted_words),
    "facebook-pages": (_npz_only("musae_facebook"), _undirected),
    "twitch-de": (_npz_only("twitch_de"), _undirected),
    "squirrel-filtered": (_npz_only("squirrel_filtered"), _with_ten_splits),
    "chameleon-filtered": (_npz_only("chameleon_filtered"), _with_ten_splits),
    "actor": (_npz_or_pyg("actor", "Actor", partial(pyg.Actor)), _with_ten_splits),
    "tolokers": (_npz_or_pyg("tolokers", "HeterophilousGraphDataset/Tolokers", _TOLOKERS, "tolokers"), _ranked_nodes),
    "minesweeper": (
        _npz_or_pyg("minesweeper", "HeterophilousGraphDataset/Minesweeper", _MINESWEEPER, "minesweeper"),
        _ranked_nodes,
    ),
    "acm": (_hgb("hgb_acm", ACM), hetero_dataset),
    "dblp": (_hgb("hgb_dblp", DBLP), hetero_dataset),
}
NAMES = tuple(_DATASETS)
