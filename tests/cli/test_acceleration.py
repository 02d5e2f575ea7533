"""`lsprune acceleration`: lines are appended once, and errors are one line."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from lsprune.cli import app


def run(*arguments: object):
    return CliRunner().invoke(app, ["acceleration", *map(str, arguments)])


def test_measurements_are_appended_and_go_on(tmp_path):
    pytest.importorskip("torch_geometric")
    part = ("measure", "--size", "tiny", "--datasets", "large", "--models", "gcn", "--backends", "ordinary,sorted",
            "--out", tmp_path)  # fmt: skip
    first = run(*part, "--shares", "1,0.2")
    assert first.exit_code == 0, first.output
    assert "large, gcn, ordinary, share 1, cpu: epoch " in first.stdout
    assert first.stdout.endswith("acceleration: 4 of 4 runs, complete\n")
    second = run(*part, "--shares", "1,0.2,0.5", "--json")
    assert json.loads(second.stdout) == {"study": "acceleration", "total": 6, "done": 6, "skipped": {}}
    lines = [json.loads(line) for line in (tmp_path / "acceleration.jsonl").read_text().splitlines()]
    assert [(line["run"]["backend"], line["run"]["share"]) for line in lines] == [
        ("ordinary", 1), ("ordinary", 0.2), ("sorted", 1), ("sorted", 0.2), ("ordinary", 0.5), ("sorted", 0.5),
    ]  # fmt: skip
    assert [line["share"] for line in lines] == pytest.approx([1, 0.2, 1, 0.2, 0.5, 0.5])


def test_servings_are_appended(tmp_path):
    pytest.importorskip("torch_geometric")
    served = run("serve", "--size", "tiny", "--datasets", "github", "--models", "sage", "--seeds", 1, "--out", tmp_path)
    assert served.exit_code == 0, served.output
    assert served.stdout.endswith("serving: 13 of 13 runs, complete\n")
    assert len((tmp_path / "serving.jsonl").read_text().splitlines()) == 13


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("measure", "--shares", "half"), "shares must be a comma-separated list of numbers"),
        (("measure", "--models", "mlp"), "model must be one of gat, gcn, sage, pna"),
        (("serve", "--models", "pna"), "model must be one of gat, gcn, sage"),
        (("serve", "--budget", "soon"), "budget must be a time"),
    ],
)
def test_errors_are_one_line(options, says, tmp_path):
    pytest.importorskip("torch_geometric")
    wrong = run(*options, "--size", "tiny", "--out", tmp_path)
    assert wrong.exit_code == 1 and says in wrong.stderr and wrong.stderr.count("\n") == 1
