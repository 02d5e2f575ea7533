"""Tasks on the nodes of one graph, with all nodes in one batch: classes, several labels, numbers."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from lsprune.lab.models.convolutions import ConvolutionModel
from lsprune.lab.models.sparse_features import sparse_if_faster
from lsprune.lab.studies.run import Run
from lsprune.lab.training.cuda_graphs import CapturedFunction
from lsprune.lab.training.environment import Seconds, timed
from lsprune.lab.training.prepare import RunGraphs
from lsprune.lab.training.tasks.base import Task


class NodeClassification(Task):
    """Classes of the nodes of one graph; the metric is the accuracy."""

    metric, higher_is_better = "accuracy", True

    @staticmethod
    def can_capture(run: Run, model: torch.nn.Module) -> bool:
        return hasattr(model, "precompute") and not run.every_epoch  # the graph must not change

    def __init__(self, run: Run, graphs: RunGraphs, device: torch.device, model: torch.nn.Module) -> None:
        super().__init__(run, graphs, device, model)
        self.training_graph, self.test_graph = (_on_device(graph, device) for graph in (graphs.train, graphs.test))
        self.whole_edge_index = self.test_graph.edge_index
        self.generator = torch.Generator(device).manual_seed(run.seed)
        self.nodes = {part: self.test_graph[f"{part}_mask"].nonzero()[:, 0] for part in ("train", "val", "test")}
        self.training_step: Callable[[], Tensor] = self._training_step
        self.judge_nodes: Callable[[], Tensor] = self._judge_nodes
        if self.use_cuda_graphs:
            precompute: Callable[[Any], Any] = getattr(model, "precompute")  # noqa: B009  # Module does not declare it
            self.training_graph, self.test_graph = precompute(self.training_graph), precompute(self.test_graph)
            self.training_step = CapturedFunction(self._training_step, self.model, self.optimiser)
            self.judge_nodes = CapturedFunction(self._judge_nodes)
        elif device.type == "cpu" and isinstance(model, ConvolutionModel) and not run.every_epoch:
            graphs_alike = self.test_graph.edge_index is self.training_graph.edge_index
            self.test_graph = model.precompute(self.test_graph, sort=True)
            self.training_graph = self.test_graph if graphs_alike else model.precompute(self.training_graph, sort=True)

    def train_epoch(self) -> float:
        self.model.train()
        if self.run.every_epoch:
            order = torch.randperm(self.whole_edge_index.shape[1], device=self.device, generator=self.generator)
            self.training_graph.edge_index = self.whole_edge_index[:, order[: self.training_graph.num_edges]]
        return float(self.training_step())

    def _training_step(self) -> Tensor:
        """Take one step on all training nodes; return the loss before it."""
        nodes = self.nodes["train"]
        loss = self.loss(self.model(self.training_graph)[nodes], self.training_graph.y[nodes])
        self.step(loss)
        return loss.detach()

    def loss(self, out: Tensor, y: Tensor) -> Tensor:
        """Return the mean loss of the training nodes."""
        return functional.cross_entropy(out, y)

    def evaluate(self) -> tuple[float, float, Seconds]:
        """Return (validation metric, test metric, seconds); one forward pass serves both."""
        self.model.eval()
        seconds, judged = timed(self.device, self.judge_nodes)
        val, test = (self._metric_of(judged, self.nodes[part]) for part in ("val", "test"))
        return val, test, seconds

    @torch.no_grad()
    def _judge_nodes(self) -> Tensor:
        """Return what the metric is computed from, `[N]`: whether the predicted class of each node is correct."""
        correct: Tensor = self.model(self.test_graph).argmax(1) == self.test_graph.y
        return correct

    def _metric_of(self, judged: Tensor, nodes: Tensor) -> float:
        return float(judged[nodes].float().mean())


def _on_device(graph: Any, device: torch.device) -> Any:
    """Return a graph on a device; on a CPU, wide features that are mostly zero become sparse."""
    graph = copy(graph.to(device))
    if getattr(graph, "x", None) is not None:
        graph.x = sparse_if_faster(graph.x)
    return graph


class NodeRanking(NodeClassification):
    """Two classes of nodes of different sizes; the metric is the area under the ROC curve of class 1."""

    metric, higher_is_better = "roc-auc", True

    @torch.no_grad()
    def _judge_nodes(self) -> Tensor:
        """Return the score of class 1 less that of class 0, `[N]`."""
        scores: Tensor = self.model(self.test_graph)
        return scores[:, 1] - scores[:, 0]

    def _metric_of(self, judged: Tensor, nodes: Tensor) -> float:
        return roc_auc(judged[nodes], self.test_graph.y[nodes] == 1)


class NodeLabels(NodeClassification):
    """Any number of labels per node of one graph; the metric is the micro-averaged F1."""

    metric, higher_is_better = "micro-f1", True

    def loss(self, out: Tensor, y: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(out, y)

    @torch.no_grad()
    def _judge_nodes(self) -> Tensor:
        """Return which labels are predicted, `[N, L]`."""
        scores: Tensor = self.model(self.test_graph)
        return scores > 0

    def _metric_of(self, judged: Tensor, nodes: Tensor) -> float:
        predicted, true = judged[nodes], self.test_graph.y[nodes] > 0
        correct, either = (predicted & true).sum(), predicted.sum() + true.sum()
        return 2 * float(correct) / max(float(either), 1.0)


class NodeRegression(NodeClassification):
    """A number per node of one graph; the metric is R², the mean absolute error stands beside it in the record."""

    metric, higher_is_better = "r2", True

    def __init__(self, run: Run, graphs: RunGraphs, device: torch.device, model: torch.nn.Module) -> None:
        targets = graphs.train.y[graphs.train.train_mask].double()
        self.mean, self.std = float(targets.mean()), max(float(targets.std(correction=0)), 1e-12)
        super().__init__(run, graphs, device, model)

    def loss(self, out: Tensor, y: Tensor) -> Tensor:
        """Return the mean squared error of standardised targets."""
        return functional.mse_loss(out.squeeze(-1), (y - self.mean) / self.std)

    @torch.no_grad()
    def _judge_nodes(self) -> Tensor:
        """Return the predictions, `[N]`."""
        out: Tensor = self.model(self.test_graph).squeeze(-1)
        return out * self.std + self.mean

    def evaluate(self) -> tuple[float, float, Seconds]:
        self.model.eval()
        seconds, judged = timed(self.device, self.judge_nodes)
        val, test = (self._metric_of(judged, self.nodes[part]) for part in ("val", "test"))
        errors = judged[self.nodes["test"]] - self.test_graph.y[self.nodes["test"]]
        self.details = {"test_mae": float(errors.abs().double().mean())}
        return val, test, seconds

    def _metric_of(self, judged: Tensor, nodes: Tensor) -> float:
        return r2(judged[nodes].double(), self.test_graph.y[nodes].double())


def r2(predicted: Tensor, true: Tensor) -> float:
    """Return the coefficient of determination: 1 for perfect predictions, 0 for those that are all the mean of `true`.

    If all of `true` are the same, it is 1 or 0.

    >>> r2(torch.tensor([1.0, 2.0, 3.0]).double(), torch.tensor([1.0, 2.0, 4.0]).double())
    0.7857142857142857
    """
    errors, spread = float((predicted - true).square().sum()), float((true - true.mean()).square().sum())
    if spread == 0:
        return float(errors == 0)
    return 1 - errors / spread


def roc_auc(scores: Tensor, positive: Tensor) -> float:
    """Return the share of pairs in which the positive node has the higher score; equal scores count half.

    It is 0.5 if there are no pairs.

    >>> roc_auc(torch.tensor([0.1, 0.4, 0.4, 0.9]), torch.tensor([False, False, True, True]))
    0.875
    """
    _, group, counts = torch.unique(scores, return_inverse=True, return_counts=True)
    last = counts.cumsum(0).double()
    rank = (last - (counts - 1) / 2)[group]  # the mean rank of equal scores, from 1
    positives, negatives = int(positive.sum()), int((~positive).sum())
    if not positives or not negatives:
        return 0.5
    return (float(rank[positive].sum()) - positives * (positives + 1) / 2) / (positives * negatives)
