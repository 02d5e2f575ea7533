"""Edges within a time on Spark: the rows that memory keeps, for every kind of times."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

from lsprune import LSP, FormatError, Graph, GraphError, Guarded, LocalRandom, OptionError, Timed
from lsprune.baselines import TopWeight
from lsprune.weights import Column

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")
pytest.importorskip("pandas", reason="PySpark needs pandas where it uses Arrow: pip install 'lsprune[spark]'")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Java, which Spark runs on, is not installed", allow_module_level=True)

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from lsprune.cli import app  # noqa: E402
from lsprune.spark import fit_spark, prune_spark  # noqa: E402
from lsprune.spark.tables import GraphTables  # noqa: E402
from lsprune.spark.time_filter import within_time  # noqa: E402
from lsprune.time_rules import TimeRule  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)

BIG, NODES, EDGES = 2**60, 30, 400
RNG = np.random.default_rng(0)
ENDS = RNG.integers(0, NODES, (2, EDGES))
T, OWN = RNG.integers(0, 30, EDGES), RNG.integers(0, 30, NODES)
X = RNG.normal(size=(NODES, 3)).astype(np.float32)
W = RNG.random(EDGES) + 0.1
KINDS = {  # Arrow type, and how many nanoseconds (or units) a step is
    "long": (lambda t: pa.array(t + BIG), BIG, 1),
    "double": (lambda t: pa.array(t / 8), None, 1 / 8),
    "timestamp": (lambda t: pa.array(t * 7).cast(pa.timestamp("us", "UTC")), 0, 7000),
    "timestamp_ntz": (lambda t: pa.array(t * 10**7 + 10**15 + 5).cast(pa.timestamp("us")), 10**18 + 5000, 10**10),
    "date": (lambda t: pa.array(t.astype(np.int32)).cast(pa.date32()), 0, 86400 * 10**9),
}


def tables(session, kind: str, *, edge_time: bool = True):
    """Edges with their numbers `n` and times `t`, nodes with `x`, `t` and `born`; and the same graph in memory."""
    of = KINDS[kind][0]
    columns = {"source": ENDS[0], "target": ENDS[1], "n": np.arange(EDGES), "w": W}
    columns |= {"t": of(T)} if edge_time else {}
    edges = session.createDataFrame(pa.table(columns))
    rows = pa.array(X.tolist(), pa.list_(pa.float32()))
    nodes = session.createDataFrame(pa.table({"id": np.arange(NODES), "x": rows, "t": of(OWN), "born": of(OWN[::-1])}))
    if kind == "timestamp_ntz":  # a table of Arrow has no such type
        edges = edges.withColumn("t", edges["t"].cast(kind)) if edge_time else edges
        nodes = nodes.withColumn("t", nodes["t"].cast(kind))
    assert nodes.schema["t"].dataType.simpleString() == {"long": "bigint"}.get(kind, kind)
    graph = Graph.from_edges(ENDS, num_nodes=NODES, x=X)
    named = {"t": _plain(of(T)), "w": W} if edge_time else {"w": W}
    return edges, nodes, graph.with_columns(named, {"t": _plain(of(OWN)), "born": _plain(of(OWN[::-1]))})


def _plain(column) -> np.ndarray:
    return column.to_numpy(zero_copy_only=False)


def at(kind: str, step: int):
    """A time of this kind."""
    _, base, size = KINDS[kind]
    if kind == "double":
        return step * size
    return base + step if kind == "long" else np.datetime64(base + step * size, "ns")


def span(kind: str, step: int):
    size = KINDS[kind][2]
    return step * size if kind in ("long", "double") else np.timedelta64(step * size, "ns")


CASES = [
    ("long", {"until": 12}), ("long", {"until": "owner", "window": 6, "node_time": "born"}),
    ("long", {"window": 4, "since": 8}), ("double", {"until": 20, "window": 9}), ("double", {"window": 3}),
    ("timestamp", {"until": 12, "since": 3}), ("timestamp", {"window": 5}), ("timestamp_ntz", {"until": 12}),
    ("timestamp_ntz", {"until": "owner", "window": 8}), ("date", {"until": "owner"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "rule"), CASES, ids=str)
def test_the_edges_within_the_time_are_those_of_memory(session, kind, rule):
    edge_time = CASES.index((kind, rule)) % 3 != 1
    edges, nodes, graph = tables(session, kind, edge_time=edge_time)
    made = {"until": at, "since": at, "window": span}
    rule = {name: made[name](kind, step) if isinstance(step, int) else step for name, step in rule.items()}
    timed = Timed(pruner=LocalRandom(k=1, side="in" if edge_time else "out"), time="t", **rule)
    frame = within_time(GraphTables(edges=edges, nodes=nodes), (timed.rule,))
    assert frame.schema == edges.schema
    expected = np.flatnonzero(timed.allowed(graph))
    assert sorted(frame.toArrow()["n"].to_pylist()) == expected.tolist()
    assert 0 < expected.size < EDGES


INNER = [
    (LSP(keep=0.4), {"until": BIG + 18}), (TopWeight(k=2, column="t", self_loops="edge"), {"until": "owner"}),
    (Timed(pruner=LSP(k=2, hash="identity", weights=Column(column="w")), time="t", window=9), {"until": BIG + 20}),
]  # fmt: skip


@pytest.mark.parametrize(("inner", "rule"), INNER, ids=str)
def test_the_inner_pruner_sees_the_allowed_edges_alone(session, inner, rule, kept_by):
    edges, nodes, graph = tables(session, "long")
    pruner = Timed(pruner=inner, time="t", **rule)
    kept = prune_spark(edges, nodes.drop("born"), pruner, position="n", partitions=2, hub=60)
    assert kept.schema == edges.schema
    np.testing.assert_array_equal(kept_by(kept), np.flatnonzero(pruner.mask(graph)))


def test_fit_looks_at_the_allowed_edges(session):
    edges, nodes, graph = tables(session, "long")
    graph = Graph.from_edges(ENDS, num_nodes=NODES, x=X, edge_attr=W).with_columns(graph.edge_columns, {})
    pruner = Timed(pruner=LSP(k=2, attributes=("edge",)), time="t", until=BIG + 9)
    fitted = fit_spark(edges, nodes.drop("born"), pruner, edge_attr="w")
    assert fitted == pruner.fit(graph) and isinstance(fitted, Timed)
    assert fitted != Timed(pruner=pruner.pruner.fit(graph), time="t", until=BIG + 9)


def test_dates_by_name_without_timed(session, kept_by):
    edges, _, graph = tables(session, "timestamp")
    pruner = TopWeight(k=3, column="t", self_loops="edge")
    kept = kept_by(prune_spark(edges, None, pruner, position="n"))
    np.testing.assert_array_equal(kept, np.flatnonzero(pruner.mask(graph)))


def test_whole_numbers_and_floats_are_compared_if_that_is_exact(session):
    edges, _, graph = tables(session, "long")
    edges = edges.withColumn("t", edges["t"] - BIG)
    nodes = session.createDataFrame(pa.table({"id": np.arange(NODES), "t": OWN + 0.5}))
    frame = within_time(GraphTables(edges=edges, nodes=nodes), (TimeRule(time="t", until="owner"),))
    assert sorted(frame.toArrow()["n"].to_pylist()) == np.flatnonzero(OWN[ENDS[1]] + 0.5 >= T).tolist()
    edges = tables(session, "long")[0]
    with pytest.raises(GraphError, match="must be below 2\\^53 to be compared with floats exactly"):
        within_time(GraphTables(edges=edges, nodes=nodes), (TimeRule(time="t", until="owner"),))


def test_spans_of_all_64_bits_do_not_overflow(session):
    low, high = -(2**63), 2**63 - 1
    edges = session.createDataFrame(pa.table({"source": [1, 2, 3], "target": [0, 0, 0], "t": [low, 0, high]}))
    for rule, kept in (
        ({"window": high}, [2, 3]),
        ({"window": 2**62}, [3]),
        ({"until": low, "window": 5}, [1]),
        ({"until": high, "window": 0}, [3]),
        ({"until": -1e300}, []),
    ):
        frame = within_time(GraphTables(edges=edges, nodes=None), (TimeRule(time="t", **rule),))
        assert sorted(row["source"] for row in frame.collect()) == kept


@pytest.mark.parametrize(
    ("pruner", "error", "message"),
    [
        (Timed(pruner=LSP(k=1), time="wen", until=3), FormatError, "no column 'wen' with times of the edges or neigh"),
        (Timed(pruner=LSP(k=1), time="t", until="owner", node_time="no"), FormatError, "no column 'no' with times of"),
        (Timed(pruner=LSP(k=1), time="t", until="2024-01-01"), OptionError, "until must be a number, since the times"),
        (Timed(pruner=LSP(k=1), time="gap", until=3), GraphError, "time 'gap' must be finite, got 1 that are not"),
        (Timed(pruner=LSP(k=1), time="hole", until=3), GraphError, "time 'hole' must have a value in every row, got 1"),
        (
            Timed(pruner=LSP(k=1), time="word", until=3),
            FormatError,
            "column 'word' must hold numbers or dates",
        ),
        (Timed(pruner=Guarded(pruner=LSP(k=1)), time="t", until=3), OptionError, "guarded must see the whole graph"),
        (Timed(pruner=LSP(k=1, symmetric="union"), time="t", until=3), OptionError, "symmetric must be None here"),
        (TopWeight(k=1, column="no"), FormatError, "there must be one column 'no'"),
        (TopWeight(k=1, column="hole"), GraphError, "column 'hole' must have a value in every row, got 1 without"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(session, pruner, error, message):
    table = {"source": [0, 1], "target": [1, 0], "t": [1, 2], "gap": [1.0, float("nan")], "hole": [1, None]}
    edges = session.createDataFrame(pa.table({**table, "word": ["a", "b"]}))
    nodes = session.createDataFrame(pa.table({"id": [0, 1], "a": [1.0, 2.0]}))
    with pytest.raises(error, match=message):
        prune_spark(edges, nodes, pruner)


def test_the_command(session, tmp_path):
    edges, _, graph = tables(session, "long")
    edges.write.parquet(str(tmp_path / "edges"))
    spec = f"timed:pruner=(top-weight:k=2,column=t,self_loops=edge),time=t,until={BIG + 12}"
    done = CliRunner().invoke(app, ["spark-prune", str(tmp_path / "edges"), str(tmp_path / "out"), "--pruner", spec])
    assert done.exit_code == 0, done.output
    pruner = Timed(pruner=TopWeight(k=2, column="t", self_loops="edge"), time="t", until=BIG + 12)
    kept = pq.read_table(tmp_path / "out")
    mask = pruner.mask(graph)
    assert len(kept) == mask.sum() and kept["t"].to_numpy().max() <= BIG + 12
    by_owner = sorted(zip(kept["target"].to_pylist(), kept["t"].to_pylist(), strict=True))
    assert by_owner == sorted(zip(ENDS[1][mask].tolist(), (T[mask] + BIG).tolist(), strict=True))
