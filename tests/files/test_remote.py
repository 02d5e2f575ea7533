"""Files in a store of objects: the same graphs and bytes as on this machine, uploads whole or absent, clear errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from lsprune import FormatError, GraphError, OptionError
from lsprune.cli import app
from lsprune.files import open_edges, read_edges, seal, write_edges
from lsprune.files.remote import Place, fetched, refuse_url, uploaded, url_of

NODES, EDGES = 30, 400


def _columns() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {name: rng.integers(0, NODES, EDGES) for name in ("source", "target")}


def _upload(store, key: str, write) -> bytes:
    """Store what `write` writes to a sink; return it."""
    sink = pa.BufferOutputStream()
    write(sink)
    store.put(key, sink.getvalue().to_pybytes())
    return store.objects[key]


@pytest.fixture
def edges(store) -> bytes:
    """The bytes of s3://bucket/edges.parquet, beside features in s3://bucket/x.npy."""
    rng = np.random.default_rng(1)
    _upload(store, "bucket/x.npy", lambda sink: np.save(sink, rng.standard_normal((NODES, 3)).astype(np.float32)))
    return _upload(store, "bucket/edges.parquet", lambda sink: pq.write_table(pa.table(_columns()), sink))


@pytest.mark.parametrize("wrap", [str, Path])
def test_urls_are_told_from_paths(wrap):
    for url in ("s3://bucket/a/b.parquet", "gs://bucket", "hdfs://host:9000/x"):
        assert url_of(wrap(url)) == url
    for path in ("edges.parquet", "/tmp/s3/x", "a:/b", "year=1:/b.csv", "C:/edges.csv"):
        assert url_of(wrap(path)) is None
    for other in ("http://host/edges.csv", "file:/edges.csv", "s3a://bucket/x"):
        with pytest.raises(OptionError, match="or begin with one of s3://, .*got (http|file|s3a)://"):
            url_of(wrap(other))
    with pytest.raises(OptionError, match="zip://"):
        url_of("zip://bucket/x")
    with pytest.raises(OptionError, match="map_ids must be on this machine, got s3://bucket/x"):
        refuse_url(wrap("s3://bucket/x"), "map_ids")


@pytest.mark.parametrize("wrap", [str, Path])
def test_a_graph_is_that_of_the_local_file(store, edges, tmp_path, wrap):
    (tmp_path / "e.parquet").write_bytes(edges)
    (tmp_path / "x.npy").write_bytes(store.objects["bucket/x.npy"])
    local = read_edges(tmp_path / "e.parquet", features=tmp_path / "x.npy").graph
    found = read_edges(wrap("s3://bucket/edges.parquet"), features=wrap("s3://bucket/x.npy"))
    np.testing.assert_array_equal(found.graph.ends(), local.ends())
    np.testing.assert_array_equal(found.graph.x, local.x)
    with pytest.raises(OptionError, match="must not be an input file"):
        write_edges("s3://bucket/edges.parquet", found, np.ones(EDGES, bool))


