"""Binary signatures of quantised attribute rows (LSP-T): one bit for each entry above its threshold."""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.jit import kernel
from lsprune.kernels.cpu.quantisation import row_quanta


@kernel
def signature(x, unit, exponent, centre, entry, threshold, code, out):
    """Set out[row, z] to the sum mod 2^64 of the codes of the bits that are set in function z.

    Bit i is set if entry[z, i] of the quantised row exceeds threshold[z, i]. Return the first row that is not finite,
    or -1.
    """
    bits, dim = x.view(np.int32), x.shape[1]
    q = np.empty(dim, np.int16)
    for row in range(x.shape[0]):
        if not row_quanta(x, bits, row, unit, exponent, centre, q):
            return row
        for z in range(entry.shape[0]):
            total = np.uint64(0)
            for i in range(entry.shape[1]):
                if q[entry[z, i]] > threshold[z, i]:
                    total += code[z, i]
            out[row, z] = total
    return -1
