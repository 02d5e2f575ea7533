"""Common neighbours are counted exactly, however sets are cut into pieces and pieces into batches."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

import pyarrow as pa

from lsprune.spark import set_comparison
from lsprune.spark.edge_ends import NEIGHBOUR_ID, OWNER_ID
from lsprune.spark.packed_rows import unpack_lists
from lsprune.spark.set_comparison import ASKS, LARGE, MEMBERS, PIECE, SIZE, SIZES, SMALL, _Count, collect_sets
from lsprune.spark.tasks import ID_COLUMN

COLUMNS = (ID_COLUMN, ASKS, SMALL, PIECE, SIZES, MEMBERS)


class Difference:
    """A comparison from which both sizes can be read."""

    def logs(self, common, union, runtime):
        return common * 1000 + union


def sets_of(rng) -> dict[int, set[int]]:
    """Sets of nodes with ids that are far apart; one is large, one has only the node itself."""
    sizes = {3: 90, 10**12: 25, 40: 1, 41: 12, 2**62: 30}
    return {node: {node, *(rng.integers(0, 60, size - 1) * 10**6).tolist()} for node, size in sizes.items()}


@pytest.mark.parametrize(("piece", "rows"), [(1, 1), (4, 3), (64, 1000)])
def test_sets_are_collected_once_each_in_ascending_pieces(monkeypatch, piece, rows):
    monkeypatch.setattr(set_comparison, "PIECE_MEMBERS", piece)
    monkeypatch.setattr(set_comparison, "EDGE_ROWS", rows)
    sets = sets_of(np.random.default_rng(0))
    pairs = sorted((node, member) for node, members in sets.items() for member in [*members, *members])
    table = pa.table({OWNER_ID: [u for u, _ in pairs], NEIGHBOUR_ID: [v for _, v in pairs]})
    found = pa.Table.from_batches(list(collect_sets(iter(table.to_batches(max_chunksize=rows)))))
    begins, members = unpack_lists(found.column(MEMBERS))
    assert np.diff(begins).max() <= piece
    for node, expected in sets.items():
        mine = np.flatnonzero(found.column(ID_COLUMN).to_numpy() == node)
        assert found.column(PIECE).to_numpy()[mine].tolist() == list(range(len(mine)))
        assert set(found.column(SIZE).to_numpy()[mine].tolist()) == {len(expected)}
        assert [m for i in mine for m in members[begins[i] : begins[i + 1]]] == sorted(expected)


@pytest.mark.parametrize(("piece", "rows"), [(1, 1), (4, 3), (7, 50), (64, 1000)])
def test_common_members_are_counted_over_pieces_and_batches(monkeypatch, piece, rows):
    monkeypatch.setattr(set_comparison, "PIECES", rows)
    sets = sets_of(np.random.default_rng(1))
    found_rows = []
    for node, members in sorted(sets.items()):
        found_rows += pieces(node, False, node, 0, sorted(members), piece)
        for other, theirs in sorted(sets.items()):
            if len(theirs) <= len(members):
                found_rows += pieces(node, True, other, len(theirs) + len(members), sorted(theirs), piece)
    table = pa.table(dict(zip(COLUMNS, zip(*found_rows, strict=True), strict=True)))
    done = pa.Table.from_batches(list(_Count(Difference(), "log").run(iter(table.to_batches(max_chunksize=rows)))))
    found = {(row[SMALL], row[LARGE]): row["log"] for row in done.to_pylist()}
    assert len(found) == done.num_rows
    expected = {
        (a, b): len(sets[a] & sets[b]) * 1000 + len(sets[a] | sets[b])
        for a in sets for b in sets if len(sets[a]) <= len(sets[b])
    }  # fmt: skip
    assert found == expected


def pieces(node, asks, small, sizes, members, length) -> list[tuple]:
    cut = [members[i : i + length] for i in range(0, len(members), length)]
    return [(node, asks, small, i, sizes, np.array(part, np.int64).tobytes()) for i, part in enumerate(cut)]


def test_no_rows():
    assert list(collect_sets(iter([]))) == []
    (batch,) = _Count(Difference(), "log").run(iter([]))
    assert batch.num_rows == 0
