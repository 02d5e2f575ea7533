from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune import Graph
from lsprune.kernels import Runtime
from lsprune.outofcore.grouping import BatchedEdges, EdgeCounter, group_on_disk
from lsprune.outofcore.work_folder import Work
from lsprune.selection.owners import by_owner

FEW = settings(max_examples=15, deadline=None, derandomize=True)


def batches(owner, neighbour, rows):
    return lambda: ((lo, owner[lo : lo + rows], neighbour[lo : lo + rows]) for lo in range(0, owner.shape[0], rows))


@given(seed=st.integers(0, 10**6), rows=st.integers(1, 5000), threads=st.integers(1, 3), skip=st.booleans())
@FEW
def test_grouped_on_disk_is_grouped_in_memory(tmp_path_factory, seed, rows, threads, skip):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(1, 20_000))
    ends = rng.integers(0, nodes, (2, int(rng.integers(0, 3000))))
    folder = tmp_path_factory.mktemp("g")
    run, counter = Runtime("cpu", threads, folder), EdgeCounter(Runtime(), skip_loops=skip)
    give = batches(ends[1], ends[0], rows)
    for _, owner, neighbour in give():
        counter.add(owner, neighbour)
    found = group_on_disk(BatchedEdges(give, counter.buckets, ends.shape[1], nodes, nodes, skip), Work(folder), run)
    expected = by_owner(Graph.from_edges(ends, num_nodes=nodes), "in", run, skip_loops=skip)
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.neighbour, expected.neighbour)
    np.testing.assert_array_equal(found.edge, expected.edge)
    assert counter.result().slots == found.neighbour.shape[0]


@pytest.mark.parametrize("rows", [1, 3, 100])
def test_what_is_counted_does_not_depend_on_batches(rows):
    owner, neighbour = np.array([0, 0, 2, 2, 5]), np.array([0, 2, 0, 5, 2])
    counter = EdgeCounter(Runtime(), skip_loops=True)
    for _, one, other in batches(owner, neighbour, rows)():
        counter.add(one, other)
    found = counter.result()
    assert (found.edges, found.slots, found.largest, found.ordered, found.undirected) == (5, 4, 5, True, True)
    counter.add(np.array([4]), np.array([1]))
    found = counter.result()
    assert (found.ordered, found.undirected) == (False, False)


def test_a_group_that_is_there_is_not_made_again(tmp_path):
    work, run = Work(tmp_path), Runtime("cpu", 1, tmp_path)
    owner = np.array([1, 0])
    first = group_on_disk(BatchedEdges(batches(owner, owner[::-1], 9), np.array([2]), 2, 2, 2), work, run)

    def never():
        raise AssertionError

    again = group_on_disk(BatchedEdges(never, np.array([2]), 2, 2, 2), work, run)
    np.testing.assert_array_equal(again.edge, first.edge)
