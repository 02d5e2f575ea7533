"""Mini-batches hold what their nodes need: scores are those of the whole graph."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lsprune.lab.acceleration.neighbourhood_batches import InNeighbours  # noqa: E402
from lsprune.lab.acceleration.pruned_graphs import TINY_GRAPH, PrunedGraphs, open_dataset  # noqa: E402
from lsprune.lab.models import build  # noqa: E402


def test_rows_hold_the_in_neighbours_of_each_node():
    edges = torch.tensor([[3, 1, 2, 0], [0, 0, 3, 3]])
    rows = InNeighbours.of(edges, 4)
    assert rows.edges_into(torch.tensor([3, 1, 0])).tolist() == [[2, 0, 3, 1], [0, 0, 2, 2]]


def test_a_batch_has_its_nodes_first_and_everything_within_the_hops():
    chain = torch.tensor([[1, 2, 3, 4], [0, 1, 2, 3]])  # 4 -> 3 -> 2 -> 1 -> 0
    batch = InNeighbours.of(chain, 6).batch(torch.tensor([5, 0]), 2, torch.arange(6.0)[:, None])
    assert batch.n_id.tolist() == [5, 0, 1, 2]
    assert batch.x[:, 0].tolist() == [5, 0, 1, 2]
    assert batch.edge_index.tolist() == [[2, 3], [1, 2]]


@pytest.mark.parametrize("name", ["node-gat", "node-gcn", "node-sage"])
def test_the_scores_are_those_of_the_whole_graph(name):
    data = PrunedGraphs(open_dataset("computers", None, "tiny")).prune("random", 0.1)[0].test
    torch.manual_seed(0)
    model = build(name, in_dim=data.num_node_features, out_dim=4).eval()
    nodes = torch.tensor([17, 3, 250])
    batch = InNeighbours.of(data.edge_index, data.num_nodes).batch(nodes, 2, data.x)
    assert batch.num_edges < data.num_edges == TINY_GRAPH.edges // 10
    batch.in_degree = torch.bincount(data.edge_index[1], minlength=data.num_nodes)[batch.n_id]
    assert torch.allclose(model(batch)[:3], model(data)[nodes], atol=1e-5)
