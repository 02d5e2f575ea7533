"""GCN and SAGE with skip connections: what a skip is, edges computed once, several labels per node."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from model_helpers import IN_DIM, SKIP, molecule, without_edges  # noqa: E402
from training_helpers import communities, multi_label_graphs, use_datasets  # noqa: E402

from lsprune.errors import OptionError  # noqa: E402
from lsprune.lab.models import build  # noqa: E402
from lsprune.lab.studies.run import Run  # noqa: E402
from lsprune.lab.training.train import train  # noqa: E402


def model(name: str) -> torch.nn.Module:
    torch.manual_seed(0)
    return build(name, in_dim=IN_DIM, out_dim=3).eval()


@pytest.mark.parametrize("name", SKIP)
def test_a_layer_that_returns_nothing_passes_its_input_on(name):
    net, data = model(name), molecule(1)
    for conv in net.convs:
        for parameter in conv.parameters():
            torch.nn.init.zeros_(parameter)
    expected = net.last(torch.relu(net.first(data.x)))
    torch.testing.assert_close(net(data), expected)
    torch.testing.assert_close(net(without_edges(1)), expected)


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("name", SKIP)
def test_computing_edges_once_gives_the_same_scores(name, sort):
    net, data = model(name), molecule(2)
    torch.testing.assert_close(net(net.precompute(data, sort=sort)), net(data), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SKIP)
def test_classes_and_labels_are_learned(name, monkeypatch):
    use_datasets(monkeypatch, **{"multi-label": multi_label_graphs(), "communities": communities()})
    for dataset, least in (("communities", 0.85), ("multi-label", 0.8)):
        run = Run(study="s", dataset=dataset, model=name, method="unpruned", epochs=40, lr=0.01, batch_size=2)
        assert train(run)["test"] > least


@pytest.mark.parametrize("name", SKIP)
def test_bad_options_are_named(name):
    with pytest.raises(OptionError, match=f"basic must be False for {name}"):
        build(name, in_dim=3, out_dim=2, basic=True)
    with pytest.raises(OptionError, match=f"in_dim must be >= 1 for {name}, got 0"):
        build(name, in_dim=0, out_dim=2)
