"""Files of nodes: their suffixes, and the same columns whatever the format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from lsprune.errors import FormatError
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.node_columns import SUFFIXES, is_table, is_text, known_suffix, node_suffix, read_columns

COLUMNS = {"id": [2, 0, 1], "a": [0.5, 1.5, -1.0], "name": ["x", "y", "z"]}


def write(path: Path) -> Path:
    if path.suffix == ".npz":
        np.savez(path, **{name: np.array(values) for name, values in COLUMNS.items()})
    elif path.suffix == ".parquet":
        parquet.write_table(pa.table(COLUMNS), path)
    else:
        separator = "\t" if ".tsv" in path.name else ","
        with pa.output_stream(path, compression="detect") as sink:
            csv.write_csv(pa.table(COLUMNS), sink, csv.WriteOptions(delimiter=separator))
    return path


@pytest.mark.parametrize("suffix", SUFFIXES[1:])
def test_every_format_has_the_same_columns(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"nodes{suffix}")
    columns = read_columns(path, MemoryBudget.of())
    assert {name: np.asarray(values).tolist() for name, values in columns.items()} == COLUMNS
    assert is_table(path) == (suffix != ".npz") and is_text(suffix) == (".csv" in suffix or ".tsv" in suffix)


def test_an_npy_has_no_names(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.eye(2))
    assert read_columns(tmp_path / "x.npy", MemoryBudget.of()) == {}


def test_other_suffixes_are_refused() -> None:
    assert known_suffix("a/Nodes.CSV.GZ") == ".csv.gz" and known_suffix("x") is None
    with pytest.raises(FormatError, match=r"n.txt: labels must be a file with the suffix \.npy, .*\.tsv\.zst"):
        node_suffix(Path("n.txt"), "labels")
