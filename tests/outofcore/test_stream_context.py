"""What the stages of a run share: batch size, orientation, numbers of nodes, seconds."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import LSP, LocalRandom
from lsprune.files import open_edges
from lsprune.outofcore.grouping import EdgeCounts
from lsprune.outofcore.memory_ceiling import Ceiling
from lsprune.outofcore.stream_context import StreamContext, attribute_bytes
from lsprune.outofcore.work_folder import Work

CEILING = Ceiling(2 * 10**9, 0, 1)


def context_of(folder, pruner, *, bipartite: bool = False, **arrays) -> StreamContext:
    np.savez(folder / "in.npz", edge_index=np.array([[0, 1, 4], [2, 2, 1]]), **arrays)
    edges = open_edges(folder / "in.npz", bipartite=bipartite, edge_attr=tuple(arrays))
    return StreamContext.of(pruner, CEILING, Work(folder), edges, lambda text: None)


def test_a_resumed_run_reads_as_many_rows_at_a_time_as_before(tmp_path):
    first = context_of(tmp_path, LSP(k=1))
    assert first.rows == first.work.done["rows"] == CEILING.rows(16)
    first.work.done["rows"] = 77
    edges = open_edges(tmp_path / "in.npz")
    assert StreamContext.of(LSP(k=1), CEILING, first.work, edges, lambda text: None).rows == 77


@pytest.mark.parametrize(("side", "owner"), [("in", [2, 2, 1]), ("out", [0, 1, 4])])
def test_owners_are_at_the_end_that_the_side_says(tmp_path, side, owner):
    context = context_of(tmp_path, LocalRandom(k=1, side=side))
    source, target = np.array([0, 1, 4]), np.array([2, 2, 1])
    owners, neighbours = context.owners_and_neighbours(source, target)
    assert owners.tolist() == owner and sorted([*owners, *neighbours]) == [0, 1, 1, 2, 2, 4]


def test_self_loops_are_skipped_unless_they_are_edges_or_ids_are_of_two_kinds(tmp_path):
    assert context_of(tmp_path, LocalRandom(k=1)).skip_loops
    assert not context_of(tmp_path, LocalRandom(k=1, self_loops="edge")).skip_loops
    assert not context_of(tmp_path, LocalRandom(k=1), bipartite=True).skip_loops


@pytest.mark.parametrize("side", ["in", "out"])
def test_numbers_of_nodes_come_from_the_largest_ids_where_nobody_knows_them(tmp_path, side):
    pruner = LocalRandom(k=1, side=side)
    counts = EdgeCounts(3, 3, 4, False, False, (2, 4) if side == "in" else (4, 2))  # of owners, of neighbours
    one, two = (context_of(tmp_path, pruner, bipartite=two) for two in (False, True))
    assert one.sizes((None, None), counts) == (5, 5) and one.num_nodes((5, 5)) == 5
    assert two.sizes((None, None), counts) == (5, 3) and two.num_nodes((5, 3)) == 8
    assert two.sizes((9, None), counts) == (9, 3)


def test_the_seconds_of_stages_are_noted(tmp_path):
    context = context_of(tmp_path, LSP(k=1))
    with context.stage("one"), context.stage("two"):
        pass
    assert set(context.seconds) == {"one", "two"} and min(context.seconds.values()) >= 0


def test_the_bytes_of_edge_attributes(tmp_path):
    np.savez(tmp_path / "e.npz", edge_index=np.zeros((2, 4), int), w=np.ones((4, 3), np.float32))
    assert attribute_bytes(open_edges(tmp_path / "e.npz", edge_attr=("w",))) == 12
    assert attribute_bytes(open_edges(tmp_path / "e.npz")) == 0
