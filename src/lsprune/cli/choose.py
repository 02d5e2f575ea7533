"""`lsprune choose`: find the pruner that suits a graph with a cheap probe; print and plot the trials."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lsprune.cli.console import Json, baseline_note, errors, framed, show, tell, trials_bar
from lsprune.cli.option_groups import with_groups
from lsprune.cli.study import parse_seconds
from lsprune.cli.user_graph_options import GraphFile, SplitOptions, UserGraphOptions, parse_shares, prune_words
from lsprune.errors import OptionError

if TYPE_CHECKING:
    from rich.table import Table

    from lsprune.chooser import Choice


@with_groups
def choose_command(
    graph: GraphFile,
    description: UserGraphOptions,
    splits: SplitOptions,
    keep: Annotated[float | None, typer.Option(help="Share of the edges to keep, in (0, 1].")] = None,
    shares: Annotated[
        str, typer.Option(metavar="LIST", help="Shares to try; the smallest lossless one is chosen.")
    ] = "",
    goal: Annotated[
        str | None, typer.Option(metavar="GOAL", help='"lossless" or, for example, "2x faster" (default: lossless).')
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Start no trial after this time: 90s, 5m (default), 1h.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write trials to this file; skip those already in it.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the fitted pruner: .npz, for `prune --fitted`.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a plot: .png, .svg or .pdf.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 0,
    threads: Annotated[int | None, typer.Option(help="Threads (default: LSPRUNE_THREADS, else all cores).")] = None,
    as_json: Json = False,
) -> None:
    """Choose the pruner that suits your graph, in seconds. Test labels are never read.

    Each candidate prunes the graph; a cheap model is trained on the result and scored on the validation nodes.

    Example: lsprune choose cora.npz --keep 0.25 --save pruner.npz --plot choice.png

    Example: lsprune choose edges.parquet --features nodes.parquet --label topic --goal lossless --budget 2m
    """
    with errors():
        from lsprune.chooser.choosing import SECONDS, choose
        from lsprune.files.edge_list import check_output
        from lsprune.lab.user_graph import read_user_graph

        if save is not None and save.suffix.lower() != ".npz":
            raise OptionError(f"save must be a .npz file, got {save}")
        if save is not None:
            check_output(save, graph)
        if plot is not None:
            from lsprune.lab.survey_plot import check_plot

            check_plot(plot)
        wanted = parse_shares(shares) if shares else None
        goal = "lossless" if goal is None and keep is None and wanted is None else goal
        files = description.files(graph, splits)
        user_graph = read_user_graph(files)
        train, val = (None, None) if user_graph.masks is None else user_graph.masks[:2]
        seconds = parse_seconds(budget) if budget else SECONDS
        with trials_bar(seconds) as progress:
            found = choose(
                user_graph.graph, keep=keep, shares=wanted, goal=goal, y=user_graph.y, train_mask=train, val_mask=val,
                resume=resume, seed=seed, threads=threads, seconds=seconds, progress=progress,
            )  # fmt: skip
        if save is not None:
            found.save(save)
        if plot is not None and found.tried:
            from lsprune.lab.survey_plot import write_plot

            write_plot(found.plot(graph.name), plot)
        if as_json:
            show(found.to_dict(), True, str)
            return
        if found.tried:
            show(None, False, lambda: choice_table(graph.name, found))
        for line in _lines(found, plot):
            tell(line)
        if save is not None:
            if files.features not in (None, "x") and files.node_file is None:
                tell(f"Before it is used, save the array {files.features} of {graph} as {files.features}.npy.")
            tell(f"Saved. Prune with it: {prune_words(files, user_graph, save)}")


def _lines(found: Choice, plot: Path | None) -> Iterator[str]:
    """Yield the lines below the table: the reason for the choice, and the next step."""
    if found.tried:
        from lsprune.chooser.metrics import metric_of

        metric = metric_of(found.metric)
        yield from baseline_note(row.name for row in found.tried)
        yield "top-: each node keeps its edges of largest weight; -out: senders own edges, not receivers"
        yield f"{metric.head}: {metric.shown}, of a linear probe; {metric.about_gains}, with 95 % interval"
    yield found.reason
    if not found.finished:
        yield "Time ran out before all candidates were tried: raise --budget, or continue with --resume FILE."
    if plot is not None:
        yield f"Plot: {plot}" if found.tried else "No plot: nothing was judged."


def choice_table(name: str, found: Choice) -> Table:
    """Return a table with a line for each candidate and share; the choice is marked."""
    from lsprune.chooser.metrics import metric_of

    metric = metric_of(found.metric)
    table = framed(f"{name}: what was tried", "", "candidate", "kept", metric.head, "gain", "interval", "s")
    table.columns[1].justify = "left"
    for row in found.tried:
        known = row.low == row.low
        mark = "->" if (row.name, row.keep) == (found.name, found.keep) else ""
        low, high = metric.gain(row.low), metric.gain(row.high)
        gain = (metric.gain(row.gain), f"[{low}, {high}]") if known else ("", "")
        table.add_row(mark, row.name, f"{100 * row.keep:.3g} %", metric.score(row.score), *gain, f"{row.seconds:.1f}")
    return table
