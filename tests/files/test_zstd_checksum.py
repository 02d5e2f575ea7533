"""The checksum of zstd frames: that of the content however it is cut, and compared by readers."""

from __future__ import annotations

import io
import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune.files.compression import packed
from lsprune.files.zstd_checksum import Xxhash64

CONTENT = random.Random(0).randbytes(3000) + b"0 1\n" * 500


def frame(*pieces: bytes) -> bytes:
    out = io.BytesIO()
    with packed(out, ".zst") as stream:
        for piece in pieces:
            stream.write(piece)
    return out.getvalue()


@given(st.lists(st.binary(max_size=70), max_size=6))
@settings(max_examples=50, deadline=None)
def test_the_hash_does_not_depend_on_how_the_content_is_cut(pieces: list[bytes]) -> None:
    cut, whole = Xxhash64(), Xxhash64()
    for piece in pieces:
        cut.update(piece)
    whole.update(b"".join(pieces))
    assert cut.value() == whole.value()


@pytest.mark.parametrize("content", [b"", b"0 1\n", CONTENT])
def test_frames_have_a_checksum_and_are_read_by_arrow(content: bytes) -> None:
    made = frame(content[:7], content[7:])
    assert made[4] & 4  # the bit of the frame header that says so
    expected = Xxhash64()
    expected.update(content)
    assert made[-4:] == expected.value().to_bytes(8, "little")[:4]
    with pa.CompressedInputStream(pa.BufferReader(made), "zstd") as stream:
        assert stream.read() == content


def test_another_checksum_is_refused_by_arrow() -> None:
    made = bytearray(frame(CONTENT))
    made[-1] ^= 1
    with (
        pa.CompressedInputStream(pa.BufferReader(bytes(made)), "zstd") as stream,
        pytest.raises(OSError, match="ecksum"),
    ):
        stream.read()
