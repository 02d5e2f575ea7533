"""Edges within a time, from disk: the rows that memory keeps, whatever the format, the times and the options."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
from pyarrow import csv, parquet

from lsprune import (
    LSP,
    First,
    FormatError,
    Graph,
    GraphError,
    Guarded,
    LocalRandom,
    OptionError,
    PerNode,
    Random,
    Timed,
)
from lsprune.baselines import LowDegree, TopWeight
from lsprune.files import open_edges, read_edges
from lsprune.files.manifest import verify
from lsprune.outofcore import allowed_edges, prune_stream
from lsprune.outofcore import memory_ceiling as memory
from lsprune.outofcore.allowed_edges import AllowedEdges
from lsprune.weights import Column

BIG, NODES, EDGES = 2**60, 24, 260


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Batches of a few edges, and files in the place of arrays, for graphs that are small."""
    monkeypatch.setattr(memory, "MIN_BATCH_ROWS", 16)
    monkeypatch.setattr(memory, "MAX_BATCH_ROWS", 16)
    monkeypatch.setattr("lsprune.kernels.file_arrays.MIN_FILE_BYTES", 1)
    monkeypatch.setattr(allowed_edges, "_COUNTED_EDGES", 16)
    monkeypatch.setattr(allowed_edges, "_FIRST_OWNERS", 2)


