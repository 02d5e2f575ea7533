"""Tables of edges: pandas and Polars frames, PyArrow tables and datasets, DuckDB relations."""

from __future__ import annotations

from lsprune.adapters.base import Adapter
from lsprune.adapters.tables.table_adapter import TableAdapter


def kinds() -> tuple[type[Adapter], ...]:
    """Return the adapters of this package."""
    return (TableAdapter,)
