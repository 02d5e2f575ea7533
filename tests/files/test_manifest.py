"""The manifest of an output: what it says is compared with what is there, and files appear whole or not at all."""

from __future__ import annotations

import errno
import gc
import hashlib
import io
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from files_helpers import names, parquet
from scale_helpers import asked

from lsprune import __version__
from lsprune.errors import FormatError
from lsprune.files import open_edges
from lsprune.files.manifest import (
    MANIFEST,
    Entry,
    Manifest,
    hashed_write,
    leftovers,
    manifest_of,
    verify,
    verify_input,
)


def written(handle: io.BytesIO) -> int:
    handle.write(b"one")
    handle.write(memoryview(b" two"))
    return 2


def output(folder: Path) -> Manifest:
    """A folder with a text file and a Parquet file in a sub-folder, and their manifest."""
    (folder / "sub").mkdir(parents=True)
    made = parquet(folder / "x.parquet", source=[0, 1, 2], target=[1, 2, 0])
    files = open_edges(made)
    entries = (
        hashed_write(folder / "a.csv", written),
        hashed_write(
            folder / "sub" / "b.parquet",
            lambda handle: files.write_shard(files.shards[0], handle, asked(np.ones(3, bool)), 10)[1],
            name="sub/b.parquet",
        ),
    )
    made.unlink()
    manifest = Manifest({"pruner": {"k": 3}}, edges=9, kept=5, files=entries)
    manifest.write(folder / MANIFEST)
    return manifest


def test_there_and_back(tmp_path: Path) -> None:
    manifest = output(tmp_path / "out")
    assert manifest.version == __version__
    for path in (tmp_path / "out", tmp_path / "out" / MANIFEST):
        assert Manifest.read(path) == manifest
    assert Manifest.from_json(manifest.to_json(), Path("x")).to_json() == manifest.to_json()
    assert names(tmp_path / "out") == [MANIFEST, "a.csv", "sub"]


def test_entries_say_what_is_on_disk(tmp_path: Path) -> None:
    for entry in output(tmp_path / "out").files:
        raw = (tmp_path / "out" / entry.name).read_bytes()
        assert (entry.bytes, entry.sha256) == (len(raw), hashlib.sha256(raw).hexdigest())
    assert [entry.rows for entry in Manifest.read(tmp_path / "out").files] == [2, 3]


def test_a_writer_that_goes_back_is_hashed_all_the_same(tmp_path: Path) -> None:
    def work(handle: io.BytesIO) -> int:
        with zipfile.ZipFile(handle, "w") as archive:
            archive.writestr("a", b"x" * 1000)
            archive.writestr("b", b"y" * 1000)
        return 0

    entry = hashed_write(tmp_path / "a.zip", work)
    raw = (tmp_path / "a.zip").read_bytes()
    assert (entry.bytes, entry.sha256) == (len(raw), hashlib.sha256(raw).hexdigest())
    assert zipfile.ZipFile(tmp_path / "a.zip").testzip() is None


def test_where_a_manifest_is(tmp_path: Path) -> None:
    assert manifest_of(tmp_path) == tmp_path / "_lsprune.json"
    assert manifest_of(tmp_path / "out.parquet") == tmp_path / "out.parquet.lsprune.json"
    assert manifest_of(tmp_path / "out.parquet.lsprune.json") == tmp_path / "out.parquet.lsprune.json"


def damage(folder: Path, name: str, at: int) -> None:
    raw = bytearray((folder / name).read_bytes())
    raw[at] ^= 1
    (folder / name).write_bytes(raw)


def test_a_whole_output_has_no_problems(tmp_path: Path) -> None:
    manifest = output(tmp_path)
    for deep in (True, False):
        report = verify(tmp_path, deep=deep)
        assert report.ok
        assert report.manifest == manifest
        assert verify_input(tmp_path, deep=deep) == manifest
    entry = hashed_write(tmp_path.parent / "single.csv", written)
    Manifest({}, 2, 2, (entry,)).write(manifest_of(tmp_path.parent / "single.csv"))
    assert verify(tmp_path.parent / "single.csv").ok  # whatever else is in that folder


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "a.csv").unlink(), r"a\.csv: is missing"),
        (lambda folder: (folder / "a.csv").write_bytes(b"one"), r"a\.csv: has 3 bytes, and 7 in the manifest"),
        (lambda folder: damage(folder, "sub/b.parquet", 20), r"sub/b\.parquet: its SHA-256 is not that"),
        (lambda folder: damage(folder, "a.csv", 1), r"a\.csv: its SHA-256 is not that"),
        (lambda folder: (folder / "sub" / ".more").write_bytes(b""), r"sub/\.more: not in the manifest"),
        (lambda folder: (folder / MANIFEST).unlink(), "no manifest; the output is not complete"),
        (lambda folder: (folder / MANIFEST).write_bytes(b"{"), r"_lsprune\.json: not a readable manifest"),
    ],
)
def test_problems_are_named(tmp_path: Path, change: object, message: str) -> None:
    output(tmp_path)
    change(tmp_path)
    report = verify(tmp_path)
    assert not report.ok
    assert len(report.problems) == 1
    with pytest.raises(FormatError, match=message):
        raise FormatError(report.problems[0])
    if (tmp_path / MANIFEST).exists():
        with pytest.raises(FormatError, match=message):
            verify_input(tmp_path, deep=True)
    else:
        assert verify_input(tmp_path) is None


