"""Datasets: the sizes in the data's README, splits that are the same everywhere, bad options."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from real_data import DATA

pytest.importorskip("torch_geometric")

import torch
from torch_geometric.loader import DataLoader

from lsprune import LSP, prune
from lsprune.errors import FormatError, MissingDependency, OptionError
from lsprune.lab import datasets
from lsprune.lab.datasets import load

# nodes, edges, features, classes (data README), sizes of the splits
SINGLE = {
    "cora": ("Planetoid/Cora", 2_708, 10_556, 1_433, 7, (1_208, 500, 1_000)),
    "citeseer": ("Planetoid/CiteSeer", 3_327, 9_104, 3_703, 6, (1_827, 500, 1_000)),
    "pubmed": ("Planetoid/PubMed", 19_717, 88_648, 500, 3, (18_217, 500, 1_000)),
    "github": ("GitHub", 37_700, 578_006, 128, 2, (22_620, 7_540, 7_540)),
    "computers": ("Amazon/Computers", 13_752, 491_722, 767, 10, (8_251, 2_750, 2_751)),
    "cs": ("Coauthor/CS", 18_333, 163_788, 6_805, 15, (10_999, 3_666, 3_668)),
}


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory):
    yield (folder := tmp_path_factory.mktemp("cache"))
    shutil.rmtree(folder, ignore_errors=True)  # 700 MB, most of it the dense features of CS


@pytest.fixture
def local(shared_cache, monkeypatch):
    """A function that loads from the real data folder through one cache, or skips the test."""

    def read(name, folder, **options):
        if not (DATA / folder).is_dir():
            pytest.skip(f"real dataset {folder} not dataset; set LSPRUNE_DATA to a folder that has it")
        monkeypatch.setenv("LSPRUNE_CACHE", str(shared_cache))
        return load(name, data=DATA, **options)

    return read


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, and no data folder but what a test sets."""
    monkeypatch.setenv("LSPRUNE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LSPRUNE_DATA", raising=False)
    return tmp_path / "cache"


def masks(data):
    return torch.stack([data.train_mask, data.val_mask, data.test_mask])


@pytest.mark.parametrize("name", SINGLE)
def test_single_graphs(name, local):
    folder, nodes, edges, features, classes, sizes = SINGLE[name]
    dataset = local(name, folder)
    graph = dataset.train
    assert dataset.single and dataset.val is graph and dataset.test is graph
    assert (dataset.name, dataset.task, dataset.missing, dataset.targets) == (name, "node-classification", (), ())
    assert (graph.num_nodes, graph.num_edges) == (nodes, edges)
    assert dataset.num_features == features == graph.x.shape[1]
    assert dataset.num_classes == classes == len(graph.y.unique())
    assert masks(graph).sum(0).eq(1).all()  # disjoint, and every node has a part
    assert tuple(masks(graph).sum(1).tolist()) == sizes
    again = local(name.upper(), folder).train
    assert masks(again).equal(masks(graph)) and again.edge_index.equal(graph.edge_index)


def test_planetoid_features_are_row_normalised(local):
    sums = local("citeseer", "Planetoid/CiteSeer").train.x.sum(1)
    assert torch.all(((sums - 1).abs() < 1e-5) | (sums == 0))  # 15 nodes have no words at all
    assert int((sums == 0).sum()) == 15


def test_the_split_seed_chooses_the_split(local):
    zero, one = (masks(local("github", "GitHub", split_seed=seed).train) for seed in (0, 1))
    assert not zero.equal(one)
    assert zero.sum(1).equal(one.sum(1))


def test_random_splits_are_these_on_every_machine():
    train, val, test = datasets._split(10, (6, 2), 0)
    assert [part.tolist() for part in (train, val, test)] == [[1, 2, 3, 4, 7, 8], [0, 6], [5, 9]]
    assert [part.tolist() for part in datasets._split(10, (6, 2), 7)] == [[0, 1, 2, 6, 7, 8], [4, 5], [3, 9]]


def test_zinc(local):
    dataset = local("zinc", "ZINC")
    parts = (dataset.train, dataset.val, dataset.test)
    assert [len(part) for part in parts] == [10_000, 1_000, 1_000]
    assert [part._data.x.shape[0] for part in parts] == [231_664, 23_083, 23_117]
    assert [part._data.edge_index.shape[1] for part in parts] == [498_558, 49_692, 49_720]
    assert (dataset.task, dataset.num_features, dataset.num_classes, dataset.single) == (
        "graph-regression",
        1,
        1,
        False,
    )
    assert dataset.train[0].y.shape == (1,) and len(dataset.targets) == 1


def test_ppi_has_structure_only_and_says_so(local):
    dataset = local("ppi", "PPI")
    parts = (dataset.train, dataset.val, dataset.test)
    assert [len(part) for part in parts] == [20, 2, 2]
    assert [sum(graph.num_nodes for graph in part) for part in parts] == [44_906, 6_514, 5_524]
    assert [sum(graph.num_edges for graph in part) for part in parts] == [1_226_368, 198_920, 161_976]
    assert dataset.missing == ("features", "labels")
    assert (dataset.task, dataset.num_features, dataset.num_classes) == ("node-classification", 0, 0)
    stored = np.load(DATA / "PPI" / "ppi_structure.npz")
    nodes = np.flatnonzero(stored["graph_id"] == 21)
    once = stored["edges"][stored["graph_id"][stored["edges"][:, 0]] == 21]
    pairs = {(int(s), int(t)) for s, t in nodes[dataset.val[0].edge_index.numpy()].T}
    assert pairs == {(int(s), int(t)) for edge in once for s, t in (edge, edge[::-1])}
    assert not any(graph.has_self_loops() for part in parts for graph in part)


