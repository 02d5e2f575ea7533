"""Text in blocks: the same lines, numbers and errors as the reader in memory, whatever the size of the blocks."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from files_helpers import text
from scale_helpers import asked, together, write_all

from lsprune.errors import FormatError, GraphError
from lsprune.files import read_edges, write_edges
from lsprune.files.batches import open_edges

CASES = [
    ("a.csv", "source,target\n0,1\n1,2\n"),
    ("a.csv", "0,1\n1,2\n"),
    ("a.csv", "# a comment\n\n0,1,x\n\n1,2,y\n"),
    ("a.csv", "# one\n\n# two\n0,1\n1,2\n"),
    ("a.csv", "id,from,to,zip\n#7,0,1,007\n#8,1,2,010\n"),
    ("a.csv", '"src","dst","t"\r\n0,1,"a, ""b"""\r\n1,2,c\r\n'),
    ("a.csv", "\ufeffs,t,0,1\n0,1,5,6\n1,2,7,8\n"),
    ("a.csv", "source, target\n0, 1\n1, 2\n"),
    ("a.tsv", "s\tt\n0\t1\n1\t2\n"),
    ("a.txt", "# SNAP\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n"),
    ("a.txt", "0  1   0.50 \n%c\n  1\t2 1e3\n"),
    ("a.txt", "  0 1\n 1 2\n# end\n\n"),
    ("a.edges", "0,1\n1,2\n"),
    ("a.edgelist", "0 1 friend\n1 2 foe\n"),
    ("A.CSV", "source,target\n0,1\n1,2\n"),
    ("a.csv", "\n\n\n0,1\n1,2\n"),
]


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
@pytest.mark.parametrize(("name", "content"), CASES)
def test_lines_to_the_byte(tmp_path: Path, name: str, content: str, packed: str) -> None:
    raw = content.encode()
    path = tmp_path / f"{name}{packed}"
    path.write_bytes({"": raw, ".gz": gzip.compress(raw), ".zst": pa.compress(raw, "zstd", asbytes=True)}[packed])
    whole = read_edges(path)
    for rows in (1, 2, 50):
        files = open_edges(path)
        assert files.edges is None
        assert [(s.name, s.first, s.last) for s in files.shards] == [("", 0, 2)]
        assert np.array_equal(together(files, rows)[:2], whole.graph.ends())
        for mask in ([True, False], [False, True], [False, False], [True, True]):
            out = tmp_path / f"out.{name[2:].lower()}"
            write_edges(out, whole, np.array(mask))
            written = write_all(files, tmp_path / f"o{packed}", np.array(mask), rows).read_bytes()
            if packed == ".gz":
                written = gzip.decompress(written)
            elif packed:
                written = pa.input_stream(tmp_path / f"o{packed}", compression="zstd").read()
            assert written == out.read_bytes()


def test_how_many_edges_is_known_after_reading(tmp_path: Path) -> None:
    files = open_edges(text(tmp_path / "a.txt", "0 1\n1 2\n2 3\n"))
    batches = files.batches(1)
    next(batches)
    assert files.edges is None
    assert len(list(batches)) == 2
    assert files.edges == 3


def test_attributes_have_one_type_for_the_whole_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsprune.files.batches.text._BLOCK", 5000)
    rows = "".join(f"{i},{i + 1},1,{i},true\n" for i in range(3000))
    path = text(tmp_path / "in.csv", f"s,t,w,n,b\n{rows}5,6,0.5,7,false\n")
    for columns in (["w"], ["n"], ["b"], ["n", "w"], ["b", "n"]):
        files, whole = open_edges(path, edge_attr=columns), read_edges(path, edge_attr=columns)
        attr = together(files, 100, attributes=True)[2]
        assert attr.dtype == whole.graph.edge_attr.dtype
        assert np.array_equal(attr, whole.graph.edge_attr)


