from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch_geometric")

import lsprune
from lsprune import FormatError, OptionError
from lsprune.cli import app
from lsprune.errors import Lacking
from lsprune.lab.studies import study as studies
from lsprune.lab.studies.methods import NAMES
from lsprune.lab.studies.result_files import Results
from lsprune.lab.studies.run import Run
from lsprune.lab.studies.study import Part, Study, read, run_study, status
from lsprune.lab.training import train as training

PART = Part(dataset="d", model="m", k=(1, 2), methods=("unpruned", "random", "lsp-projection"))
SMALL = Study(name="toy", title="t", parts=(PART,), seeds=2)


@pytest.fixture
def calls(monkeypatch):
    made = []

    def fake(run, *, device="cpu", data=None, callbacks=()):
        made.append(run)
        return {"key": run.key, "run": dataclasses.asdict(run)}

    monkeypatch.setattr(training, "train", fake)
    return made


PAPER = {"cora", "citeseer", "pubmed", "ppi", "github", "zinc", "qm9", "synthetic", "neighbourhood-variance"}


COMPARED = {"compare", "compare-graphs", "compare-points", "compare-seeds", "compare-synthetic"}


def test_every_study_reads_and_has_what_it_needs():
    assert set(studies.names()) == PAPER | {"computers", "consistency", "cs", "demo", *COMPARED}
    for name in studies.names():
        study = read(name)
        assert study.name == name
        assert study.seeds >= {"demo": 2, "compare-graphs": 3, "compare-synthetic": 3}.get(name, 5)
        for part in study.parts:
            methods = {method for one in study.parts if one.dataset == part.dataset for method in one.methods}
            assert {"random", "local-random"} <= methods
            assert any(method.startswith("lsp-") for method in methods)
            assert ("unpruned" in methods) == (name != "consistency") == (not part.pairs)
            assert bool(part.hops) == (name == "neighbourhood-variance")
            assert bool(part.model) == ("no-edges" in methods)
        keys = [run.key for run in study.runs()]
        assert len(set(keys)) == len(keys)
    assert len(read("qm9").parts[0].targets) == 12
    assert [part.dataset for part in read("neighbourhood-variance").parts] == ["cora", "citeseer", "pubmed"]


def test_runs_are_all_combinations_seed_by_seed():
    runs = SMALL.runs()
    assert [run.seed for run in runs] == [0] * 5 + [1] * 5
    assert [(run.method, run.k) for run in runs[:5]] == [
        ("unpruned", None), ("random", 1), ("random", 2), ("lsp-projection", 1), ("lsp-projection", 2),
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
    part = smoke.parts[0]
    assert (smoke.name, smoke.seeds) == ("qm9-smoke", 1)
    assert (part.epochs, len(part.k), len(part.targets), len(part.random_shares)) == (2, 1, 1, 1)
    assert not {run.key for run in smoke.runs()} & {run.key for run in read("qm9").runs()}


def test_a_part_of_a_study_has_the_same_keys():
    study = read("qm9")
    some = study.only(methods=["unpruned", "random"], targets=["mu", "gap"], k=[2])
    runs = some.runs(1)
    assert [(run.target, run.method, run.k) for run in runs] == [
        ("mu", "unpruned", None), ("mu", "random", 2), ("gap", "unpruned", None), ("gap", "random", 2),
    ]  # fmt: skip
    assert {run.key for run in runs} <= {run.key for run in study.runs()}
    assert {run.epochs for run in study.only(epochs=3).runs(1)} == {3}
    variance = read("neighbourhood-variance").only(datasets=["pubmed"])
    assert {run.dataset for run in variance.runs(1)} == {"pubmed"}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"methods": ["magic"]}, "methods must be some of none, no-edges, .* in study qm9, got 'magic'"),
        ({"targets": ["weight"]}, "target must be some of mu, alpha, .* got 'weight'"),
        ({"datasets": ["cora"]}, "dataset must be some of qm9 in study qm9, got 'cora'"),
        ({"k": [0]}, "k must be a list of whole numbers >= 1, got 0"),
    ],
)
def test_a_part_that_is_not_there_is_named(options, says):
    with pytest.raises(OptionError, match=says):
        read("qm9").only(**options)


def test_shares_are_budgets_too():
    part = Part(dataset="d", model="m", k=(1,), shares=(0.5,), random_shares=(0.25,), methods=NAMES)
    budgets: dict[str, list[tuple]] = {}
    for run in Study(name="s", title="t", parts=(part,)).runs(1):
        budgets.setdefault(run.method, []).append((run.k, run.keep))
    assert budgets["unpruned"] == budgets["no-edges"] == budgets["basic"] == [(None, None)]
    assert budgets["random"] == [(1, None), (None, 0.5), (None, 0.25)]
    assert budgets["lsp-projection"] == [(1, None), (None, 0.5)]
    assert budgets["lsp-threshold-published"] == [(1, None)]  # its signature needs k


