from __future__ import annotations

import numpy as np
import pytest

from lsprune.kernels import cpu, reference
from lsprune.kernels.cpu import grouping


@pytest.mark.parametrize("one_level", [True, False])
@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize(("nodes", "edges"), [(1, 5), (9000, 30000), (5000, 0), (0, 0)])
def test_grouping_is_stable_and_the_same_on_any_number_of_threads(nodes, edges, skip, one_level, monkeypatch):
    monkeypatch.setattr(grouping, "MAX_ONE_LEVEL_COUNTERS", 1 << 40 if one_level or not edges else 0)
    rng = np.random.default_rng(0)
    owner, neighbour = rng.integers(0, max(nodes, 1), (2, edges if nodes else 0))
    expected = reference.group(owner, neighbour, nodes, nodes, skip, 1)
    for count in (1, 2, 5):
        for ours, theirs in zip(cpu.group(owner, neighbour, nodes, nodes, skip, count), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_grouping_takes_ids_that_need_64_bits():
    owner, neighbour = np.array([1, 0, 1]), np.array([2**40, 5, 2**33])
    indptr, other, edge = cpu.group(owner, neighbour, 2, 2**41, True, 2)
    assert (indptr.tolist(), other.tolist(), edge.tolist()) == ([0, 1, 3], [5, 2**40, 2**33], [1, 0, 2])


def test_csr_loses_its_self_loops():
    indptr, neighbour = np.array([0, 2, 3, 5]), np.array([0, 1, 2, 2, 2])
    for module in (cpu, reference):
        new_indptr, other, edge = module.without_loops(indptr, neighbour, 2)
        assert (new_indptr.tolist(), other.tolist(), edge.tolist()) == ([0, 1, 2, 2], [1, 2], [1, 2])
        assert module.without_loops(np.array([0, 1]), np.array([5]), 1)[2] is None
