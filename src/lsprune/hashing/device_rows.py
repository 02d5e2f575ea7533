"""What `hashing.quantised_rows` computes, for attributes that are tensors on a device: the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from lsprune.attributes import PARTS
from lsprune.hashing.base import View
from lsprune.hashing.device_keys import project, values_of
from lsprune.hashing.keys import spread_of
from lsprune.hashing.quantised_rows import PROJECTED_COLUMNS, dropped_bits, width
from lsprune.kernels.gpu.quantisation import first_bad_row, quanta, row_chunks
from lsprune.numeric.normal_table import normal
from lsprune.numeric.random_numbers import PROJECT, draw


def part_rows(view: View) -> dict[str, Tensor]:
    """Return for each part what a row of it adds to the quantised rows: its columns, or its projection."""
    if width(view) == sum(view.scales[role].dim for role in view.parts):
        return {role: _quantised(view, role) for role in view.parts}
    return {role: _projected(view, role) for role in view.parts}


def joined(view: View, rows: dict[str, Tensor], ids: dict[str, Tensor]) -> Tensor:
    """Return the quantised rows with these ids, all parts together, `[n, width]` int8 in [-127, 127]."""
    if width(view) == sum(view.scales[role].dim for role in view.parts):
        return torch.cat([rows[role][ids[role]] for role in view.parts], 1)
    total = sum(rows[role][ids[role]] for role in view.parts)
    assert isinstance(total, Tensor)
    return (total * 32 // spread_of(view)).clamp(-127, 127).to(torch.int8)


def _projected(view: View, role: str) -> Tensor:
    """Return a random projection of all rows of a part, int64; see `hashing.quantised_rows`."""
    scale = view.scales[role]
    steps, columns = np.arange(PROJECTED_COLUMNS)[:, None], np.arange(scale.dim)[None, :]
    weights = normal(draw(view.seed, PROJECT, PARTS.index(role), steps, columns))
    return project(view, view.parts[role], scale, weights, None) << scale.shift


def _quantised(view: View, role: str) -> Tensor:
    """Return all rows of a part as integers in [-127, 127], int8."""
    part, scale, x = view.parts[role], view.scales[role], values_of(view, view.parts[role])
    view.runtime.faults.append((part.rows, first_bad_row(x)))
    centre: Any = view.constant(np.array(scale.centre, np.int32))
    dropped = dropped_bits(view, role)
    out = torch.empty((x.shape[0], scale.dim), dtype=torch.int8, device=x.device)
    for lo, hi in row_chunks(x.shape[0], max(x.shape[1], 1)):
        rows = quanta(x[lo:hi].float(), scale.unit, scale.exponent, centre).long()
        rounded = rows if dropped == 0 else (rows + (1 << (dropped - 1))) >> dropped
        out[lo:hi] = rounded.clamp(max=127)
    return out
