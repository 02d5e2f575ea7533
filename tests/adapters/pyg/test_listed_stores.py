"""Many graphs read and masked together: each gets what it would get by itself, in memory of its own."""

from __future__ import annotations

import numpy as np
import pytest
from device_objects import graphs, identical
from pyg_helpers import SEVERAL_MASK, matrix, rebuild, several

# isort: split
import torch
from torch_geometric.data import Batch, Data

from lsprune.adapters.base import Kept
from lsprune.adapters.pyg.listed_stores import ListedStores
from lsprune.errors import GraphError
from lsprune.graph import Graph


class Rows(Data):
    """A graph that joins its entries in a way of its own."""

    def __cat_dim__(self, key, value, *args, **more):
        return super().__cat_dim__(key, value, *args, **more)


ORDERS = {"first": 1, "second": 2}, {"second": 2, "first": 1}
UNLIKE = {
    "batches": lambda: [Batch.from_data_list(several())] * 2,
    "joined in another way": lambda: [Rows(edge_index=one.edge_index) for one in several()],
    "two classes": lambda: [*several(), Rows(**several()[0].to_dict())],
    "two orders of entries": lambda: [Data(edge_index=several()[0].edge_index, **more) for more in ORDERS],
    "sparse": lambda: [Data(adj_t=matrix("sparse_csr", [0, 1], [1, 0], (2, 2)))] * 2,
    "types": lambda: [Data(edge_index=one.edge_index.to(t)) for one, t in zip(several(), (torch.int64, torch.int32))],  # noqa: B905
    "lists": lambda: [Data(edge_index=one.edge_index, edge_names=["a"] * one.num_edges) for one in several()],
    "numbers": lambda: [Data(edge_index=one.edge_index, edge_kind=torch.tensor(3)) for one in several()],
    "too few rows": lambda: [Data(edge_index=one.edge_index, edge_attr=torch.ones(3)) for one in several()],
    "counts": lambda: [Data(edge_index=one.edge_index, num_edges=one.num_edges) for one in several()],
    "gradients": lambda: [
        Data(edge_index=one.edge_index, edge_attr=torch.ones(one.num_edges, requires_grad=i == 1))
        for i, one in enumerate(several())
    ],
}


@pytest.mark.parametrize("name", UNLIKE)
def test_what_cannot_be_joined_and_cut_again_is_left_to_others(name):
    assert ListedStores.of(UNLIKE[name]()) is None


def test_graphs_are_one_after_the_other():
    there = ListedStores.of(graphs()).graph()
    here = Graph.concat([Graph.from_edges(one.edge_index.numpy(), num_nodes=one.num_nodes) for one in graphs()])
    assert there.target_ptr.tolist() == here.target_ptr.tolist() == [0, 20, 50, 55]
    assert [end.tolist() for end in there.ends()] == [end.tolist() for end in here.ends()]


@pytest.mark.parametrize("change", [lambda one: setattr(one, "num_nodes", torch.tensor(3)), lambda one: None])
def test_numbers_of_nodes_that_it_cannot_read_are_left_to_others(change):
    given = [Data(edge_index=one.edge_index, node_names=["a"] * one.num_nodes) for one in several()]
    for one in given:
        change(one)
    assert ListedStores.of(given).graph() is None


def test_without_a_statement_nodes_are_counted_from_the_edges():
    listed = ListedStores.of([Data(edge_index=one.edge_index) for one in several()])
    assert listed.stated_nodes() is None
    assert listed.guessed_nodes() == [3, 0, 4]
    far = ListedStores.of([Data(edge_index=torch.tensor([[2**40], [1]]))] * 2)
    with pytest.raises(GraphError, match="id 1099511627776 is far beyond the 2 edges"):
        far.guessed_nodes()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("extras", [False, True])
def test_each_graph_keeps_what_it_would_keep_by_itself(weighted, extras):
    given = several()
    for one in given if weighted else []:
        one.edge_weight = torch.arange(one.num_edges) + 2  # integers become floats
    weight = np.arange(7, dtype=np.float32) if extras else None
    expected = rebuild(given, SEVERAL_MASK, weight=weight, e_id=extras)
    tensor = None if weight is None else torch.from_numpy(weight)
    new = ListedStores.of(given).keep(Kept(mask=torch.from_numpy(SEVERAL_MASK), weight=tensor, e_id=extras))
    assert "num_nodes" not in new and ("e_id" in new) == extras
    for name, values in new.items():
        assert identical([one[name] for one in expected], list(values)), name
        assert all(value.is_contiguous() for value in values)


def test_gradients_flow_to_every_graph():
    given = several()
    for one in given:
        one.edge_attr = one.edge_attr.double().requires_grad_()
    new = ListedStores.of(given).keep(Kept(mask=torch.from_numpy(SEVERAL_MASK)))
    sum(values.sum() for values in new["edge_attr"]).backward()
    assert [one.edge_attr.grad.tolist() for one in given] == [[0, 1, 1], [], [1, 0, 1, 0]]
