"""Files with random damage: every reader succeeds or ends with an error of lsprune, and every command with one line.

The number of mutations of each kind of file is small here; LSPRUNE_MUTATIONS=5000 searches further.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from lab_records import comparison, record, save
from typer.testing import CliRunner

from lsprune import LSP, LspruneError, load
from lsprune.cli import app
from lsprune.files import open_edges, read_edges, write_edges
from lsprune.files.compression import packed
from lsprune.files.manifest import Manifest, hashed_write, verify
from lsprune.lab.reporting.comparison import read_studies
from lsprune.lab.reporting.html.data import page_data
from lsprune.lab.studies import study_files
from lsprune.lab.studies.result_files import Results
from lsprune.lab.studies.run import Run
from lsprune.outofcore.node_features import open_features

MUTATIONS = int(os.environ.get("LSPRUNE_MUTATIONS", "40"))
COMMANDS = max(3, MUTATIONS // 20)  # a command takes many times as long as a reader
SOURCE, TARGET = np.array([0, 1, 2, 2, 3, 5, 4, 1]), np.array([1, 2, 0, 2, 1, 0, 5, 3])
X = np.arange(18, dtype=np.float32).reshape(6, 3)
WEIGHT = np.linspace(0, 1, 8)
SOME = np.array([True, False] * 4)


# Damage


def damaged(content: bytes, seed: int) -> bytes:
    """The content with some bytes changed, removed, repeated or cut off."""
    chance = random.Random(seed)
    out = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        at = chance.randrange(max(1, len(out)))
        size = chance.choice((1, 1, 2, 4, 8, 60))
        kind = chance.randrange(7)
        if kind == 0:
            del out[at:]
        elif kind == 1:
            del out[at : at + size]
        elif kind == 2:
            out[at:at] = out[at : at + size] * chance.choice((1, 3))
        elif kind == 3:
            out[at : at + size] = bytes([chance.choice((0, 255, 127, 128))]) * len(out[at : at + size])
        elif kind == 4:
            out[at:at] = chance.choice(
                (b"\0", b"\n", b"-", b"9" * 30, b"\xff\xfe", b"e999", b"'", b'"', b"[", b"\x1b[")
            )
        else:
            out[at : at + 1] = bytes(byte ^ (1 << chance.randrange(8)) for byte in out[at : at + 1])
    return bytes(out)


ODD: list[Any] = [
    None, True, -1, 0, 1, 1.5, 10**400, 2**63, float("nan"), float("inf"), "", "abc", "\0", "\ud800", "../a", "/",
    "9" * 30, [], {}, [[]], {"a": 1}, [1, "a"], "x" * 1000, {"name": "projection"},
]  # fmt: skip


def changed_json(content: bytes, seed: int) -> bytes:
    """JSON, or lines of it, with some value in some place replaced by one of another kind, or left out."""
    chance = random.Random(seed)
    lines = content.splitlines() if content.count(b"\n") > 1 and content.startswith(b'{"') else [content]
    at = chance.randrange(len(lines))
    tree = json.loads(lines[at])
    for _ in range(chance.choice((1, 1, 2))):
        places = list(_places(tree))
        holder, key = chance.choice(places)
        if chance.random() < 0.15 and isinstance(holder, dict):
            holder.pop(key, None)
        else:
            holder[key] = chance.choice(ODD)
    lines[at] = json.dumps(tree).encode()
    return b"\n".join(lines) + b"\n"


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from _places(tree[key])


# Files


def edges_npz(path: Path, *, compressed: bool = False) -> None:
    write = np.savez_compressed if compressed else np.savez
    write(path, edge_index=np.stack([SOURCE, TARGET]), edge_attr=WEIGHT, x=X, y=np.arange(6) % 2, num_nodes=np.array(6))


def rows_npz(path: Path) -> None:
    matrix = sp.coo_array((WEIGHT, (SOURCE, TARGET)), shape=(6, 6)).tocsr()
    np.savez(path, indptr=matrix.indptr, indices=matrix.indices, rows=np.array("target"))


def matrix_npz(path: Path) -> None:
    sp.save_npz(path, sp.coo_array((WEIGHT, (SOURCE, TARGET)), shape=(6, 6)).tocsr())


def edges_parquet(path: Path) -> None:
    words = pa.array(["a", "b"] * 4)
    lists = pa.array([[1, 2], [], [3]] * 2 + [None, [4]])
    table = pa.table({"source": SOURCE, "target": TARGET, "w": WEIGHT, "word": words, "lists": lists})
    pq.write_table(table, path, row_group_size=3, write_page_checksum=path.stem.endswith("sums"))


def edges_text(path: Path) -> None:
    separator = "," if ".csv" in path.name else "\t" if ".tsv" in path.name else " "
    head = separator.join(("source", "target", "w")) + "\n" if separator != " " else "# a comment\n"
    rows = (separator.join(map(str, row)) for row in zip(SOURCE, TARGET, WEIGHT, strict=True))
    with path.open("wb") as handle, packed(handle, path.name) as stream:
        stream.write((head + "\n".join(rows) + "\n").encode())


def features_npz(path: Path, *, compressed: bool = False) -> None:
    (np.savez_compressed if compressed else np.savez)(path, x=X)


def features_parquet(path: Path) -> None:
    pq.write_table(pa.table({"a": X[:, 0], "b": pa.FixedSizeListArray.from_arrays(pa.array(X.reshape(-1)), 3)}), path)


def results(path: Path) -> None:
    records = comparison(
        seeds=2, shares=(0.5,), methods=("unpruned", "random", "lsp-p"), test_seconds=0.1, train_seconds=1.0
    )
    run = Run(study="s", dataset="d", model="", method="random", keep=0.5, hops=(1, 2))
    records.append({**record(run, 0, 0, 0.5), "variance": {"1": 0.5, "2": 3.0}})
    run = Run(study="s", dataset="e", model="", method="random", keep=0.5, pairs=3)
    records.append(record(run, 0, 0, 0.5, overlap=0.5, metric="overlap"))
    save(records, path)


def study_toml(path: Path) -> None:
    path.write_text(
        'title = "a title"\nseeds = 2\nk = [1, 2]\nlr = 0.01\nmethods = ["unpruned", "random"]\n'
        '[[part]]\ndataset = "cora"\nmodel = "planetoid-gat"\n'
        '[[part]]\ndataset = "pubmed"\nmodel = "planetoid-gat"\nshares = [0.5]\npatience = 3\n'
    )


def manifest(path: Path) -> None:
    (path.parent / "sub").mkdir(exist_ok=True)
    rows = lambda handle: handle.write(b"1,2\n") // 4  # noqa: E731
    entries = [hashed_write(path.parent / name, rows, name=name) for name in ("a.csv", "sub/b.csv")]
    Manifest({"pruner": {"k": 3}, "found": {"edges": 2}}, 2, 2, tuple(entries)).write(path)


def saved_pruner(path: Path, hash: str = "projection") -> None:
    from lsprune import Graph

    LSP(k=2, hash=hash).fit(Graph.from_edges((SOURCE, TARGET), x=X)).save(path)


# Readers


def in_memory(path: Path, folder: Path) -> None:
    attr = ("w",) if path.suffix == ".parquet" or ".csv" in path.name or ".tsv" in path.name else ()
    read = read_edges(path, edge_attr=attr, memory="1GB")
    mask = np.resize(SOME, read.graph.num_edges)
    write_edges(folder / f"out{''.join(path.suffixes)}", read, mask)
    LSP(k=1, hash="identity").mask(read.graph) if read.graph.num_nodes < 10_000 else None


def streaming(path: Path, folder: Path) -> None:
    edges = open_edges(path)
    for batch in edges.batches(3, attributes=True):
        assert batch.source.shape == batch.target.shape
    with (folder / "out").open("wb") as handle:
        for shard in edges.shards:
            edges.write_shard(shard, handle, lambda first, last: np.resize(SOME, last - first), 4)


def node_features(path: Path, folder: Path) -> None:
    good = folder / "good.npz"
    np.savez(good, edge_index=np.stack([SOURCE, TARGET]))
    graph = read_edges(good, features=path, memory="1GB").graph
    LSP(k=1).mask(graph) if graph.num_nodes < 10_000 else None


def streamed_features(path: Path, folder: Path) -> None:
    np.asarray(open_features(path, folder, 4).x[:5], np.float64).sum()  # every value can be read


def shown_results(path: Path, folder: Path) -> None:
    Results(path).keys()
    json.dumps(page_data(read_studies([path])))


def verified(path: Path, folder: Path) -> None:
    verify(path.parent)
    Manifest.read(path)


Reader = Callable[[Path, Path], Any]
READERS: dict[str, tuple[str, Callable[[Path], None], Reader]] = {
    "npz": ("in.npz", edges_npz, in_memory),
    "npz compressed": ("in.npz", lambda path: edges_npz(path, compressed=True), in_memory),
    "npz rows": ("in.npz", rows_npz, in_memory),
    "npz matrix": ("in.npz", matrix_npz, in_memory),
    "parquet": ("in.parquet", edges_parquet, in_memory),
    "parquet with checksums": ("sums.parquet", edges_parquet, in_memory),
    "csv": ("in.csv", edges_text, in_memory),
    "tsv": ("in.tsv", edges_text, in_memory),
    "txt": ("in.txt", edges_text, in_memory),
    "csv.gz": ("in.csv.gz", edges_text, in_memory),
    "txt.zst": ("in.txt.zst", edges_text, in_memory),
    "stream npz": ("in.npz", edges_npz, streaming),
    "stream npz rows": ("in.npz", rows_npz, streaming),
    "stream npy": ("in.npy", lambda path: np.save(path, np.stack([SOURCE, TARGET])), streaming),
    "stream parquet": ("in.parquet", edges_parquet, streaming),
    "stream parquet with checksums": ("sums.parquet", edges_parquet, streaming),
    "stream csv": ("in.csv", edges_text, streaming),
    "stream txt": ("in.txt", edges_text, streaming),
    "stream csv.gz": ("in.csv.gz", edges_text, streaming),
    "stream txt.zst": ("in.txt.zst", edges_text, streaming),
    "features npy": ("x.npy", lambda path: np.save(path, X), node_features),
    "features npz": ("x.npz", features_npz, node_features),
    "features npz compressed": ("x.npz", lambda path: features_npz(path, compressed=True), node_features),
    "features npz matrix": ("x.npz", lambda path: sp.save_npz(path, sp.csr_array(X)), node_features),
    "features parquet": ("x.parquet", features_parquet, node_features),
    "stream features npy": ("x.npy", lambda path: np.save(path, X), streamed_features),
    "stream features npz": ("x.npz", features_npz, streamed_features),
    "stream features npz compressed": ("x.npz", lambda path: features_npz(path, compressed=True), streamed_features),
    "stream features parquet": ("x.parquet", features_parquet, streamed_features),
    "results": ("r.jsonl", results, shown_results),
    "study": ("s.toml", study_toml, lambda path, folder: study_files.read(str(path)).runs()),
    "manifest": ("_lsprune.json", manifest, verified),
    "pruner": ("p.npz", saved_pruner, lambda path, folder: load(path)),
    "pruner with words": ("p.npz", lambda path: saved_pruner(path, "codebook"), lambda path, folder: load(path)),
}  # fmt: skip


def attempt(reader: Reader, path: Path, folder: Path) -> str:
    """What came of it: the error of ours, or nothing; any other error is one of the test."""
    folder.mkdir()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader(path, folder)
    except (LspruneError, OSError) as error:
        return str(error) or "an error without a message"
    finally:
        shutil.rmtree(folder)
    return ""


@pytest.mark.parametrize("kind", READERS)
def test_damage_is_an_error_of_ours(tmp_path: Path, kind: str, few_resamples: None) -> None:
    name, write, reader = READERS[kind]
    path = tmp_path / "in" / name
    path.parent.mkdir()
    write(path)
    content, count = path.read_bytes(), 0
    assert attempt(reader, path, tmp_path / "out") == ""
    for seed in range(MUTATIONS):
        path.write_bytes(damaged(content, seed))
        try:
            count += attempt(reader, path, tmp_path / "out") != ""
        except Exception as error:
            pytest.fail(f"seed {seed}: {type(error).__name__}: {error}")
    assert count > MUTATIONS // 10


JSON = {kind: READERS[kind] for kind in ("results", "manifest")}


@pytest.mark.parametrize("kind", JSON)
def test_json_of_another_shape_is_an_error_of_ours(tmp_path: Path, kind: str, few_resamples: None) -> None:
    name, write, reader = JSON[kind]
    path = tmp_path / "in" / name
    path.parent.mkdir()
    write(path)
    content = path.read_bytes()
    for seed in range(MUTATIONS):
        path.write_bytes(changed_json(content, seed))
        try:
            attempt(reader, path, tmp_path / "out")
        except Exception as error:
            pytest.fail(f"seed {seed}: {type(error).__name__}: {error}")


def test_options_of_a_saved_pruner_of_another_shape(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    saved_pruner(path)
    with np.load(path) as stored:
        arrays = dict(stored)
    content = arrays.pop("json").tobytes()
    for seed in range(MUTATIONS):
        np.savez(path, json=np.frombuffer(changed_json(content, seed), np.uint8), **arrays)
        try:
            attempt(lambda path, folder: load(path), path, tmp_path / "out")
        except Exception as error:
            pytest.fail(f"seed {seed}: {type(error).__name__}: {error}")


def words_of(kind: str, path: Path, folder: Path) -> list[str]:
    """The command that reads such a file."""
    prune = ["--k", "1", "--hash", "identity", "--threads", "1"]
    if kind.startswith("stream features"):
        np.savez(folder / "good.npz", edge_index=np.stack([SOURCE, TARGET]))
        out = [str(folder / "good.npz"), str(folder / "out.npz"), "--features", str(path)]
        return ["prune", *out, "--k", "1", "--threads", "1", "--stream"]
    if kind.startswith("features"):
        np.savez(folder / "good.npz", edge_index=np.stack([SOURCE, TARGET]))
        return ["prune", str(folder / "good.npz"), str(folder / "out.npz"), "--features", str(path), "--k", "1"]
    if kind.startswith("stream"):
        return ["prune", str(path), str(folder / f"out{''.join(path.suffixes)}"), *prune, "--stream"]
    if kind == "npz":
        return ["inspect", str(path), "--methods", "random", "--shares", "0.5"]
    return {
        "results": ["report", str(path), "-o", str(folder / "r.html")],
        "study": ["study", "status", str(path), "--out", str(folder)],
        "manifest": ["verify", str(path.parent)],
        "pruner": ["spark-prune", "absent", str(folder / "out"), "--fitted", str(path)],
        "pruner with words": ["spark-prune", "absent", str(folder / "out"), "--fitted", str(path)],
    }.get(kind, ["prune", str(path), str(folder / f"out{''.join(path.suffixes)}"), *prune])


@pytest.mark.parametrize("kind", READERS)
def test_commands_end_with_a_line(tmp_path: Path, kind: str, few_resamples: None) -> None:
    name, write, _ = READERS[kind]
    path = tmp_path / "in" / name
    path.parent.mkdir()
    write(path)
    content = path.read_bytes()
    for seed in range(10**6, 10**6 + COMMANDS):
        path.write_bytes(damaged(content, seed))
        folder = tmp_path / str(seed)
        folder.mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            done = CliRunner().invoke(app, words_of(kind, path, folder))
        assert done.exception is None or isinstance(done.exception, SystemExit), (seed, repr(done.exception))
        assert done.exit_code in (0, 1), (seed, done.stderr)
        lines = done.stderr.splitlines()
        assert all(line.startswith(("error: ", "warning: ", "note: ")) for line in lines), (seed, done.stderr)
        assert (done.exit_code == 1) == any(line.startswith("error: ") for line in lines), (seed, done.stderr)
        left = {one.name for one in folder.iterdir()} - {"good.npz"}
        assert done.exit_code == 0 or not left, (seed, left)
        shutil.rmtree(folder)
