"""`lsprune spark-prune`: Parquet tables in, Parquet tables out, on Spark."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsprune.cli.console import Json, Report, errors, framed, show
from lsprune.cli.pruner_options import (
    Attributes,
    Bipartite,
    Bits,
    Hash,
    K,
    Keep,
    Length,
    Method,
    NodeId,
    NodeX,
    Power,
    Replace,
    Seed,
    Select,
    SelfLoops,
    Side,
    Sparsity,
    TargetId,
    TargetX,
    Ties,
    Values,
    make_pruner,
    pruner_options,
)
from lsprune.cli.study import listed
from lsprune.errors import FormatError, GraphError, MissingDependency, OptionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from rich.table import Table

    from lsprune.pruners import Pruner


# One parameter for each option: long, but a list and nothing else.
def spark_prune_command(
    source_path: Annotated[str, typer.Argument(metavar="IN", help="Edges: a Parquet file or folder.")],
    output_path: Annotated[str, typer.Argument(metavar="OUT", help="The folder to write; it must not exist.")],
    features: Annotated[
        str | None, typer.Option(help="Nodes: a Parquet file or folder; with --bipartite the sources.")
    ] = None,
    master: Annotated[str | None, typer.Option(help="Where Spark runs, such as local[2] (default: as set up).")] = None,
    source: Annotated[str, typer.Option(help="Column of sources.")] = "source",
    target: Annotated[str, typer.Option(help="Column of targets.")] = "target",
    edge_attr: Annotated[str, typer.Option(help="Columns that describe an edge: weight,time.")] = "",
    node_id: NodeId = None,
    x: NodeX = "",
    bipartite: Bipartite = None,
    target_features: Annotated[
        str | None, typer.Option(help="With --bipartite: targets, a Parquet file or folder.")
    ] = None,
    target_id: TargetId = None,
    target_x: TargetX = "",
    position: Annotated[str | None, typer.Option(help="Column that numbers the edges, for --ties position.")] = None,
    partitions: Annotated[int | None, typer.Option(help="Tasks of the selection (default: 2 M edges each).")] = None,
    broadcast: Annotated[
        bool | None, typer.Option("--broadcast/--shuffle", help="How nodes come to the edges (default: by size).")
    ] = None,
    fitted: Annotated[Path | None, typer.Option(help="A fitted pruner that `save` wrote, instead of options.")] = None,
    keep: Keep = None,
    k: K = None,
    method: Method = "lsp",
    hash_family: Hash = None,
    side: Side = None,
    length: Length = None,
    sparsity: Sparsity = None,
    bits: Bits = None,
    weights: Annotated[str | None, typer.Option(help="Prefer: degree (low), edge, edge:2 or neighbour:0.")] = None,
    power: Power = None,
    attributes: Attributes = None,
    values: Values = None,
    select: Select = None,
    replace: Replace = None,
    ties: Ties = None,
    self_loops: SelfLoops = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Prune the edges in IN on Spark and write what is kept to OUT.

    On a local file system OUT appears whole or not at all. Elsewhere Spark's committer writes it, with a file _SUCCESS
    at the end.

    Example: lsprune spark-prune edges.parquet small.parquet --features nodes.parquet --keep 0.5
    """
    options = pruner_options(
        {
            "keep": keep, "k": k, "hash": hash_family, "side": side, "select": select, "replace": replace, "ties": ties,
            "self_loops": self_loops, "seed": seed, "values": values, "weights": weights, "power": power,
            "attributes": attributes,
        },
        {"l": length, "sparsity": sparsity, "bits": bits},
    )  # fmt: skip
    with errors(), _plainly():
        pruner = _pruner(method, options, fitted)
        _check_paths(output_path, source_path, features, target_features)
        with _session(master) as session:
            start = time.perf_counter()
            paths = (source_path, features, target_features)
            edges, nodes, targets = (None if path is None else session.read.parquet(path) for path in paths)
            assert edges is not None
            from lsprune.spark import prune_spark

            kept = prune_spark(
                edges, nodes, pruner, source=source, target=target, edge_attr=listed(edge_attr), id=node_id,
                features=listed(x) or None, bipartite=bipartite, targets=targets, target_id=target_id,
                target_features=listed(target_x) or None, position=position, partitions=partitions,
                broadcast=broadcast,
            )  # fmt: skip
            _write(kept, output_path)
            report = _report(edges.count(), session.read.parquet(output_path).count(), time.perf_counter() - start)
        files = {"input": source_path, "output": output_path, "pruner": pruner.to_dict()}
        show({**files, **report}, as_json, lambda: _table(output_path, report))


def _pruner(method: str, options: Mapping[str, Any], fitted: Path | None) -> Pruner:
    from lsprune.pruners import load

    if fitted is None:
        return make_pruner(method, None, options)
    if options or method != "lsp":
        raise OptionError(f"fitted must come alone: {next(iter(options), 'method')} is in the saved pruner already")
    return load(fitted)


def _local(path: str) -> Path | None:
    """The path on this machine; None for one elsewhere."""
    place, found, rest = path.partition("://")
    if not found:
        return Path(path)
    return Path(rest) if place == "file" else None


def _check_paths(output: str, *inputs: str | None) -> None:
    there = _local(output)
    if there is not None and os.path.lexists(there):
        raise OptionError(f"{output} must not exist yet; remove it or name another folder")
    for path in inputs:
        here = None if path is None else _local(path)
        if here is not None and not here.exists():
            raise FormatError(f"{path}: no such file or folder")


@contextmanager
def _session(master: str | None) -> Iterator[SparkSession]:
    """A session, which is ended if it was started here."""
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
    session = (builder if master is None else builder.master(master)).getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def _write(kept: DataFrame, output: str) -> None:
    final = _local(output)
    if final is None:
        kept.write.parquet(output, mode="errorifexists")
        return
    temporary = final.absolute().with_name(f".lsprune-{secrets.token_hex(8)}.tmp")
    try:
        kept.write.parquet(str(temporary))
        temporary.rename(final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def _plainly() -> Iterator[None]:
    """Errors of Spark as errors of ours, in a sentence and without a Java stack trace."""
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
    """What to say of a worker that came after the workers were asked."""
    from lsprune.spark.workers import lacking

    return lacking("one of them has no module named lsprune")


def _cause(lines: list[str]) -> str:
    """The line that says most: the innermost cause, or what follows the name of a call into Java."""
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
    table.add_row("seconds in all", f"{report['seconds']:.1f}")
    table.add_row("edges per second", f"{report['edges_per_second']:,.0f}")
    return table
