"""The adapter for igraph."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import LSP, Graph, LocalRandom, mask, prune
from lsprune.baselines import TopWeight

igraph = pytest.importorskip("igraph")

RNG = np.random.default_rng(0)
ENDS = RNG.integers(0, 20, (2, 120))
WEIGHT = RNG.permutation(120).astype(float)
X = RNG.normal(size=(20, 3))


def graph(directed: bool = True):
    made = igraph.Graph(n=21, edges=ENDS.T.tolist(), directed=directed)  # the last vertex has no edge
    made.es["weight"], made.es["note"] = WEIGHT.tolist(), [f"edge {i}" for i in range(120)]
    made.vs["x"], made["title"] = [*X.tolist(), [0.0, 0.0, 0.0]], "mine"
    return made


@pytest.mark.parametrize("pruner", [LSP(k=2), TopWeight(k=2), LocalRandom(keep=0.3)], ids=repr)
def test_a_directed_graph_is_pruned_like_its_arrays(pruner):
    data = graph()
    plain = Graph.from_edges(ENDS, num_nodes=21, x=np.array(data.vs["x"]), edge_weight=WEIGHT)
    kept = pruner.mask(plain)
    pruned, found = prune(data, pruner, return_mask=True)
    assert np.array_equal(found, kept) and np.array_equal(mask(data, pruner), kept)
    assert pruned.get_edgelist() == [tuple(pair) for pair in ENDS.T[kept].tolist()]
    assert pruned.es["note"] == [f"edge {i}" for i in np.flatnonzero(kept)]
    assert pruned.vcount() == 21 and pruned["title"] == "mine" and pruned.vs["x"] == data.vs["x"]
    assert data.ecount() == 120


def test_an_undirected_graph_stays_undirected_with_one_entry_for_each_edge():
    networkx = pytest.importorskip("networkx")
    data, pruner = graph(directed=False), TopWeight(k=2)
    pruned, kept = prune(data, pruner, return_mask=True)
    other = networkx.MultiGraph()
    other.add_nodes_from(range(21))
    other.add_weighted_edges_from((*pair, weight) for pair, weight in zip(ENDS.T.tolist(), WEIGHT, strict=True))
    same = prune(other, pruner)
    assert kept.shape == (120,) and not pruned.is_directed()
    assert sorted(pruned.es["weight"]) == sorted(weight for *_, weight in same.edges(data="weight"))


def test_weights_are_rescaled_and_edges_named():
    data, pruner = graph(), LocalRandom(k=3)
    pruned = prune(data, pruner, rescale=True, e_id=True)
    places = np.array(pruned.es["e_id"])
    loops = ENDS[0] == ENDS[1]
    degree = np.bincount(ENDS[1][~loops], minlength=21)
    factor = np.where(loops[places], 1, np.maximum(degree[ENDS[1][places]], 1) / np.minimum(degree[ENDS[1][places]], 3))
    assert pruned.es["weight"] == pytest.approx(WEIGHT[places] * factor)


def test_attributes_that_are_no_numbers_are_not_features():
    data = graph()
    data.vs["x"] = ["text"] * 21
    assert mask(data, LocalRandom(k=1)).shape == (120,)
    data.es["weight"] = [None, *WEIGHT[1:].tolist()]
    with pytest.raises(Exception, match="no edge weights"):
        prune(data, TopWeight(k=1))
