from __future__ import annotations

import dataclasses

import pytest

pytest.importorskip("torch_geometric")

from lsprune import FormatError, OptionError
from lsprune.lab import study as studies
from lsprune.lab import train as training
from lsprune.lab.results import Results
from lsprune.lab.study import Study, read, run_study, status

SMALL = Study(name="toy", title="t", dataset="d", model="m", k=(1, 2), methods=("none", "random", "lsp-p"), seeds=2)


@pytest.fixture
def calls(monkeypatch):
    made = []

    def fake(run, *, device="cpu", data=None, progress=None):
        made.append(run)
        return {"key": run.key, "run": dataclasses.asdict(run)}

    monkeypatch.setattr(training, "train", fake)
    return made


def test_every_study_reads_and_has_what_it_needs():
    expected = {"cora", "citeseer", "pubmed", "ppi", "github", "zinc", "qm9", "synthetic", "computers", "cs"}
    assert set(studies.names()) == expected
    for name in studies.names():
        study = read(name)
        assert study.name == name
        assert study.seeds >= 5
        assert {"none", "no-edges", "random", "local-random", "lsp-p", "lsp-t"} <= set(study.methods)
        keys = [run.key for run in study.runs()]
        assert len(set(keys)) == len(keys)
    assert len(read("qm9").targets) == 12


def test_runs_are_all_combinations_seed_by_seed():
    runs = SMALL.runs()
    assert [run.seed for run in runs] == [0] * 5 + [1] * 5
    assert [(run.method, run.k) for run in runs[:5]] == [
        ("none", None), ("random", 1), ("random", 2), ("lsp-p", 1), ("lsp-p", 2),
    ]  # fmt: skip


def test_a_stopped_study_goes_on_and_does_nothing_twice(calls, tmp_path):
    results = Results(tmp_path / "toy.jsonl")

    def stop(run, record):
        if len(calls) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(SMALL, results, told=stop)
    assert status(SMALL, results) == studies.Status(total=10, done=4)
    assert run_study(SMALL, results) == studies.Status(total=10, done=10)
    assert len(calls) == len({run.key for run in calls}) == 10
    run_study(SMALL, results)
    assert len(calls) == 10
    assert run_study(SMALL, results, seeds=3).done == 15


def test_the_budget_leaves_the_rest_for_later(calls, tmp_path, monkeypatch):
    clock = iter(range(0, 10**6, 10))  # every look at the clock is ten seconds later
    monkeypatch.setattr(studies.time, "monotonic", lambda: next(clock))
    results = Results(tmp_path / "toy.jsonl")
    first = run_study(SMALL, results, budget=100)
    assert 0 < first.done < 10
    assert run_study(SMALL, results, budget=100).done > first.done


def test_smoke_is_small_and_kept_apart():
    smoke = read("qm9").smoke()
    assert smoke.name == "qm9-smoke"
    assert (smoke.seeds, smoke.epochs, len(smoke.k), len(smoke.targets)) == (1, 2, 1, 1)


def test_an_error_says_which_run(monkeypatch, tmp_path):
    def fails(run, **_):
        raise OptionError("no such thing")

    monkeypatch.setattr(training, "train", fails)
    with pytest.raises(OptionError, match="study toy, none k=None seed=0: no such thing"):
        run_study(SMALL, Results(tmp_path / "x.jsonl"))


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        (
            "title = 't'\ndataset = 'cora'\nmodel = 'm'\nk = [1]\nlearning_rate = 3\n",
            OptionError,
            "learning_rate is not a key",
        ),
        ("title = 't'\ndataset = 'cora'\nk = [1]\n", OptionError, "model must be in the study file"),
        ("title = 't'\ndataset = 'cora'\nmodel = 'm'\nk = []\n", OptionError, "k must be a list of whole numbers"),
        ("title = 't'\ndataset = 'd'\nmodel = 'm'\nk = [1]\nmethods = ['x']\n", OptionError, "methods must be some of"),
        ("title = ", FormatError, "is not a TOML file"),
    ],
)
def test_bad_study_files_are_named(text, error, says, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(error, match=says):
        read(str(path))


def test_unknown_studies_are_named():
    with pytest.raises(OptionError, match="study must be one of citeseer, .* got 'imagenet'"):
        read("imagenet")
