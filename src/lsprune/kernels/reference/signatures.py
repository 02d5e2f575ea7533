"""Binary signatures of quantised attribute rows (LSP-T): one bit for each entry above its threshold."""

from __future__ import annotations

from lsprune.graph import Array
from lsprune.kernels.reference.quantisation import bad_row, quanta_of, rows_of
from lsprune.kernels.reference.splitmix import MASK


def signature(
    x: Array, unit: bool, exponent: int, centre: Array, entry: Array, threshold: Array, code: Array, out: Array
) -> int:
    """Set out[row, z] to the sum mod 2^64 of the codes of the bits that are set in function z.

    Bit i is set if entry[z, i] of the quantised row exceeds threshold[z, i]. Return the first row that is not finite,
    or -1.
    """
    if (bad := bad_row(x)) < 0:
        for i, row in enumerate(rows_of(x)):
            q = quanta_of(row, unit, exponent, centre.tolist())
            for z in range(entry.shape[0]):
                bits = zip(entry[z].tolist(), threshold[z].tolist(), code[z].tolist(), strict=True)
                out[i, z] = sum(c for j, t, c in bits if q[j] > t) & MASK
    return bad
