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
# nodes, edges, features, classes, training nodes of split 0 (data README)
GRAPHS = {
    "cora-ml": ("cora_ml", 2_995, 16_316, 2_879, 7, 1_797),
    "blogcatalog": ("blogcatalog_attr", 5_196, 343_486, 8_189, 6, 3_117),
    "flickr": ("flickr_attr", 7_575, 479_476, 12_047, 9, 4_545),
    "facebook-pages": ("musae_facebook", 22_470, 341_646, 4_714, 4, 13_482),
    "twitch-de": ("twitch_de", 9_498, 306_276, 2_514, 2, 5_698),
    "squirrel-filtered": ("squirrel_filtered", 2_223, 93_996, 2_089, 5, 1_053),
    "chameleon-filtered": ("chameleon_filtered", 890, 17_708, 2_325, 5, 409),
    "actor": ("actor", 7_600, 53_318, 932, 5, 3_648),
    "tolokers": ("tolokers", 11_758, 1_038_000, 10, 2, 5_879),
    "minesweeper": ("minesweeper", 10_000, 78_804, 7, 2, 5_000),
}
TEN_SPLITS = ("squirrel-filtered", "chameleon-filtered", "actor", "tolokers", "minesweeper")
LISTED = "cora, citeseer, pubmed, github, ppi, qm9, zinc, computers, cs, cora-ml, .*, minesweeper, acm, dblp, got"


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
    assert (dataset.name, dataset.task, dataset.missing, dataset.targets) == (name, "node-classification", (), {})
    assert (graph.num_nodes, graph.num_edges) == (nodes, edges)
    assert dataset.num_features == features == graph.x.shape[1]
    assert dataset.num_classes == classes == len(graph.y.unique())
    assert masks(graph).sum(0).eq(1).all()  # disjoint, and every node has a part
    assert tuple(masks(graph).sum(1).tolist()) == sizes
    again = local(name.upper(), folder).train
    assert masks(again).equal(masks(graph)) and again.edge_index.equal(graph.edge_index)


@pytest.fixture
def from_npz(monkeypatch, tmp_path):
    """A function that loads one of the graphs in npz files, or skips the test; nothing is written."""

    def read(name, file, **options):
        if not (DATA / "graphs" / f"{file}.npz").is_file():
            pytest.skip(f"real graph graphs/{file}.npz not found; set LSPRUNE_DATA to a folder that has it")
        monkeypatch.setenv("LSPRUNE_CACHE", str(tmp_path / "cache"))
        dataset = load(name, data=DATA, **options)
        assert not (tmp_path / "cache").exists()
        return dataset

    return read


@pytest.mark.parametrize("name", GRAPHS)
def test_undirected_graphs(name, from_npz):
    file, nodes, edges, features, classes, training = GRAPHS[name]
    dataset = from_npz(name, file)
    graph, stored = dataset.train, np.load(DATA / "graphs" / f"{file}.npz")
    assert dataset.single and (dataset.name, dataset.task, dataset.missing) == (name, "node-classification", ())
    assert (graph.num_nodes, graph.num_edges, dataset.num_features, dataset.num_classes) == (
        nodes, edges, features, classes,
    )  # fmt: skip
    assert graph.x.shape == (nodes, features) and graph.x.dtype == torch.float32
    assert graph.y.unique().tolist() == list(range(classes))
    assert graph.is_undirected() and graph.is_coalesced() and not graph.has_self_loops()
    assert np.array_equal(graph.edge_index, stored["edge_index"])  # in the file's order
    assert masks(graph).sum(0).eq(1).all() and int(graph.train_mask.sum()) == training
    assert dataset.metric == ("roc-auc" if name in ("tolokers", "minesweeper") else None)
    if name in TEN_SPLITS:
        assert np.array_equal(masks(graph), np.stack([stored[key][:, 0] for key in datasets.MASKS]))


@pytest.mark.parametrize("name", TEN_SPLITS)
def test_the_split_seed_is_the_number_of_one_of_ten_splits(name, from_npz):
    file = GRAPHS[name][0]
    stored = np.load(DATA / "graphs" / f"{file}.npz") if (DATA / "graphs").is_dir() else {}
    for number in (3, 9):
        graph = from_npz(name, file, split_seed=number).train
        assert np.array_equal(graph.test_mask, stored["test_mask"][:, number])
        assert masks(graph).sum(0).eq(1).all()
    with pytest.raises(OptionError, match=f"split_seed must be in 0..9 for {name}, which has 10 splits, got 10"):
        from_npz(name, file, split_seed=10)


def test_counted_words_are_row_normalised_and_those_of_cora_ml_binary(from_npz):
    sums = from_npz("flickr", "flickr_attr").train.x.sum(1)
    assert torch.all(((sums - 1).abs() < 1e-4) | (sums == 0)) and int((sums == 0).sum()) == 11
    assert from_npz("cora-ml", "cora_ml").train.x.unique().tolist() == [0, 1]


@pytest.mark.parametrize(
    "name", ["facebook-pages", "twitch-de", "squirrel-filtered", "chameleon-filtered", "acm", "dblp"]
)
def test_what_pyg_has_not_cannot_be_downloaded(name, cache):
    with pytest.raises(FormatError, match=f"dataset {name} cannot be downloaded, since PyG .* holds graphs/.*npz$"):
        load(name)
    assert not cache.exists()


