"""`lsprune prune`: an edge list in, the kept edges out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsprune.cli.console import Json, Report, errors, kept_table, show, steps
from lsprune.cli.edge_file_options import EdgeFileOptions, refuse_unused_labels
from lsprune.cli.option_groups import with_groups
from lsprune.cli.pruner_options import PrunerOptions
from lsprune.cli.stream import StreamOptions, stream, stream_table

if TYPE_CHECKING:
    from lsprune.graph import Array, Graph
    from lsprune.pruners import Pruner


@with_groups
def prune_command(
    source_file: Annotated[
        Path,
        typer.Argument(metavar="IN", help="Edge list (path or URL): .npz, .parquet, .csv, .tsv, .txt (.gz, .zst)."),
    ],
    output_file: Annotated[
        Path, typer.Argument(metavar="OUT", help="Output (path or URL); the suffix sets the format.")
    ],
    files: EdgeFileOptions,
    pruning: PrunerOptions,
    streaming: StreamOptions,
    threads: Annotated[int | None, typer.Option(help="Threads (default: LSPRUNE_THREADS, else all cores).")] = None,
    as_json: Json = False,
) -> None:
    """Prune the edge list IN and write the kept edges to OUT.

    OUT is written completely or not at all, and must not be IN.

    Example: lsprune prune edges.parquet small.parquet --features x.npy --preset auto --keep 0.5

    Example: lsprune prune edges.npz small.npz --k 8 --hash signs:bits=4 --weights degree:power=0.4

    Example: lsprune prune edges/ small/ --features x.npy --k 8 --stream --memory 1GB

    Example: lsprune prune s3://bucket/edges/ s3://bucket/small/ --hash identity --k 8 --stream

    Example: lsprune prune graph.npz small.npz --pruner top-weight --weights "labels:2*jaccard:0.5" --keep 0.1

    Example: lsprune prune messages.parquet small.parquet --pruner top-weight --set column=time --k 10

    Example: lsprune prune graph.npz small.npz --pruner "guarded:pruner=(lsp:keep=0.3),min_keep=1"

    Example: lsprune prune ratings.csv small.csv --source user --target item --bipartite --hash identity --k 5
    """
    with errors():
        reading = files.keywords()
        pruner = pruning.make()
        if streaming.stream:
            report = stream(source_file, output_file, pruner, **reading, **streaming.keywords(), threads=threads)
        else:
            streaming.refuse()
            reading |= {"memory": streaming.memory, "columns": pruner.needs.edge_columns}
            report = _in_memory(source_file, output_file, pruner, reading, threads)
        from lsprune.files.remote import shown

        report = {
            "input": shown(source_file), "output": shown(output_file), "pruner": pruner.to_dict(), **report
        }  # fmt: skip
        table = stream_table if streaming.stream else kept_table
        show(report, as_json, lambda: table(output_file.name, report))


def _in_memory(source: Path, output: Path, pruner: Pruner, reading: Mapping[str, Any], threads: int | None) -> Report:
    """Read, prune and write; return the report."""
    from lsprune.adapters.tables.text_id_files import read_graph
    from lsprune.files import check_output, write_edges

    check_output(output, source, *(reading[name] for name in ("features", "target_features") if reading[name]))
    with steps(3) as step:
        step(f"reading {source.name}")
        edges = read_graph(source, **reading)
        edges.check()
        refuse_unused_labels(edges.graph, pruner, reading["label"])
        step("pruning")
        mask, report = measured(edges.graph, pruner, threads)
        step(f"writing {output.name}")
        write_edges(output, edges, mask)
    return report


def measured(graph: Graph, pruner: Pruner, threads: int | None) -> tuple[Array, Report]:
    """Return the mask, and a report: counts, seconds, edges per second, and what `fit` chose, if anything."""
    from lsprune.kernels import runtime
    from lsprune.measure import summary

    _ = runtime(threads).module  # importing numba is not pruning
    start = time.perf_counter()
    auto = bool(getattr(pruner, "chosen_by_fit", False))
    ready = pruner.fit(graph, threads=threads) if auto else pruner
    mask = ready.mask(graph, threads=threads)
    seconds = time.perf_counter() - start
    counts = asdict(summary(graph, mask, side=pruner.side, threads=threads))
    chosen = {"chosen": ready.to_dict()} if auto else {}
    return mask, {
        **counts, "uncounted_self_loops": _uncounted_self_loops(graph, mask, pruner), "seconds": seconds,
        "edges_per_second": graph.num_edges / max(seconds, 1e-9), **chosen,
    }  # fmt: skip


def _uncounted_self_loops(graph: Graph, mask: Array, pruner: Pruner) -> int:
    """Count the kept self-loops that take no part in the selection, so that no budget counts them."""
    from lsprune.measure.consistency import not_loops

    return int((mask & ~not_loops(graph, pruner)).sum())
