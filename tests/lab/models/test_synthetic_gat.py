"""The GAT for the synthetic graphs: the sizes of the paper, self-loops in the input."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from model_helpers import make, molecule  # noqa: E402
from torch_geometric.data import Batch  # noqa: E402

from lsprune.lab.models.layers import with_self_loops  # noqa: E402


def test_sizes_are_those_of_the_paper():
    model = make("synthetic-gat")
    layers = [(layer.heads, layer.out_channels, layer.concat) for layer in (model.first, model.second, model.third)]
    assert layers == [(16, 40, True), (16, 40, True), (16, 40, False)]
    assert model.dropout == 0.5


@pytest.mark.parametrize("basic", [False, True])
def test_self_loops_in_the_input_make_no_difference(basic):
    model, data = make("synthetic-gat-small", basic).eval(), molecule(1)
    assert not model.self_loops
    looped = data.clone()
    looped.edge_index = with_self_loops(data.edge_index, 8)
    torch.testing.assert_close(model(looped), model(data))


def test_scores_are_a_linear_map_of_the_mean_over_the_nodes_of_each_graph():
    model, parts = make("synthetic-gat-small").eval(), [molecule(1), molecule(2, nodes=5)]
    seen = []
    model.third.register_forward_hook(lambda _, args, out: seen.append(out))
    scores = model(Batch.from_data_list(parts))
    means = torch.stack([seen[0][:8].mean(0), seen[0][8:].mean(0)])
    torch.testing.assert_close(scores, model.last(means))
