"""The tables of the plots as plain text in cells, the same for Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsprune.lab.reporting.formatting import per_cent
from lsprune.lab.reporting.paper import TIME
from lsprune.lab.reporting.paper_table import verdict as rule
from lsprune.lab.reporting.paper_table.fixed_tables import FixedTable
from lsprune.lab.reporting.paper_table.points import Point
from lsprune.lab.reporting.paper_table.table import Entry, PaperTable
from lsprune.lab.reporting.paper_table.verdict import Count, Verdict, agrees
from lsprune.lab.studies.methods import BASIC, NO_EDGES, UNPRUNED

COLUMNS = {"random": "random", "lsp-p": "LSP-P", "lsp-t": "LSP-T"}  # lines of the paper
REFERENCES = {UNPRUNED: "all edges", NO_EDGES: "no edges", BASIC: "all edges, basic model"}
SUBJECTS = {
    "accuracy": "Test accuracy",
    "micro-f1": "Test micro-F1",
    "mae": "Mean absolute error (lower is better)",
    "variance": "Variance of the number of nodes within so many hops",
}
READING = """\
✓: the value agrees. ≈: the paper has no point at this share, and its value is interpolated between two. Brackets are
95 % intervals over the runs. The command under a heading does all runs of its figure, which takes long; the list below
the table says which of them there are."""
MEASURE = """\
Ours is the test figure at the best validation epoch. The paper's runs report the best test figure over all epochs,
which flatters; a line below each table says how many values agree if ours are taken in that way."""
SUMMARY_HEADS = ("figure", "shows", "verdict", "values", "orders", "time", "our runs")


@dataclass(frozen=True)
class Cells:
    """A table: a head for each column, and rows of text."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class SummaryRow:
    """A row of the summary; `cells` are those of `SUMMARY_HEADS`, and `anchor` is what the second one links to."""

    anchor: str
    cells: tuple[str, ...]


def summary(made: PaperTable) -> list[SummaryRow]:
    """Return a row for each figure and table, in the order of their numbers."""
    rows = [(figure_order(fixed.about.figure), _fixed_row(fixed)) for fixed in made.fixed]
    rows += [(figure_order(entry.panel.figure), _plot_row(entry, time)) for entry, time in made.plots]
    return [row for _, row in sorted(rows, key=lambda row: row[0])]  # stable: plots stay in their order


def figure_order(figure: str) -> tuple[bool, int]:
    """Return what figures and then tables are ordered by.

    >>> figure_order("4b and 8"), figure_order("Table 1")
    ((False, 4), (True, 1))
    """
    return figure.startswith("Table"), int("".join(filter(str.isdecimal, figure.split(" and ")[0])))


def rule_lines() -> list[str]:
    """Return the rule of verdicts: the list in the docstring of the module that computes them."""
    doc = rule.__doc__ or ""
    listed = doc[doc.index("\n- ") + 3 :].split("\n\n")[0]
    return [" ".join(line.split()) for line in listed.split("\n- ")]


def because(found: Verdict) -> str:
    """Return the counts and the reason of a verdict in brackets, with a space before; empty if there are none.

    >>> because(Verdict("partly", Count(3, 4)))
    ' (3 of 4 values agree)'
    """
    reasons = [
        *([f"{found.values} values agree"] if found.values.total else []),
        *([f"{found.orders} orders are kept"] if found.orders.total else []),
        *([found.reason] if found.reason else []),
    ]
    return f" ({', '.join(reasons)})" if reasons else ""


def fixed_anchor(figure: str) -> str:
    """Return what a link to a figure or table without a study names.

    >>> fixed_anchor("2"), fixed_anchor("Table 1")
    ('figure-2', 'table-1')
    """
    return f"figure-{figure}" if figure.isdecimal() else figure.lower().replace(" ", "-")


def heading(figure: str, title: str) -> str:
    """Return the heading of a figure or table.

    >>> heading("4b and 8", "QM9"), heading("Table 1", "sizes")
    ('Figures 4b and 8: QM9', 'Table 1: sizes')
    """
    if figure.startswith("Table"):
        return f"{figure}: {title}"
    return f"Figure{'s' if ' and ' in figure else ''} {figure}: {title}"


def value_table(entry: Entry) -> Cells:
    """Return a row for each share with the paper's value and ours for each line, then the references."""
    if entry.panel.metric == "variance":
        return _variance_table(entry)
    metric = entry.panel.metric
    lines = [line for line in COLUMNS if any(point.line == line for point in entry.points)] or ["random"]
    places = {(point.line, round(point.share, 2)): point for point in entry.points}
    rows = []
    for share in sorted({share for line, share in places if line not in REFERENCES}):
        points = [places.get((line, share)) for line in lines]
        kept = next(point.share for point in points if point)
        rows.append((per_cent(kept), *(cell for point in points for cell in _cells(metric, point))))
    for line, label in REFERENCES.items():
        point = next((point for point in entry.points if point.line == line), None)
        if point is not None:
            rows.append((label, *_cells(metric, point), *[""] * (2 * len(lines) - 2)))
    heads = (head for line in lines for head in (f"{COLUMNS[line]}: paper", "ours"))
    return Cells(("edges kept", *heads), tuple(rows))


