"""`lsprune seal` as a user meets it, with `verify` and `--verify-input`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from lsprune.cli import app

RUNNER = CliRunner()


def run(*words: object):
    return RUNNER.invoke(app, [str(word) for word in words])


def test_seal_verify_and_prune(tmp_path: Path) -> None:
    edges, x, out = tmp_path / "e.csv", tmp_path / "x.npy", tmp_path / "o.csv"
    edges.write_text("source,target\n0,1\n1,2\n2,0\n")
    np.save(x, np.arange(6.0).reshape(3, 2))
    prune = ("prune", edges, out, "--features", x, "--k", 1, "--verify-input", "--threads", 1)
    refused = run(*prune)
    assert refused.exit_code == 1
    assert refused.stderr.count("\n") == 1
    assert "has no seal" in refused.stderr
    assert run("verify", edges).exit_code == 1
    sealed = run("seal", edges, x)
    assert sealed.exit_code == 0
    assert sealed.stdout.splitlines() == [f"{path}: sealed by {path}.lsprune.json" for path in (edges, x)]
    assert "1 file(s), unchanged since they were sealed" in run("verify", edges).stdout
    for more in ((), ("--stream", "--memory", "3GB")):
        assert run(*prune, *more).exit_code == 0
        out.unlink()
    x.write_bytes(x.read_bytes()[:-1] + b"\x01")
    for more in ((), ("--stream", "--memory", "3GB")):
        refused = run(*prune, *more)
        assert refused.exit_code == 1
        assert "x.npy: its SHA-256 is not that of the manifest" in refused.stderr
        assert not out.exists()
    assert run("seal", x).exit_code == 1


def test_json(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("0,1\n")
    (report,) = json.loads(run("seal", tmp_path / "e.csv", "--json").stdout)
    assert report == {
        "path": str(tmp_path / "e.csv"), "seal": str(tmp_path / "e.csv.lsprune.json"), "files": 1, "bytes": 4,
    }  # fmt: skip


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    refused = run("seal", tmp_path / "absent")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("error: ")
    assert refused.stderr.count("\n") == 1
