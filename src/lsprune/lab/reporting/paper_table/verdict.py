"""The rule that says whether a figure is reproduced: by its values, and by the order of its methods.

- A value agrees if the paper's is in our 95 % interval, or within one point of a score, a tenth of an error or of a
  variance, or 0.1 of a relative time.
- The order is compared between each LSP line and random at the same share, and between the basic model and the whole
  graph, wherever the paper's two values differ by more than that. It is kept if ours differ in the same direction.
- Where training was short or a part of the dataset is rebuilt, values do not count, and a figure is at most partly
  reproduced. Short training that contradicts the paper means little: the figure is not judged.

`MEANINGS` says what each verdict means.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lsprune.lab.reporting.paper import TIME
from lsprune.lab.reporting.paper_table.points import LSP_LINES, Point
from lsprune.lab.studies.methods import BASIC, UNPRUNED

Word = Literal["reproduced", "partly", "not reproduced", "not judged", "not run"]
MEANINGS: dict[Word, str] = {
    "reproduced": "at least 80 % of the values agree and 80 % of the orders of methods are kept, and no line of the "
    "figure is missing",
    "not reproduced": "fewer than half of the orders are kept; or, where fewer than three can be compared, fewer than "
    "half of the values agree",
    "partly": "neither of these two",
    "not judged": "what we have allows no verdict; the reason stands with the figure: short training, for example, or "
    "runs that shared the device while they were timed",
    "not run": "we have no run of it",
}
NO_RUN = "no run of it"
MOST, HALF = 0.8, 0.5
MIN_ORDERS = 3  # with fewer, the values decide, if there are any that count
TOO_SHORT = "only with short training, which does not show the paper's order"
NO_PAIR = "training was short, and there is no line of LSP beside random"
TOO_CLOSE = "training was short, and where we have runs the paper's lines are too close to have an order"
ABSOLUTE = {"accuracy": 0.01, "micro-f1": 0.01, TIME: 0.1}  # how far values may be apart
RELATIVE = {"mae": 0.1, "variance": 0.1}  # the same, of the paper's value


@dataclass(frozen=True)
class Count:
    """How many of so many."""

    yes: int
    total: int

    @property
    def share(self) -> float:
        """The share; one where there is nothing to count."""
        return self.yes / self.total if self.total else 1.0

    def __str__(self) -> str:
        return f"{self.yes} of {self.total}"


@dataclass(frozen=True)
class Order:
    """Two lines at one share, and whether ours are in the paper's order.

    Args:
        paper, ours: the first line's value less the second's.
    """

    line: str
    rival: str
    share: float
    paper: float
    ours: float

    @property
    def kept(self) -> bool:
        """Whether both differ in the same direction."""
        return self.paper * self.ours > 0


@dataclass(frozen=True)
class Verdict:
    """What came of a plot; the counts say why.

    Args:
        values: how many of the values that count agree.
        orders: how many of the orders are kept.
        reason: why it was not run or cannot be judged.
    """

    word: Word
    values: Count = Count(0, 0)
    orders: Count = Count(0, 0)
    reason: str = ""


def tolerance(metric: str, value: float) -> float:
    """Return how far from the paper's value ours may be.

    >>> tolerance("accuracy", 0.8), tolerance("mae", 0.5)
    (0.01, 0.05)
    """
    return ABSOLUTE[metric] if metric in ABSOLUTE else RELATIVE[metric] * abs(value)


def agrees(metric: str, point: Point) -> bool:
    """Return whether our value agrees with the paper's."""
    inside = point.ours.runs > 1 and point.ours.low <= point.paper <= point.ours.high
    return inside or abs(point.paper - point.ours.mean) <= tolerance(metric, point.paper)


def agrees_by_best_test(metric: str, point: Point) -> bool:
    """Return whether our figure at the best epoch by the test set agrees with the paper's."""
    return point.best_test is not None and abs(point.paper - point.best_test) <= tolerance(metric, point.paper)


def orders(metric: str, points: Sequence[Point]) -> list[Order]:
    """Return the pairs of lines whose order is compared; both are trained alike."""
    return list(_orders(metric, points))


def verdict(metric: str, points: Sequence[Point], lines: Iterable[str], *, problem: str = "") -> Verdict:
    """Return the verdict on a plot.

    Args:
        lines: the paper's lines; one without a point of ours keeps the plot from being reproduced.
        problem: why there are no points although there are runs.
    """
    if not points:
        return Verdict("not judged", reason=problem) if problem else Verdict("not run", reason=NO_RUN)
    counted = [point for point in points if not (point.setting.short or point.setting.rebuilt)]
    compared = orders(metric, points)
    values = Count(sum(agrees(metric, point) for point in counted), len(counted))
    kept = Count(sum(order.kept for order in compared), len(compared))
    if not (values.total or kept.total):
        pairs = any(_pairs(points))
        return Verdict("not judged", reason=TOO_CLOSE if pairs else NO_PAIR)
    complete = len(counted) == len(points) and {*lines} <= {point.line for point in points}
    word = _word(values, kept, complete)
    if word == "not reproduced" and any(point.setting.short for point in points):
        return Verdict("not judged", values, kept, TOO_SHORT)
    return Verdict(word, values, kept)


def _word(values: Count, kept: Count, complete: bool) -> Word:
    decisive = kept if kept.total >= MIN_ORDERS or not values.total else values
    if decisive.share < HALF:
        return "not reproduced"
    if complete and values.share >= MOST and kept.share >= MOST:
        return "reproduced"
    return "partly"


def _orders(metric: str, points: Sequence[Point]) -> Iterator[Order]:
    for point, other in _pairs(points):
        theirs = point.paper - other.paper
        if abs(theirs) > tolerance(metric, other.paper):
            yield Order(point.line, other.line, point.share, theirs, point.ours.mean - other.ours.mean)


def _pairs(points: Sequence[Point]) -> Iterator[tuple[Point, Point]]:
    """Iterate over the points of a line and of its rival at one share that are trained alike."""
    for line, rival in [*((line, "random") for line in LSP_LINES), (BASIC, UNPRUNED)]:
        rivals = {round(point.share, 2): point for point in points if point.line == rival}
        for point in (point for point in points if point.line == line):
            other = rivals.get(round(point.share, 2))
            if other is not None and other.setting.options == point.setting.options:
                yield point, other
