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
from lsprune.lab.training.watchers import Bars, TensorBoard, WandB, Watcher


@dataclass(frozen=True)
class FakeRun:
    """What watchers use of a run."""

    study: str = "one"
    dataset: str = "cora"
    method: str = "lsp-p"
    k: int | None = 3
    keep: float | None = None
    seed: int = 0
    epochs: int = 4
    key = "abc"


RECORD = {"key": "abc", "test": 0.75, "val": 0.5, "share": 0.25, "prune_seconds": 0.125, "higher_is_better": True,
          "metric": "accuracy", "run": {"k": 3}, "peak_bytes": 2**20}  # fmt: skip


def row(number: int) -> dict[str, float]:
    return {"loss": 1 / number, "val": number / 8, "test": number / 16, "train_seconds": 2.0, "test_seconds": 0.5}


def watched(watcher: Watcher, *runs: FakeRun, epochs: int = 4) -> None:
    for run in runs:
        watcher.started(run)
        for number in range(1, epochs + 1):
            watcher.epoch(number, row(number))
        watcher.ended(RECORD)


def test_a_watcher_overrides_only_what_it_needs():
    class Last(Watcher):
        def epoch(self, number, row):
            self.seen = number, row["val"]

    last = Last()
    watched(last, FakeRun())
    last.close()
    assert last.seen == (4, 0.5)


def terminal() -> Console:
    return Console(file=StringIO(), force_terminal=True, width=120)


def counts(bars: Bars) -> list[tuple[float, float | None]]:
    return [(task.completed, task.total) for task in bars.progress.tasks]


def test_bars_count_runs_and_epochs():
    bars = Bars(3, 1, console=terminal())
    assert counts(bars)[0] == (1, 3)
    bars.started(FakeRun())
    assert counts(bars) == [(1, 3), (0, 4)]
    bars.epoch(1, row(1))
    assert counts(bars) == [(1.25, 3), (1, 4)]
    bars.ended(RECORD)  # earlier than planned
    assert counts(bars) == [(2, 3), (1, 4)]
    bars.started(FakeRun(epochs=10))
    assert counts(bars) == [(2, 3), (0, 10)]
    bars.epoch(5, row(5))
    assert counts(bars) == [(2.5, 3), (5, 10)]
    bars.close()
    bars.close()  # may come twice


def test_bars_say_what_is_running():
    console = terminal()
    bars = Bars(3, 1, console=console)
    bars.started(FakeRun(k=None, keep=0.25, seed=7, method="[random]"))
    bars.epoch(3, row(3))
    bars.close()
    shown = console.file.getvalue()
    for text in ("1/3", "3/4", "[random]-keep0.25-seed7", "val 0.3750"):
        assert text in shown
    assert "\x1b[2K" in shown[shown.rindex("val 0.3750") :]  # wiped away at the end


def test_a_new_run_starts_without_the_last_one_s_value():
    console = terminal()
    bars = Bars(2, console=console)
    watched(bars, FakeRun())
    bars.progress.refresh()
    console.file.truncate(0)
    bars.started(FakeRun())
    bars.progress.refresh()
    assert "val" not in console.file.getvalue()
    bars.close()


def test_the_time_remaining_is_known_when_epochs_are_slow():
    bars = Bars(2, console=terminal())
    clock = iter(range(0, 10**6, 60))
    bars.progress.get_time = lambda: 0.0
    bars.started(FakeRun())
    for number in range(1, 5):
        now = float(next(clock))
        bars.progress.get_time = lambda now=now: now
        bars.epoch(number, row(number))
    assert bars.progress.tasks[0].time_remaining == 240  # one run of four epochs is left, a minute each
    bars.close()


