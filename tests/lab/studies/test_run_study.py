from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch_geometric")

import lsprune
from lsprune import FormatError, OptionError
from lsprune.errors import DatasetNotFound, Lacking
from lsprune.lab.studies import run_study as running
from lsprune.lab.studies.result_files import Results
from lsprune.lab.studies.run import Run
from lsprune.lab.studies.run_study import Status, run_study, status
from lsprune.lab.studies.study import Part, Study
from lsprune.lab.training import train as training

PART = Part(dataset="d", model="m", k=(1, 2), methods=("unpruned", "random", "lsp-projection"))
SMALL = Study(name="toy", title="t", parts=(PART,), seeds=2)


@pytest.fixture
def calls(monkeypatch):
    made = []

    def fake(run, *, device="cpu", data=None, callbacks=()):
        made.append(run)
        return {"key": run.key, "run": run.to_dict()}

    monkeypatch.setattr(training, "train", fake)
    return made


def test_a_stopped_study_goes_on_and_does_nothing_twice(calls, tmp_path):
    results = Results(tmp_path / "toy.jsonl")

    def stop(run, record):
        if len(calls) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(SMALL, results, on_record=stop)
    assert status(SMALL, results) == Status(total=10, done=4)
    assert run_study(SMALL, results) == Status(total=10, done=10)
    assert len(calls) == len({run.key for run in calls}) == 10
    run_study(SMALL, results)
    assert len(calls) == 10
    assert run_study(SMALL, results, seeds=3).done == 15


def test_the_budget_leaves_the_rest_for_later(calls, tmp_path, monkeypatch):
    clock = iter(range(0, 10**6, 10))  # every look at the clock is ten seconds later
    monkeypatch.setattr(running.time, "monotonic", lambda: next(clock))
    results = Results(tmp_path / "toy.jsonl")
    first = run_study(SMALL, results, budget=100)
    assert 0 < first.done < 10
    assert run_study(SMALL, results, budget=100).done > first.done


def test_what_a_dataset_lacks_is_skipped_and_said(monkeypatch, tmp_path):
    def fake(run, **_):
        if run.dataset == "bare":
            raise Lacking("dataset bare lacks labels")
        return {"key": run.key, "run": run.to_dict()}

    monkeypatch.setattr(training, "train", fake)
    both = dataclasses.replace(SMALL, parts=(dataclasses.replace(PART, dataset="bare"), PART))
    now = run_study(both, Results(tmp_path / "toy.jsonl"))
    assert (now.total, now.done, now.skipped) == (20, 10, {"bare": "dataset bare lacks labels"})


def test_a_missing_dataset_is_an_error_or_skipped_as_asked(monkeypatch, tmp_path):
    def fake(run, **_):
        if run.dataset == "away":
            raise DatasetNotFound("dataset away was not found")
        return {"key": run.key, "run": run.to_dict()}

    monkeypatch.setattr(training, "train", fake)
    both = dataclasses.replace(SMALL, parts=(dataclasses.replace(PART, dataset="away"), PART))
    with pytest.raises(DatasetNotFound, match="study toy, away .*: dataset away was not found"):
        run_study(both, Results(tmp_path / "toy.jsonl"))
    now = run_study(both, Results(tmp_path / "toy.jsonl"), skip_missing_datasets=True)
    assert (now.total, now.done, now.skipped) == (20, 10, {"away": "dataset away was not found"})


def test_several_jobs_do_every_run_once(monkeypatch, tmp_path):
    monkeypatch.setattr(running, "do_run", fake_run)
    results, keys = Results(tmp_path / "toy.jsonl"), []
    now = run_study(SMALL, results, jobs=2, on_record=lambda run, record: keys.append(run.key))
    assert now == Status(total=10, done=10)
    assert sorted(keys) == sorted(run.key for run in SMALL.runs())
    assert {record["jobs"] for record in results.read()} == {2}
    assert len({record["pid"] for record in results.read()} - {os.getpid()}) > 0
    with pytest.raises(OptionError, match="jobs must be a whole number >= 1, got 0"):
        run_study(SMALL, results, jobs=0)