def write(folder, seed: int, suffix: str = ".parquet", *, ordered: bool = False, times=None, edge_time: bool = True):
    """An edge list with times beyond 2^53, and a table of nodes with times and attributes; options to read them."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, NODES, (2, EDGES))
    ends = ends[:, np.argsort(ends[1], kind="stable")] if ordered else ends
    when = rng.integers(0, 30, EDGES) + BIG if times is None else times(rng, EDGES)
    columns = {"source": ends[0], "target": ends[1], "number": np.arange(EDGES), "w": rng.random(EDGES) + 0.1}
    columns |= {"t": when} if edge_time else {}
    path = folder / f"in{suffix}"
    if suffix == ".npz":
        np.savez(path, **{name: np.asarray(column) for name, column in columns.items()})
    elif suffix == ".csv":
        csv.write_csv(pa.table(columns), path)
    elif suffix == ".parquet":
        parquet.write_table(pa.table(columns), path, row_group_size=37)
    else:
        path.mkdir()
        for i in range(3):
            part = pa.table(columns).slice(i * 100, 100)
            parquet.write_table(part, path / f"{i}.parquet")
    own = rng.integers(0, 30, NODES) + BIG if times is None else times(rng, NODES)
    nodes = {"id": rng.permutation(NODES), "x": rng.normal(size=NODES), "y": rng.normal(size=NODES), "t": own}
    nodes |= {"born": own}
    parquet.write_table(pa.table(nodes), folder / "nodes.parquet")
    return path, {"features": folder / "nodes.parquet", "x": ["x", "y"]}


def in_memory(folder, path, pruner, options) -> list[int]:
    """The numbers of the edges that memory keeps; a folder is read as one table."""
    if path.is_dir():
        whole = parquet.read_table(path)
        path = folder / "whole.parquet"
        parquet.write_table(whole, path)
    edges = read_edges(path, columns=pruner.needs.edge_columns, **options)
    return np.flatnonzero(pruner.mask(edges.graph)).tolist()


def numbers_in(path) -> list[int]:
    if path.suffix == ".npz":
        return np.load(path)["number"].tolist()
    table = csv.read_csv(path) if path.suffix == ".csv" else parquet.read_table(path)
    return table["number"].to_pylist()


def streamed(path, pruner, options, **more):
    out = path.with_name(path.name.replace("in", "out", 1))
    return prune_stream(path, out, pruner, memory="6GB", **options, **more), numbers_in(out)


RULES = [
    {"until": BIG + 12}, {"since": BIG + 12}, {"until": BIG + 20, "since": BIG + 5}, {"until": BIG + 20, "window": 7},
    {"until": "owner"}, {"until": "owner", "window": 4, "node_time": "born"}, {"window": 3},
    {"window": 6, "since": BIG + 10}, {"until": BIG - 1},
]  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npz", ""])
def test_the_rows_are_those_of_memory_in_every_format(tmp_path, rule, suffix):
    turn = RULES.index(rule) + len(suffix)
    path, options = write(tmp_path, turn, suffix)
    pruner = Timed(pruner=LSP(keep=0.4, side=("in", "out")[turn % 2]), time="t", **rule)
    found, numbers = streamed(path, pruner, options)
    assert numbers == in_memory(tmp_path, path, pruner, options)
    assert (found.edges, found.kept, found.nodes) == (EDGES, len(numbers), NODES)
    assert verify(tmp_path / f"out{suffix}").ok


PRUNERS = [
    LSP(k=2), LSP(k=2, symmetric="union", hash="identity"), LSP(keep=0.5, symmetric="intersection", self_loops="edge"),
    LSP(k=2, attributes=("neighbour", "edge")), TopWeight(k=2, column="t"), TopWeight(k=3, column="w", side="out"),
    LSP(k=2, hash="identity", weights=Column(column="w")), LowDegree(k=2), First(keep=0.3), LocalRandom(k=1),
    LSP(keep=0.3, weights="jaccard"), LSP(budget=PerNode(share=0.4), self_loops="drop"),
    LocalRandom(budget=PerNode(counts=np.arange(NODES) % 4)), Timed(pruner=LSP(k=2), time="t", window=5),
    Timed(pruner=TopWeight(k=2, column="t"), time="t", since=BIG + 3),
]  # fmt: skip


@pytest.mark.parametrize("inner", PRUNERS, ids=repr)
@pytest.mark.parametrize("ordered", [False, True])
def test_every_inner_pruner_sees_the_allowed_edges_alone(tmp_path, inner, ordered):
    path, options = write(tmp_path, 3, ordered=ordered)
    rule = [RULES[0], RULES[4], RULES[6]][(PRUNERS.index(inner) + ordered) % 3]
    pruner = Timed(pruner=inner, time="t", **rule)
    numbers = streamed(path, pruner, {**options, "edge_attr": ["w"]})[1]
    assert numbers == in_memory(tmp_path, path, pruner, {**options, "edge_attr": ["w"]})
    assert 0 < len(numbers) < EDGES


def test_sorted_edges_still_take_one_pass(tmp_path):
    path, options = write(tmp_path, 1, "", ordered=True)
    said: list[str] = []
    pruner = Timed(pruner=LSP(k=2), time="t", until=BIG + 15)
    found, numbers = streamed(path, pruner, options, say=said.append)
    assert numbers == in_memory(tmp_path, path, pruner, options)
    assert any("one pass" in line for line in said) and not any("grouping" in line for line in said)
    assert "time" in found.stages


UTC, BERLIN = pa.timestamp("ns", "UTC"), pa.timestamp("us", "Europe/Berlin")
KINDS = {
    "nanoseconds": (lambda rng, n: pa.array(rng.integers(0, 30, n) + BIG).cast(UTC), "ns"),
    "berlin": (lambda rng, n: pa.array(rng.integers(0, 30, n) * 10**6).cast(BERLIN), "s"),
    "naive": (lambda rng, n: pa.array(rng.integers(0, 30, n)).cast(pa.timestamp("s")), "s"),
    "days": (lambda rng, n: pa.array(rng.integers(0, 30, n).astype(np.int32)).cast(pa.date32()), "d"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("rule", [{"until": 20, "window": 12}, {"window": 5}, {"until": "owner"}], ids=str)
def test_dates_of_every_kind(tmp_path, kind, suffix, rule):
    times, unit = KINDS[kind]
    base, size = (BIG, 1) if unit == "ns" else (0, {"s": 10**9, "d": 86400 * 10**9}[unit])
    rule = {**rule, **({"window": f"{rule['window']}{unit}"} if "window" in rule else {})}
    if isinstance(rule.get("until"), int):
        rule["until"] = np.datetime64(base + rule["until"] * size, "ns")
    path, options = write(tmp_path, 2, suffix, times=times)
    pruner = Timed(pruner=LSP(k=3), time="t", **rule)
    numbers = streamed(path, pruner, options)[1]
    assert numbers == in_memory(tmp_path, path, pruner, options)
    assert 0 < len(numbers) < EDGES


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npz"])
@pytest.mark.parametrize("rule", [{"until": 0.4}, {"window": 0.25}, {"until": "owner", "window": 0.3}], ids=str)
def test_floats(tmp_path, suffix, rule):
    path, options = write(tmp_path, 4, suffix, times=lambda rng, n: rng.random(n))
    pruner = Timed(pruner=LocalRandom(keep=0.7), time="t", **rule)
    numbers = streamed(path, pruner, options)[1]
    assert numbers == in_memory(tmp_path, path, pruner, options)


@pytest.mark.parametrize("rule", [RULES[0], RULES[4], RULES[6]], ids=str)
def test_times_of_nodes_serve_edges_that_have_none(tmp_path, rule):
    path, options = write(tmp_path, 5, edge_time=False)
    pruner = Timed(pruner=LSP(k=2), time="t", **rule)
    numbers = streamed(path, pruner, options)[1]
    assert numbers == in_memory(tmp_path, path, pruner, options)
    two = {"bipartite": True, **options, "target_features": tmp_path / "nodes.parquet"}
    (tmp_path / "out.parquet").unlink()
    assert streamed(path, pruner, two)[1] == in_memory(tmp_path, path, pruner, two)
    every = Timed(pruner=LocalRandom(k=2), time="t", **rule)
    for table in ("features", "target_features"):
        needs_it = table == "features" or rule == RULES[4]  # sources are the neighbours
        one = {name: value for name, value in two.items() if name not in ("x", table)}
        (tmp_path / "out.parquet").unlink(missing_ok=True)
        with pytest.raises(GraphError, match="needs a value of each") if needs_it else nullcontext():
            streamed(path, every, one)


@pytest.mark.parametrize("stored", ["beside", "table", "compressed"])
def test_times_of_nodes_in_arrays(tmp_path, stored):
    rng, out = np.random.default_rng(0), tmp_path / "out.npz"
    ends, when = rng.integers(0, NODES, (2, EDGES)), np.array(rng.integers(0, 30, EDGES), "M8[h]")
    ends[:, 0] = NODES - 1
    born = np.array(rng.integers(0, 30, NODES), "M8[h]")
    arrays = {
        "edge_index": ends,
        "t": when,
        "number": np.arange(EDGES),
        **({"born": born} if stored == "beside" else {}),
    }
    np.savez(tmp_path / "in.npz", **arrays)
    options = {}
    if stored != "beside":
        save = np.savez if stored == "table" else np.savez_compressed
        order = rng.permutation(NODES)
        save(tmp_path / "nodes.npz", id=order, x=rng.normal(size=(NODES, 2)), born=born[order])
        options = {"features": tmp_path / "nodes.npz"}
    pruner = Timed(pruner=LocalRandom(k=30, self_loops="edge"), time="t", until="owner", node_time="born")
    prune_stream(tmp_path / "in.npz", out, pruner, memory="6GB", **options)
    assert numbers_in(out) == np.flatnonzero(when <= born[ends[1]]).tolist()
    edges = read_edges(tmp_path / "in.npz", columns=["t", "born"], **options)
    assert numbers_in(out) == np.flatnonzero(pruner.mask(edges.graph)).tolist()


@pytest.mark.parametrize("rule", [RULES[0], RULES[4], RULES[6]], ids=str)
def test_ids_that_are_numbered(tmp_path, rule):
    path, _ = write(tmp_path, 6)
    table, nodes = parquet.read_table(path), parquet.read_table(tmp_path / "nodes.parquet")
    words = {name: pa.array([f"n{i}" for i in table[name].to_pylist()]) for name in ("source", "target")}
    table = table.drop(["source", "target"]).append_column("source", words["source"])
    parquet.write_table(table.append_column("target", words["target"]), path)
    nodes = nodes.set_column(0, "id", pa.array([f"n{i}" for i in nodes["id"].to_pylist()]))
    parquet.write_table(nodes, tmp_path / "nodes.parquet")
    pruner = Timed(pruner=TopWeight(k=2, column="t", self_loops="edge"), time="t", **rule)
    more = {"features": tmp_path / "nodes.parquet", "map_ids": tmp_path / "ids.parquet"}
    numbers = streamed(path, pruner, more)[1]
    from lsprune import mask

    expected = mask(parquet.read_table(path), pruner, features=nodes)
    times = np.array(table["t"])
    assert sorted(times[numbers]) == sorted(times[expected])  # equal times of one owner are exchangeable
    assert verify(tmp_path / "out.parquet").ok


def test_text_whose_type_changes_beyond_the_first_lines(tmp_path, monkeypatch):
    monkeypatch.setattr("lsprune.files.text._STREAM_BYTES", 64)
    for times, until in (
        (["1", "2.5"], 2),
        (["2024-01-01", "2024-01-02 10:00", "2024-01-03 10:00:00.25"], "2024-01-03"),
    ):
        lines = [f"{i},{i + 1},{times[i * len(times) // 60]}\n" for i in range(60)]
        (tmp_path / "in.csv").write_text("source,target,t\n" + "".join(lines))
        pruner = Timed(pruner=LocalRandom(k=3), time="t", until=until)
        prune_stream(tmp_path / "in.csv", tmp_path / "out.csv", pruner, memory="6GB")
        kept = (tmp_path / "out.csv").read_text().splitlines()[1:]
        mask = pruner.mask(read_edges(tmp_path / "in.csv", columns=["t"]).graph)
        assert kept == [line.strip() for line, keep in zip(lines, mask, strict=True) if keep]
        assert 0 < len(kept) < 60
    (tmp_path / "in.csv").write_text(
        "source,target,t\n" + "0,1,5\n" * 20 + "0,1,2024-01-01\n" * 20
    )  # one block has both
    with pytest.raises(FormatError, match=r"column 't' must be numbers, got string \('5' at line 21\)"):
        prune_stream(tmp_path / "in.csv", tmp_path / "out.csv", pruner, memory="6GB")


def test_the_number_of_nodes_is_that_of_all_edges(tmp_path):
    table = {"source": [0, 1, 2, 9], "target": [1, 2, 3, 9], "t": [1, 1, 1, 5]}
    parquet.write_table(pa.table(table), tmp_path / "in.parquet")
    pruner = Timed(pruner=LocalRandom(k=1), time="t", until=2)
    found = prune_stream(tmp_path / "in.parquet", tmp_path / "out.parquet", pruner, memory="6GB")
    assert (found.nodes, found.edges, found.kept, found.isolated) == (10, 4, 3, 0)
    assert found.uncounted_self_loops == 0  # that of node 9 is too late
    later = Timed(pruner=LocalRandom(k=1), time="t", until=6)
    found = prune_stream(tmp_path / "in.parquet", tmp_path / "later.parquet", later, memory="6GB")
    assert (found.kept, found.uncounted_self_loops) == (4, 1)
    few = Timed(pruner=LocalRandom(budget=PerNode(counts=np.ones(4, int))), time="t", until=2)
    with pytest.raises(GraphError):
        prune_stream(tmp_path / "in.parquet", tmp_path / "few.parquet", few, memory="6GB")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"until": 3, "time": "wen"}, FormatError, "no column 'wen' of the edges or nodes; it has 'source', 'target'"),
        ({"until": "owner", "node_time": "tt"}, FormatError, "no column 'tt' of the edges or nodes"),
        ({"until": "2024-01-31"}, OptionError, "until must be a number, since the times are numbers"),
        ({"window": "7d"}, OptionError, "window must be a number"),
        ({"until": 3, "time": "gap"}, GraphError, "time 'gap' must be finite, got nan in row 57: a time is missing"),
        ({"until": 3, "time": "hole"}, FormatError, r"in\.parquet: column 'hole', row 57 .*: a value is missing"),
        ({"until": 3, "time": "word"}, FormatError, "column 'word' must be numbers, got string"),
        ({"until": 3, "pruner": TopWeight(k=1, column="born")}, GraphError, "column 'born' needs a value of each edge"),
        ({"until": 3, "pruner": Guarded(pruner=LSP(k=1))}, OptionError, "guarded must see the whole graph at once"),
        ({"until": 3, "pruner": Random(keep=0.5)}, OptionError, "random must see the whole graph at once"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_and_nothing_is_left(tmp_path, options, error, message):
    path, reading = write(tmp_path, 7)
    table, at = parquet.read_table(path), np.arange(EDGES) == 57
    table = table.append_column("gap", pa.array(np.where(at, np.nan, 1.0)))
    table = table.append_column("hole", pa.array(np.arange(EDGES), mask=at)).append_column("word", ["a"] * EDGES)
    parquet.write_table(table, path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(error, match=message):
        streamed(path, Timed(**{"pruner": LSP(k=1), "time": "t", **options}), reading)
    assert sorted(tmp_path.iterdir()) == before


def test_a_missing_time_in_text_is_named_by_its_line(tmp_path):
    (tmp_path / "in.csv").write_text("source,target,t\n0,1,3\n1,2,\n")
    with pytest.raises(FormatError, match="column 't', line 3: a value is missing"):
        prune_stream(tmp_path / "in.csv", tmp_path / "out.csv", Timed(pruner=LocalRandom(k=1), time="t", until=3))


def test_allowed_edges_are_numbered_as_if_there_were_no_others(tmp_path):
    path, _ = write(tmp_path, 8)
    files = open_edges(path, columns=["t"])
    allowed = np.random.default_rng(0).random(EDGES) < 0.3
    edges = AllowedEdges(files, allowed)
    assert edges.edges == allowed.sum()
    for rows in (1, 7, 64, 1000):
        batches = list(edges.batches(rows, columns=["t"]))
        assert [batch.first for batch in batches] == np.cumsum([0, *(b.source.size for b in batches)])[:-1].tolist()
        assert max(batch.source.size for batch in batches) <= rows
        whole = parquet.read_table(path)["t"].to_numpy()
        np.testing.assert_array_equal(np.concatenate([batch.columns["t"] for batch in batches]), whole[allowed])
        pieces = list(edges.pieces(rows, False))
        np.testing.assert_array_equal(np.concatenate([p.source for p in pieces]), _source(path)[allowed])


def _source(path) -> np.ndarray:
    return parquet.read_table(path)["source"].to_numpy()


def test_isolated_nodes_are_those_of_memory(tmp_path):
    from lsprune.kernels import runtime

    path, options = write(tmp_path, 9)
    pruner = Timed(pruner=LSP(keep=0.1), time="t", until=BIG + 15)
    graph = read_edges(path, columns=["t"], **options).graph
    assert isinstance(graph, Graph)
    assert streamed(path, pruner, options)[0].isolated == pruner.mask_graph(graph, runtime()).isolated