def test_bars_print_nothing_to_a_pipe(capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    for bars in (Bars(2), Bars(2, console=Console(file=sys.stderr, force_terminal=False))):
        watched(bars, FakeRun(), FakeRun())
        bars.close()
    assert capfd.readouterr() == ("", "")


def test_bars_leave_a_piped_stdout_alone(capsys):
    console = terminal()
    bars = Bars(1, console=console)
    bars.started(FakeRun())
    print("a result")
    bars.close()
    assert capsys.readouterr().out == "a result\n"
    assert "a result" not in console.file.getvalue()


def on_a_terminal(**environment: str) -> str:
    """What bars draw on a real terminal at stderr, with stdout in a pipe."""
    code = (
        "from types import SimpleNamespace as N; from lsprune.lab.training.watchers import Bars; bars = Bars(3, 1);"
        "bars.started(N(method='lsp-p', k=3, keep=None, seed=0, epochs=4)); bars.epoch(2, {'val': .5}); bars.close()"
    )
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
    except OSError:  # Linux says so when nobody is left at the other end
        pass
    os.close(ours)
    return shown.decode()


def test_bars_show_on_a_terminal_and_colours_can_be_turned_off():
    coloured = on_a_terminal(TERM="xterm-256color")
    assert "1/3" in coloured and "lsp-p-k3-seed0" in coloured and "val 0.5000" in coloured
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
    board = TensorBoard(tmp_path)
    watched(board, FakeRun(), FakeRun(method="none", k=None, seed=2))
    board.close()
    folders = {str(path.parent.relative_to(tmp_path)) for path in tmp_path.rglob("events.*")}
    assert folders == {"cora/lsp-p-k3-seed0-abc", "cora/none-seed2-abc"}
    for folder in folders:
        events = read_events(tmp_path / folder)
        for tag in row(1):
            expected = [(number, pytest.approx(row(number)[tag])) for number in range(1, 5)]
            assert scalars(events, tag) == expected


def test_tensorboard_keeps_the_record_and_the_configuration(tmp_path, read_events):
    watched(TensorBoard(tmp_path), FakeRun())
    events = read_events(tmp_path / "cora/lsp-p-k3-seed0-abc")
    (text,) = events.Tensors("record/text_summary")
    body = text.tensor_proto.string_val[0].decode()
    assert json.loads(body.removeprefix("```json\n").removesuffix("\n```")) == RECORD
    final = {tag: events.Scalars(tag)[0].value for tag in events.Tags()["scalars"] if tag.startswith("final/")}
    numbers = ("test", "val", "share", "prune_seconds", "peak_bytes")
    assert final == {f"final/{name}": RECORD[name] for name in numbers}
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    kept = events.summary_metadata["_hparams_/session_start_info"].plugin_data.content
    options = HParamsPluginData.FromString(kept).session_start_info.hparams
    assert options["method"].string_value == "lsp-p" and options["k"].number_value == 3 and "keep" not in options


def test_tensorboard_shows_an_interrupted_run_only_as_it_was_repeated(tmp_path, read_events):
    first = TensorBoard(tmp_path)
    first.started(FakeRun())
    for number in range(1, 4):
        first.epoch(number, {"val": 9.0})
    first.close()
    first.close()  # may come twice
    (old,) = tmp_path.rglob("events.*")
    assert scalars(read_events(old.parent), "val") == [(1, 9.0), (2, 9.0), (3, 9.0)]
    old.rename(old.with_name("events.out.tfevents.0000000001.host.1.0"))  # from an earlier day
    watched(TensorBoard(tmp_path), FakeRun(), epochs=2)
    assert scalars(read_events(old.parent), "val") == [(1, 0.125), (2, 0.25)]


def test_tensorboard_closes_every_writer_once(tmp_path, read_events, monkeypatch):
    from torch.utils import tensorboard

    closed = []

    class Recorded(tensorboard.SummaryWriter):
        def close(self):
            closed.append(Path(self.log_dir).name)
            super().close()

    monkeypatch.setattr(tensorboard, "SummaryWriter", Recorded)
    board = TensorBoard(tmp_path)
    board.started(FakeRun())  # fails: it has no end
    watched(board, FakeRun(seed=1))
    assert closed == ["lsp-p-k3-seed0-abc", "lsp-p-k3-seed1-abc"]
    board.started(FakeRun(seed=2))
    board.close()
    board.close()
    assert closed[2:] == ["lsp-p-k3-seed2-abc"]


@pytest.fixture
def calls(monkeypatch):
    """A module wandb that writes down what is asked of it."""
    made = []

    def init(**options):
        number = len([call for call in made if call[0] == "init"])
        made.append(("init", options))
        return SimpleNamespace(
            log=lambda data, step: made.append(("log", number, data, step)),
            summary=SimpleNamespace(update=lambda record: made.append(("summary", number, record))),
            finish=lambda exit_code=0: made.append(("finish", number, exit_code)),
        )

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    return made


def test_wandb_gets_one_run_for_each(calls):
    watcher, runs = WandB("prunes"), (FakeRun(), FakeRun(seed=1, k=None, keep=0.5))
    watched(watcher, *runs, epochs=2)
    watcher.close()
    expected = []
    for number, (run, name) in enumerate(zip(runs, ("lsp-p-k3-seed0", "lsp-p-keep0.5-seed1"), strict=True)):
        options = {"project": "prunes", "group": "one", "name": name, "config": asdict(run), "reinit": "create_new"}
        expected += [
            ("init", options), ("log", number, row(1), 1), ("log", number, row(2), 2),
            ("summary", number, RECORD), ("finish", number, 0),
        ]  # fmt: skip
    assert calls == expected


def test_wandb_marks_an_interrupted_run_as_failed(calls):
    watcher = WandB("prunes")
    watcher.started(FakeRun())
    watcher.close()
    watcher.close()
    assert calls[1:] == [("finish", 0, 1)]


def test_wandb_marks_a_failed_run_when_the_next_begins(calls):
    watcher = WandB("prunes")
    watcher.started(FakeRun())
    watched(watcher, replace(FakeRun(), seed=1), epochs=1)
    assert [call[0] for call in calls] == ["init", "finish", "init", "log", "summary", "finish"]
    assert calls[1] == ("finish", 0, 1) and calls[-1] == ("finish", 1, 0)


@pytest.mark.parametrize(("package", "make"), [("tensorboard", TensorBoard), ("wandb", WandB)])
def test_a_missing_package_is_told_with_the_command_that_installs_it(package, make, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("torch.utils.tensorboard")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependency, match=rf"needs {package}: pip install 'lsprune\[track\]'"):
        make("there")
