"""A user's graph as a dataset: features for a model, a split without leaks, labels that no pruner reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch_geometric")

import torch
from lab_records import method_fields
from own_files import EDGES, NODES, arrays, masks, npz
from scipy import sparse

from lsprune.errors import LspruneError
from lsprune.lab.datasets.splits import split_nodes
from lsprune.lab.datasets.user_graph import model_features, user_graph_dataset
from lsprune.lab.studies.methods import catalogue
from lsprune.lab.studies.run import Run
from lsprune.lab.training.prepare import prepare
from lsprune.lab.user_graph import UserGraphFiles


def test_masks_in_the_files_are_the_split(tmp_path: Path) -> None:
    dataset = user_graph_dataset(UserGraphFiles(graph=npz(tmp_path / "g.npz", **masks())))
    assert (dataset.task, dataset.num_features, dataset.num_classes, dataset.single) == (
        "node-classification",
        5,
        2,
        True,
    )
    assert dataset.train.num_edges == EDGES
    for name, mask in masks().items():
        np.testing.assert_array_equal(dataset.train[name].numpy(), mask)


def test_without_masks_the_split_is_60_20_20_of_the_labelled_nodes(tmp_path: Path) -> None:
    y = np.where(np.arange(NODES) < 50, arrays()["y"], -1)
    path = npz(tmp_path / "g.npz", y=y)
    data = user_graph_dataset(UserGraphFiles(graph=path)).train
    assert [int(data[name].sum()) for name in masks()] == [30, 10, 10]
    np.testing.assert_array_equal(np.flatnonzero(data.train_mask), split_nodes(np.arange(50), 0)[0])
    other = user_graph_dataset(UserGraphFiles(graph=path, split_seed=1)).train
    assert not torch.equal(other.train_mask, data.train_mask)


def test_of_several_splits_each_seed_has_its_own(tmp_path: Path) -> None:
    two = {name: np.stack([mask, np.roll(mask, 5)], axis=1) for name, mask in masks().items()}
    dataset = user_graph_dataset(UserGraphFiles(graph=npz(tmp_path / "g.npz", **two)))
    for seed in range(4):
        data = dataset.redraw(dataset.train, seed)
        for name, mask in two.items():
            np.testing.assert_array_equal(data[name].numpy(), mask[:, seed % 2])
    np.testing.assert_array_equal(dataset.train.train_mask.numpy(), two["train_mask"][:, 0])
    one = user_graph_dataset(UserGraphFiles(graph=tmp_path / "g.npz", split_number=1))
    assert one.redraw is None and torch.equal(one.train.val_mask, torch.from_numpy(two["val_mask"][:, 1]))
    npz(tmp_path / "g.npz", **{**two, "test_mask": two["test_mask"] | two["val_mask"]})
    with pytest.raises(LspruneError, match=r"at most one mask, got node \d+ and \d+ more in several in split 0"):
        user_graph_dataset(UserGraphFiles(graph=tmp_path / "g.npz"))


def test_several_labels_and_numbers(tmp_path: Path) -> None:
    y = arrays()["y"]
    rows = np.stack([y, 1 - y, y], axis=1)
    dataset = user_graph_dataset(UserGraphFiles(graph=npz(tmp_path / "g.npz", y=rows)))
    assert (dataset.task, dataset.num_classes, dataset.train.y.shape) == ("node-classification", 3, (NODES, 3))
    dataset = user_graph_dataset(UserGraphFiles(graph=npz(tmp_path / "g.npz", y=y / 3)))
    assert (dataset.task, dataset.num_classes, dataset.train.y.dtype) == ("node-regression", 1, torch.float32)
    for changed, message in ((np.zeros((NODES, 2)), "both 0 and 1"), (np.full(NODES, 0.5), "two different numbers")):
        with pytest.raises(LspruneError, match=f"the labels must have .*{message}, got"):
            user_graph_dataset(UserGraphFiles(graph=npz(tmp_path / "g.npz", y=changed)))


def test_features_for_a_model() -> None:
    kinds = np.array([3, 5, 3])
    np.testing.assert_array_equal(model_features(kinds), [[1, 0], [0, 1], [1, 0]])  # a category
    np.testing.assert_array_equal(model_features(kinds / 2), [[1.5], [2.5], [1.5]])
    np.testing.assert_array_equal(model_features(sparse.eye_array(3, format="csr")), np.eye(3))
    assert model_features(np.ones((3, 2), np.int64)).dtype == np.float32


@pytest.mark.parametrize("method", [name for name, method in catalogue().items() if method.takes_share])
def test_no_pruner_reads_labels(tmp_path: Path, method: str) -> None:
    kept = []
    for name, y in (("a", arrays()["y"]), ("b", np.roll(arrays()["y"], 1))):
        weights = np.random.default_rng(0).random((EDGES, 3))  # lsp-codebook-edge hashes the edge alone
        files = UserGraphFiles(graph=npz(tmp_path / f"{name}.npz", y=y, edge_attr=weights, **masks()))
        run = Run(study="s", dataset=files.name, model="node-gat", **method_fields(method), keep=0.25)
        graphs, record = prepare(run, files)
        kept.append(graphs.train.edge_index)
        assert record["share"] == 0.25
    assert torch.equal(*kept)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": np.zeros(NODES, np.int64)}, "labels must have at least two classes, got 1"),
        ({"x": np.full((NODES, 2), np.nan)}, "features must be finite numbers, got NaN or infinity at node 0"),
        (
            {**masks(), "test_mask": masks()["train_mask"]},
            "each node must be in at most one mask, got node 0 and 31 more in several",
        ),
        ({**masks(), "val_mask": np.zeros(NODES, bool)}, "val_mask must have at least one node"),
        ({**masks(), "y": np.where(np.arange(NODES) == 4, -1, arrays()["y"])}, "labelled nodes only, got node 4"),
    ],
)
def test_graphs_that_cannot_be_trained_on_are_refused(tmp_path: Path, changed: dict, message: str) -> None:
    with pytest.raises(LspruneError, match=message):
        user_graph_dataset(UserGraphFiles(graph=npz(tmp_path / "g.npz", **changed)))


def test_features_labels_and_one_kind_of_nodes_are_needed(tmp_path: Path) -> None:
    made = arrays()
    np.savez(tmp_path / "bare.npz", edge_index=made["edge_index"], y=made["y"], num_nodes=NODES)
    np.savez(tmp_path / "unlabelled.npz", edge_index=made["edge_index"], x=made["x"])
    sparse.save_npz(tmp_path / "two.npz", sparse.csr_array(np.ones((3, 4))))
    for name, message in (
        ("bare", "training needs node features: .*--features FILE"),
        ("unlabelled", "label must name the array or column of node labels"),
        ("two", "the graph must have one kind of nodes"),
    ):
        with pytest.raises(LspruneError, match=message):
            user_graph_dataset(UserGraphFiles(graph=tmp_path / f"{name}.npz"))