def test_pygs_files_and_the_compact_file_give_the_same_graph(cache, tmp_path):
    rng = np.random.default_rng(0)
    edges = np.array([[0, 1], [1, 2], [3, 1]])
    masks_of = {f"{part}_masks": np.arange(4) % 3 == np.arange(3)[:, None] for part in ("train", "val", "test")}
    masks_of = {key: np.tile(mask[row], (10, 1)) for row, (key, mask) in enumerate(masks_of.items())}
    x, y = rng.random((4, 5)).astype(np.float32), np.array([0, 1, 1, 0])
    raw = tmp_path / "raw files" / "HeterophilousGraphDataset" / "Tolokers" / "raw"
    raw.mkdir(parents=True)
    np.savez(raw / "tolokers.npz", node_features=x, node_labels=y, edges=edges, **masks_of)
    compact = tmp_path / "compact" / "graphs"
    compact.mkdir(parents=True)
    both = np.concatenate([edges, edges[:, ::-1]])
    named = {key.removesuffix("s"): mask.T for key, mask in masks_of.items()}
    np.savez(compact / "tolokers.npz", edge_index=both[np.lexsort(both.T[::-1])].T, x=x, y=y, **named)
    one, other = (load("tolokers", data=tmp_path / folder).train for folder in ("raw files", "compact"))
    assert one.num_edges == 6 and set(one.keys()) == set(other.keys())
    for key in one.keys():  # noqa: SIM118  # a Data is no dict
        assert one[key].equal(other[key]), key


def test_planetoid_features_are_row_normalised(local):
    sums = local("citeseer", "Planetoid/CiteSeer").train.x.sum(1)
    assert torch.all(((sums - 1).abs() < 1e-5) | (sums == 0))  # 15 nodes have no words at all
    assert int((sums == 0).sum()) == 15


def test_the_split_seed_chooses_the_split(local):
    zero, one = (masks(local("github", "GitHub", split_seed=seed).train) for seed in (0, 1))
    assert not zero.equal(one)
    assert zero.sum(1).equal(one.sum(1))


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


PPI_SIZES = [44_906, 6_514, 5_524], [1_226_368, 198_920, 161_976]  # nodes and edges of each split


def ppi_sizes(dataset):
    parts = (dataset.train, dataset.val, dataset.test)
    assert [len(part) for part in parts] == [20, 2, 2]
    assert not any(graph.has_self_loops() for part in parts for graph in part)
    counts = ([(graph.num_nodes, graph.num_edges) for graph in part] for part in parts)
    return tuple(map(list, zip(*(map(sum, zip(*part, strict=True)) for part in counts), strict=True)))


def test_ppi_without_features_and_labels_says_so(cache, tmp_path):
    if not (DATA / "PPI").is_dir():
        pytest.skip("real dataset PPI not found; set LSPRUNE_DATA to a folder that has it")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "PPI").symlink_to(DATA / "PPI")
    dataset = load("ppi", data=tmp_path / "data")
    assert ppi_sizes(dataset) == PPI_SIZES
    assert dataset.missing == ("features", "labels")
    assert (dataset.task, dataset.num_features, dataset.num_classes) == ("node-classification", 0, 0)
    stored = np.load(DATA / "PPI" / "ppi_structure.npz")
    nodes = np.flatnonzero(stored["graph_id"] == 21)
    once = stored["edges"][stored["graph_id"][stored["edges"][:, 0]] == 21]
    pairs = {(int(s), int(t)) for s, t in nodes[dataset.val[0].edge_index.numpy()].T}
    assert pairs == {(int(s), int(t)) for edge in once for s, t in (edge, edge[::-1])}


def test_ppi_with_rebuilt_labels_says_so(from_npz):
    dataset = from_npz("ppi", "ppi")
    assert ppi_sizes(dataset) == PPI_SIZES
    assert (dataset.num_features, dataset.num_classes) == (50, 121)
    assert (dataset.missing, dataset.rebuilt, dataset.task) == ((), ("labels",), "node-classification")
    training = torch.cat([graph.x for graph in dataset.train]).double()
    assert training.mean(0).abs().max() < 1e-4  # standardised over the training graphs
    varied = training.std(0, correction=0) > 0
    assert (training.std(0, correction=0)[varied] - 1).abs().max() < 1e-4
    assert all(graph.is_undirected() and graph.is_coalesced() for graph in (*dataset.train, *dataset.val))
    assert dataset.test[0].y.unique().tolist() == [0, 1] and dataset.test[0].y.shape[1] == 121


def test_qm9(local):
    dataset = local("qm9", "QM9")
    parts = (dataset.train, dataset.val, dataset.test)
    assert [len(part) for part in parts] == [110_000, 10_000, 10_831]
    every = np.concatenate([part.indices() for part in parts])
    assert np.array_equal(np.sort(every), np.arange(130_831))
    assert dataset.train._data.num_nodes == 2_359_210
    assert dataset.train._data.edge_index.shape == (2, 4_883_516)
    assert dataset.train._data.y.shape == (130_831, 19)
    names = ("mu", "alpha", "homo", "lumo", "gap", "r2", "zpve", "U0", "U", "H", "G", "Cv")
    assert tuple(dataset.targets) == names
    assert [dataset.targets[name] for name in names if name not in ("U0", "U", "H", "G")] == [*range(7), 11]
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


def test_energies_of_qm9_are_those_of_atomisation(local):
    dataset = local("qm9", "QM9")
    y = dataset.train._data.y.double()
    for name, total in (("U0", 7), ("U", 8), ("H", 9), ("G", 10)):
        energy = y[:, dataset.targets[name]]
        assert energy.min() > -130 and energy.max() < -5  # eV; totals are -20,000 to -1,000
        assert (energy - y[:, total]).std() > 100  # the energies of the single atoms, which it does not contain


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
    with pytest.raises(OptionError, match=f"one of {LISTED}"):
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
