"""A graph on disk is pruned as in memory: the same edges, whatever the format, the pruner and the size of batches."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow")

import pyarrow as pa
from pyarrow import csv, parquet

from graphs import ALL_PRUNERS, graphs, name_of, random_graph, reordered, suits
from lsprune import LSP, FormatError, Graph, GraphError, LocalRandom, OptionError, Random
from lsprune.baselines import TopWeight
from lsprune.errors import BipartiteWarning, SymmetryWarning
from lsprune.files import read_edges
from lsprune.files.manifest import verify
from lsprune.hashing import Auto, Codebook, PaperThreshold
from lsprune.kernels import runtime
from lsprune.outofcore import memory_ceiling as memory
from lsprune.outofcore.stream import prune_stream
from lsprune.pruners import PaperLSP
from lsprune.pruners.contract import LocalPruner
from lsprune.weights import Column

FEW = settings(max_examples=6, deadline=None, derandomize=True)
FINE = [0.1 + np.arange(40) * np.spacing(0.1), 1_700_000_000_000_000_000 + np.arange(40)]  # one value each in float32
LOCAL = [pruner for pruner in ALL_PRUNERS if isinstance(pruner, LocalPruner)]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Batches of a few edges, and files in the place of arrays, for graphs that are small."""
    monkeypatch.setattr(memory, "MIN_BATCH_ROWS", 8)
    monkeypatch.setattr(memory, "MAX_BATCH_ROWS", 8)
    monkeypatch.setattr("lsprune.kernels.file_arrays.MIN_FILE_BYTES", 1)


def write(folder, graph: Graph):
    """The graph as a Parquet file with the position of each edge, and its attributes; options to read it."""
    source, target = graph.ends()
    table, options = {"source": source, "target": target, "number": np.arange(graph.num_edges)}, {}
    if graph.edge_attr is not None:
        names = [f"a{i}" for i in range(graph.edge_attr.shape[1])]
        table |= {name: graph.edge_attr[:, i] for i, name in enumerate(names)}
        options["edge_attr"] = names
    if graph.x_source is not None:
        np.save(folder / "x.npy", graph.x_source)
        options["features"] = folder / "x.npy"
    parquet.write_table(pa.table(table), folder / "in.parquet", row_group_size=11)
    return {**options, "num_nodes": graph.num_nodes}


def streamed(folder, graph: Graph, pruner, **more) -> np.ndarray:
    """The numbers of the edges that are kept."""
    options = write(folder, graph)
    found = prune_stream(folder / "in.parquet", folder / "out.parquet", pruner, memory="6GB", **options, **more)
    numbers = parquet.read_table(folder / "out.parquet")["number"].to_numpy()
    assert found.kept == numbers.shape[0]
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["in.parquet", "out.parquet", "out.parquet.lsprune.json", *(["x.npy"] if graph.x_source is not None else [])]
    )
    return numbers


@pytest.mark.parametrize("pruner", LOCAL, ids=name_of)
@given(graph=graphs())
@FEW
def test_every_pruner_keeps_what_it_keeps_in_memory(tmp_path_factory, pruner, graph):
    assume(suits(pruner, graph))
    numbers = streamed(tmp_path_factory.mktemp("s"), graph, pruner)
    np.testing.assert_array_equal(numbers, np.flatnonzero(pruner.mask(graph)))


