"""`lsprune report` and `lsprune figures`: results as one page for the browser, and as figures for print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lsprune.cli.console import Json, errors, show, steps


def report_command(
    results: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RESULTS]...", help="Files or folders of results (default: the folder results)."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file to write.")] = Path("report.html"),
    as_json: Json = False,
) -> None:
    """Make one HTML page of results: plots, tables, what to keep. It opens from disk and needs no network.

    Example: lsprune report results -o report.html
    """
    with errors(), steps(1) as step:
        from lsprune.lab.reporting import write_report

        step("making the report")
        written = write_report(results or [Path("results")], out)
    with errors():
        found = {"path": str(written.path), "bytes": written.bytes, "studies": list(written.studies)}
        number = len(written.studies)
        words = f"{written.path}: {number} {'study' if number == 1 else 'studies'}, {written.bytes / 1e6:.2f} MB"
        show(found, as_json, lambda: words)


def figures_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A study with results, or a .jsonl file.")],
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="Folder of the figures.")] = Path("figures"),
    formats: Annotated[str, typer.Option("--format", metavar="LIST", help="png, svg, pdf, by commas.")] = "png,svg,pdf",
    as_json: Json = False,
) -> None:
    """Write the figures of a study for print, one for each dataset.

    Example: lsprune figures cora --format pdf --out figures
    """
    with errors(), steps(1) as step:
        from lsprune.lab.reporting.figures.files import write_figures

        step("drawing")
        chosen = list(dict.fromkeys(one.strip() for one in formats.split(",") if one.strip()))
        written = [str(path) for path in write_figures(name, results, out, chosen)]
    with errors():
        show(written, as_json, lambda: written)
