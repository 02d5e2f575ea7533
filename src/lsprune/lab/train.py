"""One run: a frozen configuration in, one JSON-able record out. The same code on CPU and CUDA.

Honest by construction: the figure is the test metric at the best validation epoch (the maximum over epochs stands
beside it), pruning time is measured and charged, and the device is synchronised before a clock is read.
"""

from __future__ import annotations

import hashlib
import json
import platform
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import torch
from torch.nn import functional
from torch_geometric import __version__ as pyg_version
from torch_geometric.loader import DataLoader

from lsprune._version import __version__
from lsprune.apply import prune
from lsprune.errors import OptionError
from lsprune.lab.datasets import Dataset, load
from lsprune.lab.methods import pruner_for
from lsprune.lab.models import build
from lsprune.lab.synthetic import Synthetic
from lsprune.pruners import Pruner

Progress = Callable[[int, float], None]


@dataclass(frozen=True, kw_only=True)
class Run:
    """Everything that decides a result, and nothing that does not (no device, no path)."""

    study: str
    dataset: str
    model: str
    method: str
    k: int | None = None
    seed: int = 0
    target: str | None = None  # one of several regression targets
    epochs: int = 200
    lr: float = 0.01
    weight_decay: float = 0.0
    batch_size: int = 512  # graph tasks
    patience: int | None = None  # stop after so many epochs without a better validation metric
    pruned: Literal["always", "training", "testing"] = "always"  # where the pruned graph is used
    limit: int | None = None  # graphs of each split at most, to try things out

    def __post_init__(self) -> None:
        if self.pruned not in ("always", "training", "testing"):
            raise OptionError(f"pruned must be one of always, training, testing, got {self.pruned!r}")
        if self.epochs < 1:
            raise OptionError(f"epochs must be a whole number >= 1, got {self.epochs}")

    @property
    def key(self) -> str:
        """The content hash: the same for the same configuration, on any machine.

        Options at their defaults are left out, so that a new option does not make old runs strangers.
        """
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class _Prepared:
    """A dataset with its pruned twin, and what pruning cost."""

    whole: Dataset
    small: Dataset
    share: float
    seconds: float
    pruner: Pruner | None


