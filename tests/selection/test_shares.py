"""The share of edges kept on the paper's datasets: the x-coordinates of its figures, to the digit."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import LSP, Graph, LocalRandom, Random

SHARES = {
    "Cora": {1: 0.25654, 2: 0.46713, 3: 0.62249, 4: 0.72546, 5: 0.79159},
    "CiteSeer": {1: 0.36017, 2: 0.57414, 3: 0.70079},
    "PubMed": {1: 0.22242, 2: 0.34225, 3: 0.42422, 4: 0.48831},
    "GitHub": {7: 0.31210, 19: 0.52215, 31: 0.62139, 43: 0.68097},
}


def load(name, data_folder):
    datasets = pytest.importorskip("torch_geometric.datasets")
    if name == "GitHub":
        return datasets.GitHub(str(data_folder("GitHub")))[0]
    return datasets.Planetoid(str(data_folder(f"Planetoid/{name}").parent), name)[0]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::numpy.exceptions.VisibleDeprecationWarning")
@pytest.mark.parametrize("name", SHARES)
def test_share_of_edges(name, data_folder):
    data = load(name, data_folder)
    for k, share in SHARES[name].items():
        for pruner in (LSP(k=k), LSP.published("p", k=k), LocalRandom(k=k, side="out"), Random(k=k)):
            assert round(float(pruner.mask(data).mean()), 5) == share


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::numpy.exceptions.VisibleDeprecationWarning")
def test_share_on_cora_with_every_preset(data_folder):
    data = load("Cora", data_folder)
    for kind in "pt":
        assert round(float(LSP.paper(kind, k=2).mask(data).mean()), 5) == 0.46713
        assert round(float(LSP.published(kind, k=2).mask(data).mean()), 5) == 0.46713
    mask = LSP(keep=0.5).mask(data)
    assert mask.sum() == 10556 // 2


def test_share_of_zinc(data_folder):
    arrays = np.load(data_folder("ZINC") / "zinc12k.npz")
    nodes, bonds = arrays["train_num_nodes"].astype(np.int64), arrays["train_bonds"].astype(np.int64)
    count = arrays["train_num_bonds"].astype(np.int64)
    ptr = np.concatenate([[0], np.cumsum(nodes)])
    once = bonds[:, :2].T + np.repeat(ptr[:-1], count)
    edges = np.concatenate([once, once[::-1]], axis=1)
    kinds = np.tile(bonds[:, 2], 2)
    graph = Graph.from_edges(
        edges, num_nodes=int(ptr[-1]), x=arrays["train_x"].astype(np.int64), edge_attr=kinds, ptr=ptr
    )
    assert graph.num_edges == 498_558
    for k, share in {1: 0.46467, 2: 0.84684, 3: 0.99377}.items():
        assert round(float(LSP(k=k).mask(graph).mean()), 5) == share
        assert round(float(LSP.published("p", k=k).mask(graph).mean()), 5) == share


def test_share_of_ppi_with_self_loops_counted(data_folder):
    arrays = np.load(data_folder("PPI") / "ppi_structure.npz")
    once, nodes = arrays["edges"].astype(np.int64).T, len(arrays["graph_id"])
    loops = np.tile(np.arange(nodes), (2, 1))
    graph = Graph.from_edges(np.concatenate([once, once[::-1], loops], axis=1), num_nodes=nodes)
    for k, share in {1: 0.03463, 11: 0.31436, 21: 0.48898, 31: 0.60479}.items():
        mask = LSP(k=k, hash="identity", self_loops="edge").mask(graph)
        assert round(float(mask.mean()), 5) == share
        assert round(float(LSP(k=k, hash="identity", side="out", self_loops="edge").mask(graph).mean()), 5) == share
