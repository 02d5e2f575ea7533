"""Every model by name: shapes, gradients, batches, and whether it can overfit a tiny dataset."""

from __future__ import annotations

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

import torch.nn.functional as F  # noqa: E402
from model_helpers import (  # noqa: E402
    ATTENTION,
    MOLECULE,
    OUT_DIM,
    as_double,
    for_model,
    make,
    molecule,
    num_rows,
    out_dim,
    without_edges,
)
from torch_geometric.data import Batch  # noqa: E402

from lsprune.errors import OptionError  # noqa: E402
from lsprune.lab.models import MODELS, build  # noqa: E402

CASES = [(name, basic) for name in MODELS for basic in ((False, True) if name in ATTENTION else (False,))]


cases = pytest.mark.parametrize(("name", "basic"), CASES, ids=lambda value: value if isinstance(value, str) else None)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Graphs of eight nodes: starting threads takes longer than the work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@cases
@pytest.mark.parametrize("training", [True, False])
def test_shapes(name, basic, training):
    model = make(name, basic).train(training)
    parts = [for_model(name, part) for part in (molecule(1), without_edges(2), molecule(3, nodes=5))]
    for data in (Batch.from_data_list(parts), parts[0], Batch.from_data_list(parts[1:2])):
        out = model(data)
        assert out.shape == (num_rows(name, data), out_dim(name))
        assert torch.isfinite(out).all()


@cases
def test_a_graph_without_edges(name, basic):
    model = make(name, basic).eval()
    for nodes in (8, 1):
        bare = for_model(name, without_edges(4).subgraph(torch.arange(nodes)))
        out = model(bare)
        assert out.shape == (num_rows(name, bare), out_dim(name)) and torch.isfinite(out).all()


@cases
def test_a_batch_gives_the_results_of_its_graphs(name, basic):
    model = make(name, basic).eval()
    parts = [for_model(name, part) for part in (molecule(1), without_edges(2), molecule(3, nodes=5))]
    together = model(Batch.from_data_list(parts))
    apart = torch.cat([model(part) for part in parts])
    torch.testing.assert_close(together, apart, rtol=1e-3, atol=1e-4)


@cases
def test_a_pruned_edge_changes_the_result(name, basic):
    model = make(name, basic).eval().double()
    whole = as_double(for_model(name, molecule(1)))
    mask = torch.ones(whole.num_edges, dtype=torch.bool)
    mask[0] = False
    assert not torch.allclose(model(whole), model(whole.edge_subgraph(mask)), rtol=1e-6, atol=1e-9)


@cases
def test_every_parameter_gets_a_gradient(name, basic):
    model = make(name, basic)
    data = Batch.from_data_list([for_model(name, molecule(seed)) for seed in range(4)])
    (model(data) * torch.randn(num_rows(name, data), out_dim(name))).sum().backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad is not None, key
        assert torch.isfinite(parameter.grad).all(), key
        assert parameter.grad.abs().sum() > 0, key


@cases
def test_overfits_a_tiny_dataset(name, basic):
    model = make(name, basic)
    switch_dropout_off(model)
    data = Batch.from_data_list([for_model(name, molecule(seed)) for seed in range(2)])
    draw = torch.Generator().manual_seed(5)
    if name in MOLECULE:
        target = torch.randn(num_rows(name, data), 1, generator=draw)
    else:
        target = torch.randint(OUT_DIM, (num_rows(name, data),), generator=draw)
    measure = F.l1_loss if name in MOLECULE else F.cross_entropy
    optimiser = torch.optim.Adam(model.parameters(), lr=0.003 if name in (*MOLECULE, "synthetic-gat") else 0.02)
    best = float("inf")
    for _ in range(300):
        optimiser.zero_grad()
        loss = measure(model(data), target)
        loss.backward()
        optimiser.step()
        best = min(best, float(loss.detach()))
        if best < 0.2:
            return
    pytest.fail(f"the loss did not fall below 0.2, but to {best:.3f}")


def switch_dropout_off(model: torch.nn.Module) -> None:
    if hasattr(model, "dropout"):
        model.dropout = 0.0


@cases
def test_a_seed_repeats_dropout_and_samples(name, basic):
    model = make(name, basic)
    data = Batch.from_data_list([for_model(name, molecule(seed)) for seed in range(4)])
    torch.manual_seed(7)
    once = model(data)
    torch.manual_seed(7)
    torch.testing.assert_close(model(data), once, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ATTENTION)
def test_basic_has_no_attention_and_the_same_widths(name):
    def widths(model):
        return {key: tuple(value.shape) for key, value in model.named_parameters() if key.endswith("bias")}

    plain, basic = make(name), make(name, basic=True)
    assert any("att_" in key for key, _ in plain.named_parameters())
    assert not any("att_" in key for key, _ in basic.named_parameters())
    assert widths(plain) == widths(basic)


@pytest.mark.parametrize("name", MOLECULE)
def test_basic_of_a_model_without_attention_is_refused(name):
    with pytest.raises(OptionError, match=f"basic must be False for {name}"):
        make(name, basic=True)


def test_without_pyg_the_error_says_what_to_install():
    code = "import sys; sys.modules['torch_geometric'] = None; import lsprune.lab.models"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode and "MissingDependency" in done.stderr and "pip install 'lsprune[gnn]'" in done.stderr


def test_unknown_name_lists_the_names():
    with pytest.raises(OptionError, match=r"github-gat, planetoid-gat, .*'gcn'"):
        build("gcn", in_dim=1, out_dim=1)


@pytest.mark.parametrize(("in_dim", "out_dim"), [(0, 3), (4, 0), (4.0, 3), (True, 3)])
def test_bad_sizes_are_refused(in_dim, out_dim):
    with pytest.raises(OptionError, match="must be"):
        build("node-gat", in_dim=in_dim, out_dim=out_dim)
