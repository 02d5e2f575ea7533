"""`.npy` and `.npz` without trust: no pickle, and no memory taken for data that the file does not hold.

Arrays are read into memory (`read_npz`), or memory-mapped where they lie (`read_npy`, `npz_members`).
"""

from __future__ import annotations

import errno
import io
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from lsprune.errors import FormatError, LspruneError
from lsprune.files.memory_budget import MemoryBudget
from lsprune.graph import Array

_MAX_DEFLATE_RATIO = 1032  # what one byte of a deflate stream can expand to at most
_MAX_HEADER_BYTES = 10_000  # of a .npy header at most, as numpy has it: it is evaluated as Python text
_MAX_DIMENSIONS = 32  # in every version of numpy
_BLOCK_BYTES = 1 << 22  # read at a time to compare a checksum or to copy an array
_LOCAL_HEADER = struct.Struct("<4s22xHH")  # a zip member's own header: mark, ..., lengths of its name and extra field
_END_OF_ARCHIVE = struct.Struct("<4s4xHH10x")  # mark, ..., members on this disk, members in all, ...
_MANY_MEMBERS = 0xFFFF  # so many, or more: the number stands elsewhere


@dataclass(frozen=True)
class Header:
    """What a `.npy` header claims."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    length: int  # bytes of the header itself

    @property
    def data_bytes(self) -> int:
        """Bytes of data that must follow the header."""
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class Member:
    """One array of a file, where it lies."""

    name: str
    path: Path
    start: int  # where its .npy header begins in the file
    size: int  # bytes from there to its end
    header: Header
    checksum: int | None  # CRC-32 of these bytes, where the file has it

    def array(self) -> Array:
        """Return the array, memory-mapped and read-only."""
        header = self.header
        count, order = math.prod(header.shape), "F" if header.fortran else "C"
        if count == 0:  # nothing to map
            empty = np.empty(header.shape, header.dtype)
            empty.flags.writeable = False
            return empty.view()
        flat: Array = np.memmap(self.path, header.dtype, mode="r", offset=self.start + header.length, shape=count)
        return flat.reshape(header.shape, order=order)  # type: ignore[call-overload, no-any-return]

    def blocks(self) -> Iterator[bytes]:
        """Yield its bytes as they lie in the file, header included."""
        with self.path.open("rb") as handle:
            handle.seek(self.start)
            left = self.size
            while left:
                block = handle.read(min(left, _BLOCK_BYTES))
                if not block:
                    raise FormatError(f"{self.path}: {self.name}: cut short while it was read")
                left -= len(block)
                yield block

    def verify(self) -> None:
        """Raise FormatError if the bytes do not have the checksum that the file claims for them."""
        if self.checksum is None:
            return
        checksum = 0
        for block in self.blocks():
            checksum = zlib.crc32(block, checksum)
        if checksum != self.checksum:
            raise FormatError(f"{self.path}: {self.name}: bad CRC-32; damaged")


def read_npy(path: Path) -> Array:
    """Return the array of a `.npy` file, memory-mapped."""
    return npy_member(path).array()


def npy_member(path: Path) -> Member:
    """Return the array of a `.npy` file as a member."""
    with path.open("rb") as handle:
        header = read_header(handle, str(path))
        size = os.fstat(handle.fileno()).st_size
    check_size(header, size, str(path))
    return Member(path.name.removesuffix(path.suffix), path, 0, size, header, None)


def npz_members(path: Path) -> dict[str, Member]:
    """Return the arrays of a `.npz` file without compression; FormatError for one that cannot be memory-mapped."""
    with path.open("rb") as handle:
        with reading_npz(path):
            with zipfile.ZipFile(handle) as archive:
                infos = members_of(archive, os.fstat(handle.fileno()).st_size, path)
            _refuse_compressed(infos, path)
            starts = {name: _start(handle.fileno(), info) for name, info in infos.items()}
        members = {}
        for name, info in infos.items():
            handle.seek(starts[name])
            header = read_header(handle, f"{path}: {name}")
            header = replace(header, length=header.length - starts[name])
            check_size(header, info.file_size, f"{path}: {name}")
            members[name] = Member(name, path, starts[name], info.file_size, header, info.CRC)
    return members


def _refuse_compressed(infos: Mapping[str, zipfile.ZipInfo], path: Path) -> None:
    for name, info in infos.items():
        if info.compress_type != zipfile.ZIP_STORED:
            raise FormatError(
                f"{path}: array {name!r} is compressed and cannot be memory-mapped; "
                "write the file with np.savez instead of np.savez_compressed, or as .parquet"
            )


def _start(descriptor: int, info: zipfile.ZipInfo) -> int:
    at = info.header_offset
    mark, length, extra = _LOCAL_HEADER.unpack(os.pread(descriptor, _LOCAL_HEADER.size, at))
    if mark != b"PK\x03\x04":
        raise ValueError(f"no member at {at}")
    at += _LOCAL_HEADER.size
    if os.pread(descriptor, length, at) != info.orig_filename.encode("utf-8" if info.flag_bits & 0x800 else "cp437"):
        raise ValueError(f"the member {info.orig_filename!r} has another name in its own header")
    return at + int(length) + int(extra)


def read_npz(path: Path, memory: MemoryBudget | None = None) -> dict[str, Array]:
    """Return the arrays of a `.npz` file by name; OptionError if they exceed `memory` (default: what is available)."""
    memory = memory or MemoryBudget.of()
    with path.open("rb") as handle, reading_npz(path), zipfile.ZipFile(handle) as archive:
        members = members_of(archive, os.fstat(handle.fileno()).st_size, path)
        memory.take(sum(info.file_size for info in members.values()), path)
        return {name: _member(archive, info, f"{path}: {name}") for name, info in members.items()}


def array_names(path: Path) -> tuple[str, ...]:
    """Return the names of the arrays in a `.npz` file."""
    with path.open("rb") as handle, reading_npz(path), zipfile.ZipFile(handle) as archive:
        return tuple(members_of(archive, os.fstat(handle.fileno()).st_size, path))


@contextmanager
def reading_npz(path: Path) -> Iterator[None]:
    """Turn the many errors of a damaged archive into FormatError."""
    try:
        yield
    except (LspruneError, MemoryError):
        raise
    except Exception as error:  # a damaged archive raises nearly anything: BadZipFile, zlib.error, struct.error ...
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # a failing disk; a seek to a place that cannot be is EINVAL
        raise FormatError(f"{path}: not a readable .npz file ({_brief(error)})") from None


def write_npz(handle: BinaryIO, arrays: Mapping[str, Array], *, compressed: bool = False) -> None:
    """Write a `.npz` archive, the same bytes for the same arrays."""
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(handle, "w", method) as archive:
        for name, array in arrays.items():
            # force_zip64: the size is not known beforehand, and an array may pass 2 GiB
            with archive.open(member_info(f"{name}.npy", method), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def write_header(stream: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Write the header of a `.npy` file, whose data follows."""
    descr = np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})


