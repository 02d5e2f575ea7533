"""The adapter for NetworkX graphs."""

from __future__ import annotations

import copy

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune import LSP, prune
from lsprune.adapters import find
from lsprune.adapters.base import Kept
from lsprune.errors import GraphError

CLASSES = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


def sample(make: type, **options: object) -> nx.Graph:
    graph = make(name="sample", **options)
    graph.add_node("c", colour="red")
    graph.add_nodes_from(["a", "b", "alone"])
    graph.add_edge("a", "b", weight=2.0, since=1999)
    graph.add_edge("b", "c", label="x")
    graph.add_edge("c", "c", weight=3.0)
    graph.add_edge("c", "a")
    if graph.is_multigraph():
        graph.add_edge("a", "b", key="second", weight=5.0)
    return graph


def listed(graph: nx.Graph) -> list[tuple]:
    return list(graph.edges(keys=True, data=True) if graph.is_multigraph() else graph.edges(data=True))


def directed_mask(graph: nx.Graph, mask: np.ndarray) -> np.ndarray:
    """The mask over the edges the adapter reads, from one over G.edges."""
    if graph.is_directed():
        return mask
    return np.concatenate([mask, mask[[u != v for u, v in graph.edges()]]])


def rebuilt(graph: nx.Graph, mask: np.ndarray, weight: np.ndarray | None = None, e_id: bool = False) -> nx.Graph:
    return find(graph).rebuild(graph, {None: Kept(mask=directed_mask(graph, mask), weight=weight, e_id=e_id)})


@pytest.mark.parametrize("make", CLASSES)
def test_ids_follow_the_order_of_the_nodes(make: type) -> None:
    graph = sample(make)
    read = find(graph).graphs(graph)[None]
    number = {"c": 0, "a": 1, "b": 2, "alone": 3}
    expected = [(number[u], number[v]) for u, v in graph.edges()]
    if not graph.is_directed():
        expected += [(v, u) for u, v in expected if u != v]
    assert list(zip(*(end.tolist() for end in read.ends()), strict=True)) == expected
    assert read.num_nodes == 4
    assert read.undirected is not graph.is_directed()


@pytest.mark.parametrize("make", CLASSES)
def test_class_attributes_keys_and_order_stay_and_input_is_not_touched(make: type) -> None:
    graph = sample(make)
    before = copy.deepcopy(graph)
    mask = np.arange(graph.number_of_edges()) % 2 == 0
    small = rebuilt(graph, mask)
    assert type(small) is make
    assert small.graph == {"name": "sample"}
    assert list(small.nodes(data=True)) == list(graph.nodes(data=True))
    assert listed(small) == [edge for edge, keep in zip(listed(graph), mask, strict=True) if keep]
    small.nodes["c"]["colour"] = "blue"
    for *_, attributes in small.edges(data=True):
        attributes["new"] = 1
    small.graph["name"] = "other"
    assert listed(graph) == listed(before)
    assert list(graph.nodes(data=True)) == list(before.nodes(data=True))
    assert graph.graph == before.graph


@pytest.mark.parametrize("make", CLASSES)
def test_features_need_every_node_and_every_edge(make: type) -> None:
    graph = sample(make)
    for i, node in enumerate(graph):
        graph.nodes[node]["x"] = [i, 0.5]
    for i, (*_, attributes) in enumerate(graph.edges(data=True)):
        attributes["edge_attr"] = i
    read = find(graph).graphs(graph)[None]
    assert read.x.tolist() == [[0, 0.5], [1, 0.5], [2, 0.5], [3, 0.5]]
    count = graph.number_of_edges()
    ends = np.stack(read.ends())
    assert read.edge_attr[:count].tolist() == list(range(count))
    for e in range(count, read.num_edges):  # a reversed edge carries what its forward one does
        forward = read.edge_attr[e]
        assert ends[::-1, e].tolist() == ends[:, forward].tolist()
    del graph.nodes["alone"]["x"]
    del next(iter(graph.edges(data=True)))[2]["edge_attr"]
    read = find(graph).graphs(graph)[None]
    assert read.x is None
    assert read.edge_attr is None


def test_features_that_are_no_numbers() -> None:
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: "a", 1: "b"}, "x")
    assert find(graph).graphs(graph)[None].x is None
    nx.set_node_attributes(graph, {0: [1], 1: [1, 2]}, "x")
    with pytest.raises(GraphError, match="'x' must have the same shape"):
        find(graph).graphs(graph)


@pytest.mark.parametrize("make", CLASSES)
def test_masks_have_one_entry_for_each_edge(make: type) -> None:
    graph = sample(make)
    mask = np.arange(graph.number_of_edges()) % 2 == 0
    assert find(graph).masks(graph, {None: directed_mask(graph, mask)}).tolist() == mask.tolist()


@pytest.mark.parametrize("make", [nx.DiGraph, nx.MultiDiGraph])
def test_weights_multiply_or_are_set(make: type) -> None:
    graph = sample(make)
    count = graph.number_of_edges()
    weight = np.arange(1, count + 1, dtype=np.float32)
    small = rebuilt(graph, np.ones(count, bool), weight)
    expected = [edge[-1].get("weight", 1.0) * factor for edge, factor in zip(listed(graph), weight, strict=True)]
    assert [edge[-1]["weight"] for edge in listed(small)] == expected


def test_an_undirected_weight_is_the_mean_of_its_directions() -> None:
    graph = nx.Graph([(0, 1), (1, 1), (1, 2)])
    small = rebuilt(graph, np.array([True, True, True]), np.array([1, 7, 3, 2, 5], np.float32))
    assert {(u, v): w for u, v, w in small.edges(data="weight")} == {(0, 1): 1.5, (1, 1): 7.0, (1, 2): 4.0}


@pytest.mark.parametrize("make", CLASSES)
def test_e_id_is_the_position_in_the_edges(make: type) -> None:
    graph = sample(make)
    mask = np.arange(graph.number_of_edges()) % 2 == 1
    small = rebuilt(graph, mask, e_id=True)
    assert [edge[-1]["e_id"] for edge in listed(small)] == np.flatnonzero(mask).tolist()
    assert all("e_id" not in edge[-1] for edge in listed(graph))


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(CLASSES), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5))), st.randoms())
def test_any_graph_comes_back_with_exactly_its_kept_edges(make: type, edges: list, random: object) -> None:
    graph = make()
    graph.add_nodes_from([5, 3, 1])
    graph.add_edges_from((u, v, {"tag": i}) for i, (u, v) in enumerate(edges))
    mask = np.array([random.random() < 0.5 for _ in range(graph.number_of_edges())], bool)
    small = rebuilt(graph, mask)
    assert list(small) == list(graph)
    assert listed(small) == [edge for edge, keep in zip(listed(graph), mask, strict=True) if keep]


def test_empty_graph_and_view() -> None:
    empty = nx.DiGraph()
    assert find(empty).graphs(empty)[None].num_nodes == 0
    assert len(rebuilt(empty, np.zeros(0, bool))) == 0
    view = sample(nx.Graph).subgraph(["a", "b"])
    assert list(rebuilt(view, np.array([True])).edges()) == [("a", "b")]


@pytest.mark.parametrize("value", [np.ma.masked_array([1.0, 2.0], mask=[0, 1]), np.ma.masked], ids=repr)
def test_masked_attributes_are_refused(value):
    network = nx.path_graph(3)
    nx.set_node_attributes(network, value, "x")
    with pytest.raises(GraphError, match="x must be a plain array, got a numpy masked array"):
        prune(network, LSP(keep=0.5))
