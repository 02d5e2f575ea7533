"""The examples run and say what they claim."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

import parquet_pipeline
import shared_neighbours

FOLDER = Path(shared_neighbours.__file__).parent
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_help_says_how_to_call_it(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    if name == "train_pruned":
        pytest.importorskip("torch_geometric")
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--help"])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: {name}.py")


@pytest.mark.parametrize("arguments", [[], ["edges.parquet"], ["a", "b", "c", "d"]])
def test_the_spark_job_says_what_it_needs(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    import spark_job

    with pytest.raises(SystemExit) as end:
        spark_job.main(arguments)
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("usage: ") and "EDGES NODES OUT" in said
    assert "error: " in said.splitlines()[-1]


def test_shared_neighbours_prints_both_chances(capsys: pytest.CaptureFixture[str]):
    shared_neighbours.main(["--draws", "60"])
    random, consistent = capsys.readouterr().out.splitlines()
    assert "probability 2.7778% (1/36), simulated " in random
    assert "confuses 0 pairs" in consistent


def test_random_pruning_confuses_a_pair_once_in_36():
    assert shared_neighbours.exact_probability() == pytest.approx(1 / 36)
    assert shared_neighbours.simulated(1500) == pytest.approx(1 / 36, abs=0.009)  # 6,000 pairs: four standard errors


def test_consistent_pruning_never_does():
    wrong, seen = shared_neighbours.consistent()
    assert wrong == 0
    assert seen > 20


def test_the_command_line_and_the_library_keep_the_same_payments(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    parquet_pipeline.main(["--smoke", "--folder", str(tmp_path)])
    said = capsys.readouterr().out
    assert "20,000 edges in, 6,000 out (30.0%)" in said
    assert "kept the same edges" in said

    whole, ours, theirs = (parquet.read_table(tmp_path / f"{name}.parquet") for name in ("edges", "api", "command"))
    assert ours.num_rows == 6_000
    assert ours.equals(theirs)
    assert theirs.schema.equals(whole.schema)
    kept = np.isin(whole["note"].to_numpy(), theirs["note"].to_numpy())  # notes differ, so they name the rows
    assert whole.filter(kept).equals(theirs)  # whole rows, in order


def test_the_pipeline_notices_when_they_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parquet_pipeline, "LSP", lambda keep: shared_neighbours.LocalRandom(keep=keep))
    with pytest.raises(SystemExit, match="different edges"):
        parquet_pipeline.run(tmp_path, nodes=100, edges=1_000)


def test_training_on_half_the_edges_takes_half_the_edges(capsys: pytest.CaptureFixture[str]):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    import train_pruned

    threads = torch.get_num_threads()
    try:
        train_pruned.main(["--smoke"])
    finally:
        torch.set_num_threads(threads)
    title, head, *rows = capsys.readouterr().out.splitlines()
    assert title.startswith("600 nodes, ")
    assert head.split()[0] == "method"
    found = {row.split()[0]: row.split()[1:] for row in rows}
    assert list(found) == ["unpruned", "local-random", "lsp"]

    edges = {name: int(row[0].replace(",", "")) for name, row in found.items()}
    assert edges["local-random"] == edges["lsp"]
    assert edges["lsp"] == pytest.approx(edges["unpruned"] / 2, abs=2)  # `keep` counts pairs: exact to one pair
    for _, share, pruning, epoch, accuracy in found.values():
        assert share in ("100.0%", "50.0%")
        assert 0 <= float(pruning) < 60
        assert float(epoch) > 0
        assert 0.4 < float(accuracy) <= 1  # chance is 0.2
    assert float(found["unpruned"][2]) == 0


def test_the_citations_are_an_undirected_graph_with_a_split():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    import train_pruned

    data = train_pruned.citations(nodes=200, edges=1_000)
    assert data.is_undirected()
    assert not data.has_self_loops()
    assert torch.equal(data.train.int() + data.valid.int() + data.test.int(), torch.ones(200, dtype=torch.int))
    again = train_pruned.citations(nodes=200, edges=1_000)
    assert torch.equal(data.edge_index, again.edge_index) and torch.equal(data.x, again.x)
