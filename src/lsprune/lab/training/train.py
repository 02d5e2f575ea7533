"""One run: a frozen configuration in, one JSON-able record out. The same code on CPU and CUDA.

Honest by construction: the figure is the test metric at the best validation epoch (the maximum over epochs stands
beside it), pruning time is measured and charged, and the device is synchronised before a clock is read.
"""

from __future__ import annotations

import platform
import resource
import statistics
import time
import warnings
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import torch
from torch_geometric import __version__ as pyg_version

from lsprune._version import __version__
from lsprune.api import prune
from lsprune.errors import Lacking, LspruneWarning, OptionError
from lsprune.lab.datasets import Dataset, load
from lsprune.lab.datasets.synthetic import GENERATED, synthetic_dataset
from lsprune.lab.datasets.user_graph import own_dataset
from lsprune.lab.studies.methods import FRESH, pruner_for
from lsprune.lab.studies.run import Run
from lsprune.lab.training.graph_store import Stack
from lsprune.lab.training.tasks import Parts, Task, make_task, timed
from lsprune.lab.training.watchers import Watcher
from lsprune.lab.user_graph import OwnFiles
from lsprune.pruners import Pruner

Seconds = float
NODES = 256  # of a single graph, for each graph that a limit allows


def train(
    run: Run, *, device: str = "cpu", data: str | OwnFiles | None = None, watchers: Iterable[Watcher] = ()
) -> dict[str, Any]:
    """The record of one run: configuration, metrics, times, share kept, versions.

    Args:
        data: the folder of local datasets, or the files of the one graph that is not a dataset of the lab.
    """
    watching = tuple(watchers)
    torch.manual_seed(run.seed)
    place = checked_device(device)
    if place.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    parts, pruned = prepare(run, data, executor="gpu" if place.type == "cuda" else None)
    for watcher in watching:
        watcher.started(run)
    history = _fit(run, make_task(run, parts, place), watching)
    record = {**pruned, "task": parts.dataset.task, **history, "peak_bytes": _peak(place), **circumstances(place)}
    for watcher in watching:
        watcher.ended(record)
    return record


def checked_device(name: str) -> torch.device:
    """The device of that name, if it is there."""
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise OptionError(f"device must be one that is there, such as cpu or cuda, got {name!r}: {error}") from None
    return device


def circumstances(device: torch.device) -> dict[str, Any]:
    """On what a run was done."""
    cuda = device.type == "cuda"
    name = torch.cuda.get_device_name() if cuda else f"cpu ({torch.get_num_threads()} threads)"
    precision = torch.get_float32_matmul_precision()
    versions = {
        "lsprune": __version__, "torch": torch.__version__, "pyg": pyg_version, "numpy": np.__version__,
        "python": platform.python_version(),
    }  # fmt: skip
    return {"device": name, "precision": precision, "versions": versions}


@cache
def _dataset(name: str, data: str | OwnFiles | None, limit: int | None) -> Dataset:
    """The dataset of a study, kept for the next run of it. Of a generated set no more is made than a limit leaves."""
    if isinstance(data, OwnFiles):
        return own_dataset(data)
    if name in GENERATED:
        whole = GENERATED[name]
        return synthetic_dataset(whole if limit is None else replace(whole, samples=4 * limit))
    try:
        return load(name, data=data)
    except OptionError as error:
        raise OptionError(f"{error}; generated ones are {', '.join(GENERATED)}") from None