@pytest.mark.parametrize("weights", FINE, ids=lambda weights: str(weights.dtype))
@pytest.mark.parametrize("suffix", [".parquet", ".npz", ".csv"])
def test_weights_that_float32_cannot_tell_apart_are_compared_exactly(tmp_path, weights, suffix):
    source, target = np.arange(1, 41), np.arange(40) % 3
    weights = np.random.default_rng(0).permutation(weights)
    expected = TopWeight(k=4).mask(Graph.from_edges((source, target), edge_attr=weights))
    paths = [tmp_path / f"{name}{suffix}" for name in ("in", "out")]
    columns = {"source": source, "target": target, "edge_attr": weights}
    if suffix == ".npz":
        np.savez(paths[0], **columns)
    elif suffix == ".parquet":
        parquet.write_table(pa.table(columns), paths[0])
    else:
        csv.write_csv(pa.table(columns), paths[0])
    prune_stream(*paths, TopWeight(k=4), edge_attr=["edge_attr"], memory="6GB")
    assert read_edges(paths[1]).graph.source.tolist() == source[expected].tolist()
    assert TopWeight(k=4).mask(read_edges(paths[0], edge_attr=["edge_attr"]).graph).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "pruner",
    [
        LSP(k=2**31 - 1),
        LSP(k=2**31 - 1, symmetric="union", hash=PaperThreshold(digest="affine")),
        LSP(k=2**31 - 1, select="bottom", hash="identity"),
        LocalRandom(k=2**31 - 1),
        TopWeight(k=2**31 - 1, column=0),
    ],
    ids=name_of,
)
@pytest.mark.parametrize("ordered", [False, True])
def test_the_largest_k_keeps_everything(tmp_path, pruner, ordered):
    graph = random_graph(5, nodes=20, edges=90, edge_dim=2 if isinstance(pruner, TopWeight) else 0)
    if ordered:
        graph = reordered(graph, np.argsort(graph.ends()[1], kind="stable"))
    np.testing.assert_array_equal(streamed(tmp_path, graph, pruner), np.arange(90))


@pytest.mark.parametrize("symmetric", ["union", "intersection"])
@pytest.mark.parametrize("budget", [{"k": 2}, {"keep": 0.3}, {"keep": 0.8}], ids=str)
@pytest.mark.parametrize("self_loops", ["free", "edge"])
@given(seed=st.integers(0, 99), doubled=st.booleans())
@FEW
def test_pairs_stay_together_as_in_memory(tmp_path_factory, symmetric, budget, self_loops, seed, doubled):
    graph = random_graph(seed, nodes=30, edges=120)
    ends = np.concatenate([np.stack(graph.ends())] + ([np.stack(graph.ends())[::-1]] if doubled else []), axis=1)
    both = Graph.from_edges(ends, num_nodes=30, x=graph.x)
    pruner = LSP(**budget, symmetric=symmetric, self_loops=self_loops, seed=seed)
    numbers = streamed(tmp_path_factory.mktemp("s"), both, pruner)
    np.testing.assert_array_equal(numbers, np.flatnonzero(pruner.mask(both)))


@pytest.mark.parametrize("symmetric", ["union", "intersection"])
@pytest.mark.parametrize("budget", [{"k": 3}, {"keep": 0.1}, {"keep": 0.6}], ids=str)
@pytest.mark.parametrize("most", [2, 256])
def test_pairs_of_parallel_edges_are_those_in_memory(tmp_path, monkeypatch, symmetric, budget, most):
    # Attributes tell parallel edges apart, so that which of them is kept can be seen.
    monkeypatch.setattr("lsprune.pruners.lsp.MAX_FUNCTIONS", most)
    monkeypatch.setattr("lsprune.outofcore.pairs._BLOCK_SLOTS", 16)
    rng = np.random.default_rng(3)
    graph = Graph.from_edges(rng.integers(0, 7, (2, 150)), num_nodes=7, edge_attr=rng.standard_normal((150, 2)))
    pruner = LSP(**budget, symmetric=symmetric)
    np.testing.assert_array_equal(streamed(tmp_path, graph, pruner), np.flatnonzero(pruner.mask(graph)))


ONCE = [
    LSP(k=2),
    PaperLSP(k=20, side="out", ties="position"),
    LSP(k=3, hash="identity", self_loops="edge"),
    LSP(k=2, hash="signs", select="bottom", self_loops="drop"),
    PaperLSP(k=3, replace=True),
    LSP(k=2, hash=Codebook()),
    LSP(k=0),
    LSP(k=0, hash="signs", self_loops="edge"),
    LSP(k=0, hash="identity"),
    LocalRandom(k=2),
    LocalRandom(k=0),
]


