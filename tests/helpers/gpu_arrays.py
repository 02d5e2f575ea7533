"""Arrays that GPU kernels must read as the definition does. A test that imports this is skipped without torch."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune.kernels import reference
from lsprune.numeric.quantisation import unit_centre
from lsprune.numeric.random_numbers import GOLDEN

torch = pytest.importorskip("torch")

# Where the sign of an int64, a carry, or a bit length goes wrong.
_EXTREME = [0, 1, 2, 3, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1]
WORDS = np.array([*_EXTREME, 2**64 - GOLDEN], np.uint64)  # splitmix64 of the last is 0


def tensor(array: np.ndarray, device) -> torch.Tensor:
    """The array on a device; uint64 as int64 with the same bits."""
    array = np.ascontiguousarray(array)
    return torch.from_numpy(array.view(np.int64) if array.dtype == np.uint64 else array).to(device)


def bits(values: torch.Tensor) -> np.ndarray:
    """A tensor of int64 as the uint64 with the same bits."""
    return values.cpu().numpy().view(np.uint64)


def words(seed: int, count: int) -> np.ndarray:
    """Extreme and random uint64."""
    return np.concatenate([WORDS, np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64)])


def rows_of_all_sizes(seed: int, count: int, columns: int) -> np.ndarray:
    """Rows of float32 from the smallest to the largest: zeros, subnormals, single entries, and mixed magnitudes."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.integers(-44, 38, (count, 1))
    x = np.clip(rng.standard_normal((count, columns)) * sizes, -3e38, 3e38).astype(np.float32)
    x[0] = 0
    x[1] = np.float32(1e-45) * rng.integers(0, 9, columns)  # subnormals
    x[2] = 3.4e38 * rng.choice([-1, 1], columns)
    x[3, 1:] = 0
    x[4] = 2.0**-96 * rng.choice([-1, 1], columns)  # the smallest that does not count as zero
    x[5] = np.nextafter(np.float32(2.0**-96), np.float32(0))
    x[6, ::2] = np.float32(1e-40)  # subnormals beside ordinary numbers
    return x


def projected(
    x: np.ndarray, unit: bool, exponent: int, centre: np.ndarray, weights: np.ndarray, width: int
) -> np.ndarray:
    """The projections of the definition, `[rows, width]`, of rows that are finite."""
    out = np.zeros((x.shape[0], width), np.int64)
    assert reference.project(x, unit, exponent, centre, weights, out) == -1
    return out


def random_projection(seed: int, columns: int, functions: int) -> tuple[np.ndarray, np.ndarray]:
    """A centre and weights as large as they get."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(-127, 128, (functions, columns)).astype(np.int16)
    return rng.integers(-5000, 5000, columns).astype(np.int32), weights


def log2_defined(values: np.ndarray) -> np.ndarray:
    """The logarithms of the definition."""
    out = np.empty(len(values), np.int64)
    reference.log2_fixed(values, 0, len(values), out)
    return out


def statistics_of_unit_rows(x: np.ndarray, sample: int) -> np.ndarray:
    """What `kernels.gpu.quantisation.unit_statistics` returns, by the definition, for rows that are finite."""
    rows, columns = x.shape
    sums, squares, counts = np.zeros(columns, np.int64), np.zeros(columns, np.int64), np.zeros(64, np.int64)
    reference.unit_sums(x, sums)
    some = x[np.arange(sample) * rows // sample]
    reference.unit_spread(some, unit_centre(sums, rows).astype(np.int32), counts, squares)
    return np.concatenate([sums, squares, counts, [0]])
