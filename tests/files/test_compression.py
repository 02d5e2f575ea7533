"""Compressed text: there and back, the same bytes each time, and damage that is named."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyarrow as pa
import pytest

from lsprune.errors import FormatError
from lsprune.files.compression import packed, unpacked

CONTENT = b"".join(b"%d %d\n" % (i, i * i) for i in range(2000))


def pack(suffix: str) -> bytes:
    handle = io.BytesIO()
    with packed(handle, suffix) as stream:
        for lo in range(0, len(CONTENT), 999):
            stream.write(CONTENT[lo : lo + 999])
    assert not handle.closed  # an atomic write flushes and renames it afterwards
    return handle.getvalue()


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.zst"])
def test_there_and_back_with_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    raw = pack(suffix)
    assert raw == pack(suffix)
    assert (raw == CONTENT) == (suffix == ".csv")
    path = tmp_path / f"a{suffix.upper()}"
    path.write_bytes(raw)
    with unpacked(path) as stream:
        assert stream.read(5) + stream.read() == CONTENT


def test_other_programs_can_read_it() -> None:
    assert gzip.decompress(pack(".txt.gz")) == CONTENT
    assert pa.decompress(pack(".txt.zst"), len(CONTENT), "zstd", asbytes=True) == CONTENT


@pytest.mark.parametrize(("suffix", "kind", "at"), [(".csv.gz", "gzip", 200), (".csv.zst", "zstd", 5)])
def test_damage_is_named(tmp_path: Path, suffix: str, kind: str, at: int) -> None:
    path = tmp_path / f"a{suffix}"
    for content in (CONTENT, pack(suffix)[:-3], pack(suffix)[:at] + b"\0" * 5 + pack(suffix)[at + 5 :]):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=f"not a readable {kind} file"), unpacked(path) as stream:
            stream.read()


def test_a_missing_file_and_an_error_of_the_reader_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), unpacked(tmp_path / "absent.csv.gz"):
        pass
    path = tmp_path / "a.csv.gz"
    path.write_bytes(pack(".csv.gz"))
    with pytest.raises(FormatError, match="line 7"), unpacked(path):
        raise FormatError("line 7")
