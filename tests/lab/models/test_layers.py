"""Shared layers: mean convolution, masked batch norm, self-loops, numbers of graphs."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from model_helpers import molecule  # noqa: E402
from torch_geometric.data import Batch, Data  # noqa: E402

from lsprune.lab.models.layers import (  # noqa: E402
    MaskedBatchNorm,
    MeanConv,
    category,
    convolution,
    edges_with_self_loops,
    graph_count,
    graph_of_node,
    precompute,
    with_self_loops,
)


def test_mean_conv_averages_a_node_and_its_neighbours():
    conv = MeanConv(2, 2)
    with torch.no_grad():
        conv.linear.weight.copy_(torch.eye(2))
    x = torch.tensor([[3.0, 0.0], [0.0, 6.0], [3.0, 3.0]])
    edges = torch.tensor([[1, 2, 0], [0, 0, 0]])  # a self-loop that is there already counts once
    expected = torch.stack([x.mean(0), x[1], x[2]])
    torch.testing.assert_close(conv(x, edges), expected)


def test_masked_batch_norm_is_batch_norm_without_padding():
    x = torch.randn(20, 4, generator=torch.Generator().manual_seed(0)) * 3 + 1
    ours, theirs = MaskedBatchNorm(4), torch.nn.BatchNorm1d(4)
    torch.testing.assert_close(ours(x, torch.ones(20, dtype=torch.bool)), theirs(x))
    torch.testing.assert_close(ours.running_var, theirs.running_var)
    torch.testing.assert_close(ours.eval()(x, torch.zeros(20, dtype=torch.bool)), theirs.eval()(x))


def test_masked_batch_norm_ignores_padding_nodes():
    x = torch.randn(20, 4, generator=torch.Generator().manual_seed(0)) * 3 + 1
    mask = torch.arange(20) < 13
    ours, theirs = MaskedBatchNorm(4), torch.nn.BatchNorm1d(4)
    torch.testing.assert_close(ours(x, mask)[:13], theirs(x[:13]))
    torch.testing.assert_close(ours.running_mean, theirs.running_mean)
    torch.testing.assert_close(ours.running_var, theirs.running_var)


def test_every_node_gets_one_self_loop():
    edges = torch.tensor([[0, 1, 1, 2], [0, 1, 2, 0]])  # two self-loops already
    assert with_self_loops(edges, 4).tolist() == [[1, 2, 0, 1, 2, 3], [2, 0, 0, 1, 2, 3]]
    assert with_self_loops(edges[:, 2:], 4, has_none=True).tolist() == with_self_loops(edges, 4).tolist()


def test_precomputed_edges_are_used_and_the_graph_itself_is_not_changed():
    data = Data(edge_index=torch.tensor([[0, 1], [1, 1]]), num_nodes=2)
    ready = precompute(data)
    assert "self_looped" not in data
    ready.edge_index = torch.empty(2, 0, dtype=torch.long)
    assert torch.equal(edges_with_self_loops(ready), edges_with_self_loops(data))


def test_a_convolution_has_the_columns_that_concat_says_and_attention_unless_basic():
    edges, x = torch.tensor([[0, 1], [1, 0]]), torch.ones(2, 5)
    for basic in (False, True):
        for concat, columns in ((True, 12), (False, 4)):
            layer = convolution(5, 4, 3, concat=concat, basic=basic)
            assert layer(x, edges).shape == (2, columns)
            assert isinstance(layer, MeanConv) == basic


def test_numbers_of_graphs():
    one, last = Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=3), Data(num_nodes=0)
    assert graph_of_node(one).tolist() == [0, 0, 0] and graph_count(one) == 1
    both = Batch.from_data_list([molecule(1), molecule(2, nodes=5)])
    assert graph_of_node(both).tolist() == [0] * 8 + [1] * 5 and graph_count(both) == 2
    last.num_graphs = 7  # counts graphs without nodes
    assert graph_count(last) == 7


def test_categories_may_be_a_column():
    assert category(torch.tensor([[3], [1]])).tolist() == category(torch.tensor([3, 1])).tolist() == [3, 1]
