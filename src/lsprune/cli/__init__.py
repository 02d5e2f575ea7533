"""The command line: parse, call one library function, print.

Libraries that take long to import (numba, pyarrow) are loaded by the command that needs them, so that `--help` and
`--version` answer at once.
"""

from __future__ import annotations

import io
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsprune.cli.compare import compare_command
from lsprune.cli.console import (
    INTERRUPTED,
    Group,
    Json,
    Report,
    comparison_table,
    errors,
    kept_table,
    registry_table,
    say_interrupted,
    show,
    steps,
    tell,
    training_table,
)
from lsprune.cli.inspect import inspect_command
from lsprune.cli.pruner_options import (
    PRESETS,
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
    node_counts,
    pruner_options,
)
from lsprune.cli.report import figures_command, report_command
from lsprune.cli.spark import spark_prune_command
from lsprune.cli.stream import refuse, stream, stream_table, verify_command
from lsprune.cli.study import Smoke, chosen_study, listed, study_app, watching

if TYPE_CHECKING:
    from lsprune.graph import Array, Graph
    from lsprune.pruners import Pruner

app = typer.Typer(
    name="lsprune",
    cls=Group,
    help="""Prune the edges of a graph so that a graph neural network trains on less and learns as much.

    Example: lsprune prune edges.parquet small.parquet --features x.npy --keep 0.5

    Example: lsprune inspect mine.npz --plot mine.png
    """,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; the entry point of the `lsprune` script. Ctrl-C is one line and exit code 130."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # what the terminal's encoding lacks is no reason to fail
    try:
        app(prog_name="lsprune")
    except SystemExit as end:
        if end.code == INTERRUPTED:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would only tell where Python was
            say_interrupted()
        raise


def _version(wanted: bool) -> None:
    if wanted:
        from lsprune import __version__

        tell(f"lsprune {__version__}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")]


app.add_typer(study_app, name="study")
app.command("verify")(verify_command)
app.command("inspect")(inspect_command)
app.command("compare")(compare_command)
app.command("report")(report_command)
app.command("figures")(figures_command)
app.command("spark-prune")(spark_prune_command)


@app.callback()
def _options(version: Version = False) -> None:
    pass  # the callback of --version has done the work