@pytest.mark.parametrize("pruner", ONCE, ids=name_of)
@given(seed=st.integers(0, 99))
@FEW
def test_sorted_edges_take_one_pass_without_scratch(tmp_path_factory, pruner, seed):
    graph = random_graph(seed, nodes=20, edges=150)
    ends = np.stack(graph.ends())
    ends = ends[:, np.argsort(ends[1 if pruner.side == "in" else 0], kind="stable")]
    ordered = Graph.from_edges(ends, num_nodes=20, x=graph.x)
    said: list[str] = []
    numbers = streamed(tmp_path_factory.mktemp("s"), ordered, pruner, say=said.append)
    np.testing.assert_array_equal(numbers, np.flatnonzero(pruner.mask(ordered)))
    assert any("one pass" in line for line in said)
    assert not any("grouping" in line for line in said)


def test_edges_sorted_only_at_first_begin_again(tmp_path):
    graph = random_graph(3, nodes=20, edges=150)
    ends = np.stack(graph.ends())
    ends = np.concatenate([ends[:, np.argsort(ends[1], kind="stable")], [[1], [2]]], axis=1)
    mixed = Graph.from_edges(ends, num_nodes=20, x=graph.x)
    said: list[str] = []
    numbers = streamed(tmp_path, mixed, LSP(k=2), say=said.append)
    np.testing.assert_array_equal(numbers, np.flatnonzero(LSP(k=2).mask(mixed)))
    assert any("not all sorted" in line for line in said)


@pytest.mark.parametrize("ordered", [False, True])
def test_what_is_isolated_is_counted_as_in_memory(tmp_path, ordered):
    graph = random_graph(5, nodes=60, edges=90)
    ends = np.stack(graph.ends())
    ends = ends[:, np.argsort(ends[1], kind="stable")] if ordered else ends
    graph = Graph.from_edges(ends, num_nodes=60, x=graph.x)
    options = write(tmp_path, graph)
    found = prune_stream(tmp_path / "in.parquet", tmp_path / "out.parquet", LSP(k=1), memory="6GB", **options)
    expected = LSP(k=1).mask_graph(graph, runtime())
    assert (found.isolated, found.kept) == (expected.isolated, int(expected.mask.sum()))
    assert found.nodes == 60


@pytest.mark.parametrize("self_loops", ["free", "edge", "drop"])
@pytest.mark.parametrize("options", [{"keep": 0.3}, {"k": 2}, {"keep": 0.3, "symmetric": "union"}])
@pytest.mark.parametrize("ordered", [False, True])
def test_self_loops_that_no_budget_counts_are_those_of_memory(tmp_path, ordered, options, self_loops):
    ends = np.stack(random_graph(3, nodes=30, edges=200).ends())
    graph = Graph.from_edges(ends[:, np.argsort(ends[1], kind="stable")] if ordered else ends, num_nodes=30)
    pruner = LSP(hash="identity", self_loops=self_loops, **options)
    reading = write(tmp_path, graph)
    found = prune_stream(tmp_path / "in.parquet", tmp_path / "out.parquet", pruner, memory="6GB", **reading)
    source, target = graph.ends()
    loops = int((pruner.mask(graph) & (source == target)).sum())
    assert found.uncounted_self_loops == (loops if self_loops == "free" else 0)
    assert loops > 0 or self_loops != "free"


def test_auto_is_calibrated_on_the_whole_graph(tmp_path):
    graph = random_graph(1, nodes=200, edges=2000, edge_dim=3)
    pruner = LSP(keep=0.3, hash=Auto(), weights="auto")
    np.testing.assert_array_equal(streamed(tmp_path, graph, pruner), np.flatnonzero(pruner.mask(graph)))


