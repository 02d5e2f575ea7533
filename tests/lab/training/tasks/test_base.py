"""What all tasks share: the schedule of the learning rate, when a step can be captured."""

from __future__ import annotations

import dataclasses

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lab_records import method_fields  # noqa: E402
from training_helpers import NODE_RUN, use_datasets  # noqa: E402

from lsprune.lab.models import build  # noqa: E402
from lsprune.lab.training.prepare import prepare  # noqa: E402
from lsprune.lab.training.tasks import GraphClassification, NodeClassification, NodeMultiLabel, make_task  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(autouse=True)
def datasets(monkeypatch):
    use_datasets(monkeypatch)


def task_of(**options):
    run = dataclasses.replace(NODE_RUN, **options)
    return make_task(run, prepare(run, None)[0], torch.device("cpu"))


def rates(task, epochs: int) -> list[float]:
    values = []
    for epoch in range(epochs):
        task.set_learning_rate(epoch / epochs)
        values.append(task.optimiser.param_groups[0]["lr"])
    return values


def test_the_cosine_schedule_lowers_the_learning_rate():
    expected = [0.01, 0.01 * (2 + 2**0.5) / 4, 0.005, 0.01 * (2 - 2**0.5) / 4]
    assert rates(task_of(schedule="cosine"), 4) == pytest.approx(expected)
    assert rates(task_of(), 2) == [0.01, 0.01]


def test_a_learning_rate_that_is_a_tensor_is_changed_in_place():
    task = task_of(schedule="cosine")
    rate = torch.tensor(0.01)
    task.optimiser.param_groups[0]["lr"] = rate
    task.set_learning_rate(0.5)
    assert task.optimiser.param_groups[0]["lr"] is rate and float(rate) == pytest.approx(0.005)


def test_a_step_lowers_the_loss_and_does_not_add_up_gradients():
    task = task_of()
    weight = next(task.model.parameters())
    for _ in range(2):
        before = weight.detach().clone()
        task.step((weight**2).sum())
        torch.testing.assert_close(weight.grad, 2 * before)
        assert (weight**2).sum() < (before**2).sum()


def test_models_with_static_shapes_and_graphs_that_stay_can_be_captured():
    gat, pna = build("node-gat", in_dim=3, out_dim=2), build("zinc-pna", in_dim=1, out_dim=1, degrees=torch.ones(3))
    ppi = build("ppi-gat", in_dim=3, out_dim=2)
    assert GraphClassification.can_capture(NODE_RUN, pna) and not GraphClassification.can_capture(NODE_RUN, gat)
    assert NodeClassification.can_capture(NODE_RUN, gat) and not NodeClassification.can_capture(NODE_RUN, ppi)
    assert not NodeClassification.can_capture(dataclasses.replace(NODE_RUN, **method_fields("dropedge"), keep=0.5), gat)
    skip = build("node-sage-skip", in_dim=3, out_dim=2)
    assert NodeClassification.can_capture(NODE_RUN, skip) and not NodeMultiLabel.can_capture(NODE_RUN, skip)


def test_nothing_is_captured_on_the_cpu():
    assert not task_of().use_cuda_graphs
