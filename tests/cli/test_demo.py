"""`lsprune demo`: methods at the same share, and what training on them gives."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from lsprune.cli import app
from lsprune.cli.demo import power_law_graph


def good(*arguments: object) -> object:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result


def test_demo_compares_methods_at_the_same_share(tmp_path: Path) -> None:
    page = tmp_path / "demo.html"
    said = json.loads(good("demo", "--json", "--smoke", "-o", page).stdout)
    reports = said["pruning"]
    assert list(reports) == ["lsp", "random", "local-random"]
    assert {report["kept"] for report in reports.values()} == {100_000}
    assert reports["random"]["owners_cut"] > reports["local-random"]["owners_cut"]
    if importlib.util.find_spec("torch_geometric"):
        assert list(said["training"]) == [
            "unpruned",
            "no-edges",
            "random",
            "local-random",
            "lsp-projection",
            "lsp-codebook-edge",
        ]
        shares = [row["share"] for row in said["training"].values()]
        assert shares[:2] == [1.0, 0.0]
        assert shares[2:] == pytest.approx([0.33] * 4, abs=0.01)
        assert said["report"] == str(page)
        assert all(name in page.read_text(encoding="utf8") for name in said["training"])
    table = good("demo", "--smoke", "-o", page).stdout
    assert all(word in table for word in ("lsp", "random", "local-random", "100,000", "50.00%"))


def test_generated_graph_has_hubs_and_no_loops() -> None:
    graph = power_law_graph(nodes=500, edges=5000, features=3, seed=1)
    source, target = graph.ends()
    assert not np.any(source == target)
    assert np.bincount(target).max() > 3 * 10
    assert np.array_equal(source, power_law_graph(nodes=500, edges=5000, features=3, seed=1).ends()[0])
    assert not np.array_equal(source, power_law_graph(nodes=500, edges=5000, features=3, seed=2).ends()[0])