def test_many_buckets_and_hubs(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MAX_BATCH_ROWS", 4096)
    rng = np.random.default_rng(0)
    ends = np.stack([rng.integers(0, 20_000, 60_000), (20_000 * rng.random(60_000) ** 3).astype(np.int64)])
    ends[1, :3000] = 7
    graph = Graph.from_edges(ends, num_nodes=20_000, x=rng.standard_normal((20_000, 3)).astype(np.float32))
    cases = (LSP(keep=0.4), LSP(k=18, weights="degree"), LSP(k=3, weights="similarity"), LSP(k=1000))
    cases = (*cases, TopWeight(k=5, weights="jaccard:0.5*degree:0.5"), LSP(k=4, weights="similarity*degree"))
    for pruner in cases:
        folder = tmp_path / str(pruner.k)
        folder.mkdir()
        np.testing.assert_array_equal(streamed(folder, graph, pruner), np.flatnonzero(pruner.mask(graph)))


def test_a_folder_of_files_becomes_a_folder_of_files(tmp_path):
    graph = random_graph(2, nodes=30, edges=100)
    source, target = graph.ends()
    (tmp_path / "in" / "sub").mkdir(parents=True)
    names = ["a.parquet", "b.parquet", "sub/c.parquet"]
    for name, some in zip(names, np.array_split(np.arange(100), 3), strict=True):
        table = pa.table({"source": source[some], "target": target[some], "number": some})
        parquet.write_table(table, tmp_path / "in" / name)
    np.save(tmp_path / "x.npy", graph.x)
    prune_stream(
        tmp_path / "in", tmp_path / "out", LSP(keep=0.5), features=tmp_path / "x.npy", memory="6GB", num_nodes=30
    )
    parts = [parquet.read_table(tmp_path / "out" / name)["number"].to_numpy() for name in names]
    np.testing.assert_array_equal(np.concatenate(parts), np.flatnonzero(LSP(keep=0.5).mask(graph)))
    assert verify(tmp_path / "out").ok
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "x.npy"]
    with pytest.raises(OptionError, match="new folder"):
        prune_stream(tmp_path / "in", tmp_path / "out", LSP(keep=0.5), memory="6GB")


@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz", ".csv.zst", ".npz", ".npy"])
def test_other_formats_keep_the_same_edges(tmp_path, suffix):
    graph = random_graph(4, nodes=30, edges=100)
    source, target = graph.ends()
    path, out = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    np.save(tmp_path / "x.npy", graph.x)
    if suffix == ".npz":
        np.savez(path, edge_index=np.stack([source, target]), number=np.arange(100))
    elif suffix == ".npy":
        np.save(path, np.stack([source, target]))
    else:
        between = "\t" if "tsv" in suffix else ","
        lines = [between.join(map(str, row)) for row in zip(source, target, range(100), strict=True)]
        text = "\n".join([between.join(["source", "target", "number"]), *lines]) + "\n"
        codec = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
        with pa.output_stream(path, compression=codec) as handle:
            handle.write(text.encode())
    prune_stream(path, out, LSP(k=2), features=tmp_path / "x.npy", memory="6GB")
    kept = np.flatnonzero(LSP(k=2).mask(graph))
    if suffix == ".npy":
        np.testing.assert_array_equal(np.load(out), np.stack([source, target])[:, kept])
    else:
        read = read_edges(out, num_nodes=30).graph
        np.testing.assert_array_equal(np.stack(read.ends()), np.stack([source, target])[:, kept])


def test_pruners_that_need_the_whole_graph_are_refused(tmp_path):
    write(tmp_path, random_graph(0))
    with pytest.raises(OptionError, match="random must see the whole graph"):
        prune_stream(tmp_path / "in.parquet", tmp_path / "out.parquet", Random(keep=0.5))


def test_ids_of_any_kind_are_numbered(tmp_path):
    table = {"source": ["ann", "bob", "cat", "ann"], "target": ["bob", "cat", "bob", "cat"]}
    parquet.write_table(pa.table(table), tmp_path / "in.parquet")
    with pytest.raises(FormatError, match="--map-ids"):
        prune_stream(tmp_path / "in.parquet", tmp_path / "out.parquet", LocalRandom(k=1), memory="6GB")
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]
    prune_stream(
        tmp_path / "in.parquet", tmp_path / "out.parquet", LocalRandom(k=1), memory="6GB",
        map_ids=tmp_path / "ids.parquet",
    )  # fmt: skip
    names = parquet.read_table(tmp_path / "ids.parquet")["id"].to_pylist()
    ends = np.array([[names.index(name) for name in table[end]] for end in ("source", "target")])
    kept = LocalRandom(k=1).mask(Graph.from_edges(ends))
    out = parquet.read_table(tmp_path / "out.parquet")
    assert out["source"].to_pylist() == [name for name, one in zip(table["source"], kept, strict=True) if one]


def test_an_undirected_graph_is_warned_about_as_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("lsprune.pruners.relations._warned", [])
    ends = np.stack(random_graph(6, edges=50).ends())
    both = Graph.from_edges(np.concatenate([ends, ends[::-1]], axis=1), num_nodes=12)
    with pytest.warns(SymmetryWarning, match="undirected"):
        streamed(tmp_path, both, LSP(k=1, hash="identity"))


