"""EdgeOptions: one description of how to read edges, for reading, streaming and the command line."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from files_helpers import EDGES, save
from pyarrow import csv, parquet

from lsprune.errors import OptionError
from lsprune.files import EdgeKeywords, EdgeOptions, open_edges, read_edges
from lsprune.files.edge_options import TableOptions


def test_keywords_are_the_fields() -> None:
    assert list(EdgeKeywords.__annotations__) == [field.name for field in fields(EdgeOptions)]
    types = {field.name: field.type for field in fields(EdgeOptions)}
    assert {name: kind.__forward_arg__ for name, kind in EdgeKeywords.__annotations__.items()} == types


def test_sequences_paths_and_counts_are_made_plain() -> None:
    options = EdgeOptions(edge_attr=["w"], features="x.npy", x=["a", "b"], num_nodes=np.int32(5))
    assert (options.edge_attr, options.x, options.features) == (("w",), ("a", "b"), Path("x.npy"))
    assert type(options.num_nodes) is int
    assert options == EdgeOptions(edge_attr=("w",), features=Path("x.npy"), x=("a", "b"), num_nodes=5)
    assert hash(options) == hash(EdgeOptions.of(options, {}))
    assert options.tables == (TableOptions(Path("x.npy"), None, ("a", "b")), None)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"source": "a"}, "source and target must be named together"),
        ({"target": "a"}, "source and target must be named together"),
        ({"num_nodes": -1}, "num_nodes must be a whole number >= 0, got -1"),
        ({"num_nodes": 1.5}, "num_nodes must be a whole number"),
        ({"num_nodes": (3, "x")}, "num_nodes must be a whole number"),
        ({"edge_arrays": ["y"], "node_arrays": ["x", "y"]}, "no name in common, got 'y'"),
        ({"id": "i"}, r"id \(--id\) must come with features \(--features\), got 'i' alone"),
        ({"target_x": ["a", "b"]}, r"target_x \(--target-x\) must come with target_features .*got 'a, b' alone"),
    ],
)
def test_refused(keywords: dict, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        EdgeOptions(**keywords)


def test_two_kinds_are_said_by_a_flag_or_a_pair() -> None:
    assert EdgeOptions(bipartite=True).two_kinds
    assert EdgeOptions(num_nodes=(None, 3)).two_kinds
    assert not EdgeOptions(num_nodes=3, bipartite=False).two_kinds


def test_readers_take_options_keywords_or_both(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", a=EDGES[0], b=EDGES[1], w=np.arange(5))
    options = EdgeOptions(source="a", target="b")
    for read in (read_edges(path, options, edge_attr=["w"]), read_edges(path, source="a", target="b", edge_attr=["w"])):
        assert np.array_equal(read.graph.ends(), EDGES)
        assert read.graph.edge_attr.tolist() == [0, 1, 2, 3, 4]
    assert open_edges(path, options).names == open_edges(path, source="a", target="b").names == ("a", "b")
    with pytest.raises(TypeError, match="sorce"):
        read_edges(path, sorce="a")


def test_both_ends_are_two_columns() -> None:
    with pytest.raises(OptionError, match="source and target must be two columns, got 'a' for both"):
        EdgeOptions(source="a", target="a")


def test_a_split_has_one_name_or_three_and_no_mask_beside_it() -> None:
    assert EdgeOptions(split=["a", "b", "c"], label="y").label_names == ("y", "a", "b", "c")
    assert (EdgeOptions(split=["part"]).training, EdgeOptions(train_mask="m").training) == ("part", "m")
    with pytest.raises(OptionError, match="split must name three masks or one column, got 2 names: a, b"):
        EdgeOptions(split=["a", "b"])
    with pytest.raises(OptionError, match=r"train_mask \(--train-mask\) must not be given with split \(--split\)"):
        EdgeOptions(split=["a"], train_mask="m")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_whole_numbers_of_edges_are_quantities_if_the_caller_says_so(tmp_path: Path, suffix: str) -> None:
    path, columns = tmp_path / f"in{suffix}", {"src": [0, 1, 2], "dst": [1, 2, 0], "when": [10**9, 5, 7]}
    if suffix == ".npz":
        np.savez(path, **columns)
    else:
        (csv.write_csv if suffix == ".csv" else parquet.write_table)(pa.table(columns), path)
    for floats in (False, True):
        options = EdgeOptions(source="src", target="dst", edge_attr=["when"], float_edge_attr=floats)
        in_memory = read_edges(path, options).graph.edge_attr
        assert (in_memory.dtype.kind, in_memory.tolist()) == ("f" if floats else "i", columns["when"])
        files = open_edges(path, options)
        batch = next(files.batches(5, attributes=True))
        assert batch.edge_attr.dtype == files.attr_dtype == in_memory.dtype
    with pytest.raises(OptionError, match="float_edge_attr must be True or False, got 1"):
        EdgeOptions(float_edge_attr=1)
