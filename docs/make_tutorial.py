"""Run docs/tutorial.md and write its outputs, and the same as docs/tutorial.ipynb: `python docs/make_tutorial.py`.

The page is edited by hand, all but the blocks of output. `--check` runs nothing and only says whether the notebook is
that of the page; a test runs the notebook and compares what it prints.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "tutorial.md"
NOTEBOOK = PAGE.with_suffix(".ipynb")
CELL = re.compile(r"^```(python|console)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
COLUMNS = "80"  # of the terminal that the commands print to


@dataclass(frozen=True)
class Cell:
    """A part of the page: text, Python, or commands; and what it printed."""

    kind: str  # "markdown", "python" or "console"
    source: str
    output: str = ""


def read_page(text: str) -> list[Cell]:
    """Return the parts of the page, in order."""
    cells, end = [], 0
    for found in CELL.finditer(text):
        cells.append(Cell("markdown", text[end : found.start()]))
        cells.append(Cell(found[1], found[2], found[3] or ""))
        end = found.end()
    cells.append(Cell("markdown", text[end:]))
    return [cell for cell in cells if cell.source]


def write_page(cells: Sequence[Cell]) -> str:
    """Return the page of these parts."""
    return "".join(_block(cell) for cell in cells)


def _block(cell: Cell) -> str:
    if cell.kind == "markdown":
        return cell.source
    output = f"\n```text\n{cell.output}```\n" if cell.output else ""
    return f"```{cell.kind}\n{cell.source}```\n{output}"


def write_notebook(cells: Sequence[Cell]) -> str:
    """Return the notebook of these parts, as JSON."""
    notebook = {
        "cells": [_notebook_cell(number, cell) for number, cell in enumerate(cells) if cell.source.strip()],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _notebook_cell(number: int, cell: Cell) -> dict[str, Any]:
    base = {"id": f"cell-{number}", "metadata": {}}
    if cell.kind == "markdown":
        return {"cell_type": "markdown", **base, "source": _lines(cell.source)}
    source = re.sub(r"^\$ ", "!", cell.source, flags=re.MULTILINE) if cell.kind == "console" else cell.source
    stream = {"name": "stdout", "output_type": "stream", "text": cell.output.splitlines(keepends=True)}
    outputs = [stream] if cell.output else []
    return {"cell_type": "code", **base, "execution_count": None, "outputs": outputs, "source": _lines(source)}


def _lines(text: str) -> list[str]:
    return text.strip().splitlines(keepends=True)


def read_notebook(text: str) -> Iterator[Cell]:
    """Yield the code cells of a notebook, with what they printed."""
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            output = "".join(line for stream in cell["outputs"] for line in stream["text"])
            commands = source.startswith("!")
            yield Cell(
                "console" if commands else "python", source.replace("!", "$ ", 1) if commands else source, output
            )


def run(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells with what they print now, run one after the other in the current folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [replace(cell, output=_printed(cell, names)) for cell in cells]


def _printed(cell: Cell, names: dict[str, Any]) -> str:
    if cell.kind == "markdown":
        return ""
    if cell.kind == "console":
        return "".join(map(_command, cell.source.strip().splitlines()))
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(cell.source, PAGE.name, "exec"), names)
    return _tidy(out.getvalue())


def _command(line: str) -> str:
    """Return what `$ lsprune ...` prints."""
    from typer.testing import CliRunner

    from lsprune.cli import app

    result = CliRunner().invoke(app, shlex.split(line)[2:], env={"COLUMNS": COLUMNS})
    if result.exit_code:
        raise SystemExit(f"{line}: {result.output}")
    lines = _tidy(result.stdout).splitlines()
    return "".join(
        textwrap.fill(line, int(COLUMNS), break_long_words=False, break_on_hyphens=False) + "\n" for line in lines
    )


def _tidy(text: str) -> str:
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


def main(arguments: Sequence[str]) -> None:
    """Write both files, or check the notebook."""
    cells = read_page(PAGE.read_text(encoding="utf8"))
    if "--check" in arguments:
        current = NOTEBOOK.exists() and NOTEBOOK.read_text(encoding="utf8") == write_notebook(cells)
        sys.exit(0 if current else "docs/tutorial.ipynb is old: python docs/make_tutorial.py")
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        warnings.simplefilter("ignore")
        cells = run(cells)
        os.chdir(before)
    PAGE.write_text(write_page(cells), encoding="utf8")
    NOTEBOOK.write_text(write_notebook(cells), encoding="utf8")


if __name__ == "__main__":
    main(sys.argv[1:])
