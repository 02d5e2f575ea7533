"""The checksum of a Parquet footer: every byte of the footer is covered, and other readers do not mind it."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lsprune.errors import FormatError
from lsprune.files.footer_checksum import FooterSink, check_footer
from lsprune.files.parquet import writing

TABLE = pa.table({"source": np.arange(5), "target": np.arange(5)[::-1], "w": ["a"] * 5})


def written(table: pa.Table = TABLE) -> bytes:
    out = io.BytesIO()
    with writing(out, table.schema) as writer:
        for lo in range(0, table.num_rows, 2):
            writer.write_table(table.slice(lo, 2))
    return out.getvalue()


def footer_start(content: bytes) -> int:
    return len(content) - 8 - int.from_bytes(content[-8:-4], "little")


@pytest.mark.parametrize("table", [TABLE, TABLE[:0]])
def test_other_readers_find_the_same_table(table: pa.Table, tmp_path: Path) -> None:
    content = written(table)
    assert pq.read_table(io.BytesIO(content)).equals(table)
    assert content[footer_start(content) - 12 :].startswith(b"lspr-crc")
    rows = [tuple(row.values()) for row in table.to_pylist()]
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    (tmp_path / "a.parquet").write_bytes(content)
    assert duckdb.sql(f"select * from '{tmp_path / 'a.parquet'}'").fetchall() == rows
    assert polars.read_parquet(tmp_path / "a.parquet").rows() == rows


def test_any_flipped_bit_of_a_footer_is_refused() -> None:
    content = written()
    check_footer(io.BytesIO(content), Path("a.parquet"))
    for at in range(footer_start(content), len(content) - 8):
        damaged = bytearray(content)
        damaged[at] ^= 1 << (at % 8)
        with pytest.raises(FormatError, match=r"a\.parquet: its footer does not have the checksum"):
            check_footer(io.BytesIO(damaged), Path("a.parquet"))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"\xff\xff\xff\xffPAR1", b"12345678", b"0123456789\0\0\0\0PAR1"])
def test_what_is_no_parquet_file_is_left_to_its_reader(content: bytes) -> None:
    check_footer(io.BytesIO(content), Path("a.parquet"))


def test_a_file_without_a_checksum_is_read() -> None:
    out = io.BytesIO()
    pq.write_table(TABLE, out)
    check_footer(out, Path("a.parquet"))


def test_a_footer_that_was_not_held_is_an_error() -> None:
    sink = FooterSink(io.BytesIO())
    sink.hold()
    sink.write((100).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(ValueError, match="before it was to be held"):
        sink.finish()