def test_rows_are_compared_with_the_footer(tmp_path: Path) -> None:
    manifest = output(tmp_path)
    text, table = manifest.files
    wrong = Entry(table.name, 4, table.bytes, table.sha256)
    Manifest(manifest.config, 9, 6, (text, wrong)).write(tmp_path / MANIFEST)
    assert verify(tmp_path, deep=False).problems == (f"{tmp_path / table.name}: has 3 rows, not 4 rows",)


def test_shallow_does_not_read_the_files_and_several_problems_are_all_told(tmp_path: Path) -> None:
    output(tmp_path)
    damage(tmp_path, "a.csv", 1)
    assert verify(tmp_path, deep=False).ok
    assert verify_input(tmp_path) is not None
    (tmp_path / "sub" / "b.parquet").unlink()
    assert len(verify(tmp_path).problems) == 2
    with pytest.raises(FormatError, match=r"\(and 1 more\)"):
        verify_input(tmp_path, deep=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"manifest": 3}, "a manifest of another format"),
        ({"edges": -1}, "edges must be a whole number >= 0, got -1"),
        ({"edges": True}, "edges must be a whole number >= 0, got True"),
        ({"kept": None}, "kept must be a whole number >= 0, got None"),
        ({"files": {}}, "files must be a list"),
        ({"more": 1}, "unknown field 'more'"),
        ({"files": [7]}, r"files\[0\]: must be an object, got int"),
        ({"files": [{"name": "a", "rows": 1, "bytes": 1}]}, r"files\[0\]: sha256 must be a string, got nothing"),
        ({"files": [{"name": "a", "rows": 1, "bytes": 1, "sha256": "x"}]}, "sha256 must be 64 hexadecimal digits"),
        ({"files": [{"name": "../a", "rows": 1, "bytes": 1, "sha256": "0" * 64}]}, "must be a path inside the output"),
        ({"files": [{"name": "/a", "rows": 1, "bytes": 1, "sha256": "0" * 64}]}, "must be a path inside the output"),
        ({"files": [{"name": "a", "rows": 1, "bytes": 1, "sha256": "0" * 64}] * 2}, "names a file twice"),
        *(
            ({"files": [{"name": name, "rows": 1, "bytes": 1, "sha256": "0" * 64}]}, "name must be a path inside")
            for name in ("a\0b", "", ".", "/", "a/../../b", "\ud800", "//a", "./..")
        ),
        *(
            ({"files": [{"name": name, "rows": 1, "bytes": 1, "sha256": "0" * 64}]}, "name must be a string")
            for name in (5, None, ["a"], {})
        ),
        *(({"edges": size}, "edges must be a whole number") for size in (float("nan"), float("inf"), 1.0, "1", [], {})),
        *(
            ({"files": [{"name": "a", "rows": 1, "bytes": size, "sha256": "0" * 64}]}, "bytes must be a whole number")
            for size in (-1, float("nan"), 1e300, True)
        ),
        ({"manifest": float("nan")}, "a manifest of another format"),
        ({"config": []}, "config must be an object"),
        ({"version": 1}, "version must be a string"),
    ],
)
def test_manifests_refused(tmp_path: Path, change: dict, message: str) -> None:
    raw = json.loads(output(tmp_path / "out").to_json()) | change
    path = tmp_path / "out" / MANIFEST
    path.write_text(json.dumps(raw))
    with pytest.raises(FormatError, match=message) as caught:
        Manifest.read(path)
    assert str(path) in str(caught.value)
    deep, digits = b'{"a":' * 100_000, b'{"edges": ' + b"9" * 5000 + b"}"
    for content in (b"[]", b"\xff", b"nul", b"", b"[" * 100_000, deep, digits, b'"' + b"x" * 100, b"NaN"):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r"_lsprune\.json"):
            Manifest.read(path)


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, FormatError])
def test_an_error_leaves_nothing_behind(tmp_path: Path, kind: type[BaseException]) -> None:
    def work(handle: io.BytesIO) -> int:
        handle.write(b"half")
        raise kind("stop")

    with pytest.raises(kind, match="stop"):
        hashed_write(tmp_path / "a.csv", work)
    assert names(tmp_path) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("suffix", [".parquet", ".npz", ".csv", ".csv.gz", ".csv.zst"])
