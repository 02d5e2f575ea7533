"""`lsprune fit`: learn from a graph in memory and save the fitted pruner, for `prune`, `prune --stream` and Spark."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from lsprune.cli.console import Json, Report, errors, show, steps
from lsprune.cli.edge_file_options import EdgeFileOptions, refuse_unused_labels
from lsprune.cli.option_groups import with_groups
from lsprune.cli.pruner_options import PrunerOptions
from lsprune.errors import OptionError


@with_groups
def fit_command(
    source_file: Annotated[
        Path, typer.Argument(metavar="IN", help="Edge list: .npz, .parquet, .csv, .tsv, .txt (.gz, .zst).")
    ],
    output_file: Annotated[Path, typer.Argument(metavar="OUT", help="The .npz file to write.")],
    files: EdgeFileOptions,
    pruning: PrunerOptions,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Memory limit (default: all available memory).")
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Threads (default: LSPRUNE_THREADS, else all cores).")] = None,
    as_json: Json = False,
) -> None:
    """Fit a pruner to the edge list IN and save it to OUT.

    Use the result with `prune --fitted`, `prune --stream --fitted` or `spark-prune --fitted`, on any graph with the
    same features. These commands need no labels.

    Example: lsprune fit graph.npz pruner.npz --pruner top-weight --weights labels:2*jaccard:0.5 --keep 0.1

    Example: lsprune fit e.parquet auto.npz --features n.parquet --label topic --train-mask split --preset auto --k 8
    """
    with errors():
        from lsprune.adapters.tables.text_id_files import read_graph
        from lsprune.files import check_output
        from lsprune.files.remote import refuse_url

        pruner = pruning.make()
        reading = {**files.keywords(), "memory": memory, "columns": pruner.needs.edge_columns}
        if output_file.suffix.lower() != ".npz":
            raise OptionError(f"OUT must be a .npz file, got {output_file}")
        refuse_url(output_file, "OUT")
        tables = (reading[name] for name in ("features", "target_features") if reading[name])
        check_output(output_file, source_file, *tables)
        with steps(2) as step:
            step(f"reading {source_file.name}")
            edges = read_graph(source_file, **reading)
            graph = edges.graph
            refuse_unused_labels(graph, pruner, files.label)
            step("learning")
            start = time.perf_counter()
            fitted = pruner.fit(graph, threads=threads)
            seconds = time.perf_counter() - start
            edges.verified.check()
            fitted.save(output_file)
        report: Report = {
            "input": str(source_file), "output": str(output_file), "pruner": fitted.to_dict(), "seconds": seconds,
            "nodes": graph.num_nodes, "edges": graph.num_edges,
        }  # fmt: skip
        show(report, as_json, lambda: f"{output_file}: {fitted!r}, learned in {seconds:.1f} s")