@pytest.mark.parametrize("name", ["in.parquet", "x.npy", "out.parquet"])
def test_a_mapping_never_replaces_another_file(tmp_path, name):
    write(tmp_path, random_graph(0))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(OptionError, match="map_ids must not be"):
        prune_stream(
            tmp_path / "in.parquet", tmp_path / "out.parquet", LSP(k=1), features=tmp_path / "x.npy",
            map_ids=tmp_path / name,
        )  # fmt: skip
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("pruner", [LSP(k=1), LSP(keep=0.5)], ids=str)
@pytest.mark.parametrize("mapped", [False, True])
def test_features_must_have_a_row_for_each_node(tmp_path, pruner, mapped):
    options = write(tmp_path, random_graph(0, nodes=12))
    np.save(tmp_path / "x.npy", np.zeros((5, 3), np.float32))
    more = {"map_ids": tmp_path / "ids.parquet"} if mapped else {}
    with pytest.raises(GraphError, match="x must have"):
        prune_stream(tmp_path / "in.parquet", tmp_path / "out.parquet", pruner, memory="6GB", **{**options, **more})


def test_fewer_nodes_than_ids_are_refused(tmp_path):
    write(tmp_path, random_graph(0, nodes=12))
    with pytest.raises(OptionError, match="num_nodes must be at least"):
        prune_stream(
            tmp_path / "in.parquet", tmp_path / "out.parquet", LSP(k=1, hash="identity"), num_nodes=3, memory="6GB",
            map_ids=tmp_path / "ids.parquet",
        )  # fmt: skip


def test_outputs_and_scratch_stay_out_of_the_input(tmp_path):
    (tmp_path / "in").mkdir()
    write(tmp_path / "in", random_graph(0, dim=0))
    for options in ({"out": tmp_path / "in" / "out"}, {"out": tmp_path / "out", "scratch": tmp_path / "in"}):
        with pytest.raises(OptionError, match="must not lie in the input's folder"):
            prune_stream(tmp_path / "in", options.pop("out"), LSP(k=1, hash="identity"), **options)
    with pytest.raises(OptionError, match="--scratch"):
        prune_stream(tmp_path / "in", tmp_path / "out", LSP(k=1, hash="identity"), scratch=tmp_path / "none")


def test_attributes_that_are_missing_are_missed_before_the_edges_are_read(tmp_path):
    options = write(tmp_path, random_graph(0, dim=0))
    said: list[str] = []
    with pytest.raises(GraphError, match="neither node attributes"):
        prune_stream(tmp_path / "in.parquet", tmp_path / "out.parquet", LSP(k=1), say=said.append, **options)
    alike = LSP(k=1, hash="identity", weights="similarity")
    with pytest.raises(GraphError, match='weights="similarity" needs node attributes'):
        prune_stream(tmp_path / "in.parquet", tmp_path / "out.parquet", alike, say=said.append, **options)
    assert said == []


def kept_numbers(folder, pruner, name="in.parquet", **options) -> np.ndarray:
    """The numbers of the edges that a stream keeps of a Parquet file."""
    for path in folder.glob("out.parquet*"):
        path.unlink()
    prune_stream(folder / name, folder / "out.parquet", pruner, memory="6GB", **options)
    return parquet.read_table(folder / "out.parquet")["number"].to_numpy()


def shuffled(x: np.ndarray, ids: np.ndarray, **more) -> pa.Table:
    """A table of nodes in another order, with a column of ids."""
    order = np.random.default_rng(5).permutation(ids.shape[0])
    return pa.table({"id": pa.array(ids).take(pa.array(order)), "x": x[order].tolist(), **more})


