"""Keys of tensors on a device: the integers of the host, whatever the family, the parts and the chunks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from device_helpers import FAMILIES, any_graph, device_run, key_tables, numpy_of, torch, views

from graphs import random_graph
from lsprune import LSP, Graph
from lsprune.attributes import DenseRows, Part, SparseRows
from lsprune.errors import NoGpuPath
from lsprune.hashing import device_keys, keys
from lsprune.hashing.base import NodeKeys
from lsprune.kernels.gpu import quantisation
from lsprune.numeric.random_numbers import SIGN, draw
from lsprune.weights import Degree

ALL = ("owner", "edge", "neighbour")


def described(edge_dim: int = 2, dim: int = 5) -> Graph:
    return random_graph(0, nodes=40, edges=300, dim=dim, edge_dim=edge_dim)


def categories() -> Graph:
    graph = described()
    return Graph.from_edges(graph.ends(), num_nodes=40, x=np.arange(40) % 7, edge_attr=np.arange(300) % 3)


@pytest.mark.parametrize("attributes", [ALL, ("neighbour",), ("edge",)])
@pytest.mark.parametrize("graph", [described(), described(1, 1), described(0, 200), categories()], ids=repr)
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_keys_are_those_of_the_host(family, graph, attributes):
    here, there = views(LSP(k=5, hash=family, attributes=attributes, self_loops="edge"), graph, 5)
    for first, count in ((0, 5), (16, 1)):
        expected, found = (family.keys(view, first, count) for view in (here, there))
        np.testing.assert_array_equal(key_tables(there, found, count), key_tables(here, expected, count))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("family", [family for family in FAMILIES if family.has_codes], ids=repr)
def test_keys_that_weights_are_added_to_are_those_of_the_host(family, seed):
    graph = any_graph(np.random.default_rng(seed), edges=(300,))
    here, there = views(LSP(k=3, hash=family, weights=Degree()), graph, 3)
    assert here.log_keys and there.log_keys
    expected, found = (family.keys(view, 0, 3) for view in (here, there))
    np.testing.assert_array_equal(key_tables(there, found, 3), key_tables(here, expected, 3))


def test_draws_become_keys_as_on_the_host():
    draws = draw(0, SIGN, np.arange(1000))
    for weights in (None, "degree"):
        here, there = views(LSP(k=1, hash="signs", weights=weights), described())
        found = keys.uniform(there, torch.from_numpy(draws.view(np.int64)))
        assert found.dtype == torch.int32
        np.testing.assert_array_equal(numpy_of(found), keys.uniform(here, draws))


def test_chunks_change_nothing(monkeypatch):
    graph = described(dim=9)
    for family in FAMILIES:
        for attributes in (("neighbour",), ALL):
            pruner = LSP(k=5, hash=family, attributes=attributes)
            _, there = views(pruner, graph, 5)
            whole = key_tables(there, family.keys(there, 0, 5), 5)
            with monkeypatch.context() as few:
                few.setattr(device_keys, "CHUNK_ROWS", 7)
                few.setattr(device_keys, "CHUNK_SUMS", 30)
                few.setattr(quantisation, "CHUNK_VALUES", 50)
                _, there = views(pruner, graph, 5)
                np.testing.assert_array_equal(key_tables(there, family.keys(there, 0, 5), 5), whole)


@pytest.mark.parametrize("width", [None, 8, 16])
@pytest.mark.parametrize("dim", [1, 9])
def test_projections_are_those_of_the_host(dim, width):
    here, there = views(LSP(k=1, attributes=("neighbour",)), described(0, dim))
    weights = np.random.default_rng(1).integers(-99, 100, (5, dim)).astype(np.int16)
    expected, found = (
        keys.project(view, view.parts["neighbour"], view.scales["neighbour"], weights, width=width)
        for view in (here, there)
    )
    assert found.shape[1] == (width or 5)
    np.testing.assert_array_equal(numpy_of(found)[:, :5], expected[:, :5])


def test_rows_that_are_not_finite_are_noted_and_not_waited_for():
    _, there = views(LSP(k=1, attributes=("neighbour",)), described())
    rows = there.parts["neighbour"].rows
    values = rows.values.clone()
    values[11, 0] = float("nan")
    bad = Part(DenseRows("x", values))
    run = device_run()
    weights = np.ones((2, 5), np.int16)
    keys.project(replace(there, runtime=run), bad, there.scales["neighbour"], weights)
    [(noted, row)] = run.faults
    assert noted is bad.rows and int(row) == 11
    keys.project(there, there.parts["neighbour"], there.scales["neighbour"], weights)
    assert int(there.runtime.faults[-1][1]) == rows.count  # none


def test_rows_of_a_category_are_made_once():
    _, there = views(LSP(k=1), categories())
    part = there.parts["neighbour"]
    first = device_keys.values_of(there, part)
    assert device_keys.values_of(there, part) is first
    np.testing.assert_array_equal(numpy_of(first), part.rows.block(0, part.rows.count))


def test_sparse_rows_have_no_gpu_path():
    _, there = views(LSP(k=1), described())
    with pytest.raises(NoGpuPath, match="sparse attributes have no GPU path"):
        device_keys.values_of(there, Part(SparseRows("x", scipy.sparse.csr_array(np.eye(5)))))


def test_tables_have_8_or_16_columns():
    for width, padded in ((1, 8), (8, 8), (9, 16), (16, 16)):
        table = torch.arange(3 * width, dtype=torch.int16).view(3, width)
        found = device_keys.padded(table)
        assert found.shape == (3, padded) and found.dtype == torch.int64
        assert torch.equal(found[:, :width], table.long()) and not found[:, width:].any()
        assert device_keys.padded(table.int()).dtype == torch.int32


def test_keys_that_are_all_equal_are_zeros():
    _, there = views(LSP(k=1, hash="identity"), described())
    for count, width in ((5, 8), (9, 16)):
        equal = keys.equal_keys(there, count)
        assert isinstance(equal, NodeKeys) and equal.table.shape == (40, width) and not equal.table.any()
    assert keys.in_blocks(there, 3, lambda lo, hi: torch.arange(lo, hi)).tolist() == [0, 1, 2]
