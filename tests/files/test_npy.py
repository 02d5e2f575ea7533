"""`.npy` and `.npz` without trust: pickles, claims of size and damage are refused."""

from __future__ import annotations

import os
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from files_helpers import EDGES, header, save, zipped

from lsprune import LSP
from lsprune.errors import FormatError, LspruneError
from lsprune.files import read_edges, write_edges
from lsprune.files.npy import npz_members, read_npz
from lsprune.outofcore.stream import prune_stream


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


ODD_HEADERS = [
    ((2**62, 0), "<i8"), ((0, 2**62), "<f4"), ((2**70, 0), "<i8"), ((-1, 0), "<i8"), ((0, -(2**63)), "<i8"),
    ((2**62, 0, 2**62), "|i1"), ((0,), "<V2147483647"), ((1,) * 40, "<i8"), ((2**63,), "<i8"), ((True, -1), "<i8"),
    ((2, 1), "|O"), ((0,), "|O"), ((2, 1), "<U0"), ((2, 1), "<f3"), ((2, 1), "<x9"), ((1.5,), "<i8"), ("ab", "<i8"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "dtype"), ODD_HEADERS)
def test_odd_headers_are_refused_in_memory_and_streaming(tmp_path: Path, shape: tuple, dtype: str) -> None:
    raw = header(shape, dtype)
    (tmp_path / "x.npy").write_bytes(raw)
    good = save(tmp_path / "good.npz", edge_index=EDGES)
    pruner = LSP(k=1)
    for features in ("x.npy", "stored.npz", "packed.npz"):
        if features != "x.npy":
            zipped(tmp_path / features, {"x.npy": raw}, zipfile.ZIP_DEFLATED if "packed" in features else 0)
        with pytest.raises(LspruneError, match=re.escape(features)):
            read_edges(good, features=tmp_path / features)
        with pytest.raises(LspruneError, match=re.escape(features)):
            prune_stream(good, tmp_path / "out.npz", pruner, features=tmp_path / features)
    (tmp_path / "edges.npy").write_bytes(raw)
    with pytest.raises(LspruneError, match="edges"):
        prune_stream(tmp_path / "edges.npy", tmp_path / "out.npy", pruner)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        edges = zipped(tmp_path / "edges.npz", {"edge_index.npy": raw}, method)
        with pytest.raises(LspruneError, match=r"edges\.npz"):
            read_edges(edges)
        with pytest.raises(LspruneError, match=r"edges\.npz"):
            prune_stream(edges, tmp_path / "out.npz", pruner)
    assert not list(tmp_path.glob("out*"))


def test_headers_of_any_length_are_not_read(tmp_path: Path) -> None:
    body = b"{'descr': '<i8', 'fortran_order': False, 'shape': (2, 1), }" + b" " * 20_000 + b"\n"
    raw = b"\x93NUMPY\x02\x00" + struct.pack("<I", len(body)) + body + bytes(16)
    with pytest.raises(FormatError, match="a header of 200.. bytes"):
        read_edges(zipped(tmp_path / "long.npz", {"edge_index.npy": raw}, zipfile.ZIP_DEFLATED))
    deep = b"{'descr': '<i8', 'fortran_order': False, 'shape': " + b"(" * 4000
    raw = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(deep)) + deep
    with pytest.raises(FormatError, match="not a readable"):
        read_edges(zipped(tmp_path / "deep.npz", {"edge_index.npy": raw}))


def test_orders_and_types_of_arrays_that_are_no_edges(tmp_path: Path) -> None:
    structured = np.zeros(3, [("a", "<i4"), ("b", "<f8", (2,))])
    others = {"times": structured, "f": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "none": np.empty((3, 0))}
    read = read_edges(save(tmp_path / "in.npz", edge_index=np.asfortranarray(EDGES), **others))
    write_edges(tmp_path / "out.npz", read, np.ones(5, bool))
    with np.load(tmp_path / "out.npz") as out:
        assert np.array_equal(out["edge_index"], EDGES) and np.array_equal(out["f"], others["f"])
        assert out["times"].dtype == structured.dtype and out["none"].shape == (3, 0)
    for bad in (structured, np.array(["a", "b"]), np.array([1 + 1j, 2])):
        with pytest.raises(FormatError):
            read_edges(save(tmp_path / "bad.npz", source=bad, target=bad))
        with pytest.raises(FormatError, match="features must be numbers"):
            read_edges(tmp_path / "in.npz", features=save(tmp_path / "x.npz", x=bad))


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


def archive(tmp_path: Path) -> Path:
    np.savez(tmp_path / "a.npz", source=np.arange(3), target=np.arange(3), x=np.zeros(3))
    return tmp_path / "a.npz"


@pytest.mark.parametrize("read", [read_npz, npz_members])
def test_an_array_that_a_damaged_directory_hides_is_missed(tmp_path: Path, read: Any) -> None:
    path = archive(tmp_path)
    content = bytearray(path.read_bytes())
    entry = content.index(b"PK\x01\x02")
    second = content.index(b"PK\x01\x02", entry + 1)
    third = content.index(b"PK\x01\x02", second + 1)
    content[second + 32 : second + 34] = (len(content) - 22 - third).to_bytes(
        2, "little"
    )  # a comment: all that follows
    path.write_bytes(content)
    with pytest.raises(FormatError, match="claims 3 arrays and lists 2; damaged"):
        read(path)


@pytest.mark.parametrize("read", [read_npz, npz_members])
def test_an_array_that_a_damaged_directory_renames_is_refused(tmp_path: Path, read: Any) -> None:
    path = archive(tmp_path)
    content = path.read_bytes()
    at = content.rindex(b"x.npy")
    path.write_bytes(content[:at] + b"y" + content[at + 1 :])
    with pytest.raises(FormatError, match=r"a\.npz: not a readable \.npz file"):
        read(path)
