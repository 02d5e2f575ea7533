"""Text files compressed as gzip or zstd, both with a checksum: streams that read and write what they hold."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from lsprune.errors import FormatError
from lsprune.files.arrow_columns import first_line


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """Give the file's bytes as a stream, without their compression; damage in that is a FormatError."""
    name = path.name.lower()
    with path.open("rb") as raw:
        if name.endswith(".gz"):
            with _damaged(path, "gzip"), gzip.GzipFile(fileobj=raw) as stream:
                yield cast(BinaryIO, stream)
        elif name.endswith(".zst"):
            import pyarrow as pa

            with _damaged(path, "zstd"), pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd") as stream:
                yield stream
        else:
            yield raw


@contextmanager
def packed(handle: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    """Give a stream into `handle` that compresses as the suffix says; the same bytes for the same content."""
    if suffix.endswith(".gz"):
        # no name, no date: same bytes
        with gzip.GzipFile(fileobj=handle, mode="wb", filename="", mtime=0) as stream:
            yield cast(BinaryIO, stream)
    elif suffix.endswith(".zst"):
        import pyarrow as pa

        from lsprune.files.zstd_checksum import ChecksumFrame, Hashed

        frame = ChecksumFrame(handle)
        with pa.CompressedOutputStream(pa.PythonFile(frame, mode="w"), "zstd") as stream:
            content = Hashed(stream)
            yield cast(BinaryIO, content)
        frame.finish(content.hash)
    else:
        yield handle


@contextmanager
def _damaged(path: Path, kind: str) -> Iterator[None]:
    try:
        yield
    except FormatError:
        raise
    except (EOFError, OSError, zlib.error) as error:
        raise FormatError(f"{path}: not a readable {kind} file ({first_line(error)})") from None
