"""`.npy` and `.npz` without trust: pickles, claims of size and damage are refused."""

from __future__ import annotations

import os
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from files_helpers import EDGES, save
from lsprune.adapters.files import read_edges
from lsprune.errors import FormatError


def header(shape: tuple, dtype: str = "<i8") -> bytes:
    body = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    body += b" " * (63 - (10 + len(body)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(body)) + body


def zipped(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_pickles_are_refused_and_never_run(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple:
            return (os.mkdir, (str(tmp_path / "ran"),))

    bomb = np.array([Bomb()], object)
    np.savez(tmp_path / "bad.npz", edge_index=EDGES, evil=bomb)
    np.save(tmp_path / "x.npy", bomb)
    good = save(tmp_path / "good.npz", edge_index=EDGES)
    with pytest.raises(FormatError, match="evil: .*pickled data is refused"):
        read_edges(tmp_path / "bad.npz")
    with pytest.raises(FormatError, match=r"x\.npy: .*pickled data is refused"):
        read_edges(good, features=tmp_path / "x.npy")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("shape", [(2, 10**15), (10**40, 2), (2, 3), (-1, 2), (-1, -8)])
def test_claimed_sizes_are_checked_before_memory_is_taken(tmp_path: Path, shape: tuple) -> None:
    raw = header(shape) + bytes(64)
    (tmp_path / "x.npy").write_bytes(raw)
    good = save(tmp_path / "good.npz", edge_index=EDGES)
    with pytest.raises(FormatError, match=r"x\.npy: (claims|not a readable)"):
        read_edges(good, features=tmp_path / "x.npy")
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with pytest.raises(FormatError, match="edge_index: (claims|not a readable)"):
            read_edges(zipped(tmp_path / "bad.npz", {"edge_index.npy": raw}, method))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_directory_that_lies_about_sizes(tmp_path: Path, method: int) -> None:
    start = header((2, 10**8))
    path = zipped(tmp_path / "bad.npz", {"edge_index.npy": start + bytes(16)}, method)
    raw = bytearray(path.read_bytes())
    at, claim = raw.rindex(b"PK\x01\x02"), len(start) + 16 * 10**8
    raw[at + 24 : at + 28] = struct.pack("<I", claim)  # the central directory claims what the header does
    path.write_bytes(raw)
    with pytest.raises(FormatError, match=f"cannot expand to the {claim} that it claims"):
        read_edges(path)


def test_members_that_overlap(tmp_path: Path) -> None:
    path = zipped(tmp_path / "bad.npz", {"a.npy": header((999,)) + bytes(999 * 8)})
    raw = path.read_bytes()
    at, end = raw.index(b"PK\x01\x02"), raw.index(b"PK\x05\x06")
    again = raw[at:end].replace(b"a.npy", b"b.npy")  # a second name for the same bytes
    size = struct.pack("<HHI", 2, 2, 2 * (end - at))
    path.write_bytes(raw[:end] + again + raw[end : end + 8] + size + raw[end + 16 :])
    with pytest.raises(FormatError, match="claims more compressed data than the file holds"):
        read_edges(path)


def test_odd_members(tmp_path: Path) -> None:
    whole = header((2, 1)) + bytes(16)
    with pytest.raises(FormatError, match=r"'readme\.txt' is not a \.npy array"):
        read_edges(zipped(tmp_path / "bad.npz", {"readme.txt": b"hello"}))
    with pytest.raises(FormatError, match="compression method 14"):
        read_edges(zipped(tmp_path / "bad.npz", {"edge_index.npy": whole}, zipfile.ZIP_LZMA))
    with pytest.raises(FormatError, match="edge_index: not a readable"):
        read_edges(zipped(tmp_path / "bad.npz", {"edge_index.npy": b"\x93NUMPY\x01\x00\xff\xff{"}))
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("edge_index.npy", whole)
        archive.writestr("edge_index.npy", whole)
    with pytest.raises(FormatError, match="more than once"):
        read_edges(tmp_path / "bad.npz")


def test_a_flipped_bit_in_npz_is_noticed(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", edge_index=np.zeros((2, 500), np.int64))
    raw = bytearray(path.read_bytes())
    raw[4000] ^= 1
    path.write_bytes(raw)
    with pytest.raises(FormatError, match="CRC"):
        read_edges(path)
