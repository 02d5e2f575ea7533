"""A checksum of a Parquet footer, in the file itself: Parquet has checksums for its pages only.

It stands right before the footer, where readers find nothing that they look for: they go from the end of the file to
the footer, and from there to the pages. A file without it is read as it is.
"""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from lsprune.errors import FormatError

_MARK = struct.Struct("<8sI")  # name, CRC-32 of the footer with all that follows it
_NAME = b"lspr-crc"
_END = struct.Struct("<I4s")  # length of the footer, magic number
_MAGIC = b"PAR1"


class FooterSink(io.RawIOBase):
    """A handle that Arrow may close; what is written from `hold` on gets a checksum in front of its footer."""

    def __init__(self, handle: BinaryIO) -> None:
        self._handle = handle
        self._held: bytearray | None = None

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: Any) -> int:
        """Write, or keep for `finish`."""
        if self._held is None:
            return self._handle.write(data)
        self._held += data
        return memoryview(data).nbytes

    def hold(self) -> None:
        """Keep what is written from now on."""
        self._held = bytearray()

    def finish(self) -> None:
        """Write what was kept, with the checksum of the footer in front of it."""
        held, self._held = bytes(self._held or b""), None
        length, _ = _END.unpack(held[-_END.size :])
        at = len(held) - _END.size - length
        if at < 0:
            raise ValueError("the footer was written before it was to be held")
        self._handle.write(held[:at] + _MARK.pack(_NAME, zlib.crc32(held[at:])) + held[at:])


def check_footer(handle: BinaryIO, path: Path) -> None:
    """Raise FormatError if an open Parquet file has a checksum of its footer, and another footer."""
    size = handle.seek(0, 2)
    if size < _END.size:
        return
    handle.seek(size - _END.size)
    length, magic = _END.unpack(handle.read(_END.size))
    start = size - _END.size - length - _MARK.size
    if magic != _MAGIC or start < 0:
        return  # no Parquet file, as its reader will say
    handle.seek(start)
    name, checksum = _MARK.unpack(handle.read(_MARK.size))
    if name == _NAME and _crc(handle) != checksum:
        raise FormatError(f"{path}: its footer does not have the checksum that was written with it; damaged")


def _crc(handle: BinaryIO) -> int:
    """Return the CRC-32 of the rest of a file."""
    checksum = 0
    while block := handle.read(1 << 20):
        checksum = zlib.crc32(block, checksum)
    return checksum
