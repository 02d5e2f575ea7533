"""The whole table: every figure and table of the paper with its points beside ours and a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lsprune.lab.reporting.comparison import StudyResults
from lsprune.lab.reporting.paper_table.figures import PANELS, Panel
from lsprune.lab.reporting.paper_table.fixed_tables import FixedTable, fixed_tables
from lsprune.lab.reporting.paper_table.points import (
    LSP_LINES,
    Point,
    lines_of,
    own_points,
    points_of,
    time_points,
    variance_points,
)
from lsprune.lab.reporting.paper_table.verdict import Count, Order, Verdict, agrees_by_best_test, orders, verdict


@dataclass(frozen=True, eq=False)
class Entry:
    """A plot of the paper, our points beside it, and the verdict."""

    panel: Panel
    points: Sequence[Point]
    verdict: Verdict

    @cached_property
    def orders(self) -> list[Order]:
        """The orders that were compared."""
        return [] if self._has_no_order else orders(self.panel.metric, self.points)

    @property
    def _has_no_order(self) -> bool:
        return self.panel.is_time or self.panel.metric == "variance"

    @property
    def by_best_test(self) -> Count:
        """How many values would agree with ours at the best epoch by the test set."""
        counted = [p for p in self.points if p.best_test is not None and not (p.setting.short or p.setting.rebuilt)]
        return Count(sum(agrees_by_best_test(self.panel.metric, point) for point in counted), len(counted))

    @property
    def conditions(self) -> list[str]:
        """What a reader must know of our runs: how many points, seeds and epochs, and what was rebuilt."""
        if not self.points or self._has_no_order:
            return []
        part = self.panel.part
        at_points = sum(point.line in LSP_LINES and point.exact for point in self.points)
        seeds = sorted({point.ours.runs for point in self.points})
        epochs = sorted({point.setting.epochs for point in self.points if point.setting.short})
        limits = sorted({point.setting.limit for point in self.points if point.setting.limit is not None})
        return [
            f"{at_points} of {own_points(self.panel)} LSP points",
            "one run each" if seeds == [1] else f"{_range(seeds)} runs each",
            *([f"short training: {_range(epochs)} of {part.epochs} epochs"] if epochs else []),
            *([f"at most {_range(limits)} graphs of each split"] if limits else []),
            *([self.panel.differs] if self.panel.differs else []),
        ]


@dataclass(frozen=True, eq=False)
class PaperTable:
    """Every figure and table of the paper."""

    entries: Sequence[Entry]
    fixed: Sequence[FixedTable]

    def entry(self, key: str) -> Entry:
        """Return the entry of a plot by its key."""
        return next(entry for entry in self.entries if entry.panel.key == key)

    @property
    def plots(self) -> list[tuple[Entry, Entry | None]]:
        """Each plot of a metric with its plot of times, in the order of the figures."""
        times = {(entry.panel.dataset, entry.panel.target): entry for entry in self.entries if entry.panel.is_time}
        return [
            (entry, None if entry.panel.metric == "variance" else times[entry.panel.dataset, entry.panel.target])
            for entry in self.entries
            if not entry.panel.is_time
        ]


def paper_table(studies: Sequence[StudyResults]) -> PaperTable:
    """Return the table of these results."""
    return PaperTable([_entry(panel, studies) for panel in PANELS], fixed_tables())


def _entry(panel: Panel, studies: Sequence[StudyResults]) -> Entry:
    problem = ""
    if panel.is_time:
        points, problem = time_points(panel, studies)
    elif panel.metric == "variance":
        points = variance_points(panel, studies)
    else:
        points = points_of(panel, studies)
    found = verdict(panel.metric, points, lines_of(panel), problem=problem)
    return Entry(panel, points, found)


def _range(numbers: Sequence[int]) -> str:
    return f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
