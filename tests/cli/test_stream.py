"""`lsprune prune --stream` and `lsprune verify` as a user meets them: what they print, write, refuse and leave."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("pyarrow")

import pyarrow as pa
from pyarrow import parquet

from graphs import random_graph
from lsprune.cli import app

RUNNER = CliRunner()


@pytest.fixture(name="place")
def _place(tmp_path):
    """A folder of three files with 50 edges each, in row groups of 20."""
    graph = random_graph(8, nodes=40, edges=150)
    source, target = graph.ends()
    (tmp_path / "in").mkdir()
    for number, some in enumerate(np.array_split(np.arange(150), 3)):
        table = pa.table({"source": source[some], "target": target[some], "number": some})
        parquet.write_table(table, tmp_path / "in" / f"{number}.parquet", row_group_size=20)
    np.save(tmp_path / "x.npy", graph.x)
    return tmp_path


def run(place: Path, *more: str):
    command = ["prune", place / "in", place / "out", "--features", place / "x.npy", "--keep", "0.5", "--stream"]
    return RUNNER.invoke(app, [*map(str, command), "--memory", "3GB", *more])


def test_it_prints_what_it_did_and_verify_agrees(place):
    done = run(place, "--json")
    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)
    rows = sum(parquet.read_metadata(path).num_rows for path in (place / "out").glob("*.parquet"))
    assert report["kept"] == rows
    assert report["edges"] == 150
    assert report["pruner"]["keep"] == 0.5
    assert Path(report["manifest"]).is_file()
    assert "scratch files" in done.stderr
    checked = RUNNER.invoke(app, ["verify", str(place / "out"), "--json"])
    assert checked.exit_code == 0
    assert json.loads(checked.stdout)["kept"] == rows
    assert "3 file(s)" in RUNNER.invoke(app, ["verify", str(place / "out")]).stdout


def test_the_table_names_memory_and_disk(place):
    done = run(place)
    assert done.exit_code == 0, done.stderr
    assert "peak memory" in done.stdout
    assert "manifest" in done.stdout


def test_verify_finds_what_was_changed(place):
    assert run(place).exit_code == 0
    damaged = place / "out" / "1.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    (place / "out" / "extra").write_text("")
    found = RUNNER.invoke(app, ["verify", str(place / "out")])
    assert found.exit_code == 1
    assert "1.parquet: its SHA-256" in found.stderr
    assert "extra: not in the manifest" in found.stderr
    again = RUNNER.invoke(
        app, ["prune", str(place / "out"), str(place / "next"), "--hash", "identity", "--k", "1", "--stream"]
    )
    assert again.exit_code == 1
    assert "1.parquet" in again.stderr
    assert not (place / "next").exists()


def spoil(place: Path, what: str) -> str:
    """Damage the input; what the error must name."""
    path = place / "in" / "1.parquet"
    table = parquet.read_table(path)

    def rewrite(name, values):
        parquet.write_table(table.set_column(table.column_names.index(name), name, values), path, row_group_size=20)

    if what == "missing column":
        parquet.write_table(table.drop_columns(["target"]), path)
        return "1.parquet"
    if what == "null":
        rewrite("source", pa.array([*table["source"].to_pylist()[:30], None, *table["source"].to_pylist()[31:]]))
        return "row group 1"
    if what == "string":
        rewrite("source", pa.array([f"u{one}" for one in table["source"].to_pylist()]))
        return "1.parquet"
    if what == "beyond":
        rewrite("target", pa.array([*table["target"].to_pylist()[:45], 40, *table["target"].to_pylist()[46:]]))
        return "row group 2"
    if what == "truncated":
        path.write_bytes(path.read_bytes()[:-30])
    else:
        shutil.copy(place / "in" / "0.parquet", path)
    return "1.parquet"


@pytest.mark.parametrize("what", ["missing column", "null", "string", "beyond", "truncated", "copy"])
def test_bad_input_is_one_line_that_names_the_place_and_leaves_nothing(place, what):
    named = spoil(place, what)
    before = sorted(place.rglob("*"))
    done = run(place)
    assert done.exit_code == 1
    errors = [line for line in done.stderr.splitlines() if line.startswith("error")]
    assert len(errors) == 1
    assert "1.parquet" in errors[0]
    assert named in errors[0]
    assert sorted(place.rglob("*")) == before


def test_strings_are_offered_a_mapping_that_works(place):
    for path in (place / "in").iterdir():
        table = parquet.read_table(path)
        names = {name: [f"u{one}" for one in table[name].to_pylist()] for name in ("source", "target")}
        parquet.write_table(pa.table(names), path)
    assert "--map-ids" in run(place).stderr
    command = ["prune", place / "in", place / "out", "--hash", "identity", "--k", "2", "--stream", "--memory", "3GB"]
    done = RUNNER.invoke(app, [*map(str, command), "--map-ids", str(place / "ids.parquet")])
    assert done.exit_code == 0, done.stderr
    assert parquet.read_table(place / "ids.parquet").column_names == ["id", "node"]
    kept = parquet.read_table(place / "out" / "0.parquet")["source"].to_pylist()
    assert kept
    assert all(name.startswith("u") for name in kept)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_said_first(place):
    (place / "locked").mkdir(mode=0o500)
    command = ["prune", place / "in", place / "locked" / "out", "--hash", "identity", "--k", "1", "--stream"]
    done = RUNNER.invoke(app, [*map(str, command)])
    assert done.exit_code == 1
    assert "may not be written" in done.stderr


@pytest.mark.parametrize("option", [("--resume",), ("--scratch", "x"), ("--map-ids", "m.parquet")])
def test_options_of_stream_need_stream(place, option):
    command = ["prune", place / "in" / "0.parquet", place / "out.parquet", "--hash", "identity", "--k", "1"]
    done = RUNNER.invoke(app, [*map(str, command), *option])
    assert done.exit_code == 1
    assert f"{option[0]} needs --stream" in done.stderr


def test_a_changed_output_and_a_damaged_journal_are_one_line(place):
    assert run(place).exit_code == 0
    path = place / "out" / "1.parquet"
    path.write_bytes(path.read_bytes()[:100])
    done = run(place, "--resume")
    assert done.exit_code == 1
    assert f"error: {place / 'out'} has changed since it was written" in done.stderr
    shutil.rmtree(place / "out")
    (place / "out.lsprune-work").mkdir()
    (place / "out.lsprune-work" / "journal.json").write_text('{"done": {"task": {}}, "files": {}}')
    done = run(place, "--resume")
    assert done.exit_code == 1
    errors = [line for line in done.stderr.splitlines() if line.startswith("error")]
    assert len(errors) == 1
    assert f"remove {place / 'out.lsprune-work'} to begin again" in errors[0]
    assert not (place / "out").exists()
