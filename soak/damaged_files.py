"""Small valid files of every format that lsprune reads, and readers that tell what came out of them.

`KINDS` has each format with each way to read it. What a reader returns is compared as text: equal texts are the same
output. A format is `checked` if its files carry checksums: damage must then never give another output.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from lsprune import LSP, Graph, load
from lsprune.files import open_edges, read_edges, seal, write_edges
from lsprune.files.compression import packed, unpacked
from lsprune.files.manifest import Manifest, hashed_write, verify
from lsprune.outofcore.node_features import open_features
from lsprune.outofcore.stream import prune_stream

SOURCE, TARGET = np.array([0, 1, 2, 2, 3, 5, 4, 1]), np.array([1, 2, 0, 2, 1, 0, 5, 3])
X = np.arange(18, dtype=np.float32).reshape(6, 3)
WEIGHT = np.linspace(0, 1, 8)
SOME = np.array([True, False] * 4)
MAX_NODES = 10_000  # of a damaged graph that is pruned

Write = Callable[[Path], None]
Read = Callable[[Path, Path], Any]  # (file, empty folder for outputs) -> what came out


@dataclass(frozen=True)
class Kind:
    """A format and a way to read it: the name of its file, how it is written and read, whether it has checksums."""

    file: str
    write: Write
    read: Read
    checked: bool = True


# Files


def edges_npz(path: Path, *, compressed: bool = False) -> None:
    """Write edges with attributes of edges and nodes."""
    write = np.savez_compressed if compressed else np.savez
    write(path, edge_index=np.stack([SOURCE, TARGET]), edge_attr=WEIGHT, x=X, y=np.arange(6) % 2, num_nodes=np.array(6))


def compressed_npz(path: Path) -> None:
    """Write the same with compression."""
    edges_npz(path, compressed=True)


def rows_npz(path: Path) -> None:
    """Write compressed rows."""
    matrix = sp.coo_array((WEIGHT, (SOURCE, TARGET)), shape=(6, 6)).tocsr()
    np.savez(path, indptr=matrix.indptr, indices=matrix.indices, rows=np.array("target"))


def matrix_npz(path: Path) -> None:
    """Write a matrix as scipy does."""
    sp.save_npz(path, sp.coo_array((WEIGHT, (SOURCE, TARGET)), shape=(6, 6)).tocsr())


def edges_npy(path: Path) -> None:
    """Write an array of edges."""
    np.save(path, np.stack([SOURCE, TARGET]))


def edges_table() -> pa.Table:
    """Return edges with numbers, words and lists."""
    words = pa.array(["a", "b"] * 4)
    lists = pa.array([[1, 2], [], [3]] * 2 + [None, [4]])
    return pa.table({"source": SOURCE, "target": TARGET, "w": WEIGHT, "word": words, "lists": lists})


def plain_parquet(path: Path) -> None:
    """Write Parquet without checksums, as most programs do."""
    pq.write_table(edges_table(), path, row_group_size=3)


def our_parquet(path: Path) -> None:
    """Write Parquet as lsprune does."""
    plain = path.with_name("plain.parquet")
    plain_parquet(plain)
    write_edges(path, read_edges(plain), np.ones(SOURCE.size, bool))
    plain.unlink()


def edges_text(path: Path) -> None:
    """Write text, compressed as lsprune does if the name says so."""
    separator = "," if ".csv" in path.name else "\t" if ".tsv" in path.name else " "
    head = separator.join(("source", "target", "w")) + "\n" if separator != " " else "# a comment\n"
    rows = (separator.join(map(str, row)) for row in zip(SOURCE, TARGET, WEIGHT, strict=True))
    with path.open("wb") as handle, packed(handle, path.name) as stream:
        stream.write((head + "\n".join(rows) + "\n").encode())


def plain_zst(path: Path) -> None:
    """Write zstd without a checksum."""
    rows = (f"{source} {target}" for source, target in zip(SOURCE, TARGET, strict=True))
    path.write_bytes(pa.compress("\n".join(rows).encode() + b"\n", "zstd", asbytes=True))


def features_npy(path: Path) -> None:
    """Write node attributes as an array."""
    np.save(path, X)


def features_npz(path: Path) -> None:
    """Write node attributes as the only array of a file."""
    np.savez(path, x=X)


def features_compressed(path: Path) -> None:
    """Write the same with compression."""
    np.savez_compressed(path, x=X)


def features_matrix(path: Path) -> None:
    """Write node attributes as a sparse matrix."""
    sp.save_npz(path, sp.csr_array(X))


def features_parquet(path: Path) -> None:
    """Write node attributes as columns, one of them with lists."""
    pq.write_table(pa.table({"a": X[:, 0], "b": pa.FixedSizeListArray.from_arrays(pa.array(X.reshape(-1)), 3)}), path)


def features_parquet_checked(path: Path) -> None:
    """Write the same with page checksums."""
    table = pa.table({"a": X[:, 0], "b": pa.FixedSizeListArray.from_arrays(pa.array(X.reshape(-1)), 3)})
    pq.write_table(table, path, write_page_checksum=True)


def results(path: Path) -> None:
    """Write the lines of a small study."""
    from lab_records import comparison, record, save

    from lsprune.lab.studies.run import Run

    records = comparison(
        seeds=2, shares=(0.5,), methods=("unpruned", "random", "lsp-p"), test_seconds=0.1, train_seconds=1.0
    )
    run = Run(study="s", dataset="d", model="", method="random", keep=0.5, hops=(1, 2))
    records.append({**record(run, 0, 0, 0.5), "variance": {"1": 0.5, "2": 3.0}})
    run = Run(study="s", dataset="e", model="", method="random", keep=0.5, pairs=3)
    records.append(record(run, 0, 0, 0.5, overlap=0.5, metric="overlap"))
    save(records, path)


def study_toml(path: Path) -> None:
    """Write a study."""
    path.write_text(
        'title = "a title"\nseeds = 2\nk = [1, 2]\nlr = 0.01\nmethods = ["unpruned", "random"]\n'
        '[[part]]\ndataset = "cora"\nmodel = "planetoid-gat"\n'
        '[[part]]\ndataset = "pubmed"\nmodel = "planetoid-gat"\nshares = [0.5]\npatience = 3\n'
    )


def manifest(path: Path) -> None:
    """Write a manifest and its two files."""
    (path.parent / "sub").mkdir(exist_ok=True)
    rows = lambda handle: handle.write(b"1,2\n") // 4  # noqa: E731
    entries = [hashed_write(path.parent / name, rows, name=name) for name in ("a.csv", "sub/b.csv")]
    Manifest({"pruner": {"k": 3}, "found": {"edges": 2}}, 2, 2, tuple(entries)).write(path)


def saved_pruner(path: Path, hash: str = "projection") -> None:
    """Write a fitted pruner."""
    LSP(k=2, hash=hash).fit(Graph.from_edges((SOURCE, TARGET), x=X)).save(path)


def saved_codebook(path: Path) -> None:
    """Write a fitted pruner with learned words."""
    saved_pruner(path, "codebook")


# Readers


def content_of(path: Path) -> Any:
    """Return what an output file holds, without how it is encoded."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return table.schema.serialize().to_pybytes(), repr(table.to_pydict())
    if path.suffix in (".npz", ".npy"):
        arrays = np.load(path, allow_pickle=False)
        return sorted(map(_plain, arrays.items())) if path.suffix == ".npz" else _plain(("", arrays))
    with unpacked(path) as stream:
        return stream.read()


