from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import bits, rows_of_all_sizes, tensor, torch

from lsprune.kernels import reference
from lsprune.kernels.gpu.quantisation import quanta
from lsprune.kernels.gpu.signatures import signatures


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("used", [1, 4, 25])
def test_signatures_are_those_of_the_definition(unit, used, device):
    rng = np.random.default_rng(used)
    x, centre = rows_of_all_sizes(0, 30, 12), rng.integers(-300, 300, 12).astype(np.int32)
    entry, threshold = rng.integers(0, 12, (5, used)), rng.integers(-50, 50, (5, used))
    code = rng.integers(2**63, 2**64, (5, used), dtype=np.uint64)  # sums wrap around
    expected = np.zeros((30, 5), np.uint64)
    assert reference.signature(x, unit, 4, centre, entry, threshold, code, expected) == -1
    rows = quanta(tensor(x, device), unit, 4, tensor(centre, device))
    found = signatures(rows, *(tensor(array, device) for array in (entry, threshold, code)))
    np.testing.assert_array_equal(bits(found), expected)
    assert used < 2 or len(np.unique(expected)) > 5


def test_a_bit_is_set_above_its_threshold_and_not_at_it(device):
    rows = torch.tensor([[-127], [4], [5], [127]], dtype=torch.int32, device=device)
    one = [tensor(np.array([[value]]), device) for value in (0, 4, 9)]
    assert signatures(rows, *one).tolist() == [[0], [0], [9], [9]]


@pytest.mark.parametrize("shape", [(0, 3), (4, 0)])
def test_no_rows_and_no_bits(shape, device):
    rows, none = torch.zeros((shape[0], 3), dtype=torch.int32, device=device), torch.zeros((2, shape[1]), device=device)
    found = signatures(rows, none.long(), none.long(), none.long())
    assert found.dtype == torch.int64 and found.tolist() == [[0, 0]] * shape[0]
