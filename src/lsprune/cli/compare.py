"""`lsprune compare`: prune a user's graph with several methods, train on each, and compare the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsprune.cli.console import Json, Report, baseline_note, errors, framed, show, tell, trials_bar
from lsprune.cli.option_groups import with_groups
from lsprune.cli.study import Device, Out, TimeLimit, open_callbacks, parse_seconds, split_methods, status_text
from lsprune.cli.user_graph_options import GraphFile, Shares, SplitOptions, UserGraphOptions, parse_shares
from lsprune.errors import GraphError

if TYPE_CHECKING:
    from rich.table import Table

    from lsprune.lab.reporting.comparison import Comparison
    from lsprune.lab.studies.compare import Row

HEADINGS = {"micro-f1": "micro-F1", "r2": "R²"}  # of metrics with unusual capitals
NO_PAGE = "For a page with plots: pip install 'lsprune[report]'"


@dataclass(frozen=True)
class TrainingOptions:
    """What is trained, and how often."""

    model: Annotated[
        str,
        typer.Option(
            help="node-gcn, node-sage or node-gat; with skip connections: node-gcn-skip, node-sage-skip or "
            "node-gat-skip; the paper's GATs: github-gat, planetoid-gat, ppi-gat."
        ),
    ] = "node-gat-skip"
    epochs: Annotated[int, typer.Option(min=1, help="Epochs of each run.")] = 200
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each method and share, with different seeds.")] = 3

    def keywords(self) -> dict[str, Any]:
        """Return the keywords of `user_graph_study`."""
        return {"model": self.model, "epochs": self.epochs, "seeds": self.seeds}


@with_groups
def compare_command(
    graph: GraphFile,
    description: UserGraphOptions,
    splits: SplitOptions,
    training: TrainingOptions,
    methods: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Comma-separated methods; put pruners with options in brackets: (lsp:hash=signs,weights=degree). "
            "unpruned and no-edges are always run (default: local-random and the finalists of `lsprune choose`).",
        ),
    ] = "",
    finalists: Annotated[
        int,
        typer.Option(min=1, help="Without --methods: number of candidates of `lsprune choose` to train at each share."),
    ] = 2,
    shares: Shares = "0.1,0.25,0.5",
    device: Device = "cpu",
    budget: TimeLimit = None,
    report: Annotated[Path, typer.Option("--report", "-o", help="The HTML page to write.")] = Path(
        "lsprune-compare.html"
    ),
    out: Out = Path("results"),
    as_json: Json = False,
) -> None:
    """Prune your own graph with several methods, train on each, and make a table and a report.

    Without --methods, a cheap probe first scores many pruners, as in `lsprune choose`, and only the best ones at each
    share are trained. After an interruption, the same command runs only what is missing. Pruners read at most the
    labels of training nodes; the probe also reads those of validation nodes.

    The metric is accuracy for classes, micro-F1 for several labels per node, and R² for numbers (with the mean absolute
    error). If the masks hold several splits, each seed uses one of them, and the probe uses the first.

    Example: lsprune compare cora.npz --shares 0.1,0.25

    Example: lsprune compare cora.npz --methods random,lsp-projection --shares 0.1,0.25,0.5 --label y -o cora.html

    Example: lsprune compare cora.npz --methods "random,(lsp:hash=signs,weights=degree)"

    Example: lsprune compare edges.parquet --features nodes.parquet --label venue --seeds 5 --budget 9m
    """
    with errors():
        from lsprune.lab.datasets.user_graph import user_graph_dataset
        from lsprune.lab.studies.compare import ranking, read_comparison, rows, user_graph_study
        from lsprune.lab.studies.result_files import Results
        from lsprune.lab.studies.run_study import run_study, status
        from lsprune.lab.training.environment import checked_device

        checked_device(device)
        seconds = None if budget is None else parse_seconds(budget)
        parsed_shares, can_write_page = parse_shares(shares), _check_report(report)
        files = description.files(graph, splits)
        data = user_graph_dataset(files).train  # errors in the files are raised before the first run
        _check_edges(data.num_edges)
        compared = split_methods(methods) if methods else _finalists(data, parsed_shares, finalists, out / files.name)
        study = user_graph_study(files, methods=compared, shares=parsed_shares, **training.keywords())
        results = Results(out / f"{study.name}.jsonl")
        with open_callbacks(status(study, results), budget=seconds) as callbacks:
            now = run_study(study, results, budget=seconds, device=device, data=files, callbacks=callbacks)
        comparison = read_comparison(study, results)
        table_rows = rows(comparison) if comparison else []
        page = _page(results.path, report) if can_write_page and comparison else None
        summary: Report = {"study": study.name, **asdict(now), "results": str(results.path), "report": page}
        summary |= {"metric": comparison.metric if comparison else None}
        summary |= {"ranking": ranking(comparison) if comparison else []}
        summary |= {"advice": _advice(comparison) if comparison else []}
        if as_json:
            show({**summary, "rows": [row.to_dict() for row in table_rows]}, True, str)
            return
        if table_rows:
            show(summary, False, lambda: compared_table(study.title, table_rows, summary["metric"]))
        for line in _lines(summary, can_write_page):
            tell(line)


def _check_edges(edges: int) -> None:
    if not edges:
        raise GraphError("compare needs a graph with edges, got none")


def _finalists(data: Any, shares: list[float], count: int, trials: Path) -> Sequence[Any]:
    """Return the methods to train if the user names none; keep a file of trials beside the results."""
    from lsprune.lab.studies.compare import METHODS
    from lsprune.lab.studies.finalists import find_finalists

    trials.parent.mkdir(parents=True, exist_ok=True)
    with trials_bar() as progress:
        found = find_finalists(
            data, shares, count=count, resume=trials.with_name(f"{trials.name}.trials"),
            progress=lambda done, all, name: progress(done, all, f"choosing: {name}"),
        )  # fmt: skip
    return found or METHODS


def _lines(summary: Report, can_write_page: bool) -> Iterator[str]:
    """Yield the lines below the table."""
    yield from baseline_note(summary["ranking"])
    if len(summary["ranking"]) > 1:
        yield f"By validation over all shares, best first: {', '.join(summary['ranking'])}."
    yield from summary["advice"]
    yield status_text(summary)
    yield f"Results: {summary['results']}"
    yield f"Report: {summary['report']}" if summary["report"] else "Report: none yet" if can_write_page else NO_PAGE


def _check_report(report: Path) -> bool:
    """Return whether jinja2 can make the report; raise OptionError before training if it cannot be written."""
    if find_spec("jinja2") is None:
        return False
    from lsprune.lab.reporting.html.page import check_destination

    check_destination(report, [])
    return True


def _page(results: Path, report: Path) -> str:
    from lsprune.lab.reporting import write_report

    return str(write_report([results], report).path)


def _advice(comparison: Comparison) -> list[str]:
    """Return the recommendation of the page, the reasons for it, and its certainty."""
    from lsprune.lab.reporting.recommendation import recommend
    from lsprune.lab.reporting.timing import timing_of

    advice = recommend(comparison, timing_of(comparison))
    return [advice.text, *advice.reasons]


def compared_table(title: str, rows: list[Row], metric: str = "accuracy") -> Table:
    """Return a table with a row for each method and share; the last column is the time of pruning and all epochs."""
    counts = {row.runs for row in rows}
    same = f", {max(counts)} seed{'s' if max(counts) > 1 else ''}" if len(counts) == 1 else ""
    has_mae = any(row.mae is not None for row in rows)
    heads = ["method", "kept", HEADINGS.get(metric, metric), "95 %\ninterval", *["mean abs.\nerror"] * has_mae]
    heads += ["prune\ns", "train\ns/epoch", "in all\ns"]
    table = framed(title + same, *heads, *[] if same else ["seeds"])
    for row in rows:
        bounds = "" if row.low is None or row.high is None else f"{row.low:.3f}–{row.high:.3f}"
        error = ["" if row.mae is None else f"{row.mae:.4g}"] * has_mae
        seconds = f"{row.prune_seconds:.3f}", f"{row.train_seconds_per_epoch:.4f}", f"{row.seconds:.2f}"
        more = [] if same else [str(row.runs)]
        table.add_row(row.method, f"{row.share:.1%}", f"{row.test:.3f}", bounds, *error, *seconds, *more)
    return table
