"""What `hashing.quantised_rows` computes, for attributes that are tensors on a device: the same rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lsprune.attributes import PARTS, CategoryRows
from lsprune.hashing.base import View
from lsprune.hashing.device_keys import values_of
from lsprune.hashing.keys import spread_of
from lsprune.hashing.quantised_rows import PROJECTED_COLUMNS, dropped_bits, width
from lsprune.kernels.gpu.projections import project
from lsprune.kernels.gpu.quantisation import bad_rows, first_bad_row, quanta, row_chunks
from lsprune.kernels.threads import spans
from lsprune.numeric.normal_table import normal
from lsprune.numeric.random_numbers import PROJECT, draw

BLOCK_BYTES = 1 << 30  # memory for the rows of a block, about
_SLOT_BYTES = 1 << 6  # of the ids of a slot and its ends
CHECKED_SLOTS = 1 << 24  # slots whose rows are checked at a time
_ROW_BITS = 31  # of a number that holds a slot and a row
_NO_FAULT = 2**63 - 1


def part_rows(view: View) -> dict[str, Tensor]:
    """Return for each part what a row of it adds to the quantised rows; note the first row that is not finite."""
    for part in view.parts.values():
        view.runtime.faults.append((part.rows, first_bad_row(values_of(view, part))))
    return _tables(view)


def row_blocks(view: View) -> tuple[list[tuple[int, int]], Callable[[int, int], Tensor]]:
    """Return ranges of rows, and a function that reads a range, int8; see `hashing.quantised_rows.row_blocks`."""
    tables = _tables(view)
    size = BLOCK_BYTES // (_SLOT_BYTES + (2 * width(view) if _side_by_side(view) else 24 * PROJECTED_COLUMNS))
    if list(view.parts) == ["neighbour"]:
        total = view.parts["neighbour"].rows.count
        return spans(total, size), lambda lo, hi: joined(view, tables, {"neighbour": slice(lo, hi)})
    total = int(view.owned.neighbour.shape[0])
    return spans(total, size), lambda lo, hi: joined(view, tables, {role: _ids(view, role, lo, hi) for role in tables})


def joined(view: View, rows: dict[str, Tensor], ids: dict[str, Any]) -> Tensor:
    """Return the quantised rows with these ids, all parts together, `[n, width]` int8 in [-127, 127]."""
    if _side_by_side(view):
        return torch.cat([rows[role][ids[role]] for role in view.parts], 1)
    total = sum(rows[role][ids[role]] for role in view.parts)
    assert isinstance(total, Tensor)
    return (total * 32 // spread_of(view)).clamp(-127, 127).to(torch.int8)


def note_bad_rows(view: View) -> None:
    """Note for each part the row that is not finite, if there is one, and that the rows of a view need first."""
    for role, part in view.parts.items():
        if not isinstance(part.rows, CategoryRows):
            x = values_of(view, part)
            bad = first_bad_row(x) if list(view.parts) == ["neighbour"] else _first_used(view, role, bad_rows(x))
            view.runtime.faults.append((part.rows, bad))


def _first_used(view: View, role: str, bad: Tensor) -> Tensor:
    """Return the bad row of the first slot that has one, or the number of rows; on the device."""
    first = torch.tensor(_NO_FAULT, device=bad.device)
    for lo, hi in spans(int(view.owned.neighbour.shape[0]), CHECKED_SLOTS):
        ids, slots = _ids(view, role, lo, hi), torch.arange(lo, hi, device=bad.device)
        wrong = bad[ids] & _counts(view, lo, hi)
        first = torch.minimum(first, torch.where(wrong, (slots << _ROW_BITS) | ids, _NO_FAULT).min())
    return torch.where(first == _NO_FAULT, bad.shape[0], first & ((1 << _ROW_BITS) - 1))


def _counts(view: View, lo: int, hi: int) -> Tensor | bool:
    """Return which of the slots lo..hi count: self-loops may be among them that do not."""
    owned: Any = view.owned
    return True if owned.loops is None else _owners(view, lo, hi) != owned.neighbour[lo:hi]


def _ids(view: View, role: str, lo: int, hi: int) -> Tensor:
    """Return the rows of a part that describe the slots lo..hi, int64."""
    owned: Any = view.owned
    items = _owners(view, lo, hi) if role == "owner" else owned.neighbour[lo:hi]
    items = owned.edges(lo, hi) if role == "edge" else items
    rows: Any = view.parts[role].rows_of(items.long())
    ids: Tensor = rows.long()
    return ids


def _owners(view: View, lo: int, hi: int) -> Any:
    """Return the owners of the slots lo..hi; those of all slots are made once."""
    if "owners" not in view.cache:
        owners: Any = view.owned.owners(0, view.owned.indptr.shape[0] - 1)
        view.cache["owners"] = owners.int()
    return view.cache["owners"][lo:hi]


def _side_by_side(view: View) -> bool:
    """Return whether the parts stand side by side; else they are projected and added up."""
    return width(view) == sum(view.scales[role].dim for role in view.parts)


def _tables(view: View) -> dict[str, Tensor]:
    """Return for each part what a row of it adds to the quantised rows: its columns, or its projection."""
    return {role: (_quantised if _side_by_side(view) else _projected)(view, role) for role in view.parts}


def _projected(view: View, role: str) -> Tensor:
    """Return a random projection of all rows of a part, int64; see `hashing.quantised_rows`."""
    scale, x = view.scales[role], values_of(view, view.parts[role])
    steps, columns = np.arange(PROJECTED_COLUMNS)[:, None], np.arange(scale.dim)[None, :]
    weights = normal(draw(view.seed, PROJECT, PARTS.index(role), steps, columns))
    centre = np.array(scale.centre, np.int32)
    return project(x, scale.unit, scale.exponent, centre, weights, PROJECTED_COLUMNS)[0].long() << scale.shift


def _quantised(view: View, role: str) -> Tensor:
    """Return all rows of a part as integers in [-127, 127], int8."""
    scale, x = view.scales[role], values_of(view, view.parts[role])
    centre: Any = view.constant(np.array(scale.centre, np.int32))
    dropped = dropped_bits(view, role)
    out = torch.empty((x.shape[0], scale.dim), dtype=torch.int8, device=x.device)
    for lo, hi in row_chunks(x.shape[0], max(x.shape[1], 1)):
        rows = quanta(x[lo:hi].float(), scale.unit, scale.exponent, centre).long()
        rounded = rows if dropped == 0 else (rows + (1 << (dropped - 1))) >> dropped
        out[lo:hi] = rounded.clamp(max=127)
    return out
