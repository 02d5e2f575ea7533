"""What the report's section on the paper's figures shows, as plain data for its template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lsprune.lab.reporting.comparison import StudyResults
from lsprune.lab.reporting.paper_table.cells import (
    MEASURE,
    READING,
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
from lsprune.lab.reporting.paper_table.table import Entry, paper_table
from lsprune.lab.reporting.paper_table.verdict import MEANINGS

Data = dict[str, Any]
PREFIX = "paper-"  # of ids, so that they differ from those of the other sections


def paper_section(studies: Sequence[StudyResults]) -> Data | None:
    """Return the section; None if no run is of a figure of the paper."""
    made = paper_table(studies)
    figures = [(figure_order(fixed.about.figure), _fixed(fixed)) for fixed in made.fixed]
    figures += [(figure_order(entry.panel.figure), _plot(entry, time)) for entry, time in made.plots]
    if not any(entry.points for entry in made.entries):
        return None
    return {
        "findings": [{"headline": found.headline, "text": found.text} for found in findings(made, studies)],
        "heads": SUMMARY_HEADS,
        "rows": [{"anchor": PREFIX + row.anchor, "cells": row.cells} for row in summary(made)],
        "rule": [*(f"{word}: {meaning}." for word, meaning in MEANINGS.items()), *rule_lines()],
        "notes": [MEASURE, READING],
        "figures": [figure for _, figure in sorted(figures, key=lambda figure: figure[0])],
    }


def _fixed(fixed: FixedTable) -> Data:
    about = fixed.about
    tables = [_table("", Cells(("", "the paper", "ours"), fixed.rows))] if fixed.rows else []
    text = f"{about.shows} {fixed.remark}"
    return {
        "anchor": PREFIX + fixed_anchor(about.figure), "heading": heading(about.figure, about.title),
        "word": fixed.verdict.word, "because": because(fixed.verdict), "text": text, "command": about.command,
        "tables": tables, "remarks": [],
    }  # fmt: skip


def _plot(entry: Entry, time: Entry | None) -> Data:
    panel, found = entry.panel, entry.verdict
    tables = [_table("", value_table(entry))] if entry.points else []
    if time is not None and time.points:
        about = f"Time of a test pass beside that of the whole graph: {time.verdict.word}{because(time.verdict)}"
        tables.append(_table(about, time_table(time)))
    return {
        "anchor": PREFIX + panel.key, "heading": heading(panel.figure, panel.title), "word": found.word,
        "because": because(found), "text": panel.note, "command": panel.command, "tables": tables,
        "remarks": remarks(entry),
    }  # fmt: skip


def _table(about: str, cells: Cells) -> Data:
    return {"about": about, "heads": cells.heads, "rows": cells.rows}
