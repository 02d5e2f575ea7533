"""Find the best trade-offs between the metric and the cost of training."""

from __future__ import annotations

from dataclasses import dataclass

from lsprune.lab.reporting.comparison import Comparison
from lsprune.lab.reporting.timing import Timing
from lsprune.lab.studies.methods import BASIC, NO_EDGES


@dataclass(frozen=True)
class Point:
    """A method at a share: what it costs and what it reaches."""

    method: str
    share: float
    cost: float
    metric: float


@dataclass(frozen=True)
class TradeOff:
    """The points that no other point beats in both cost and metric, the cheapest first.

    Args:
        cost: "seconds" of a training epoch, or "share" of the edges where times do not compare.
    """

    cost: str
    front: tuple[Point, ...]


def trade_off(comparison: Comparison, timing: Timing) -> TradeOff:
    """Return the best trade-offs of a comparison; the unpruned graph is one of the candidates."""
    cost = "seconds" if timing.training else "share"
    points = []
    for (method, budget), records in comparison.cells.items():
        estimate, share = comparison.estimate(method, budget), comparison.share(method, budget)
        defined = comparison.defined[method]
        if defined.every_epoch or defined.role in (NO_EDGES, BASIC) or estimate is None:
            continue
        amount = timing.seconds(records.values()) if cost == "seconds" else share
        if amount is not None:
            points.append(Point(method, share, amount, estimate.mean))
    return TradeOff(cost, tuple(_front(points, comparison.higher_is_better)))


def _front(points: list[Point], higher_is_better: bool) -> list[Point]:
    """Return the points from the cheapest to the best, each better than all cheaper ones.

    >>> points = [Point("a", 1, 1.0, 0.5), Point("b", 1, 2.0, 0.4), Point("c", 1, 3.0, 0.6)]
    >>> [point.method for point in _front(points, True)]
    ['a', 'c']
    """
    sign = 1 if higher_is_better else -1
    front: list[Point] = []
    for point in sorted(points, key=lambda point: (point.cost, -sign * point.metric, point.method)):
        if not front or sign * point.metric > sign * front[-1].metric:
            front.append(point)
    return front
