"""`lsprune inspect`: describe a graph, and what each method would keep of it, without training."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lsprune.cli.console import Json, baseline_note, errors, framed, show, tell, trials_bar
from lsprune.cli.edge_file_options import Split
from lsprune.cli.option_groups import with_groups
from lsprune.cli.study import split_methods
from lsprune.cli.user_graph_options import (
    GraphFile,
    Shares,
    SplitOptions,
    UserGraphOptions,
    command_words,
    parse_shares,
)

if TYPE_CHECKING:
    from rich.table import Table

    from lsprune.lab.survey import Profile, Trial


NOTES = {
    "left alone": "nodes that lost all their neighbours",
    "alike": "do similar neighbourhoods stay similar? Rank correlation of their overlaps, 1 is best",
    "one class": "kept edges whose ends have the same label",
    "same": "share of the kept edges that are kept again with noise on the attributes, or without a tenth of the edges",
}
MAX_DECIMALS = 15  # of a share in percent


@with_groups
def inspect_command(
    graph: GraphFile,
    description: UserGraphOptions,
    methods: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Comma-separated methods; put pruners with options in brackets: (lsp:hash=signs,weights=degree) "
            "(default: random, local-random, lsp-projection, lsp-auto, low-degree, jaccard).",
        ),
    ] = "",
    shares: Shares = "0.1,0.25,0.5",
    split: Split = "",
    stability: Annotated[
        bool,
        typer.Option("--stability", help="Also measure whether a slightly changed graph keeps the same edges. Slower."),
    ] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Write plots: .png, .svg or .pdf.")] = None,
    as_json: Json = False,
) -> None:
    """Describe a graph and what each method would keep of it. Nothing is trained.

    On a very small graph, shares at which a method keeps the same number of edges are shown once.

    Example: lsprune inspect cora.npz --plot cora.png

    Example: lsprune inspect edges.parquet --features nodes.parquet --methods lsp-projection,jaccard --shares 0.3

    Example: lsprune inspect edges.parquet --features nodes.parquet --label topic --split part
    """
    with errors():
        from lsprune.lab.survey import distinct_trials, plan_trials, profile, run_trial, suggest
        from lsprune.lab.user_graph import read_user_graph

        parsed_shares = parse_shares(shares)
        if plot is not None:
            from lsprune.lab.survey_plot import check_plot

            check_plot(plot)
        files = description.files(graph, SplitOptions(split=split))
        user_graph = read_user_graph(files)
        plan = plan_trials(user_graph, split_methods(methods), parsed_shares)
        trials: list[Trial] = []
        with trials_bar() as progress:
            progress(0, len(plan) + 1, "measuring the graph")
            graph_profile = profile(user_graph)
            for number, (method, share) in enumerate(plan, 1):
                progress(number, len(plan) + 1, f"pruning with {method.name}, keep={share:g}")
                trials.append(run_trial(user_graph, method, share, stable=stability))
        trials = distinct_trials(trials)
        if plot is not None:
            from lsprune.lab.survey_plot import draw_survey, write_plot

            write_plot(draw_survey(user_graph, graph_profile, trials, graph.name), plot)
        advice, command = suggest(graph_profile, command_words(files))
        report = {
            "graph": graph_profile.to_dict(), "methods": [trial.to_dict() for trial in trials], "suggestion": advice,
            "next": command, "plot": None if plot is None else str(plot),
        }  # fmt: skip
        if as_json:
            show(report, True, str)
            return
        show(report, False, lambda: profile_table(graph.name, graph_profile))
        show(report, False, lambda: trial_table(trials))
        for line in _lines(graph_profile, trials, advice, command):
            tell(line)
        if plot is not None:
            tell(f"Plot: {plot}")


def _lines(graph_profile: Profile, trials: list[Trial], advice: str, command: str) -> Iterator[str]:
    """Yield the lines below the tables: the meaning of names and columns, and the next step."""
    yield from baseline_note(trial.method for trial in trials)
    trial = trials[0]
    for column, meaning in NOTES.items():
        if (column != "same" or trial.noise is not None) and (column != "one class" or trial.homophily is not None):
            yield f"{column}: {meaning}"
    yield advice
    needs = "" if graph_profile.label_kind else " (needs labels: --label or --labels)"
    yield f"To measure the loss of accuracy, train{needs}: {command}"


def profile_table(name: str, graph_profile: Profile) -> Table:
    """Return a table that describes the graph."""
    shape = graph_profile.shape
    least, quarter, half, more, most, nearly, largest = (f"{value:,.0f}" for value in shape.degrees)
    table = framed(name, "", "")
    table.columns[1].justify = "left"
    table.add_row("nodes", f"{shape.nodes:,}")
    table.add_row("edges", f"{shape.edges:,}, {_direction(graph_profile)}")
    table.add_row("self-loops, duplicates", f"{graph_profile.self_loops:,}, {graph_profile.duplicates:,}")
    table.add_row("isolated nodes", f"{shape.isolated:,}")
    table.add_row("components", f"{shape.components:,}, the largest with {shape.largest:.1%} of the nodes")
    table.add_row("neighbours, mean", f"{shape.degree_mean:.2f}")
    table.add_row("neighbours, quantiles", f"{least} least, {quarter} at 25 %, {half} at 50 %, {more} at 75 %")
    table.add_row("", f"{most} at 90 %, {nearly} at 99 %, {largest} most")
    table.add_row("clustering", f"{shape.clustering:.3f}" + (" (2,000 nodes sampled)" if shape.nodes > 2000 else ""))
    table.add_row("node attributes", str(graph_profile.nodes))
    table.add_row("edge attributes", str(graph_profile.edges))
    if graph_profile.label_kind:
        kinds = {"classes": f"{graph_profile.classes:,} classes", "labels": "several a node", "numbers": "numbers"}
        table.add_row("labels", f"{kinds[graph_profile.label_kind]}, {graph_profile.labelled:,} nodes labelled")
    if graph_profile.homophily is not None:
        table.add_row("edges within a class", f"{graph_profile.homophily:.1%}")
    return table


def _direction(graph_profile: Profile) -> str:
    if graph_profile.kind == "symmetric":
        return "symmetric: every edge has its reverse"
    return (
        graph_profile.kind
        if graph_profile.kind == "bipartite"
        else f"directed: {graph_profile.reciprocal:.1%} have their reverse"
    )


def trial_table(trials: list[Trial]) -> Table:
    """Return a table with a line for each method and share."""
    heads = ["method", "kept", "left\nalone", "compo-\nnents", "largest\ndegree", "alike"]
    labelled, stable = trials[0].homophily is not None, trials[0].noise is not None
    heads += ["one\nclass"] * labelled + ["same,\nnoise", "same,\ndropout"] * stable + ["s"]
    table = framed("what would be kept", *heads)
    decimals = _share_decimals(trials)
    for trial in trials:
        share, alike = f"{trial.share:.{decimals}%}", _number(trial.alike)
        counts = f"{trial.isolated:,}", f"{trial.components:,}", f"{trial.degree_max:,.0f}"
        more = [_number(trial.homophily, "{:.1%}")] * labelled
        more += [_number(trial.noise), _number(trial.dropout)] * stable
        table.add_row(trial.method, share, *counts, alike, *more, f"{trial.seconds:.3f}")
    return table


def _share_decimals(trials: list[Trial]) -> int:
    """Return how many decimals a percentage needs so that no two rows of a method look the same; at least one."""

    def are_apart(decimals: int) -> bool:
        return len({(trial.method, f"{trial.share:.{decimals}%}") for trial in trials}) == len(trials)

    return next((decimals for decimals in range(1, MAX_DECIMALS) if are_apart(decimals)), MAX_DECIMALS)


def _number(value: float | None, form: str = "{:.2f}") -> str:
    return "" if value is None or value != value else form.format(value)
