"""Headers of Parquet pages: those of real files are walked to their end, and what cannot be is refused."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune.errors import FormatError
from lsprune.files.parquet_footer import read_footer
from lsprune.files.parquet_pages import check_pages

TABLE = pa.table({
    "source": np.arange(3000), "word": ["some text" * 40, "b"] * 1500, "lists": [[1, 2], [], None] * 1000,
})  # fmt: skip


def written(**options: object) -> bytes:
    out = io.BytesIO()
    pq.write_table(TABLE, out, **options)
    return out.getvalue()


def check(content: bytes, like: bytes | None = None) -> None:
    """Check all row groups, as the footer of `like` describes them."""
    meta = pq.read_metadata(io.BytesIO(like or content))
    for g in range(meta.num_row_groups):
        check_pages(io.BytesIO(content), meta.row_group(g), len(content) - 8, "a.parquet: row group 0")


@pytest.mark.parametrize("options", [
    {}, {"compression": "none", "use_dictionary": False}, {"compression": "zstd", "data_page_size": 100},
    {"data_page_version": "2.0"}, {"write_page_checksum": True, "row_group_size": 7}, {"write_statistics": False},
    {"column_encoding": {"source": "DELTA_BINARY_PACKED"}, "use_dictionary": False},
])  # fmt: skip
def test_pages_of_real_files_are_walked(options: dict[str, object]) -> None:
    check(written(**options))


def test_a_header_that_claims_too_much_is_refused_without_memory(tmp_path: Path) -> None:
    content = written(compression="none", use_dictionary=False)
    column = pq.read_metadata(io.BytesIO(content)).row_group(0).column(0)
    start = column.data_page_offset  # type (2 bytes), then the uncompressed size as a field of int32
    assert content[start : start + 3] == b"\x15\x00\x15"
    length = next(i for i in range(5) if content[start + 3 + i] < 128) + 1
    huge = content[: start + 3] + b"\xfe\xff\xff\xff\x0f" + content[start + 3 + length :]
    with pytest.raises(FormatError, match=r"a page of column 'source': claims 2147483647 bytes of the"):
        check(huge, content)
    (tmp_path / "a.parquet").write_bytes(huge[: len(content) - 5] + b"PAR1")
    with pytest.raises(FormatError, match=r"a\.parquet"):
        read_footer(tmp_path / "a.parquet")


@given(st.integers(0, 10**6), st.integers(0, 7))
@settings(max_examples=150, deadline=None)
def test_a_flipped_bit_is_an_error_of_ours_or_none(at: int, bit: int) -> None:
    content = written(compression="none", row_group_size=1000)
    damaged = bytearray(content)
    damaged[4 + at % 40] ^= 1 << bit  # in the first header
    try:
        check(bytes(damaged), content)
    except FormatError as error:
        assert str(error).startswith("a.parquet: row group 0: not a readable Parquet file (a page of column 'source': ")


@pytest.mark.parametrize("header", [b"", b"\x15", b"\xff" * 40, b"\x1c" * 40, b"\x18\xff\xff\xff\x07", b"\x19" * 9])
def test_what_is_no_header_is_refused(header: bytes) -> None:
    content = written(compression="none", use_dictionary=False)
    start = pq.read_metadata(io.BytesIO(content)).row_group(0).column(0).data_page_offset
    damaged = content[:start] + header + (b"" if not header else bytes(8))
    with pytest.raises(FormatError, match="a page of column 'source'"):
        check(damaged, content)
