"""The checksum that the zstd format has for the content of a frame, which Arrow's writer leaves out.

It is the lower half of XXH64 of the content, after the last block, and a bit in the frame's header says that it is
there. Every zstd reader compares it, Arrow's too.
"""

from __future__ import annotations

import io
from typing import Any, BinaryIO

import numpy as np

from lsprune.kernels import runtime
from lsprune.numeric.xxhash64 import FIRST_LANES, STRIPE_BYTES, finish

_DESCRIPTOR = 4  # position of the frame header's descriptor, after the magic number
_HAS_CHECKSUM = 1 << 2


class Xxhash64:
    """XXH64 of bytes that come in pieces."""

    def __init__(self) -> None:
        self._lanes, self._length, self._tail = np.array(FIRST_LANES, np.uint64), 0, b""
        self._take = runtime(1).module.xxhash64_stripes

    def update(self, data: Any) -> None:
        """Take in some bytes."""
        data = memoryview(data).cast("B")
        self._length += data.nbytes
        if self._tail:
            missing = STRIPE_BYTES - len(self._tail)
            self._tail, data = self._tail + bytes(data[:missing]), data[missing:]
            if len(self._tail) < STRIPE_BYTES:
                return
            self._take(np.frombuffer(self._tail, np.uint64), self._lanes)
        whole = data.nbytes - data.nbytes % STRIPE_BYTES
        self._take(np.frombuffer(data[:whole], np.uint64), self._lanes)
        self._tail = bytes(data[whole:])

    def value(self) -> int:
        """Return the hash of all bytes so far."""
        return finish([int(lane) for lane in self._lanes], self._length, self._tail)


class ChecksumFrame(io.RawIOBase):
    """A handle for the compressed bytes of one frame; Arrow may close it, the one underneath stays open."""

    def __init__(self, handle: BinaryIO) -> None:
        self._handle, self._at = handle, 0

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: Any) -> int:
        """Write, and set the bit for a checksum when the header passes."""
        data, place = bytes(data), _DESCRIPTOR - self._at
        if 0 <= place < len(data):
            data = data[:place] + bytes([data[place] | _HAS_CHECKSUM]) + data[place + 1 :]
        self._at += len(data)
        return self._handle.write(data)

    def finish(self, content: Xxhash64) -> None:
        """Write the checksum of the content, after the last block."""
        self._handle.write((content.value() & 0xFFFFFFFF).to_bytes(4, "little"))


class Hashed(io.RawIOBase):
    """A stream that takes the content, hashes it, and hands it on to be compressed."""

    def __init__(self, stream: Any) -> None:
        self._stream, self.hash = stream, Xxhash64()

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: Any) -> int:
        """Write and hash."""
        self.hash.update(data)
        self._stream.write(data)
        return memoryview(data).nbytes