def train(
    run: Run, *, device: str = "cpu", data: str | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """The record of one run: configuration, metrics, times, share kept, versions."""
    torch.manual_seed(run.seed)
    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats()
    prepared = _prepare(run, _limited(_dataset(run.dataset, data), run.limit))
    history = _fit(run, _task(prepared.whole)(run, prepared, torch.device(device)), progress)
    return {
        "key": run.key, "run": asdict(run), "task": prepared.whole.task, "share": prepared.share,
        "prune_seconds": prepared.seconds, "pruner": None if prepared.pruner is None else prepared.pruner.to_dict(),
        **history, "peak_bytes": _peak(device), "device": _device_name(device),
        "versions": {"lsprune": __version__, "torch": torch.__version__, "pyg": pyg_version, "numpy": np.__version__,
                     "python": platform.python_version()},
    }  # fmt: skip


@cache
def _dataset(name: str, data: str | None) -> Dataset:
    """The dataset of a study; kept for the next run of it."""
    return synthetic_dataset() if name == "synthetic" else load(name, data=data)


def synthetic_dataset(generator: Synthetic | None = None, *, seed: int = 0) -> Dataset:
    """The paper's synthetic set, 75 % for training and 25 % for testing; a tenth of the former for validation."""
    made = (generator or Synthetic()).make()
    graphs = made.to_data_list()
    order = np.random.default_rng(seed).permutation(len(graphs)).tolist()
    quarter, tenth = len(graphs) // 4, len(graphs) * 3 // 40
    test, val, train = order[:quarter], order[quarter : quarter + tenth], order[quarter + tenth :]
    train_graphs, val_graphs, test_graphs = ([graphs[i] for i in part] for part in (train, val, test))
    return Dataset(
        name="synthetic", task="graph-classification", train=train_graphs, val=val_graphs, test=test_graphs,
        num_features=int(made.x.shape[1]), num_classes=int(made.y.max()) + 1,
    )  # fmt: skip


def _limited(dataset: Dataset, limit: int | None) -> Dataset:
    """The first `limit` graphs of each split; a single graph stays whole."""
    if limit is None or dataset.single:
        return dataset
    train, val, test = (
        [part[i] for i in range(min(limit, len(part)))] for part in (dataset.train, dataset.val, dataset.test)
    )
    return replace(dataset, train=train, val=val, test=test)


def _task(dataset: Dataset) -> Any:
    if dataset.task != "node-classification":
        return _GraphTask
    return _NodeTask if dataset.single else _LabelTask


def _prepare(run: Run, whole: Dataset) -> _Prepared:
    """The dataset pruned once, before training, with the same functions for all its graphs."""
    pruner = pruner_for(run.method, run.k, run.seed)
    if whole.lacks:
        raise OptionError(f"dataset {whole.name} lacks {', '.join(whole.lacks)} here; it cannot be trained on")
    if pruner is None:
        return _Prepared(whole, whole, 1.0, 0.0, None)
    start = time.perf_counter()
    if whole.single:
        small = prune(whole.train, pruner)
        seconds = time.perf_counter() - start
        parts = replace(whole, train=small, val=small, test=small)
        return _Prepared(whole, parts, small.num_edges / max(whole.train.num_edges, 1), seconds, pruner)
    fitted = pruner.fit(whole.train)
    pruned = {name: prune(list(getattr(whole, name)), fitted) for name in ("train", "val", "test")}
    seconds = time.perf_counter() - start
    kept, every = (sum(data.num_edges for data in part) for part in (pruned["train"], whole.train))
    return _Prepared(whole, replace(whole, **pruned), kept / max(every, 1), seconds, fitted)


def _fit(run: Run, task: Any, progress: Progress | None) -> dict[str, Any]:
    """Train, and keep what is needed to judge: the metric per epoch, and the seconds of training and testing."""
    sign = 1 if task.higher_is_better else -1
    best, waited, rows = -np.inf, 0, []
    for epoch in range(run.epochs):
        seconds = _timed(task.device, task.train_epoch)[0]
        val, test, test_seconds = task.judge()
        rows.append((seconds, test_seconds, val, test))
        if progress is not None:
            progress(epoch + 1, val)
        waited = 0 if sign * val > best else waited + 1
        best = max(best, sign * val)
        if run.patience is not None and waited >= run.patience:
            break
    at = int(np.argmax([sign * row[2] for row in rows]))
    steady = rows[1:] or rows  # the first epoch pays for loading kernels
    return {
        "metric": task.metric, "higher_is_better": task.higher_is_better, "epochs_run": len(rows), "best_epoch": at + 1,
        "test": rows[at][3], "val": rows[at][2], "test_max": sign * max(sign * row[3] for row in rows),
        "train_seconds_per_epoch": statistics.median(row[0] for row in steady),
        "test_seconds": statistics.median(row[1] for row in steady),
        "train_seconds": sum(row[0] for row in rows),
    }  # fmt: skip


def _timed(device: torch.device, work: Callable[[], Any]) -> tuple[float, Any]:
    _synchronise(device)
    start = time.perf_counter()
    result = work()
    _synchronise(device)
    return time.perf_counter() - start, result


def _synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


class _NodeTask:
    """Node classification on one graph, all of it in one batch."""

    metric, higher_is_better = "accuracy", True

    def __init__(self, run: Run, prepared: _Prepared, device: torch.device) -> None:
        used = {"always": ("small", "small"), "training": ("small", "whole"), "testing": ("whole", "small")}[run.pruned]
        self.device = device
        self.training, self.testing = (getattr(prepared, name).train.to(device) for name in used)
        whole = prepared.whole
        self.model = build(
            run.model, in_dim=whole.num_features, out_dim=whole.num_classes, basic=run.method == "basic"
        ).to(device)
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=run.lr, weight_decay=run.weight_decay)

    def train_epoch(self) -> None:
        self.model.train()
        self.optimiser.zero_grad()
        mask = self.training.train_mask
        loss = functional.cross_entropy(self.model(self.training)[mask], self.training.y[mask])
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()

    def judge(self) -> tuple[float, float, float]:
        """(validation, test, seconds): one pass over the graph serves both."""
        seconds, right = _timed(self.device, self._right)
        val, test = (float(right[self.testing[f"{part}_mask"]].float().mean()) for part in ("val", "test"))
        return val, test, seconds

    @torch.no_grad()
    def _right(self) -> Any:
        self.model.eval()
        return self.model(self.testing).argmax(1) == self.testing.y


