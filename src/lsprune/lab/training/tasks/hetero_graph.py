"""Node classification on one graph of several kinds of nodes, one of which has labels."""

from __future__ import annotations

from copy import copy

import torch
from torch import Tensor
from torch.nn import functional

from lsprune.lab.datasets.splits import labelled_kind
from lsprune.lab.studies.run import Run
from lsprune.lab.training.environment import Seconds, timed
from lsprune.lab.training.prepare import RunGraphs
from lsprune.lab.training.tasks.base import Task


class HeteroNodeClassification(Task):
    """Classes of the nodes of one kind; the metric is the accuracy. The model has `precompute`."""

    metric, higher_is_better = "accuracy", True

    def __init__(self, run: Run, graphs: RunGraphs, device: torch.device, model: torch.nn.Module) -> None:
        super().__init__(run, graphs, device, model)
        whole = copy(graphs.test).to(device)
        labelled = whole[labelled_kind(whole)]
        self.y, self.nodes = labelled.y, {part: labelled[f"{part}_mask"].nonzero()[:, 0] for part in PARTS}
        precompute = getattr(model, "precompute")  # noqa: B009  # Module does not declare it
        self.test_graph = self.training_graph = precompute(whole)
        if graphs.train is not graphs.test:
            self.training_graph = precompute(copy(graphs.train).to(device))

    @staticmethod
    def can_capture(run: Run, model: torch.nn.Module) -> bool:
        return False

    def train_epoch(self) -> float:
        self.model.train()
        nodes = self.nodes["train"]
        loss = functional.cross_entropy(self.model(self.training_graph)[nodes], self.y[nodes])
        self.step(loss)
        return float(loss.detach())

    def evaluate(self) -> tuple[float, float, Seconds]:
        """Return (validation metric, test metric, seconds); one forward pass serves both."""
        self.model.eval()
        seconds, correct = timed(self.device, self._correct)
        val, test = (float(correct[self.nodes[part]].float().mean()) for part in ("val", "test"))
        return val, test, seconds

    @torch.no_grad()
    def _correct(self) -> Tensor:
        correct: Tensor = self.model(self.test_graph).argmax(1) == self.y
        return correct


PARTS = ("train", "val", "test")
