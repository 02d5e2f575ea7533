from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from graphs import graphs
from lsprune import Graph, OptionError
from lsprune.measure import neighbourhood_sizes, neighbourhood_variance
from lsprune.measure import neighbourhoods as module

# Unpruned points of the paper's figure: variance of the k-hop neighbourhood sizes for 1, 3, 5, 7, 9 hops.
PAPER = {
    "Cora": (27.330084938984882, 18103.46521439839, 311630.4444798387, 542467.0113815622, 496845.8606612281),
    "CiteSeer": (11.430063739680685, 4982.347807272049, 49957.7975484349, 179792.1669961023, 443442.4469662783),
    "PubMed": (55.21980714434912, 307770.5499249282, 12858301.442504294, 14750268.028029827, 1722951.1849030831),
}


def breadth_first(graph: Graph, hops: int) -> list[int]:
    """Sizes by plain breadth-first search."""
    out: dict[int, list[int]] = {}
    for s, t in zip(*(end.tolist() for end in graph.ends()), strict=True):
        out.setdefault(s, []).append(t)
    sizes = []
    for start in range(graph.num_nodes):
        seen = frontier = {start}
        for _ in range(hops):
            frontier = {t for s in frontier for t in out.get(s, [])} - seen
            seen = seen | frontier
        sizes.append(len(seen))
    return sizes


@given(graph=graphs(max_nodes=12, max_edges=30))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_sizes_are_those_of_breadth_first_search(graph):
    found = neighbourhood_sizes(graph, [0, 1, 2, 5])
    for hops, sizes in found.items():
        assert sizes.tolist() == breadth_first(graph, hops)


def test_blocks_of_nodes_add_up(monkeypatch):
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 200, (2, 400)), num_nodes=200)
    whole = neighbourhood_sizes(graph, [3], threads=2)[3]
    monkeypatch.setattr(module, "ROW_WORDS", 1)
    assert neighbourhood_sizes(graph, [3])[3].tolist() == whole.tolist() == breadth_first(graph, 3)


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::numpy.exceptions.VisibleDeprecationWarning")
def test_the_papers_unpruned_points(name, data_folder):
    datasets = pytest.importorskip("torch_geometric.datasets")
    data = datasets.Planetoid(str(data_folder(f"Planetoid/{name}").parent), name)[0]
    graph = Graph.from_edges(data.edge_index.numpy(), num_nodes=data.num_nodes)
    found = neighbourhood_variance(graph, [1, 3, 5, 7, 9])
    assert list(found.values()) == pytest.approx(list(PAPER[name]), rel=1e-12)


def test_bad_hops_are_named():
    graph = Graph.from_edges(np.array([[0], [1]]))
    for hops in ([], [-1], [1.5], ["a"], "12", [True], [None], 3, None, np.array([1.0])):
        with pytest.raises(OptionError, match="hops must be whole numbers >= 0"):
            neighbourhood_sizes(graph, hops)
    assert neighbourhood_sizes(graph, np.array([1, 0]))[1].tolist() == [2, 1]


@pytest.mark.parametrize("words", [module.ROW_WORDS, 1])
def test_hops_beyond_the_last_one_that_finds_anything_cost_nothing(monkeypatch, words):
    monkeypatch.setattr(module, "ROW_WORDS", words)
    path = Graph.from_edges(np.stack([np.arange(99), np.arange(1, 100)]))
    steps, one_hop = [], module._one_hop
    monkeypatch.setattr(module, "_one_hop", lambda *given: steps.append(1) or one_hop(*given))
    found = neighbourhood_sizes(path, [10**12, 10**30, 99, 98])
    assert list(found) == [98, 99, 10**12, 10**30]
    assert found[10**12].tolist() == found[10**30].tolist() == found[99].tolist() == list(range(100, 0, -1))
    assert found[98].tolist() == [99, *range(99, 0, -1)]
    assert len(steps) <= 100 * -(-100 // (64 * words))
    assert neighbourhood_variance(path, [10**12]) == {10**12: np.arange(100).var()}
