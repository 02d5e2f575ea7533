"""The same edges from files: streamed in batches of a few edges, sorted by owner in one pass, and read into memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from lsprune import LSP
from lsprune.files import read_edges
from lsprune.graph import Graph, oriented
from lsprune.kernels import file_arrays
from lsprune.outofcore import memory_ceiling, prune_stream
from lsprune.pruners import PerOwner, Pruner
from soak.cases import random_graph
from soak.check import Check, expect
from soak.varied_cases import case_on, reordered, varied_pruner

FORMATS = (".parquet", ".npz", ".csv", ".npy", ".tsv.gz")


@contextmanager
def _small_batches(rows: int) -> Iterator[None]:
    """Read a few edges at a time, and let files hold what a large graph would need memory for."""
    changes = (
        (memory_ceiling, "MIN_BATCH_ROWS", rows), (memory_ceiling, "MAX_BATCH_ROWS", rows),
        (file_arrays, "MIN_FILE_BYTES", 1),
    )  # fmt: skip
    before = [getattr(module, name) for module, name, _ in changes]
    for module, name, value in changes:
        setattr(module, name, value)
    try:
        yield
    finally:
        for (module, name, _), value in zip(changes, before, strict=True):
            setattr(module, name, value)


def graph_for(rng: np.random.Generator, suffix: str) -> Graph:
    """Return a graph that a file of this format can hold."""
    graph = random_graph(rng)
    if suffix == ".npy":  # ends alone
        return Graph.from_edges(graph.ends(), num_nodes=graph.num_nodes, x=graph.x)
    if suffix in (".csv", ".tsv.gz") and graph.edge_attr is not None and graph.edge_attr.dtype.kind == "f":
        # Text has "2" for 2.0, and whole numbers in one column are a category.
        return dataclasses.replace(graph, edge_attr=graph.edge_attr + np.float32(0.25))
    return graph


def write_graph(path: Path, graph: Graph) -> dict[str, Any]:
    """Write the edges, with their numbers where there is room; return the options that read them."""
    options: dict[str, Any] = {"num_nodes": graph.num_nodes}
    if graph.x is not None:
        np.save(path.parent / "x.npy", graph.x)
        options["features"] = path.parent / "x.npy"
    if path.suffix == ".npy":
        np.save(path, np.stack(graph.ends()))
        return options
    columns = dict(zip(("source", "target"), graph.ends(), strict=True)) | {"number": np.arange(graph.num_edges)}
    if graph.edge_attr is not None:
        options["edge_attr"] = [f"a{i}" for i in range(graph.edge_attr.shape[1])]
        columns |= dict(zip(options["edge_attr"], graph.edge_attr.T, strict=True))
    if path.suffix == ".npz":
        options["edge_arrays"] = ["number"]  # there may be as many nodes as edges
        np.savez(path, **columns)
    else:
        _write_table(path, columns)
    return options


def _write_table(path: Path, columns: dict[str, Any]) -> None:
    pa = import_module("pyarrow")
    table = pa.table(columns)
    if path.suffix == ".parquet":
        import_module("pyarrow.parquet").write_table(table, path, row_group_size=11)
        return
    csv = import_module("pyarrow.csv")
    with pa.output_stream(path, compression="detect") as stream:
        csv.write_csv(table, stream, csv.WriteOptions(delimiter="," if path.suffix == ".csv" else "\t"))


def _kept(path: Path) -> list[Any]:
    """Return the numbers of the edges in a file; their ends if there are no numbers."""
    if path.suffix == ".npy":
        return list(np.load(path).T.tolist())
    if path.suffix == ".npz":
        return list(np.load(path)["number"].tolist())
    if path.suffix == ".parquet":
        return list(import_module("pyarrow.parquet").read_table(path)["number"].to_pylist())
    csv = import_module("pyarrow.csv")
    parsed = csv.ParseOptions(delimiter="," if path.suffix == ".csv" else "\t")
    return list(csv.read_csv(path, parse_options=parsed)["number"].to_pylist())


def streams(pruner: Pruner, graph: Graph) -> bool:
    """Whether the pruner takes this graph from a file: attributes must be there even if nothing is to be chosen."""
    bare = graph.x is None and graph.edge_attr is None
    lacks = bare and isinstance(pruner, LSP) and pruner.family.needs_attributes
    return isinstance(pruner, PerOwner) and pruner.needs.scope != "graph" and not lacks


def files(number: int, folder: Path) -> int:
    """Compare a streamed file, and the file read into memory, with the reference."""
    rng = np.random.default_rng([32, number])
    suffix = FORMATS[number % len(FORMATS)]
    graph = graph_for(rng, suffix)
    case = case_on(graph, lambda: varied_pruner(rng, graph), accepts=lambda pruner: streams(pruner, graph))
    if rng.random() < 0.5:  # one pass, if the budget is k
        order = np.argsort(oriented(case.pruner.side, *graph.ends())[0], kind="stable")
        graph = reordered(graph, order)
        case = case_on(graph, lambda: case.pruner)
    path, out = folder / f"in{suffix}", folder / f"out{suffix}"
    options = write_graph(path, graph)
    with _small_batches(int(rng.choice([4, 16, 64]))):
        prune_stream(path, out, case.pruner, memory="6GB", threads=1 + number % 2, **options)
    numbers = np.flatnonzero(case.mask)
    expected = np.stack(graph.ends())[:, numbers].T if suffix == ".npy" else numbers
    expect(_kept(out) == expected.tolist(), f"{suffix} streamed: other edges than {case.pruner!r} keeps of {graph!r}")
    if suffix == ".npy":  # only read as a stream
        return 1
    mask = case.pruner.mask(read_edges(path, **options).graph, threads=1)
    expect(bool((mask == case.mask).all()), f"{suffix} in memory: other edges than {case.pruner!r} keeps of {graph!r}")
    return 2


CHECKS = (
    Check(
        name="files", promise="Same bits",
        about="Parquet, npz, npy, CSV and compressed TSV, half of them sorted by owner: streamed in batches of 4 to 64 "
        "edges, and in memory",
        run_case=files, share=3.0, quick_cases=10,
    ),
)  # fmt: skip
