"""`lsprune report` and `lsprune figures`: results as an HTML page, and as figures for print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lsprune.cli.console import Json, errors, show, steps


def report_command(
    results: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RESULTS]...", help="Result files or folders (default: the folder results)."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file to write.")] = Path("report.html"),
    as_json: Json = False,
) -> None:
    """Make one HTML page of results: plots, tables, and how many edges to keep. It loads nothing from the network.

    Example: lsprune report results -o report.html
    """
    with errors(), steps(1) as step:
        from lsprune.lab.reporting.html.page import write_report

        step("making the report")
        written = write_report(results or [Path("results")], out)
    with errors():
        result = {"path": str(written.path), "bytes": written.bytes, "studies": list(written.studies)}
        number = len(written.studies)
        text = f"{written.path}: {number} {'study' if number == 1 else 'studies'}, {written.bytes / 1e6:.2f} MB"
        show(result, as_json, lambda: text)


def figures_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A study with results, or a .jsonl file.")],
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="Folder of the figures.")] = Path("figures"),
    formats: Annotated[
        str, typer.Option("--format", metavar="LIST", help="Comma-separated formats: png, svg, pdf.")
    ] = "png,svg,pdf",
    as_json: Json = False,
) -> None:
    """Draw the figures of a study for print, one for each dataset.

    Example: lsprune figures cora --format pdf --out figures
    """
    with errors(), steps(1) as step:
        from lsprune.lab.reporting.figures.files import write_figures

        step("drawing")
        kinds = list(dict.fromkeys(kind.strip() for kind in formats.split(",") if kind.strip()))
        written = [str(path) for path in write_figures(name, results, out, kinds)]
    with errors():
        show(written, as_json, lambda: written)