def _plain(item: tuple[str, Any]) -> tuple[str, str, Any, bytes]:
    name, array = item
    array = np.asarray(array)
    return name, array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes()


def _arrays(graph: Graph) -> list[Any]:
    arrays = (*graph.ends(), graph.x.toarray() if sp.issparse(graph.x) else graph.x, graph.edge_attr)
    return [graph.num_nodes, *(None if array is None else _plain(("", array)) for array in arrays)]


def in_memory(path: Path, folder: Path, verify: bool = False) -> Any:
    """Read edges into memory, prune them, and write a part."""
    attr = ("w",) if path.suffix == ".parquet" or ".csv" in path.name or ".tsv" in path.name else ()
    read = read_edges(path, edge_attr=attr, memory="1GB", verify_input=verify)
    mask = np.resize(SOME, read.graph.num_edges)
    out = folder / f"out{''.join(path.suffixes)}"
    write_edges(out, read, mask)
    pruned = LSP(k=1, hash="identity").mask(read.graph).tobytes() if read.graph.num_nodes < MAX_NODES else b""
    return _arrays(read.graph), content_of(out), pruned


def streaming(path: Path, folder: Path, verify: bool = False) -> Any:
    """Read edges by batches, and write a part."""
    edges, seen = open_edges(path, verify_input=verify), []
    for batch in edges.batches(3, attributes=True):
        attr = None if batch.edge_attr is None else batch.edge_attr.tolist()
        seen.append((batch.source.tolist(), batch.target.tolist(), attr))
    out = folder / f"out{''.join(path.suffixes)}"
    with out.open("wb") as handle:
        for shard in edges.shards:
            edges.write_shard(shard, handle, lambda first, last: np.resize(SOME, last - first), 4)
    features = None if edges.features is None else np.asarray(edges.features).tobytes()
    return seen, content_of(out), features


