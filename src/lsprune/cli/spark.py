"""`lsprune spark-prune`: Parquet tables in, Parquet tables out, on Spark."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsprune.cli.console import Json, Report, errors, framed, show
from lsprune.cli.edge_file_options import (
    Bipartite,
    EdgeAttr,
    NodeId,
    NodeX,
    TargetId,
    TargetX,
    VerifyInput,
    names,
)  # fmt: skip
from lsprune.cli.option_groups import with_groups
from lsprune.cli.pruner_options import PrunerOptions
from lsprune.errors import FormatError, GraphError, MissingDependency, OptionError
from lsprune.files.atomic_write import atomic_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from rich.table import Table

    from lsprune.files import VerifiedInput


@dataclass(frozen=True)
class TableOptions:
    """Tables and columns of the graph, and how Spark processes them."""

    features: Annotated[
        str | None, typer.Option(help="Nodes: a Parquet file or folder; with --bipartite, the sources.")
    ] = None
    source: Annotated[str, typer.Option(metavar="NAME", help="Column of source ids.")] = "source"
    target: Annotated[str, typer.Option(metavar="NAME", help="Column of target ids.")] = "target"
    edge_attr: EdgeAttr = ""
    node_id: NodeId = None
    x: NodeX = ""
    bipartite: Bipartite = None
    target_features: Annotated[
        str | None, typer.Option(help="With --bipartite: the targets, a Parquet file or folder.")
    ] = None
    target_id: TargetId = None
    target_x: TargetX = ""
    position: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column with the position of each edge, for pruners that use edge order."),
    ] = None
    partitions: Annotated[
        int | None, typer.Option(help="Number of selection tasks (default: one per 2 million edges).")
    ] = None
    broadcast: Annotated[
        bool | None,
        typer.Option(
            "--broadcast/--shuffle", help="Join nodes to edges by a broadcast or a shuffle (default: by size)."
        ),
    ] = None

    verify_input: VerifyInput = False

    def keywords(self) -> dict[str, Any]:
        """Return the keywords of `prune_spark` that name columns."""
        return {
            "source": self.source, "target": self.target, "edge_attr": names(self.edge_attr), "id": self.node_id,
            "features": names(self.x) or None, "bipartite": self.bipartite, "target_id": self.target_id,
            "target_features": names(self.target_x) or None, "position": self.position,
            "partitions": self.partitions, "broadcast": self.broadcast,
        }  # fmt: skip


@with_groups
def spark_prune_command(
    source_path: Annotated[str, typer.Argument(metavar="IN", help="Edges: a Parquet file or folder.")],
    output_path: Annotated[str, typer.Argument(metavar="OUT", help="The folder to write; it must not exist.")],
    tables: TableOptions,
    pruning: PrunerOptions,
    master: Annotated[
        str | None, typer.Option(help="Spark master, such as local[2] (default: from Spark's configuration).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Prune the edges in IN on Spark and write the kept edges to OUT.

    On a local file system, OUT is written completely or not at all. Elsewhere, Spark's committer writes it, with a
    file _SUCCESS at the end.

    Example: lsprune spark-prune edges.parquet small.parquet --features nodes.parquet --keep 0.5

    Example: lsprune spark-prune edges.parquet small.parquet --features nodes.parquet --fitted pruner.npz
    """
    with errors(), _plainly():
        pruner = pruning.make()
        paths = (source_path, tables.features, tables.target_features)
        _check_paths(output_path, *paths)
        verified = _verified(tables.verify_input, *paths)
        with _session(master) as session:
            start = time.perf_counter()
            edges, nodes, targets = (None if path is None else session.read.parquet(path) for path in paths)
            assert edges is not None
            from lsprune.spark import prune_spark

            kept = prune_spark(edges, nodes, pruner, targets=targets, **tables.keywords())
            _write(kept, output_path, verified)
            report = _report(edges.count(), session.read.parquet(output_path).count(), time.perf_counter() - start)
        files = {"input": source_path, "output": output_path, "pruner": pruner.to_dict()}
        show({**files, **report}, as_json, lambda: _table(output_path, report))


def _local(path: str) -> Path | None:
    """Return the path on this machine; None for one elsewhere."""
    place, found, rest = path.partition("://")
    if not found:
        return Path(path)
    return Path(rest) if place == "file" else None


def _check_paths(output: str, *inputs: str | None) -> None:
    there = _local(output)
    if there is not None and os.path.lexists(there):
        raise OptionError(f"{output} exists already; remove it or name another folder")
    for path in inputs:
        here = None if path is None else _local(path)
        if here is not None and not here.exists():
            raise FormatError(f"{path}: no such file or folder")


def _verified(sealed: bool, *inputs: str | None) -> VerifiedInput:
    """Compare the inputs on this machine with their seals; OptionError if one is elsewhere and must have a seal."""
    from lsprune.files import check_inputs

    given = [path for path in inputs if path is not None]
    local = [path for path in map(_local, given) if path is not None]
    if sealed and len(local) < len(given):
        raise OptionError(f"--verify-input takes inputs on this machine, got {', '.join(given)}")
    return check_inputs(local, sealed=sealed)


@contextmanager
def _session(master: str | None) -> Iterator[SparkSession]:
    """Yield a Spark session; stop it at the end if it was started here."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingDependency("spark-prune needs PySpark: pip install 'lsprune[spark]'") from None
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    if master is None or master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the one that has lsprune
    builder = SparkSession.builder.appName("lsprune").config("spark.log.level", "ERROR")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.hadoop.parquet.page.verify-checksum.enabled", "true")  # of pages that have one
    session = (builder if master is None else builder.master(master)).getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def _write(kept: DataFrame, output: str, verified: VerifiedInput) -> None:
    final = _local(output)
    if final is None:
        kept.write.parquet(output, mode="errorifexists")
        verified.check()
        return
    with atomic_folder(final.absolute()) as folder:
        kept.write.parquet(str(folder))
        verified.check()


@contextmanager
def _plainly() -> Iterator[None]:
    """Turn Spark errors into errors of lsprune, in one sentence and without a Java stack trace."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        if any(line.startswith("ModuleNotFoundError: No module named 'lsprune") for line in lines):
            raise MissingDependency(_lacking()) from None
        ours = [line for line in lines if line.startswith("lsprune.errors.")]
        raise (GraphError(ours[-1].partition(": ")[2]) if ours else FormatError(f"Spark: {_cause(lines)}")) from None


def _lacking() -> str:
    """Return the message for a worker that joined after the workers were checked and lacks lsprune."""
    from lsprune.spark.workers import lacking

    return lacking("one of them has no module named lsprune")


def _cause(lines: list[str]) -> str:
    """Return the most informative line: the innermost cause, or what follows the name of a call into Java."""
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    called = lines[0].startswith("An error occurred while calling") and len(lines) > 1
    return causes[-1] if causes else lines[1] if called else lines[0]


def _report(edges: int, kept: int, seconds: float) -> Report:
    share = kept / edges if edges else 1.0
    return {"edges": edges, "kept": kept, "share": share, "seconds": seconds, "edges_per_second": edges / seconds}


def _table(name: str, report: Report) -> Table:
    table = framed(name, "", "")
    table.add_row("edges before", f"{report['edges']:,}")
    table.add_row("edges kept", f"{report['kept']:,} ({report['share']:.2%})")
    table.add_row("total seconds", f"{report['seconds']:.1f}")
    table.add_row("edges per second", f"{report['edges_per_second']:,.0f}")
    return table
