"""Node attributes from a file of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from files_helpers import EDGES, parquet, save, text
from pyarrow import csv

from lsprune import LSP, Graph
from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files import read_edges


def test_features_from_every_format(tmp_path: Path) -> None:
    edges = save(tmp_path / "in.npz", edge_index=EDGES, x=np.zeros((4, 1)))
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "f.npy", np.asfortranarray(x))
    np.savez(tmp_path / "one.npz", anything=x)
    sp.save_npz(tmp_path / "sparse.npz", sp.csr_matrix(x))
    parquet(tmp_path / "x.parquet", a=x[:, 0], b=x[:, 1], c=x[:, 2])
    parquet(tmp_path / "list.parquet", v=pa.array(x.tolist(), pa.list_(pa.float32(), 3)))
    for name in ("x.npy", "f.npy", "one.npz", "sparse.npz", "x.parquet", "list.parquet"):
        got = read_edges(edges, features=tmp_path / name).graph.x
        assert np.array_equal(got.toarray() if sp.issparse(got) else got, x)
        assert sp.issparse(got) == (name == "sparse.npz")
    mapped = read_edges(edges, features=tmp_path / "x.npy").graph.x
    assert not mapped.flags.owndata
    assert not mapped.flags.writeable


def test_features_of_no_nodes(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.empty((0, 3)))
    edges = save(tmp_path / "in.npz", edge_index=np.empty((2, 0), np.int64))
    assert read_edges(edges, features=tmp_path / "x.npy").graph.x.shape == (0, 3)


def test_features_refused(tmp_path: Path) -> None:
    edges = save(tmp_path / "in.npz", edge_index=EDGES)
    np.save(tmp_path / "short.npy", np.ones((3, 2)))
    np.save(tmp_path / "text.npy", np.array(["a"] * 4))
    np.save(tmp_path / "cube.npy", np.ones((4, 2, 2)))
    np.save(tmp_path / "scalar.npy", np.array(1.0))
    np.savez(tmp_path / "two.npz", a=np.eye(4), b=np.eye(4))
    parquet(tmp_path / "bad.parquet", a=[1.0, None, 2.0, 3.0])
    text(tmp_path / "x.csv", "1\n2\n3\n4\n")
    for name, message in (
        ("short.npy", "has 3 rows, but the edges name node 3"), ("text.npy", "features must be numbers, got <U1"),
        ("cube.npy", "features must have shape"), ("scalar.npy", "features must have shape"),
        ("two.npz", "must hold one array or a scipy matrix, got a, b"),
        ("bad.parquet", "column 'a', row 1: a value is missing"),
        ("x.csv", "the first line must name the columns"),
        ("x.txt", r"features must be a file with the suffix \.npy, .*\.csv"),
    ):  # fmt: skip
        with pytest.raises((FormatError, GraphError), match=message):
            read_edges(edges, features=tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read_edges(edges, features=tmp_path / "absent.npy")


def test_features_with_too_few_rows_are_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", edge_index=EDGES)
    np.save(tmp_path / "x.npy", np.ones((2, 3)))
    with pytest.raises(FormatError, match=r"x.npy: has 2 rows, but the edges name node \d"):
        read_edges(tmp_path / "in.npz", features=tmp_path / "x.npy")


ORDER = np.array([2, 0, 3, 1])
ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("name", ["id", "ID", "node_id", "node"])
@pytest.mark.parametrize("kind", ["columns", "list", "large_list", "fixed", "npz"])
def test_rows_are_joined_by_a_column_of_ids(tmp_path: Path, name: str, kind: str) -> None:
    edges, x = save(tmp_path / "in.npz", edge_index=EDGES), ROWS[ORDER]
    lists = {
        "list": pa.list_(pa.float32()),
        "large_list": pa.large_list(pa.float32()),
        "fixed": pa.list_(pa.float32(), 3),
    }
    columns = {"x": pa.array(x.tolist(), lists[kind])} if kind in lists else {f"c{i}": x[:, i] for i in range(3)}
    path = parquet(tmp_path / "n.parquet", **columns, **{name: ORDER})
    if kind == "npz":
        path = save(tmp_path / "n.npz", x=x, **{name: ORDER})
    graph = read_edges(edges, features=path).graph
    assert np.array_equal(graph.x, ROWS)
    assert graph.x.dtype == np.float32
    assert graph.known == (None, None)


def test_the_caller_names_ids_and_features(tmp_path: Path) -> None:
    edges = save(tmp_path / "in.npz", edge_index=EDGES)
    nodes = parquet(tmp_path / "n.parquet", key=ORDER, a=ROWS[ORDER, 0], b=ROWS[ORDER, 1], word=["x"] * 4)
    found = read_edges(edges, features=nodes, id="key", x=["b", "a"]).graph.x
    assert np.array_equal(found, ROWS[:, [1, 0]])
    assert np.array_equal(read_edges(edges, features=nodes, x=["key"]).graph.x, ORDER)  # a feature, rows by position
    ids = parquet(tmp_path / "ids.parquet", id=ORDER, a=ROWS[:, 0])
    assert np.array_equal(read_edges(edges, features=ids, x=["id", "a"]).graph.x, np.column_stack([ORDER, ROWS[:, 0]]))
    lists = parquet(tmp_path / "l.parquet", x=ROWS[:, :2].tolist(), label=[1, 2, 3, 4])
    assert read_edges(edges, features=lists).graph.x.shape == (4, 2)  # a column x of lists stands for itself
    for options, error, said in (
        ({"id": "absent"}, FormatError, "no column 'absent'; it has 'key', 'a'"),
        ({"x": ["absent"]}, FormatError, "no column 'absent'"), ({"id": "a", "x": ["a"]}, OptionError, "must not name"),
        ({"id": "key"}, FormatError, r"column 'word' must be numbers, got string .*--x \(x in Python\)"),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            read_edges(edges, features=nodes, **options)
    with pytest.raises(FormatError, match="several columns may hold ids: 'id', 'node'; choose one with --id"):
        read_edges(edges, features=parquet(tmp_path / "two.parquet", id=ORDER, node=ORDER, a=ORDER))
    asin = parquet(tmp_path / "asin.parquet", item_id=ORDER, a=ROWS[ORDER, 0])
    for options in ({}, {"x": ["a"]}):
        with pytest.raises(FormatError, match="column 'item_id' looks like ids; --id item_id"):
            read_edges(edges, features=asin, **options)
    assert np.array_equal(read_edges(edges, features=asin, id="item_id").graph.x, ROWS[:, 0])
    assert np.array_equal(read_edges(edges, features=asin, id="", x=["a"]).graph.x, ROWS[ORDER, 0])
    assert read_edges(edges, features=asin, x=["a", "item_id"]).graph.x.shape == (4, 2)
    with pytest.raises(OptionError, match=r"id \(--id\) must come with features"):
        read_edges(edges, id="key")
    np.save(tmp_path / "x.npy", ROWS)
    with pytest.raises(OptionError, match=r"id \(--id\) must not be given for .*x\.npy, which has no columns"):
        read_edges(edges, features=tmp_path / "x.npy", id="key")


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([0, 1, 2, 2], "ids of nodes must be unique, got 2 2 times"),
        ([0, 1, None, 3], "column 'id', row 2: a value is missing"),
        ([0, 1, 2, -3], "column 'id', row 3: ids must be >= 0, got -3"),
        ([0.0, 1.0, 2.0, 3.0], "column 'id' must be integers, got double"),
        (["a", "b", "c", "d"], "column 'id' must be integers, got string"),
        ([0, 1, 2, 4], r"column '.*', row \d: ids in edges must be among the nodes, got 3"),
        ([0, 1, 2, 10**12], "id 1000000000000 is far beyond the 4 rows"),
    ],
)
def test_ids_of_nodes_that_are_refused(tmp_path: Path, ids: list, said: str) -> None:
    edges = save(tmp_path / "in.npz", edge_index=EDGES)
    with pytest.raises((FormatError, GraphError), match=said) as caught:
        read_edges(edges, features=parquet(tmp_path / "n.parquet", id=ids, a=ROWS[:, 0]))
    assert str(tmp_path) in str(caught.value)


def test_an_id_of_the_edges_beyond_all_nodes_is_named(tmp_path: Path) -> None:
    edges = save(tmp_path / "in.npz", edge_index=EDGES)
    nodes = parquet(tmp_path / "n.parquet", id=[1, 0, 2], a=[1.0, 2.0, 3.0])
    with pytest.raises(GraphError, match=r"ids in edges must be among the nodes, in \[0, 3\), got 3"):
        read_edges(edges, features=nodes)


def test_nodes_that_a_table_does_not_name_take_no_part_in_fit(tmp_path: Path) -> None:
    """Ids from 1 on, and a gap: the scales are those of the rows in the table, however the nodes are numbered."""
    random = np.random.default_rng(0)
    ends, x = random.integers(0, 20, (2, 300)), random.standard_normal((20, 4)).astype(np.float32)
    numbers = np.arange(20) * 2 + 1
    pruner = LSP(k=2)
    dense = pruner.fit(Graph.from_edges(ends, num_nodes=20, x=x))
    order = random.permutation(20)
    nodes = parquet(tmp_path / "n.parquet", id=numbers[order], v=x[order].tolist())
    for arrays in ({"edge_index": numbers[ends]}, _compressed(numbers[ends])):
        graph = read_edges(save(tmp_path / "in.npz", **arrays), features=nodes, num_nodes=40).graph
        assert graph.num_nodes == 40
        assert pruner.fit(graph) == dense
        assert np.array_equal(pruner.mask(graph), dense.mask(graph))
        assert np.array_equal(graph.x[numbers], x)


def _compressed(ends: np.ndarray) -> dict[str, np.ndarray]:
    order = np.argsort(ends[0], kind="stable")
    counts = np.bincount(ends[0], minlength=40)
    return {"indptr": np.append(0, np.cumsum(counts)), "indices": ends[1][order]}


def test_ids_beside_x_in_the_file_of_edges_must_be_in_order(tmp_path: Path) -> None:
    save(tmp_path / "in.npz", edge_index=EDGES, x=ROWS, id=np.arange(4))
    assert np.array_equal(read_edges(tmp_path / "in.npz").graph.x, ROWS)
    save(tmp_path / "in.npz", edge_index=EDGES, x=ROWS, id=ORDER)
    with pytest.raises(FormatError, match=r"array 'id' must be 0, 1, 2, \.\.: row i of x is node i"):
        read_edges(tmp_path / "in.npz")


def test_text_is_read_as_parquet_is(tmp_path: Path) -> None:
    edges = save(tmp_path / "in.npz", edge_index=EDGES)
    table = pa.table({"id": ORDER, **{f"c{i}": ROWS[:, i] for i in range(3)}})
    csv.write_csv(table, tmp_path / "x.csv")
    assert np.array_equal(read_edges(edges, features=tmp_path / "x.csv").graph.x[ORDER], ROWS)
    csv.write_csv(table.set_column(0, "id", pa.array(["a", "b", "c", "d"])), tmp_path / "text.csv")
    with pytest.raises(FormatError, match="text.csv: column 'id' must be integers, .* ids of edges are whole numbers"):
        read_edges(edges, features=tmp_path / "text.csv")
