"""Tasks on many graphs: losses, metrics and units; captured on a GPU."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lab_records import method_fields  # noqa: E402
from training_helpers import NODE_RUN, Recorder, categorical_graphs, multi_label_graphs, synthetic_graphs, use_datasets  # noqa: E402

from lsprune import OptionError  # noqa: E402
from lsprune.lab.datasets import Dataset  # noqa: E402
from lsprune.lab.models import build  # noqa: E402
from lsprune.lab.studies.run import Run  # noqa: E402
from lsprune.lab.training.cuda_graphs import CapturedFunction  # noqa: E402
from lsprune.lab.training.prepare import RunGraphs, prepare  # noqa: E402
from lsprune.lab.training.tasks import GraphClassification, GraphRegression, make_task  # noqa: E402
from lsprune.lab.training.train import train  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(autouse=True)
def datasets(monkeypatch):
    use_datasets(monkeypatch, labels=multi_label_graphs())


GRAPH_RUN = Run(study="s", dataset="graphs", model="synthetic-gat-small", method="unpruned", lr=0.01, batch_size=20)


def test_the_metric_of_batches_is_that_of_all_graphs():
    task = make_task(GRAPH_RUN, prepare(GRAPH_RUN, None)[0], torch.device("cpu"))
    whole = task.graphs.test.batch(torch.arange(20))
    task.batches["test"] = [task.graphs.test.batch(ids) for ids in torch.split(torch.arange(20), 6)]
    correct = task.model.eval()(whole).argmax(1) == whole.y
    assert task.evaluate()[1] == pytest.approx(float(correct.float().mean()))


def test_an_epoch_takes_a_step_on_every_graph_in_an_order_that_the_seed_decides():
    def graphs_seen(seed: int) -> list[int]:
        run = dataclasses.replace(GRAPH_RUN, seed=seed)
        task, seen = make_task(run, prepare(run, None)[0], torch.device("cpu")), []
        task.loss = lambda out, batch: seen.extend(batch.x[batch.ptr[:-1], 0].tolist()) or out.sum()
        task.train_epoch()
        return seen

    first = graphs_seen(0)
    assert len(first) == 54 and first == graphs_seen(0) != graphs_seen(1)
    assert sorted(first) == sorted(graphs_seen(1))


def test_values_are_learned_in_their_own_units(monkeypatch):
    graphs = synthetic_graphs()
    for part in (graphs.train, graphs.val, graphs.test):
        part._data.y = torch.stack([torch.zeros(80), -11000 + 20.0 * (torch.arange(80) % 2)], dim=1)
    energies = dataclasses.replace(graphs, task="graph-regression", targets={"nothing": 0, "energy": 1}, num_classes=2)
    use_datasets(monkeypatch, graphs=energies)
    run = dataclasses.replace(GRAPH_RUN, model="synthetic-gat", target="energy", epochs=12, lr=0.003)
    record = train(run)
    assert (record["metric"], record["higher_is_better"]) == ("mae", False)
    assert record["test"] < 9  # the mean is off by 10, an untrained model by 11,000
    with pytest.raises(OptionError, match="target must be one of nothing, energy, got 'mass'"):
        train(dataclasses.replace(run, target="mass"))


def test_label_smoothing_bounds_the_loss_from_below():
    losses = {}
    for smoothing in (0.0, 0.4):
        recorder = Recorder()
        train(dataclasses.replace(GRAPH_RUN, epochs=15, label_smoothing=smoothing), callbacks=[recorder])
        losses[smoothing] = recorder.rows[-1]["loss"]
    assert losses[0.4] > 0.45 > losses[0.0]  # two classes: at least the entropy of (0.2, 0.8), which is 0.5


def test_graphs_are_classified():
    record = train(dataclasses.replace(GRAPH_RUN, **method_fields("lsp-projection"), k=2, epochs=2))
    assert (record["metric"], record["task"]) == ("accuracy", "graph-classification")
    assert 0 < record["share"] < 1
    assert record["pruner"]["k"] == 2


def test_nodes_of_many_graphs_have_several_labels():
    pruned = dataclasses.replace(NODE_RUN, **method_fields("lsp-projection"), k=2)
    run = dataclasses.replace(pruned, dataset="labels", model="github-gat", epochs=60, batch_size=2, lr=0.02)
    record = train(run)
    assert record["metric"] == "micro-f1"
    assert record["test"] > train(dataclasses.replace(run, epochs=1))["test"]
    assert 0.6 < record["test"] <= 1
    ends = [graph.edge_index for graph in multi_label_graphs().train]
    kept = sum(np.minimum(np.bincount(target[source != target]), 2).sum() for source, target in ends)
    loops = sum(int((source == target).sum()) for source, target in ends)
    assert record["share"] == pytest.approx((kept + loops) / 800)


def test_micro_f1_counts_all_labels_together():
    run = dataclasses.replace(NODE_RUN, dataset="labels", batch_size=2)
    task = make_task(run, prepare(run, None)[0], torch.device("cpu"))
    batch = task.batches["test"][0]
    batch.y = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    counts = task.counts(torch.tensor([[2.0, 1.0], [-1.0, 3.0]]), batch)
    assert counts.tolist() == [2, 3, 3]  # correct, predicted, true
    assert task.score([2, 3, 3]) == pytest.approx(2 / 3)
    assert task.score([0, 0, 0]) == 0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(
    ("name", "task_class"), [("synthetic-gat", GraphClassification), ("zinc-pna", GraphRegression)]
)
def test_captured_evaluation_gives_the_results_of_a_plain_one(name, task_class, monkeypatch):
    results = []
    for captured in (False, True):
        torch.manual_seed(0)
        run = Run(study="s", dataset="d", model=name, method="unpruned", seed=0, epochs=3, lr=0.01, batch_size=4)
        out_dim = 1 if task_class is GraphRegression else 3
        model = build(name, in_dim=5, out_dim=out_dim, degrees=torch.ones(17, dtype=torch.long))
        monkeypatch.setattr(type(model), "static_shapes", captured)
        store = categorical_graphs(name, 10)
        dataset = Dataset("d", "graph-classification", store, store, store, num_features=5, num_classes=3)
        task = task_class(run, RunGraphs(dataset, *[store] * 3), torch.device("cuda"), model)
        assert isinstance(task.totals["val"], CapturedFunction) == captured
        results.append([task.evaluate()[:2] for _ in range(2)])  # the second time is a replay
    torch.testing.assert_close(torch.tensor(results[1]), torch.tensor(results[0]), rtol=1e-3, atol=1e-4)
