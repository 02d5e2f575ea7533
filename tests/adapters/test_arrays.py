"""The adapters for Graph and bare edge arrays."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from lsprune.adapters import find
from lsprune.adapters.arrays import ArrayAdapter, GraphAdapter
from lsprune.adapters.base import Kept
from lsprune.errors import OptionError
from lsprune.graph import Graph

EDGES = np.array([[0, 1, 2, 2, 3], [1, 2, 0, 2, 1]])
MASK = np.array([True, False, True, True, False])


def rebuilt(data: object, mask: np.ndarray = MASK, weight: np.ndarray | None = None, e_id: bool = False) -> object:
    return find(data).rebuild(data, {None: Kept(mask=mask, weight=weight, e_id=e_id)})


def test_find_knows_graph_and_array() -> None:
    assert isinstance(find(Graph.from_edges(EDGES)), GraphAdapter)
    assert isinstance(find(EDGES), ArrayAdapter)


def test_coo_graph_stays_coo_with_everything_in_step() -> None:
    x, attributes = np.arange(8.0).reshape(4, 2), np.arange(10).reshape(5, 2)
    graph = Graph.from_edges(EDGES.astype(np.int32), x=x, edge_attr=attributes, ptr=[0, 3, 4])
    small = rebuilt(graph)
    assert isinstance(small, Graph)
    assert small.indptr is None
    assert small.source.tolist() == [0, 2, 2]
    assert small.target.tolist() == [1, 0, 2]
    assert small.source.dtype == np.int32
    assert small.edge_attr.tolist() == [[0, 1], [4, 5], [6, 7]]
    assert small.x is graph.x
    assert small.target_ptr is graph.target_ptr
    assert small.num_nodes == 4
    assert graph.num_edges == 5


@pytest.mark.parametrize("rows", ["source", "target"])
def test_csr_graph_stays_csr(rows: str) -> None:
    graph = Graph.from_csr(np.array([0, 2, 2, 5]), np.array([1, 2, 0, 1, 2]), rows=rows, edge_attr=np.arange(5))
    small = rebuilt(graph)
    assert isinstance(small, Graph)
    assert small.rows == rows
    assert small.indptr.tolist() == [0, 1, 1, 3]
    assert small.edge_attr.tolist() == [0, 2, 3]
    expected = [end[MASK].tolist() for end in graph.ends()]
    assert [end.tolist() for end in small.ends()] == expected


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_edge_attr_stays_sparse(kind: str) -> None:
    attributes = sp.csr_matrix(np.arange(10).reshape(5, 2)).asformat(kind)
    small = rebuilt(Graph.from_edges(EDGES, edge_attr=attributes))
    assert small.edge_attr.format == kind
    assert small.edge_attr.toarray().tolist() == [[0, 1], [4, 5], [6, 7]]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16, ">i8"])
def test_array_gives_array_of_the_same_dtype(dtype: object) -> None:
    data = EDGES.astype(dtype)
    small = rebuilt(data)
    assert small.dtype == np.dtype(dtype)
    assert small.tolist() == [[0, 2, 2], [1, 0, 2]]
    assert data.tolist() == EDGES.tolist()


def test_large_array_takes_the_parallel_way_to_the_same_edges() -> None:
    count = 300_000  # past the size at which kernels.compress goes parallel
    data = np.random.default_rng(0).integers(0, 99, (2, count))
    mask = np.random.default_rng(1).random(count) < 0.5
    assert np.array_equal(rebuilt(data, mask), data[:, mask])
    assert np.array_equal(rebuilt(data.astype(">i8"), mask), data[:, mask])


def test_array_is_read_as_a_view() -> None:
    graph = ArrayAdapter().graphs(EDGES)[None]
    assert np.shares_memory(graph.source, EDGES)
    assert graph.num_nodes == 4


@pytest.mark.parametrize("data", [EDGES, Graph.from_edges(EDGES)])
def test_masks_come_as_they_are_and_no_entry_means_whole(data: object) -> None:
    assert find(data).masks(data, {None: MASK}) is MASK
    assert find(data).rebuild(data, {}) is data


def test_weights_and_ids_have_no_place() -> None:
    weight = np.ones(5, np.float32)
    for data in (EDGES, Graph.from_edges(EDGES)):
        with pytest.raises(OptionError, match="rescale needs a place for edge weights"):
            rebuilt(data, weight=weight)
    with pytest.raises(OptionError, match="return_mask=True"):
        rebuilt(EDGES, e_id=True)


@pytest.mark.parametrize("shape", [(2, 0), (2, 5)])
def test_nothing_kept(shape: tuple[int, int]) -> None:
    data = np.zeros(shape, np.int32)
    small = rebuilt(data, np.zeros(shape[1], bool))
    assert small.shape == (2, 0)
    assert small.dtype == np.int32
