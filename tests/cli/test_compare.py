"""`lsprune compare`: what it runs, prints, writes and refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from own_files import arrays, masks, npz, tables
from typer.testing import CliRunner

from lsprune.cli import app

pytest.importorskip("torch_geometric")
pytest.importorskip("jinja2")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    npz(tmp_path / "g.npz", **masks())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: object) -> object:
    quick = ("--epochs", 2, "--seeds", 1, "--shares", "0.5", "--methods", "lsp,random")
    return CliRunner().invoke(app, ["compare", *map(str, (*quick, *words))])


def good(*words: object) -> object:
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result


def test_without_methods_the_finalists_of_choose_are_trained(folder: Path) -> None:
    place = np.arange(60) // 24
    npz(folder / "g.npz", **{f"{name}_mask": place == part for part, name in enumerate(("train", "val", "test"))})
    words = ("--epochs", "1", "--seeds", "1", "--shares", "0.25", "--finalists", "1", "--json")
    result = CliRunner().invoke(app, ["compare", "g.npz", *words])
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    names = [row["method"] for row in said["rows"]]
    assert names[:3] == ["unpruned", "no-edges", "local-random"] and len(names) == 4
    assert names[3].startswith(("top-", "lsp-"))
    trials = list((folder / "results").glob("g-*.trials"))
    assert len(trials) == 1 and trials[0].read_text().count("\n") > 5
    assert json.loads(CliRunner().invoke(app, ["compare", "g.npz", *words]).stdout)["rows"] == said["rows"]
    shown = CliRunner().invoke(app, ["compare", "g.npz", *words[:-1]]).stdout
    assert "local-random: k random neighbours per owner" in shown


def test_a_table_results_and_a_report(folder: Path) -> None:
    said = json.loads(good("g.npz", "--json").stdout)
    assert (said["total"], said["done"], said["report"]) == (4, 4, "lsprune-compare.html")
    assert [(row["method"], row["share"]) for row in said["rows"]] == [
        ("unpruned", 1.0), ("no-edges", 0.0), ("lsp", 0.5), ("random", 0.5),
    ]  # fmt: skip
    assert sorted(said["ranking"]) == ["lsp", "random"]
    records = [json.loads(line) for line in Path(said["results"]).read_text().splitlines()]
    assert {record["run"]["study"] for record in records} == {said["study"]}
    assert all({"key", "prune_seconds", "val", "test", "versions"} <= set(record) for record in records)
    page = Path(said["report"]).read_text(encoding="utf8")
    assert all(name in page for name in (said["study"], "lsp", "random"))
    shown = good("g.npz")
    assert shown.stderr == ""
    assert re.search(r"lsp +│ +50\.0% │ +\d\.\d{3} │", shown.stdout)
    assert f"{said['study']}: 4 of 4 runs, complete" in shown.stdout
    assert "By validation over all shares, best first: " in shown.stdout
    assert "One run only: no interval" in shown.stdout and "local-random: " not in shown.stdout


def test_started_again_it_runs_only_what_is_missing(folder: Path) -> None:
    path = Path(json.loads(good("g.npz", "--json").stdout)["results"])
    before = path.read_text()
    path.write_text("".join(before.splitlines(keepends=True)[:2]) + '{"key": "cut')  # killed in the third run
    good("g.npz")
    lines = path.read_text().splitlines()
    assert lines[:2] == before.splitlines()[:2]
    assert [json.loads(line)["key"] for line in lines] == [json.loads(line)["key"] for line in before.splitlines()]
    y = arrays()["y"]
    npz(folder / "g.npz", **masks(), y=1 - y)
    other = json.loads(good("g.npz", "--json").stdout)
    assert (other["done"], Path(other["results"]) == path) == (4, False)


def test_pruners_with_options_are_methods(folder: Path) -> None:
    methods = "random,(lsp:hash=signs:bits=4,weights=degree),(lsp:hash=identity)"
    said = json.loads(good("g.npz", "--methods", methods, "--json").stdout)
    names = ["unpruned", "no-edges", "random", "lsp:hash=signs:bits=4,weights=degree", "lsp:hash=identity"]
    assert [row["method"] for row in said["rows"]] == names
    records = [json.loads(line) for line in Path(said["results"]).read_text().splitlines()]
    assert records[3]["pruner"]["hash"]["bits"] == 4
    assert said["advice"][0].startswith("Keep no edge: +")  # a random graph: its edges say nothing
    assert any(name in said["advice"][1] for name in names[2:])  # the best pruned graph


def test_a_budget_stops_it_and_says_so(folder: Path) -> None:
    said = good("g.npz", "--budget", "0.000001s")
    assert "0 of 4 runs, 4 to do; run the same command again to continue" in said.stdout
    assert "Report: none yet" in said.stdout
    assert not (folder / "lsprune-compare.html").exists()


def test_tables_of_edges_and_nodes(folder: Path) -> None:
    venue = [("left", "right")[y] for y in arrays()["y"]]
    edges, nodes = tables(folder, venue=venue)
    said = json.loads(
        good(edges, "--features", nodes, "--label", "venue", "-o", "t.html", "--out", "r", "--json").stdout
    )
    assert said["results"].startswith("r/edges-") and (folder / "t.html").is_file()


def test_each_seed_has_one_of_several_splits_or_all_the_one_that_is_named(folder: Path) -> None:
    other = {name: np.roll(mask, 7) for name, mask in masks().items()}
    npz(folder / "g.npz", **{name: np.stack([mask, other[name]], axis=1) for name, mask in masks().items()})
    tests = []
    for seeds, options in ((2, ()), (1, ("--split", "0")), (2, ("--split", "1"))):
        said = json.loads(good("g.npz", "--seeds", seeds, *options, "--json").stdout)
        records = [json.loads(line) for line in Path(said["results"]).read_text().splitlines()]
        tests.append({(r["run"]["seed"], r["run"]["method"]): (r["test"], r["val"]) for r in records})
    both, first, second = tests
    assert {name: both[0, name] for _, name in first} == {name: first[0, name] for _, name in first}
    assert {name: both[1, name] for _, name in first} == {name: second[1, name] for _, name in first}
    assert both != {key: second[key] for key in both}


def test_several_labels_a_node(folder: Path) -> None:
    y = arrays()["y"]
    npz(folder / "g.npz", **masks(), y=np.stack([y, 1 - y, np.ones_like(y)], axis=1))
    said = json.loads(good("g.npz", "--epochs", 30, "--json").stdout)
    assert said["metric"] == "micro-f1" and said["rows"][0]["mae"] is None
    assert said["rows"][0]["test"] > 0.9  # labels that are always 1 alone give 0.75
    assert "micro-F1" in good("g.npz", "--epochs", 30).stdout


def test_numbers_have_r2_and_the_mean_absolute_error(folder: Path) -> None:
    y = 1000 + 10.5 * arrays()["x"].sum(axis=1)
    y[0] = np.nan  # unlabelled
    masked = {name: mask & (np.arange(mask.size) > 0) for name, mask in masks().items()}
    npz(folder / "g.npz", **masked, y=y)
    said = json.loads(good("g.npz", "--epochs", 40, "--model", "node-sage-skip", "--json").stdout)
    whole = said["rows"][0]
    assert said["metric"] == "r2" and 0.7 < whole["test"] <= 1 and 0 < whole["mae"] < 0.5 * np.nanstd(y)
    shown = good("g.npz", "--epochs", 40, "--model", "node-sage-skip").stdout
    assert "R²" in shown and "mean abs." in shown
    labels = arrays()["y"].astype(np.int64)
    npz(folder / "g.npz", **masks(), y=labels)
    assert json.loads(good("g.npz", "--task", "node-regression", "--json").stdout)["metric"] == "r2"


def test_the_probe_chooses_finalists_for_labels_and_numbers_too(folder: Path) -> None:
    place, x = np.arange(60) // 24, arrays()["x"]
    split = {f"{name}_mask": place == part for part, name in enumerate(("train", "val", "test"))}
    for y in (x[:, 0] + 0.5, (x[:, :2] > 1).astype(np.int64)):
        npz(folder / "g.npz", **split, y=y)
        words = ("--epochs", "1", "--seeds", "1", "--shares", "0.25", "--finalists", "1", "--json")
        result = CliRunner().invoke(app, ["compare", "g.npz", *words])
        assert result.exit_code == 0, result.output
        assert len(json.loads(result.stdout)["rows"]) == 4


def test_a_sealed_graph_is_read_and_a_changed_one_refused(folder: Path) -> None:
    assert CliRunner().invoke(app, ["seal", "g.npz"]).exit_code == 0
    good("g.npz", "--verify-input")
    content = bytearray((folder / "g.npz").read_bytes())
    content[-200] ^= 1
    (folder / "g.npz").write_bytes(content)
    wrong = run("g.npz", "--verify-input")
    assert (wrong.exit_code, wrong.stdout) == (1, "")
    assert re.fullmatch(r"error: g\.npz: .*seal.*\n|error: g\.npz.*\n", wrong.stderr), wrong.stderr


def test_a_graph_without_edges_is_refused_before_training(folder: Path) -> None:
    with np.load(folder / "g.npz") as stored:
        arrays = {**stored, "edge_index": np.zeros((2, 0), np.int64)}
    np.savez(folder / "empty.npz", **arrays)
    result = run("empty.npz", "--methods", "random")
    assert result.exit_code == 1 and result.stderr == "error: compare needs a graph with edges, got none\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--methods", "lsp,magic"), "methods must be some of unpruned, .*, or a pruner, got 'magic'"),
        (("--shares", "0.5,2"), r"shares must be comma-separated numbers in \(0, 1\], .*, got '0\.5,2'"),
        (("--shares", "half"), "got 'half'"),
        (
            ("--task", "link-prediction"),
            "task must be one of node-classification, multi-label, node-regression, got 'link-prediction'",
        ),
        (("--model", "gcn"), "model must be one of node-gat, .*, got 'gcn'"),
        (("--task", "multi-label"), r"label y must be 0 and 1 of shape \[nodes, labels\] for multi-label, got int64"),
        (("--split", "1"), r"split must be the number of a split in the masks \(number 0 alone\), got 1"),
        (("--split", "0", "--split-seed", "1"), "split_seed must not be set with the number of a split, got 1 and 0"),
        (("--verify-input",), r"g\.npz: has no seal \(g\.npz\.lsprune\.json\); write one by `lsprune seal`"),
        (("--label", "kind"), r"label must be a name in g\.npz .*, got 'kind'"),
        (("--features", "absent.npy"), "absent.npy: No such file or directory"),
        (("--split", "a,b"), "split must name three masks or one column"),
        (("--budget", "soon"), "budget must be a time such as 90s, 9m or 2h, got 'soon'"),
        (("--device", "tpu9"), "device must be one that this machine has"),
        (("-o", "no/r.html"), "no such folder for the report"),
    ],
)
def test_one_line_of_error_and_nothing_is_written(folder: Path, options: tuple[str, ...], said: str) -> None:
    wrong = run("g.npz", *options)
    assert (wrong.exit_code, wrong.stdout) == (1, "")
    assert re.fullmatch(rf"error: .*{said}.*\n", wrong.stderr), wrong.stderr
    written = [path.name for path in folder.rglob("*") if path.is_file() and path.stat().st_size]
    assert written == ["g.npz"]


def test_a_device_that_is_not_there_is_told_before_anything_is_read(tmp_path: Path) -> None:
    if pytest.importorskip("torch").cuda.is_available():
        pytest.skip("needs a machine without a GPU")
    result = CliRunner().invoke(app, ["compare", str(tmp_path / "absent.npz"), "--device", "cuda"])
    assert result.exit_code == 1 and "it has no CUDA device" in result.stderr
