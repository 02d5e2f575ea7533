"""Every backend computes what the ordinary path does: the same scores and the same step."""

from __future__ import annotations

from copy import copy

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lsprune.errors import OptionError  # noqa: E402
from lsprune.lab.acceleration import backends  # noqa: E402
from lsprune.lab.acceleration.backends import CompiledModel, make_model, prepare_graph, tensor_bytes  # noqa: E402
from lsprune.lab.acceleration.measurement import MODELS  # noqa: E402
from lsprune.lab.acceleration.pruned_graphs import TINY_GRAPH  # noqa: E402
from lsprune.lab.training.tasks import in_degree_histogram  # noqa: E402

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def quick_compiler(monkeypatch):
    monkeypatch.setattr(backends, "TORCH_COMPILER", "aot_eager")  # traces all the same, and compiles no C++
    torch.compiler.reset()


def scores(name: str, backend: str) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The scores of a model on a small graph, and their gradients."""
    # PNA's deviation has a threshold, which float32 rounds across; sparse products are in float32
    dtype = torch.float64 if "pna" in name else torch.float32
    data = copy(TINY_GRAPH.make().train)
    data.x = data.x.to(dtype)
    torch.manual_seed(0)
    model = (
        make_model(
            name, backend, in_dim=data.num_node_features, out_dim=4, degrees=in_degree_histogram(data), device=CPU
        )
        .to(dtype)
        .eval()
    )
    out = model(prepare_graph(model, data, backend))
    return out.detach(), list(torch.autograd.grad(out.square().sum(), list(model.parameters())))


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.parametrize("backend", ["sorted", "captured", "compiled"])
@pytest.mark.parametrize("model", MODELS)
def test_the_scores_and_gradients_are_those_of_the_ordinary_path(model, backend):
    name = MODELS[model][0]
    (ordinary, steps), (fast, fast_steps) = scores(name, "ordinary"), scores(name, backend)
    assert torch.allclose(ordinary, fast, rtol=1e-4, atol=1e-5)
    for one, other in zip(steps, fast_steps, strict=True):
        assert torch.allclose(one, other, rtol=1e-3, atol=1e-4 * float(one.abs().max()))


def test_a_compiled_model_has_the_parameters_of_the_model_once():
    model = make_model("node-gcn", "compiled", in_dim=3, out_dim=2, device=CPU)
    assert isinstance(model, CompiledModel)
    assert list(model.parameters()) == list(model.model.parameters())


def test_the_fused_kernel_needs_a_gpu():
    data = copy(TINY_GRAPH.make().train)
    model = make_model("node-gat", "fused", in_dim=8, out_dim=4, device=CPU)
    with pytest.raises(OptionError, match="fused needs a GPU"):
        prepare_graph(model, data, "fused")


def test_bytes_of_a_graph_are_those_of_its_tensors():
    data = TINY_GRAPH.make().train
    assert tensor_bytes(data) == 300 * 8 * 4 + 300 * 8 + 2 * 3_000 * 8 + 3 * 300
