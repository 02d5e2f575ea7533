"""Fit a pruner on tables: the scales that `fit` finds in memory, from totals that are added up over partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

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
from lsprune.spark.checked_table import CheckedTable, NodeTables
from lsprune.spark.columns import AttributeColumns, column, to_numpy
from lsprune.spark.totals import AttributeTotals, largest_bits

_NO_IDS = np.empty(0, np.int64)
_HISTOGRAM_BINS = 64  # of distances from the centre, by their number of bits
_HALF_BITS = 16  # a median of 32 bits is found in two histograms of 16 bits each


def fit(pruner: PerOwner, nodes: NodeTables, edges: CheckedTable) -> PerOwner:
    """Fit the pruner on these tables; the result is equal to the one fitted in memory."""
    tables = _by_role(pruner, nodes, edges)
    scales: dict[tuple[int, bool], Scale] = {}  # a table that has two roles is read once

    def scale_of(role: str, part: Part, normalised: bool) -> Scale:
        table = tables[role]
        assert table is not None
        if (id(table), normalised) not in scales:
            scales[id(table), normalised] = _scale(part, table, normalised, pruner.rules.seed)
        return scales[id(table), normalised]

    return pruner.fit_scales(_template(nodes, edges), scale_of, edges.facts.count)


def check_fitted(pruner: PerOwner, nodes: NodeTables, edges: CheckedTable) -> None:
    """Raise GraphError unless the tables have the kind of attributes that the pruner was fitted on."""
    tables = _by_role(pruner, nodes, edges)
    for role, part in pruner.fitted_parts(_template(nodes, edges)).items():
        table = tables[role]
        if isinstance(part.rows, CategoryRows) and table is not None and table.facts.integer_range is not None:
            rows = part.rows
            category_rows(rows.name, rows.kind, pruner.rules.seed, *table.facts.integer_range, 0, part.categories)


def _by_role(pruner: PerOwner, nodes: NodeTables, edges: CheckedTable) -> dict[str, CheckedTable | None]:
    """Return the table with the attributes of each part."""
    owner, neighbour = oriented(pruner.side, *nodes)
    return {"owner": owner, "edge": edges, "neighbour": neighbour}


def _template(nodes: NodeTables, edges: CheckedTable) -> Graph:
    """Return a graph without nodes and edges, whose attributes have the types and shapes of the tables."""
    x_source, x_target = (None if table is None else table.empty() for table in nodes)
    return Graph(
        source=_NO_IDS, target=_NO_IDS, num_sources=0, num_targets=0, x_source=x_source,
        x_target=x_source if nodes[0] is nodes[1] else x_target, edge_attr=edges.empty(),
    )  # fmt: skip


def sample_graph(nodes: NodeTables, two_kinds: bool) -> Graph:
    """Return a graph without edges; of a category it has the smallest and the largest value, else no nodes."""

    def values(table: CheckedTable | None) -> Array | None:
        if table is None or table.facts.integer_range is None or table.width != 1:
            return None if table is None else table.empty()
        return np.array(table.facts.integer_range, np.int64)

    x_source, x_target = values(nodes[0]), values(nodes[1])
    sizes = (0 if x is None else x.shape[0] for x in (x_source, x_target))
    return Graph(
        source=_NO_IDS, target=_NO_IDS, num_sources=next(sizes), num_targets=next(sizes), x_source=x_source,
        x_target=x_source if nodes[0] is nodes[1] else x_target, bipartite=two_kinds,
    )  # fmt: skip


def _scale(part: Part, table: CheckedTable, unit: bool, seed: int) -> Scale:
    """Return the scale of one part by itself; `unit`: its rows are normalised."""
    attributes, facts = table.facts.attributes, table.facts
    assert attributes is not None
    if isinstance(part.rows, CategoryRows):
        assert facts.integer_range is not None
        rows = category_rows(part.rows.name, part.rows.kind, seed, *facts.integer_range, facts.count)
        return fit_scales({"part": Part(rows, _NO_IDS)}, unit=unit, runtime=Runtime())["part"]
    if not unit:
        return raw_scale(power_of(largest_bits(attributes, table.id_columns, table.frame)), part.rows.dim)
    return _column_scale(attributes, table) if part.rows.dim == 1 else _unit_scale(attributes, table, part.rows.dim)


def _total(table: CheckedTable, size: int, add: Callable[[Array, Array], int]) -> Array:
    """Return totals `[size]` over the attributes of a table; see `AttributeTotals`."""
    assert table.facts.attributes is not None
    return AttributeTotals(table.facts.attributes, table.id_columns, size, add).of(table.frame)


def _unit_scale(attributes: AttributeColumns, table: CheckedTable, dim: int) -> Scale:
    """Return the scale of vectors, which are normalised."""
    centre = unit_centre(_total(table, dim, _add_unit_sums), table.facts.count)
    add_spread = partial(_add_unit_spread, centre.astype(np.int32))
    if attributes.name == "edge_attr":
        spread, size = _total(table, _HISTOGRAM_BINS + dim, add_spread), table.facts.count
    else:
        rows, spread = _sample(attributes, table, dim), np.zeros(_HISTOGRAM_BINS + dim, np.int64)
        size = rows.shape[0]
        add_spread(rows, spread)
    return unit_scale(centre, spread[:_HISTOGRAM_BINS], spread[_HISTOGRAM_BINS:], size)


def _add_unit_sums(block: Array, totals: Array) -> int:
    return int(Runtime().module.unit_sums(block, totals))


def _add_unit_spread(centre: Array, block: Array, totals: Array) -> int:
    Runtime().module.unit_spread(block, centre, totals[:_HISTOGRAM_BINS], totals[_HISTOGRAM_BINS:])
    return -1


def _sample(attributes: AttributeColumns, table: CheckedTable, dim: int) -> Array:
    """Return the attributes of nodes that are evenly spaced by id, float32 `[sample, d]`, in any order."""
    count = table.facts.count
    sample = Sample.of(attributes.name, count, dim)
    if sample.size < sample.count and table.facts.largest_id != count - 1:
        raise OptionError(
            f"the pruner must be fitted before it comes to Spark, or nodes be numbered from 0 to {count - 1} without "
            f"gaps: fit looks at nodes that are evenly spaced"
        )
    names = dict.fromkeys((*table.id_columns, *attributes.columns))
    frame = table.frame.select(*map(column, names))
    if sample.size < sample.count:
        pick = _PickRows(table.id_columns[0], sample.rows(0, sample.size))
        frame = frame.mapInArrow(pick.run, frame.schema)
    values = attributes.read(frame.toArrow())
    return DenseRows(attributes.name, values.reshape(values.shape[0], -1)).block(0, values.shape[0])


@dataclass(frozen=True, eq=False)
class _PickRows:
    """A task that yields the rows with these ids."""

    id_column: str
    ids: Array  # ascending

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            ids = to_numpy(batch.column(self.id_column))
            at = np.searchsorted(self.ids, ids).clip(0, self.ids.shape[0] - 1)
            yield batch.filter(pc.equal(pa.array(self.ids[at]), pa.array(ids, pa.int64())))


def _column_scale(attributes: AttributeColumns, table: CheckedTable) -> Scale:
    """Return the scale of a single column: of nodes from a sample, of edges from all rows, as in memory."""
    count, finest = table.facts.count, column_finest(power_of(largest_bits(attributes, table.id_columns, table.frame)))
    if not count:
        return Scale(finest, unit=False, centre=(0,), spread=(0,))
    if attributes.name != "edge_attr":
        fine = column_fine(_sample(attributes, table, 1), finest)
        centre, size = int(np.partition(fine, fine.size // 2)[fine.size // 2]), fine.size
        less = column_coarser(distances(fine, centre, 0)[0], size)
        return column_scale(finest, less, centre, distances(fine, centre, less)[1], size)
    centre = _median(table, finest)
    less = column_coarser(_total(table, _HISTOGRAM_BINS, partial(_add_distances, finest, centre)), count)
    squares = _total(table, 1, partial(_add_squares, finest, centre, less))
    return column_scale(finest, less, centre, int(squares[0]), count)


def _median(table: CheckedTable, finest: int) -> int:
    """Return the entry of rank count // 2, from a histogram of the upper 16 bits and one of the lower 16 bits."""
    rank, size = table.facts.count // 2, 1 << _HALF_BITS
    upper = _total(table, size, partial(_add_upper_bits, finest))
    high = int(np.searchsorted(np.cumsum(upper), rank, side="right"))
    rank -= int(upper[:high].sum())
    lower = _total(table, size, partial(_add_lower_bits, finest, high))
    low = int(np.searchsorted(np.cumsum(lower), rank, side="right"))
    return ((high - size // 2) << _HALF_BITS) + low


def _upper_bits(fine: Array) -> Array:
    """Return the upper 16 bits, as numbers >= 0 in the order of the values."""
    return (fine >> _HALF_BITS) + (1 << (_HALF_BITS - 1))


def _add_upper_bits(finest: int, block: Array, totals: Array) -> int:
    totals += np.bincount(_upper_bits(column_fine(block, finest)), minlength=totals.shape[0])
    return -1


def _add_lower_bits(finest: int, high: int, block: Array, totals: Array) -> int:
    fine = column_fine(block, finest)
    totals += np.bincount(fine[_upper_bits(fine) == high] & (totals.shape[0] - 1), minlength=totals.shape[0])
    return -1


def _add_distances(finest: int, centre: int, block: Array, totals: Array) -> int:
    totals += distances(column_fine(block, finest), centre, 0)[0]
    return -1


def _add_squares(finest: int, centre: int, less: int, block: Array, totals: Array) -> int:
    totals[0] += distances(column_fine(block, finest), centre, less)[1]
    return -1