@pytest.mark.parametrize("pruner", [LSP(k=2), LSP(keep=0.4), LSP(k=2, attributes=("owner", "neighbour"), side="out")])
@pytest.mark.parametrize("ordered", [False, True])
def test_a_table_of_nodes_is_joined_by_its_ids(tmp_path, pruner, ordered):
    """In any order, and with ids that leave gaps: the edges that memory keeps."""
    random = np.random.default_rng(3)
    ends, x = random.integers(0, 30, (2, 200)), random.standard_normal((30, 4)).astype(np.float32)
    ends = ends[:, np.argsort(ends[1 if pruner.side == "in" else 0], kind="stable")] if ordered else ends
    for name, numbers in (("dense", np.arange(30)), ("gaps", np.arange(30) * 3 + 1)):
        source, target = numbers[ends]
        parquet.write_table(
            pa.table({"source": source, "target": target, "number": np.arange(200)}), tmp_path / "in.parquet"
        )
        parquet.write_table(shuffled(x, numbers), tmp_path / "n.parquet")
        graph = read_edges(tmp_path / "in.parquet", features=tmp_path / "n.parquet").graph
        found = kept_numbers(tmp_path, pruner, features=tmp_path / "n.parquet")
        np.testing.assert_array_equal(found, np.flatnonzero(pruner.mask(graph)), err_msg=name)
        if name == "dense":
            whole = Graph.from_edges(ends, num_nodes=30, x=x)
            np.testing.assert_array_equal(found, np.flatnonzero(pruner.mask(whole)))


def test_an_end_that_the_table_of_nodes_lacks_is_refused(tmp_path):
    table = pa.table({"source": [0, 5, 2], "target": [2, 2, 0], "number": [0, 1, 2]})
    parquet.write_table(table, tmp_path / "in.parquet")
    for ids, said in (
        ([0, 1, 2], r"column 'source', row 1 .*: ids in edges must be among the nodes, in \[0, 3\), got 5"),
        ([0, 2, 6], r"column 'source', row 1 .*: ids in edges must be among the nodes, got 5"),
    ):
        parquet.write_table(pa.table({"id": ids, "a": [1.0, 2.0, 3.0]}), tmp_path / "n.parquet")
        with pytest.raises(GraphError, match=said):
            kept_numbers(tmp_path, LSP(k=1), features=tmp_path / "n.parquet")


@pytest.mark.parametrize("kind", ["strings", "integers", "text"])
def test_with_mapped_ids_the_table_is_joined_by_the_ids_of_the_edges(tmp_path, kind):
    random = np.random.default_rng(4)
    ends, x = (
        random.integers(0, 25, (2, 150)),
        random.standard_normal((28, 3)).astype(np.float32),
    )  # three without edges
    names = 10**11 + 7 * np.arange(28) if kind != "strings" else np.array([f"n{i}" for i in range(28)])
    table = pa.table({"source": names[ends[0]], "target": names[ends[1]], "number": np.arange(150)})
    parquet.write_table(table, tmp_path / "in.parquet")
    parquet.write_table(shuffled(x, names), tmp_path / "n.parquet")
    options = {"features": tmp_path / "n.parquet", "map_ids": tmp_path / "ids.parquet"}
    pruner = LSP(k=2)
    if kind == "text":
        lines = "".join(f"{names[s]},{names[t]},{i}\n" for i, (s, t) in enumerate(ends.T))
        (tmp_path / "in.csv").write_text("source,target,number\n" + lines)
        prune_stream(tmp_path / "in.csv", tmp_path / "out.csv", pruner, memory="6GB", **options)
        found = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1, dtype=np.int64)[:, 2]
    else:
        found = kept_numbers(tmp_path, pruner, **options)
    mapping = parquet.read_table(tmp_path / "ids.parquet").to_pydict()
    assert mapping["node"] == list(range(28))
    number = {str(name): node for name, node in zip(mapping["id"], mapping["node"], strict=True)}
    to = np.array([number[str(name)] for name in names])
    rows = np.empty_like(x)
    rows[to] = x
    graph = Graph.from_edges(to[ends], num_nodes=28, x=rows)
    np.testing.assert_array_equal(found, np.flatnonzero(pruner.mask(graph)))
    parquet.write_table(shuffled(x[1:], names[1:]), tmp_path / "n.parquet")
    with pytest.raises(GraphError, match=f"ids in edges must be among the nodes, got '?{names[0]}"):
        prune_stream(tmp_path / "in.parquet", tmp_path / "out2.parquet", pruner, memory="6GB", **options)