def test_an_endpoint_may_be_in_the_url(store, edges, monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    place = store.endpoint.removeprefix("http://")
    url = f"s3://bucket/edges.parquet?endpoint_override={place}&scheme=http"
    assert read_edges(url).graph.num_edges == EDGES


@pytest.mark.parametrize("name", ["out.parquet", "out.csv.gz", "out.npz"])
def test_written_objects_have_the_bytes_of_local_files(store, edges, tmp_path, name):
    graph, mask = read_edges("s3://bucket/edges.parquet"), np.arange(EDGES) % 3 == 0
    write_edges(tmp_path / name, graph, mask)
    write_edges(f"s3://bucket/deep/{name}", graph, mask)
    assert store.objects[f"bucket/deep/{name}"] == (tmp_path / name).read_bytes()


def test_a_failed_upload_leaves_what_was_there(store, edges):
    store.put("bucket/out.parquet", b"old")
    graph = read_edges("s3://bucket/edges.parquet")
    store.refuse = "out"
    with pytest.raises(OSError, match="ACCESS_DENIED"):
        write_edges("s3://bucket/out.parquet", graph, np.ones(EDGES, bool))
    assert store.objects["bucket/out.parquet"] == b"old"
    with pytest.raises(ZeroDivisionError), uploaded("s3://bucket/new.parquet") as local:
        local.write_bytes(b"half")
        raise ZeroDivisionError
    assert "bucket/new.parquet" not in store.objects


def test_a_folder_is_uploaded_with_its_manifest_last_or_not_at_all(store, tmp_path):
    for name in ("_lsprune.json", "z.parquet", "a/b.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    store.put("bucket/there", b"")
    Place.of("s3://bucket/out/").upload(tmp_path)
    assert store.order[1:] == ["bucket/out/a/b.parquet", "bucket/out/z.parquet", "bucket/out/_lsprune.json"]
    store.refuse = "z.parquet"
    with pytest.raises(OSError, match="ACCESS_DENIED"):
        Place.of("s3://bucket/other").upload(tmp_path)
    assert not [key for key in store.objects if key.startswith("bucket/other") and not key.endswith("/")]
    assert not Place.of("s3://bucket/other").has_files()
    assert Place.of("s3://bucket/out").has_files()


def test_a_folder_is_fetched_without_hidden_files_and_only_what_changed(store, tmp_path):
    for name in ("a.parquet", "deep/b.parquet", "_SUCCESS", "_temporary/c.parquet", ".hidden", "_lsprune.json"):
        store.put(f"bucket/edges/{name}", name.encode())
    for _ in range(2):
        copy = Place.of("s3://bucket/edges/").fetch(tmp_path)
    found = {path.relative_to(copy).as_posix(): path.read_text() for path in copy.rglob("*") if path.is_file()}
    assert found == {name: name for name in ("a.parquet", "deep/b.parquet", "_lsprune.json")}
    read = [line for line in store.requests if line.startswith("GET /bucket/edges/")]
    assert len(read) == 3  # once each
    store.put("bucket/edges/a.parquet", b"longer than before")
    assert (Place.of("s3://bucket/edges").fetch(tmp_path) / "a.parquet").read_bytes() == b"longer than before"


def test_names_that_lead_out_of_the_folder_are_refused(store, tmp_path):
    store.put("bucket/edges/../../evil.parquet", b"x")
    with pytest.raises(FormatError, match=r"the name '\.\./\.\./evil.parquet' is no path below it"):
        Place.of("s3://bucket/edges").fetch(tmp_path)
    assert not list(tmp_path.iterdir())


def test_errors_name_the_url(store, tmp_path):
    _upload(store, "bucket/bad.parquet", lambda sink: pq.write_table(pa.table({"source": [-1], "target": [2]}), sink))
    with pytest.raises((FormatError, GraphError), match="s3://bucket/bad.parquet: ") as error:
        read_edges("s3://bucket/bad.parquet")
    assert "tmp" not in str(error.value)
    with pytest.raises(FileNotFoundError, match="s3://bucket/none.parquet: no such file or folder"):
        read_edges("s3://bucket/none.parquet")
    with pytest.raises(OptionError, match="s3://: must name a bucket|s3:// "):
        read_edges("s3://")
    with pytest.raises(OptionError, match="read in batches .* must be on this machine, got s3://bucket/bad.parquet"):
        open_edges("s3://bucket/bad.parquet")


def test_a_copy_that_does_not_fit_on_the_disk_is_refused(store, edges, monkeypatch):
    from lsprune.files import remote

    monkeypatch.setattr(remote.shutil, "disk_usage", lambda folder: remote.shutil._ntuple_diskusage(100, 90, 10))
    with (
        pytest.raises(OptionError, match="are needed for a copy in .*, 10 bytes are free"),
        fetched("s3://bucket/x.npy"),
    ):
        pass
    assert not [line for line in store.requests if line.startswith("GET /bucket/x.npy")]


def test_the_command_reads_and_writes_urls(store, edges, tmp_path):
    (tmp_path / "e.parquet").write_bytes(edges)
    (tmp_path / "x.npy").write_bytes(store.objects["bucket/x.npy"])
    here, there = f"{tmp_path}/", "s3://bucket/"
    for place, first in ((here, "e"), (there, "edges")):
        command = ["prune", f"{place}{first}.parquet", f"{place}small.parquet", "--features", f"{place}x.npy", "--json"]
        done = CliRunner().invoke(app, [*command, "--k", "2"])
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["output"] == f"{place}small.parquet"
    assert store.objects["bucket/small.parquet"] == (tmp_path / "small.parquet").read_bytes()


def test_a_fit_reads_urls_and_is_written_here(store, edges, tmp_path):
    command = ["fit", "s3://bucket/edges.parquet", "--features", "s3://bucket/x.npy", "--k", "2"]
    done = CliRunner().invoke(app, [*command[:2], str(tmp_path / "fit.npz"), *command[2:]])
    assert done.exit_code == 0 and (tmp_path / "fit.npz").exists(), done.stderr
    wrong = CliRunner().invoke(app, [*command[:2], "s3://bucket/fit.npz", *command[2:]])
    assert wrong.exit_code == 1 and "OUT must be on this machine, got s3://bucket/fit.npz" in wrong.stderr


def test_text_ids_are_read_from_urls(store):
    names = pa.table({name: [f"n{i}" for i in ids] for name, ids in _columns().items()})
    _upload(store, "bucket/names.parquet", lambda sink: pq.write_table(names, sink))
    command = ["prune", "s3://bucket/names.parquet", "s3://bucket/few.parquet", "--hash", "identity", "--k", "1"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.stderr
    kept = pq.read_table(pa.BufferReader(store.objects["bucket/few.parquet"]))
    assert 0 < kept.num_rows <= NODES * 2 and kept.schema == names.schema


def _sealed(store, edges: bytes, folder: Path) -> None:
    """Store the seal of the edges beside them."""
    (folder / "edges.parquet").write_bytes(edges)
    seal(folder / "edges.parquet")
    store.put("bucket/edges.parquet.lsprune.json", (folder / "edges.parquet.lsprune.json").read_bytes())


def test_a_sealed_object_is_read_and_written_again_and_a_changed_one_is_refused(store, edges, tmp_path):
    _sealed(store, edges, tmp_path)
    file_graph = read_edges("s3://bucket/edges.parquet", verify_input=True)
    write_edges(tmp_path / "all.parquet", file_graph, np.ones(EDGES, bool))  # the copy is gone, which is no change
    assert pq.read_table(tmp_path / "all.parquet").num_rows == EDGES
    store.put("bucket/edges.parquet", edges[:-100] + bytes([edges[-100] ^ 1]) + edges[-99:])
    with pytest.raises(FormatError, match=r"s3://bucket/edges\.parquet"):
        read_edges("s3://bucket/edges.parquet", verify_input=True)


def test_the_seal_of_an_object_that_is_replaced_goes(store, edges, tmp_path):
    _sealed(store, edges, tmp_path)
    file_graph = read_edges("s3://bucket/edges.parquet")
    with uploaded("s3://bucket/edges.parquet") as local:
        write_edges(local, file_graph, np.arange(EDGES) < 7)
    assert "bucket/edges.parquet.lsprune.json" not in store.objects
    assert read_edges("s3://bucket/edges.parquet").graph.num_edges == 7
