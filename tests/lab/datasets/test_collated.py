"""Datasets made from arrays: single graphs, parts and batches like those of PyG."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch_geometric")

from torch_geometric.loader import DataLoader

from lsprune.lab.datasets.collated import CollatedDataset


def dataset() -> CollatedDataset:
    """Return three graphs of 2, 1 and 3 nodes with 1, 0 and 2 edges."""
    nodes, edges = np.array([0, 2, 3, 6]), np.array([0, 1, 1, 3])
    return CollatedDataset.from_arrays(
        {
            "x": (np.arange(6.0)[:, None], nodes),
            "edge_index": (np.array([[0, 2, 1], [1, 0, 2]]), edges),
            "y": (np.array([5, 6, 7]), np.arange(4)),
        }
    )


def test_graphs_are_slices_of_the_arrays():
    first, second, third = dataset()
    assert first.x.tolist() == [[0], [1]] and first.edge_index.tolist() == [[0], [1]]
    assert second.num_nodes == 1 and second.num_edges == 0
    assert third.edge_index.tolist() == [[2, 1], [0, 2]] and third.y.tolist() == [7]


def test_a_part_and_a_batch_hold_the_same_graphs():
    part = dataset()[[2, 0]]
    assert [graph.y.item() for graph in part] == [7, 5]
    batch = next(iter(DataLoader(part, batch_size=2)))
    assert batch.edge_index.tolist() == [[2, 1, 3], [0, 2, 4]] and batch.ptr.tolist() == [0, 3, 5]