def test_a_file_may_have_parts_that_share_keys(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        "title = 't'\nseeds = 2\nepochs = 7\nk = [1]\nmethods = ['unpruned']\n"
        "[[part]]\ndataset = 'cora'\nmodel = 'planetoid-gat'\n"
        "[[part]]\ndataset = 'cs'\nmodel = 'node-gat'\nepochs = 9\n"
    )
    study = read(str(path))
    assert (study.name, study.seeds) == ("mine", 2)
    assert [(run.dataset, run.model, run.epochs) for run in study.runs(1)] == [
        ("cora", "planetoid-gat", 7), ("cs", "node-gat", 9),
    ]  # fmt: skip


def test_what_a_dataset_lacks_is_skipped_and_said(monkeypatch, tmp_path):
    def fake(run, **_):
        if run.dataset == "bare":
            raise Lacking("dataset bare lacks labels")
        return {"key": run.key, "run": dataclasses.asdict(run)}

    monkeypatch.setattr(training, "train", fake)
    both = dataclasses.replace(SMALL, parts=(dataclasses.replace(PART, dataset="bare"), PART))
    now = run_study(both, Results(tmp_path / "toy.jsonl"))
    assert (now.total, now.done, now.skipped) == (20, 10, {"bare": "dataset bare lacks labels"})


def test_several_jobs_do_every_run_once(monkeypatch, tmp_path):
    monkeypatch.setattr(studies, "do_run", fake_run)
    results, told = Results(tmp_path / "toy.jsonl"), []
    now = run_study(SMALL, results, jobs=2, told=lambda run, record: told.append(run.key))
    assert now == studies.Status(total=10, done=10)
    assert sorted(told) == sorted(run.key for run in SMALL.runs())
    assert {record["jobs"] for record in results.read()} == {2}
    assert len({record["pid"] for record in results.read()} - {os.getpid()}) > 0
    with pytest.raises(OptionError, match="jobs must be a whole number >= 1, got 0"):
        run_study(SMALL, results, jobs=0)


def fake_run(run: Run, *, device: str, data: str | None) -> tuple:
    return run, 0.0, {"key": run.key, "run": dataclasses.asdict(run), "pid": os.getpid()}


STUDY_WITHOUT_END = """
import os, sys, threading
from lsprune.lab.studies.study import _side_by_side

def work(run):
    print(os.getpid(), flush=True)
    threading.Event().wait()

if __name__ == "__main__":
    list(_side_by_side(work, iter([1, 2]), (), 2))
"""


def test_processes_end_when_the_one_that_started_them_is_killed(tmp_path):
    (tmp_path / "endless.py").write_text(STUDY_WITHOUT_END)
    parent = subprocess.Popen([sys.executable, tmp_path / "endless.py"], stdout=subprocess.PIPE, text=True)
    workers = [int(parent.stdout.readline()) for _ in range(2)]
    try:
        parent.kill()
        parent.communicate(timeout=60)  # to the end of what they write: as long as one of them lives, there is none
    finally:
        for worker in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)


def test_an_error_in_another_process_stops_the_study(monkeypatch, tmp_path):
    monkeypatch.setattr(studies, "do_run", failing_run)
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
    with pytest.raises(OptionError, match="study toy, d none seed 0: no such thing"):
        run_study(SMALL, Results(tmp_path / "x.jsonl"))


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        (
            "title = 't'\ndataset = 'cora'\nmodel = 'm'\nk = [1]\nlearning_rate = 3\n",
            OptionError,
            "learning_rate is not a key",
        ),
        ("title = 't'\ndataset = 'cora'\nk = [1]\n", OptionError, "one of a model, hops and pairs must be given"),
        (
            "title = 't'\ndataset = 'd'\nmodel = 'm'\npairs = 3\nk = [1]\n",
            OptionError,
            "one of a model, hops and pairs must be given",
        ),
        ("title = 't'\ndataset = 'd'\npairs = -1\nk = [1]\n", OptionError, "pairs must be a whole number >= 0"),
        ("title = 't'\nmodel = 'm'\nk = [1]\n", OptionError, "dataset must be in the study file"),
        ("dataset = 'cora'\nmodel = 'm'\nk = [1]\n", OptionError, "title must be in the study file"),
        ("title = 't'\ndataset = 'cora'\nmodel = 'm'\nk = []\n", OptionError, "k or shares must be given"),
        ("title = 't'\ndataset = 'cora'\nmodel = 'm'\nk = ['a']\n", OptionError, "k must be a list of whole numbers"),
        ("title = 't'\ndataset = 'cora'\nmodel = 'm'\nk = 3\n", OptionError, "k must be a list in .* got 3"),
        ("title = 't'\ndataset = 'd'\nmodel = 'm'\nshares = [2.0]\n", OptionError, "shares must be numbers in"),
        ("title = 't'\ndataset = 'd'\nhops = [-1]\nk = [1]\n", OptionError, "hops must be whole numbers >= 0"),
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