@cache
def _graphs(dataset: Dataset, limit: int | None) -> tuple[Any, Any, Any]:
    """The three splits, each with its first `limit` graphs; a single graph with nodes all over it."""
    if dataset.single:
        nodes = dataset.train.num_nodes
        step = 1 if limit is None else -(-nodes // (NODES * limit))
        data = dataset.train if step == 1 else dataset.train.subgraph(torch.arange(0, nodes, step))
        return data, data, data
    train, val, test = (
        Stack.of(part if limit is None else [part[i] for i in range(min(limit, len(part)))])
        for part in (dataset.train, dataset.val, dataset.test)
    )
    return train, val, test


def prepare(run: Run, data: str | OwnFiles | None, executor: str | None = None) -> tuple[Parts, dict[str, Any]]:
    """The graphs of a run, pruned once with the same functions for all of them; and what its record says of that."""
    pruner = pruner_for(run.method, run.k, run.seed, keep=run.keep, sparsity=run.sparsity)
    dataset = _dataset(run.dataset, data, run.limit)
    if dataset.lacks:
        raise Lacking(
            f"dataset {dataset.name} lacks {' and '.join(dataset.lacks)} here, so that nothing can be learned"
        )
    whole = _graphs(dataset, run.limit)
    small, fitted, seconds = _pruned(dataset, whole, pruner, executor)
    train = whole[0] if run.pruned == "testing" else small[0]
    val, test = (whole if run.pruned == "training" or run.method in FRESH else small)[1:]
    said = {
        "key": run.key, "run": run.to_dict(), "share": small[0].num_edges / max(whole[0].num_edges, 1),
        "prune_seconds": seconds, "pruner": None if fitted is None else fitted.to_dict(),
    }  # fmt: skip
    return Parts(dataset, train, val, test), said


def _pruned(
    dataset: Dataset, whole: tuple[Any, ...], pruner: Pruner | None, executor: str | None
) -> tuple[Any, Pruner | None, Seconds]:
    if pruner is None:
        return whole, None, 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LspruneWarning)  # what pruning does to these graphs is what a study is about
        kind = (dataset.name, type(pruner), getattr(pruner, "hash", None))
        if kind not in _WARM:  # the first call of a kernel compiles or loads it, which is not pruning
            _WARM.add(kind)
            few = whole if dataset.single else tuple(part.chosen(torch.arange(min(64, len(part)))) for part in whole)
            _prune_all(dataset, few, pruner, executor)
        start = time.perf_counter()
        parts, fitted = _prune_all(dataset, whole, pruner, executor)
        return parts, fitted, time.perf_counter() - start


_WARM: set[Any] = set()


def _prune_all(dataset: Dataset, whole: tuple[Any, ...], pruner: Pruner, executor: str | None) -> tuple[Any, Pruner]:
    if dataset.single:
        fitted = pruner.fit(whole[0], executor=executor)
        return (prune(whole[0], fitted, executor=executor),) * 3, fitted
    graphs = [stack.graph() for stack in whole]
    fitted = pruner.fit(graphs[0], categories=dataset.categories, executor=executor)
    masks = (fitted.mask(graph, executor=executor) for graph in graphs)
    return tuple(stack.kept(mask) for stack, mask in zip(whole, masks, strict=True)), fitted


def _fit(run: Run, task: Task, watchers: tuple[Watcher, ...]) -> dict[str, Any]:
    """Train, and keep what is needed to judge: the metric per epoch, and the seconds of training and testing."""
    sign = 1 if task.higher_is_better else -1
    best, waited, rows = -np.inf, 0, []
    for epoch in range(1, run.epochs + 1):
        task.set_rate((epoch - 1) / run.epochs)
        seconds, loss = timed(task.device, task.train_epoch)
        val, test, test_seconds = task.judge()
        rows.append({"loss": loss, "val": val, "test": test, "train_seconds": seconds, "test_seconds": test_seconds})
        for watcher in watchers:
            watcher.epoch(epoch, rows[-1])
        waited = 0 if sign * val > best else waited + 1
        best = max(best, sign * val)
        if run.patience is not None and waited >= run.patience:
            break
    at = int(np.argmax([sign * row["val"] for row in rows]))
    steady = rows[1:] or rows  # the first epoch pays for loading kernels
    return {
        "metric": task.metric, "higher_is_better": task.higher_is_better, "epochs_run": len(rows), "best_epoch": at + 1,
        "test": rows[at]["test"], "val": rows[at]["val"], "test_max": sign * max(sign * row["test"] for row in rows),
        "train_seconds_per_epoch": statistics.median(row["train_seconds"] for row in steady),
        "test_seconds": statistics.median(row["test_seconds"] for row in steady),
        "train_seconds": sum(row["train_seconds"] for row in rows),
    }  # fmt: skip


def _peak(device: torch.device) -> int:
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated())
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024
