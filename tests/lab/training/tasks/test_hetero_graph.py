"""Node classification with several kinds of nodes: masks, pruned training, what a shared budget is worth."""

from __future__ import annotations

import dataclasses

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lab_records import method_fields  # noqa: E402

from lsprune.lab.studies.run import Run  # noqa: E402
from lsprune.lab.training.prepare import prepare  # noqa: E402
from lsprune.lab.training.tasks import HeteroNodeClassification, make_task  # noqa: E402
from lsprune.lab.training.train import train  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR:UserWarning")
RUN = Run(study="s", dataset="hetero-small", model="hetero-sage", method="unpruned", epochs=12, lr=0.01)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """A graph of 400 nodes: starting threads takes longer than the work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def task_of(run: Run) -> HeteroNodeClassification:
    task = make_task(run, prepare(run, None)[0], torch.device("cpu"))
    assert type(task) is HeteroNodeClassification
    return task


class FixedScores(torch.nn.Module):
    """Returns the same class scores for any graph."""

    def __init__(self, scores: torch.Tensor) -> None:
        super().__init__()
        self.scores = torch.nn.Parameter(scores)

    def precompute(self, data):
        return data

    def forward(self, data):
        return self.scores


def test_loss_and_accuracy_are_those_of_the_nodes_of_each_mask():
    graphs, _ = prepare(RUN, None)
    papers = graphs.train["paper"]
    scores = torch.randn(300, 3, generator=torch.Generator().manual_seed(0))
    task = HeteroNodeClassification(RUN, graphs, torch.device("cpu"), FixedScores(scores.clone()))
    correct = scores.argmax(1) == papers.y
    val, test, _ = task.evaluate()
    assert val == pytest.approx(float(correct[papers.val_mask].float().mean()))
    assert test == pytest.approx(float(correct[papers.test_mask].float().mean()))
    expected = torch.nn.functional.cross_entropy(scores[papers.train_mask], papers.y[papers.train_mask])
    assert task.train_epoch() == pytest.approx(float(expected))


@pytest.mark.parametrize("pruned", ["always", "training", "testing"])
def test_training_and_testing_see_the_graphs_that_the_run_says(pruned):
    run = dataclasses.replace(RUN, pruned=pruned, **method_fields("random"), keep=0.25)
    task = task_of(run)
    key = ("term", "describes", "paper")
    sizes = [graph.means[key].matrix.values().shape[0] for graph in (task.training_graph, task.test_graph)]
    small, whole = 300 * 15 // 4, 300 * 15
    assert sizes == [whole if pruned == "testing" else small, whole if pruned == "training" else small]


def test_a_shared_budget_keeps_the_authors_who_tell_the_class():
    runs = {
        "whole": RUN,
        "each": dataclasses.replace(RUN, **method_fields("local-random"), keep=0.2),
        "shared": dataclasses.replace(RUN, **method_fields("shared-local-random"), keep=0.2),
    }
    records = {name: train(run) for name, run in runs.items()}
    assert records["each"]["share"] == pytest.approx(records["shared"]["share"], abs=0.001)
    assert min(records["whole"]["test"], records["shared"]["test"]) > records["each"]["test"] + 0.15
    record = records["shared"]
    assert (record["task"], record["metric"], record["epochs_run"]) == ("node-classification", "accuracy", 12)
    assert record["pruner"] == runs["shared"].make_plan().to_dict()
    assert record["prune_seconds"] > 0 and record["train_seconds_per_epoch"] > 0 and record["versions"]["torch"]


def test_a_run_repeats_itself():
    run = dataclasses.replace(RUN, **method_fields("shared-lsp-projection"), keep=0.2, epochs=3, seed=2)
    one, other = train(run), train(run)
    assert (one["test"], one["val"], one["key"]) == (other["test"], other["val"], other["key"])