# One parameter for each option of the library: long, but a list and nothing else.
@app.command("prune")
def prune_command(
    source_file: Annotated[
        Path, typer.Argument(metavar="IN", help="Edge list: .npz, .parquet, .csv, .tsv, .txt (.gz, .zst).")
    ],
    output_file: Annotated[Path, typer.Argument(metavar="OUT", help="Where to write; the suffix decides the format.")],
    features: Annotated[
        Path | None, typer.Option(help="Node attributes: .npy, .npz or .parquet; with --bipartite of the sources.")
    ] = None,
    node_id: NodeId = None,
    x: NodeX = "",
    edge_attr: Annotated[str, typer.Option(metavar="COLUMNS", help="Edge attributes: columns, by commas.")] = "",
    source: Annotated[str | None, typer.Option(metavar="NAME", help="Column of the sources.")] = None,
    target: Annotated[str | None, typer.Option(metavar="NAME", help="Column of the targets.")] = None,
    num_nodes: Annotated[int | None, typer.Option(help="Number of nodes (default: largest id + 1).")] = None,
    edge_arrays: Annotated[
        str, typer.Option(metavar="NAMES", help="Arrays of a .npz that belong to the edges (default: by their length).")
    ] = "",
    node_arrays: Annotated[
        str, typer.Option(metavar="NAMES", help="Arrays of a .npz that do not, and are copied as they are.")
    ] = "",
    bipartite: Bipartite = None,
    target_features: Annotated[Path | None, typer.Option(help="With --bipartite: attributes of the targets.")] = None,
    target_id: TargetId = None,
    target_x: TargetX = "",
    num_targets: Annotated[int | None, typer.Option(help="With --bipartite: number of targets.")] = None,
    keep: Keep = None,
    k: K = None,
    method: Method = "lsp",
    hash_family: Hash = None,
    side: Side = None,
    length: Length = None,
    sparsity: Sparsity = None,
    digest: Annotated[str | None, typer.Option(help="Threshold: mix, md5 or affine.")] = None,
    bins: Annotated[int | None, typer.Option("--m", help="Threshold: number of bins of the digest.")] = None,
    words: Annotated[int | None, typer.Option(help="Codebook: number of words (default: from the data).")] = None,
    bits: Bits = None,
    weights: Annotated[
        str | None,
        typer.Option(
            help="Prefer: degree (low), similarity, jaccard, edge (large edge_attr), edge:2, neighbour:0; or auto."
        ),
    ] = None,
    power: Power = None,
    attributes: Attributes = None,
    values: Values = None,
    select: Select = None,
    replace: Replace = None,
    ties: Ties = None,
    symmetric: Annotated[str | None, typer.Option(help="Keep both directions together: union or intersection.")] = None,
    self_loops: SelfLoops = None,
    seed: Seed = None,
    threads: Annotated[int | None, typer.Option(help="Threads (default: LSPRUNE_THREADS, else all cores).")] = None,
    preset: Annotated[str | None, typer.Option(help=f"LSP as in the paper: {', '.join(PRESETS)}.")] = None,
    streamed: Annotated[
        bool, typer.Option("--stream", help="For graphs that do not fit in memory; IN may be a folder.")
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Ceiling of memory (default: what is available, with --stream 2GB)."),
    ] = None,
    scratch: Annotated[Path | None, typer.Option(metavar="DIR", help="With --stream: folder of scratch files.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="With --stream: go on with a run that was stopped.")] = False,
    map_ids: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --stream: number ids of any kind, mapping in this Parquet file."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Prune the edge list IN and write what is kept to OUT.

    OUT appears whole or not at all, and is never IN.

    Example: lsprune prune edges.parquet small.parquet --features x.npy --keep 0.5

    Example: lsprune prune edges/ small/ --features x.npy --k 8 --stream --memory 1GB

    Example: lsprune prune ratings.csv small.csv --source user --target item --bipartite --hash identity --k 5
    """
    options = {
        "keep": keep, "k": k, "hash": hash_family, "side": side, "select": select, "replace": replace, "ties": ties,
        "symmetric": symmetric, "self_loops": self_loops, "seed": seed, "values": values, "weights": weights,
        "power": power, "attributes": attributes,
    }  # fmt: skip
    hashing = {"l": length, "sparsity": sparsity, "digest": digest, "m": bins, "words": words, "bits": bits}
    reading: dict[str, Any] = {
        "source": source, "target": target, "edge_attr": tuple(listed(edge_attr)), "features": features,
        "id": node_id, "x": tuple(listed(x)), "edge_arrays": tuple(listed(edge_arrays)),
        "node_arrays": tuple(listed(node_arrays)), "bipartite": bipartite, "target_features": target_features,
        "target_id": target_id, "target_x": tuple(listed(target_x)),
    }  # fmt: skip
    with errors():
        reading["num_nodes"] = node_counts(num_nodes, num_targets, bipartite)
        pruner = make_pruner(method, preset, pruner_options(options, hashing))
        if streamed:
            more = {
                "map_ids": map_ids,
                "memory": "2GB" if memory is None else memory,
                "scratch": scratch,
                "resume": resume,
            }
            report = stream(source_file, output_file, pruner, **reading, **more, threads=threads)
        else:
            refuse(scratch=scratch, resume=resume, map_ids=map_ids)
            report = _in_memory(source_file, output_file, pruner, {**reading, "memory": memory}, threads)
        files = {"input": str(source_file), "output": str(output_file), "pruner": pruner.to_dict()}
        made = stream_table if streamed else kept_table
        show({**files, **report}, as_json, lambda: made(output_file.name, report))


def _in_memory(source: Path, output: Path, pruner: Pruner, reading: Mapping[str, Any], threads: int | None) -> Report:
    """Read, prune and write; what came of it."""
    from lsprune.files import check_output, read_edges, write_edges

    check_output(output, source, *(reading[name] for name in ("features", "target_features") if reading[name]))
    with steps(3) as step:
        step(f"reading {source.name}")
        read = read_edges(source, **reading)
        read.check()
        step("pruning")
        mask, report = measured(read.graph, pruner, threads)
        step(f"writing {output.name}")
        write_edges(output, read, mask)
    return report


@app.command("methods")
def methods_command(as_json: Json = False) -> None:
    """List the pruning methods and hash families.

    Example: lsprune methods --json
    """
    with errors():
        from lsprune.hashing import FAMILIES
        from lsprune.pruners import PRUNERS

        listed = {
            "methods": {name: kind.about for name, kind in PRUNERS.items()},
            "hash families": {name: kind.about for name, kind in FAMILIES.items()},
        }
        show(listed, as_json, lambda: registry_table(listed))


@app.command("demo")
def demo_command(
    smoke: Smoke = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="The report to write.")] = Path("lsprune-demo.html"),
    as_json: Json = False,
) -> None:
    """Prune a generated graph with several methods, then train on generated graphs pruned by each (2 minutes).

    Example: lsprune demo --smoke -o demo.html
    """
    methods = ("lsp", "random", "local-random")
    with errors(), steps(len(methods) + 1) as step:
        step("making a graph of 20,000 nodes and 200,000 edges")
        graph = power_law_graph(nodes=20_000, edges=200_000, features=64, seed=0)
        reports = {}
        for method in methods:
            step(f"pruning with {method}")
            pruner = make_pruner(method, None, {"keep": 0.5})
            measured(graph, pruner, None)  # the first call loads compiled code, which is not what is compared
            reports[method] = measured(graph, pruner, None)[1]
    if not as_json:
        show(reports, False, lambda: comparison_table(reports))
    with errors():
        trained, report = _trained(smoke, out)
    if as_json:
        show({"pruning": reports, "training": trained, "report": report}, True, str)
    elif trained:
        show(trained, False, lambda: training_table(trained))
        tell(f"Report: {report}" if report else "For a page with plots: pip install 'lsprune[report]'")
    else:
        tell("To see what pruning does to training: pip install 'lsprune[gnn]'")


def _trained(smoke: bool, out: Path) -> tuple[dict[str, Report], str | None]:
    """What the demo study says of each method, nothing without PyTorch Geometric; and its report, given jinja2."""
    from importlib.util import find_spec

    if find_spec("torch_geometric") is None:
        return {}, None
    with tempfile.TemporaryDirectory() as folder:
        study, results = chosen_study("demo", Path(folder), smoke, "", "", "", "", None)
        from lsprune.lab.studies.study import run_study, status

        with watching(status(study, results), None, None) as watchers:
            run_study(study, results, watchers=watchers)
        records = results.read()
        report = None
        if find_spec("jinja2") is not None:
            from lsprune.lab.reporting import write_report

            report = str(write_report([results.path], out).path)
    rows: dict[str, Report] = {}
    for method in dict.fromkeys(record["run"]["method"] for record in records):
        of_method = [record for record in records if record["run"]["method"] == method]
        numbers = ("test", "share", "prune_seconds", "train_seconds_per_epoch", "test_seconds")
        rows[method] = {name: mean([record[name] for record in of_method]) for name in numbers}
        rows[method]["runs"] = [record["test"] for record in of_method]
    return rows, report


def measured(graph: Graph, pruner: Pruner, threads: int | None) -> tuple[Array, Report]:
    """The mask, and what it did: counts, seconds and edges per second; what was chosen, where that was left open."""
    from lsprune.kernels import runtime
    from lsprune.measure import summary

    _ = runtime(threads).module  # importing numba is not pruning
    start = time.perf_counter()
    chosen = pruner.fit(graph, threads=threads) if getattr(pruner, "chosen_by_fit", False) else None
    mask = (chosen or pruner).mask(graph, threads=threads)
    seconds = time.perf_counter() - start
    counts = asdict(summary(graph, mask, side=pruner.side, threads=threads))
    said = {} if chosen is None else {"chosen": chosen.to_dict()}
    return mask, {**counts, "seconds": seconds, "edges_per_second": graph.num_edges / max(seconds, 1e-9), **said}


def power_law_graph(*, nodes: int, edges: int, features: int, seed: int) -> Graph:
    """A directed Chung-Lu graph: endpoints drawn with probability ~ (rank + 10)^-0.5, ids permuted, no self-loops."""
    import numpy as np

    from lsprune.graph import Graph

    random = np.random.default_rng(seed)
    weight = (np.arange(nodes) + 10.0) ** -0.5
    ids = random.permutation(nodes)
    ends = ids[random.choice(nodes, (2, edges), p=weight / weight.sum())]
    ends[1] = np.where(ends[0] == ends[1], (ends[1] + 1) % nodes, ends[1])
    x = random.standard_normal((nodes, features), dtype=np.float32)
    return Graph.from_edges(ends, num_nodes=nodes, x=x)