class _GraphTask:
    """Classification or regression of whole graphs, in batches."""

    def __init__(self, run: Run, prepared: _Prepared, device: torch.device) -> None:
        whole = prepared.whole
        self.device, self.classes = device, whole.task == "graph-classification"
        self.metric, self.higher_is_better = ("accuracy", True) if self.classes else ("mae", False)
        self.column = None if run.target is None else whole.targets.index(run.target)
        train = prepared.small.train if run.pruned != "testing" else prepared.whole.train
        rest = prepared.small if run.pruned != "training" else prepared.whole
        generator = torch.Generator().manual_seed(run.seed)
        self.loaders = {
            "train": DataLoader(train, run.batch_size, shuffle=True, generator=generator),
            "val": DataLoader(rest.val, run.batch_size),
            "test": DataLoader(rest.test, run.batch_size),
        }
        out = 1 if whole.task == "graph-regression" else whole.num_classes
        degrees = _degrees(train) if "pna" in run.model else None
        self.model = build(
            run.model, in_dim=whole.num_features, out_dim=out, basic=run.method == "basic", degrees=degrees
        ).to(device)
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=run.lr, weight_decay=run.weight_decay)

    def train_epoch(self) -> None:
        self.model.train()
        for batch in self.loaders["train"]:
            batch = batch.to(self.device)
            self.optimiser.zero_grad()
            self._loss(self.model(batch), batch).backward()
            self.optimiser.step()

    def judge(self) -> tuple[float, float, float]:
        """(validation, test, seconds for the test set)."""
        val = self._evaluate("val")
        seconds, test = _timed(self.device, lambda: self._evaluate("test"))
        return val, test, seconds

    @torch.no_grad()
    def _evaluate(self, part: str) -> float:
        self.model.eval()
        total, count = torch.zeros((), device=self.device, dtype=torch.float64), 0
        for batch in self.loaders[part]:
            batch = batch.to(self.device)
            out, goal = self.model(batch), self._goal(batch)
            right = out.argmax(1) == goal if self.classes else (out.squeeze(-1) - goal).abs()
            total += right.double().sum()
            count += goal.shape[0]
        return float(total) / max(count, 1)

    def _goal(self, batch: Any) -> Any:
        return batch.y if self.column is None else batch.y[:, self.column]

    def _loss(self, out: Any, batch: Any) -> Any:
        goal = self._goal(batch)
        return functional.cross_entropy(out, goal) if self.classes else functional.l1_loss(out.squeeze(-1), goal)


class _LabelTask(_GraphTask):
    """Nodes of several graphs with any number of labels each (PPI); judged by micro-averaged F1."""

    def __init__(self, run: Run, prepared: _Prepared, device: torch.device) -> None:
        super().__init__(run, prepared, device)
        self.metric, self.higher_is_better = "micro-f1", True

    @torch.no_grad()
    def _evaluate(self, part: str) -> float:
        self.model.eval()
        found = torch.zeros(3, device=self.device, dtype=torch.float64)  # right, said, true
        for batch in self.loaders[part]:
            batch = batch.to(self.device)
            said, true = self.model(batch) > 0, batch.y > 0
            found += torch.stack([(said & true).sum(), said.sum(), true.sum()]).double()
        right, said_in_all, true_in_all = found.tolist()
        return float(2 * right / max(said_in_all + true_in_all, 1.0))

    def _loss(self, out: Any, batch: Any) -> Any:
        return functional.binary_cross_entropy_with_logits(out, batch.y.float())


def _degrees(graphs: Any) -> torch.Tensor:
    """How many nodes of the training graphs have each in-degree."""
    counts = [torch.bincount(torch.bincount(data.edge_index[1], minlength=data.num_nodes)) for data in graphs]
    total = torch.zeros(max(count.numel() for count in counts), dtype=torch.long)
    for count in counts:
        total[: count.numel()] += count
    return total


def _peak(device: str) -> int:
    if device.startswith("cuda"):
        return int(torch.cuda.max_memory_allocated())
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024


def _device_name(device: str) -> str:
    return torch.cuda.get_device_name() if device.startswith("cuda") else f"cpu ({torch.get_num_threads()} threads)"