def time_table(time: Entry) -> Cells:
    """Return a row for each share: the paper's relative test time and ours."""
    rows = ((REFERENCES.get(point.line, per_cent(point.share)), *_cells(TIME, point)) for point in time.points)
    return Cells(("edges kept", "the paper", "ours"), tuple(rows))


def number(metric: str, value: float) -> str:
    """Return a value as the tables show it.

    >>> number("accuracy", 0.8), number("mae", 0.0234), number("variance", 18103.4)
    ('0.800', '0.0234', '18,103')
    """
    if metric in ("accuracy", "micro-f1"):
        return f"{value:.3f}"
    if metric == TIME:
        return f"{value:.2f}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}"


def remarks(entry: Entry) -> list[str]:
    """Return what stands below the table of a plot: which runs these are, and what differs."""
    if entry.panel.metric == "variance" or not entry.points:
        return []
    lines = list(_settings(entry.points, entry.panel.part.epochs))
    best = entry.by_best_test
    if best.total:
        lines.append(f"By the best test figure over all epochs, {best} values agree.")
    missing = [label for line, label in COLUMNS.items() if all(point.line != line for point in entry.points)]
    if missing:
        lines.append(f"Not run: {', '.join(missing)}.")
    if entry.panel.differs:
        lines.append(f"Our data differ: {entry.panel.differs}.")
    return lines


def _fixed_row(fixed: FixedTable) -> SummaryRow:
    about, found = fixed.about, fixed.verdict
    cells = (about.figure, about.title, found.word, _count(found.values), "", "", found.reason)
    return SummaryRow(fixed_anchor(about.figure), cells)


def _plot_row(entry: Entry, time: Entry | None) -> SummaryRow:
    panel, found = entry.panel, entry.verdict
    cells = (
        panel.figure, panel.title, found.word, _count(found.values), _count(found.orders),
        time.verdict.word if time else "", "; ".join([*filter(None, [found.reason]), *entry.conditions]),
    )  # fmt: skip
    return SummaryRow(panel.key, cells)


def _count(count: Count) -> str:
    return str(count) if count.total else ""


def _cells(metric: str, point: Point | None) -> tuple[str, str]:
    if point is None:
        return "", ""
    about = "" if point.exact else "≈ "
    spread = "" if point.ours.runs < 2 else f" [{number(metric, point.ours.low)}, {number(metric, point.ours.high)}]"
    tick = " ✓" if agrees(metric, point) else ""
    return f"{about}{number(metric, point.paper)}", f"{number(metric, point.ours.mean)}{spread}{tick}"


def _settings(points: Sequence[Point], epochs: int) -> Iterator[str]:
    """Yield which points are of which study, and how they were trained."""
    groups: dict[tuple[str, int, int | None, bool, int], list[Point]] = {}
    for point in points:
        setting = point.setting
        key = (setting.study, setting.epochs, setting.limit, setting.short, point.ours.runs)
        groups.setdefault(key, []).append(point)
    for (study, trained, limit, short, runs), group in sorted(groups.items(), key=lambda item: str(item[0])):
        length = f"short: {trained} of {epochs} epochs" if short else f"{trained} epochs"
        graphs = f", at most {limit:,} graphs of each split" if limit is not None else ""
        seeds = "one run" if runs == 1 else f"{runs} runs"
        yield f"Study {study} ({length}{graphs}, {seeds} each): {_where(group)}."


def _where(points: Iterable[Point]) -> str:
    """Return lines and shares in words."""
    shares: dict[str, list[str]] = {}
    for point in points:
        shares.setdefault(point.line, []).append(f"{100 * point.share:.0f}")
    return "; ".join(
        REFERENCES[line] if line in REFERENCES else f"{COLUMNS[line]} at {', '.join(at)} %"
        for line, at in shares.items()
    )


def _variance_table(entry: Entry) -> Cells:
    """Return a row for each share with "the paper / ours" for each number of hops."""
    hops = sorted({int(point.line) for point in entry.points})
    places = {(point.line, round(point.share, 2)): point for point in entry.points}
    rows = (
        (per_cent(share), *(_pair(places.get((str(count), share))) for count in hops))
        for share in sorted({share for _, share in places})
    )
    heads = (f"{count} hop{'' if count == 1 else 's'}: paper / ours" for count in hops)
    return Cells(("edges kept", *heads), tuple(rows))


def _pair(point: Point | None) -> str:
    if point is None:
        return ""
    tick = " ✓" if agrees("variance", point) else ""
    return f"{number('variance', point.paper)} / {number('variance', point.ours.mean)}{tick}"
