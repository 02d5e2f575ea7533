"""Make the page of the paper: every figure and table by number, the paper's values beside ours, verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lsprune.lab.reporting.comparison import StudyResults
from lsprune.lab.reporting.markdown.syntax import block, escape, table
from lsprune.lab.reporting.paper_table.cells import (
    MEASURE,
    READING,
    SUBJECTS,
    SUMMARY_HEADS,
    Cells,
    because,
    figure_order,
    fixed_anchor,
    heading,
    remarks,
    rule_lines,
    summary,
    time_table,
    value_table,
)
from lsprune.lab.reporting.paper_table.findings import findings
from lsprune.lab.reporting.paper_table.fixed_tables import FixedTable
from lsprune.lab.reporting.paper_table.table import Entry, PaperTable, paper_table
from lsprune.lab.reporting.paper_table.verdict import MEANINGS

NAME, NOTES = "paper.md", "paper-notes.md"
INTRODUCTION = """\
The method comes from Kosman, Oren, Di Castro, *LSP: Acceleration and Regularization of Graph Neural Networks via
Locality Sensitive Pruning of Graphs*. This page has every figure and table of it: the paper's values, ours, and a
verdict. Beside the paper's lines LSP-P and LSP-T stand the presets that do what its own runs did,
`lsp-projection-published` and `lsp-threshold-published`, not the methods that we recommend."""


def paper_page(studies: Sequence[StudyResults], results: Path, link: str) -> str | None:
    """Return the page as Markdown; None if no run is of a figure of the paper.

    Args:
        results: the folder that may have notes, `paper-notes.md`, which end the page.
        link: the path from the page to that folder.
    """
    made = paper_table(studies)
    if not any(entry.points for entry in made.entries):
        return None
    notes = results / NOTES
    parts = [
        "# The paper reproduced",
        f"Made from [the lines of every run]({link}) by `lsprune study page`: do not edit.",
        INTRODUCTION,
        "What the verdicts mean ([how they are made](#how-a-verdict-is-made)):",
        block([f"- **{word}**: {meaning}." for word, meaning in MEANINGS.items()]),
        "## What came out",
        block([f"- **{escape(found.headline)}** {escape(found.text)}" for found in findings(made, studies)]),
        "## All figures and tables",
        "*LSP points* are the points of the paper's lines LSP-P and LSP-T; the first number counts those at whose\n"
        "share of edges we have runs.",
        block(_summary(made)),
        "## How a verdict is made",
        block([f"- {line}" for line in rule_lines()]),
        MEASURE,
        "## Figure by figure",
        f"{READING} [Result files]({link}/README.md#how-the-files-were-made) has the commands that made them.",
        *_details(made),
        *([notes.read_text(encoding="utf8").strip()] if notes.exists() else []),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary(made: PaperTable) -> list[str]:
    rows = []
    for row in summary(made):
        figure, shows, word, *others = map(escape, row.cells)
        rows.append([figure, f"[{shows}](#{row.anchor})", _bold(word), *others])
    return table(SUMMARY_HEADS, rows)


def _bold(word: str) -> str:
    return f"**{word}**" if word in ("reproduced", "not reproduced") else word


def _details(made: PaperTable) -> Iterator[str]:
    """Yield the figures in the order of their numbers, then the tables."""
    parts = [(figure_order(fixed.about.figure), _fixed(fixed)) for fixed in made.fixed]
    parts += [(figure_order(entry.panel.figure), _plot(entry, time)) for entry, time in made.plots]
    for _, part in sorted(parts, key=lambda part: part[0]):  # stable: plots stay in their order
        yield from part


def _fixed(fixed: FixedTable) -> Iterator[str]:
    about, found = fixed.about, fixed.verdict
    yield f'<a id="{fixed_anchor(about.figure)}"></a>\n\n### {heading(about.figure, about.title)}'
    yield f"{about.shows} Verdict: {_bold(found.word)}{because(found)}. {fixed.remark}"
    yield _console(about.command)
    if fixed.rows:
        yield _table(Cells(("", "the paper", "ours"), fixed.rows))


def _plot(entry: Entry, time: Entry | None) -> Iterator[str]:
    panel, found = entry.panel, entry.verdict
    yield f'<a id="{panel.key}"></a>\n\n### {heading(panel.figure, panel.title)}'
    subject = f"{SUBJECTS[panel.metric]} against the share of edges kept."
    yield f"{subject} Verdict: {_bold(found.word)}{because(found)}. {panel.note}".strip()
    yield _console(panel.command)
    if entry.points:
        yield _table(value_table(entry))
        yield block([f"- {escape(line)}" for line in remarks(entry)])
    if time is not None:
        yield f"Time of a test pass beside that of the whole graph: {_bold(time.verdict.word)}{because(time.verdict)}."
        if time.points:
            yield _table(time_table(time))


def _console(command: str) -> str:
    return f"```console\n$ {command}\n```"


def _table(cells: Cells) -> str:
    return block(table(cells.heads, ([escape(cell) for cell in row] for row in cells.rows)))
