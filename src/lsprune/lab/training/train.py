"""Training of one run: a frozen configuration in, one JSON-able record out, the same code on CPU and CUDA.

The reported result is the test metric at the best validation epoch; the maximum over epochs is stored beside it.
Pruning time is measured and charged to the run, and the device is synchronised before the clock is read.
"""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from lsprune.lab.studies.run import Run
from lsprune.lab.training.callbacks import Callback
from lsprune.lab.training.environment import checked_device, environment, peak_bytes, reset_peak_bytes, timed
from lsprune.lab.training.prepare import prepare
from lsprune.lab.training.tasks import Task, make_task
from lsprune.lab.user_graph import UserGraphFiles

SPARSE_IS_BETA = r"Sparse (CSR|CSC|invariant)"  # what torch says at the first sparse product on a CPU


def train(
    run: Run, *, device: str = "cpu", data: str | UserGraphFiles | None = None, callbacks: Iterable[Callback] = ()
) -> dict[str, Any]:
    """Return the record of one run: configuration, metrics, times, share kept, versions.

    Args:
        data: the folder of local datasets, or the files of a user's graph.
        callbacks: are called at the start of the run, after every epoch and at the end.
    """
    callbacks = tuple(callbacks)
    torch.manual_seed(run.seed)
    torch_device = checked_device(device)
    reset_peak_bytes(torch_device)
    graphs, pruning = prepare(run, data, executor="gpu" if torch_device.type == "cuda" else None)
    for callback in callbacks:
        callback.on_run_start(run)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", SPARSE_IS_BETA, UserWarning)
        history = _train_epochs(run, make_task(run, graphs, torch_device), callbacks)
    record = {
        **pruning, "task": graphs.dataset.task, **history, "peak_bytes": peak_bytes(torch_device),
        **environment(torch_device),
    }  # fmt: skip
    for callback in callbacks:
        callback.on_run_end(record)
    return record


def _train_epochs(run: Run, task: Task, callbacks: tuple[Callback, ...]) -> dict[str, Any]:
    """Train until the last epoch or until patience runs out; return what the record says of the epochs."""
    sign = 1 if task.higher_is_better else -1
    best, epochs_without_gain = -np.inf, 0
    rows: list[dict[str, float]] = []
    for epoch in range(1, run.epochs + 1):
        task.set_learning_rate((epoch - 1) / run.epochs)
        seconds, loss = timed(task.device, task.train_epoch)
        val, test, test_seconds = task.evaluate()
        row = {"loss": loss, "val": val, "test": test, "train_seconds": seconds, "test_seconds": test_seconds}
        rows.append({**row, **task.details})
        for callback in callbacks:
            callback.on_epoch_end(epoch, rows[-1])
        epochs_without_gain = 0 if sign * val > best else epochs_without_gain + 1
        best = max(best, sign * val)
        if run.patience is not None and epochs_without_gain >= run.patience:
            break
    return _summary(task, rows)


def _summary(task: Task, rows: list[dict[str, float]]) -> dict[str, Any]:
    """Return the metrics at the best validation epoch, and the times; medians leave out the first epoch."""
    sign = 1 if task.higher_is_better else -1
    best = int(np.argmax([sign * row["val"] for row in rows]))
    warm = rows[1:] or rows  # the first epoch loads kernels
    return {
        "metric": task.metric, "higher_is_better": task.higher_is_better, "epochs_run": len(rows),
        "best_epoch": best + 1, "test": rows[best]["test"], "val": rows[best]["val"],
        "test_max": sign * max(sign * row["test"] for row in rows),
        "train_seconds_per_epoch": statistics.median(row["train_seconds"] for row in warm),
        "test_seconds": statistics.median(row["test_seconds"] for row in warm),
        "train_seconds": sum(row["train_seconds"] for row in rows), **{name: rows[best][name] for name in task.details},
    }  # fmt: skip
