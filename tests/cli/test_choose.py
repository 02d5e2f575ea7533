"""`lsprune choose`: what it prints, plots, saves and refuses, without torch."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from labelled_graphs import labelled_graph
from pyarrow import csv, parquet
from typer.testing import CliRunner

import lsprune
from lsprune.chooser.candidates import CANDIDATES
from lsprune.cli import app


def run(*words: object) -> object:
    return CliRunner().invoke(app, ["choose", *map(str, words)])


def good(*words: object) -> object:
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result


def arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as stored:
        return dict(stored)


@pytest.fixture(scope="module")
def graph_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    graph = labelled_graph(nodes=150, degree=10)
    part = np.random.default_rng(7).integers(0, 3, 150)
    masks = {f"{name}_mask": part == number for number, name in enumerate(("train", "val", "test"))}
    path = tmp_path_factory.mktemp("graph") / "mine.npz"
    np.savez(path, edge_index=np.stack(graph.ends()), x=graph.x, y=graph.y, **masks)
    return path


def test_json_is_what_the_library_returns(graph_file: Path) -> None:
    said = json.loads(good(graph_file, "--keep", 0.25, "--json").stdout)
    stored = arrays(graph_file)
    graph = lsprune.Graph.from_edges(stored["edge_index"], x=stored["x"])
    names = {name: stored[name] for name in ("y", "train_mask", "val_mask")}
    known = lsprune.choose(graph, keep=0.25, **names).to_dict()
    assert (said["name"], said["reason"], said["pruner"]) == (known["name"], known["reason"], known["pruner"])
    assert [row["score"] for row in said["tried"]] == [row["score"] for row in known["tried"]]


@pytest.mark.parametrize("classes", [2, 3])
def test_whole_floats_are_what_the_library_takes_them_for(graph_file: Path, tmp_path: Path, classes: int) -> None:
    stored = arrays(graph_file)
    y = stored["y"] % classes
    np.savez(tmp_path / "floats.npz", **{**stored, "y": y.astype(np.float32)})
    result = good(tmp_path / "floats.npz", "--keep", 0.25, "--json")
    assert "whole numbers stored as floats" in result.stderr and "--task node-classification" in result.stderr
    graph = lsprune.Graph.from_edges(stored["edge_index"], x=stored["x"])
    masks = {name: stored[name] for name in ("train_mask", "val_mask")}
    known = lsprune.choose(graph, keep=0.25, y=y.astype(np.float32), **masks)
    assert json.loads(result.stdout)["metric"] == known.metric != lsprune.choose(graph, keep=0.25, y=y, **masks).metric
    named = good(tmp_path / "floats.npz", "--keep", 0.25, "--json", "--task", "node-classification")
    assert named.stderr == "" and json.loads(named.stdout)["metric"] in ("accuracy", "ROC AUC")


def test_test_labels_change_nothing(graph_file: Path, tmp_path: Path) -> None:
    stored = arrays(graph_file)
    stored["y"] = np.where(stored["test_mask"], 0, stored["y"])
    np.savez(tmp_path / "mine.npz", **stored)
    first, second = (
        json.loads(good(path, "--keep", 0.5, "--json").stdout) for path in (graph_file, tmp_path / "mine.npz")
    )
    assert first["reason"] == second["reason"]


def test_the_table_marks_the_choice_and_says_what_to_do(graph_file: Path, tmp_path: Path) -> None:
    saved, plot = tmp_path / "pruner.npz", tmp_path / "choice.png"
    shown = good(graph_file, "--shares", "0.25,0.5", "--save", saved, "--plot", plot).stdout
    assert shown.count("->") == 1 and shown.count(CANDIDATES[1].name) >= 2
    assert "local-random: k random neighbours per owner\n" in shown and "top-: each node keeps its edges" in shown
    assert "k random neighbours" in shown and f"--fitted {saved}" in shown and f"Plot: {plot}" in shown
    assert plot.read_bytes().startswith(b"\x89PNG")
    pruner = lsprune.load(saved)
    stored = arrays(graph_file)
    assert pruner.mask(lsprune.Graph.from_edges(stored["edge_index"], x=stored["x"])).any()


def test_by_default_the_smallest_lossless_share_is_sought(graph_file: Path) -> None:
    said = json.loads(good(graph_file, "--json", "--budget", "0.001s").stdout)
    assert not said["finished"] and {row["keep"] for row in said["tried"]} == {0.0, 0.05, 0.1, 0.25, 0.5, 1.0}
    assert (
        "Time ran out before all candidates were tried" in good(graph_file, "--keep", 0.5, "--budget", "0.001s").stdout
    )


def test_trials_are_kept_in_a_file(graph_file: Path, tmp_path: Path) -> None:
    trials = tmp_path / "trials.jsonl"
    good(graph_file, "--keep", 0.5, "--resume", trials, "--budget", "0.001s")
    assert len(trials.read_text().splitlines()) == 3
    good(graph_file, "--keep", 0.5, "--resume", trials)
    assert len(trials.read_text().splitlines()) == 2 + len(CANDIDATES)


def test_without_labels_it_says_so(graph_file: Path, tmp_path: Path) -> None:
    stored = arrays(graph_file)
    np.savez(tmp_path / "bare.npz", edge_index=stored["edge_index"], x=stored["x"])
    shown = good(tmp_path / "bare.npz", "--keep", 0.5, "--plot", tmp_path / "no.png").stdout
    assert "there are no labels to judge candidates by" in shown and "No plot" in shown
    assert not (tmp_path / "no.png").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--keep", "0.1", "--goal", "lossless"), "exactly one of keep, shares and goal"),
        (("--keep", "2"), "keep must be in"),
        (("--goal", "quick"), "goal must be"),
        (("--keep", "0.1", "--save", "a.txt"), "save must be a .npz file"),
        (("--keep", "0.1", "--save", "no/a.npz"), "no such folder for the output"),
        (("--keep", "0.1", "--plot", "a.txt"), "plot must be a file"),
        (("--shares", "a"), "shares must be"),
    ],
)
def test_bad_options_are_one_line(graph_file: Path, words: tuple[str, ...], message: str) -> None:
    result = run(graph_file, *words)
    assert result.exit_code == 1 and message in result.stderr and "Traceback" not in result.output


def table_files(folder: Path, graph_file: Path) -> tuple[Path, Path]:
    """(edges, nodes) with text ids; of the columns of nodes, topic and part are no features."""
    stored = arrays(graph_file)
    names = np.array([f"n{i}" for i in range(stored["x"].shape[0])])
    ends = dict(zip(("src", "dst"), names[stored["edge_index"]], strict=True))
    parquet.write_table(pa.table(ends), folder / "edges.parquet")
    part = np.select([stored["train_mask"], stored["val_mask"]], ["train", "val"], "test")
    nodes = {"id": names, "topic": stored["y"], "part": part}
    nodes |= {f"f{i}": column for i, column in enumerate(stored["x"].T)}
    csv.write_csv(pa.table(nodes), folder / "my nodes.csv")
    return folder / "edges.parquet", folder / "my nodes.csv"


@pytest.mark.parametrize("named", [("--label", "topic", "--split", "part"), ("--label", "topic", "--x", "f0,f1")])
def test_the_printed_command_prunes_with_what_was_saved(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    edges, nodes = (path.name for path in table_files(tmp_path, graph_file))
    shown = good(edges, "--features", nodes, *named, "--keep", 0.25, "--save", "my pruner.npz").stdout
    command = shlex.split(next(line for line in shown.splitlines() if "Prune with it" in line).partition(": ")[2])
    assert command[:4] == ["lsprune", "prune", "edges.parquet", "pruned.parquet"]
    report = json.loads(CliRunner().invoke(app, [*command[1:], "--json"]).stdout)
    assert report["kept"] == parquet.read_table("pruned.parquet").num_rows < 0.3 * report["edges"]


def test_the_printed_command_of_a_compressed_file_and_of_an_array(graph_file: Path, tmp_path: Path) -> None:
    stored = arrays(graph_file)
    np.savez(tmp_path / "g.npz", **{("other" if name == "x" else name): array for name, array in stored.items()})
    shown = good(tmp_path / "g.npz", "--features", "other", "--keep", 0.25, "--save", tmp_path / "p.npz").stdout
    assert "save the array other of " in shown and "--features other.npy --fitted" in shown
