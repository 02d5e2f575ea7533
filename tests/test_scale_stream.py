"""A graph on disk is pruned as in memory: the same edges, whatever the format, the pruner and the size of batches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow")

import pyarrow as pa
from pyarrow import csv, parquet

from graphs import PRUNERS, graphs, name_of, random_graph, reordered, suits
from lsprune import LSP, FormatError, Graph, GraphError, LocalRandom, OptionError, Random
from lsprune.adapters.files import read_edges
from lsprune.baselines import TopWeight
from lsprune.errors import SymmetryWarning
from lsprune.hashing import Auto, Codebook, Threshold
from lsprune.kernels import runtime
from lsprune.pruners.contract import Local
from lsprune.scale import memory
from lsprune.scale.manifest import verify
from lsprune.scale.stream import prune_stream

FEW = settings(max_examples=6, deadline=None, derandomize=True)
FINE = [0.1 + np.arange(40) * np.spacing(0.1), 1_700_000_000_000_000_000 + np.arange(40)]  # one value each in float32
LOCAL = [pruner for pruner in PRUNERS if isinstance(pruner, Local)]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Batches of a few edges, and files in the place of arrays, for graphs that are small."""
    monkeypatch.setattr(memory, "LEAST_ROWS", 8)
    monkeypatch.setattr(memory, "MOST_ROWS", 8)
    monkeypatch.setattr("lsprune.kernels.scratch.LEAST", 1)


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
    found = prune_stream(folder / "in.parquet", folder / "out.parquet", pruner, memory="3GB", **options, **more)
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
    prune_stream(*paths, TopWeight(k=4), edge_attr=["edge_attr"], memory="3GB")
    assert read_edges(paths[1]).graph.source.tolist() == source[expected].tolist()
    assert TopWeight(k=4).mask(read_edges(paths[0], edge_attr=["edge_attr"]).graph).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "pruner",
    [
        LSP(k=2**31 - 1),
        LSP(k=2**31 - 1, symmetric="union", hash=Threshold(digest="affine")),
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
    monkeypatch.setattr("lsprune.pruners.lsp.MOST_FUNCTIONS", most)
    monkeypatch.setattr("lsprune.scale.pairs._SLOTS", 16)
    rng = np.random.default_rng(3)
    graph = Graph.from_edges(rng.integers(0, 7, (2, 150)), num_nodes=7, edge_attr=rng.standard_normal((150, 2)))
    pruner = LSP(**budget, symmetric=symmetric)
    np.testing.assert_array_equal(streamed(tmp_path, graph, pruner), np.flatnonzero(pruner.mask(graph)))


ONCE = [
    LSP(k=2),
    LSP(k=20, side="out", ties="position"),
    LSP(k=3, hash="identity", self_loops="edge"),
    LSP(k=2, hash="signs", select="bottom", self_loops="drop"),
    LSP(k=3, replace=True),
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
    found = prune_stream(tmp_path / "in.parquet", tmp_path / "out.parquet", LSP(k=1), memory="3GB", **options)
    expected = LSP(k=1).mask_graph(graph, runtime())
    assert (found.isolated, found.kept) == (expected.isolated, int(expected.mask.sum()))
    assert found.nodes == 60


def test_auto_is_calibrated_on_the_whole_graph(tmp_path):
    graph = random_graph(1, nodes=200, edges=2000, edge_dim=3)
    pruner = LSP(keep=0.3, hash=Auto(), weights="auto")
    np.testing.assert_array_equal(streamed(tmp_path, graph, pruner), np.flatnonzero(pruner.mask(graph)))


def test_many_buckets_and_hubs(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MOST_ROWS", 4096)
    rng = np.random.default_rng(0)
    ends = np.stack([rng.integers(0, 20_000, 60_000), (20_000 * rng.random(60_000) ** 3).astype(np.int64)])
    ends[1, :3000] = 7
    graph = Graph.from_edges(ends, num_nodes=20_000, x=rng.standard_normal((20_000, 3)).astype(np.float32))
    cases = (LSP(keep=0.4), LSP(k=18, weights="degree"), LSP(k=3, weights="similarity"), LSP(k=1000))
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
        tmp_path / "in", tmp_path / "out", LSP(keep=0.5), features=tmp_path / "x.npy", memory="3GB", num_nodes=30
    )
    parts = [parquet.read_table(tmp_path / "out" / name)["number"].to_numpy() for name in names]
    np.testing.assert_array_equal(np.concatenate(parts), np.flatnonzero(LSP(keep=0.5).mask(graph)))
    assert verify(tmp_path / "out").ok
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "x.npy"]
    with pytest.raises(OptionError, match="new folder"):
        prune_stream(tmp_path / "in", tmp_path / "out", LSP(keep=0.5), memory="3GB")


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
    prune_stream(path, out, LSP(k=2), features=tmp_path / "x.npy", memory="3GB")
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
        prune_stream(tmp_path / "in.parquet", tmp_path / "out.parquet", LocalRandom(k=1), memory="3GB")
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]
    prune_stream(
        tmp_path / "in.parquet", tmp_path / "out.parquet", LocalRandom(k=1), memory="3GB",
        map_ids=tmp_path / "ids.parquet",
    )  # fmt: skip
    names = parquet.read_table(tmp_path / "ids.parquet")["id"].to_pylist()
    ends = np.array([[names.index(name) for name in table[end]] for end in ("source", "target")])
    kept = LocalRandom(k=1).mask(Graph.from_edges(ends))
    out = parquet.read_table(tmp_path / "out.parquet")
    assert out["source"].to_pylist() == [name for name, one in zip(table["source"], kept, strict=True) if one]


def test_an_undirected_graph_is_warned_about_as_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("lsprune.apply._SAID", [])
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
        prune_stream(tmp_path / "in.parquet", tmp_path / "out.parquet", pruner, memory="3GB", **{**options, **more})


def test_fewer_nodes_than_ids_are_refused(tmp_path):
    write(tmp_path, random_graph(0, nodes=12))
    with pytest.raises(OptionError, match="num_nodes must be at least"):
        prune_stream(
            tmp_path / "in.parquet", tmp_path / "out.parquet", LSP(k=1, hash="identity"), num_nodes=3, memory="3GB",
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
