"""Edge lists as text: lines are kept to the byte, and what is no edge list is refused by its line."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from files_helpers import kept, pairs, text
from scale_helpers import asked, together, write_all

from lsprune.errors import FormatError, GraphError
from lsprune.files import open_edges, read_edges, write_edges


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", "source,target\n0,1\n1,2\n", "source,target\n0,1\n"),
        ("a.csv", "0,1\n1,2\n", "0,1\n"),
        ("a.csv", "# a comment\n\n0,1,x\n\n1,2,y\n", "0,1,x\n"),
        ("a.csv", "# one\n\n# two\n0,1\n1,2\n", "0,1\n"),
        ("a.csv", "id,from,to,zip\n#7,0,1,007\n#8,1,2,010\n", "id,from,to,zip\n#7,0,1,007\n"),
        ("a.csv", '"src","dst","t"\r\n0,1,"a, ""b"""\r\n1,2,c\r\n', '"src","dst","t"\r\n0,1,"a, ""b"""\r\n'),
        ("a.csv", "\ufeffs,t,0,1\n0,1,5,6\n1,2,7,8\n", "s,t,0,1\n0,1,5,6\n"),
        ("a.csv", "source, target\n0, 1\n1, 2\n", "source, target\n0, 1\n"),
        ("a.tsv", "s\tt\n0\t1\n1\t2\n", "s\tt\n0\t1\n"),
        ("a.txt", "# SNAP\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n", "0\t1\n"),
        ("a.txt", "0  1   0.50 \n%c\n  1\t2 1e3\n", "0  1   0.50 \n"),
        ("a.txt", "  0 1\n 1 2\n", "  0 1\n"),
        ("a.edges", "0,1\n1,2\n", "0,1\n"),
        ("a.edgelist", "0 1 friend\n1 2 foe\n", "0 1 friend\n"),
        ("A.CSV", "source,target\n0,1\n1,2\n", "source,target\n0,1\n"),
    ],
)
def test_text_lines_are_kept_to_the_byte(tmp_path: Path, name: str, content: str, expected: str) -> None:
    read = read_edges(text(tmp_path / name, content))
    assert pairs(read) == [(0, 1), (1, 2)]
    write_edges(tmp_path / f"out{name[1:].lower()}", read, np.array([True, False]))
    assert (tmp_path / f"out{name[1:].lower()}").read_bytes() == expected.encode()


def test_text_gzip_both_ways(tmp_path: Path) -> None:
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(b"source,target\n0,1\n1,2\n"))
    read = read_edges(tmp_path / "in.csv.gz")
    for name in ("one.csv.gz", "two.csv.gz"):
        write_edges(tmp_path / name, read, np.array([False, True]))
    assert gzip.decompress((tmp_path / "one.csv.gz").read_bytes()) == b"source,target\n1,2\n"
    raw = (tmp_path / "one.csv.gz").read_bytes()
    assert raw == (tmp_path / "two.csv.gz").read_bytes()
    assert raw[4:8] == bytes(4)  # no date inside
    write_edges(tmp_path / "plain.csv", read, np.array([False, True]))
    assert (tmp_path / "plain.csv").read_bytes() == b"source,target\n1,2\n"


def test_text_zstd_both_ways(tmp_path: Path) -> None:
    (tmp_path / "in.csv.zst").write_bytes(pa.compress(b"source,target\n0,1\n1,2\n", "zstd", asbytes=True))
    read = read_edges(tmp_path / "in.csv.zst")
    for name in ("one.csv.zst", "two.csv.zst"):
        write_edges(tmp_path / name, read, np.array([False, True]))
    with pa.input_stream(tmp_path / "one.csv.zst", compression="zstd") as stream:
        assert stream.read() == b"source,target\n1,2\n"
    assert (tmp_path / "one.csv.zst").read_bytes() == (tmp_path / "two.csv.zst").read_bytes()
    (tmp_path / "bad.csv.zst").write_bytes(b"source,target\n0,1\n")
    with pytest.raises(FormatError, match="not a readable zstd file"):
        read_edges(tmp_path / "bad.csv.zst")