def test_attributes_refused(tmp_path: Path) -> None:
    for content, message in (
        ("s,t,w\n0,1,x\n", r"column 'w' must be numbers, got string \('x' at line 2\)"),
        ("s,t,w\n0,1,1\n1,2,\n", r"column 'w', line 3: a value is missing"),
        ("s,t\n0,1\n", "no column 'w'; it has 's', 't'"),
    ):
        with pytest.raises(FormatError, match=message):
            open_edges(text(tmp_path / "bad.csv", content), edge_attr=["w"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("source,target\n0,1", "The last line has no line break"),
        ("source,target\n0,1\n\n# x\n", "line 4: 1 fields where 2 are expected"),
        ("source,target\n0,1\nx,2\n", "'source', line 3: ids must be whole numbers in 63 bits, got 'x'.*--map-ids"),
        ("source,target\n0,1\n1.0,2\n", "column 'source', line 3: ids must be whole numbers in 63 bits, got '1.0'"),
        ("#c\nsource,target\n0,99999999999999999999\n", "column 'target', line 3: ids must be whole .*got '9999"),
        ("source,target\n0,1\n,2\n", "column 'source', line 3: a value is missing"),
        ("source,target\n0,1\n1,-2\n", "column 'target', line 3: ids must be >= 0, got -2"),
        ("source,target\n0,1\n1,2,3\n", "line 3: 3 fields where 2 are expected"),
        ("source,target\n0,1\n1\n", "line 3: 1 fields where 2 are expected"),
        ("a,b\n0,1\n", "no columns source, target or src, dst .*it has 'a', 'b'"),
        ("source,target,target\n0,1,2\n", "column 'target' is there more than once"),
        ("5\n6\n", "needs two columns"),
        ("1.5,2.5\n", "column 'source', line 1: ids must be whole"),
    ],
)
@pytest.mark.parametrize("rows", [1, 100])
def test_refused_with_the_words_of_the_reader_in_memory(tmp_path: Path, content: str, message: str, rows: int) -> None:
    path = text(tmp_path / "bad.csv", content)
    with pytest.raises((FormatError, GraphError), match=message) as caught:
        together(open_edges(path), rows)
    with pytest.raises((FormatError, GraphError)) as expected:
        read_edges(path)
    assert str(caught.value).startswith(str(expected.value))
    assert "\n" not in str(caught.value)


def test_packed_files_that_are_none_or_cut_short(tmp_path: Path) -> None:
    raw = "".join(f"{i},{i}\n" for i in range(1000)).encode()
    for suffix, kind, packed in (
        (".gz", "gzip", gzip.compress(raw)), (".zst", "zstd", pa.compress(raw, "zstd", asbytes=True)),
    ):  # fmt: skip
        path = tmp_path / f"bad.csv{suffix}"
        for content in (raw, packed[: len(packed) // 2], packed[:-1]):
            path.write_bytes(content)
            with pytest.raises(FormatError, match=rf"bad\.csv{suffix}: not a readable {kind} file"):
                together(open_edges(path), 100)


def test_a_line_without_end_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lsprune.files.batches.text._LONGEST", 1000)
    (tmp_path / "bad.csv.gz").write_bytes(gzip.compress(b"0,1\n" + bytes(200_000)))
    with pytest.raises(FormatError, match=r"line 2 is longer than 1000 bytes"):
        together(open_edges(tmp_path / "bad.csv.gz"), 10)


def test_files_of_a_folder_may_differ_in_header_and_order_of_columns(tmp_path: Path) -> None:
    text(tmp_path / "a.csv", "# nothing here\n")
    text(tmp_path / "b.csv", "src,dst,w\n0,1,5\n")
    text(tmp_path / "c.csv", "w,dst,src\n6,2,1\n")
    source, target, attr = together(open_edges(tmp_path, edge_attr=["w"]), 10, attributes=True)
    assert (source.tolist(), target.tolist(), attr.tolist()) == ([0, 1], [1, 2], [5, 6])
    text(tmp_path / "d.csv", "from,to,w\n6,2,1\n")
    with pytest.raises(FormatError, match=r"d\.csv: no columns src, dst for the ends of an edge"):
        open_edges(tmp_path)


def test_a_file_changed_while_it_was_read(tmp_path: Path) -> None:
    files = open_edges(text(tmp_path / "a.csv", "0,1\n1,2\n"))
    shard = files.shards[0]
    text(tmp_path / "a.csv", "0,1\n")
    with pytest.raises(FormatError, match="had 2 edges and has 1 now"):
        files.write_shard(shard, io.BytesIO(), asked(np.ones(2, bool)), 10)
