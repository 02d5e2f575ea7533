"""A user's graph: what is read from which file, which columns are features, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from files_helpers import parquet
from own_files import EDGES, NODES, arrays, masks, npz, tables
from pyarrow import csv

from lsprune.errors import FormatError, LspruneError, OptionError
from lsprune.files import seal
from lsprune.lab.user_graph import UserGraphFiles, read_user_graph


def read(path: Path, **options: object) -> object:
    return read_user_graph(UserGraphFiles(graph=path, **options))


def test_everything_from_one_npz(tmp_path: Path) -> None:
    result = read(npz(tmp_path / "g.npz", **masks()))
    assert (result.graph.num_nodes, result.graph.num_edges) == (NODES, EDGES)
    np.testing.assert_array_equal(result.graph.x, arrays()["x"])
    np.testing.assert_array_equal(result.y, arrays()["y"])
    assert result.classes == ("0", "1")
    for found, mask in zip(result.masks, masks().values(), strict=True):
        np.testing.assert_array_equal(found, mask)


def test_label_split_and_id_are_not_features(tmp_path: Path) -> None:
    made = arrays()
    venue = np.array(["left", "right"])[made["y"]]
    part = np.array(["train", "train", "val", "test"])[np.arange(NODES) // 2 % 4]
    edges, nodes = tables(tmp_path, venue=venue, part=part, id=np.arange(NODES))
    result = read(edges, features=str(nodes), label="venue", split=("part",))
    np.testing.assert_array_equal(result.graph.x, made["x"])
    assert result.classes == ("left", "right")
    np.testing.assert_array_equal(result.y, made["y"])
    assert [int(mask.sum()) for mask in result.masks] == [32, 14, 14]


def test_labels_may_be_in_a_separate_file(tmp_path: Path) -> None:
    edges, nodes = tables(tmp_path)
    np.save(tmp_path / "labels.npy", arrays()["y"])
    np.savez(tmp_path / "labels.npz", kind=arrays()["y"])
    for name in ("labels.npy", "labels.npz"):
        result = read(edges, features=str(nodes), labels=tmp_path / name)
        np.testing.assert_array_equal(result.y, arrays()["y"])
        assert result.graph.x.shape == (NODES, 5)


def test_an_array_of_the_graph_can_be_the_features(tmp_path: Path) -> None:
    result = read(npz(tmp_path / "g.npz", other=np.ones((NODES, 2))), features="other")
    assert result.graph.x.shape == (NODES, 2)
    assert result.graph.x_source is result.graph.x_target


def test_features_from_npy_and_from_npz_with_masks(tmp_path: Path) -> None:
    edges, _ = tables(tmp_path)
    np.save(tmp_path / "x.npy", arrays()["x"])
    np.savez(tmp_path / "n.npz", x=arrays()["x"], y=arrays()["y"], **masks())
    assert read(edges, features=str(tmp_path / "x.npy")).graph.x.shape == (NODES, 5)
    whole = read(edges, features=str(tmp_path / "n.npz"))
    assert whole.graph.x.shape == (NODES, 5)
    assert whole.y is not None and whole.masks is not None


@pytest.mark.parametrize(
    "y",
    [
        np.where(arrays()["y"] == 1, 7, -1),  # a negative number is no label
        np.where(arrays()["y"] == 1, 7.0, np.nan),
        np.where(arrays()["y"] == 1, "seven", ""),
    ],
)
def test_negative_nan_and_empty_labels_are_unlabelled(tmp_path: Path, y: np.ndarray) -> None:
    result = read(npz(tmp_path / "g.npz", y=y), task="node-classification")
    assert len(result.classes) == 1
    np.testing.assert_array_equal(result.y, np.where(arrays()["y"] == 1, 0, -1))


def test_a_missing_label_in_a_table_is_no_label(tmp_path: Path) -> None:
    kinds = [None if y else "a" for y in arrays()["y"]]
    edges, nodes = tables(tmp_path, kind=kinds)
    result = read(edges, features=str(nodes), label="kind")
    np.testing.assert_array_equal(result.y, -arrays()["y"])


def test_labels_and_masks_are_optional(tmp_path: Path) -> None:
    edges, nodes = tables(tmp_path)
    result = read(edges, features=str(nodes))
    assert (result.y, result.classes, result.masks) == (None, (), None)


def test_a_split_seed_overrides_masks(tmp_path: Path) -> None:
    assert read(npz(tmp_path / "g.npz", **masks()), split_seed=3).masks is None


def test_the_name_depends_on_the_content_and_not_on_the_path(tmp_path: Path) -> None:
    first = npz(tmp_path / "my graph.npz")
    name = UserGraphFiles(graph=first).name
    assert name.startswith("my-graph-") and len(name) == len("my-graph-") + 8
    (tmp_path / "other").mkdir()
    moved = tmp_path / "other" / "my graph.npz"
    moved.write_bytes(first.read_bytes())
    assert UserGraphFiles(graph=moved).name == name == UserGraphFiles(graph=first, label="y").name
    y = arrays()["y"]
    y[0] = 1 - y[0]
    npz(first, y=y)
    assert UserGraphFiles(graph=first).name != name
    assert UserGraphFiles(graph=moved, split_seed=1).name != name
    assert UserGraphFiles(graph=moved, label="x").name != name


def test_the_name_depends_on_the_node_files_too(tmp_path: Path) -> None:
    edges, nodes = tables(tmp_path)
    before = UserGraphFiles(graph=edges, features=str(nodes)).name
    tables(tmp_path, more=np.ones(NODES))
    assert UserGraphFiles(graph=edges, features=str(nodes)).name != before


@pytest.mark.parametrize(
    ("changed", "options", "message"),
    [
        ({}, {"label": "kind"}, r"label must be a name in .*g\.npz \(.*x, y.*\), got 'kind'; --labels"),
        ({}, {"features": "z"}, r"features must be a name in .*g\.npz .* got 'z', or a file"),
        ({}, {"features": "y.txt"}, "features must be a name in"),
        ({"y": np.zeros(3)}, {}, r"label y must have shape \[60\], one per node, got \[3\]"),
        ({"y": np.full(NODES, 0.5)}, {"task": "node-classification"}, "label y must be integers or strings, got 0.5"),
        ({}, {"split_number": 0}, r"split must be the number of a split in the masks \(none\), got 0"),
        ({"a": np.ones(NODES)}, {"split": ("a", "b", "c")}, "split must be a name in .*got 'b'"),
        ({"a": np.ones(NODES)}, {"split": ("a",)}, "split a must have the values train, val and test, got 1.0"),
        (
            {"train_mask": np.arange(NODES)},
            {"split": ("train_mask",) * 3},
            r"train_mask must be booleans of shape \[60\]",
        ),
        ({"z": np.ones((3, 2))}, {"features": "z"}, r"features must be numbers of shape \[60, d\]"),
    ],
)
def test_wrong_options_and_arrays_are_named(tmp_path: Path, changed: dict, options: dict, message: str) -> None:
    with pytest.raises(LspruneError, match=message):
        read(npz(tmp_path / "g.npz", **changed), **options)


def test_the_kind_of_labels_changes_the_name_only_if_it_is_said(tmp_path: Path) -> None:
    path = npz(tmp_path / "g.npz")
    names = {UserGraphFiles(graph=path, **options).name for options in ({}, {"task": "node-regression"})}
    names |= {UserGraphFiles(graph=path, split_number=number).name for number in (0, 1)}
    assert len(names) == 4
    assert UserGraphFiles(graph=path, verify_input=True).name in names
    with pytest.raises(OptionError, match="task must be one of node-classification, multi-label, node-regression"):
        UserGraphFiles(graph=path, task="regression")


def test_several_splits_and_labelled_nodes(tmp_path: Path) -> None:
    two = {name: np.stack([mask, ~mask], axis=1) for name, mask in masks().items()}
    y = np.where(np.arange(NODES) == 3, np.nan, np.arange(NODES) / 2)
    result = read(npz(tmp_path / "g.npz", **two, y=y))
    assert (len(result.splits), result.kind, int(result.labelled.sum())) == (2, "numbers", NODES - 1)
    for i, parts in enumerate(result.splits):
        for mask, stacked in zip(parts, two.values(), strict=True):
            np.testing.assert_array_equal(mask, stacked[:, i])
    assert result.masks is result.splits[0]
    (last,) = read(tmp_path / "g.npz", split_number=1).splits
    np.testing.assert_array_equal(last[0], two["train_mask"][:, 1])


def test_files_must_be_as_they_were_sealed(tmp_path: Path) -> None:
    path = npz(tmp_path / "g.npz")
    with pytest.raises(FormatError, match="has no seal"):
        read(path, verify_input=True)
    seal(path)
    assert read(path, verify_input=True).graph.num_nodes == NODES
    npz(path, y=1 - arrays()["y"])
    with pytest.raises(FormatError, match="g.npz"):
        read(path, verify_input=True)


def test_options_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(OptionError, match="split must name three masks or one column, got 2 names: a, b"):
        UserGraphFiles(graph=Path("g.npz"), split=("a", "b"))
    with pytest.raises(OptionError, match="split_seed must not be set with split, got 0 and a"):
        UserGraphFiles(graph=Path("g.npz"), split=("a",), split_seed=0)


@pytest.mark.parametrize("name", ["id", "node_id", "node", "key"])
def test_rows_are_joined_by_ids_and_labels_and_masks_with_them(tmp_path: Path, name: str) -> None:
    order, made = np.random.default_rng(1).permutation(NODES), arrays()
    edges, _ = tables(tmp_path)
    columns = {f"f{i}": made["x"][order, i] for i in range(5)} | {"y": made["y"][order], name: order}
    columns |= {mask: values[order] for mask, values in masks().items()}
    parquet(tmp_path / "nodes.parquet", **columns)
    np.savez(tmp_path / "nodes.npz", **{**columns, "x": made["x"][order]})
    for file, more in (("nodes.parquet", {}), ("nodes.npz", {"x": ("x",)})):
        more |= {"id": "key"} if name == "key" else {}
        result = read(edges, features=str(tmp_path / file), **more)
        np.testing.assert_array_equal(result.graph.x, made["x"])
        np.testing.assert_array_equal(result.y, made["y"])
        for found, mask in zip(result.masks, masks().values(), strict=True):
            np.testing.assert_array_equal(found, mask)


def test_labels_in_a_separate_file_are_joined_by_its_ids(tmp_path: Path) -> None:
    order, made = np.random.default_rng(2).permutation(NODES), arrays()
    edges, nodes = tables(tmp_path)
    parquet(tmp_path / "labels.parquet", id=order, kind=made["y"][order])
    result = read(edges, features=str(nodes), labels=tmp_path / "labels.parquet")
    np.testing.assert_array_equal(result.y, made["y"])
    np.testing.assert_array_equal(result.graph.x, made["x"])


def test_ids_that_do_not_name_every_node_once_are_refused(tmp_path: Path) -> None:
    for ids, message in (
        (np.arange(NODES) + 1, "must name each of the nodes 0 to 59 once, got 60 and no 0"),
        (np.arange(NODES) // 2, "ids of nodes must be unique, got 0 2 times"),
        (np.arange(NODES) - 1, "ids must be >= 0, got -1"), (np.arange(NODES) / 2, "'id' must be integers, got double"),
    ):  # fmt: skip
        edges, nodes = tables(tmp_path, id=ids)
        with pytest.raises(LspruneError, match=message):
            read(edges, features=str(nodes))
    with pytest.raises(FormatError, match="no column 'key'"):
        read(edges, features=str(nodes), id="key")
    with pytest.raises(OptionError, match=r"x \(--x\) needs a node file"):
        read(npz(tmp_path / "g.npz"), x=("a",))
    with pytest.raises(OptionError, match=r"id \(--id\) needs a node file"):
        read(npz(tmp_path / "g.npz"), id="a")


def test_named_columns_are_the_features_even_one_called_id(tmp_path: Path) -> None:
    edges, nodes = tables(tmp_path, id=np.arange(NODES)[::-1])
    result = read(edges, features=str(nodes), x=("f1", "f3"))
    np.testing.assert_array_equal(result.graph.x, arrays()["x"][::-1, [1, 3]])
    result = read(edges, features=str(nodes), x=("id", "f3"))  # then there is no column of ids: rows by position
    np.testing.assert_array_equal(result.graph.x[:, 0], np.arange(NODES)[::-1])


def test_node_files_without_unambiguous_columns_are_refused(tmp_path: Path) -> None:
    edges, _ = tables(tmp_path)
    np.savez(tmp_path / "two.npz", a=np.ones(NODES), b=np.ones(NODES))
    with pytest.raises(FormatError, match=r"two\.npz: features must be an array x, or the only other array, got a, b"):
        read(edges, features=str(tmp_path / "two.npz"))
    with pytest.raises(
        FormatError, match=r"labels\.txt: labels must be a file with the suffix \.npy, \.npz, \.parquet, \.csv"
    ):
        read(edges, labels=tmp_path / "labels.txt")
    with pytest.raises(OptionError, match=r"label must name one of a, b in .*two\.npz, got none"):
        read(edges, labels=tmp_path / "two.npz")
    np.save(tmp_path / "few.npy", np.ones((3, 2)))
    with pytest.raises(LspruneError, match=r"ids must be in \[0, 3\)"):
        read(edges, features=str(tmp_path / "few.npy"))


def with_text_ids(folder: Path, suffix: str = ".parquet", **columns: object) -> tuple[Path, Path, np.ndarray]:
    """(edges, nodes, name of each node): the tables of `own_files`, shuffled, with names for ids."""
    made, names = arrays(), np.array([f"n{i}" for i in range(NODES)])
    order = np.random.default_rng(1).permutation(NODES)
    ends = {name: names[end] for name, end in zip(("source", "target"), made["edge_index"], strict=True)}
    nodes = {f"f{i}": made["x"][:, i] for i in range(5)} | columns
    nodes = {"id": names[order], **{name: np.asarray(values)[order] for name, values in nodes.items()}}
    for name, table in (("e", ends), ("n", nodes)):
        path = folder / f"{name}{suffix}"
        pq.write_table(pa.table(table), path) if suffix == ".parquet" else csv.write_csv(pa.table(table), path)
    return folder / f"e{suffix}", folder / f"n{suffix}", names


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_ids_may_be_text(tmp_path: Path, suffix: str) -> None:
    part = np.array(["train", "train", "val", "test"])[np.arange(NODES) // 2 % 4]
    edges, nodes, names = with_text_ids(tmp_path, suffix, venue=np.array(["left", "right"])[arrays()["y"]], part=part)
    found = read(edges, features=str(nodes), label="venue", split=("part",))
    node = np.array([np.abs(arrays()["x"] - x).sum(axis=1).argmin() for x in found.graph.x])
    assert sorted(node) == list(range(NODES))
    for end, expected in zip(found.graph.ends(), arrays()["edge_index"], strict=True):
        np.testing.assert_array_equal(node[end], expected)
    np.testing.assert_array_equal(found.y, arrays()["y"][node])
    np.testing.assert_array_equal(found.masks[0], part[node] == "train")
    assert (found.features, found.no_features) == (("f0", "f1", "f2", "f3", "f4"), ("venue", "part"))


def test_a_file_of_labels_has_text_ids_of_its_own_or_the_rows_of_the_features(tmp_path: Path) -> None:
    edges, nodes, names = with_text_ids(tmp_path, y=arrays()["y"])
    expected = read(edges, features=str(nodes), label="y")
    pq.write_table(pa.table({"id": names, "kind": arrays()["y"]}), tmp_path / "own.parquet")
    found = read(edges, features=str(nodes), x=("f0", "f1", "f2", "f3", "f4"), labels=tmp_path / "own.parquet")
    np.testing.assert_array_equal(found.y, expected.y)
    kind = pq.read_table(nodes)["y"].to_numpy()
    pq.write_table(pa.table({"kind": kind}), tmp_path / "rows.parquet")
    found = read(edges, features=str(nodes), x=("f0",), labels=tmp_path / "rows.parquet")
    np.testing.assert_array_equal(found.y, expected.y)
    pq.write_table(pa.table({"id": names[:9], "kind": arrays()["y"][:9]}), tmp_path / "few.parquet")
    with pytest.raises(LspruneError, match=r"few\.parquet: features must have a row for each id, got none for 'n"):
        read(edges, features=str(nodes), x=("f0",), labels=tmp_path / "few.parquet")


def test_errors_of_text_ids_name_the_file(tmp_path: Path) -> None:
    edges, nodes, names = with_text_ids(tmp_path)
    pq.write_table(pq.read_table(nodes).drop(["id"]), tmp_path / "bare.parquet")
    with pytest.raises(FormatError, match=r"bare\.parquet: must have a column of ids, as those of edges are text"):
        read(edges, features=str(tmp_path / "bare.parquet"))
    whole, _ = tables(tmp_path)
    with pytest.raises(FormatError, match=r"n\.parquet: column 'id' must be integers, .*edges are whole numbers"):
        read(whole, features=str(nodes))


def test_a_wrong_name_of_labels_or_split_is_told_before_features_are_read(tmp_path: Path) -> None:
    edges, nodes = tables(tmp_path, topic=["a"] * NODES)
    for option, name in (("label", "topik"), ("split", ("topik",))):
        with pytest.raises(OptionError, match=rf"{option} must be a name in .*\(f0, .*topic\), got 'topik'"):
            read(edges, features=str(nodes), **{option: name})
    with pytest.raises(
        FormatError,
        match=r"'topic' must be numbers, .*; --label or --split names it .* --x ",
    ):
        read(edges, features=str(nodes))