def is_compressed(path: Path) -> bool:
    """Return whether a `.npz` file was written with compression."""
    with zipfile.ZipFile(path) as archive:
        return any(info.compress_type != zipfile.ZIP_STORED for info in archive.infolist())


def read_header(handle: Any, name: str) -> Header:
    """Return the header at the start of a `.npy` stream; object arrays are refused here, before anything is read."""
    try:
        shape, fortran, dtype = _parse_header(handle)
    except Exception as error:  # numpy evaluates the header as Python text: damage raises nearly anything
        raise FormatError(f"{name}: not a readable .npy array ({_brief(error)})") from None
    if dtype.hasobject:
        raise FormatError(f"{name}: holds Python objects; pickled data is refused")
    # numpy counts the bytes of an empty array without its sides of length 0, and can make none beyond 63 bits
    size = math.prod(side or 1 for side in shape) * dtype.itemsize
    if dtype.itemsize == 0 or dtype.subdtype or any(side < 0 for side in shape) or not 0 < size < 1 << 63:
        raise FormatError(f"{name}: not a readable .npy array (shape {_short(shape)}, type {_short(dtype)})")
    if len(shape) > _MAX_DIMENSIONS:
        raise FormatError(f"{name}: not a readable .npy array ({len(shape)} dimensions, of {_MAX_DIMENSIONS} at most)")
    return Header(shape, fortran, dtype, handle.tell())


