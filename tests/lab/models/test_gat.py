"""The GATs of the node experiments: the sizes of the paper, self-loops, skip connections."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from model_helpers import IN_DIM, OUT_DIM, complete_graph, make  # noqa: E402

from lsprune.lab.models import build  # noqa: E402
from lsprune.lab.models.layers import with_self_loops  # noqa: E402


def test_sizes_are_those_of_the_paper():
    github, ppi = make("github-gat"), make("ppi-gat")
    assert (github.first.heads, github.first.out_channels) == (1, 32)
    sizes = [(layer.heads, layer.out_channels, layer.concat) for layer in ppi.convs]
    assert sizes == [(4, 256, True), (4, 256, True), (6, OUT_DIM, False)]


@pytest.mark.parametrize("name", ["github-gat", "planetoid-gat", "node-gat"])
@pytest.mark.parametrize("basic", [False, True])
def test_a_precomputed_graph_gives_the_same_result(name, basic):
    torch.manual_seed(0)
    model, data = build(name, in_dim=IN_DIM, out_dim=OUT_DIM, basic=basic), complete_graph(40)
    ready = model.precompute(data)
    for training in (True, False):
        results = []
        for graph in (data, ready):
            torch.manual_seed(1)
            results.append(model.train(training)(graph))
        assert torch.equal(*results)
    assert "self_looped" not in data  # the molecule itself is not changed


@pytest.mark.parametrize("name", ["github-gat", "planetoid-gat", "node-gat"])
def test_added_self_loops_are_those_of_pygs_gat(name):
    torch.manual_seed(0)
    model, data = build(name, in_dim=IN_DIM, out_dim=OUT_DIM).eval(), complete_graph(12)
    ours = model.first(data.x, with_self_loops(data.edge_index, 12))
    model.first.add_self_loops = True
    torch.testing.assert_close(ours, model.first(data.x, data.edge_index))


def test_ppi_gat_adds_a_linear_map_of_each_layers_input():
    model, data = make("ppi-gat").eval(), complete_graph(12)
    before = model(data)
    with torch.no_grad():
        model.skips[2].bias += 1
    torch.testing.assert_close(model(data), before + 1)
