"""Labels and training masks come from the file of edges or from the table of nodes, and are never features."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lsprune import LSP, FormatError, GraphError, OptionError
from lsprune.baselines import TopWeight
from lsprune.files import read_edges
from lsprune.files.node_labels import labels_of, mask_of

ENDS = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]]).repeat(3, axis=1)
X = np.random.default_rng(0).standard_normal((5, 2)).astype(np.float32)
Y, MASK = np.array([0, 1, 0, 1, -1]), np.array([True, True, True, False, False])


def test_arrays_beside_the_edges_by_their_usual_names_or_others(tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=ENDS, x=X, y=Y, train_mask=MASK, topic=Y + 2)
    graph = read_edges(tmp_path / "g.npz").graph
    assert graph.y.tolist() == Y.tolist() and graph.train_mask.tolist() == MASK.tolist()
    assert read_edges(tmp_path / "g.npz", label="topic").graph.y.tolist() == (Y + 2).tolist()
    with pytest.raises(FormatError, match=r"label \(--label\) must name what is there .*topic.*, got 'subject'"):
        read_edges(tmp_path / "g.npz", label="subject")
    np.savez(tmp_path / "edges.npz", edge_index=ENDS, y=np.arange(15))  # of the edges, by its length
    assert read_edges(tmp_path / "edges.npz").graph.y is None
    with pytest.raises(FormatError, match=r"y must have a row for each of the 5 nodes, got \[15\]"):
        read_edges(tmp_path / "edges.npz", label="y")


def test_an_array_that_is_no_mask_of_the_nodes_keeps_labels_from_being_learned(tmp_path):
    rng = np.random.default_rng(0)
    ends, x = rng.integers(0, 9, (2, 40)), rng.standard_normal((9, 3)).astype(np.float32)
    np.savez(tmp_path / "g.npz", edge_index=ends, x=x, y=np.arange(9) % 2, train_mask=np.array([1, 4, 5]))
    graph = read_edges(tmp_path / "g.npz").graph
    with pytest.raises(GraphError, match="train_mask must hold one truth value"):
        LSP(k=2, hash="identity", weights="labels").mask(graph)
    assert LSP(k=2).mask(graph).any()


@pytest.mark.parametrize("shuffled", [False, True])
def test_columns_of_a_table_of_nodes_are_joined_by_id_and_are_no_features(tmp_path, shuffled):
    order = np.array([3, 0, 4, 1, 2]) if shuffled else np.arange(5)
    topic = pa.array([None if label < 0 else int(label) for label in Y[order]], pa.int64())
    split = pa.array(np.where(MASK, "train", "test")[order])
    columns = {"a": X[order, 0], "topic": topic, "b": X[order, 1], "split": split}
    ids = {"id": order} if shuffled else {}
    pq.write_table(pa.table({"source": ENDS[0], "target": ENDS[1]}), tmp_path / "edges.parquet")
    pq.write_table(pa.table({**ids, **columns}), tmp_path / "nodes.parquet")
    names = {"features": tmp_path / "nodes.parquet", "label": "topic", "train_mask": "split"}
    graph = read_edges(tmp_path / "edges.parquet", **names).graph
    np.testing.assert_array_equal(graph.x, X)
    assert graph.y.tolist() == Y.tolist() and graph.y.dtype.kind == "i"
    assert graph.train_mask.tolist() == MASK.tolist()
    with pytest.raises(FormatError, match="got 'subject'"):
        read_edges(tmp_path / "edges.parquet", **{**names, "label": "subject", "x": ["a", "b"]})


def test_nodes_that_the_table_lacks_have_no_label(tmp_path):
    """The fit is that of the graph without them."""
    ids = np.array([0, 2, 4, 6, 8])
    pq.write_table(pa.table({"source": ids[ENDS[0]], "target": ids[ENDS[1]]}), tmp_path / "edges.parquet")
    np.savez(tmp_path / "nodes.npz", id=ids, x=X, y=Y, train_mask=MASK)
    names = {"features": tmp_path / "nodes.npz", "label": "y", "train_mask": "train_mask"}
    gaps = read_edges(tmp_path / "edges.parquet", **names).graph
    np.savez(tmp_path / "dense.npz", edge_index=ENDS, x=X, y=Y, train_mask=MASK)
    pruner = TopWeight(k=1, weights="labels")
    assert pruner.fit(gaps) == pruner.fit(read_edges(tmp_path / "dense.npz").graph)


def test_labels_of_any_kind():
    assert labels_of(np.array(["b", "", "a", "b", None], object)).tolist() == [1, -1, 0, 1, -1]
    assert labels_of(np.array([2.5, np.nan])).dtype.kind == "f"
    assert mask_of(np.array([0, 1, -1])).tolist() == [False, True, False]
    assert mask_of(np.array(["train", "val", "test"])).tolist() == [True, False, False]
    assert mask_of(np.array(["train", None], object)).tolist() == [True, False]


def test_two_kinds_of_nodes_have_no_labels(tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=ENDS, y=Y)
    assert read_edges(tmp_path / "g.npz", bipartite=True).graph.y is None
    with pytest.raises(OptionError, match="labels of one kind of nodes"):
        read_edges(tmp_path / "g.npz", bipartite=True, label="y")


@pytest.fixture
def tables(tmp_path):
    """Keywords for edges and nodes, whose columns are features, labels and masks."""
    pq.write_table(pa.table({"source": ENDS[0], "target": ENDS[1]}), tmp_path / "edges.parquet")
    part = np.where(MASK, "train", "test")
    columns = {"a": X[:, 0], "topic": Y, "m": MASK, "v": ~MASK, "t": ~MASK, "part": part}
    pq.write_table(pa.table(columns), tmp_path / "nodes.parquet")
    return tmp_path / "edges.parquet", {"features": tmp_path / "nodes.parquet", "x": ["a"]}


@pytest.mark.parametrize("split", [["part"], ["m", "v", "t"]])
def test_a_split_names_the_training_nodes(tables, split):
    path, names = tables
    assert read_edges(path, **names, label="topic", split=split).graph.train_mask.tolist() == MASK.tolist()


def test_the_number_of_a_split(tmp_path):
    both = np.stack([~MASK, MASK], axis=1)
    np.savez(tmp_path / "g.npz", edge_index=ENDS, x=X, y=Y, train_mask=both)
    assert read_edges(tmp_path / "g.npz", split_number=1).graph.train_mask.tolist() == MASK.tolist()
    with pytest.raises(OptionError, match=r"split must be the number of a split .*\(numbers 0 to 1\), got 2"):
        read_edges(tmp_path / "g.npz", split_number=2)
    np.savez(tmp_path / "g.npz", edge_index=ENDS, x=X, y=Y)
    with pytest.raises(OptionError, match=r"the number of a split \(--split\) needs a mask"):
        read_edges(tmp_path / "g.npz", split_number=0)


def test_training_nodes_without_labels_are_an_error(tables):
    path, names = tables
    with pytest.raises(OptionError, match=r"train_mask \(--train-mask\) needs labels: .*\(--label\), got 'm' alone"):
        read_edges(path, **names, train_mask="m")
    with pytest.raises(OptionError, match=r"split \(--split\) needs labels: .* got 'part' alone"):
        read_edges(path, **names, split=["part"])


def test_a_mask_must_hold_truth_values(tables):
    path, names = tables
    with pytest.raises(FormatError, match=r"--split\) 'a' must hold truth values, .* got \d\.\d+"):
        read_edges(path, **names, label="topic", train_mask="a")
    with pytest.raises(FormatError, match="must hold truth values, .* got a, b"):
        mask_of(np.array(["a", "b"]), "part")


def test_names_are_checked_before_features_are_read(tables):
    path, names = tables
    with pytest.raises(FormatError, match=r"nodes.parquet: split \(--split\) must name what is there \(a, .*'x1'"):
        read_edges(path, features=names["features"], label="topic", split=["m", "v", "x1"])
