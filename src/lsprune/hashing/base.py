"""What a hash family is: attributes of edges in, one integer key per edge and step out; the smallest key wins.

To add a family: one file here with a frozen dataclass derived from `Family`, one line in `hashing/__init__.py`. The
contract tests, the command line and the docs read that registry.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from lsprune.attributes import Part, SparseRows
from lsprune.graph import Array, Owned
from lsprune.kernels import BLOCK_VALUES, ROWS, Runtime, check_row, not_finite
from lsprune.kernels.threads import spans
from lsprune.race import BITS, finish
from lsprune.scales import Scale

TABLE_ROWS = 1 << 14  # rows of a table made at a time
STEPS = 16  # functions computed at a time: one cache line of int32 keys
MANY_STEPS = 2 * STEPS  # beyond so many, attributes are made integers once and not again for every block of functions
SUM_COLUMNS = 1 << 10  # that the sums of edge attributes have at most, about
NOBODY = 2**31 - 1  # no int32 key may reach this
RACE_BITS = 18
RACE = 1 << RACE_BITS  # times in a race are logarithms to base 2 in units of this


@dataclass(frozen=True, eq=False)
class View:
    """All that a family may look at."""

    owned: Owned
    parts: Mapping[str, Part]  # empty for a family that needs no attributes
    scales: Mapping[str, Scale]
    calibrated: bool  # attributes are centred and scaled, or raw values
    seed: int
    total: int  # number of steps that the pruner may take in all: its k, where it has one
    needed: int  # number of steps that some owner takes
    functions: int  # number of functions whose keys will be asked for
    neighbours: int  # number of nodes on the neighbour side
    neighbour_base: Array  # [neighbours] first id of each one's graph, or empty for a single graph
    runtime: Runtime
    learned: Array | None = None  # what the family's `learn` gave
    race: bool = False  # keys are wanted that weights can be added to: logarithms of times in a race
    cache: dict[str, Any] = field(default_factory=dict)  # for what a family needs in every block of functions


@dataclass(frozen=True, eq=False)
class NodeKeys:
    """Keys that depend on the neighbour alone: `table[neighbour, z]` int32, 8 or 16 columns.

    The table may be overwritten when the keys of other functions are asked for.
    """

    table: Array


@dataclass(frozen=True, eq=False)
class EdgeKeys:
    """Keys of any kind: `of(lo, hi)` gives int64 `[slots of the owners lo..hi, steps]`."""

    of: Callable[[int, int], Array]


Keys = NodeKeys | EdgeKeys


@dataclass(frozen=True, kw_only=True)
class Family(ABC):
    """A locality-sensitive hash family; its fields are its options."""

    name: ClassVar[str]
    about: ClassVar[str]
    needs_attributes: ClassVar[bool] = True

    @property
    def learns(self) -> bool:
        """Whether `learn` must be called before `keys`."""
        return False

    @property
    def needs_k(self) -> bool:
        """Whether the keys depend on the number of functions, so that a share of edges cannot be asked for."""
        return False

    def doubling(self, view: View) -> int:
        """What to add to the keys of a view with `race` for half the weight; 0 where weights cannot be added."""
        return RACE if self.hashed else 0

    @property
    def hashed(self) -> bool:
        """Whether the keys are those of `uniform`: random numbers that belong to a code."""
        return False

    def lacks(self, parts: Collection[str]) -> str:
        """What this family needs and these parts do not give, and what to use without it; empty if nothing."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        """The name and the options as plain data; a family among them likewise."""
        options = {f.name: getattr(self, f.name) for f in fields(self)}
        plain = {name: value.to_dict() if isinstance(value, Family) else value for name, value in options.items()}
        return {"name": self.name, **plain}

    def learned_fault(self, learned: Array | None, dims: Mapping[str, int]) -> str:
        """What is wrong with an array that a file says was learned for parts of these widths; empty if nothing."""
        return "" if learned is None else f"hash {self.name} learns nothing"

    def learn(self, view: View) -> Array:
        """What the keys need to know of the training graphs: a small integer array."""
        raise NotImplementedError

    @abstractmethod
    def keys(self, view: View, first: int, count: int) -> Keys:
        """Keys of the functions first+1 .. first+count (count <= 16) for every edge."""


def uniform(view: View, draws: Array) -> Array:
    """Keys from uint64 draws: their top 30 bits, or with `race` the logarithm of the time -log U, 1 being RACE."""
    if not view.race:
        return (draws >> np.uint64(34)).astype(np.int32)  # below NOBODY
    times = finish(draws.ravel(), np.zeros(1, np.int64), view.runtime) >> (BITS - RACE_BITS)
    return times.astype(np.int32).reshape(draws.shape)


def project(view: View, part: Part, scale: Scale, weights: Array, *, width: int | None = None) -> Array:
    """<row, weights[z]> for every row of a part: `[R, width]`, int32 where that is exact, else int64."""
    small = scale.unit and part.rows.dim <= 1 << 17 and width is not None
    centre, kernel = np.array(scale.centre, np.int32), view.runtime.module.project
    if isinstance(part.rows, SparseRows):
        return _project_sparse(view, part.rows, scale, centre, weights)
    shape = (part.rows.count, width or weights.shape[0])
    out = _reused_table(view, shape) if small else view.runtime.zeros(shape, np.int64)
    role = next((role for role, known in view.parts.items() if known is part), None)
    if small and role is not None and view.functions > MANY_STEPS:
        q, project_quanta = quantised(view, role), view.runtime.module.project_quanta
        view.runtime.spread(part.rows.count, lambda lo, hi: project_quanta(q[lo:hi], weights, out[lo:hi]), ROWS)
        return out
    view.runtime.over_rows(
        part.rows, lambda block, lo, hi: kernel(block, scale.unit, scale.exponent, centre, weights, out[lo:hi])
    )
    return out


def _reused_table(view: View, shape: tuple[int, int]) -> Array:
    """An int32 table to fill, the same for every block of functions: fresh memory costs as much as the keys."""
    name = f"table {shape}"
    if name not in view.cache:
        view.cache[name] = view.runtime.zeros(shape, np.int32)
    table: Array = view.cache[name]
    return table


def quantised(view: View, role: str) -> Array:
    """The unit rows of a part as integers, `[R, d]` int8, made once: a quarter of what the attributes take."""
    name = f"quantised {role}"
    if name not in view.cache:
        part, scale = view.parts[role], view.scales[role]
        centre, kernel = np.array(scale.centre, np.int32), view.runtime.module.quanta
        q = view.runtime.zeros((part.rows.count, part.rows.dim), np.int8)
        view.runtime.over_rows(
            part.rows, lambda block, lo, hi: kernel(block, scale.unit, scale.exponent, centre, q[lo:hi])
        )
        view.cache[name] = q
    rows: Array = view.cache[name]
    return rows


def _project_sparse(view: View, rows: SparseRows, scale: Scale, centre: Array, weights: Array) -> Array:
    out, kernel = view.runtime.zeros((rows.count, weights.shape[0]), np.int64), view.runtime.module.project_sparse

    def one(lo: int, hi: int) -> None:
        parts = rows.compressed(lo, hi)
        check_row(rows, lo, kernel(*parts, scale.unit, scale.exponent, centre, weights, out[lo:hi]))

    view.runtime.spread(rows.count, one)
    return out


def project_block(view: View, block: Array, scale: Scale, weights: Array, out: Array) -> int:
    """The same for one block of rows; a row number that is not finite, or -1."""
    centre = np.array(scale.centre, np.int32)
    return int(view.runtime.module.project(block, scale.unit, scale.exponent, centre, weights, out))


def edge_rows(view: View, ids: Array, work: Callable[[Array], int]) -> None:
    """Call work(rows) on the attribute rows of some edges; raise for the row that it says is not finite."""
    part = view.parts["edge"]
    block = part.rows.take(part.rows_of(ids))
    if (bad := work(block)) >= 0:
        raise not_finite(part.rows.name, block[bad], int(ids[bad]))


def of_nodes(view: View, table: Array) -> Keys:
    """Keys from a table `[neighbours, count]` of any integer type: the fast kind where they fit int32."""
    if table.dtype == np.int32 and table.shape[1] in (8, 16):
        return NodeKeys(table)
    if table.size == 0 or (table.min() >= -(2**31) and table.max() < NOBODY):
        padded = view.runtime.zeros((table.shape[0], 8 if table.shape[1] <= 8 else 16), np.int32)
        padded[:, : table.shape[1]] = table
        return NodeKeys(padded)
    owned = view.owned
    return EdgeKeys(lambda lo, hi: table[owned.neighbour[owned.indptr[lo] : owned.indptr[hi]]].astype(np.int64))


def in_blocks(view: View, count: int, rows: Callable[[int, int], Array]) -> Array:
    """The table whose rows lo..hi are rows(lo, hi), made in blocks: what they take besides is never all in memory."""
    empty = rows(0, 0)
    out = view.runtime.zeros((count, *empty.shape[1:]), empty.dtype)

    def one(lo: int, hi: int) -> None:
        out[lo:hi] = rows(lo, hi)

    view.runtime.spread(count, one, TABLE_ROWS)
    return out


def of_sums(
    view: View, tables: Mapping[str, Array], edge: Callable[[Array], Array] | None, finish: Callable[[Array], Array]
) -> Keys:
    """Keys `finish(sum of the parts)`: node parts as tables of their rows, the edge part computed for some edges.

    With the neighbour part alone this is a table; otherwise keys are made for a block of owners at a time.
    """
    if edge is None and set(tables) == {"neighbour"}:
        part, sums = view.parts["neighbour"], tables["neighbour"]
        finished = in_blocks(view, sums.shape[0], lambda lo, hi: finish(sums[lo:hi]))
        if part.index is None:
            return of_nodes(view, finished)
        index = part.index
        return of_nodes(view, in_blocks(view, index.shape[0], lambda lo, hi: finished[index[lo:hi]]))
    owned = view.owned
    widest = max((table.shape[1] for table in tables.values()), default=SUM_COLUMNS)
    at_a_time = max(BLOCK_VALUES // widest, 1)

    def keys_of(start: int, stop: int, owners: Array) -> Array:
        total: Any = None if edge is None else edge(owned.edges(start, stop))
        for role, table in tables.items():
            items = owned.neighbour[start:stop] if role == "neighbour" else owners
            values = table[view.parts[role].rows_of(items)]
            total = values if total is None else total + values
        return np.ascontiguousarray(finish(total), dtype=np.int64)

    def of(lo: int, hi: int) -> Array:
        start, stop, owners = int(owned.indptr[lo]), int(owned.indptr[hi]), owned.owners(lo, hi)
        if stop - start <= at_a_time:
            return keys_of(start, stop, owners)
        return np.concatenate(  # a hub: sums may be many times wider than keys
            [keys_of(start + a, start + b, owners[a:b]) for a, b in spans(stop - start, at_a_time)]
        )

    return EdgeKeys(of)


def sums_of(view: View, weights: Mapping[str, Array], finish: Callable[[Array], Array]) -> Keys:
    """Keys `finish(<attributes, weights[z]>)`, over the parts that have weights `[count, dim]`."""
    tables = {}
    for role, weight in weights.items():
        if role != "edge":
            tables[role] = project(view, view.parts[role], view.scales[role], weight)
            tables[role] <<= view.scales[role].shift

    def edge(ids: Array) -> Array:
        scale, out = view.scales["edge"], np.zeros((ids.shape[0], weights["edge"].shape[0]), np.int64)
        edge_rows(view, ids, lambda block: project_block(view, block, scale, weights["edge"], out))
        return out << scale.shift

    return of_sums(view, tables, edge if "edge" in weights else None, finish)


def spread_of(view: View) -> int:
    """The standard deviation of a random projection of the rows, in the units of its sums.

    Spreads are in 1/32 quanta and weights in 1/32, so that the two cancel out.
    """
    energy = sum(sum(value * value for value in scale.spread) << (2 * scale.shift) for scale in view.scales.values())
    return max(math.isqrt(energy), 1)
