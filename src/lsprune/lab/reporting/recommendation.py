"""What to make of a panel: which share to keep, in words, and the front of the best trade-offs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsprune.lab.reporting.html_data import Clock, Data, short
from lsprune.lab.reporting.markdown_tables import per_cent
from lsprune.lab.reporting.panels import WHOLE, Budget, Panel, verdict
from lsprune.lab.reporting.records import TOLERANCE
from lsprune.lab.reporting.statistics import Comparison, compare
from lsprune.lab.studies.methods import FRESH


@dataclass(frozen=True)
class Advice:
    """The recommended point of a panel and why.

    Args:
        found: whether there is a share that loses nothing; if not, `text` says so and there is no point.
        text: one line, such as "Keep 25 %: −0.4 points, 2.9× faster training".
        why: how it was chosen and how sure it is, a sentence each.
        runs: seeds that the recommended point has.
    """

    found: bool
    text: str
    why: tuple[str, ...]
    method: str | None = None
    share: float | None = None
    runs: int = 0

    def to_data(self) -> Data:
        """As plain data for the page."""
        share = short(self.share)
        return {
            "found": self.found,
            "text": self.text,
            "why": list(self.why),
            "method": self.method,
            "share": share,
            "runs": self.runs,
        }


def advise(panel: Panel, clock: Clock) -> Advice:
    """The smallest lossless share of the LSP that validation chooses; test figures choose no method."""
    method = panel.best_lsp
    if method is None:
        return Advice(False, "No recommendation: no calibrated LSP was run here.", ())
    chosen = f"Method: {method}, chosen on validation among {_count(len(panel.ours), 'calibrated LSP')}."
    if not panel.values("none"):
        return Advice(False, "No recommendation: there is no unpruned run to compare with.", (chosen,), method)
    share = panel.lossless(method)
    if share is None and not all((method, budget) in panel.cells for budget in panel.budgets):
        return Advice(False, f"No recommendation yet: {method} was not run at every share.", (chosen,), method)
    if share is None:
        return Advice(False, _none_text(panel, method), (chosen, *_caution(panel, method)), method)
    budget = next(b for b in panel.budgets if (method, b) in panel.cells and panel.share(method, b) == share)
    text = f"Keep {per_cent(share)}: {_effect(panel, method, budget)}{_speed(panel, method, budget, clock)}"
    sure = (*_interval(panel, method, budget), *_more_lost(panel, method, budget), *_caution(panel, method))
    why = (chosen, _rule(panel), *sure, *_no_times(clock))
    return Advice(True, text, why, method, share, len(panel.values(method, budget)))


def _rule(panel: Panel) -> str:
    return (
        "Rule: the smallest share measured from which on every 95 % interval reaches the unpruned mean "
        f"{'less' if panel.higher_is_better else 'plus'} {_tolerance(panel)}."
    )


def _tolerance(panel: Panel) -> str:
    tolerance = TOLERANCE[panel.metric]
    return "half a point" if panel.higher_is_better and tolerance == 0.005 else f"{tolerance:g}"


def _none_text(panel: Panel, method: str) -> str:
    """What is lost at the largest share, where no share is lossless."""
    budgets = [budget for budget in panel.budgets if (method, budget) in panel.cells]
    largest = max(budgets, key=lambda budget: panel.share(method, budget))
    share = per_cent(panel.share(method, largest))
    lost = _effect(panel, method, largest)
    return f"No share measured comes within {_tolerance(panel)} of the unpruned graph: at {share} it is {lost}."


def difference(panel: Panel, method: str, budget: Budget) -> Comparison:
    """Pruned less unpruned, in pairs by seed; without a common seed only the difference of the means."""
    ours, whole = panel.values(method, budget), panel.values("none")
    if set(ours) & set(whole):
        return compare(ours, whole)
    pruned, unpruned = panel.level(method, budget), panel.level("none")
    assert pruned is not None and unpruned is not None
    return Comparison(pruned.mean - unpruned.mean, float("nan"), float("nan"), float("nan"), 1)


def _effect(panel: Panel, method: str, budget: Budget) -> str:
    return _units(panel, difference(panel, method, budget).difference, True)


def _units(panel: Panel, value: float, named: bool = False) -> str:
    """A difference in points of a score or in units of an error, with a proper minus.

    The sign is that of pruned less unpruned, for errors too.
    """
    number = f"{100 * value:+.1f}" if panel.higher_is_better else f"{value:+.4f}"
    plain = number.replace("-", "−").replace("−0.0000", "±0").replace("+0.0000", "±0")
    plain = {"−0.0": "±0", "+0.0": "±0"}.get(plain, plain)
    if not named:
        return plain
    return f"{plain} points" if panel.higher_is_better else f"{plain} {panel.metric.upper()}"


def _speed(panel: Panel, method: str, budget: Budget, clock: Clock) -> str:
    seconds = clock.seconds(panel.cells[method, budget].values())
    if not seconds or not clock.train:
        return ""
    ratio = clock.train / seconds
    if max(ratio, 1 / ratio) < 1.05:
        return ", training takes as long"
    return f", {ratio:.1f}× faster training" if ratio >= 1 else f", {1 / ratio:.1f}× slower training"


def _interval(panel: Panel, method: str, budget: Budget) -> Iterator[str]:
    gain = difference(panel, method, budget)
    if gain.runs > 1:
        low, high = _units(panel, gain.low), _units(panel, gain.high, True)
        yield f"The difference is paired by seed, {gain.runs} seeds, 95 % interval {low} to {high}."


def _more_lost(panel: Panel, method: str, budget: Budget) -> Iterator[str]:
    """The rule asks what an interval reaches, which few runs make easy."""
    lost = difference(panel, method, budget).difference * (-1 if panel.higher_is_better else 1)
    if lost > TOLERANCE[panel.metric]:
        yield f"On average more than {_tolerance(panel)} is lost; the interval only reaches it, and more seeds may not."


def _caution(panel: Panel, method: str) -> Iterator[str]:
    """What makes the advice weaker than it looks."""
    runs = min(len(panel.values(method, budget)) for budget in panel.budgets if (method, budget) in panel.cells)
    fewest = min(runs, len(panel.values("none")))
    if fewest < 3:
        known = "One run only: no interval" if fewest == 1 else "Two runs only: a poor interval"
        yield f"{known}, and chance may have decided."
    if panel.topology is not None and verdict(panel.topology) in ("not worse", "worse"):
        yield "The edges themselves do not clearly help here, so that any way to prune looks lossless."
    shares = [panel.share(method, budget) for budget in panel.budgets if (method, budget) in panel.cells]
    if panel.lossless(method) == min(shares):
        yield "It is the smallest share measured: a smaller one may do."


def _no_times(clock: Clock) -> Iterator[str]:
    if clock.why:
        yield f"Speed is not known: {clock.why}."


def _count(number: int, name: str) -> str:
    return f"{number} {name}" + ("" if number == 1 else "s")


# The front


def front_data(panel: Panel, clock: Clock) -> Data:
    """The cells that no other beats in both the metric and the seconds of an epoch, or the share without seconds."""
    across = "seconds" if clock.train and not clock.why else "share"
    cells = []
    for (method, budget), records in panel.cells.items():
        level = panel.level(method, budget)
        if method in FRESH or method in ("no-edges", "basic") or level is None:
            continue
        cost = clock.seconds(records.values()) if across == "seconds" else panel.share(method, budget)
        if cost is not None:
            cells.append((cost, level.mean, method, budget))
    points = [
        {"method": method, "share": short(panel.share(method, budget)), "x": short(cost), "y": short(mean)}
        for cost, mean, method, budget in _front(cells, panel.higher_is_better)
    ]
    whole = clock.train if across == "seconds" else 1.0 if ("none", WHOLE) in panel.cells else None
    return {"across": across, "points": points, "whole": short(whole)}


def _front(cells: list[tuple[float, float, str, Budget]], higher: bool) -> list[tuple[float, float, str, Budget]]:
    """From the cheapest to the best: each better than all cheaper ones.

    >>> [cell[2] for cell in _front([(1, 0.5, "a", WHOLE), (2, 0.4, "b", WHOLE), (3, 0.6, "c", WHOLE)], True)]
    ['a', 'c']
    """
    turn = 1 if higher else -1
    best: list[tuple[float, float, str, Budget]] = []
    for cell in sorted(cells, key=lambda one: (one[0], -turn * one[1], one[2])):
        if not best or turn * cell[1] > turn * best[-1][1]:
            best.append(cell)
    return best
