"""Node classification on one graph: masks, accuracy, edges drawn in every epoch; captured on a GPU."""

from __future__ import annotations

import copy
import dataclasses

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from lab_records import method_fields  # noqa: E402
from torch_geometric.data import Data  # noqa: E402
from training_helpers import NODE_RUN, communities, use_datasets  # noqa: E402

from lsprune.lab.models import build  # noqa: E402
from lsprune.lab.studies.run import Run  # noqa: E402
from lsprune.lab.training.cuda_graphs import CapturedFunction  # noqa: E402
from lsprune.lab.training.prepare import RunGraphs, prepare  # noqa: E402
from lsprune.lab.training.tasks import NodeClassification, NodeLabels, NodeRanking, NodeRegression, make_task  # noqa: E402
from lsprune.lab.training.tasks.single_graph import r2, roc_auc  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(autouse=True)
def datasets(monkeypatch):
    use_datasets(monkeypatch)


CPU = torch.device("cpu")


class FixedScores(torch.nn.Module):
    """Returns the same class scores for any graph."""

    def __init__(self, scores: torch.Tensor) -> None:
        super().__init__()
        self.scores = torch.nn.Parameter(scores)

    def forward(self, data):
        return self.scores


def test_loss_and_accuracy_are_those_of_the_nodes_of_each_mask():
    data = communities().train
    scores = torch.randn(120, 2, generator=torch.Generator().manual_seed(0))
    task = NodeClassification(NODE_RUN, RunGraphs(communities(), data, data, data), CPU, FixedScores(scores.clone()))
    correct = scores.argmax(1) == data.y
    val, test, _ = task.evaluate()
    assert val == pytest.approx(float(correct[data.val_mask].float().mean()))
    assert test == pytest.approx(float(correct[data.test_mask].float().mean()))
    expected = torch.nn.functional.cross_entropy(scores[data.train_mask], data.y[data.train_mask])
    assert task.train_epoch() == pytest.approx(float(expected))


def test_several_labels_are_judged_by_the_micro_f1_of_each_mask():
    dataset = communities()
    data, random = copy.copy(dataset.train), torch.Generator().manual_seed(0)
    data.y, scores = (torch.rand(120, 3, generator=random) < 0.4).float(), torch.randn(120, 3, generator=random)
    task = make_task(NODE_RUN, RunGraphs(dataset, data, data, data), CPU)
    assert type(task) is NodeLabels
    task = NodeLabels(NODE_RUN, RunGraphs(dataset, data, data, data), CPU, FixedScores(scores.clone()))
    for found, mask in zip(task.evaluate(), (data.val_mask, data.test_mask), strict=False):
        predicted, true = scores[mask] > 0, data.y[mask] > 0
        hits, misses = int((predicted & true).sum()), int((predicted != true).sum())
        assert found == pytest.approx(2 * hits / (2 * hits + misses))
    nodes = data.train_mask
    expected = torch.nn.functional.binary_cross_entropy_with_logits(scores[nodes], data.y[nodes])
    assert task.train_epoch() == pytest.approx(float(expected))


def test_numbers_are_learned_standardised_and_judged_by_r2():
    dataset = dataclasses.replace(communities(), task="node-regression")
    data, random = copy.copy(dataset.train), torch.Generator().manual_seed(0)
    data.y = 1e4 + 50 * torch.randn(120, generator=random)
    task = make_task(NODE_RUN, RunGraphs(dataset, data, data, data), CPU)
    assert type(task) is NodeRegression
    scores = torch.randn(120, 1, generator=random)
    task = NodeRegression(NODE_RUN, RunGraphs(dataset, data, data, data), CPU, FixedScores(scores.clone()))
    known = data.y[data.train_mask].double()
    predicted = scores[:, 0].double() * known.std(correction=0) + known.mean()
    val, test, _ = task.evaluate()
    for found, mask in ((val, data.val_mask), (test, data.test_mask)):
        assert found == pytest.approx(r2(predicted[mask], data.y[mask].double()), abs=1e-4)
    error = (predicted - data.y)[data.test_mask].abs().mean()
    assert task.details == {"test_mae": pytest.approx(float(error), rel=1e-4)}
    standardised = (known - known.mean()) / known.std(correction=0)
    loss = (scores[data.train_mask, 0] - standardised).square().mean()
    assert task.train_epoch() == pytest.approx(float(loss), rel=1e-3)


def test_r2_is_one_for_the_truth_and_zero_for_its_mean():
    true = torch.tensor([1.0, 2.0, 6.0])
    assert (r2(true, true), r2(torch.full((3,), 3.0), true)) == (1, 0)
    assert r2(-true, true) < 0
    assert (r2(torch.ones(2), torch.ones(2)), r2(torch.zeros(2), torch.ones(2))) == (1, 0)


