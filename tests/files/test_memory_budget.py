"""Files that would take more memory than there is are refused before they are read, in one line with advice."""

from __future__ import annotations

import gzip
import re
import tracemalloc
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from files_helpers import EDGES, header, pairs, parquet, save, text, zipped
from typer.testing import CliRunner

from lsprune import LSP, OptionError
from lsprune.cli import app
from lsprune.files import memory_budget as module
from lsprune.files import read_edges
from lsprune.files.memory_budget import MemoryBudget, available_memory, parse_size
from lsprune.outofcore.memory_ceiling import resident
from lsprune.outofcore.stream import prune_stream

ROWS = 2_000_000
LIMIT = 5_000_000  # bytes; each of the files below declares more, and is far smaller itself


def repeated(path: Path, value: str, rows: int, *, short: int = 0, **options: object) -> Path:
    """A table whose text column repeats one long value, after some short ones."""
    places = pa.array(np.r_[np.zeros(short, np.int32), np.ones(rows - short, np.int32)])
    words = pa.DictionaryArray.from_arrays(places, pa.array(["a", value]))
    ends = np.arange(rows) % 7
    table = pa.table({"source": ends, "target": ends, "word": words})
    # without Arrow's own schema the column is read as text, and its value is spelled out in every row
    pq.write_table(table, path, store_schema=False, compression="zstd", **options)
    return path


def bomb(folder: Path, kind: str) -> Path:
    zeros = np.zeros((2, ROWS), np.int64)
    path = folder / f"in{kind.partition(' ')[0]}"
    if kind == ".npz":
        np.savez_compressed(path, edge_index=zeros)
    elif kind == ".npz several":
        np.savez_compressed(path, edge_index=EDGES, **{f"part{i}": zeros[0, : ROWS // 8] for i in range(8)})
    elif kind == ".npz nodes":
        save(path, edge_index=EDGES, num_nodes=np.array(10**12))
    elif kind == ".parquet":
        pq.write_table(pa.table({"source": zeros[0], "target": zeros[1]}), path, compression="zstd")
    elif kind == ".parquet text":
        repeated(path, "x" * 10_000, 20_000)
    elif kind == ".parquet lists":
        word = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000, np.int32)), pa.array(["x" * 10_000]))
        lists = pa.ListArray.from_arrays(pa.array(np.arange(0, 20_001, 2, dtype=np.int32)), word)
        ends = np.zeros(10_000, np.int64)
        pq.write_table(pa.table({"source": ends, "target": ends, "l": lists}), path, store_schema=False)
    elif kind == ".csv.gz":
        path.write_bytes(gzip.compress(b"0,1\n" * ROWS * 4, 1))
    else:
        with path.open("wb") as raw, pa.CompressedOutputStream(raw, "zstd") as stream:
            stream.write(b"0,1\n" * ROWS * 4)
    return path


KINDS = [
    ".npz", ".npz several", ".npz nodes", ".parquet", ".parquet text", ".parquet lists", ".csv.gz", ".txt.zst",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_small_file_that_expands_is_refused(tmp_path: Path, kind: str) -> None:
    path = bomb(tmp_path, kind)
    assert path.stat().st_size < LIMIT / 5
    told = (
        rf"{re.escape(str(path))}: .*in memory, but only 5 MB are allowed \(memory\).*; use --stream .* or allow more"
    )
    with pytest.raises(OptionError, match=told):
        read_edges(path, memory=LIMIT)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != ".npz nodes"])
def test_refusing_takes_no_more_than_the_limit(tmp_path: Path, kind: str) -> None:
    path = bomb(tmp_path, kind)
    read_edges(save(tmp_path / "small.npz", edge_index=EDGES))  # what is imported on the way is not counted
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)  # which counts its own peak
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        with pytest.raises(OptionError):
            read_edges(path, memory=LIMIT)
        assert tracemalloc.get_traced_memory()[1] < 3 * LIMIT
        assert pool.max_memory() < 3 * LIMIT
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)


def test_what_fits_is_read(tmp_path: Path) -> None:
    assert pairs(read_edges(save(tmp_path / "a.npz", edge_index=EDGES), memory=10_000)) == pairs(
        read_edges(parquet(tmp_path / "a.parquet", source=EDGES[0], target=EDGES[1]), memory=10_000)
    )
    path = repeated(tmp_path / "t.parquet", "x" * 1000, 3000, row_group_size=1000)
    whole = read_edges(path).content.table
    assert read_edges(path, memory="3.2MB").content.table.equals(whole)  # the footer alone promises less than that
    with pytest.raises(OptionError, match=r"needs 3\.\d+ MB in memory"):
        read_edges(path, memory="3MB")


def test_texts_without_a_dictionary_are_counted_by_batches(tmp_path: Path) -> None:
    ends = np.zeros(4000, np.int64)
    table = pa.table({"source": ends, "target": ends, "word": ["x" * 1000] * 4000})
    options = {"use_dictionary": False, "column_encoding": {"word": "DELTA_BYTE_ARRAY"}}
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=1000, **options)
    assert read_edges(tmp_path / "in.parquet", memory="5MB").content.table.equals(table)
    with pytest.raises(OptionError, match="row group 3 needs more than is left in memory"):
        read_edges(tmp_path / "in.parquet", memory="4MB")


def test_all_files_of_a_call_share_one_limit(tmp_path: Path) -> None:
    edges = save(tmp_path / "e.npz", edge_index=EDGES, more=np.zeros(300_000))
    features = save(tmp_path / "x.npz", x=np.ones((4, 80_000)))
    read_edges(edges, memory="3MB")
    read_edges(save(tmp_path / "small.npz", edge_index=EDGES), features=features, memory="3MB")
    with pytest.raises(OptionError, match=r"x\.npz: needs 2\.56 MB in memory, but only 3 MB .* \(2\.4 MB of them"):
        read_edges(edges, features=features, memory="3MB")