TWO_KINDS = [
    LSP(k=2), LSP(k=2, side="out"), LSP(keep=0.3), LSP(keep=0.3, attributes=("owner", "neighbour")), LocalRandom(k=3),
    LSP(k=3, hash="identity"), LSP(keep=0.5, hash="identity", side="out", self_loops="drop"),
    LSP(k=2, weights="degree"),
]  # fmt: skip


def two_kinds(folder, *, ordered: bool = False) -> tuple[Graph, dict]:
    """Users and items whose ids overlap, in files, and the graph that they are."""
    random = np.random.default_rng(6)
    user, item = random.integers(0, 40, 300), random.integers(0, 12, 300)
    order = np.lexsort((user, item)) if ordered else np.arange(300)
    user, item = user[order], item[order]
    x = random.standard_normal((40, 3)).astype(np.float32), random.standard_normal((12, 3)).astype(np.float32)
    table = pa.table({"user": user, "item": item, "number": np.arange(300)})
    parquet.write_table(table, folder / "in.parquet", row_group_size=70)
    parquet.write_table(shuffled(x[0], np.arange(40)), folder / "user.parquet")
    parquet.write_table(shuffled(x[1], np.arange(12)).rename_columns(["item_id", "x"]), folder / "item.parquet")
    options = {
        "source": "user", "target": "item", "bipartite": True, "features": folder / "user.parquet",
        "target_features": folder / "item.parquet", "target_id": "item_id",
    }  # fmt: skip
    return Graph.from_edges((user, item), num_nodes=(40, 12), x=x), options


@pytest.mark.parametrize("pruner", TWO_KINDS, ids=name_of)
@pytest.mark.parametrize("ordered", [False, True])
def test_two_kinds_of_nodes_are_pruned_as_in_memory(tmp_path, pruner, ordered):
    graph, options = two_kinds(tmp_path, ordered=ordered)
    expected = np.flatnonzero(pruner.mask(graph))
    np.testing.assert_array_equal(kept_numbers(tmp_path, pruner, **options), expected)
    read = read_edges(tmp_path / "in.parquet", **options).graph
    np.testing.assert_array_equal(np.flatnonzero(pruner.mask(read)), expected)
    owner = graph.ends()[1 if pruner.side == "in" else 0]
    if pruner.k is not None:  # rows with equal ids are no self-loops: they count
        assert np.bincount(owner[expected]).max() == pruner.k


def test_two_kinds_of_nodes_have_a_numbering_each(tmp_path):
    user, item = ["a", "b", "b", "c"], ["b", "b", "a", "c"]
    table = pa.table({"user": user, "item": item, "number": [0, 1, 2, 3]})
    parquet.write_table(table, tmp_path / "in.parquet")
    options = {"source": "user", "target": "item", "bipartite": True, "map_ids": tmp_path / "ids.parquet"}
    found = kept_numbers(tmp_path, LSP(k=1, hash="identity"), **options)
    assert len(found) == 3
    assert parquet.read_table(tmp_path / "ids.parquet").to_pydict() == {
        "id": ["a", "b", "c", "b", "a", "c"], "node": [0, 1, 2, 0, 1, 2], "end": ["source"] * 3 + ["target"] * 3,
    }  # fmt: skip


def test_two_kinds_of_nodes_refuse_what_needs_one(tmp_path):
    _, options = two_kinds(tmp_path)
    out = tmp_path / "out.parquet"
    for more, pruner, said in (
        ({}, LSP(k=2, symmetric="union"), "symmetric must be None for a relation between two node types"),
        ({"num_nodes": 40}, LSP(k=2), r"num_nodes must be a pair \(--num-nodes and --num-targets\)"),
        ({"bipartite": None}, LSP(k=2), r"target_features \(--target-features\) needs --bipartite"),
        ({"features": None, "id": "user"}, LSP(k=2), r"id \(--id\) must come with features"),
    ):
        with pytest.raises(OptionError, match=said):
            prune_stream(tmp_path / "in.parquet", out, pruner, memory="6GB", **{**options, **more})
    with pytest.raises(GraphError, match="x must have 41 rows"):
        prune_stream(tmp_path / "in.parquet", out, LSP(k=2), memory="6GB", num_nodes=(41, 12), **options)
    assert not out.exists()


