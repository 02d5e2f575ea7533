"""What a model is trained for: classes of nodes, labels of nodes on several graphs, classes or values of graphs."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from lsprune.errors import OptionError
from lsprune.lab.datasets import Dataset
from lsprune.lab.models import build
from lsprune.lab.studies.methods import FRESH
from lsprune.lab.studies.run import Run
from lsprune.lab.training.cuda_graphs import Recorded, Replayed, Room
from lsprune.lab.training.graph_store import Stack, batches


@dataclass(frozen=True, eq=False)
class Parts:
    """The graphs of one run: those trained on, those judged on. Single graphs are `Data`, several a `Stack`."""

    dataset: Dataset
    train: Any
    val: Any
    test: Any


class Task(ABC):
    """A model with its graphs on a device."""

    precision = "highest"  # of matrix products in float32; on a GPU "high" is TF32

    metric: str
    higher_is_better: bool

    def __init__(self, run: Run, parts: Parts, device: torch.device, model: torch.nn.Module) -> None:
        self.run, self.parts, self.device, self.model = run, parts, device, model.to(device)
        torch.set_float32_matmul_precision(self.precision)
        self.recordable = device.type == "cuda" and self.can_record(run, model)
        rate = torch.tensor(run.lr, device=device) if self.recordable else run.lr
        self.optimiser = torch.optim.Adam(
            self.model.parameters(),
            lr=rate,
            weight_decay=run.weight_decay,
            capturable=self.recordable,
            fused=device.type == "cuda",
        )

    def set_rate(self, done: float) -> None:
        """The learning rate when this part of the epochs is done."""
        constant = self.run.schedule == "constant"
        rate = self.run.lr if constant else self.run.lr * (1 + math.cos(math.pi * done)) / 2
        for group in self.optimiser.param_groups:
            if torch.is_tensor(group["lr"]):
                group["lr"].fill_(rate)  # a recorded step reads this very tensor
            else:
                group["lr"] = rate

    @staticmethod
    def can_record(run: Run, model: torch.nn.Module) -> bool:
        """Whether no tensor of a step has a size that the values of another decide."""
        return bool(getattr(model, "static", False))

    @abstractmethod
    def train_epoch(self) -> float:
        """Train on everything once; the mean loss."""

    @abstractmethod
    def judge(self) -> tuple[float, float, float]:
        """(validation, test, seconds that testing took)."""

    def step(self, loss: Tensor) -> None:
        """One step of the optimiser down the gradient of this loss."""
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()


def make_task(run: Run, parts: Parts, device: torch.device) -> Task:
    """The task of a dataset, with a fresh model."""
    dataset = parts.dataset
    if dataset.single:
        return NodeTask(run, parts, device, _model(run, dataset.num_features, dataset.num_classes))
    if run.method in FRESH:
        raise OptionError(f"method {run.method} is for single graphs, not for the graphs of {run.dataset}")
    regression = dataset.task == "graph-regression"
    out = 1 if regression else dataset.num_classes
    model = _model(run, dataset.num_features, out, _degrees(parts.train) if "pna" in run.model else None)
    kind = LabelTask if dataset.task == "node-classification" else ValueTask if regression else ClassTask
    return kind(run, parts, device, model)


def _model(run: Run, in_dim: int, out_dim: int, degrees: Tensor | None = None) -> torch.nn.Module:
    return build(run.model, in_dim=in_dim, out_dim=out_dim, basic=run.method == "basic", degrees=degrees)


def _degrees(stack: Stack) -> Tensor:
    """How many nodes of the graphs have each in-degree."""
    whole = stack.graph()
    return torch.bincount(torch.bincount(torch.as_tensor(whole.ends()[1]), minlength=whole.num_nodes))


def timed(device: torch.device, work: Callable[[], Any]) -> tuple[float, Any]:
    """(seconds, result): the device has ended what it was told to do before each look at the clock."""
    _synchronise(device)
    start = time.perf_counter()
    result = work()
    _synchronise(device)
    return time.perf_counter() - start, result


def _synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


class NodeTask(Task):
    """Classes of the nodes of one graph, all of it in one batch."""

    metric, higher_is_better = "accuracy", True

    @staticmethod
    def can_record(run: Run, model: torch.nn.Module) -> bool:
        return hasattr(model, "settled") and run.method not in FRESH  # the graph must stay the same

    def __init__(self, run: Run, parts: Parts, device: torch.device, model: torch.nn.Module) -> None:
        super().__init__(run, parts, device, model)
        self.training, self.testing = parts.train.to(device), parts.test.to(device)
        self.whole = self.testing.edge_index
        self.generator = torch.Generator(device).manual_seed(run.seed)
        self.nodes = {part: self.testing[f"{part}_mask"].nonzero()[:, 0] for part in ("train", "val", "test")}
        self.take: Callable[[], Tensor] = self._take
        self.find: Callable[[], Tensor] = self._right
        if self.recordable:
            settled: Callable[[Any], Any] = getattr(model, "settled")  # noqa: B009  # a Module has no such type
            self.training, self.testing = settled(self.training), settled(self.testing)
            self.take, self.find = Replayed(self._take, self.model, self.optimiser), Replayed(self._right)

    def train_epoch(self) -> float:
        self.model.train()
        if self.run.method in FRESH:
            chosen = torch.randperm(self.whole.shape[1], device=self.device, generator=self.generator)
            self.training.edge_index = self.whole[:, chosen[: self.training.num_edges]]
        return float(self.take())

    def _take(self) -> Tensor:
        """One step on all nodes to learn from; the loss before it."""
        mine = self.nodes["train"]
        loss = functional.cross_entropy(self.model(self.training)[mine], self.training.y[mine])
        self.step(loss)
        return loss.detach()

    def judge(self) -> tuple[float, float, float]:
        """One pass over the graph serves validation and test."""
        self.model.eval()
        seconds, right = timed(self.device, self.find)
        val, test = (float(right[self.nodes[part]].float().mean()) for part in ("val", "test"))
        return val, test, seconds

    @torch.no_grad()
    def _right(self) -> Tensor:
        right: Tensor = self.model(self.testing).argmax(1) == self.testing.y
        return right


class GraphsTask(Task):
    """Several graphs in batches, which are gathered on the device: no loop over graphs, no copies between epochs."""

    precision = "high"

    def __init__(self, run: Run, parts: Parts, device: torch.device, model: torch.nn.Module) -> None:
        super().__init__(run, parts, device, model)
        reads = getattr(model, "reads", ("x",))
        plain = self.recordable and not getattr(model, "loops", True)
        whole = (part.without_loops() if plain else part for part in (parts.train, parts.val, parts.test))
        self.training, val, test = (part.only(reads).to(device) for part in whole)
        self.judged = {name: list(batches(part, run.batch_size)) for name, part in (("val", val), ("test", test))}
        self.sums: dict[str, Callable[[], Tensor]] = {name: partial(self._sums, name) for name in self.judged}
        if self.recordable:
            self.judged = {name: [Room.around(one).filled(one) for one in some] for name, some in self.judged.items()}
            self.sums = {name: Replayed(work) for name, work in self.sums.items()}
        room = Room.of(self.training, run.batch_size)
        self.recorded = Recorded(self.model, self.loss, self.optimiser, room) if self.recordable else None
        self.generator = torch.Generator().manual_seed(run.seed)

    @abstractmethod
    def loss(self, out: Tensor, batch: Any) -> Tensor:
        """The mean loss of a batch."""

    @abstractmethod
    def tally(self, out: Tensor, batch: Any) -> Tensor:
        """Numbers of a batch that are added up over all of them, float64."""

    @abstractmethod
    def score(self, sums: list[float]) -> float:
        """The metric from these sums."""

    def train_epoch(self) -> float:
        self.model.train()
        order = torch.randperm(len(self.training), generator=self.generator)
        total = torch.zeros((), device=self.device)
        for batch in batches(self.training, self.run.batch_size, order):
            if self.recorded is not None and self.recorded.room.holds(batch):
                total += self.recorded(batch) * batch.num_graphs
                continue
            loss = self.loss(self.model(batch), batch)
            self.step(loss)
            total += loss.detach() * batch.num_graphs
        return float(total) / len(self.training)

    def judge(self) -> tuple[float, float, float]:
        """The batches of both sets lie ready on the device."""
        val = self._evaluate("val")
        seconds, test = timed(self.device, lambda: self._evaluate("test"))
        return val, test, seconds

    @torch.no_grad()
    def _evaluate(self, part: str) -> float:
        self.model.eval()
        return self.score(self.sums[part]().tolist())

    def _sums(self, part: str) -> Tensor:
        """What the batches of a part add up to; of those that were filled up, what is real."""
        tallies = [self.tally(self.model(batch)[: batch.y.shape[0]], batch) for batch in self.judged[part]]
        return torch.stack(tallies).sum(0)


class ClassTask(GraphsTask):
    """One class for each graph."""

    metric, higher_is_better = "accuracy", True

    def loss(self, out: Tensor, batch: Any) -> Tensor:
        return functional.cross_entropy(out, batch.y, label_smoothing=self.run.label_smoothing)

    def tally(self, out: Tensor, batch: Any) -> Tensor:
        right = (out.argmax(1) == batch.y).double()
        return torch.stack([right.sum(), torch.ones_like(right).sum()])

    def score(self, sums: list[float]) -> float:
        return sums[0] / sums[1]


class ValueTask(ClassTask):
    """One number for each graph, or one column of several."""

    metric, higher_is_better = "mae", False

    def __init__(self, run: Run, parts: Parts, device: torch.device, model: torch.nn.Module) -> None:
        super().__init__(run, parts, device, model)
        targets = parts.dataset.targets
        if run.target is not None and run.target not in targets:
            raise OptionError(f"target must be one of {', '.join(targets)}, got {run.target!r}")
        self.column = None if run.target is None else targets.index(run.target)
        goals = self._goal(parts.train.values["y"]).double()
        self.mean, self.std = float(goals.mean()), max(float(goals.std(correction=0)), 1e-12)

    def _goal(self, y: Tensor) -> Tensor:
        return (y if self.column is None else y[:, self.column]).reshape(-1)

    def loss(self, out: Tensor, batch: Any) -> Tensor:
        """In standard deviations of the training graphs, from their mean: energies of -11,000 eV are learned too."""
        return functional.l1_loss(out.squeeze(-1), (self._goal(batch.y) - self.mean) / self.std)

    def tally(self, out: Tensor, batch: Any) -> Tensor:
        off = (out.squeeze(-1).double() * self.std + self.mean - self._goal(batch.y)).abs()
        return torch.stack([off.sum(), torch.ones_like(off).sum()])


class LabelTask(GraphsTask):
    """Any number of labels for each node of several graphs (PPI); judged by micro-averaged F1."""

    metric, higher_is_better = "micro-f1", True

    def loss(self, out: Tensor, batch: Any) -> Tensor:
        return functional.binary_cross_entropy_with_logits(out, batch.y.float())

    def tally(self, out: Tensor, batch: Any) -> Tensor:
        said, true = out > 0, batch.y > 0
        return torch.stack([(said & true).sum(), said.sum(), true.sum()]).double()

    def score(self, sums: list[float]) -> float:
        right, said, true = sums
        return 2 * right / max(said + true, 1.0)
