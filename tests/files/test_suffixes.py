"""Suffixes decide the format of a file, whatever their case."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsprune.errors import FormatError
from lsprune.files.suffixes import COMPRESSIONS, SUFFIXES, TEXT_SUFFIXES, input_suffix, suffix_of, uncompressed


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_suffix_is_found_behind_any_name(suffix: str) -> None:
    for name in (f"a{suffix}", f"a.b{suffix}", f"A{suffix.upper()}", f"a.csv{suffix}"):
        assert suffix_of(Path("folder.npz") / name) == suffix


def test_only_text_is_compressed() -> None:
    assert len(SUFFIXES) == 2 + len(TEXT_SUFFIXES) * (1 + len(COMPRESSIONS))
    for name in ("a.npz.gz", "a.parquet.zst", "a.gz", "a", "a.npy", "csv"):
        with pytest.raises(FormatError, match=r"the suffix must be one of \.npz, \.parquet, \.csv"):
            suffix_of(Path(name))


def test_the_suffix_of_a_compression_is_removed() -> None:
    assert [uncompressed(name) for name in ("a.csv.gz", ".tsv.zst", "a.gz.csv")] == ["a.csv", ".tsv", "a.gz.csv"]


def test_a_folder_has_no_suffix_in_memory(tmp_path: Path) -> None:
    folder = tmp_path / "edges.parquet"
    folder.mkdir()
    with pytest.raises(FormatError, match=r"edges.parquet is a folder: folders are read by `lsprune prune --stream`"):
        input_suffix(folder)
    assert input_suffix(tmp_path / "a.csv") == ".csv"