def test_text_attributes_and_names(tmp_path: Path) -> None:
    path = text(tmp_path / "in.csv", "a,w,b,c\n0,1,1,7\n1,2.5,2,8\n")
    read = read_edges(path, source="a", target="b", edge_attr=["w"])
    assert read.graph.edge_attr.tolist() == [1, 2.5]
    assert pairs(read) == [(0, 1), (1, 2)]
    headless = read_edges(text(tmp_path / "in.txt", "0 1 5\n1 2 6\n"), edge_attr=["column_2"])
    assert headless.graph.edge_attr.tolist() == [5, 6]


def test_text_attribute_that_turns_decimal_late(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i + 1},1\n" for i in range(200_000))  # more than the block in which Arrow guesses types
    read = read_edges(text(tmp_path / "in.csv", f"s,t,w\n{rows}5,6,0.5\n"), edge_attr=["w"])
    assert read.graph.edge_attr[-2:].tolist() == [1.0, 0.5]


def test_text_without_edges(tmp_path: Path) -> None:
    assert read_edges(text(tmp_path / "in.csv", "source,target\n")).graph.num_edges == 0
    assert read_edges(text(tmp_path / "in.txt", "# nothing here\n")).graph.num_edges == 0
    none = np.zeros(2, bool)
    for name, content in (("in.txt", "0 1\n1 2\n"), ("in.csv", "0,1\n1,2\n"), ("in.csv", "s,t\n0,1\n1,2\n")):
        read = read_edges(text(tmp_path / name, content))
        assert kept(read, tmp_path / f"out.{name[3:]}", none).graph.num_edges == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("source,target\n0,1", "The last line has no line break"),
        ("source,target\n0,1\n\n# x\n", "line 4: 1 fields where 2 are expected"),
        ("source,target\n0,1\nx,2\n", "column 'source', line 3: ids must be whole numbers in 63 bits, got 'x'"),
        ("source,target\n0,1\n1.0,2\n", "column 'source', line 3: ids must be whole numbers in 63 bits, got '1.0'"),
        ("#c\nsource,target\n0,99999999999999999999\n", "column 'target', line 3: ids must be whole .*got '9999"),
        ("source,target\n0,1\n,2\n", "column 'source', line 3: a value is missing"),
        ("source,target\n0,1\n1,-2\n", "column 'target', line 3: ids must be >= 0, got -2"),
        ("source,target\n0,1\n1,2,3\n", "line 3: 3 fields where 2 are expected"),
        ("source,target\n0,1\n1\n", "line 3: 1 fields where 2 are expected"),
        ("a,b\n0,1\n", "no columns source, target or src, dst .*it has 'a', 'b'"),
        ("source,target,target\n0,1,2\n", "column 'target' is there more than once"),
        ("5\n6\n", "needs two columns"),
        ('source,target,n\n0,1,"a\nb"\n', "line breaks inside quotes are not supported|line 2: "),
        ("source,target\n0,5000000000\n", "column 'target', line 2: id 5000000000 is far beyond"),
        ("1.5,2.5\n", "column 'source', line 1: ids must be whole"),
    ],
)
def test_text_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises((FormatError, GraphError), match=message) as caught:
        read_edges(text(tmp_path / "bad.csv", content))
    assert str(tmp_path / "bad.csv") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_text_that_is_no_text(tmp_path: Path) -> None:
    for raw in (b"\xff\xfe\x00\x00\n", b"\x00" * 40 + b"\n", bytes(range(256)) + b"\n", b"source,target\n\xff,\xfe\n"):
        (tmp_path / "bad.csv").write_bytes(raw)
        with pytest.raises(FormatError, match=r"bad\.csv"):
            read_edges(tmp_path / "bad.csv")
    (tmp_path / "bad.csv.gz").write_bytes(b"source,target\n0,1\n")
    with pytest.raises(FormatError, match="not a readable gzip file"):
        read_edges(tmp_path / "bad.csv.gz")


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
def test_streamed_lines_to_the_byte(tmp_path: Path, name: str, content: str, packed: str) -> None:
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
    monkeypatch.setattr("lsprune.files.text._STREAM_BYTES", 5000)
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
def test_streaming_refuses_with_the_words_of_the_reader_in_memory(
    tmp_path: Path, content: str, message: str, rows: int
) -> None:
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
    monkeypatch.setattr("lsprune.files.text_lines._MAX_LINE_BYTES", 1000)
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