def node_features(path: Path, folder: Path, verify: bool = False) -> Any:
    """Read node attributes into memory."""
    good = folder / "good.npz"
    np.savez(good, edge_index=np.stack([SOURCE, TARGET]))
    if verify:
        seal(good)
    return _arrays(read_edges(good, features=path, memory="1GB", verify_input=verify).graph)


def streamed_features(path: Path, folder: Path) -> Any:
    """Read node attributes as streaming does."""
    x = open_features(path, folder, 4).x
    return _plain(("", np.asarray(x[:MAX_NODES])))


def shown_results(path: Path, folder: Path) -> Any:
    """Read results and make the data of a report."""
    from lsprune.lab.reporting.comparison import read_studies
    from lsprune.lab.reporting.html.data import page_data
    from lsprune.lab.studies.result_files import Results

    return sorted(Results(path).keys()), json.dumps(page_data(read_studies([path])))


def study_runs(path: Path, folder: Path) -> Any:
    """Read a study and list its runs."""
    from lsprune.lab.studies import study_files

    return list(study_files.read(str(path)).runs())


def verified(path: Path, folder: Path) -> Any:
    """Read a manifest and compare its files with it."""
    return Manifest.read(path).to_json(), verify(path.parent).problems


def loaded_pruner(path: Path, folder: Path) -> Any:
    """Read a fitted pruner and prune with it."""
    pruner = load(path)
    return pruner.to_dict(), pruner.mask(Graph.from_edges((SOURCE, TARGET), x=X)).tobytes()


def sealed_csv(path: Path, folder: Path) -> Any:
    """Read the file that a seal belongs to."""
    return in_memory(path.with_name("in.csv"), folder, verify=True)


def csv_and_seal(path: Path) -> None:
    """Write a file and its seal, which is the one that is damaged."""
    edges_text(path.with_name("in.csv"))
    seal(path.with_name("in.csv"))


def sealed(name: str) -> Kind:
    """Return a kind whose file is sealed, and read only if it is as it was sealed."""
    kind = KINDS[name]

    def write(path: Path) -> None:
        kind.write(path)
        seal(path)

    return Kind(kind.file, write, partial(kind.read, verify=True))


# A work folder


def stopped_run(path: Path, before: str = "writing") -> None:
    """Stop a streamed run before one of its stages; keep a copy of its work folder, in which `path` is a file."""
    place = path.parents[1]
    np.savez(place / "in.npz", edge_index=np.stack([SOURCE, TARGET]))
    np.save(place / "x.npy", X)

    def stop(text: str) -> None:
        if text.startswith(before):
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        _resume(place, stop)
    shutil.copytree(path.parent, place / "kept")


def resumed_run(path: Path, folder: Path) -> Any:
    """Resume a stopped run, one file of which may be damaged; leave the work folder as it was."""
    damaged, place = path.read_bytes(), path.parents[1]
    try:
        _fresh_copy(place / "kept", path.parent)
        path.write_bytes(damaged)
        _resume(place)
        return content_of(place / "out.npz"), verify(place / "out.npz").problems
    finally:
        for name in ("out.npz", "out.npz.lsprune.json"):
            (place / name).unlink(missing_ok=True)
        _fresh_copy(place / "kept", path.parent)


