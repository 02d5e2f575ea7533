"""Seals: what was sealed is read as before, anything else is refused, and no output appears from a changed input."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lsprune import FormatError, LocalRandom
from lsprune.adapters.tables.text_id_files import read_text_ids
from lsprune.files import check_inputs, open_edges, read_edges, seal, write_edges
from lsprune.files.manifest import MANIFEST, verify
from lsprune.outofcore.stream import prune_stream

ROWS = "source,target\n0,1\n1,2\n2,0\n1,0\n"


@pytest.fixture(name="edges")
def _edges(tmp_path: Path) -> Path:
    (tmp_path / "e.csv").write_text(ROWS)
    return tmp_path / "e.csv"


def flip(path: Path) -> None:
    """Change a digit, and neither the size nor the time of a file."""
    status = path.stat()
    path.write_bytes(path.read_bytes().replace(b"1,2", b"1,0"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def readers(path: Path, out: Path):
    """Every way to read an edge list that takes `verify_input`."""
    yield lambda **options: read_edges(path, **options)
    yield lambda **options: open_edges(path, **options)
    yield lambda **options: prune_stream(path, out, LocalRandom(k=1), memory="3GB", **options)


def test_a_sealed_file_is_read_and_a_changed_one_is_not(edges: Path) -> None:
    out = edges.with_name("out.csv")
    for read in readers(edges, out):
        with pytest.raises(FormatError, match=r"e\.csv: has no seal \(e\.csv\.lsprune\.json\)"):
            read(verify_input=True)
    seal(edges)
    for read in readers(edges, out):
        read(verify_input=True)
    out.unlink()
    flip(edges)
    for read in readers(edges, out):
        with pytest.raises(FormatError, match=r"e\.csv: its SHA-256 is not that of the manifest"):
            read(verify_input=True)
    assert not out.exists()
    read_edges(edges)  # without verify_input only the size is compared


def test_without_verify_input_the_size_of_a_sealed_file_is_compared(edges: Path) -> None:
    seal(edges)
    with edges.open("a") as handle:
        handle.write("2,1\n")
    with pytest.raises(FormatError, match=r"has 34 bytes, and 30 in the manifest; .*, remove e\.csv\.lsprune\.json"):
        read_edges(edges)


def test_features_must_be_sealed_too(edges: Path) -> None:
    x = edges.with_name("x.npy")
    np.save(x, np.arange(3.0))
    seal(edges)
    with pytest.raises(FormatError, match=r"x\.npy: has no seal"):
        read_edges(edges, features=x, verify_input=True)
    seal(x)
    assert read_edges(edges, features=x, verify_input=True).graph.x is not None


def test_ids_of_any_kind_are_read_from_sealed_files(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("source,target\na,b\nb,c\n")
    with pytest.raises(FormatError, match="has no seal"):
        read_text_ids(path, verify_input=True)
    seal(path)
    assert read_text_ids(path, verify_input=True).graph.num_edges == 2


def test_a_folder_is_sealed_with_all_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    for name in ("a.parquet", "sub/b.parquet"):
        pq.write_table(pa.table({"source": [0, len(name)], "target": [1, 2]}), folder / name)
    made = seal(folder)
    assert [(entry.name, entry.rows) for entry in made.files] == [("a.parquet", 2), ("sub/b.parquet", 2)]
    prune_stream(folder, tmp_path / "out", LocalRandom(k=1), memory="3GB", verify_input=True)
    (folder / "sub" / "b.parquet").unlink()
    with pytest.raises(FormatError, match=r"b\.parquet: is missing"):
        prune_stream(folder, tmp_path / "out2", LocalRandom(k=1), memory="3GB", verify_input=True)
    assert not (tmp_path / "out2").exists()


def test_what_is_sealed_stays_sealed(edges: Path) -> None:
    first = seal(edges)
    assert seal(edges) == first
    flip(edges)
    with pytest.raises(FormatError, match=r"damaged or changed; .* remove e\.csv\.lsprune\.json"):
        seal(edges)
    edges.with_name("e.csv.lsprune.json").unlink()
    assert seal(edges) != first
    assert verify(edges).ok


def test_an_output_of_streaming_is_sealed_by_its_manifest(edges: Path) -> None:
    out = edges.with_name("out.csv")
    prune_stream(edges, out, LocalRandom(k=1), memory="3GB")
    assert "pruner" in seal(out).config
    read_edges(out, verify_input=True)


def test_writing_over_an_output_removes_its_manifest(edges: Path) -> None:
    out = edges.with_name("out.csv")
    prune_stream(edges, out, LocalRandom(k=1), memory="3GB")
    write_edges(out, read_edges(edges), np.ones(4, bool))
    assert read_edges(out).graph.num_edges == 4  # and is not compared with the file that was there before


def test_what_cannot_be_sealed(tmp_path: Path, edges: Path) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    (tmp_path / "empty").mkdir()
    seal(edges)
    for name, message in {
        "bad.parquet": "not a readable Parquet file; it is not sealed", "empty": "nothing to seal",
        "e.csv.lsprune.json": "is a manifest itself",
    }.items():  # fmt: skip
        with pytest.raises(FormatError, match=message):
            seal(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        seal(tmp_path / "absent")
    assert not (tmp_path / "empty" / MANIFEST).exists()


def test_a_file_that_changes_after_it_was_verified_gives_no_output(edges: Path) -> None:
    seal(edges)
    read = read_edges(edges, verify_input=True)
    flip(edges)  # with its old time: the system still tells
    with pytest.raises(FormatError, match="was changed while it was read"):
        write_edges(edges.with_name("out.csv"), read, np.ones(4, bool))
    assert not edges.with_name("out.csv").exists()


def test_a_file_that_changes_while_it_is_streamed_gives_no_output(edges: Path) -> None:
    seal(edges)

    def change(text: str) -> None:
        if text.startswith("writing"):
            flip(edges)

    with pytest.raises(FormatError, match="was changed while it was read"):
        prune_stream(edges, edges.with_name("out.csv"), LocalRandom(k=1), memory="3GB", verify_input=True, say=change)
    assert {path.name for path in edges.parent.iterdir()} == {"e.csv", "e.csv.lsprune.json"}


def test_a_file_that_changes_while_it_is_sealed_is_not_sealed(edges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(path: Path) -> tuple[int, str]:
        flip(path)
        return 30, "0" * 64

    monkeypatch.setattr("lsprune.files.seals.hash_file", slowly)
    with pytest.raises(FormatError, match="was changed while it was read; it is not sealed"):
        seal(edges)
    assert not edges.with_name("e.csv.lsprune.json").exists()


def test_inputs_without_seals_are_no_error_unless_asked_for(edges: Path) -> None:
    assert check_inputs([edges], sealed=False).files == ()
    seal(edges)
    ((path, facts),) = check_inputs([edges], sealed=True).files
    assert path == edges and edges.stat().st_ino in facts
