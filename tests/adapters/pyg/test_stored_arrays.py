"""The stored arrays of a dataset: the same graph and the same result from arrays and from tensors on a device."""

from __future__ import annotations

import numpy as np
import pytest
from device_objects import graphs, identical
from pyg_helpers import hetero, several, stored, undirected

# isort: split
import torch
from torch_geometric.data import Data

from lsprune.adapters.base import Kept
from lsprune.adapters.pyg.stored_arrays import StoredArrays, StoredTensors
from lsprune.errors import GraphError, NoGpuPath
from lsprune.graph import UNUSABLE_MASK


def selections():
    return [stored(graphs()), stored(graphs())[[2, 0]], stored(graphs())[[]], stored(several())[1:]]


def test_only_plain_tensors_fit():
    assert all(map(StoredArrays.fits, selections()))
    others = [stored([hetero(), hetero()]), stored()[[1, 1]], stored([Data(edge_index=undirected())] * 2)]
    assert not any(map(StoredArrays.fits, others))


def test_tensors_are_read_like_arrays():
    for given in selections():
        here, there = StoredArrays.of(given).graph(), StoredTensors.of(given).graph()
        for name in ("source", "target", "x_source", "edge_attr", "target_ptr"):
            np.testing.assert_array_equal(getattr(there, name).numpy(), getattr(here, name))
        np.testing.assert_array_equal(StoredArrays.of(given).highest_ids(), StoredTensors.of(given).highest_ids())


def test_all_stored_tensors_are_read_without_a_copy():
    given = stored(graphs())
    assert StoredTensors.of(given).graph().x.data_ptr() == given._data.x.data_ptr()


def test_tensors_are_masked_like_arrays():
    for given in selections():
        edges = int(StoredArrays.of(given).edge_counts().sum())
        rng = np.random.default_rng(0)
        mask, weight = rng.random(edges) < 0.5, rng.random(edges).astype(np.float32)
        here = StoredArrays.of(given).keep(Kept(mask=mask, weight=weight, e_id=True))
        kept = Kept(mask=torch.from_numpy(mask), weight=torch.from_numpy(weight), e_id=True, count=int(mask.sum()))
        assert identical(here, StoredTensors.of(given).keep(kept))


@pytest.mark.parametrize("kind", [StoredArrays, StoredTensors])
def test_ids_past_their_own_graph_are_refused(kind):
    wrong = several()
    wrong[2].edge_index[0, 0] = 4
    with pytest.raises(GraphError, match=r"graph 2: edge_index ids must be in \[0, 4\)"):
        kind.of(stored(wrong)).graph()
    wrong[2].edge_index[0, 0] = -1
    with pytest.raises(GraphError, match=r"graph 2: edge_index ids must be in \[0, 4\)"):
        kind.of(stored(wrong)).graph()
    given = stored()
    given._data.edge_index = torch.zeros(3, 7, dtype=torch.int64)
    with pytest.raises(GraphError, match=r"shape \[2, E\], got \[3, 7\]"):
        kind.of(given).graph()


def test_nodes_are_not_counted_from_a_far_id():
    given = stored([Data(edge_index=torch.tensor([[2**40], [1]])), Data(edge_index=torch.tensor([[0], [1]]))])
    with pytest.raises(GraphError, match="id 1099511627776 is far beyond the 2 edges"):
        StoredArrays.of(given).graph()


def test_attributes_must_be_where_the_edges_are():
    given = stored()
    given._data.x = given._data.x.to("meta")
    with pytest.raises(NoGpuPath, match="x must be on the device of the edges"):
        StoredTensors.of(given).graph()


def test_labels_of_nodes_are_read_and_those_of_graphs_are_not():
    listed = graphs()
    for place, data in enumerate(listed):
        data.y = torch.arange(data.num_nodes) + 100 * place
        data.train_mask = torch.tensor([place % 2 == 0])
    for given in (stored(listed), stored(listed)[[2, 0]]):
        expected = torch.cat([data.y for data in given]).numpy()
        for read in (StoredArrays, StoredTensors):
            graph = read.of(given).graph()
            np.testing.assert_array_equal(np.asarray(graph.y), expected)
            assert graph.train_mask is UNUSABLE_MASK  # it has a row for each graph


@pytest.mark.parametrize("kind", [StoredArrays, StoredTensors])
@pytest.mark.parametrize(("name", "item"), [("x", "node"), ("edge_attr", "edge")])
def test_attributes_of_another_length_are_refused_with_the_graph(kind, name, item):
    wrong = several()
    wrong[2].num_nodes = 4
    for one in wrong[:2]:
        one.num_nodes = one.x.size(0)
    wrong[2][name] = wrong[2][name][:-1]
    with pytest.raises(GraphError, match=f"^graph 2: {name} must have 4 rows, one for each {item}, got 3$"):
        kind.of(stored(wrong)).graph()