def test_a_full_disk_names_the_file_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    from lsprune.files import read_edges, write_edges

    edges = np.random.default_rng(0).integers(0, 10**6, (2, 20_000))
    np.savez(tmp_path / "x.npz", edge_index=edges)
    write_edges(tmp_path / f"in{suffix}", read_edges(tmp_path / "x.npz"), np.ones(20_000, bool))
    files = open_edges(tmp_path / f"in{suffix}")
    shard, opened = files.shards[0], os.open

    def full(path: object, flags: int, mode: int = 0o777) -> int:
        descriptor = opened(path, flags, mode)
        if str(path).endswith(".tmp"):  # the file is made; what is written goes to a device that is always full
            device = opened("/dev/full", os.O_RDWR)
            os.dup2(device, descriptor)
            os.close(device)
        return descriptor

    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.setattr(os, "open", full)
    for work in (
        lambda handle: files.write_shard(shard, handle, asked(np.ones(20_000, bool)), 900)[1],
        lambda handle: handle.write(b"small"),
    ):
        with pytest.raises(OSError) as caught:  # noqa: PT011
            hashed_write(out / "a.out", work)
        assert caught.value.errno == errno.ENOSPC
        assert caught.value.filename == str(out / "a.out")
        assert names(out) == []
    del caught
    gc.collect()


def test_a_shard_given_up_writes_nothing_from_its_finaliser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tmp_path / "in.parquet"
    pq.write_table(pa.table({"s": np.arange(100), "t": np.arange(100)}), made, row_group_size=10)
    files, late = open_edges(made), []
    monkeypatch.setattr("sys.unraisablehook", late.append)

    def kept(first: int, last: int) -> np.ndarray:
        if first >= 50:
            raise KeyboardInterrupt
        return np.ones(last - first, bool)

    with pytest.raises(KeyboardInterrupt):
        hashed_write(tmp_path / "out.parquet", lambda handle: files.write_shard(files.shards[0], handle, kept, 30)[1])
    gc.collect()
    assert [str(one.exc_value) for one in late] == []
    assert names(tmp_path) == ["in.parquet"]


def test_a_folder_that_may_not_be_written_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def refuse(path: object, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:  # a test may run as root, to whom nothing is forbidden
            raise OSError(errno.EROFS, "Read-only file system", str(path))
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OSError, match="Read-only file system") as caught:
        hashed_write(tmp_path / "a.csv", written)
    assert caught.value.filename == str(tmp_path / "a.csv")
    with pytest.raises(OSError, match="Read-only file system") as caught:
        Manifest({}, 0, 0, ()).write(tmp_path / MANIFEST)
    assert caught.value.filename == str(tmp_path / MANIFEST)
    assert names(tmp_path) == []


def test_an_error_of_an_input_keeps_its_own_name(tmp_path: Path) -> None:
    def work(handle: io.BytesIO) -> int:
        return len((tmp_path / "absent").read_bytes())

    with pytest.raises(FileNotFoundError) as caught:
        hashed_write(tmp_path / "a.csv", work)
    assert caught.value.filename == str(tmp_path / "absent")


def test_leftovers_of_a_killed_process(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in (".lsprune-0f.tmp", "sub/.lsprune-1e.tmp", "keep.tmp", "a.csv"):
        (tmp_path / name).write_bytes(b"")
    assert [path.name for path in leftovers(tmp_path)] == [".lsprune-0f.tmp", ".lsprune-1e.tmp"]


def test_a_manifest_of_any_size_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output(tmp_path)
    monkeypatch.setattr("lsprune.files.manifest._MAX_BYTES", 1 << 20)
    with (tmp_path / MANIFEST).open("ab") as handle:
        handle.truncate(1 << 40)  # a hole: it takes no space
    with pytest.raises(FormatError, match="more than 1 MiB"):
        Manifest.read(tmp_path)


@pytest.mark.parametrize("name", ["x" * 300, "a.csv/b", "sub"])
def test_names_that_no_file_can_have_are_problems(tmp_path: Path, name: str) -> None:
    manifest = output(tmp_path)
    size = (tmp_path / name).stat().st_size if name == "sub" else 1
    Manifest({}, 1, 1, (*manifest.files, Entry(name, 1, size, "0" * 64))).write(tmp_path / MANIFEST)
    (problem,) = verify(tmp_path).problems
    assert str(tmp_path / name) in problem


def test_a_manifest_of_the_first_version_is_still_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("0,1\n")
    entry = hashed_write(tmp_path / "a.csv", lambda handle: handle.write(b"0,1\n") and 1)
    Manifest({}, 1, 1, (entry,)).write(tmp_path / "_lsprune.json")
    told = json.loads((tmp_path / "_lsprune.json").read_text())
    del told["checksum"]
    with_one = dict(told)
    (tmp_path / "_lsprune.json").write_text(json.dumps({**told, "manifest": 1}))
    assert verify(tmp_path).ok and verify_input(tmp_path).files == (entry,)
    (tmp_path / "_lsprune.json").write_text(json.dumps({**with_one, "manifest": 2}))
    assert "checksum must be" in verify(tmp_path).problems[0]
