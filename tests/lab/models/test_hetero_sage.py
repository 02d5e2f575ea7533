"""SAGE for each relation: means over in-neighbours, skips, gradients as of dense matrices, refusals."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lsprune import NoEdges, prune  # noqa: E402
from lsprune.errors import OptionError  # noqa: E402
from lsprune.lab.datasets.hetero_small import hetero_small  # noqa: E402
from lsprune.lab.models import build, build_hetero  # noqa: E402
from lsprune.lab.models.hetero_sage import Means, _Mean  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR:UserWarning")


def graph(papers: int = 30):
    return hetero_small(papers).train


def model(data) -> torch.nn.Module:
    torch.manual_seed(0)
    return build_hetero("hetero-sage", data, target="paper", out_dim=3).eval()


def test_means_are_those_of_in_neighbours_and_nothing_without_any():
    edges = torch.tensor([[0, 1, 1, 1, 2], [0, 0, 2, 2, 2]])  # the edge from 1 to 2 twice
    rows = torch.tensor([[1.0, 0.0], [3.0, 6.0], [9.0, 0.0]])
    means = Means.of(edges, 3, 4)
    found = _Mean.apply(rows, means)
    torch.testing.assert_close(found, torch.tensor([[2.0, 3.0], [0.0, 0.0], [5.0, 4.0], [0.0, 0.0]]))
    torch.testing.assert_close(means.transposed.to_dense(), means.matrix.to_dense().T)


def test_gradients_are_those_of_a_dense_product():
    generator = torch.Generator().manual_seed(0)
    means = Means.of(torch.randint(7, (2, 30), generator=generator), 7, 9)
    rows, weights = torch.randn(7, 4, generator=generator), torch.randn(9, 4, generator=generator)
    gradients = []
    for product in (lambda x: _Mean.apply(x, means), lambda x: means.matrix.to_dense() @ x):
        leaf = rows.clone().requires_grad_()
        (product(leaf) * weights).sum().backward()
        gradients.append(leaf.grad)
    torch.testing.assert_close(*gradients)


def test_scores_are_those_of_the_labelled_kind_and_the_same_when_prepared():
    data = graph()
    net = model(data)
    assert net(data).shape == (30, 3)
    torch.testing.assert_close(net(net.precompute(data)), net(data))


def test_every_parameter_gets_a_gradient():
    data = graph()
    net = model(data).train()
    (net(data) * torch.randn(30, 3)).sum().backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None and float(parameter.grad.abs().sum()) > 0, name


def test_without_edges_a_node_knows_itself_only():
    data = graph()
    net = model(data)
    bare = prune(data, NoEdges())
    before = net(bare)
    bare["author"].x = torch.flip(bare["author"].x, [0])
    torch.testing.assert_close(net(bare), before)
    assert not torch.allclose(net(data), before)


def test_a_layer_that_returns_nothing_passes_its_input_on():
    data = graph()
    net = model(data)
    for parameter in net.convs.parameters():
        torch.nn.init.zeros_(parameter)
    rows = torch.relu(net.first["paper"](net.precompute(data).x["paper"]))
    torch.testing.assert_close(net(data), net.last(rows))


def test_attributes_of_any_scale_give_the_same_scores():
    data = graph()
    net = model(data)
    before = net(data)
    data["paper"].x = data["paper"].x * 1000
    torch.testing.assert_close(net(data), before, rtol=1e-4, atol=1e-5)


def test_models_of_other_graphs_are_refused_and_named():
    with pytest.raises(OptionError, match="model must be one of hetero-sage for a graph of several kinds"):
        build_hetero("node-sage-skip", graph(), target="paper", out_dim=3)
    with pytest.raises(OptionError, match="got 'hetero-sage'"):
        build("hetero-sage", in_dim=3, out_dim=3)
