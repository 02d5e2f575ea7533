from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import tensor

from lsprune.kernels import reference
from lsprune.kernels.gpu import neighbour_sets as kernels
from lsprune.kernels.gpu.neighbour_sets import EMPTY_SET_HASH, count_common, count_equal, min_rows, overlaps


@pytest.fixture(params=[1, 25, 1 << 26], ids=lambda size: f"chunks of {size}")
def chunk(request, monkeypatch):
    monkeypatch.setattr(kernels, "CHUNK_LOOKUPS", request.param)


def counted(owner: np.ndarray, neighbour: np.ndarray, sets: list[list[int]], device) -> tuple[list[int], list[int]]:
    nodes = len(sets)
    pairs = np.array([u * nodes + member for u, members in enumerate(sets) for member in sorted(members)], np.int64)
    begins = np.concatenate([[0], np.cumsum([len(members) for members in sets])])
    common, union = count_common(*(tensor(array, device) for array in (owner, neighbour, pairs, begins)), nodes)
    return common.tolist(), union.tolist()


@pytest.mark.parametrize("share", [0.05, 0.3, 1])
def test_members_are_counted_as_the_definition_does(share, device, chunk):
    rng = np.random.default_rng(0)
    nodes = 40
    owner, neighbour = np.sort(rng.integers(0, nodes, 150)), rng.integers(0, nodes, 150)
    sizes = rng.random(nodes) ** 2 * share * 2  # sets of very different sizes, some empty
    sets = [np.flatnonzero(rng.random(nodes) < size).tolist() for size in sizes]
    begins = np.concatenate([[0], np.cumsum([len(members) for members in sets])])
    members, expected = np.array([member for row in sets for member in row], np.int64), np.zeros(150, np.int64)
    indptr = np.searchsorted(owner, np.arange(nodes + 1))
    reference.count_common(indptr, neighbour, begins, members, 0, nodes, expected)
    unions = [len(set(sets[u]) | set(sets[v])) for u, v in zip(owner, neighbour, strict=True)]
    assert counted(owner, neighbour, sets, device) == (expected.tolist(), unions)
    assert len(set(expected.tolist())) > 2


def test_members_at_the_ends_of_the_list_are_found(device, chunk):
    # The last members of the last set, and a set whose members are larger than all others.
    sets = [[0], [2], [1, 2]]
    assert counted(np.array([0, 1, 2, 2]), np.array([2, 2, 1, 2]), sets, device) == ([0, 1, 1, 2], [3, 2, 2, 2])


@pytest.mark.parametrize("sets", [[[], []], [[0, 1], [1]]])
def test_no_slots_and_no_members(sets, device, chunk):
    none = np.zeros(0, np.int64)
    assert counted(none, none, sets, device) == ([], [])
    if not sets[0]:
        assert counted(np.array([0]), np.array([1]), sets, device) == ([0], [0])


@pytest.mark.parametrize("closed", [False, True])
def test_sets_are_those_of_the_edges(closed, device, chunk):
    rng = np.random.default_rng(1)
    owner, neighbour = np.sort(rng.integers(0, 9, 60)), rng.integers(0, 9, 60)
    sets = [{u} if closed else set() for u in range(10)]
    for u, v in zip(owner.tolist(), neighbour.tolist(), strict=True):
        sets[u].add(v)
    common, union = overlaps(tensor(owner, device), tensor(neighbour, device), 10, closed=closed)
    pairs = list(zip(owner.tolist(), neighbour.tolist(), strict=True))
    assert common.tolist() == [len(sets[u] & sets[v]) for u, v in pairs]
    assert union.tolist() == [len(sets[u] | sets[v]) for u, v in pairs]


@pytest.mark.parametrize("values", [4, 1 << 26], ids=lambda size: f"{size} values at a time")
def test_min_hashes_are_those_of_the_definition(values, device, monkeypatch):
    from lsprune.kernels.gpu import neighbour_rows

    monkeypatch.setattr(neighbour_rows, "CHUNK_VALUES", values)
    rng = np.random.default_rng(2)
    owner, neighbour = np.sort(rng.integers(0, 8, 50)), rng.integers(0, 10, 50)
    table = rng.integers(0, 6, (10, 3))
    indptr, expected = np.searchsorted(owner, np.arange(11)), np.full((10, 3), EMPTY_SET_HASH)
    reference.min_rows(indptr, neighbour, table, 0, 10, expected)
    found = min_rows(*(tensor(array, device) for array in (owner, neighbour, table)))
    assert found.tolist() == expected.tolist()
    counts, equal = np.zeros(50, np.int64), tensor(np.zeros(50, np.int64), device)
    reference.count_equal(indptr, neighbour, expected, 0, 10, counts)
    count_equal(found, tensor(owner, device), tensor(neighbour, device), equal)
    assert equal.tolist() == counts.tolist() and len(set(counts.tolist())) > 2
