"""A streamed run with its input or output in a store of objects: the bytes of a local run, and nothing left behind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from object_store import environment
from typer.testing import CliRunner

from lsprune import LSP, OptionError
from lsprune.cli import app
from lsprune.outofcore import prune_stream, verify
from lsprune.outofcore.staging import local_places

NODES, EDGES, FILES = 40, 900, 3
PRUNER = LSP(k=3)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with edges/ and nodes.parquet, with an empty current folder beside them."""
    rng = np.random.default_rng(0)
    (tmp_path / "edges" / "year=2020").mkdir(parents=True)
    for name in ("a.parquet", "b.parquet", "year=2020/c.parquet"):
        ends = {end: rng.integers(0, NODES, EDGES // FILES) for end in ("source", "target")}
        pq.write_table(pa.table(ends), tmp_path / "edges" / name)
    x = pa.array(rng.standard_normal((NODES, 3)).tolist(), pa.list_(pa.float32()))
    pq.write_table(pa.table({"id": np.arange(NODES), "x": x}), tmp_path / "nodes.parquet")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def _here() -> list[str]:
    return [path.name for path in Path.cwd().iterdir()]


def _upload(store, folder) -> None:
    for path in folder.rglob("*.parquet"):
        store.put(f"bucket/{path.relative_to(folder).as_posix()}", path.read_bytes())


def _bytes(folder) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.parquet")}


def _objects(store, folder: str) -> dict[str, bytes]:
    found = {key.removeprefix(f"bucket/{folder}/"): data for key, data in store.objects.items()}
    return {name: data for name, data in found.items() if f"bucket/{folder}/{name}" in store.objects}


def test_a_folder_elsewhere_gives_the_bytes_of_a_local_one(store, folder):
    _upload(store, folder)
    prune_stream(folder / "edges", folder / "local", PRUNER, features=folder / "nodes.parquet")
    expected = _bytes(folder / "local")
    nodes = "s3://bucket/nodes.parquet"
    prune_stream("s3://bucket/edges/", folder / "fetched", PRUNER, features=nodes)
    assert _bytes(folder / "fetched") == expected
    assert json.loads((folder / "fetched" / "_lsprune.json").read_text())["config"]["input"] == "s3://bucket/edges/"
    uploaded = prune_stream("s3://bucket/edges", "s3://bucket/out", PRUNER, features=nodes)
    found = _objects(store, "out")
    assert uploaded.kept < uploaded.edges == EDGES
    assert found.pop("_lsprune.json") and found == expected
    assert store.order[-1] == "bucket/out/_lsprune.json"
    assert verify("s3://bucket/out").ok
    assert _here() == [] and not list(folder.glob("*.lsprune-*"))  # no copies are left


def test_a_file_is_replaced_with_its_manifest(store, folder):
    _upload(store, folder)
    source, out = "s3://bucket/edges/a.parquet", "s3://bucket/small.parquet"
    for k in (2, 1):
        prune_stream(source, out, LSP(k=k, hash="identity"))
        assert verify(out).ok
    store.put("bucket/small.parquet", b"PAR1 damaged PAR1")
    report = verify(out)
    assert [problem.split(": ")[0] for problem in report.problems] == ["s3://bucket/small.parquet"]


def test_the_command_streams_urls(store, folder):
    _upload(store, folder)
    command = ["prune", "s3://bucket/edges/", "s3://bucket/few/", "--hash", "identity", "--k", "1", "--stream"]
    command.append("--json")
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["output"] == "s3://bucket/few"
    assert CliRunner().invoke(app, ["verify", "s3://bucket/few"]).exit_code == 0
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 1 and "there are files in s3://bucket/few" in again.stderr
    inside = CliRunner().invoke(app, [*command[:2], "s3://bucket/edges/few", *command[3:]])
    assert inside.exit_code == 1 and "must not be the input or lie in it" in inside.stderr
    assert _here() == []


def test_a_failed_upload_is_resumed_without_fetching_again(store, folder):
    _upload(store, folder)
    arguments = ("s3://bucket/edges", "s3://bucket/out", LSP(k=2, hash="identity"))
    store.refuse = "out/_lsprune.json"
    with pytest.raises(OSError, match="ACCESS_DENIED"):
        prune_stream(*arguments, resume=True)
    assert not [name for name in _objects(store, "out") if name.endswith(".parquet")]
    assert _here() == ["out.lsprune-copies"]
    with pytest.raises(OptionError, match="is left from an interrupted run; continue it with --resume"):
        prune_stream(*arguments)
    store.refuse, store.requests[:] = "", []
    prune_stream(*arguments, resume=True)
    assert verify("s3://bucket/out").ok
    fetched = [line for line in store.requests if line.startswith("GET /bucket/edges/")]
    assert fetched == [] and _here() == []


def test_an_error_leaves_no_copies_and_names_the_object(store, folder):
    _upload(store, folder)
    store.put("bucket/edges/d.parquet", b"no Parquet at all")
    with pytest.raises(ValueError, match="s3://bucket/edges/d.parquet: not a readable Parquet file"):
        prune_stream("s3://bucket/edges", "s3://bucket/out", PRUNER)
    with pytest.raises(OptionError, match="map_ids .* must be on this machine, got s3://bucket/ids.parquet"):
        prune_stream("s3://bucket/nodes.parquet", "o.parquet", PRUNER, map_ids="s3://bucket/ids.parquet")
    with pytest.raises(OptionError, match="scratch .* must be a folder that exists"):
        prune_stream("s3://bucket/edges", "s3://bucket/out", PRUNER, scratch="nowhere")
    assert _here() == []


def test_paths_of_this_machine_stay_as_they_are(folder):
    from lsprune.files import EdgeOptions

    options = EdgeOptions(features=folder / "nodes.parquet")
    with local_places("a", "b", options, scratch=None, resume=False, say=print) as places:
        assert (str(places.path), str(places.out), places.options, places.input_name) == ("a", "b", options, "a")


@pytest.mark.filterwarnings("ignore")
def test_moto_gives_the_same(folder, monkeypatch):
    server = pytest.importorskip("moto.server", reason="moto is not installed: pip install 'moto[s3]' flask flask-cors")
    from pyarrow import fs

    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    try:
        host, port = running.get_host_and_port()
        for name, value in environment(f"http://{host}:{port}").items():
            monkeypatch.setenv(name, value)
        system, _ = fs.FileSystem.from_uri("s3://bucket?allow_bucket_creation=true")
        system.create_dir("bucket")
        fs.copy_files(str(folder / "edges"), "s3://bucket/edges")
        prune_stream("s3://bucket/edges/", "s3://bucket/out/", LSP(k=2, hash="identity"))
        prune_stream(folder / "edges", folder / "local", LSP(k=2, hash="identity"))
        assert verify("s3://bucket/out").ok
        fs.copy_files("s3://bucket/out", str(folder / "copy"))
        assert _bytes(folder / "copy") == _bytes(folder / "local")
    finally:
        running.stop()
