"""`lsprune study`: the studies, how far they are, and the page of results."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from lab_records import comparison, save
from report_page import page_content
from typer.testing import CliRunner

from lsprune import PRUNERS, LocalRandom
from lsprune.cli import app
from lsprune.cli.study import parse_seconds, split_methods
from lsprune.errors import OptionError


def run(*arguments: object) -> object:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def good(*arguments: object) -> object:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def test_studies_are_listed_and_their_state_is_told(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric")
    listed = json.loads(CliRunner().invoke(app, ["study", "list", "--json"]).stdout)
    assert listed["cora"] == "Node classification on Cora"
    state = CliRunner().invoke(app, ["study", "status", "cora", "--out", str(tmp_path), "--seeds", "1", "--k", "1,2"])
    assert state.stdout == "cora: 0 of 19 runs, 19 to do; run the same command again to continue\n"
    for command, says in (
        (["study", "status", "imagenet"], "study must be one of"),
        (["study", "run", "cora", "--budget", "soon"], "budget must be a time such as 90s, 9m or 2h, got 'soon'"),
        (["study", "run", "cora", "--data", str(tmp_path), "--out", str(tmp_path)], "cora"),
    ):
        wrong = CliRunner().invoke(app, command)
        assert wrong.exit_code == 1
        assert wrong.stderr.startswith("error: ")
        assert says in wrong.stderr
        assert wrong.stderr.count("\n") == 1


def test_all_studies_go_on_past_a_missing_dataset_and_sum_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch_geometric")
    from lsprune.lab.studies import study_files

    monkeypatch.setattr(study_files, "names", lambda: ("cora", "citeseer"))
    options = ("--smoke", "--data", tmp_path, "--out", tmp_path / "results")
    first, second, summary = good("study", "run", "all", *options).stdout.splitlines()
    assert first.startswith("cora-smoke: 0 of ") and "skipped: dataset cora was not found" in first
    assert second.startswith("citeseer-smoke: 0 of ")
    assert re.fullmatch(r"2 studies: 0 of \d+ runs; skipped datasets: cora, citeseer", summary)
    reports = json.loads(good("study", "run", "all", *options, "--json").stdout)
    assert [list(report["skipped"]) for report in reports] == [["cora"], ["citeseer"]]


def test_shares_and_models_take_a_part_of_a_study(tmp_path: Path) -> None:
    slice_of = ("study", "status", "choose", "--out", tmp_path, "--datasets", "cora,ppi", "--shares", "0.1, 0.25")
    assert "0 of 54 runs" in good(*slice_of, "--models", "node-gat-skip").stdout  # 3 seeds, 2 references, 8 methods
    two = good(*slice_of, "--models", "node-gat-skip,node-sage-skip", "--methods", "unpruned,random", "--seeds", "2")
    assert "0 of 18 runs" in two.stdout  # 3 pairs of a graph and a model, 2 seeds, 3 runs each
    for option, value, says in (
        ("--shares", "0.2", "shares must be some of 0.1, 0.25, 0.05, 0.5 in study choose, got 0.2"),
        ("--shares", "much", "shares must be comma-separated numbers in (0, 1]"),
        ("--models", "gat", "models must be some of node-gat-skip, ppi-gat, node-sage-skip"),
    ):
        assert says in run("study", "status", "choose", "--out", tmp_path, option, value).stderr


def test_lists_of_methods_may_have_commas_in_brackets() -> None:
    assert split_methods(" a,(lsp:hash=signs,weights=degree), b,") == ["a", "(lsp:hash=signs,weights=degree)", "b"]
    assert split_methods("") == []
    with pytest.raises(OptionError, match="brackets must match"):
        split_methods("(lsp:hash=signs")


def test_times_have_units() -> None:
    assert [parse_seconds(text) for text in ("90s", "1.5m", "2h", "7")] == [90, 90, 7200, 7]
    for wrong in ("", "m", "-1s", "nan", "infh", "2d"):
        with pytest.raises(OptionError, match="budget must be a time such as"):
            parse_seconds(wrong)


MINE = """
title = "Mine"
dataset = "synthetic-small"
model = "synthetic-gat-small"
k = [2]
seeds = 3
epochs = 2
limit = 8
lr = 0.005
batch_size = 16
methods = [
    { name = "whole graph" },
    { name = "empty", pruner = "no-edges" },
    { name = "chance", pruner = "random" },
    { name = "near", pruner = "local-random" },
    { name = "mine", pruner = "lsp", hash = "signs:bits=4" },
    { name = "mine, out", pruner = "lsp", hash = "signs:bits=4", side = "out" },
    "(lsp:hash=identity,select=bottom)",
    { name = "plugin", pruner = "last-edges", offset = 1 },
]
"""


@dataclass(frozen=True, kw_only=True, repr=False)
class LastEdges(LocalRandom):
    """A pruner of a user, with an option of its own."""

    name = "last-edges"
    about = "other random neighbours"
    offset: int = 0


def test_a_study_of_ones_own_methods_runs_and_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch_geometric")
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(PRUNERS, "_classes", dict(PRUNERS))  # forget it afterwards
    PRUNERS.add(LastEdges)
    monkeypatch.chdir(tmp_path)
    Path("compare-mine.toml").write_text(MINE)
    some = ("--methods", "mine,(lsp:hash=identity,select=bottom)", "--seeds", 1)
    state = json.loads(good("study", "run", "compare-mine.toml", *some, "--json").stdout)
    assert (state["total"], state["done"]) == (2, 2)
    state = json.loads(good("study", "run", "compare-mine.toml", "--json").stdout)
    assert (state["total"], state["done"]) == (24, 24)
    lines = [json.loads(line) for line in Path("results/compare-mine.jsonl").read_text().splitlines()]
    (line,) = [line for line in lines if (line["run"]["method"], line["run"]["seed"]) == ("plugin", 0)]
    assert line["run"]["pruner"] == {"pruner": "last-edges", "offset": 1}
    assert line["pruner"]["offset"] == 1
    monkeypatch.undo()  # reports need no pruner
    monkeypatch.chdir(tmp_path)
    good("study", "page", "--out", "docs")
    page = Path("docs/comparison.md").read_text() + Path("docs/by-dataset.md").read_text()
    assert "](by-dataset.md#compare-mine-synthetic-small) | mine, out | mine | " in page  # who decides on an edge
    assert "- unpruned: 0." in page and "- no edges: 0." in page
    assert "| against chance |" in page and "| against near |" in page
    gains = page[page.index("| against chance |") : page.index("| against near |")]
    assert "| mine |" in gains and "| lsp:hash=identity,select=bottom |" in gains
    assert "| plugin |" not in gains and "| mine, out |" not in gains
    shown = json.loads(good("report", "results", "--json").stdout)
    assert shown["studies"] == ["compare-mine"]
    data = page_content(Path(shown["path"]).read_text(encoding="utf8"))
    methods = {method["name"]: method for method in data["comparisons"][0]["methods"]}
    assert {name: method["group"] for name, method in methods.items()} == {
        "chance": "random", "near": "random", "mine": "lsp", "mine, out": "lsp",
        "lsp:hash=identity,select=bottom": "lsp", "plugin": "other",
    }  # fmt: skip
    assert (methods["mine"]["side"], methods["mine, out"]["side"]) == ("in", "out")
    assert [reference["role"] for reference in data["comparisons"][0]["references"]] == ["unpruned", "no-edges"]


def test_the_study_of_shared_budgets_runs_without_data_and_goes_on(tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("torch_geometric")
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LSPRUNE_DATA", raising=False)
    options = ("hetero", "--smoke", "--datasets", "hetero-small", "--out", "results", "--json")
    some = json.loads(good("study", "run", *options, "--methods", "unpruned,shared-lsp-auto").stdout)
    assert (some["total"], some["done"]) == (2, 2)
    state = json.loads(good("study", "run", *options).stdout)
    assert (
        (state["total"], state["done"])
        == (10, 10)
        == (json.loads(good("study", "status", *options).stdout)["done"], 10)
    )
    path = Path("results/hetero-smoke.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len({line["key"] for line in lines}) == len(lines) == 10
    shares = {line["run"]["method"]: line["share"] for line in lines}
    assert (shares.pop("unpruned"), shares.pop("no-edges")) == (1, 0)
    assert all(share == pytest.approx(0.1, abs=0.001) for share in shares.values())
    path.rename("results/hetero.jsonl")
    good("study", "page", "--out", "docs")
    assert "### Study hetero" in Path("docs/by-dataset.md").read_text()
    assert json.loads(good("report", "results", "--json").stdout)["studies"] == ["hetero"]
    wrong = run("study", "run", "hetero", "--smoke", "--datasets", "acm", "--out", "results")
    assert wrong.exit_code == 1 and "dataset acm cannot be downloaded" in wrong.stderr


def test_a_page_is_made_of_the_results(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    save(comparison(), tmp_path / "results" / "compare.jsonl")
    options = ("study", "page", "--results", tmp_path / "results", "--out", tmp_path / "docs")
    written = json.loads(good(*options, "--json").stdout)
    names = ("results/compare-cora.svg", "comparison.md", "by-dataset.md", "results.md")
    assert written == [str(tmp_path / "docs" / name) for name in names]
    assert all(Path(path).stat().st_size for path in written)
    assert "".join(good(*options).stdout.split()).endswith("results.md;figures:1")
    (tmp_path / "results" / "compare.jsonl").write_text("{\n")
    wrong = run(*options)
    assert (wrong.exit_code, wrong.stdout) == (1, "")
    assert re.fullmatch(r"error: .*compare\.jsonl, line 1 is damaged.*\n", wrong.stderr)
    absent = run("study", "page", "--results", tmp_path / "nowhere", "--out", tmp_path / "new")
    assert re.fullmatch(r"error: results must be files or folders that exist, got .*nowhere\n", absent.stderr)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("k", ["²", "٣", "9" * 400, "-1", "0", "1.5", "1e3", "nan"])
def test_a_k_that_is_no_number(tmp_path, k):
    done = CliRunner().invoke(app, ["study", "status", "demo", f"--k={k}", "--out", str(tmp_path)])
    assert (done.exit_code, done.stdout) == (1, "")
    assert re.fullmatch(r"error: k must be .*\n", done.stderr)
    assert len(done.stderr) < 600