def test_a_ranking_is_judged_by_the_pairs_of_both_classes_of_each_mask():
    dataset = dataclasses.replace(communities(), metric="roc-auc")
    data, scores = dataset.train, torch.randn(120, 2, generator=torch.Generator().manual_seed(0)).round(decimals=1)
    task = NodeRanking(NODE_RUN, RunGraphs(dataset, data, data, data), CPU, FixedScores(scores.clone()))
    margin = (scores[:, 1] - scores[:, 0]).tolist()
    for mask, metric in zip((data.val_mask, data.test_mask), task.evaluate()[:2], strict=True):
        one, zero = ([margin[i] for i in (mask & (data.y == label)).nonzero()[:, 0]] for label in (1, 0))
        wins = [(a > b) + 0.5 * (a == b) for a in one for b in zero]
        assert metric == pytest.approx(sum(wins) / len(wins))
    assert (task.metric, task.higher_is_better) == ("roc-auc", True)


def test_the_dataset_says_whether_nodes_are_ranked():
    data = communities().train
    for metric, kind in ((None, NodeClassification), ("roc-auc", NodeRanking)):
        dataset = dataclasses.replace(communities(), metric=metric)
        assert type(make_task(NODE_RUN, RunGraphs(dataset, data, data, data), CPU)) is kind


def test_roc_auc_of_perfect_reversed_and_equal_scores():
    positive = torch.tensor([False, True, True])
    assert roc_auc(torch.tensor([0.0, 1.0, 2.0]), positive) == 1
    assert roc_auc(torch.tensor([2.0, 1.0, 0.0]), positive) == 0
    assert roc_auc(torch.zeros(3), positive) == roc_auc(torch.arange(3.0), positive | True) == 0.5


def test_dropedge_draws_new_edges_in_every_epoch_and_is_tested_on_all():
    run = dataclasses.replace(NODE_RUN, **method_fields("dropedge"), keep=0.3)
    graphs, record = prepare(run, None)
    task, whole, drawn = make_task(run, graphs, CPU), communities().train, []
    assert task.test_graph.num_edges == whole.num_edges
    for _ in range(3):
        task.train_epoch()
        drawn.append({tuple(edge) for edge in task.training_graph.edge_index.T.tolist()})
    all_edges = {tuple(edge) for edge in whole.edge_index.T.tolist()}
    assert [len(edges) for edges in drawn] == [round(0.3 * whole.num_edges)] * 3
    assert all(edges < all_edges for edges in drawn)
    assert len(drawn[0] & drawn[1]) < 0.5 * len(drawn[0])
    assert record["share"] == pytest.approx(0.3, abs=0.001)


def ring(nodes: int = 300) -> Data:
    """Return a ring in which a node's in-neighbours are the next three; classes are thirds of the ring."""
    generator = torch.Generator().manual_seed(0)
    node = torch.arange(nodes)
    edges = torch.cat([torch.stack([(node + step) % nodes, node]) for step in (1, 2, 3)], dim=1)
    y = node * 3 // nodes
    x = torch.nn.functional.one_hot(y, 6).float() + 0.3 * torch.randn(nodes, 6, generator=generator)
    part = torch.randint(3, (nodes,), generator=generator)
    return Data(x=x, y=y, edge_index=edges, train_mask=part == 0, val_mask=part == 1, test_mask=part == 2)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(
    ("name", "basic"),
    [
        *((name, basic) for name in ("github-gat", "planetoid-gat", "node-gat") for basic in (False, True)),
        ("node-gcn-skip", False),
        ("node-sage-skip", False),
    ],
)
def test_captured_epochs_give_the_results_of_plain_ones(name, basic, monkeypatch):
    histories = []
    for captured in (False, True):
        torch.manual_seed(0)
        run = Run(study="s", dataset="d", model=name, method="unpruned", seed=0, epochs=30, lr=0.01)
        model = build(name, in_dim=6, out_dim=3, basic=basic)
        model.dropout = 0.0
        if name == "planetoid-gat":
            model.limits = (99, 99)  # all neighbours, so that nothing is random
        if not captured:
            monkeypatch.delattr(next(base for base in type(model).mro() if "precompute" in vars(base)), "precompute")
        task = NodeClassification(run, RunGraphs(None, *[ring()] * 3), torch.device("cuda"), model)
        assert isinstance(task.training_step, CapturedFunction) == captured
        histories.append([(task.train_epoch(), *task.evaluate()[:2]) for _ in range(run.epochs)])
        monkeypatch.undo()
    plain, again = (torch.tensor(rows) for rows in histories)
    assert plain[-1, 0] < 0.5 * plain[0, 0]
    torch.testing.assert_close(again[:, 0], plain[:, 0], rtol=0.05, atol=5e-3)  # atomics add in any order
    torch.testing.assert_close(again[-1, 1:], plain[-1, 1:], rtol=0, atol=0.05)
