"""Compute the weights that compare neighbourhoods, once for each edge, as columns of the table of edges.

Later stages join nothing more for them: the logarithms travel with the edges (`lsprune.weights.carried`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprune.spark.edge_ends import CARRIED_COLUMN, EdgeEnds
from lsprune.spark.row_comparison import compare_rows
from lsprune.spark.set_comparison import compare_sets
from lsprune.weights.comparison import Comparison, RowComparison, SetComparison

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def carried_columns(count: int) -> tuple[str, ...]:
    """Return the names of the columns with the logarithms of so many weights."""
    return tuple(f"{CARRIED_COLUMN}{place}" for place in range(count))


def carry(ends: EdgeEnds, comparisons: Sequence[Comparison]) -> DataFrame:
    """Return the edges with a column of logarithms for each comparison."""
    frame = ends.edges
    for name, comparison in zip(carried_columns(len(comparisons)), comparisons, strict=True):
        if isinstance(comparison, SetComparison):
            frame = compare_sets(ends, frame, comparison, name)
        else:
            assert isinstance(comparison, RowComparison)
            frame = compare_rows(ends, frame, comparison, name)
    return frame