def test_a_member_holds_no_more_than_it_declares(tmp_path: Path) -> None:
    whole = header((2, 5)) + bytes(80)
    path = zipped(tmp_path / "in.npz", {"edge_index.npy": whole + bytes(10**6)}, zipfile.ZIP_DEFLATED)
    raw = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):  # both places that declare the expanded size
        at = raw.index(mark) + place
        raw[at : at + 4] = len(whole).to_bytes(4, "little")
    path.write_bytes(raw)
    with pytest.raises(ValueError, match="edge_index|CRC|readable"):
        read_edges(path, memory=10_000)


def test_the_default_is_the_memory_available(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bomb(tmp_path, ".npz")
    monkeypatch.setattr(module, "available_memory", lambda: LIMIT)
    with pytest.raises(OptionError, match="needs 32 MB in memory, but only 5 MB are available; use --stream"):
        read_edges(path)
    monkeypatch.setattr(module, "available_memory", lambda: None)
    assert read_edges(path).graph.num_edges == ROWS


def test_the_memory_of_control_groups_counts(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("5:cpu,memory:/a/b\n0::/c\n")
    for folder, files in {
        "memory/a/b": {"memory.limit_in_bytes": 10**9, "memory.usage_in_bytes": 10**8},
        "memory/a": {"memory.limit_in_bytes": 7 * 10**8, "memory.usage_in_bytes": 5 * 10**8},
        "c": {"memory.max": "max", "memory.current": 5},
        ".": {"memory.max": 4 * 10**8, "memory.current": 10**8},
    }.items():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (tmp_path / folder / name).write_text(f"{content}\n")
    stat = "total_active_file 1000\ntotal_inactive_file 500\nactive_file 7\n"
    (tmp_path / "memory/a/memory.stat").write_text(stat)
    found = list(module._free_in_groups(tmp_path, own))
    assert found == [9 * 10**8, 2 * 10**8 + 1500, 3 * 10**8]
    assert list(module._free_in_groups(tmp_path / "absent", own)) == []
    assert available_memory() is None or available_memory() > 0


@pytest.mark.parametrize(
    "size",
    ["9" * 400, "1e999GB", "-1", "nan", "inf", "²GB", "٣GB", "", " ", "0", "0GB", "1 2", "1GB\x00", "9" * 20 + "TB"],
)
@pytest.mark.parametrize("more", [[], ["--stream"]])
def test_sizes_that_are_none(tmp_path: Path, size: str, more: list[str]) -> None:
    path = text(tmp_path / "in.csv", "0,1\n")
    words = ["prune", str(path), str(tmp_path / "out.csv"), "--k", "1", "--hash", "identity", f"--memory={size}", *more]
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout) == (1, "")
    assert re.fullmatch(r"error: memory must be a size such as .*\n", done.stderr)
    assert len(done.stderr) < 150
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("size", [-1, 0, True, 10**5000, 2**63, 1.5e300, None], ids=range(7))
def test_numbers_that_are_no_sizes(size: object) -> None:
    with pytest.raises(OptionError, match="memory must be a size"):
        parse_size(size)  # type: ignore[arg-type]
    assert parse_size(np.int64(7)) == 7  # type: ignore[arg-type]


def test_every_command_that_reads_files_has_the_limit(tmp_path: Path) -> None:
    path = bomb(tmp_path, ".npz several")
    out = str(tmp_path / "out.npz")
    trains = [["compare", str(path)]] if find_spec("torch_geometric") else []
    for words in (["prune", str(path), out, "--k", "1"], ["inspect", str(path)], *trains):
        done = CliRunner().invoke(app, [*words, "--memory", "5MB"])
        assert done.exit_code == 1
        assert re.fullmatch(r"error: .*in\.npz: needs 16 MB in memory, .*--memory.*\n", done.stderr), done.stderr
    small = save(tmp_path / "small.npz", edge_index=EDGES)
    done = CliRunner().invoke(app, ["prune", str(small), out, "--k", "1", "--hash", "identity", "--memory", "5MB"])
    assert done.exit_code == 0, done.stderr


def test_streaming_refuses_texts_that_expand(tmp_path: Path) -> None:
    early = repeated(tmp_path / "early.parquet", "x" * 1_000_000, 20_000)
    late = repeated(tmp_path / "late.parquet", "x" * 1_000_000, 20_000, short=5000)
    pruner, out = LSP(k=20_000, hash="identity", self_loops="edge"), tmp_path / "out.parquet"
    memory = resident() + 10**9  # what this process has already, from other tests, counts too
    for path in (early, late):
        with pytest.raises(OptionError, match="memory must be"):
            prune_stream(path, out, pruner, memory=memory)
    assert {one.name for one in tmp_path.iterdir()} == {"early.parquet", "late.parquet"}
    fine = repeated(tmp_path / "fine.parquet", "x" * 1000, 20_000, short=5000)
    prune_stream(fine, out, pruner, memory=memory)
    assert pq.read_table(out).equals(pq.read_table(fine))


def test_a_budget_is_used_up() -> None:
    budget = MemoryBudget.of("1kB", "ask for more")
    budget.take(600, "a")
    with pytest.raises(
        OptionError, match=r"b: needs 600 bytes in memory, but only 1 kB .* \(600 bytes .*; ask for more"
    ):
        budget.take(600, "b")
    budget.take(400, "c")
    assert budget.left == 0
