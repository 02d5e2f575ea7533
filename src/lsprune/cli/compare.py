"""`lsprune compare`: prune a graph of one's own with several methods, train on each, show what is lost and gained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lsprune.cli.console import Json, Report, errors, framed, show, tell
from lsprune.cli.edge_file_options import NodeId, NodeX
from lsprune.cli.study import Device, Out, listed, seconds_of, status_text, watching
from lsprune.cli.user_graph_options import (
    EdgeAttr,
    Features,
    GraphFile,
    Label,
    Labels,
    Memory,
    Shares,
    Source,
    Target,
    own_files,
    shares_of,
)
from lsprune.errors import OptionError

if TYPE_CHECKING:
    from rich.table import Table

    from lsprune.lab.reporting.comparison import Comparison
    from lsprune.lab.studies.compare import Row

NO_PAGE = "For a page with plots: pip install 'lsprune[report]'"


# One parameter for each option of the library, as with `prune`.
def compare_command(
    graph: GraphFile,
    methods: Annotated[
        str, typer.Option(metavar="LIST", help="Methods of a study, by commas; none and no-edges are always run.")
    ] = "random,local-random,lsp-p,lsp-auto-a,low-degree",
    shares: Shares = "0.1,0.25,0.5",
    task: Annotated[str, typer.Option(help="node-classification; there is no other yet.")] = "node-classification",
    label: Label = None,
    features: Features = None,
    node_id: NodeId = None,
    x: NodeX = "",
    labels: Labels = None,
    edge_attr: EdgeAttr = "",
    source: Source = None,
    target: Target = None,
    memory: Memory = None,
    split: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Three masks, or a column of train, val, test (default: train_mask, ..)."),
    ] = "",
    split_seed: Annotated[
        int | None, typer.Option(min=0, help="A random split, 60/20/20, instead of masks (default without masks: 0).")
    ] = None,
    model: Annotated[str, typer.Option(help="node-gat, github-gat, planetoid-gat or ppi-gat.")] = "node-gat",
    epochs: Annotated[int, typer.Option(min=1, help="Epochs of each run.")] = 200,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each, from different starts.")] = 3,
    device: Device = "cpu",
    budget: Annotated[str | None, typer.Option(help="Stop in time, as 90s, 9m or 2h.")] = None,
    report: Annotated[Path, typer.Option("--report", "-o", help="The HTML page to write.")] = Path(
        "lsprune-compare.html"
    ),
    out: Out = Path("results"),
    as_json: Json = False,
) -> None:
    """Prune your own graph with several methods, train on each, and make a table and a report.

    Stopped or killed and started again, it runs only what is missing. Pruners see features and edges, never labels.

    Example: lsprune compare cora.npz --methods random,local-random,lsp-p --shares 0.1,0.25,0.5 --label y -o cora.html

    Example: lsprune compare edges.parquet --features nodes.parquet --label venue --seeds 5 --budget 9m
    """
    with errors():
        from lsprune.lab.datasets.user_graph import user_graph_dataset
        from lsprune.lab.studies.compare import TASKS, own_study, panel_of, ranking, rows
        from lsprune.lab.studies.result_files import Results
        from lsprune.lab.studies.study import run_study, status

        if task not in TASKS:
            raise OptionError(f"task must be one of {', '.join(TASKS)}, got {task!r}")
        limit, wanted = None if budget is None else seconds_of(budget), shares_of(shares)
        paged = _check_report(report)
        files = own_files(
            graph, features, labels, label, edge_attr, source, target, split, split_seed, node_id, x, memory
        )
        study = own_study(files, methods=listed(methods), shares=wanted, model=model, epochs=epochs, seeds=seeds)
        user_graph_dataset(files)  # what is wrong with the files is said before the first run
        results = Results(out / f"{study.name}.jsonl")
        with watching(status(study, results), None, None) as watchers:
            now = run_study(study, results, budget=limit, device=device, data=files, watchers=watchers)
        panel = panel_of(study, results)
        found = rows(panel) if panel else []
        page = _page(results.path, report) if paged and panel else None
        said = {"study": study.name, **asdict(now), "results": str(results.path), "report": page}
        said |= {"ranking": ranking(panel), "advice": _advice(panel)} if panel else {"ranking": [], "advice": []}
        if as_json:
            show({**said, "rows": [row.to_dict() for row in found]}, True, str)
            return
        if found:
            show(said, False, lambda: compared_table(study.title, found))
        for line in _lines(said, paged):
            tell(line)


def _lines(said: Report, paged: bool) -> Iterator[str]:
    """What is said below the table."""
    if len(said["ranking"]) > 1:
        yield f"By validation over all shares, best first: {', '.join(said['ranking'])}."
    yield from said["advice"]
    yield status_text(said)
    yield f"Results: {said['results']}"
    yield f"Report: {said['report']}" if said["report"] else "Report: none yet" if paged else NO_PAGE


def _check_report(report: Path) -> bool:
    """Whether a page can be made; raises where it cannot be written, before anything is trained."""
    if find_spec("jinja2") is None:
        return False
    from lsprune.lab.reporting.html.page import check_destination

    check_destination(report, [])
    return True


def _page(results: Path, report: Path) -> str:
    from lsprune.lab.reporting import write_report

    return str(write_report([results], report).path)


def _advice(panel: Comparison) -> list[str]:
    """What the page says of the best LSP: its recommendation, and how sure it is."""
    from lsprune.lab.reporting.recommendation import recommend
    from lsprune.lab.reporting.timing import timing_of

    advice = recommend(panel, timing_of(panel))
    return [f"{advice.method}: {advice.text}" if advice.method else advice.text, *advice.reasons[1:]]


def compared_table(title: str, found: list[Row]) -> Table:
    """A line for each method and share; in all: the pruning and all epochs."""
    counts = {row.runs for row in found}
    same = f", {max(counts)} seed{'s' if max(counts) > 1 else ''}" if len(counts) == 1 else ""
    heads = ["method", "kept", "accuracy", "95 %\ninterval", "prune\ns", "train\ns/epoch", "in all\ns"]
    table = framed(title + same, *heads, *[] if same else ["seeds"])
    for row in found:
        bounds = "" if row.low is None or row.high is None else f"{row.low:.3f}–{row.high:.3f}"
        seconds = f"{row.prune_seconds:.3f}", f"{row.train_seconds_per_epoch:.4f}", f"{row.seconds:.2f}"
        more = [] if same else [str(row.runs)]
        table.add_row(row.method, f"{row.share:.1%}", f"{row.test:.3f}", bounds, *seconds, *more)
    return table
