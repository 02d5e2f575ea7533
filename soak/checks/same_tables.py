"""The same mask from tables of edges of every library, with ids of any kind, in any order of rows."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from lsprune import Graph, mask
from soak.cases import random_graph, random_pruner
from soak.check import CannotRun, Check, expect
from soak.varied_cases import by_content, case_on, reordered

IDS: dict[str, Callable[[int], Any]] = {
    "text": lambda node: f"node {node}",
    "bytes": lambda node: node.to_bytes(2, "big") * 5,
    "dates": lambda node: datetime.date(2000, 1, 1) + datetime.timedelta(days=node),
    "large numbers": lambda node: (node * 7919 + 3) << 30,
}


def _tables(columns: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the columns as a table of each library."""
    try:
        pandas, polars, pa, duckdb = (import_module(name) for name in ("pandas", "polars", "pyarrow", "duckdb"))
    except ModuleNotFoundError as error:
        raise CannotRun(f"{error.name} is not installed") from None
    table = pa.table(columns)
    yield "PyArrow", table
    yield "PyArrow dataset", import_module("pyarrow.dataset").dataset(table)
    yield "pandas", pandas.DataFrame({name: list(values) for name, values in columns.items()})
    yield "pandas of Arrow", table.to_pandas(types_mapper=pandas.ArrowDtype)
    yield "Polars", polars.from_arrow(table)
    yield "Polars lazy", polars.from_arrow(table).lazy()
    yield "DuckDB", duckdb.from_arrow(table)


def _columns(graph: Graph, ids: Callable[[int], Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of a table of edges, and what `mask` is told of it."""
    ends = [end if ids is None else [ids(node) for node in end.tolist()] for end in graph.ends()]
    columns: dict[str, Any] = {"source": ends[0], "target": ends[1]}
    told: dict[str, Any] = {}
    if graph.edge_attr is not None:
        names = [f"a{i}" for i in range(graph.edge_attr.shape[1])]
        columns |= dict(zip(names, graph.edge_attr.T, strict=True))
        told["edge_attr"] = names
    if graph.x is not None and ids is None:
        told["features"] = graph.x
    elif graph.x is not None and ids is not None:
        pa = import_module("pyarrow")
        rows = {f"x{i}": column for i, column in enumerate(graph.x.T)}
        told["features"] = pa.table({"id": [ids(node) for node in range(graph.num_nodes)], **rows})
    return columns, told


def tables(number: int, folder: Path) -> int:
    """Compare tables with small whole numbers as ids with the reference on the graph."""
    rng = np.random.default_rng([29, number])
    graph = _graph(rng)
    case = case_on(graph, lambda: random_pruner(rng, graph))
    columns, told = _columns(graph, None)
    count = 0
    for count, (name, table) in enumerate(_tables(columns), 1):  # noqa: B007
        found = mask(table, case.pruner, threads=1, **told)
        expect(bool((found == case.mask).all()), f"{name}: other edges than {case.pruner!r} keeps of {graph!r}")
    return count


def table_ids(number: int, folder: Path) -> int:
    """Compare tables with other ids among each other, and with shuffled rows: a hash of the id decides ties."""
    rng = np.random.default_rng([30, number])
    graph = _graph(rng, parallel=False)
    case = case_on(graph, lambda: random_pruner(rng, graph), accepts=by_content)
    kind = list(IDS)[number % len(IDS)]
    order = rng.permutation(graph.num_edges)
    expected, count = None, 0
    for given, place in ((graph, np.arange(order.size)), (reordered(graph, order), order)):
        columns, told = _columns(given, IDS[kind])
        for name, table in _tables(columns):
            found = np.empty(order.size, bool)
            found[place] = mask(table, case.pruner, threads=1, **told)
            expected = found if expected is None else expected
            same = bool((found == expected).all())
            expect(same, f"{name} with {kind} as ids: other edges for {case.pruner!r} on {graph!r}")
            count += 1
    return count - 1


def _graph(rng: np.random.Generator, parallel: bool = True) -> Graph:
    """Return a graph with edges, whose tables know all of its nodes."""
    while True:
        graph = random_graph(rng)
        ends = np.stack(graph.ends())
        if graph.num_edges and (parallel or np.unique(ends, axis=1).shape[1] == graph.num_edges):
            nodes = graph.num_nodes if graph.x is not None else int(ends.max()) + 1
            return Graph.from_edges(ends, num_nodes=nodes, x=graph.x, edge_attr=graph.edge_attr)


CHECKS = (
    Check(
        name="tables", promise="Same bits",
        about="pandas (numpy and Arrow types), Polars (lazy too), PyArrow table and dataset, DuckDB: compared "
        "with the reference",
        run_case=tables, share=1.5, quick_cases=4,
    ),
    Check(
        name="table-ids", promise="Same bits",
        about="text, bytes, dates or large numbers as ids: seven kinds of tables and two orders of rows agree",
        run_case=table_ids, share=1.5, quick_cases=4,
    ),
)  # fmt: skip
