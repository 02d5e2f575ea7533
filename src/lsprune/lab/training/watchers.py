"""Those who watch a run: bars on the terminal, TensorBoard, Weights & Biases, or one's own.

The trainer calls `started`, `epoch` for every epoch and `ended` for each run, and `close` once, also after an error.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lsprune.checks import is_number
from lsprune.errors import MissingDependency


class Watcher:
    """Watches and does nothing; a watcher of one's own overrides what it needs."""

    def started(self, run: Any) -> None:
        """A run begins; `run` is a `lsprune.lab.training.train.Run`."""

    def epoch(self, number: int, row: dict[str, float]) -> None:
        """Epoch `number`, from 1, is over; `row` has loss, val, test, train_seconds and test_seconds."""

    def ended(self, record: dict[str, Any]) -> None:
        """The run is over; `record` is what goes into the results. Not called for a run that fails."""

    def close(self) -> None:
        """No more runs come: the study is over, was stopped or met an error."""


class Bars(Watcher):
    """Two bars on the terminal: the runs of the study, and the epochs of the current run; nothing in a pipe.

    Args:
        total: runs of the study.
        done: those that were there before.
        console: where to draw, default stderr.
    """

    def __init__(self, total: int, done: int = 0, *, console: Console | None = None) -> None:
        # rich takes FORCE_COLOR for a terminal too; a log file would then fill up with bars
        console = console or Console(stderr=True, force_terminal=sys.stderr.isatty())
        self.done = done
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_interactive,
            redirect_stdout=sys.stdout.isatty(),  # what is piped from stdout must not come out at stderr
            speed_estimate_period=3600,  # an epoch can take longer than rich's 30 seconds
        )
        self._runs = self.progress.add_task("runs", total=total, completed=done, note="")
        self._epochs = self.progress.add_task("", total=None, visible=False, note="")
        self._length = 1

    def started(self, run: Any) -> None:
        self._length = run.epochs
        self.progress.reset(self._epochs, total=run.epochs, description=_label(run), visible=True, note="")
        self.progress.start()

    def epoch(self, number: int, row: dict[str, float]) -> None:
        self.progress.update(self._epochs, completed=number, note=f"val {row['val']:.4f}")
        # parts of a run count, so that the time remaining is known before the first one ends
        self.progress.update(self._runs, completed=self.done + number / self._length)

    def ended(self, record: dict[str, Any]) -> None:
        self.done += 1
        self.progress.update(self._runs, completed=self.done)

    def close(self) -> None:
        if not self.progress.disable:  # rich 14.1 and older print an empty line even then
            self.progress.stop()


class TensorBoard(Watcher):
    """Event files for TensorBoard, one sub-folder a run, such as `cora/lsp-p-k3-seed0-KEY`.

    Every number of an epoch is a scalar. At the end come the record as text and, for the table of TensorBoard's
    HPARAMS page, the configuration with the record's numbers.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise _missing("TensorBoard", "tensorboard") from error
        self.folder = Path(folder)
        self._make: Any = SummaryWriter
        self._run: Any = None
        self._writer: Any = None

    def started(self, run: Any) -> None:
        self.close()  # a run that failed has no end
        self._run = run
        # purge: what an interrupted try of the same run left there is not shown
        self._writer = self._make(self.folder / run.dataset / f"{_label(run)}-{run.key}", purge_step=0)

    def epoch(self, number: int, row: dict[str, float]) -> None:
        for name, value in row.items():
            self._writer.add_scalar(name, value, number)

    def ended(self, record: dict[str, Any]) -> None:
        self._writer.add_text("record", f"```json\n{json.dumps(record, indent=2)}\n```")
        options = {name: value for name, value in asdict(self._run).items() if isinstance(value, int | float | str)}
        # the names of the epochs' scalars must not be used again: TensorBoard would show those
        numbers = {f"final/{name}": value for name, value in record.items() if is_number(value)}
        self._writer.add_hparams(options, numbers, run_name=".")
        self.close()

    def close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()


class WandB(Watcher):
    """A run of Weights & Biases for each run, in a group for the study; WANDB_MODE=offline works as usual."""

    def __init__(self, project: str) -> None:
        try:
            import wandb
        except ImportError as error:
            raise _missing("WandB", "wandb") from error
        self.project = project
        self._init: Any = wandb.init
        self._open: Any = None

    def started(self, run: Any) -> None:
        self.close()  # a run that failed has no end
        # create_new: never log into a run that the caller has open
        self._open = self._init(
            project=self.project, group=run.study, name=_label(run), config=asdict(run), reinit="create_new"
        )

    def epoch(self, number: int, row: dict[str, float]) -> None:
        self._open.log(row, step=number)

    def ended(self, record: dict[str, Any]) -> None:
        self._open.summary.update(record)
        self._finish(0)

    def close(self) -> None:
        self._finish(1)  # still open: it was interrupted

    def _finish(self, code: int) -> None:
        running, self._open = self._open, None
        if running is not None:
            running.finish(exit_code=code)


def _label(run: Any) -> str:
    """A run's name for people and folders, such as lsp-p-k3-seed0, random-keep0.25-seed1 or none-seed0."""
    budget = [f"k{run.k}"] if run.k is not None else [f"keep{run.keep:g}"] if run.keep is not None else []
    return "-".join([run.method, *budget, f"seed{run.seed}"])


def _missing(watcher: str, package: str) -> MissingDependency:
    return MissingDependency(f"lsprune.lab.training.watchers.{watcher} needs {package}: pip install 'lsprune[track]'")