def _resume(place: Path, say: Callable[[str], None] = lambda text: None) -> None:
    options: dict[str, Any] = {"features": place / "x.npy", "memory": "3GB", "threads": 1}
    prune_stream(place / "in.npz", place / "out.npz", LSP(k=1), **options, resume=True, say=say)


def _fresh_copy(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)


KINDS: dict[str, Kind] = {
    "npz": Kind("in.npz", edges_npz, in_memory),
    "npz compressed": Kind("in.npz", compressed_npz, in_memory),
    "npz rows": Kind("in.npz", rows_npz, in_memory),
    "npz matrix": Kind("in.npz", matrix_npz, in_memory),
    "parquet": Kind("in.parquet", plain_parquet, in_memory, checked=False),
    "parquet with checksums": Kind("in.parquet", our_parquet, in_memory),
    "csv": Kind("in.csv", edges_text, in_memory, checked=False),
    "tsv": Kind("in.tsv", edges_text, in_memory, checked=False),
    "txt": Kind("in.txt", edges_text, in_memory, checked=False),
    "csv.gz": Kind("in.csv.gz", edges_text, in_memory),
    "txt.zst": Kind("in.txt.zst", plain_zst, in_memory, checked=False),
    "txt.zst with checksum": Kind("in.txt.zst", edges_text, in_memory),
    "stream npz": Kind("in.npz", edges_npz, streaming),
    "stream npz rows": Kind("in.npz", rows_npz, streaming),
    "stream npy": Kind("in.npy", edges_npy, streaming, checked=False),
    "stream parquet": Kind("in.parquet", plain_parquet, streaming, checked=False),
    "stream parquet with checksums": Kind("in.parquet", our_parquet, streaming),
    "stream csv": Kind("in.csv", edges_text, streaming, checked=False),
    "stream txt": Kind("in.txt", edges_text, streaming, checked=False),
    "stream csv.gz": Kind("in.csv.gz", edges_text, streaming),
    "stream txt.zst": Kind("in.txt.zst", plain_zst, streaming, checked=False),
    "stream txt.zst with checksum": Kind("in.txt.zst", edges_text, streaming),
    "features npy": Kind("x.npy", features_npy, node_features, checked=False),
    "features npz": Kind("x.npz", features_npz, node_features),
    "features npz compressed": Kind("x.npz", features_compressed, node_features),
    "features npz matrix": Kind("x.npz", features_matrix, node_features),
    "features parquet": Kind("x.parquet", features_parquet, node_features, checked=False),
    "features parquet with checksums": Kind("x.parquet", features_parquet_checked, node_features),
    "stream features npy": Kind("x.npy", features_npy, streamed_features, checked=False),
    "stream features npz": Kind("x.npz", features_npz, streamed_features),
    "stream features npz compressed": Kind("x.npz", features_compressed, streamed_features),
    "stream features parquet": Kind("x.parquet", features_parquet, streamed_features, checked=False),
    "stream features parquet with checksums": Kind("x.parquet", features_parquet_checked, streamed_features),
    "results": Kind("r.jsonl", results, shown_results, checked=False),
    "study": Kind("s.toml", study_toml, study_runs, checked=False),
    "manifest": Kind("_lsprune.json", manifest, verified),
    "pruner": Kind("p.npz", saved_pruner, loaded_pruner),
    "pruner with words": Kind("p.npz", saved_codebook, loaded_pruner),
}  # fmt: skip
WORK = "out.npz.lsprune-work"
_STAGES = {
    "journal.json": "writing", "mask.npy": "writing", "indptr.npy": "selecting", "neighbour.npy": "selecting",
}  # fmt: skip
KINDS |= {
    f"work folder, {name}": Kind(f"{WORK}/{name}", partial(stopped_run, before=stage), resumed_run)
    for name, stage in _STAGES.items()
}
_SEALED = ("csv", "txt", "tsv", "parquet", "txt.zst", "stream npy", "stream csv", "features npy", "features parquet")
KINDS |= {f"sealed {name}": sealed(name) for name in _SEALED}
KINDS["seal"] = Kind("in.csv.lsprune.json", csv_and_seal, sealed_csv)