def fake_run(run: Run, *, device: str, data: str | None) -> tuple:
    return run, 0.0, {"key": run.key, "run": run.to_dict(), "pid": os.getpid()}


STUDY_WITHOUT_END = """
import os, sys, threading
from lsprune.lab.studies.run_study import _in_parallel

def work(run):
    print(os.getpid(), flush=True)
    threading.Event().wait()

if __name__ == "__main__":
    list(_in_parallel(work, iter([1, 2]), (), 2))
"""


def test_processes_end_when_the_one_that_started_them_is_killed(tmp_path):
    (tmp_path / "endless.py").write_text(STUDY_WITHOUT_END)
    parent = subprocess.Popen([sys.executable, tmp_path / "endless.py"], stdout=subprocess.PIPE, text=True)
    workers = [int(parent.stdout.readline()) for _ in range(2)]
    try:
        parent.kill()
        parent.communicate(timeout=60)  # raises TimeoutExpired as long as a worker lives and could write
        assert parent.returncode == -signal.SIGKILL
    finally:
        for worker in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)


@pytest.mark.usefixtures("ctrl_c")
def test_runs_in_progress_end_when_the_study_is_interrupted(tmp_path):
    (tmp_path / "endless.py").write_text(STUDY_WITHOUT_END)
    program = [sys.executable, tmp_path / "endless.py"]
    parent = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    workers = [int(parent.stdout.readline()) for _ in range(2)]
    try:
        parent.send_signal(signal.SIGINT)  # to this process alone
        parent.communicate(timeout=60)
        assert parent.returncode not in (0, None)
    finally:
        for process in (parent.pid, *workers):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def test_an_error_in_another_process_stops_the_study(monkeypatch, tmp_path):
    monkeypatch.setattr(running, "do_run", failing_run)
    with pytest.raises(OptionError, match="study toy, d random k=2 seed 0: no such thing"):
        run_study(SMALL, Results(tmp_path / "toy.jsonl"), jobs=2)


def failing_run(run: Run, *, device: str, data: str | None) -> tuple:
    if (run.method, run.k) == ("random", 2):
        return run, 0.0, OptionError("no such thing")
    return fake_run(run, device=device, data=data)


def test_an_error_says_which_run(monkeypatch, tmp_path):
    def fails(run, **_):
        raise OptionError("no such thing")

    monkeypatch.setattr(training, "train", fails)
    with pytest.raises(OptionError, match="study toy, d unpruned seed 0: no such thing"):
        run_study(SMALL, Results(tmp_path / "x.jsonl"))


@pytest.mark.parametrize("more", [[], ["--jobs", "2"]])
def test_without_torch_the_command_to_install_it_is_named(tmp_path, more):
    code = "import sys; sys.modules['torch'] = None; from lsprune.cli import main; main()"
    command = [sys.executable, "-c", code, "study", "run", "demo", "--smoke", "--out", str(tmp_path / "r"), *more]
    env = {**os.environ, "PYTHONPATH": str(Path(lsprune.__file__).parents[1])}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: lsprune.lab needs PyTorch Geometric: pip install 'lsprune[gnn]'\n"
    assert not list(tmp_path.iterdir())


def test_results_of_an_older_version_are_not_mixed_with_new_ones(calls, tmp_path):
    results = Results(tmp_path / "toy.jsonl")
    run_study(SMALL, results)
    results.path.write_text(results.path.read_text().replace('"pruner": ', '"sparsity": '))
    before = results.path.read_bytes()
    with pytest.raises(FormatError, match=r"toy\.jsonl, line 1 was written by lsprune 0\.1\.0.*upgrade_results"):
        run_study(SMALL, results)
    assert results.path.read_bytes() == before and len(calls) == 10
