"""What is timed: a training epoch and one inference, on a single graph or on batches of many graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import Data

from lsprune.lab.acceleration.backends import CAPTURED
from lsprune.lab.studies.run import Run
from lsprune.lab.training.cuda_graphs import CapturedFunction
from lsprune.lab.training.prepare import RunGraphs
from lsprune.lab.training.tasks import GraphClassification

LEARNING_RATE = 0.005
BATCH_GRAPHS = 1024  # as the study `synthetic` trains


class Workload(Protocol):
    """Something to time."""

    def train_epoch(self) -> object:
        """Train one epoch."""

    def infer(self) -> Tensor:
        """Return the scores of one inference: of every node, or sums over all test graphs."""


class NodeWorkload:
    """Node classification with all nodes in one batch: an epoch is one step, an inference one forward pass.

    Args:
        graph: prepared by the backend, on the device.
    """

    def __init__(self, model: nn.Module, graph: Data, backend: str) -> None:
        self.model, self.graph = model, graph
        device = graph.x.device
        capture = device.type == "cuda" and backend in CAPTURED
        rate = torch.tensor(LEARNING_RATE, device=device) if capture else LEARNING_RATE
        self.optimiser = torch.optim.Adam(model.parameters(), lr=rate, capturable=capture, fused=device.type == "cuda")
        self.nodes = graph.train_mask.nonzero()[:, 0]
        self.step: Callable[[], Tensor] = CapturedFunction(self._step, model, self.optimiser) if capture else self._step
        self.forward: Callable[[], Tensor] = CapturedFunction(self._forward) if capture else self._forward

    def train_epoch(self) -> Tensor:
        """Take one step on all training nodes; return the loss before it."""
        self.model.train()
        return self.step()

    @torch.no_grad()
    def infer(self) -> Tensor:
        """Return the scores of all nodes."""
        self.model.eval()
        return self.forward()

    def _step(self) -> Tensor:
        loss = functional.cross_entropy(self.model(self.graph)[self.nodes], self.graph.y[self.nodes])
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        return loss.detach()

    def _forward(self) -> Tensor:
        scores: Tensor = self.model(self.graph)
        return scores


class GraphSetWorkload(GraphClassification):
    """Graph classification in batches, as the lab trains it; captured backends pad batches and replay steps."""

    def __init__(self, run: Run, graphs: RunGraphs, device: torch.device, model: nn.Module, backend: str) -> None:
        model.static_shapes = backend in CAPTURED  # type: ignore[assignment]  # decides whether steps are captured
        super().__init__(run, graphs, device, model)

    @torch.no_grad()
    def infer(self) -> Tensor:
        """Return the numbers of correct and of all test graphs."""
        self.model.eval()
        return self.totals["test"]()