ODD = [
    "5", "-1", "0", "1.5", "-0.0", "nan", "inf", "-inf", "9" * 400, "1e400", '"abc"', '""', '"\\u0000\\u001b"', "true",
    "[]", "[[]]", "[{}]", "{}", "{a = 1}", "[1, 'a']", "[true]", "[nan]", "['']", "[-1]", "[1e300]", "1979-05-27",
    "07:32:00", "[1979-05-27T07:32:00Z]", "[[[[1]]]]", '"' + "x" * 5000 + '"', "[" + "9" * 400 + "]",
]  # fmt: skip
FIELDS = [*(one.name for one in dataclasses.fields(Part)), *(one.name for one in dataclasses.fields(Study)), "part"]


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_of_any_other_kind_is_named_in_one_line(tmp_path, field):
    path = tmp_path / "mine.toml"
    whole = {"title": "'t'", "dataset": "'cora'", "model": "'m'", "k": "[1]"}
    for value in ODD:
        table = {**whole, field: value}
        path.write_text("".join(f"{name} = {one}\n" for name, one in table.items()), encoding="utf8")
        done = CliRunner().invoke(app, ["study", "status", str(path), "--out", str(tmp_path)])
        if done.exit_code == 0:
            assert done.stdout.startswith("mine: 0 of "), (field, value)
            continue
        assert isinstance(done.exception, SystemExit), (field, value, done.exception)
        assert done.exit_code == 1
        assert re.fullmatch(r"error: .*\n", done.stderr), (field, value)
        assert any(word in done.stderr for word in (field, "is not a key", "TOML")), (field, value, done.stderr)
        assert len(done.stderr) < 600
    assert {one.name for one in tmp_path.iterdir()} == {"mine.toml"}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"title = 't'\nseeds = 'abc'\n", "seeds must be a whole number in"),
        (b"title = 't'\nseeds = 100000000000\n", "seeds must be a whole number in"),
        (b"title = 't'\npart = 5\n", "part must be one or more tables"),
        (b"title = 't'\npart = []\n", "part must be one or more tables"),
        (b"title = 't'\n[part]\nk = [1]\n", "part must be one or more tables"),
        (b"title = '\xff\xfe'\n", "mine.toml is not a TOML file in UTF-8"),
        (b"title = 't'\nk = " + b"[" * 5000, "is not a TOML file"),
        (b"title = 't'\nk" + b".a" * 3000 + b" = 1\n", "k must be a list"),
        (b"title = 't'\n" + b"k = 1\n" * 2, "is not a TOML file"),
        (b"\x00", "is not a TOML file"),
        (b"", "title must be in the study file"),
    ],
    ids=range(11),
)
def test_study_files_that_are_none(tmp_path, content, says):
    path = tmp_path / "mine.toml"
    head = b"" if not content.startswith(b"title") else b"dataset = 'd'\nmodel = 'm'\n"
    if b"k" not in content:
        head += b"k = [1]\n" if head else b""
    path.write_bytes(head + content)
    for command in ("run", "status"):
        done = CliRunner().invoke(app, ["study", command, str(path), "--out", str(tmp_path)])
        assert done.exit_code == 1 and isinstance(done.exception, SystemExit), done.exception
        assert says in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_fields_are_checked_in_python_too():
    odd = {"lr": 0, "k": "12", "k ": [1.5], "epochs": 2**40, "targets": ("",), "schedule": ["cosine"]}
    for field, value in odd.items():
        with pytest.raises(OptionError, match=f"{field.strip()} must be"):
            dataclasses.replace(PART, **{field.strip(): value})
    for seeds in (0, -1, 1.5, "3", True, 10**9):
        with pytest.raises(OptionError, match="seeds must be"):
            SMALL.runs(seeds)


@pytest.mark.parametrize("more", [[], ["--jobs", "2"]])
def test_without_torch_the_command_to_install_it_is_named(tmp_path, more):
    code = "import sys; sys.modules['torch'] = None; from lsprune.cli import main; main()"
    command = [sys.executable, "-c", code, "study", "run", "demo", "--smoke", "--out", str(tmp_path / "r"), *more]
    env = {**os.environ, "PYTHONPATH": str(Path(lsprune.__file__).parents[1])}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: lsprune.lab needs PyTorch Geometric: pip install 'lsprune[gnn]'\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("k", ["²", "٣", "9" * 400, "-1", "0", "1.5", "1e3", "nan"])
def test_a_k_that_is_no_number(tmp_path, k):
    done = CliRunner().invoke(app, ["study", "status", "demo", f"--k={k}", "--out", str(tmp_path)])
    assert (done.exit_code, done.stdout) == (1, "")
    assert re.fullmatch(r"error: k must be .*\n", done.stderr)
    assert len(done.stderr) < 600
