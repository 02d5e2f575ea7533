"""The walk on a device: what is not finite is named, the input stays as it was, and keys are made once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from device_helpers import HOST, both, device_run, result_of, torch

from graphs import random_graph
from lsprune import LSP, Graph, LocalRandom
from lsprune.device.graph import from_tensors, upload
from lsprune.hashing import Identity, Projection, Signs, Threshold

FAMILIES = [Projection(), Projection(l=0.5), Signs(bits=3), Threshold(), Identity()]


def graph_with(name: str, row: int, value: float, dim: int = 3) -> Graph:
    """A random graph with one value that is not finite."""
    graph = random_graph(0, nodes=40, edges=600, dim=dim, edge_dim=dim)
    rows = (graph.x if name == "x" else graph.edge_attr).copy()
    rows[row, -1] = value
    return replace(graph, edge_attr=rows) if name != "x" else replace(graph, x_source=rows, x_target=rows)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("name", "row"), [("x", 0), ("x", 33), ("edge_attr", 599)])
@pytest.mark.parametrize("hash", FAMILIES[:-1], ids=repr)
def test_what_is_not_finite_is_named_by_its_row(hash, name, row, value):
    host, device = both(LSP(k=2, hash=hash), graph_with(name, row, value))
    assert device == host == f"RowError: {name} must be finite in float32, got {value} in row {row}"


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("pruner", [LSP(k=2), LSP(keep=0.4, hash="signs"), LSP(k=900), LSP(k=0), LSP(keep=1.0)])
def test_a_fitted_pruner_names_it_even_if_no_owner_has_a_choice(pruner, dim):
    fitted = pruner.fit_graph(random_graph(0, nodes=40, edges=600, dim=dim, edge_dim=dim), HOST)
    host, device = both(fitted, graph_with("edge_attr", 17, np.nan, dim))
    assert device == host == "RowError: edge_attr must be finite in float32, got nan in row 17"


def test_the_runtime_forgets_faults_that_were_raised():
    run = device_run()
    fitted = LSP(k=2).fit_graph(random_graph(0, nodes=40, edges=600, dim=3, edge_dim=3), HOST)
    assert "row 5" in result_of(fitted, upload(graph_with("x", 5, np.nan), "cpu"), run)
    assert not run.faults
    assert not isinstance(result_of(fitted, upload(random_graph(0, 40, 600, 3, 3), "cpu"), run), str)


def test_identity_looks_at_no_attribute():
    host, device = both(LSP(k=2, hash="identity"), graph_with("x", 3, np.nan))
    assert device == host and not isinstance(device, str)


@pytest.mark.parametrize(
    "pruner", [LSP(k=2), LSP(keep=0.3, hash="signs", weights="degree"), LSP(k=2, symmetric="union"), LocalRandom(k=1)]
)
def test_the_input_is_not_changed(pruner):
    rng = np.random.default_rng(0)
    ends = torch.from_numpy(rng.integers(0, 30, (2, 400)))
    order = torch.argsort(ends[1], stable=True)
    x, attr = torch.from_numpy(rng.standard_normal((30, 4))), torch.from_numpy(rng.standard_normal((400, 2)))
    for given in (ends, ends[:, order].contiguous()):
        tensors = (given, x, attr)
        before = [tensor.clone() for tensor in tensors]
        graph = from_tensors((given[0], given[1]), x=x, edge_attr=attr)
        first = pruner.mask_graph(graph, device_run()).mask
        first_again = first.clone()
        first.zero_()  # what is returned belongs to the caller
        assert torch.equal(pruner.mask_graph(graph, device_run()).mask, first_again)
        assert all(torch.equal(tensor, old) for tensor, old in zip(tensors, before, strict=True))


@pytest.mark.parametrize("rows", ["target", "source"])
@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("self_loops", ["free", "edge", "drop"])
def test_compressed_rows_give_the_mask_of_their_edges(rows, side, self_loops):
    rng = np.random.default_rng(4)
    dense = rng.random((25, 25)) < 0.5
    pointers, others = np.append(0, np.cumsum(dense.sum(1))), np.nonzero(dense)[1]
    x, attr = rng.standard_normal((25, 6)).astype(np.float32), rng.standard_normal((others.size, 2)).astype(np.float32)
    host = Graph.from_csr(pointers, others, rows=rows, x=x, edge_attr=attr)
    device = from_tensors(
        indptr=torch.from_numpy(pointers), indices=torch.from_numpy(others), rows=rows, num_nodes=25,
        x=torch.from_numpy(x), edge_attr=torch.from_numpy(attr),
    )  # fmt: skip
    for options in (
        {"k": 3},
        {"k": 20},
        {"keep": 0.2},
        {"k": 2, "attributes": ("neighbour",)},
        {"k": 2, "weights": "degree"},
    ):
        pruner = LSP(**options, side=side, self_loops=self_loops)
        assert result_of(pruner, device, device_run()) == result_of(pruner, host, HOST)


def test_ties_go_by_the_id_within_each_graph():
    one = random_graph(0, nodes=20, edges=300)
    same_x = replace(one, x_source=np.ones((20, 2)), x_target=np.ones((20, 2)))
    twice = Graph.concat([same_x, same_x])
    host, device = both(LSP(k=2, attributes=("neighbour",)), twice)
    assert device == host and device[1][:300] == device[1][300:]


def test_keys_that_fail_are_an_error_only_if_they_are_needed():
    graph = Graph.from_edges(np.array([[0, 1, 2], [1, 2, 0]]), x=np.ones((3, 2)))
    pruner = LSP(k=1, hash="projection:l=0.5", weights="degree").fit_graph(graph, HOST)
    host, device = both(pruner, graph)  # every owner has one edge
    assert device == host and device[1] == [True] * 3
    busy = Graph.from_edges(np.array([[0, 1, 2], [1, 1, 1]]), x=np.ones((3, 2)), num_nodes=3)
    host, device = both(pruner, busy)
    assert device == host and device.startswith("OptionError: weights must be None with Projection")


def test_a_graph_without_edges_keeps_nothing():
    for graph in (Graph.from_edges(np.zeros((2, 0), int), num_nodes=0), random_graph(0, nodes=5, edges=0)):
        for pruner in (LSP(k=2, hash="identity"), LSP(keep=0.5, hash="identity", symmetric="union"), LocalRandom(k=1)):
            host, device = both(pruner, graph)
            assert device == host == (None, [], 0)


@pytest.mark.parametrize("self_loops", ["free", "drop", "edge"])
@pytest.mark.parametrize("edge", [0, 3])
def test_attributes_of_self_loops_that_take_no_part_are_not_looked_at(self_loops, edge):
    ends = np.array([[1, 2, 3, 0], [0, 0, 0, 0]])  # edge 3 is a self-loop
    attr = np.arange(8.0, dtype=np.float32).reshape(4, 2)
    pruner = LSP(k=1, self_loops=self_loops, attributes=("edge",)).fit(Graph.from_edges(ends, edge_attr=attr))
    attr[edge, 1] = np.nan
    host, device = both(pruner, Graph.from_edges(ends, edge_attr=attr))
    assert device == host
    assert isinstance(host, str) == (edge == 0 or self_loops == "edge")
