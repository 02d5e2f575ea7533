"""Arrays of `.npy` and `.npz` files, memory-mapped where they lie."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprune.errors import FormatError
from lsprune.files.npy import Header, check_size, map_array, members_of, read_header, reading_npz
from lsprune.graph import Array

_BLOCK = 1 << 22
_LOCAL = struct.Struct("<4s22xHH")  # a zip member's own header: mark, ..., lengths of its name and extra field


@dataclass(frozen=True)
class Member:
    """One array of a file."""

    name: str
    path: Path
    start: int  # where its .npy header begins in the file
    size: int  # bytes from there to its end
    header: Header
    checksum: int | None  # CRC-32 of these bytes, where the file has it

    def array(self) -> Array:
        """The array, memory-mapped and read-only."""
        return map_array(self.path, self.header, self.start + self.header.length)

    def blocks(self) -> Iterator[bytes]:
        """Its bytes as they lie in the file, header included."""
        with self.path.open("rb") as handle:
            handle.seek(self.start)
            left = self.size
            while left:
                block = handle.read(min(left, _BLOCK))
                if not block:
                    raise FormatError(f"{self.path}: {self.name}: cut short while it was read")
                left -= len(block)
                yield block

    def verify(self) -> None:
        """Nothing; raises where the bytes do not have the checksum that the file claims for them."""
        if self.checksum is None:
            return
        found = 0
        for block in self.blocks():
            found = zlib.crc32(block, found)
        if found != self.checksum:
            raise FormatError(f"{self.path}: {self.name}: bad CRC-32; damaged")


def npy_member(path: Path) -> Member:
    """The array of a `.npy` file."""
    with path.open("rb") as handle:
        header = read_header(handle, str(path))
        size = os.fstat(handle.fileno()).st_size
    check_size(header, size, str(path))
    return Member(path.name.removesuffix(path.suffix), path, 0, size, header, None)


def npz_members(path: Path) -> dict[str, Member]:
    """The arrays of a `.npz` file without compression."""
    with path.open("rb") as handle:
        with reading_npz(path):
            with zipfile.ZipFile(handle) as archive:
                found = members_of(archive, os.fstat(handle.fileno()).st_size, path)
            refuse_compressed(list(found.values()), path)
            starts = {name: _start(handle.fileno(), info) for name, info in found.items()}
        members = {}
        for name, info in found.items():
            handle.seek(starts[name])
            header = read_header(handle, f"{path}: {name}")
            header = Header(header.shape, header.fortran, header.dtype, header.length - starts[name])
            check_size(header, info.file_size, f"{path}: {name}")
            members[name] = Member(name, path, starts[name], info.file_size, header, info.CRC)
    return members


def refuse_compressed(infos: Sequence[zipfile.ZipInfo], path: Path) -> None:
    """Nothing; raises for a member that cannot be memory-mapped."""
    for info in infos:
        if info.compress_type != zipfile.ZIP_STORED:
            name = info.filename.removesuffix(".npy")
            raise FormatError(
                f"{path}: array {name!r} is compressed and cannot be memory-mapped; "
                "write the file with np.savez instead of np.savez_compressed, or as .parquet"
            )


def _start(descriptor: int, info: zipfile.ZipInfo) -> int:
    mark, name, extra = _LOCAL.unpack(os.pread(descriptor, _LOCAL.size, info.header_offset))
    if mark != b"PK\x03\x04":
        raise ValueError(f"no member at {info.header_offset}")
    return info.header_offset + _LOCAL.size + int(name) + int(extra)
