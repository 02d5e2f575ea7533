"""`lsprune study`: the studies, how far they are, and the page of results."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from lab_records import comparison, save
from typer.testing import CliRunner

from lsprune.cli import app


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
    assert state.stdout == "cora: 0 of 19 runs, 19 to do; the same command goes on\n"
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


def test_a_page_is_made_of_the_results(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    save(comparison(), tmp_path / "results" / "compare.jsonl")
    options = ("study", "page", "--results", tmp_path / "results", "--out", tmp_path / "docs")
    written = json.loads(good(*options, "--json").stdout)
    assert written == [str(tmp_path / "docs" / name) for name in ("results/compare-cora.svg", "results.md")]
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
