"""Captured functions and training steps: the results of plain ones, on a GPU."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from training_helpers import categorical_graphs  # noqa: E402

from lsprune.lab.models import build  # noqa: E402
from lsprune.lab.training.cuda_graphs import CapturedFunction, CapturedStep  # noqa: E402
from lsprune.lab.training.padding import PaddedSize  # noqa: E402

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    pytest.mark.filterwarnings("ignore:.*torch-scatter.*:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*TensorFloat32.*:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*not a leaf Tensor.*:UserWarning"),
]


@pytest.mark.parametrize("name", ["synthetic-gat", "synthetic-gat-small", "zinc-pna"])
def test_captured_steps_give_the_losses_of_plain_ones(name):
    store = categorical_graphs(name, 12).to(torch.device("cuda"))
    losses = []
    for captured in (False, True):
        torch.manual_seed(0)
        model = build(name, in_dim=5, out_dim=3, degrees=torch.ones(17, dtype=torch.long)).cuda()
        model.dropout = 0.0
        optimiser = torch.optim.Adam(model.parameters(), lr=torch.tensor(0.001, device="cuda"), capturable=True)

        def loss(out, batch):
            return torch.nn.functional.cross_entropy(out, batch.y)

        step = CapturedStep(model, loss, optimiser, PaddedSize.for_random_batches(store, 4))
        row = []
        for i in range(16):
            batch = store.batch(torch.arange(4) + i % 2)
            if captured:
                row.append(float(step(batch)))
            else:
                optimiser.zero_grad()
                value = loss(model(batch), batch)
                value.backward()
                optimiser.step()
                row.append(float(value.detach()))
        losses.append(row)
    assert losses[0][-2] < losses[0][0]
    torch.testing.assert_close(torch.tensor(losses[1]), torch.tensor(losses[0]), rtol=0.1, atol=5e-3)  # atomics


def test_the_capture_itself_takes_no_step():
    weight = torch.nn.Parameter(torch.ones(3, device="cuda"))
    model = torch.nn.ParameterList([weight])
    optimiser = torch.optim.SGD(model.parameters(), lr=0.25)

    def step():
        optimiser.zero_grad()
        loss = weight.sum()
        loss.backward()
        optimiser.step()
        return loss.detach()

    captured = CapturedFunction(step, model, optimiser)
    assert float(captured()) == 3 and weight.tolist() == [0.75] * 3
    assert float(captured()) == 2.25 and weight.tolist() == [0.5] * 3


def test_every_replay_draws_new_random_numbers():
    noise = CapturedFunction(lambda: torch.rand(1000, device="cuda"))
    first, second = noise().clone(), noise().clone()
    assert not torch.equal(first, second)
    assert 0.4 < float(second.mean()) < 0.6
