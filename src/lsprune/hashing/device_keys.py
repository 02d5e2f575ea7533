"""What `hashing.keys` computes, for a graph whose arrays are tensors on a device: the same keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from lsprune.attributes import CategoryRows, Part, SparseRows
from lsprune.errors import NoGpuPath
from lsprune.graph import Array
from lsprune.hashing.base import EdgeKeys, Keys, NodeKeys, View
from lsprune.kernels.gpu import projections
from lsprune.kernels.gpu.logarithms import log2_fixed
from lsprune.kernels.gpu.quantisation import first_bad_row, quanta, row_chunks
from lsprune.kernels.gpu.signatures import signatures
from lsprune.kernels.gpu.splitmix import shift_right
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.weighted_sampling import FRACTION_BITS, LOG_KEY_BITS

CHUNK_ROWS = 1 << 20  # rows of a table computed at a time
CHUNK_SUMS = 1 << 26  # sums held at a time


def arange(view: View, lo: int, hi: int) -> Tensor:
    """Return the integers lo..hi on the device."""
    return torch.arange(lo, hi, device=view.device)


def zeros(view: View, width: int) -> Tensor:
    """Return a table of int32 zeros for all neighbours."""
    return torch.zeros((view.neighbours, width), dtype=torch.int32, device=view.device)


def uniform(view: View, draws: Tensor) -> Tensor:
    """Return keys from draws; see `hashing.keys.uniform`."""
    if not view.log_keys:
        return shift_right(draws, 34).int()
    minus_log = (64 << FRACTION_BITS) - log2_fixed(draws | 1)
    return (log2_fixed(minus_log) >> (FRACTION_BITS - LOG_KEY_BITS)).int()


def values_of(view: View, part: Part) -> Tensor:
    """Return the rows of a part as a matrix on the device; those of a category are made on the host, once."""
    rows = part.rows
    if isinstance(rows, SparseRows):
        raise NoGpuPath("sparse attributes have no GPU path")
    if not isinstance(rows, CategoryRows):
        values: Any = rows.values
        return values if isinstance(values, Tensor) else torch.from_numpy(np.asarray(values)).to(view.device)
    name = f"rows {id(rows)}"
    if name not in view.cache:
        view.cache[name] = torch.from_numpy(rows.block(0, rows.count)).to(view.device)
    table: Tensor = view.cache[name]
    return table


def project(view: View, part: Part, scale: Scale, weights: Array, width: int | None) -> Tensor:
    """Return <row, weights[z]> for every row of a part; see `hashing.keys.project`."""
    x = values_of(view, part)
    table, bad = projections.project(x, scale.unit, scale.exponent, scale.centres, weights, width or weights.shape[0])
    view.runtime.faults.append((part.rows, bad))
    return table if width is not None and scale.unit else table.long()


def padded(table: Tensor) -> Tensor:
    """Return a table with 8 or 16 columns of int32 or int64."""
    width = 8 if table.shape[1] <= 8 else 16
    table = table if table.dtype == torch.int32 else table.long()
    if table.shape[1] == width:
        return table.contiguous()
    return torch.nn.functional.pad(table, (0, width - table.shape[1]))


def of_codes(view: View, codes: Tensor, table: Callable[[Tensor], Tensor], kinds: int, count: int) -> Keys:
    """Return keys by code; see `hashing.keys.of_codes`."""
    by_code = padded(table(arange(view, 0, kinds)[:, None]))
    if list(view.parts) == ["neighbour"]:
        return NodeKeys(cast(Any, in_blocks(codes.shape[0], lambda lo, hi: by_code[codes[lo:hi].long()])))

    def keys_of_owners(lo: int, hi: int) -> Any:
        start, stop = view.owned.bounds(lo, hi)
        return by_code[codes[start:stop].long(), :count].long()

    return EdgeKeys(keys_of_owners)


def in_blocks(count: int, rows: Callable[[int, int], Tensor]) -> Tensor:
    """Return the table whose rows lo..hi are rows(lo, hi)."""
    if count <= CHUNK_ROWS:
        return rows(0, count)
    return torch.cat([rows(lo, min(lo + CHUNK_ROWS, count)) for lo in range(0, count, CHUNK_ROWS)])


def of_sums(view: View, tables: Mapping[str, Tensor], edge: Tensor | None, finish: Callable[[Tensor], Tensor]) -> Keys:
    """Return keys `finish(sum of the parts)`; `edge` has the values of all edges, `[E, count]`."""
    if edge is None and set(tables) == {"neighbour"}:
        sums, index = tables["neighbour"], view.parts["neighbour"].index
        size = max(CHUNK_SUMS // max(sums.shape[1], 1), 1)
        finished = torch.cat([finish(sums[lo : lo + size]) for lo in range(0, max(sums.shape[0], 1), size)])
        return NodeKeys(cast(Any, padded(finished if index is None else finished[torch.as_tensor(index).long()])))

    def keys_of_owners(lo: int, hi: int) -> Array:
        start, stop = view.owned.bounds(lo, hi)
        total: Any = 0 if edge is None else edge[view.owned.edges(start, stop)]
        for role, table in tables.items():
            items = view.owned.neighbour[start:stop] if role == "neighbour" else view.owned.owners(lo, hi)
            total = total + table[torch.as_tensor(view.parts[role].rows_of(items)).long()]
        keys: Any = finish(total).long()
        return keys  # type: ignore[no-any-return]

    return EdgeKeys(keys_of_owners)


def sums_of(view: View, weights: Mapping[str, Array], finish: Callable[[Tensor], Tensor]) -> Keys:
    """Return keys `finish(<attributes, weights[z]>)`; see `hashing.keys.sums_of`."""
    tables = {
        role: project(view, view.parts[role], view.scales[role], weight, None) << view.scales[role].shift
        for role, weight in weights.items()
    }
    return of_sums(view, tables, _of_edges(view, tables), finish)


def _of_edges(view: View, tables: dict[str, Tensor]) -> Tensor | None:
    """Take the values of the edge part out of the tables, one row for each edge."""
    table = tables.pop("edge", None)
    if table is None:
        return None
    index = view.parts["edge"].index
    return table if index is None else table[torch.as_tensor(index).long()]


def of_signatures(
    view: View, bits: Mapping[str, tuple[Array, Array, Array]], digest: Callable[[Tensor], Tensor]
) -> Keys:
    """Return keys `digest(signature)`; see `hashing.threshold.keys_of_bits`."""
    tables = {role: _signatures(view, role, *part) for role, part in bits.items()}
    return of_sums(view, tables, _of_edges(view, tables), digest)


def _signatures(view: View, role: str, entry: Array, threshold: Array, code: Array) -> Tensor:
    part, scale = view.parts[role], view.scales[role]
    x = values_of(view, part)
    view.runtime.faults.append((part.rows, first_bad_row(x)))
    centre: Any = view.constant(scale.centres)
    arrays: list[Any] = [view.constant(array) for array in (entry, threshold, code)]
    chunks = [
        signatures(quanta(x[lo:hi].float(), scale.unit, scale.exponent, centre), *arrays)
        for lo, hi in row_chunks(x.shape[0], max(x.shape[1], entry.size))
    ]
    return torch.cat(chunks) if chunks else torch.zeros((0, entry.shape[0]), dtype=torch.int64, device=x.device)
