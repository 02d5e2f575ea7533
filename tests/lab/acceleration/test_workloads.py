"""Workloads train for real, and infer with the weights that training left."""

from __future__ import annotations

from copy import copy

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lsprune.lab.acceleration.measure import make_workload  # noqa: E402
from lsprune.lab.acceleration.measurement import Measurement  # noqa: E402
from lsprune.lab.acceleration.pruned_graphs import PrunedGraphs, open_dataset  # noqa: E402
from lsprune.lab.acceleration.workloads import GraphSetWorkload, NodeWorkload  # noqa: E402

CPU = torch.device("cpu")


def workload(dataset: str, backend: str = "ordinary"):
    graphs = PrunedGraphs(open_dataset(dataset, None, "tiny"))
    measurement = Measurement(dataset=dataset, model="gcn", backend=backend, share=1.0, size="tiny")
    return make_workload(measurement, graphs.unpruned(), CPU)[0]


@pytest.mark.parametrize("dataset", ["computers", "synthetic"])
def test_an_epoch_changes_the_weights_and_an_inference_does_not(dataset):
    work = workload(dataset)
    assert isinstance(work, GraphSetWorkload if dataset == "synthetic" else NodeWorkload)
    before = copy(work.model.state_dict())
    before = {name: value.clone() for name, value in before.items()}
    work.infer()
    assert all(torch.equal(value, before[name]) for name, value in work.model.state_dict().items())
    work.train_epoch()
    assert not all(torch.equal(value, before[name]) for name, value in work.model.state_dict().items())


def test_an_inference_scores_every_node_without_dropout():
    work = workload("large")
    assert work.infer().shape == (300, 4)
    assert torch.equal(work.infer(), work.infer())


def test_an_inference_of_a_set_counts_every_test_graph():
    correct, total = workload("synthetic").infer().tolist()
    assert total == 10 and 0 <= correct <= 10


def test_training_lowers_the_loss():
    work = workload("computers", "sorted")
    losses = [float(work.train_epoch()) for _ in range(40)]
    assert losses[-1] < losses[0]
