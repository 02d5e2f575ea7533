"""Columns of files that pruners ask for by name, in every format, each in its own type."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner

from lsprune import FormatError, Graph, LocalRandom, Timed
from lsprune.baselines import TopWeight
from lsprune.cli import app
from lsprune.files import read_edges, write_edges

BIG = 2**60
RNG = np.random.default_rng(0)
ENDS = RNG.integers(0, 20, (2, 150))
T = RNG.permutation(150) + BIG
BORN = RNG.integers(0, 150, 20) + BIG
NOTE = RNG.normal(size=150)
TIMED = Timed(pruner=TopWeight(k=2, column="when"), time="when", until=BIG + 70)
EXPECTED = TIMED.mask(Graph.from_edges(ENDS, edge_columns={"when": T}))


def written(folder, suffix: str, when=T):
    path = folder / f"edges{suffix}"
    table = pa.table({"source": ENDS[0], "target": ENDS[1], "note": NOTE, "when": when})
    if suffix == ".npz":
        np.savez(path, source=ENDS[0], target=ENDS[1], note=NOTE, when=when, born=BORN)
    elif suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        csv.write_csv(table, path)
    return path


def times_in(path) -> list:
    if path.suffix == ".npz":
        return np.load(path)["when"].tolist()
    table = parquet.read_table(path) if path.suffix == ".parquet" else csv.read_csv(path)
    return table["when"].to_pylist()


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".csv"])
def test_times_beyond_2_53_stay_exact_and_in_step(suffix, tmp_path):
    """`note` is a float64: joined with it, the times would become floats."""
    path = written(tmp_path, suffix)
    edges = read_edges(path, edge_attr=["note"], columns=["when"])
    assert edges.graph.edge_columns["when"].dtype == np.int64
    found = TIMED.mask(edges.graph)
    np.testing.assert_array_equal(found, EXPECTED)
    write_edges(tmp_path / f"out{suffix}", edges, found)
    assert times_in(tmp_path / f"out{suffix}") == T[EXPECTED].tolist()


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".csv"])
def test_the_command_takes_names(suffix, tmp_path):
    path, out = written(tmp_path, suffix), tmp_path / f"out{suffix}"
    inner = "(top-weight:k=2,column=when)"
    done = CliRunner().invoke(
        app, ["prune", str(path), str(out), "--pruner", f"timed:pruner={inner},time=when,until={BIG + 70}"]
    )
    assert done.exit_code == 0, done.output
    assert times_in(out) == T[EXPECTED].tolist()
    out.unlink()
    done = CliRunner().invoke(
        app, ["prune", str(path), str(out), "--pruner", "top-weight", "--set", "column=when", "--k", "3"]
    )
    assert done.exit_code == 0, done.output
    newest = TopWeight(k=3, column="when").mask(Graph.from_edges(ENDS, edge_columns={"when": T}))
    assert times_in(out) == T[newest].tolist()


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("unit", ["s", "us"])
def test_dates_are_dates(suffix, unit, tmp_path):
    zoned = pa.array(np.arange(150)).cast(pa.timestamp(unit))
    graph = read_edges(written(tmp_path, suffix, zoned), columns=["when"]).graph
    cut = {"s": "1970-01-01T00:01:00", "us": "1970-01-01T00:00:00.00006"}[unit]
    every = LocalRandom(k=150, self_loops="edge")
    assert Timed(pruner=every, time="when", until=cut).mask(graph).tolist() == (np.arange(150) <= 60).tolist()


def test_times_of_nodes_come_from_arrays_and_tables_of_nodes(tmp_path):
    owner = Timed(pruner=LocalRandom(k=150, self_loops="edge"), time="when", until="owner", node_time="born")
    expected = (BORN[ENDS[1]] >= T).tolist()
    assert owner.mask(read_edges(written(tmp_path, ".npz"), columns=["when", "born"]).graph).tolist() == expected
    nodes, order = tmp_path / "nodes.parquet", RNG.permutation(20)
    x = RNG.normal(size=20)
    parquet.write_table(pa.table({"id": order, "x": x[order], "born": BORN[order]}), nodes)
    graph = read_edges(written(tmp_path, ".parquet"), features=nodes, columns=["when", "born"]).graph
    assert owner.mask(graph).tolist() == expected
    np.testing.assert_array_equal(graph.x.reshape(-1), x)  # times are no features
    both = read_edges(
        written(tmp_path, ".parquet"), bipartite=True, features=nodes, target_features=nodes, columns=["when", "born"]
    ).graph
    assert owner.mask(both).tolist() == expected


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".csv"])
def test_a_missing_column_is_named_with_those_that_exist(suffix, tmp_path):
    with pytest.raises(
        FormatError, match=r"no column 'wen' of the edges or nodes; it has 'source', 'target', 'note', 'when'"
    ):
        read_edges(written(tmp_path, suffix), columns=["wen"])


def test_a_missing_time_is_named(tmp_path):
    holes = pa.array([None if i == 4 else i for i in range(150)])
    with pytest.raises(FormatError, match="column 'when', row 4: a value is missing"):
        read_edges(written(tmp_path, ".parquet", holes), columns=["when"])