def _parse_header(handle: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and type; the length of the header is checked before it is read."""
    start = handle.read(np.lib.format.MAGIC_LEN)
    version = np.lib.format.read_magic(io.BytesIO(start))
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    field = struct.Struct({(1, 0): "<H", (2, 0): "<I"}[version])
    length = handle.read(field.size)
    (size,) = field.unpack(length)
    if size > _MAX_HEADER_BYTES:
        raise ValueError(f"a header of {size} bytes")
    return readers[version](io.BytesIO(length + handle.read(size)))


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def check_size(header: Header, size: int, name: str) -> None:
    """Raise FormatError if the header claims another size than the file has."""
    if header.length + header.data_bytes != size:
        raise FormatError(
            f"{name}: claims {header.data_bytes} bytes of data and holds {size - header.length}; cut short or damaged"
        )


def members_of(archive: zipfile.ZipFile, size: int, path: Path) -> dict[str, zipfile.ZipInfo]:
    """Return the entries of a `.npz` archive by array name; FormatError if what they claim cannot be."""
    members: dict[str, zipfile.ZipInfo] = {}
    _check_count(archive, path)
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise FormatError(f"{path}: array {name!r} is there more than once")
        if name == info.filename:
            raise FormatError(f"{path}: {name!r} is not a .npy array")
        _check_member(info, f"{path}: {name}")
        members[name] = info
    if sum(info.compress_size for info in members.values()) > size:  # members that overlap expand without bound
        raise FormatError(f"{path}: claims more compressed data than the file holds")
    return members


def _check_count(archive: zipfile.ZipFile, path: Path) -> None:
    """Raise FormatError if the archive lists another number of members than it claims, which zipfile does not mind."""
    assert archive.fp is not None
    archive.fp.seek(-_END_OF_ARCHIVE.size - len(archive.comment), os.SEEK_END)
    mark, _, count = _END_OF_ARCHIVE.unpack(archive.fp.read(_END_OF_ARCHIVE.size))
    if mark != b"PK\x05\x06" or count not in (len(archive.infolist()), _MANY_MEMBERS):
        raise FormatError(f"{path}: claims {count} arrays and lists {len(archive.infolist())}; damaged")


def _check_member(info: zipfile.ZipInfo, name: str) -> None:
    if info.compress_type == zipfile.ZIP_STORED:
        possible = info.file_size == info.compress_size
    elif info.compress_type == zipfile.ZIP_DEFLATED:
        possible = info.file_size <= _MAX_DEFLATE_RATIO * info.compress_size
    else:
        raise FormatError(f"{name}: compression method {info.compress_type} is not one that numpy writes")
    if not possible:
        raise FormatError(f"{name}: {info.compress_size} bytes cannot expand to the {info.file_size} that it claims")


def check_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> None:
    """Raise FormatError if the header of a member claims another size than the archive does."""
    with archive.open(info) as stream:
        check_size(read_header(stream, name), info.file_size, name)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Array:
    check_member(archive, info, name)
    with archive.open(info) as stream:
        # read to its very end, which is where zipfile compares the checksum
        array: Array = np.lib.format.read_array(stream, allow_pickle=False)
    return array


def member_info(name: str, method: int = zipfile.ZIP_STORED) -> zipfile.ZipInfo:
    """Return the entry of a member about to be written."""
    info = zipfile.ZipInfo(name)  # its date is fixed (1980), so that equal arrays give equal files
    info.compress_type = method
    return info


def _brief(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:120] or type(error).__name__
