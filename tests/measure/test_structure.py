from __future__ import annotations

import sys

import networkx as nx
import numpy as np
import pytest

from graphs import random_graph, reordered
from lsprune import Graph, GraphError, OptionError
from lsprune.measure import structure
from lsprune.measure.structure import QUANTILES, degrees


def both(edges) -> Graph:
    """An undirected graph, every edge in both directions."""
    ends = np.array(list(edges)).T
    return Graph.from_edges(np.concatenate([ends, ends[::-1]], axis=1))


def network(graph: Graph, mask) -> nx.Graph:
    out = nx.Graph()
    out.add_nodes_from(range(graph.num_nodes))
    out.add_edges_from((s, t) for (s, t), kept in zip(np.stack(graph.ends()).T.tolist(), mask, strict=True) if kept)
    out.remove_edges_from(list(nx.selfloop_edges(out)))
    return out


@pytest.mark.parametrize("seed", range(6))
def test_everything_is_networkx(seed):
    graph = random_graph(seed, nodes=25, edges=70)
    rng = np.random.default_rng(seed)
    mask, labels = rng.random(70) < 0.7, rng.integers(0, 3, 25)
    found, known = structure(graph, mask, labels), network(graph, mask)
    sizes = sorted(len(part) for part in nx.connected_components(known))
    assert (found.nodes, found.edges) == (25, mask.sum())
    assert (found.components, found.largest) == (len(sizes), sizes[-1] / 25)
    assert found.isolated == sum(degree == 0 for _, degree in known.degree)
    degree = [d for _, d in known.degree]
    assert found.degrees == pytest.approx(np.quantile(degree, QUANTILES).tolist())
    assert found.degree_mean == pytest.approx(np.mean(degree))
    assert found.clustering == pytest.approx(nx.average_clustering(known))
    kept = [(s, t) for (s, t), k in zip(np.stack(graph.ends()).T.tolist(), mask, strict=True) if k and s != t]
    assert found.homophily == pytest.approx(np.mean([labels[s] == labels[t] for s, t in kept]))


def test_star():
    star = structure(Graph.from_edges(np.array([[0] * 6, range(1, 7)])))
    assert (star.components, star.largest, star.isolated, star.clustering) == (1, 1.0, 0, 0.0)
    assert (star.degrees[0], star.degrees[-1]) == (1, 6)
    assert star.homophily is None


def test_two_cliques_and_the_bridge_between():
    clique = [(a, b) for a in range(5) for b in range(a)]
    graph = both([*clique, *((a + 5, b + 5) for a, b in clique), (0, 5)])
    source, target = graph.ends()
    bridge = (source < 5) != (target < 5)
    labels = np.arange(10) // 5
    whole, cut = structure(graph, labels=labels), structure(graph, ~bridge, labels=labels)
    assert (whole.components, cut.components) == (1, 2)
    assert (cut.largest, cut.clustering, cut.homophily) == (0.5, 1.0, 1.0)
    assert whole.homophily == pytest.approx(40 / 42)
    assert whole.clustering == pytest.approx((8 + 2 * 6 / 10) / 10)  # of the bridge's ends, 6 of 10 pairs are joined
    assert structure(graph, bridge, labels=labels).homophily == 0


def test_path_and_no_edges():
    path = Graph.from_edges(np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))
    assert structure(path).degrees == (1, 1, 2, 2, 2, 2, 2)
    none = structure(path, np.zeros(4, bool), labels=np.zeros(5))
    assert (none.components, none.isolated, none.largest, none.edges) == (5, 5, 0.2, 0)
    assert none.clustering == 0 and np.isnan(none.homophily)
    empty = structure(Graph.from_edges(np.empty((2, 0), int)))
    assert (empty.nodes, empty.components, empty.isolated) == (0, 0, 0) and np.isnan(empty.largest)


def test_degrees_by_side():
    graph = Graph.from_edges(np.array([[0, 0, 1, 2, 2, 2], [1, 1, 0, 1, 2, 0]]))  # parallel, both ways, a loop
    assert degrees(graph).tolist() == [2, 2, 2]
    assert degrees(graph, side="in").tolist() == [2, 2, 0]
    assert degrees(graph, side="out").tolist() == [1, 1, 2]
    assert structure(graph, side="in").degrees[0] == 0
    relation = Graph.from_edges(np.array([[0, 1, 1], [0, 0, 1]]), num_nodes=(2, 4))
    assert degrees(relation, side="in").tolist() == [2, 1, 0, 0]
    assert degrees(relation, side="out").tolist() == [1, 2]
    assert degrees(relation).tolist() == [1, 2, 2, 1, 0, 0]


def test_a_relation_has_components_over_both_types():
    relation = structure(Graph.from_edges(np.array([[0, 1, 1], [0, 0, 1]]), num_nodes=(2, 4)))
    assert (relation.nodes, relation.components, relation.isolated) == (6, 3, 2)


def test_sampled_clustering_is_near_and_seeded():
    graph = random_graph(0, nodes=300, edges=6000)
    exact = structure(graph).clustering
    some = [structure(graph, sample=150, seed=seed).clustering for seed in (0, 0, 1)]
    assert some[0] == some[1] != some[2]
    assert some[0] == pytest.approx(exact, rel=0.1) and some[0] != exact


def test_blocks_of_nodes_add_up(monkeypatch):
    graph = random_graph(0, nodes=50, edges=300)
    whole = structure(graph)
    monkeypatch.setattr(sys.modules["lsprune.measure.structure"], "TRIANGLE_NODES", 7)
    assert structure(graph).clustering == pytest.approx(whole.clustering, rel=1e-12)


def test_order_directions_and_names_do_not_matter():
    graph, rng = random_graph(2, nodes=30, edges=90), np.random.default_rng(0)
    labels = rng.integers(0, 2, 30)
    found = structure(graph, labels=labels)
    assert structure(reordered(graph, rng.permutation(90)), labels=labels) == found
    source, target = graph.ends()
    assert structure(Graph.from_edges((target, source), num_nodes=30), labels=labels) == found
    name = rng.permutation(30)
    renamed = structure(Graph.from_edges((name[source], name[target]), num_nodes=30), labels=labels[np.argsort(name)])
    assert renamed.clustering == pytest.approx(found.clustering)
    assert (renamed.degrees, renamed.components, renamed.homophily) == (
        found.degrees,
        found.components,
        found.homophily,
    )


def test_faults_are_named():
    graph = random_graph(0)
    with pytest.raises(GraphError, match=r"mask must be bool \[60\], got bool \[3\]"):
        structure(graph, np.ones(3, bool))
    with pytest.raises(GraphError, match=r"mask must be bool \[60\], got int64"):
        structure(graph, np.ones(60, int))
    with pytest.raises(OptionError, match=r"labels must have shape \[12\]"):
        structure(graph, labels=[1, 2])
    with pytest.raises(OptionError, match="side must be one of None, 'in', 'out', got"):
        structure(graph, side="up")
    with pytest.raises(OptionError, match="sample must be a whole number >= 1"):
        structure(graph, sample=0)
    with pytest.raises(OptionError, match="seed must be a whole number >= 0, got -1"):
        structure(graph, seed=-1)
