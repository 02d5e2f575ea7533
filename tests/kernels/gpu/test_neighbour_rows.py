from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import rows_of_all_sizes, tensor, torch

from lsprune.kernels import reference
from lsprune.kernels.gpu import neighbour_rows as kernels
from lsprune.kernels.gpu.neighbour_rows import dot_rows, slot_chunks, sum_rows, unit_rows


@pytest.fixture(params=[1, 40, 1 << 26], ids=lambda size: f"chunks of {size}")
def chunk(request, monkeypatch):
    monkeypatch.setattr(kernels, "CHUNK_VALUES", request.param)


def random_slots(nodes: int, slots: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(indptr, owner, neighbour), with parallel edges and nodes that own none."""
    rng = np.random.default_rng(slots)
    owner, neighbour = np.sort(rng.integers(0, nodes, slots)), rng.integers(0, nodes, slots)
    return np.searchsorted(owner, np.arange(nodes + 1)), owner, neighbour


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
@pytest.mark.parametrize("slots", [0, 90])
def test_rows_of_neighbours_are_added_up(dtype, slots, device, chunk):
    indptr, owner, neighbour = random_slots(30, slots)
    rows = np.random.default_rng(0).integers(-127, 128, (30, 6)).astype(dtype)
    expected, given = np.zeros((30, 6), np.int64), tensor(rows.copy(), device)
    reference.sum_rows(indptr, neighbour, rows, 0, 30, expected)
    found = sum_rows(tensor(owner, device), tensor(neighbour, device), given)
    assert found.tolist() == expected.tolist()
    assert given.tolist() == rows.tolist()  # the rows that were given are left as they are


def test_many_neighbours_do_not_overflow(device):
    owner, rows = np.zeros(3000, np.int64), np.full((1, 2), 127, np.int8)
    assert sum_rows(tensor(owner, device), tensor(owner, device), tensor(rows, device)).tolist() == [[127 * 3001] * 2]


def test_rows_are_normalised_as_the_definition_does(device):
    x = np.trunc(rows_of_all_sizes(0, 30, 7).clip(-(2.0**62), 2.0**62)).astype(np.int64)
    x[7:20] = np.random.default_rng(0).integers(-3000, 3000, (13, 7))
    expected, indptr = np.zeros(x.size, np.int64), np.arange(0, x.size + 1, 7)
    assert reference.unit_values(indptr, x.astype(np.float32).ravel(), expected) == -1
    found = unit_rows(tensor(x, device))
    assert found.dtype == torch.int32 and found.flatten().tolist() == expected.tolist()


@pytest.mark.parametrize("slots", [0, 90])
def test_products_are_those_of_the_definition(slots, device, chunk):
    _, owner, neighbour = random_slots(30, slots)
    units, expected = np.random.default_rng(0).integers(-(2**14), 2**14 + 1, (30, 40)).astype(np.int32), np.zeros(slots)
    units[:2] = 2**30  # beyond int32 in a single product
    reference.dot_dense(units, units, owner, neighbour, expected)
    found = dot_rows(tensor(units, device), tensor(owner, device), tensor(neighbour, device))
    assert found.tolist() == expected.tolist()


def test_chunks_cover_all_slots_once(chunk):
    for slots, columns in ((0, 3), (1, 1000), (7, 20), (7, 0)):
        ranges = slot_chunks(slots, columns)
        assert [slot for lo, hi in ranges for slot in range(lo, hi)] == list(range(slots))
        assert all((hi - lo) * columns <= kernels.CHUNK_VALUES or hi - lo == 1 for lo, hi in ranges)


def test_neighbours_may_have_rows_of_their_own(device, chunk):
    rng = np.random.default_rng(0)
    own, other = rng.integers(-9, 10, (5, 4)), rng.integers(-9, 10, (7, 4))
    owner, neighbour = rng.integers(0, 5, 20), rng.integers(0, 7, 20)
    found = dot_rows(*(tensor(array, device) for array in (own, owner, neighbour, other)))
    assert found.tolist() == (own[owner] * other[neighbour]).sum(1).tolist()
