"""What "auto" is tried on, sampled on a device: the graphs of the host, and so the choice of the host."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import HOST, any_graph, both, device_run, numpy_of, upload

from graphs import communities, random_graph
from lsprune import LSP, Graph
from lsprune.device.graph import download
from lsprune.pruners import calibration
from lsprune.pruners.calibration_graphs import in_host_memory, sample_slots, slots_in_order, slots_to_graph
from lsprune.selection.owners import group


def parallel(seed: int = 0) -> Graph:
    """A graph with hubs and many parallel edges, whose attributes differ, or are the same, or are -0 and 0."""
    rng = np.random.default_rng(seed)
    ends = np.stack([rng.integers(0, 9, 700), rng.integers(0, 9, 700) ** 2 // 9])
    attr = rng.choice(np.array([-1, -0.0, 0, 2.5], np.float32), (700, 2))
    return Graph.from_edges(ends, num_nodes=9, x=rng.standard_normal((9, 3)), edge_attr=attr)


def grouped(graph: Graph, side: str):
    there = upload(graph, "cpu")
    rules = LSP(k=1, side=side)
    return there, group(graph, rules, HOST), group(there, rules, device_run())


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("limits", [(0, 10**6, 10**6), (2, 100, 8), (0, 37, 10**6), (2, 10**6, 3), (1, 60, 40)])
def test_slots_are_those_of_the_host(side, limits):
    for graph in (random_graph(0, nodes=40, edges=600, edge_dim=2), parallel(), random_graph(1, nodes=9, edges=300)):
        there, here, owned = grouped(graph, side)
        expected, found = (sample_slots(*pair, 3, *limits) for pair in ((graph, here), (there, owned)))
        np.testing.assert_array_equal(np.sort(numpy_of(found)), np.sort(expected))
        expected, found = slots_in_order(graph, here, expected), slots_in_order(there, owned, found)
        one, other = slots_to_graph(graph, here, side, expected), slots_to_graph(there, owned, side, found)
        copied = in_host_memory(other, device_run())
        assert copied.bipartite and (copied.num_sources, copied.num_targets) == (one.num_sources, one.num_targets)
        np.testing.assert_array_equal(np.stack(copied.ends()), np.stack(one.ends()))
        for name in ("x_source", "x_target", "edge_attr"):
            np.testing.assert_array_equal(getattr(copied, name), getattr(one, name))
            assert getattr(one, name) is None or getattr(copied, name).dtype == getattr(one, name).dtype
    assert in_host_memory(graph, HOST) is graph


def test_a_graph_comes_back_as_it_was_copied_there():
    for seed in range(8):
        graph = any_graph(np.random.default_rng(seed))
        back = download(upload(graph, "cpu"))
        assert type(back) is Graph
        for name, value in vars(graph).items():
            if isinstance(value, np.ndarray):
                np.testing.assert_array_equal(getattr(back, name), value)
            elif name not in ("grouped", "ids", "known"):
                assert getattr(back, name) == value


@pytest.mark.parametrize("pruner", [LSP.auto(keep=0.2), LSP.auto(k=3, side="out"), LSP(k=2, hash="auto")], ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_the_choice_is_that_of_the_host(pruner, seed, monkeypatch):
    monkeypatch.setattr(calibration, "MAX_LEARNING_EDGES", 500)
    monkeypatch.setattr(calibration, "MAX_TRIAL_EDGES", 300)
    monkeypatch.setattr(calibration, "MAX_OWNER_EDGES", 20)
    monkeypatch.setattr(calibration, "MIN_TRIAL_EDGES", 50)
    monkeypatch.setattr(calibration, "MAX_SURROUNDING_EDGES", 400)
    graph = parallel(seed) if seed == 0 else communities(300, seed=seed)[0]
    host, device = both(pruner, graph, fit=True)
    assert device == host and not isinstance(host, str)
    assert not host[0].options.chosen_by_fit


def test_similar_neighbours_are_preferred_there_too():
    graph, _ = communities(600, width=40)
    for pruner, similar in (
        (LSP.auto(keep=0.2), True),
        (LSP.auto(keep=0.9), False),
        (LSP(keep=0.2, hash="identity", weights="auto"), True),
    ):
        host, device = both(pruner, graph, fit=True)
        assert device == host and (host[0].options.weights is not None) == similar


def test_graphs_without_a_choice_and_errors():
    single = Graph.from_edges(np.array([[0, 1, 2], [1, 2, 0]]), x=np.eye(3, dtype=np.float32))
    none = random_graph(0, nodes=5, edges=0)
    bad = parallel()
    bad.edge_attr[3, 1] = np.nan
    for graph in (single, none, bad, Graph.from_edges(parallel().ends())):
        for pruner in (LSP.auto(keep=0.2), LSP(k=2, hash="auto"), LSP(k=2, weights="auto")):
            for fit in (False, True):
                host, device = both(pruner, graph, fit=fit)
                assert device == host
