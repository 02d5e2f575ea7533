"""`lsprune inspect`: what kind of graph it is, and what each method would keep of it, without training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lsprune.cli.console import Json, errors, framed, show, steps, tell
from lsprune.cli.edge_file_options import NodeId, NodeX
from lsprune.cli.study import listed
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
    command_words,
    own_files,
    shares_of,
)

if TYPE_CHECKING:
    from rich.table import Table

    from lsprune.lab.survey import Profile, Trial


NOTES = {
    "left alone": "nodes that had neighbours and have none left",
    "alike": "do neighbourhoods that overlapped still do so? Rank correlation, best 1",
    "one class": "kept edges whose ends have the same label",
    "same": "how much of it is kept again with noise on the attributes, or without a tenth of the edges",
}


def inspect_command(
    graph: GraphFile,
    features: Features = None,
    node_id: NodeId = None,
    x: NodeX = "",
    labels: Labels = None,
    label: Label = None,
    edge_attr: EdgeAttr = "",
    source: Source = None,
    target: Target = None,
    memory: Memory = None,
    methods: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Methods, by commas (default: random,local-random,lsp-p,lsp-auto-a,low-degree,jaccard).",
        ),
    ] = "",
    shares: Shares = "0.1,0.25,0.5",
    stability: Annotated[
        bool, typer.Option("--stability", help="Also: is the same kept in a slightly different copy? Slower.")
    ] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Write plots: .png, .svg or .pdf.")] = None,
    as_json: Json = False,
) -> None:
    """Say what kind of graph it is and what each method would keep of it. Nothing is trained.

    Example: lsprune inspect cora.npz --plot cora.png

    Example: lsprune inspect edges.parquet --features nodes.parquet --label venue --methods lsp-p,jaccard --shares 0.3
    """
    with errors():
        from lsprune.lab.survey import plan_trials, profile, run_trial, suggest
        from lsprune.lab.user_graph import read_user_graph

        wanted = shares_of(shares)
        if plot is not None:
            from lsprune.lab.survey_plot import check_plot

            check_plot(plot)
        files = own_files(
            graph, features, labels, label, edge_attr, source, target, node_id=node_id, x=x, memory=memory
        )
        own = read_user_graph(files)
        plan = plan_trials(own, listed(methods), wanted)
        tried: list[Trial] = []
        with steps(len(plan) + 1) as step:
            step("measuring the graph")
            found = profile(own)
            for name, share in plan:
                step(f"pruning with {name}, keep={share:g}")
                tried.append(run_trial(own, name, share, stable=stability))
        if plot is not None:
            from lsprune.lab.survey_plot import draw_survey, write_plot

            write_plot(draw_survey(own, found, tried, graph.name), plot)
        advice, command = suggest(found, command_words(files))
        said = {
            "graph": found.to_dict(), "methods": [one.to_dict() for one in tried], "suggestion": advice,
            "next": command,
            "plot": None if plot is None else str(plot),
        }  # fmt: skip
        if as_json:
            show(said, True, str)
            return
        show(said, False, lambda: portrait_table(graph.name, found))
        show(said, False, lambda: kept_table(tried))
        for word, meaning in NOTES.items():
            if (word != "same" or stability) and (word != "one class" or tried[0].homophily is not None):
                tell(f"{word}: {meaning}")
        needs = "" if found.classes else ", which needs labels (--label or --labels)"
        tell(advice)
        tell(f"What is lost, only training tells{needs}: {command}")
        if plot is not None:
            tell(f"Plot: {plot}")


def portrait_table(name: str, found: Profile) -> Table:
    """What kind of graph it is, a line for each thing."""
    shape = found.shape
    least, quarter, half, more, most, nearly, largest = (f"{value:,.0f}" for value in shape.degrees)
    table = framed(name, "", "")
    table.columns[1].justify = "left"
    table.add_row("nodes", f"{shape.nodes:,}")
    table.add_row("edges", f"{shape.edges:,}, {_direction(found)}")
    table.add_row("self-loops, duplicates", f"{found.self_loops:,}, {found.duplicates:,}")
    table.add_row("isolated nodes", f"{shape.isolated:,}")
    table.add_row("components", f"{shape.components:,}, the largest with {shape.largest:.1%} of the nodes")
    table.add_row("neighbours, mean", f"{shape.degree_mean:.2f}")
    table.add_row("neighbours, quantiles", f"{least} least, {quarter} at 25 %, {half} at 50 %, {more} at 75 %")
    table.add_row("", f"{most} at 90 %, {nearly} at 99 %, {largest} most")
    table.add_row("clustering", f"{shape.clustering:.3f}" + (" (2,000 nodes sampled)" if shape.nodes > 2000 else ""))
    table.add_row("node attributes", str(found.nodes))
    table.add_row("edge attributes", str(found.edges))
    if found.classes:
        table.add_row("labels", f"{found.classes:,} classes, {found.labelled:,} nodes labelled")
    if found.homophily is not None:
        table.add_row("edges within a class", f"{found.homophily:.1%}")
    return table


def _direction(found: Profile) -> str:
    if found.kind == "symmetric":
        return "symmetric: every edge has its reverse"
    return found.kind if found.kind == "bipartite" else f"directed: {found.reciprocal:.1%} have their reverse"


def kept_table(tried: list[Trial]) -> Table:
    """A line for each method and share."""
    heads = ["method", "kept", "left\nalone", "compo-\nnents", "largest\ndegree", "alike"]
    labelled, shaken = tried[0].homophily is not None, tried[0].noise is not None
    heads += ["one\nclass"] * labelled + ["same,\nnoise", "same,\ndropout"] * shaken + ["s"]
    table = framed("what would be kept", *heads)
    for one in tried:
        counts = f"{one.isolated:,}", f"{one.components:,}", f"{one.degree_max:,.0f}"
        more = [_number(one.homophily, "{:.1%}")] * labelled
        more += [_number(one.noise), _number(one.dropout)] * shaken
        table.add_row(one.method, f"{one.share:.1%}", *counts, _number(one.alike), *more, f"{one.seconds:.3f}")
    return table


def _number(value: float | None, form: str = "{:.2f}") -> str:
    return "" if value is None or value != value else form.format(value)
