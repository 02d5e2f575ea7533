"""Progress bars, TensorBoard and Weights & Biases: what each shows or stores of a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from lsprune.errors import MissingDependency
from lsprune.lab.training.callbacks import Callback, ProgressBars, TensorBoardLogger, WandbLogger


@dataclass(frozen=True)
class FakeRun:
    """The fields of a run that callbacks use."""

    study: str = "one"
    dataset: str = "cora"
    method: str = "lsp-projection"
    k: int | None = 3
    keep: float | None = None
    seed: int = 0
    epochs: int = 4
    key = "abc"


RECORD = {"key": "abc", "test": 0.75, "val": 0.5, "share": 0.25, "prune_seconds": 0.125, "higher_is_better": True,
          "metric": "accuracy", "run": {"k": 3}, "peak_bytes": 2**20}  # fmt: skip


def row(epoch: int) -> dict[str, float]:
    return {"loss": 1 / epoch, "val": epoch / 8, "test": epoch / 16, "train_seconds": 2.0, "test_seconds": 0.5}


def call_for_runs(callback: Callback, *runs: FakeRun, epochs: int = 4) -> None:
    """Call a callback as the trainer does for these runs."""
    for run in runs:
        callback.on_run_start(run)
        for epoch in range(1, epochs + 1):
            callback.on_epoch_end(epoch, row(epoch))
        callback.on_run_end(RECORD)


def test_a_callback_overrides_only_what_it_needs():
    class Last(Callback):
        def on_epoch_end(self, epoch, row):
            self.seen = epoch, row["val"]

    last = Last()
    call_for_runs(last, FakeRun())
    last.close()
    assert last.seen == (4, 0.5)


def terminal() -> Console:
    return Console(file=StringIO(), force_terminal=True, width=120)


def counts(bars: ProgressBars) -> list[tuple[float, float | None]]:
    return [(task.completed, task.total) for task in bars.progress.tasks]


def test_bars_count_runs_and_epochs():
    bars = ProgressBars(3, 1, console=terminal())
    assert counts(bars)[0] == (1, 3)
    bars.on_run_start(FakeRun())
    assert counts(bars) == [(1, 3), (0, 4)]
    bars.on_epoch_end(1, row(1))
    assert counts(bars) == [(1.25, 3), (1, 4)]
    bars.on_run_end(RECORD)  # earlier than planned
    assert counts(bars) == [(2, 3), (1, 4)]
    bars.on_run_start(FakeRun(epochs=10))
    assert counts(bars) == [(2, 3), (0, 10)]
    bars.on_epoch_end(5, row(5))
    assert counts(bars) == [(2.5, 3), (5, 10)]
    bars.close()
    bars.close()  # may come twice


def test_bars_show_the_current_run():
    console = terminal()
    bars = ProgressBars(3, 1, console=console)
    bars.on_run_start(FakeRun(k=None, keep=0.25, seed=7, method="[random]"))
    bars.on_epoch_end(3, row(3))
    bars.close()
    shown = console.file.getvalue()
    for text in ("1/3", "3/4", "[random]-keep0.25-seed7", "val 0.3750"):
        assert text in shown
    assert "\x1b[2K" in shown[shown.rindex("val 0.3750") :]  # cleared at the end


def test_a_new_run_does_not_show_the_value_of_the_last_one():
    console = terminal()
    bars = ProgressBars(2, console=console)
    call_for_runs(bars, FakeRun())
    bars.progress.refresh()
    console.file.truncate(0)
    bars.on_run_start(FakeRun())
    bars.progress.refresh()
    assert "val" not in console.file.getvalue()
    bars.close()


def test_the_time_remaining_is_known_when_epochs_are_slow():
    bars = ProgressBars(2, console=terminal())
    clock = iter(range(0, 10**6, 60))
    bars.progress.get_time = lambda: 0.0
    bars.on_run_start(FakeRun())
    for number in range(1, 5):
        now = float(next(clock))
        bars.progress.get_time = lambda now=now: now
        bars.on_epoch_end(number, row(number))
        if number == 1:
            bars.progress.refresh()
            assert "left" not in bars.progress.console.file.getvalue()  # the first epoch loads kernels: it says nothing
    assert bars.progress.tasks[0].time_remaining == 240  # one run of four epochs is left, a minute each
    bars.progress.refresh()
    bars.close()
    assert "about 4 minutes left" in bars.progress.console.file.getvalue()


def test_bars_print_nothing_to_a_pipe(capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    for bars in (ProgressBars(2), ProgressBars(2, console=Console(file=sys.stderr, force_terminal=False))):
        call_for_runs(bars, FakeRun(), FakeRun())
        bars.close()
    assert capfd.readouterr() == ("", "")


def test_bars_do_not_redirect_a_piped_stdout(capsys):
    console = terminal()
    bars = ProgressBars(1, console=console)
    bars.on_run_start(FakeRun())
    print("a result")
    bars.close()
    assert capsys.readouterr().out == "a result\n"
    assert "a result" not in console.file.getvalue()


def on_a_terminal(**environment: str) -> str:
    """Return what progress bars draw on a terminal at stderr, with stdout in a pipe."""
    code = """
