"""The ceiling holds, and one that is too low is refused with the least that would do."""

from __future__ import annotations

import json
import mmap
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
from pyarrow import parquet

from graphs import random_graph
from lsprune import LSP, LocalRandom, OptionError
from lsprune.baselines import Jaccard
from lsprune.hashing import Both, Codebook, PaperThreshold, Signs
from lsprune.outofcore.memory_ceiling import Ceiling, check_disk, parse_size, resident, show_size, watched
from lsprune.pruners import PaperLSP


@pytest.mark.parametrize(
    ("text", "size"), [("1GB", 10**9), ("1 gib", 2**30), ("512MiB", 512 << 20), ("1.5k", 1500), ("77", 77), (9, 9)]
)
def test_sizes_are_read_as_people_write_them(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "1 XB", "-1GB", "1e9", "one", True])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(OptionError, match="memory must be a size"):
        parse_size(text)


def test_sizes_are_shown_shortly():
    assert [show_size(size) for size in (12, 1234, 5.6e7, 7.89e9, 2e12)] == [
        "12 bytes", "1.23 kB", "56 MB", "7.89 GB", "2 TB",
    ]  # fmt: skip


def test_a_ceiling_says_the_least_that_would_do_and_that_does():
    with pytest.raises(OptionError, match="memory must be at least") as refused:
        Ceiling(10**6, 5 * 10**7, 2).rows(100)
    least = parse_size(re.search(r"at least ([\d.]+ \w+)", str(refused.value))[1])
    assert Ceiling(least, 5 * 10**7, 2).rows(100) > 0
    with pytest.raises(OptionError, match="memory must be at least"):
        Ceiling(least - 2 * 10**7, 5 * 10**7, 2).rows(100)  # it is the least to ten megabytes
    few, many = Ceiling(least, 5 * 10**7, 2).rows(100), Ceiling(4 * least, 5 * 10**7, 2).rows(100)
    assert few < many


def test_methods_that_hold_something_for_every_edge_need_more():
    ceiling = Ceiling(10**9, 0, 1)
    ceiling.check_graph(10**6, 10**8, LSP(k=1))
    for pruner in (LSP(k=1, weights="jaccard"), Jaccard(k=1, exact=True)):
        with pytest.raises(OptionError, match="100,000,000 edges"):
            ceiling.check_graph(10**6, 10**8, pruner)
    Ceiling(4 * 10**8, 0, 1).check_graph(10**6, 10**7, LSP(k=1, weights="similarity"))
    with pytest.raises(OptionError, match="memory must be at least"):
        Ceiling(4 * 10**8, 0, 1).check_graph(10**6, 10**7, LSP(k=1, weights="auto"))
    with pytest.raises(OptionError, match="of one owner"):
        ceiling.check_owner(10**8, LSP(k=1), True)
    ceiling.check_owner(10**8, LSP(k=1), False)  # keys of neighbours are not made again for each edge


def test_learning_needs_memory_until_it_is_done():
    graph, tight = random_graph(0), Ceiling(10**9, 0, 1)
    for pruner in (
        LSP(k=1, hash="codebook"),
        LSP(k=1, hash="auto"),
        LSP(k=1, hash=Both(edge=Signs(), node=Codebook())),
    ):
        with pytest.raises(OptionError, match="memory must be at least .* to prune 100 edges of 10 nodes with LSP"):
            tight.check_graph(10, 100, pruner)
        Ceiling(2 * 10**9, 0, 1).check_graph(10, 100, pruner)
    tight.check_graph(10, 100, LSP(k=1, hash="codebook").fit(graph))


@pytest.mark.parametrize(
    ("pruner", "fits"),
    [
        (LSP(k=1), True),
        (LSP(k=1, weights="degree"), True),
        (LSP(k=1, attributes=("owner", "neighbour")), True),  # without bins the owner decides nothing
        (LSP(k=1, hash="signs", attributes=("owner", "neighbour")), False),
        (LSP(k=1, hash="both"), False),
        (LSP(k=1, hash="auto"), False),
        (LSP(k=1, weights="neighbour:0"), False),
        (PaperLSP(k=1, replace=True), False),
        (PaperLSP(k=1, hash=PaperThreshold(digest="md5")), False),
        (LSP(k=300), False),  # what is left after 256 steps is put in order
        (LSP(keep=0.5), False),
        (LSP(k=1, symmetric="union"), False),
        (LocalRandom(k=1), False),
    ],
    ids=repr,
)
def test_keys_of_a_hub_are_counted_unless_they_are_its_neighbours(pruner, fits):
    ceiling, largest = Ceiling(4 * 10**8, 0, 1), 10**7
    if fits:
        ceiling.check_owner(largest, pruner, False)
    else:
        with pytest.raises(OptionError, match="memory must be at least .* for the 10,000,000 edges of one owner"):
            ceiling.check_owner(largest, pruner, False)
    ceiling.check_owner(10**5, pruner, True)  # not so many


def test_a_disk_that_is_too_small_is_refused_before_work_starts(tmp_path):
    check_disk(tmp_path, 1, "")
    with pytest.raises(OptionError, match=r"1e.06 TB are needed .*; write to another"):
        check_disk(tmp_path, 10**18, "write to another")


def test_what_is_resident_is_seen():
    with watched(0.001) as peak:
        before = peak[0]
        pages = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # new, whatever was freed before
        held = np.frombuffer(pages, np.uint8)
        held[:] = 1
        assert resident() > before + (32 << 20)
        del held
    assert peak[0] > before + (32 << 20)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_run_stays_below_its_ceiling(tmp_path):
    rng = np.random.default_rng(0)
    edges, nodes = 3_000_000, 400_000
    ends = {name: rng.integers(0, nodes, edges) for name in ("source", "target")}
    parquet.write_table(pa.table(ends), tmp_path / "in.parquet", row_group_size=250_000)
    np.save(tmp_path / "x.npy", rng.standard_normal((nodes, 16), dtype=np.float32))
    command = [
        sys.executable, "-m", "lsprune", "prune", tmp_path / "in.parquet", tmp_path / "out.parquet", "--features",
        tmp_path / "x.npy", "--keep", "0.3", "--stream", "--threads", "2", "--json", "--memory",
    ]  # fmt: skip
    small = subprocess.run([*command, "100MB"], capture_output=True, text=True, check=False)
    assert small.returncode == 1
    assert list(tmp_path.glob("out*")) == []
    size = re.search(r"memory must be at least ([\d.]+ \w+)", small.stderr)
    assert size, small.stderr
    done = subprocess.run([*command, size[1]], capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    assert 0 < report["peak_memory"] <= parse_size(size[1])
    loops = int((ends["source"] == ends["target"]).sum())
    assert report["kept"] == int(np.floor(0.3 * (edges - loops) + 0.5)) + loops
