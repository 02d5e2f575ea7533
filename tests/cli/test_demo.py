"""`lsprune demo`: methods at the same share, what training on them gives, and the sentences that say so."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from lsprune.cli import app
from lsprune.cli.demo import power_law_graph, what_you_saw


def good(*arguments: object) -> object:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.skipif(not importlib.util.find_spec("torch_geometric"), reason="needs PyTorch Geometric")
def test_demo_trains_on_the_same_share_of_edges_and_says_what_came_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "demo.html"
    said = json.loads(good("demo", "--json", "--smoke", "-o", page).stdout)
    assert list(said["training"]) == ["unpruned", "no-edges", "random", "local-random", "lsp-auto", "choose"]
    shares = [row["share"] for row in said["training"].values()]
    assert shares[:2] == [1.0, 0.0]
    assert shares[2:] == pytest.approx([0.2] * 4, abs=0.001)
    assert said["report"] == str(page)
    assert all(name in page.read_text(encoding="utf8") for name in said["training"])
    monkeypatch.setattr("lsprune.cli.demo._trained", lambda smoke, out: (said["training"], None))
    shown = good("demo", "--smoke", "-o", page).stdout
    assert shown.index("A generated graph") < shown.index("local-random") < shown.index("What you saw: ")


def rows(**accuracies: float) -> dict[str, dict[str, float]]:
    seconds = {"share": 0.2, "prune_seconds": 0.5, "train_seconds_per_epoch": 0.25}
    made = {name.replace("_", "-"): {"test": value, **seconds} for name, value in accuracies.items()}
    made["unpruned"]["train_seconds_per_epoch"] = 1.0
    return made


@pytest.mark.parametrize(
    ("choose", "verdict"),
    [(0.9, "choose is better than all edges"), (0.605, "choose is as good as all edges"), (0.4, "LSP.auto is worse")],
)
def test_what_you_saw_says_who_is_ahead(choose: float, verdict: str) -> None:
    first, second, _ = what_you_saw(rows(unpruned=0.6, no_edges=0.3, random=0.35, lsp_auto=0.5, choose=choose))
    assert verdict in first and f"choose {choose:.2f}" in first and "random edges 0.35" in first
    assert "0.25 of the time with all edges (1.00 s)" in second and "LSP.auto took 0.50 s" in second


def test_without_pyg_the_demo_prunes_and_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "torch_geometric" else find_spec(name, *more)
    )
    reports = json.loads(good("demo", "--json").stdout)["pruning"]
    assert list(reports) == ["lsp", "random", "local-random"]
    assert {report["kept"] for report in reports.values()} == {100_000}
    assert reports["random"]["owners_cut"] > reports["local-random"]["owners_cut"]
    shown = good("demo").stdout
    assert "50.00%" in shown and "pip install 'lsprune[gnn]'" in shown


def test_generated_graph_has_hubs_and_no_loops() -> None:
    graph = power_law_graph(nodes=500, edges=5000, features=3, seed=1)
    source, target = graph.ends()
    assert not np.any(source == target)
    assert np.bincount(target).max() > 3 * 10
    assert np.array_equal(source, power_law_graph(nodes=500, edges=5000, features=3, seed=1).ends()[0])
    assert not np.array_equal(source, power_law_graph(nodes=500, edges=5000, features=3, seed=2).ends()[0])