from types import SimpleNamespace
from lsprune.lab.training.callbacks import ProgressBars
bars = ProgressBars(3, 1)
bars.on_run_start(SimpleNamespace(method="lsp-projection", k=3, keep=None, seed=0, epochs=4))
bars.on_epoch_end(2, {"val": 0.5})
bars.close()
"""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    ours, theirs = os.openpty()
    settings = {**kept, "COLUMNS": "120", **environment}
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=theirs, env=settings, check=True)
    os.close(theirs)
    assert done.stdout == b""
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # Linux raises it when the other end is closed
        pass
    os.close(ours)
    return shown.decode()


def test_bars_show_on_a_terminal_and_colours_can_be_turned_off():
    coloured = on_a_terminal(TERM="xterm-256color")
    assert "1/3" in coloured and "lsp-projection-k3-seed0" in coloured and "val 0.5000" in coloured
    assert "\x1b[38;5;" in coloured
    plain = on_a_terminal(TERM="xterm-256color", NO_COLOR="1")
    assert "1/3" in plain and "\x1b[38;5;" not in plain
    assert on_a_terminal(TERM="dumb") == ""


@pytest.fixture
def read_events():
    pytest.importorskip("torch")
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    def read(folder):
        events = EventAccumulator(str(folder))
        events.Reload()
        return events

    return read


def scalars(events, tag: str) -> list[tuple[int, float]]:
    return [(event.step, event.value) for event in events.Scalars(tag)]


def test_tensorboard_has_every_epoch_of_each_run(tmp_path, read_events):
    board = TensorBoardLogger(tmp_path)
    call_for_runs(board, FakeRun(), FakeRun(method="unpruned", k=None, seed=2))
    board.close()
    folders = {str(path.parent.relative_to(tmp_path)) for path in tmp_path.rglob("events.*")}
    assert folders == {"cora/lsp-projection-k3-seed0-abc", "cora/unpruned-seed2-abc"}
    for folder in folders:
        events = read_events(tmp_path / folder)
        for tag in row(1):
            expected = [(number, pytest.approx(row(number)[tag])) for number in range(1, 5)]
            assert scalars(events, tag) == expected


def test_tensorboard_keeps_the_record_and_the_configuration(tmp_path, read_events):
    call_for_runs(TensorBoardLogger(tmp_path), FakeRun())
    events = read_events(tmp_path / "cora/lsp-projection-k3-seed0-abc")
    (text,) = events.Tensors("record/text_summary")
    body = text.tensor_proto.string_val[0].decode()
    assert json.loads(body.removeprefix("```json\n").removesuffix("\n```")) == RECORD
    final = {tag: events.Scalars(tag)[0].value for tag in events.Tags()["scalars"] if tag.startswith("final/")}
    numbers = ("test", "val", "share", "prune_seconds", "peak_bytes")
    assert final == {f"final/{name}": RECORD[name] for name in numbers}
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    kept = events.summary_metadata["_hparams_/session_start_info"].plugin_data.content
    options = HParamsPluginData.FromString(kept).session_start_info.hparams
    assert (
        options["method"].string_value == "lsp-projection" and options["k"].number_value == 3 and "keep" not in options
    )


def test_tensorboard_shows_an_interrupted_run_only_as_it_was_repeated(tmp_path, read_events):
    first = TensorBoardLogger(tmp_path)
    first.on_run_start(FakeRun())
    for number in range(1, 4):
        first.on_epoch_end(number, {"val": 9.0})
    first.close()
    first.close()  # may come twice
    (old,) = tmp_path.rglob("events.*")
    assert scalars(read_events(old.parent), "val") == [(1, 9.0), (2, 9.0), (3, 9.0)]
    old.rename(old.with_name("events.out.tfevents.0000000001.host.1.0"))  # from an earlier day
    call_for_runs(TensorBoardLogger(tmp_path), FakeRun(), epochs=2)
    assert scalars(read_events(old.parent), "val") == [(1, 0.125), (2, 0.25)]


def test_tensorboard_closes_every_writer_once(tmp_path, read_events, monkeypatch):
    from torch.utils import tensorboard

    closed = []

    class Recorded(tensorboard.SummaryWriter):
        def close(self):
            closed.append(Path(self.log_dir).name)
            super().close()

    monkeypatch.setattr(tensorboard, "SummaryWriter", Recorded)
    board = TensorBoardLogger(tmp_path)
    board.on_run_start(FakeRun())  # fails, so it has no end
    call_for_runs(board, FakeRun(seed=1))
    assert closed == ["lsp-projection-k3-seed0-abc", "lsp-projection-k3-seed1-abc"]
    board.on_run_start(FakeRun(seed=2))
    board.close()
    board.close()
    assert closed[2:] == ["lsp-projection-k3-seed2-abc"]


@pytest.fixture
def calls(monkeypatch):
    """Replace the module wandb by one that stores its calls."""
    stored = []

    def init(**options):
        number = len([call for call in stored if call[0] == "init"])
        stored.append(("init", options))
        return SimpleNamespace(
            log=lambda data, step: stored.append(("log", number, data, step)),
            summary=SimpleNamespace(update=lambda record: stored.append(("summary", number, record))),
            finish=lambda exit_code=0: stored.append(("finish", number, exit_code)),
        )

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    return stored


def test_wandb_gets_one_run_for_each(calls):
    logger, runs = WandbLogger("prunes"), (FakeRun(), FakeRun(seed=1, k=None, keep=0.5))
    call_for_runs(logger, *runs, epochs=2)
    logger.close()
    expected = []
    for number, (run, name) in enumerate(
        zip(runs, ("lsp-projection-k3-seed0", "lsp-projection-keep0.5-seed1"), strict=True)
    ):
        options = {"project": "prunes", "group": "one", "name": name, "config": asdict(run), "reinit": "create_new"}
        expected += [
            ("init", options), ("log", number, row(1), 1), ("log", number, row(2), 2),
            ("summary", number, RECORD), ("finish", number, 0),
        ]  # fmt: skip
    assert calls == expected


def test_wandb_marks_an_interrupted_run_as_failed(calls):
    logger = WandbLogger("prunes")
    logger.on_run_start(FakeRun())
    logger.close()
    logger.close()
    assert calls[1:] == [("finish", 0, 1)]


def test_wandb_marks_a_failed_run_when_the_next_begins(calls):
    logger = WandbLogger("prunes")
    logger.on_run_start(FakeRun())
    call_for_runs(logger, replace(FakeRun(), seed=1), epochs=1)
    assert [call[0] for call in calls] == ["init", "finish", "init", "log", "summary", "finish"]
    assert calls[1] == ("finish", 0, 1) and calls[-1] == ("finish", 1, 0)


@pytest.mark.parametrize(("package", "make"), [("tensorboard", TensorBoardLogger), ("wandb", WandbLogger)])
def test_a_missing_package_is_named_with_the_command_that_installs_it(package, make, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("torch.utils.tensorboard")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependency, match=rf"needs {package}: pip install 'lsprune\[track\]'"):
        make("there")
