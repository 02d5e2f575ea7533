"""Edges in files with ids that are text: the same rows as from the table in memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from pyarrow import csv, parquet  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from lsprune import LSP, FormatError, GraphError, OptionError, prune  # noqa: E402
from lsprune.adapters.tables.text_id_files import read_graph, read_text_ids  # noqa: E402
from lsprune.baselines import TopWeight  # noqa: E402
from lsprune.cli import app  # noqa: E402


def edges(seed: int = 0, rows: int = 300):
    """A table of edges between people."""
    rng = np.random.default_rng(seed)
    names = np.array([f"person {i}" for i in range(30)])
    ends = (names[rng.integers(0, 30, rows)] for _ in range(2))
    return pa.table({"src": next(ends), "dst": next(ends), "weight": rng.random(rows), "note": names[:1].repeat(rows)})


def people():
    """A table of nodes, in another order, with one that has no edges."""
    rng = np.random.default_rng(1)
    ids = [f"person {i}" for i in rng.permutation(31)]
    return pa.table({"id": ids, "a": rng.normal(size=31), "b": rng.normal(size=31)})


def write(path: Path, table) -> Path:
    parquet.write_table(table, path) if path.suffix == ".parquet" else csv.write_csv(table, path)
    return path


def run(*words: object) -> dict:
    result = CliRunner().invoke(app, ["prune", *map(str, words), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_the_command_keeps_the_rows_of_the_table_in_memory(tmp_path, suffix):
    path, out = write(tmp_path / f"in{suffix}", edges()), tmp_path / f"out{suffix}"
    report = run(path, out, "--pruner", "top-weight", "--set", "column=weight", "--k", "2")
    expected = prune(edges(), TopWeight(k=2, column="weight"))
    found = parquet.read_table(out) if suffix == ".parquet" else csv.read_csv(out)
    assert found.to_pydict() == expected.to_pydict()
    assert report["kept"] == expected.num_rows


def test_the_order_of_rows_does_not_matter(tmp_path):
    order = np.random.default_rng(3).permutation(300)
    kept = []
    for name, table in (("one", edges()), ("two", edges().take(pa.array(order)))):
        out = tmp_path / f"{name}-out.parquet"
        run(write(tmp_path / f"{name}.parquet", table), out, "--pruner", "local-random", "--k", "3")
        kept.append(sorted(map(str, parquet.read_table(out, columns=["src", "dst"]).to_pylist())))
    assert kept[0] == kept[1]


def test_features_are_joined_by_id(tmp_path):
    path, nodes, out = tmp_path / "in.parquet", tmp_path / "people.parquet", tmp_path / "out.parquet"
    write(path, edges()), write(nodes, people())
    run(path, out, "--features", nodes, "--k", "3")
    assert parquet.read_table(out).to_pydict() == prune(edges(), LSP(k=3), features=people()).to_pydict()
    run(path, out, "--features", nodes, "--x", "b", "--edge-attr", "weight", "--k", "3")
    expected = prune(edges(), LSP(k=3), features=people().select(["id", "b"]), edge_attr=["weight"])
    assert parquet.read_table(out).to_pydict() == expected.to_pydict()


def test_text_becomes_parquet(tmp_path):
    path, out = write(tmp_path / "in.csv", edges()), tmp_path / "out.parquet"
    run(path, out, "--pruner", "local-random", "--k", "2")
    assert parquet.read_table(out)["src"][0].as_py().startswith("person ")


def test_whole_numbers_are_read_as_before(tmp_path):
    whole = (
        edges().set_column(0, "src", pa.array(np.arange(300) % 7)).set_column(1, "dst", pa.array(np.arange(300) % 5))
    )
    for suffix in (".parquet", ".csv"):
        assert read_text_ids(write(tmp_path / f"in{suffix}", whole)) is None
    np.savez(tmp_path / "in.npz", edge_index=np.zeros((2, 3), int))
    assert read_text_ids(tmp_path / "in.npz") is None


def test_bad_input_is_one_clear_error(tmp_path):
    path, nodes = write(tmp_path / "in.parquet", edges()), tmp_path / "people.parquet"
    with pytest.raises(OptionError, match="bipartite must not be given .* not whole numbers; prune --stream --map-ids"):
        read_text_ids(path, bipartite=True)
    write(nodes, people().drop(["id"]))
    with pytest.raises(FormatError, match=r"people.parquet: must have a column of ids \(id, node_id, node\)"):
        read_text_ids(path, features=nodes)
    write(nodes, people().slice(0, 5))
    with pytest.raises(GraphError, match="people.parquet: features must have a row for each id, got none for 'person"):
        read_text_ids(path, features=nodes)
    missing = edges().set_column(0, "src", pa.array([None, *edges()["src"].to_pylist()[1:]]))
    with pytest.raises(GraphError, match="column 'src', row 0: a value is missing"):
        read_text_ids(write(tmp_path / "null.parquet", missing))
    mixed = edges().set_column(1, "dst", pa.array(np.arange(300)))
    with pytest.raises(GraphError, match="must be of one kind: src has string, dst has int64"):
        read_text_ids(write(tmp_path / "mixed.parquet", mixed))


def test_spaces_around_ids_in_text_are_left_out(tmp_path):
    (tmp_path / "in.csv").write_text("src,dst\nann, eve\nbob,eve \ncid,eve\n")
    found = read_text_ids(tmp_path / "in.csv")
    assert found.graph.num_nodes == 4 and len(set(found.graph.ends()[1].tolist())) == 1


def write_nodes(path: Path, **more) -> Path:
    table = people()
    for name, values in more.items():
        table = table.append_column(name, pa.array(values))
    return write(path, table)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_labels_and_splits_are_joined_by_id_and_are_no_features(tmp_path, suffix):
    topic, part = ["a", "b", "c", "d"] * 7 + [None] * 3, ["train", "val", "test"] * 10 + ["train"]
    nodes = write_nodes(tmp_path / f"people{suffix}", topic=topic, part=part)
    path = write(tmp_path / f"in{suffix}", edges())
    graph = read_text_ids(path, features=nodes, label="topic", split=["part"]).graph
    plain = read_text_ids(path, features=write_nodes(tmp_path / f"plain{suffix}")).graph
    np.testing.assert_array_equal(graph.x, plain.x)
    row = {tuple(values): i for i, values in enumerate(zip(*people().to_pydict().values(), strict=True))}
    rows = [next(i for key, i in row.items() if key[1:] == tuple(x)) for x in graph.x.tolist()]
    assert graph.y.tolist() == [-1 if topic[i] is None else "abcd".index(topic[i]) for i in rows]
    assert graph.train_mask.tolist() == [part[i] == "train" for i in rows]


def test_errors_name_the_file_of_nodes(tmp_path):
    path = write(tmp_path / "in.parquet", edges())
    nodes = write_nodes(tmp_path / "people.parquet", topic=["a"] * 31, h=[1.0] * 30 + [None])
    with pytest.raises(GraphError, match=r"people.parquet: column 'topic' must be numbers, got string; --label"):
        read_text_ids(path, features=nodes)
    with pytest.raises(GraphError, match=r"people.parquet: column 'h', row 30: a value is missing"):
        read_text_ids(path, features=nodes, x=["h"])
    with pytest.raises(FormatError, match=r"people.parquet: label \(--label\) must name what is there .*'topik'"):
        read_text_ids(path, features=nodes, label="topik")
    write(nodes, pa.concat_tables([people(), people().slice(0, 1)]))
    with pytest.raises(GraphError, match="people.parquet: features must have one row for each id, got several"):
        read_text_ids(path, features=nodes)
    write(nodes, people().append_column("x", pa.array([[1.0]] * 31)))
    with pytest.raises(OptionError, match="people.parquet: has a column 'x' of lists beside 'a', 'b'; name"):
        read_text_ids(path, features=nodes)


def test_read_graph_reads_both_kinds_of_ids(tmp_path):
    assert read_graph(write(tmp_path / "text.csv", edges())).graph.ids is not None
    (tmp_path / "whole.csv").write_text("src,dst\n0,1\n1,2\n")
    assert read_graph(tmp_path / "whole.csv").graph.ids is None


def test_a_folder_is_named(tmp_path):
    with pytest.raises(FormatError, match="is a folder: folders are read by `lsprune prune --stream`"):
        read_graph(tmp_path)


def test_whole_numbers_of_edges_may_be_quantities(tmp_path):
    path = write(tmp_path / "in.parquet", edges().append_column("when", pa.array(range(300))))
    for floats in (False, True):
        graph = read_text_ids(path, edge_attr=["when"], float_edge_attr=floats).graph
        assert graph.edge_attr.dtype.kind == ("f" if floats else "i")
