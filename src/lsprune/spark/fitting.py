"""`fit` on tables: the same scales as in memory, from sums that add up over partitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lsprune.attributes import CategoryRows, DenseRows, Part, category_rows
from lsprune.errors import OptionError
from lsprune.graph import Array, Graph, oriented
from lsprune.kernels import Runtime
from lsprune.numeric.quantisation import (
    Sample,
    Scale,
    column_coarser,
    column_fine,
    column_finest,
    column_scale,
    distances,
    fit_scales,
    power_of,
    raw_scale,
    unit_centre,
    unit_scale,
)
from lsprune.pruners import PerOwner
from lsprune.spark.folds import Attributes, top
from lsprune.spark.frames import Facts, Values, column, numbers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, eq=False)
class Items:
    """A table of nodes or edges."""

    frame: DataFrame
    facts: Facts
    ids: tuple[str, ...]  # one column of ids of nodes, two of edges

    def empty(self) -> Array | None:
        """No attribute rows, of the right shape."""
        return None if self.facts.values is None else self.facts.values.empty(self.frame)


Ends = tuple[Items | None, Items | None]  # tables of sources and of targets; one object twice where they are one kind


def fitted(pruner: PerOwner, nodes: Ends, edges: Items) -> PerOwner:
    """Fit the pruner on these tables; the result is equal to the one fitted in memory."""
    done, tables = dict[int, Scale](), _by_role(pruner, nodes, edges)

    def scale_of(role: str, part: Part, normalised: bool) -> Scale:
        items = tables[role]
        assert items is not None
        if id(items) not in done:
            done[id(items)] = _scale(part, items, normalised, pruner.rules.seed)
        return done[id(items)]

    return pruner.fit_scales(_template(nodes, edges), scale_of, edges.facts.count)


def _by_role(pruner: PerOwner, nodes: Ends, edges: Items) -> dict[str, Items | None]:
    """Return the table with the attributes of each part."""
    own, other = oriented(pruner.side, *nodes)
    return {"owner": own, "edge": edges, "neighbour": other}


def check_attributes(pruner: PerOwner, nodes: Ends, edges: Items) -> None:
    """Raise GraphError unless the tables have the kind of attributes that the pruner was fitted on."""
    for role, part in pruner.fitted_parts(_template(nodes, edges)).items():
        items = _by_role(pruner, nodes, edges)[role]
        if isinstance(part.rows, CategoryRows) and items is not None and items.facts.range is not None:
            rows = part.rows
            category_rows(rows.name, rows.kind, pruner.rules.seed, *items.facts.range, 0, part.categories)


_NONE = np.empty(0, np.int64)


def _template(nodes: Ends, edges: Items) -> Graph:
    """A graph without nodes and edges, whose attributes are of the types and shapes in the tables."""
    x = [None if items is None else items.empty() for items in nodes]
    same = nodes[0] is nodes[1]
    return Graph(
        source=_NONE, target=_NONE, num_sources=0, num_targets=0, x_source=x[0], x_target=x[0] if same else x[1],
        edge_attr=edges.empty(),
    )  # fmt: skip


def _scale(part: Part, items: Items, unit: bool, seed: int) -> Scale:
    """The scale of one part by itself."""
    values, facts = items.facts.values, items.facts
    assert values is not None
    if isinstance(part.rows, CategoryRows):
        assert facts.range is not None
        rows = category_rows(part.rows.name, part.rows.kind, seed, *facts.range, facts.count)
        return fit_scales({"part": Part(rows, _NONE)}, unit=unit, runtime=Runtime())["part"]
    if not unit:
        return raw_scale(power_of(top(values, items.ids, items.frame)), part.rows.dim)
    return _column_scale(values, items) if part.rows.dim == 1 else _unit_scale(values, items, part.rows.dim)


def _unit_scale(values: Values, items: Items, dim: int) -> Scale:
    sums = Attributes(values, items.ids, dim, _unit_sums).of(items.frame)
    centre = unit_centre(sums, items.facts.count)
    spread = partial(_unit_spread, centre.astype(np.int32))
    if values.name == "edge_attr":
        both, size = Attributes(values, items.ids, 64 + dim, spread).of(items.frame), items.facts.count
    else:
        rows, both = _sampled(values, items, dim), np.zeros(64 + dim, np.int64)
        size = rows.shape[0]
        spread(rows, both)
    return unit_scale(centre, both[:64], both[64:], size)


def _unit_sums(block: Array, totals: Array) -> int:
    return int(Runtime().module.unit_sums(block, totals))


def _unit_spread(middle: Array, block: Array, totals: Array) -> int:
    Runtime().module.unit_spread(block, middle, totals[:64], totals[64:])
    return -1


def _sampled(values: Values, items: Items, dim: int) -> Array:
    """The attributes of nodes that are evenly spaced by id, float32 `[sample, d]`, in any order."""
    sample = Sample.of(values.name, items.facts.count, dim)
    if sample.size < sample.count and items.facts.most != items.facts.count - 1:
        raise OptionError(
            f"the pruner must be fitted before it comes to Spark, or nodes be numbered from 0 to "
            f"{items.facts.count - 1} without gaps: fit looks at nodes that are evenly spaced"
        )
    names = dict.fromkeys((*items.ids, *values.columns))
    frame = items.frame.select(*map(column, names))
    if sample.size < sample.count:
        pick = _Pick(items.ids[0], sample.rows(0, sample.size))
        frame = frame.mapInArrow(pick.run, frame.schema)
    read = values.read(frame.toArrow())
    return DenseRows(values.name, read.reshape(read.shape[0], -1)).block(0, read.shape[0])


@dataclass(frozen=True, eq=False)
class _Pick:
    """The rows with some ids."""

    name: str
    ids: Array  # ascending

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            ids = numbers(batch.column(self.name))
            at = np.searchsorted(self.ids, ids).clip(0, self.ids.shape[0] - 1)
            yield batch.filter(pc.equal(pa.array(self.ids[at]), pa.array(ids, pa.int64())))


def _column_scale(values: Values, items: Items) -> Scale:
    """As `scales` does it for one column; of edges the median comes from two histograms of 16 bits each."""
    finest = column_finest(power_of(top(values, items.ids, items.frame)))
    if not items.facts.count:
        return Scale(finest, unit=False, centre=(0,), spread=(0,))
    if values.name != "edge_attr":
        fine = column_fine(_sampled(values, items, 1), finest)
        centre, size = int(np.partition(fine, fine.size // 2)[fine.size // 2]), fine.size
        less = column_coarser(distances(fine, centre, 0)[0], size)
        return column_scale(finest, less, centre, distances(fine, centre, less)[1], size)
    size, centre = items.facts.count, _median(values, items, finest)
    bits = Attributes(values, items.ids, 64, partial(_bits, finest, centre)).of(items.frame)
    less = column_coarser(bits, size)
    squares = Attributes(values, items.ids, 1, partial(_squares, finest, centre, less)).of(items.frame)
    return column_scale(finest, less, centre, int(squares[0]), size)


def _median(values: Values, items: Items, finest: int) -> int:
    """The entry of rank count // 2."""
    rank = items.facts.count // 2
    upper = Attributes(values, items.ids, 1 << 16, partial(_upper_bits, finest)).of(items.frame)
    high = int(np.searchsorted(np.cumsum(upper), rank, side="right"))
    rank -= int(upper[:high].sum())
    lower = Attributes(values, items.ids, 1 << 16, partial(_lower_bits, finest, high)).of(items.frame)
    low = int(np.searchsorted(np.cumsum(lower), rank, side="right"))
    return ((high - (1 << 15)) << 16) + low


def _upper_bits(finest: int, block: Array, totals: Array) -> int:
    totals += np.bincount((column_fine(block, finest) >> 16) + (1 << 15), minlength=1 << 16)
    return -1


def _lower_bits(finest: int, high: int, block: Array, totals: Array) -> int:
    fine = column_fine(block, finest)
    totals += np.bincount(fine[(fine >> 16) + (1 << 15) == high] & 0xFFFF, minlength=1 << 16)
    return -1


def _bits(finest: int, centre: int, block: Array, totals: Array) -> int:
    totals += distances(column_fine(block, finest), centre, 0)[0]
    return -1


def _squares(finest: int, centre: int, less: int, block: Array, totals: Array) -> int:
    totals[0] += distances(column_fine(block, finest), centre, less)[1]
    return -1
