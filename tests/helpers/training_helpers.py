"""Tiny datasets of every task that train in a second, for the tests of the lab's training."""

from __future__ import annotations

import numpy as np
import torch
from torch_geometric.data import Data

from lsprune.lab.datasets import Dataset
from lsprune.lab.datasets.synthetic import synthetic_dataset
from lsprune.lab.studies.run import Run
from lsprune.lab.synthetic_graphs import Synthetic
from lsprune.lab.training import prepare
from lsprune.lab.training.callbacks import Callback
from lsprune.lab.training.graph_store import GraphStore

NODE_RUN = Run(study="s", dataset="communities", model="github-gat", method="unpruned", epochs=30, lr=0.01)


def communities() -> Dataset:
    """Return a graph of two communities; a node's neighbours tell its class better than its own features do."""
    rng = np.random.default_rng(0)
    label = np.arange(120) % 2
    linked = rng.random((120, 120)) < np.where(label[:, None] == label, 0.25, 0.02)
    np.fill_diagonal(linked, False)
    x = rng.standard_normal((120, 8)) + 0.4 * (2 * label[:, None] - 1)
    order = torch.from_numpy(rng.permutation(120))
    masks = {name: torch.zeros(120, dtype=torch.bool) for name in ("train_mask", "val_mask", "test_mask")}
    for mask, nodes in zip(masks.values(), (order[:60], order[60:90], order[90:]), strict=True):
        mask[nodes] = True
    data = Data(
        x=torch.from_numpy(x).float(), edge_index=torch.from_numpy(np.stack(np.nonzero(linked))),
        y=torch.from_numpy(label), **masks,
    )  # fmt: skip
    return Dataset("communities", "node-classification", data, data, data, num_features=8, num_classes=2)


def synthetic_graphs() -> Dataset:
    """Return 80 small graphs of two classes."""
    return synthetic_dataset(Synthetic(samples=80, classes=2, min_nodes=8, max_nodes=9))


def multi_label_graphs() -> Dataset:
    """Return six graphs with three labels per node that depend on the node's features."""
    rng = np.random.default_rng(0)
    graphs = []
    for _ in range(6):
        x = torch.from_numpy(rng.standard_normal((30, 6))).float()
        edge_index = torch.from_numpy(rng.integers(0, 30, (2, 200)))
        graphs.append(Data(x=x, edge_index=edge_index, y=(x[:, :3] > 0).float()))
    splits = graphs[:4], graphs[4:5], graphs[5:]
    return Dataset("multi-label", "node-classification", *splits, num_features=6, num_classes=3)


def use_datasets(monkeypatch, **datasets: Dataset) -> None:
    """Let runs load these datasets by name, beside `communities` and `graphs`."""
    known = {"communities": communities(), "graphs": synthetic_graphs(), **datasets}
    monkeypatch.setattr(prepare, "load_dataset", lambda name, data, limit: known[name])


class Recorder(Callback):
    """Stores every call."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.epochs: list[int] = []
        self.rows: list[dict[str, float]] = []
        self.records: list[dict] = []

    def on_run_start(self, run):
        self.runs.append(run)

    def on_epoch_end(self, epoch, row):
        self.epochs.append(epoch)
        self.rows.append(row)

    def on_run_end(self, record):
        self.records.append(record)


def categorical_graphs(model: str, count: int = 7) -> GraphStore:
    """Return graphs of 4, 5, ... nodes without self-loops, with the attributes that this model reads."""
    generator = torch.Generator().manual_seed(1)
    graphs = []
    for i in range(count):
        nodes, edges = 4 + i, 3 * (4 + i)
        source = torch.randint(nodes, (edges,), generator=generator)
        target = (source + 1 + torch.randint(nodes - 1, (edges,), generator=generator)) % nodes
        atom = torch.randint(4, (nodes, 1), generator=generator)
        x = atom if model == "zinc-pna" else torch.randn(nodes, 5, generator=generator)
        bond = torch.randint(4, (edges,), generator=generator)
        graphs.append(Data(x=x, edge_index=torch.stack([source, target]), edge_attr=bond, y=torch.tensor([i % 3])))
    return GraphStore.of(graphs)
