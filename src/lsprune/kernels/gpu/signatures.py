"""Binary signatures of quantised attribute rows (LSP-T)."""

from __future__ import annotations

import torch
from torch import Tensor


def signatures(rows: Tensor, entry: Tensor, threshold: Tensor, code: Tensor) -> Tensor:
    """Return the sum mod 2^64 of the codes of the bits that are set, `[rows, functions]` int64.

    Bit i of function z is set if entry[z, i] of the row exceeds threshold[z, i].
    """
    functions = entry.shape[0]
    if entry.shape[1] == 0:
        return torch.zeros((rows.shape[0], functions), dtype=torch.int64, device=rows.device)
    out = [torch.where(rows[:, entry[z]].long() > threshold[z], code[z], 0).sum(1) for z in range(functions)]
    return torch.stack(out, 1)
