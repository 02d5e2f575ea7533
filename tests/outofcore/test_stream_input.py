"""The input of a run: edges, the attributes of their nodes, and numbers of nodes as far as they are known."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
from pyarrow import parquet

from lsprune import LSP, GraphError, LocalRandom, OptionError
from lsprune.files import EdgeOptions
from lsprune.outofcore.memory_ceiling import Ceiling
from lsprune.outofcore.stream_context import StreamContext
from lsprune.outofcore.stream_input import StreamInput
from lsprune.outofcore.work_folder import Work

X = np.arange(12.0, dtype=np.float32).reshape(6, 2)


def read(folder, pruner=LSP(k=1), mapping=None, **options):  # noqa: B008
    """The edges and nodes of a small file of edges."""
    if not (folder / "e.parquet").exists():
        parquet.write_table(pa.table({"source": [0, 1, 4], "target": [2, 2, 1]}), folder / "e.parquet")
    np.save(folder / "x.npy", X)
    source = StreamInput(folder / "e.parquet", EdgeOptions.of(None, options), mapping, 10**6)
    edges = source.open(options.get("num_nodes"))
    context = StreamContext.of(pruner, Ceiling(2 * 10**9, 0, 1), Work(folder), edges, lambda text: None)
    return source.read_nodes(edges, context)


def test_attributes_say_how_many_nodes_there_are(tmp_path):
    edges, nodes = read(tmp_path, features=tmp_path / "x.npy")
    assert nodes.sizes == (6, 6) and nodes.width == 2
    assert nodes.x[0] is nodes.x[1]
    np.testing.assert_array_equal(nodes.x[0], X)
    graph = nodes.graph((6, 6), LSP(k=1))
    assert (graph.num_nodes, graph.num_edges, graph.bipartite) == (6, 0, False)
    assert edges.tables == nodes.attributes


def test_without_attributes_and_numbers_nothing_is_known(tmp_path):
    _, nodes = read(tmp_path, LocalRandom(k=1))
    assert nodes.sizes == (None, None) and nodes.x == (None, None) and nodes.width == 0
    assert read(tmp_path, LocalRandom(k=1), num_nodes=9)[1].sizes == (9, 9)


def test_two_kinds_of_nodes_have_attributes_of_their_own(tmp_path):
    np.save(tmp_path / "y.npy", np.ones((3, 5), np.float32))
    options = {"bipartite": True, "features": tmp_path / "x.npy", "target_features": tmp_path / "y.npy"}
    _, nodes = read(tmp_path, **options)
    assert nodes.sizes == (6, 3) and nodes.width == 5 and nodes.two_kinds
    assert [x.shape for x in nodes.x] == [(6, 2), (3, 5)]


def test_rows_and_nodes_must_be_as_many(tmp_path):
    with pytest.raises(GraphError, match=r"x must have 9 rows, one for each node, got \[6, 2\]"):
        read(tmp_path, features=tmp_path / "x.npy", num_nodes=9)


def test_attributes_that_the_pruner_needs_are_missed_at_once(tmp_path):
    with pytest.raises(GraphError, match="neither node attributes"):
        read(tmp_path, LSP(k=1))
    read(tmp_path, LSP(k=1, hash="identity"))


def test_ids_are_numbered_and_the_mapping_is_restored(tmp_path):
    parquet.write_table(pa.table({"source": ["a", "c", "d"], "target": ["b", "b", "a"]}), tmp_path / "e.parquet")
    mapping = tmp_path / "map.parquet"
    edges, nodes = read(tmp_path, LocalRandom(k=1), mapping=mapping)
    assert nodes.sizes == (4, 4)
    written = parquet.read_table(mapping)
    assert written["id"].to_pylist() == ["a", "b", "c", "d"]
    said, source = [], StreamInput(tmp_path / "e.parquet", EdgeOptions(), mapping, 10**6)
    manifest = type("Manifest", (), {"config": {"map_ids": vars(edges.entry)}})()
    assert source.has_mapping(manifest, said.append)
    source.refuse_changed_mapping(edges.entry)
    assert not said
    mapping.unlink()
    with pytest.raises(OptionError, match=r"map\.parquet: is missing; it was changed by somebody"):
        source.refuse_changed_mapping(edges.entry)
    assert not source.has_mapping(manifest, said.append)
    assert said[0].endswith("it is made again")
    source.write_mapping(tmp_path, 100)
    assert parquet.read_table(mapping).equals(written)
    with pytest.raises(OptionError, match="num_nodes must be at least the 4 ids that there are, got 3"):
        read(tmp_path, LocalRandom(k=1), mapping=mapping, num_nodes=3)