@pytest.mark.parametrize("ordered", [False, True])
def test_columns_that_look_like_two_kinds_are_warned_of(tmp_path, ordered):
    two_kinds(tmp_path, ordered=ordered)
    options = {"source": "user", "target": "item"}
    with pytest.warns(BipartiteWarning, match="columns 'user' and 'item' look like two kinds"):
        kept_numbers(tmp_path, LocalRandom(k=2), **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error", BipartiteWarning)
        kept_numbers(tmp_path, LocalRandom(k=2), **options, bipartite=False)


def test_arrays_of_an_npz_stay_in_step_and_what_is_unclear_is_asked_for(tmp_path):
    random = np.random.default_rng(8)
    src, dst = random.integers(0, 20, (2, 90))
    arrays = {"src": src, "dst": dst, "t": np.arange(90.0), "pair": np.arange(180).reshape(2, 90), "y": np.arange(20)}
    np.savez(tmp_path / "in.npz", **arrays)
    pruner = LSP(k=2, hash="identity")
    mask = pruner.mask(Graph.from_edges((src, dst)))
    prune_stream(tmp_path / "in.npz", tmp_path / "out.npz", pruner, memory="6GB")
    with np.load(tmp_path / "out.npz") as out:
        assert np.array_equal(out["t"], np.flatnonzero(mask))
        assert np.array_equal(out["pair"], arrays["pair"][:, mask])
        assert np.array_equal(out["y"], arrays["y"])
    np.savez(tmp_path / "same.npz", src=np.arange(30), dst=(np.arange(30) + 1) % 30, y=np.arange(30))
    with pytest.raises(FormatError, match=r"same\.npz: array 'y' is as long as the 30 edges and as the 30 nodes"):
        prune_stream(tmp_path / "same.npz", tmp_path / "other.npz", LSP(keep=0.5, hash="identity"), memory="6GB")
    for name, size in (("edge_arrays", 15), ("node_arrays", 30)):
        out = tmp_path / f"{name}.npz"
        prune_stream(tmp_path / "same.npz", out, LSP(keep=0.5, hash="identity"), memory="6GB", **{name: ["y"]})
        with np.load(out) as found:
            assert found["y"].size == size


def test_a_column_by_name_that_is_not_there_is_named(tmp_path):
    write(tmp_path, random_graph(1, nodes=20, edges=60))
    with pytest.raises(GraphError, match="column 'w' needs a value of each edge.*; there are 'source', 'target', 'n"):
        prune_stream(tmp_path / "in.parquet", tmp_path / "out.parquet", TopWeight(k=1, column="w"), memory="6GB")
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("suffix", [".parquet", ".npz", ".csv"])
def test_a_column_by_name_is_exact_beside_columns_of_floats(suffix, tmp_path):
    """The last edges of each node, by nanoseconds that float64 cannot tell apart."""
    rng = np.random.default_rng(0)
    source, target, when = rng.integers(0, 30, 500), rng.integers(0, 30, 500), rng.permutation(500) + 2**60
    path, out = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    columns = {"source": source, "target": target, "note": rng.normal(size=500), "when": when}
    if suffix == ".npz":
        np.savez(path, **columns)
    elif suffix == ".csv":
        csv.write_csv(pa.table(columns), path)
    else:
        parquet.write_table(pa.table(columns), path)
    pruner = TopWeight(k=3, column="when")
    prune_stream(path, out, pruner)
    mask = pruner.mask(Graph.from_edges((source, target), edge_columns={"when": when}))
    if suffix == ".npz":
        found = np.load(out)["when"]
    else:
        found = (csv.read_csv(out) if suffix == ".csv" else parquet.read_table(out))["when"].to_numpy()
    assert found.tolist() == when[mask].tolist()
    for pruner in (TopWeight(k=3, column="when"), LSP(k=3, hash="identity", weights=Column(column="when"))):
        other = tmp_path / f"other{suffix}"
        prune_stream(path, other, pruner, edge_attr=["note"])
        graph = read_edges(path, edge_attr=["note"], columns=["when"]).graph
        assert (
            read_edges(other, columns=["when"]).graph.edge_columns["when"].tolist() == when[pruner.mask(graph)].tolist()
        )
        other.unlink()
