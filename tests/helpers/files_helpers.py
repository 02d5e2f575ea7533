"""What the tests of edge lists in files share: one small graph, and short ways to write and read files."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lsprune.files import FileGraph, read_edges, write_edges

SOURCE, TARGET = np.array([0, 1, 2, 2, 3]), np.array([1, 2, 0, 2, 1])
EDGES = np.stack([SOURCE, TARGET])
MASK = np.array([True, False, True, True, False])
EXPECTED = [(0, 1), (2, 0), (2, 2)]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def save(path: Path, **arrays: object) -> Path:
    np.savez(path, **arrays)
    return path


def parquet(path: Path, **columns: object) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def text(path: Path, content: str) -> Path:
    path.write_bytes(content.encode())
    return path


def kept(read: FileGraph, out: Path, mask: np.ndarray = MASK) -> FileGraph:
    write_edges(out, read, mask)
    return read_edges(out)


def pairs(read: FileGraph) -> list[tuple[int, int]]:
    return list(zip(*(end.tolist() for end in read.graph.ends()), strict=True))


def header(shape: tuple, dtype: str = "<i8") -> bytes:
    body = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    body += b" " * (63 - (10 + len(body)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(body)) + body


def zipped(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path
