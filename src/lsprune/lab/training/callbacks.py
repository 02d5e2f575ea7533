"""Callbacks and loggers of training: progress bars, TensorBoard, Weights & Biases.

The trainer calls `on_run_start`, `on_epoch_end` for every epoch and `on_run_end` for each run. Whoever started a study
calls `close` once, also after an error.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from lsprune.checks import is_number
from lsprune.errors import MissingDependency
from lsprune.lab.time_left import TimeLeftColumn


class Callback:
    """Does nothing; subclasses override the methods that they need."""

    def on_run_start(self, run: Any) -> None:
        """Called when a run begins; `run` is a `lsprune.lab.studies.run.Run`."""

    def on_epoch_end(self, epoch: int, row: dict[str, float]) -> None:
        """Called after each epoch, numbered from 1; `row` has loss, val, test, train_seconds and test_seconds."""

    def on_run_end(self, record: dict[str, Any]) -> None:
        """Called after a run with the record that goes into the results; not called for a run that fails."""

    def close(self) -> None:
        """Called once after the last run: the study is complete, was stopped or failed."""


class ProgressBars(Callback):
    """Two progress bars on a terminal: the runs of the study, and the epochs of the current run. Silent in a pipe.

    Each says how long it will still take, as soon as two epochs, or two parallel runs, are done.

    Args:
        total: number of runs of the study.
        done: number of runs that were complete before.
        budget: seconds after which no further run is begun.
        console: where to draw; default stderr.
    """

    def __init__(
        self, total: int, done: int = 0, *, budget: float | None = None, console: Console | None = None
    ) -> None:
        # with FORCE_COLOR rich assumes a terminal, and would fill a log file with bars
        console = console or Console(stderr=True, force_terminal=sys.stderr.isatty())
        self.done = done
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeLeftColumn(budget),
            TextColumn("{task.fields[note]}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_interactive,
            redirect_stdout=sys.stdout.isatty(),  # else rich sends piped output to stderr
            speed_estimate_period=3600,  # an epoch can take longer than rich's default of 30 s
        )
        self._runs = self.progress.add_task("runs", total=total, completed=done, note="")
        self._epochs = self.progress.add_task("", total=None, visible=False, note="")
        self._epochs_per_run = 1

    def on_run_start(self, run: Any) -> None:
        self._epochs_per_run = run.epochs
        self.progress.reset(self._epochs, total=run.epochs, description=_label(run), visible=True, note="")
        self.progress.start()

    def on_epoch_end(self, epoch: int, row: dict[str, float]) -> None:
        self.progress.update(self._epochs, completed=epoch, note=f"val {row['val']:.4f}")
        # fractions of a run count, so that the remaining time is known before the first run ends
        self.progress.update(self._runs, completed=self.done + epoch / self._epochs_per_run)

    def on_run_end(self, record: dict[str, Any]) -> None:
        self.done += 1
        self.progress.update(self._runs, completed=self.done)

    def close(self) -> None:
        if not self.progress.disable:  # rich <= 14.1 prints an empty line even if disabled
            self.progress.stop()


class TensorBoardLogger(Callback):
    """Writes event files for TensorBoard, one sub-folder per run, such as `cora/lsp-degree-k3-seed0-KEY`.

    Every number of an epoch is a scalar. The end of a run adds the record as text and, for TensorBoard's HPARAMS page,
    the configuration with the record's numbers.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise _missing("TensorBoardLogger", "tensorboard") from error
        self.folder = Path(folder)
        self._writer_class: Any = SummaryWriter
        self._run: Any = None
        self._writer: Any = None

    def on_run_start(self, run: Any) -> None:
        self.close()  # of a run that failed
        self._run = run
        # purge_step hides what an interrupted attempt of the same run wrote
        self._writer = self._writer_class(self.folder / run.dataset / f"{_label(run)}-{run.key}", purge_step=0)

    def on_epoch_end(self, epoch: int, row: dict[str, float]) -> None:
        for name, value in row.items():
            self._writer.add_scalar(name, value, epoch)

    def on_run_end(self, record: dict[str, Any]) -> None:
        self._writer.add_text("record", f"```json\n{json.dumps(record, indent=2)}\n```")
        options = {name: value for name, value in asdict(self._run).items() if isinstance(value, int | float | str)}
        # a prefix, since TensorBoard would mix them up with the scalars of the epochs
        numbers = {f"final/{name}": value for name, value in record.items() if is_number(value)}
        self._writer.add_hparams(options, numbers, run_name=".")
        self.close()

    def close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()


class WandbLogger(Callback):
    """Logs each run as one of Weights & Biases, grouped by study; WANDB_MODE=offline works as usual."""

    def __init__(self, project: str) -> None:
        try:
            import wandb
        except ImportError as error:
            raise _missing("WandbLogger", "wandb") from error
        self.project = project
        self._init: Any = wandb.init
        self._open: Any = None

    def on_run_start(self, run: Any) -> None:
        self.close()  # of a run that failed
        # create_new: never log into a run that the caller has opened
        self._open = self._init(
            project=self.project, group=run.study, name=_label(run), config=asdict(run), reinit="create_new"
        )

    def on_epoch_end(self, epoch: int, row: dict[str, float]) -> None:
        self._open.log(row, step=epoch)

    def on_run_end(self, record: dict[str, Any]) -> None:
        self._open.summary.update(record)
        self._finish(0)

    def close(self) -> None:
        self._finish(1)  # still open, so it was interrupted

    def _finish(self, exit_code: int) -> None:
        run, self._open = self._open, None
        if run is not None:
            run.finish(exit_code=exit_code)


def _label(run: Any) -> str:
    """Return a readable name of a run, such as lsp-degree-k3-seed0, random-keep0.25-seed1 or unpruned-seed0."""
    budget = [f"k{run.k}"] if run.k is not None else [f"keep{run.keep:g}"] if run.keep is not None else []
    return "-".join([run.method, *budget, f"seed{run.seed}"])


def _missing(logger: str, package: str) -> MissingDependency:
    return MissingDependency(f"lsprune.lab.training.callbacks.{logger} needs {package}: pip install 'lsprune[track]'")
