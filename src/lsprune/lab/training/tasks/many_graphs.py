"""Tasks on many graphs in batches: classes or values of graphs, labels of nodes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from lsprune.errors import OptionError
from lsprune.lab.studies.run import Run
from lsprune.lab.training.cuda_graphs import CapturedFunction, CapturedStep
from lsprune.lab.training.environment import Seconds, timed
from lsprune.lab.training.graph_store import batches
from lsprune.lab.training.padding import PaddedSize
from lsprune.lab.training.prepare import RunGraphs
from lsprune.lab.training.tasks.base import Task


class ManyGraphsTask(Task):
    """Many graphs in batches, which are gathered on the device: no loop over graphs, no copies between epochs."""

    precision = "high"

    def __init__(self, run: Run, graphs: RunGraphs, device: torch.device, model: torch.nn.Module) -> None:
        super().__init__(run, graphs, device, model)
        reads = getattr(model, "reads", ("x",))
        drop_self_loops = self.use_cuda_graphs and not getattr(model, "self_loops", True)
        stores = (
            store.without_self_loops() if drop_self_loops else store
            for store in (graphs.train, graphs.val, graphs.test)
        )
        self.training, val, test = (store.with_attributes(reads).to(device) for store in stores)
        splits = {"val": val, "test": test}
        self.batches = {split: list(batches(store, run.batch_size)) for split, store in splits.items()}
        self.totals: dict[str, Callable[[], Tensor]] = {split: partial(self._total, split) for split in splits}
        self.captured_step: CapturedStep | None = None
        if self.use_cuda_graphs:
            self.batches = {
                split: [PaddedSize.for_batch(batch).pad(batch) for batch in parts]
                for split, parts in self.batches.items()
            }
            self.totals = {split: CapturedFunction(total) for split, total in self.totals.items()}
            size = PaddedSize.for_random_batches(self.training, run.batch_size)
            self.captured_step = CapturedStep(self.model, self.loss, self.optimiser, size)
        self.generator = torch.Generator().manual_seed(run.seed)

    @abstractmethod
    def loss(self, out: Tensor, batch: Any) -> Tensor:
        """Return the mean loss of a batch."""

    @abstractmethod
    def counts(self, out: Tensor, batch: Any) -> Tensor:
        """Return the float64 numbers of a batch whose sums over all batches give the metric."""

    @abstractmethod
    def score(self, totals: list[float]) -> float:
        """Return the metric of these sums of `counts`."""

    def train_epoch(self) -> float:
        self.model.train()
        order = torch.randperm(len(self.training), generator=self.generator)
        total = torch.zeros((), device=self.device)
        for batch in batches(self.training, self.run.batch_size, order):
            total += self._training_step(batch) * batch.num_graphs
        return float(total) / len(self.training)

    def _training_step(self, batch: Any) -> Tensor:
        """Take one step on the batch; return the loss before it."""
        if self.captured_step is not None and self.captured_step.size.fits(batch):
            return self.captured_step(batch)
        loss = self.loss(self.model(batch), batch)
        self.step(loss)
        return loss.detach()

    def evaluate(self) -> tuple[float, float, Seconds]:
        """Return (validation metric, test metric, seconds); the batches of both splits are kept on the device."""
        val = self._metric("val")
        seconds, test = timed(self.device, lambda: self._metric("test"))
        return val, test, seconds

    @torch.no_grad()
    def _metric(self, split: str) -> float:
        self.model.eval()
        return self.score(self.totals[split]().tolist())

    def _total(self, split: str) -> Tensor:
        """Return the sum of `counts` over the batches of a split, without padding."""
        counts = [self.counts(self.model(batch)[: batch.y.shape[0]], batch) for batch in self.batches[split]]
        return torch.stack(counts).sum(0)


class GraphClassification(ManyGraphsTask):
    """One class per graph; the metric is the accuracy."""

    metric, higher_is_better = "accuracy", True

    def loss(self, out: Tensor, batch: Any) -> Tensor:
        return functional.cross_entropy(out, batch.y, label_smoothing=self.run.label_smoothing)

    def counts(self, out: Tensor, batch: Any) -> Tensor:
        correct = (out.argmax(1) == batch.y).double()
        return torch.stack([correct.sum(), torch.ones_like(correct).sum()])

    def score(self, totals: list[float]) -> float:
        return totals[0] / totals[1]


class GraphRegression(ManyGraphsTask):
    """One number per graph: `y`, or the column of it that the run names; the metric is the mean absolute error."""

    metric, higher_is_better = "mae", False

    def __init__(self, run: Run, graphs: RunGraphs, device: torch.device, model: torch.nn.Module) -> None:
        super().__init__(run, graphs, device, model)
        columns = graphs.dataset.targets
        if run.target is not None and run.target not in columns:
            raise OptionError(f"target must be one of {', '.join(columns)}, got {run.target!r}")
        self.column = None if run.target is None else columns[run.target]
        targets = self._targets(graphs.train.values["y"]).double()
        self.mean, self.std = float(targets.mean()), max(float(targets.std(correction=0)), 1e-12)

    def _targets(self, y: Tensor) -> Tensor:
        return (y if self.column is None else y[:, self.column]).reshape(-1)

    def loss(self, out: Tensor, batch: Any) -> Tensor:
        """Return the mean absolute error of standardised targets; raw energies of -11,000 eV would not be learned."""
        return functional.l1_loss(out.squeeze(-1), (self._targets(batch.y) - self.mean) / self.std)

    def counts(self, out: Tensor, batch: Any) -> Tensor:
        error = (out.squeeze(-1).double() * self.std + self.mean - self._targets(batch.y)).abs()
        return torch.stack([error.sum(), torch.ones_like(error).sum()])

    def score(self, totals: list[float]) -> float:
        return totals[0] / totals[1]


class NodeMultiLabel(ManyGraphsTask):
    """Any number of labels per node (PPI); the metric is the micro-averaged F1."""

    metric, higher_is_better = "micro-f1", True

    @staticmethod
    def can_capture(run: Run, model: torch.nn.Module) -> bool:
        return False  # padding nodes have no labels

    def loss(self, out: Tensor, batch: Any) -> Tensor:
        return functional.binary_cross_entropy_with_logits(out, batch.y.float())

    def counts(self, out: Tensor, batch: Any) -> Tensor:
        predicted, true = out > 0, batch.y > 0
        return torch.stack([(predicted & true).sum(), predicted.sum(), true.sum()]).double()

    def score(self, totals: list[float]) -> float:
        correct, predicted, true = totals
        return 2 * correct / max(predicted + true, 1.0)