def test_qm9(local):
    dataset = local("qm9", "QM9")
    parts = (dataset.train, dataset.val, dataset.test)
    assert [len(part) for part in parts] == [110_000, 10_000, 10_831]
    every = np.concatenate([part.indices() for part in parts])
    assert np.array_equal(np.sort(every), np.arange(130_831))
    assert dataset.train._data.num_nodes == 2_359_210
    assert dataset.train._data.edge_index.shape == (2, 4_883_516)
    assert dataset.train._data.y.shape == (130_831, 19)
    assert dataset.targets == ("mu", "alpha", "homo", "lumo", "gap", "r2", "zpve", "U0", "U", "H", "G", "Cv")
    assert (dataset.task, dataset.num_features, dataset.num_classes, dataset.missing) == ("graph-regression", 1, 12, ())
    again = local("qm9", "QM9")
    assert np.array_equal(every, np.concatenate([part.indices() for part in (again.train, again.val, again.test)]))


def test_qm9_molecules_are_those_of_the_readme(local):
    dataset = local("qm9", "QM9")
    q = dict(np.load(DATA / "QM9" / "qm9.npz"))
    atoms, bonds = (np.r_[0, q[key].astype(int).cumsum()] for key in ("num_atoms", "num_bonds"))
    for at in (0, 57, 9_999):
        i, graph = dataset.val.indices()[at], dataset.val[at]
        s, t, order = q["bonds"][bonds[i] : bonds[i + 1]].astype(int).T
        expected = sorted([*zip(s, t, order, strict=True), *zip(t, s, order, strict=True)])
        assert expected == list(zip(*graph.edge_index.tolist(), graph.edge_attr.tolist(), strict=True))
        assert np.array_equal(graph.z, q["z"][atoms[i] : atoms[i + 1]])
        assert np.array_equal(graph.x[:, 0], graph.z) and graph.num_nodes == q["num_atoms"][i]
        assert np.array_equal(graph.pos, q["pos"][atoms[i] : atoms[i + 1]])
        assert np.array_equal(graph.y, q["y"][i : i + 1]) and graph.idx.item() == q["idx"][i]


def test_qm9_batches_and_prunes_like_a_dataset_of_pyg(local):
    val = local("qm9", "QM9").val
    batch = next(iter(DataLoader(val, batch_size=64)))
    assert batch.num_graphs == 64 and batch.y.shape == (64, 19)
    assert batch.num_nodes == sum(val[i].num_nodes for i in range(64))
    thin = prune(val, LSP(k=1))
    assert [thin[i].num_edges for i in range(64)] == [val[i].num_nodes for i in range(64)]  # an edge to each atom


def test_ppi_with_features_and_labels_is_read_by_pyg(cache, tmp_path):
    pytest.importorskip("networkx")
    raw = tmp_path / "PPI" / "raw"
    raw.mkdir(parents=True)
    for split, graphs in (("train", 20), ("valid", 2), ("test", 2)):
        nodes, links = list(range(3 * graphs)), [{"source": 3 * g, "target": 3 * g + 2} for g in range(graphs)]
        links += [{"source": link["target"], "target": link["source"]} for link in links]
        content = {"directed": True, "multigraph": False, "graph": {}, "nodes": [{"id": n} for n in nodes]}
        (raw / f"{split}_graph.json").write_text(json.dumps({**content, "links": links}))
        np.save(raw / f"{split}_feats.npy", np.ones((3 * graphs, 50)))
        np.save(raw / f"{split}_labels.npy", np.ones((3 * graphs, 121)))
        np.save(raw / f"{split}_graph_id.npy", np.repeat(np.arange(graphs), 3))
    (tmp_path / "PPI" / "ppi_structure.npz").touch()  # has less than the raw files, so it is not looked at
    dataset = load("ppi", data=tmp_path)
    assert [len(dataset.train), len(dataset.val), len(dataset.test)] == [20, 2, 2]
    assert (dataset.num_features, dataset.num_classes, dataset.missing) == (50, 121, ())


def test_qm9_needs_enough_molecules_for_the_papers_split(cache, tmp_path):
    arrays = {"z": [6, 8, 1], "pos": np.zeros((3, 3), np.float32), "y": np.zeros((2, 19), np.float32), "idx": [0, 1]}
    arrays |= {"bonds": [[0, 1, 2]], "num_atoms": [2, 1], "num_bonds": [1, 0]}
    (tmp_path / "QM9").mkdir()
    np.savez(tmp_path / "QM9/qm9.npz", **{key: np.asarray(value) for key, value in arrays.items()})
    with pytest.raises(FormatError, match="more than 120,000 molecules .* got 2"):
        load("qm9", data=tmp_path)


@pytest.mark.parametrize("name", ["karate", "", None, 3])
def test_unknown_name(name):
    with pytest.raises(OptionError, match="one of cora, citeseer, pubmed, github, ppi, qm9, zinc, computers, cs, got"):
        load(name)


@pytest.mark.parametrize("seed", [-1, 0.5, True, "0", None])
def test_bad_split_seed(seed):
    with pytest.raises(OptionError, match="split_seed must be an integer >= 0"):
        load("cora", split_seed=seed)


def test_without_pyg_the_error_has_the_command():
    code = "import sys; sys.modules['torch_geometric'] = None\nimport lsprune.lab.datasets"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (
        f"{MissingDependency.__name__}: lsprune.lab needs PyTorch Geometric: pip install 'lsprune[gnn]'" in done.stderr
    )
