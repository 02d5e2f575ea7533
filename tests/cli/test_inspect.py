"""`lsprune inspect`: what it prints, plots and refuses, without torch."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from own_files import EDGES, NODES, arrays, npz, tables
from typer.testing import CliRunner

from lsprune.cli import app
from lsprune.lab.survey import METHODS


def run(*words: object) -> object:
    return CliRunner().invoke(app, ["inspect", *map(str, words)])


def good(*words: object) -> object:
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result


def test_the_graph_and_what_would_be_kept(tmp_path: Path) -> None:
    path = npz(tmp_path / "g.npz")
    said = json.loads(good(path, "--methods", "lsp,random", "--shares", "0.25,0.5", "--json").stdout)
    assert (said["graph"]["shape"]["nodes"], said["graph"]["shape"]["edges"]) == (NODES, EDGES)
    assert (said["graph"]["kind"], said["graph"]["classes"]) == ("directed", 2)
    assert [(one["method"], one["share"]) for one in said["methods"]] == [
        ("lsp", 0.25), ("lsp", 0.5), ("random", 0.25), ("random", 0.5),
    ]  # fmt: skip
    shown = good(path, "--methods", "lsp,random", "--shares", "0.25,0.5")
    assert shown.stderr == ""
    for words in ("60", "400, directed", "vectors of 5", "2 classes, 60 nodes labelled", "one class: kept edges"):
        assert words in shown.stdout
    assert re.search(r"lsp +│ +25\.0% │", shown.stdout)
    assert f"loss of accuracy, train: lsprune compare {path} --methods lsp-auto,local-random" in shown.stdout
    assert max(len(line) for line in shown.stdout.splitlines() if "│" in line) <= 80


def test_a_task_says_that_whole_floats_are_classes(tmp_path: Path) -> None:
    path = npz(tmp_path / "g.npz", y=np.arange(NODES) % 3 * 1.0)
    words = ("--methods", "random", "--shares", "0.5")
    shown = good(path, *words)
    assert "numbers, 60 nodes labelled" in shown.stdout and "whole numbers stored as floats" in shown.stderr
    shown = good(path, "--task", "node-classification", *words)
    assert "3 classes, 60 nodes labelled" in shown.stdout and shown.stderr == ""
    assert "--task node-classification" in shown.stdout.partition("train: ")[2]


def test_the_name_of_the_baseline_is_explained_where_it_is_shown(tmp_path: Path) -> None:
    path, note = npz(tmp_path / "g.npz"), "local-random: k random neighbours per owner"
    assert note in good(path, "--methods", "local-random", "--shares", "0.5").stdout
    assert note not in good(path, "--methods", "random", "--shares", "0.5").stdout


@pytest.mark.parametrize(
    ("edges", "shares", "kept"),
    [
        ([[0, 1], [1, 2]], "0.1,0.25,0.5", ["0.0%", "50.0%"]),
        ([[0], [1]], "0.1,0.25,0.5", ["0.0%", "100.0%"]),
        (np.arange(10000).reshape(2, 5000), "0.1,0.1004", ["10.00%", "10.04%"]),
    ],
)
def test_no_two_rows_of_a_method_have_the_same_percentage(tmp_path: Path, edges: object, shares: str, kept: list[str]):
    np.savez(tmp_path / "tiny.npz", edge_index=np.array(edges))
    words = (tmp_path / "tiny.npz", "--methods", "random,lsp-identity", "--shares", shares)
    shown = good(*words).stdout
    for method in ("random", "lsp-identity"):
        assert re.findall(rf"^│ {method} +│ +(\S+) │", shown, re.MULTILINE) == kept
    assert len(json.loads(good(*words, "--json").stdout)["methods"]) == 2 * len(kept)


def test_the_methods_by_default_are_the_librarys() -> None:
    assert f"(default: {', '.join(METHODS)})" in (Path(__file__).parents[2] / "docs/cli.md").read_text()
    assert "lsp-auto" in METHODS  # which is what it suggests


def test_without_attributes_and_labels(tmp_path: Path) -> None:
    np.savez(tmp_path / "bare.npz", edge_index=arrays()["edge_index"])
    shown = good(tmp_path / "bare.npz", "--shares", "0.5").stdout
    assert "lsp-identity" in shown and "lsp-projection" not in shown and "one class" not in shown
    assert "loss of accuracy, train (needs labels: --label or --labels): lsprune compare" in shown


def test_stability_is_asked_for(tmp_path: Path) -> None:
    path = npz(tmp_path / "g.npz")
    options = ("--methods", "lsp", "--shares", "0.5", "--json")
    assert json.loads(good(path, *options).stdout)["methods"][0]["noise"] is None
    assert 0 < json.loads(good(path, *options, "--stability").stdout)["methods"][0]["noise"] <= 1
    assert "same: share of" in good(path, "--methods", "lsp", "--shares", "0.5", "--stability").stdout


def test_a_plot_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = npz(tmp_path / "g.npz")
    said = json.loads(good(path, "--methods", "lsp", "--plot", tmp_path / "p.svg", "--json").stdout)
    assert said["plot"] == str(tmp_path / "p.svg")
    assert "<svg" in (tmp_path / "p.svg").read_text()


def test_the_suggested_command_has_the_options_that_were_given(tmp_path: Path) -> None:
    edges, nodes = tables(tmp_path, my_label=arrays()["y"])
    said = json.loads(good(edges, "--features", nodes, "--label", "my_label", "--methods", "random", "--json").stdout)
    assert said["next"].startswith(f"lsprune compare {edges} --features {nodes} --label my_label --methods ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--methods", "magic"), "methods must be some of .*, got 'magic'"),
        (("--methods", "unpruned"), "methods must be pruners with a share that prune once, got 'unpruned'"),
        (("--shares", "0"), r"shares must be comma-separated numbers in \(0, 1\].*, got '0'"),
        (("--plot", "p.gif"), r"plot must be a file with the suffix .*, got p\.gif"),
        (("--label", "kind"), "label must be a name in .*, got 'kind'"),
        (("--edge-attr", "w"), "no column 'w'"),
    ],
)
def test_one_line_of_error(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    wrong = run(npz(tmp_path / "g.npz"), *options)
    assert (wrong.exit_code, wrong.stdout) == (1, "")
    assert re.fullmatch(rf"error: .*{said}.*\n", wrong.stderr), wrong.stderr


def test_no_torch_is_needed(tmp_path: Path) -> None:
    path = npz(tmp_path / "g.npz")
    code = "import sys; sys.modules['torch'] = None; from lsprune.cli import main; main()"
    command = [sys.executable, "-c", code, "inspect", str(path), "--methods", "lsp", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_split_is_no_feature(tmp_path: Path) -> None:
    part = np.array(["train", "val", "test"])[np.arange(NODES) % 3]
    edges, nodes = tables(tmp_path, y=arrays()["y"], part=part)
    words = ["inspect", str(edges), "--features", str(nodes), "--methods", "random", "--shares", "0.5"]
    wrong = CliRunner().invoke(app, words)
    assert wrong.exit_code == 1 and "column 'part' must be numbers" in wrong.stderr and "--split" in wrong.stderr
    right = CliRunner().invoke(app, [*words, "--split", "part", "--json"])
    assert right.exit_code == 0, right.output
    assert "--split part" in json.loads(right.stdout)["next"]
