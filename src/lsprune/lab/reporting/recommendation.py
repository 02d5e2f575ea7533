"""Recommend how many edges to keep: the smallest lossless share of the LSP method that validation chooses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsprune.lab.reporting.comparison import Budget, Comparison
from lsprune.lab.reporting.formatting import per_cent, unit
from lsprune.lab.reporting.records import TOLERANCE
from lsprune.lab.reporting.statistics import MIN_VERDICT_RUNS, PairedDifference, paired_difference
from lsprune.lab.reporting.timing import Timing

SAME_SPEED = 1.05  # a ratio of times below this is no difference


@dataclass(frozen=True)
class Recommendation:
    """The share to keep, and why.

    Args:
        found: whether there is a lossless share; if not, `text` says why and there is no share.
        text: one line, such as "Keep 25 %: −0.4 points, 2.9× faster training".
        reasons: how the share was chosen and how certain it is, one sentence each.
        runs: the number of seeds at the recommended share.
    """

    found: bool
    text: str
    reasons: tuple[str, ...]
    method: str | None = None
    share: float | None = None
    runs: int = 0


def recommend(comparison: Comparison, timing: Timing) -> Recommendation:
    """Return the smallest lossless share of the LSP method with the best validation metric.

    No test metric chooses the method.
    """
    method = comparison.best_lsp
    if method is None:
        return Recommendation(False, "No recommendation: no LSP method was run here.", ())
    number = len(comparison.lsp_methods)
    choice = f"Method: {method}, chosen on validation among {number} LSP method{'' if number == 1 else 's'}."
    if not comparison.values(comparison.unpruned):
        text = "No recommendation: there is no unpruned run to compare with."
        return Recommendation(False, text, (choice,), method)
    share = comparison.lossless_share(method)
    if share is None and not comparison.complete(method):
        text = f"No recommendation yet: {method} was not run at every share."
        return Recommendation(False, text, (choice,), method)
    if share is None:
        reasons = (choice, *_cautions(comparison, method, share))
        return Recommendation(False, _no_share(comparison, method), reasons, method)
    budget = next(b for b in comparison.budgets_of(method) if comparison.share(method, b) == share)
    gap = _difference(comparison, method, budget)
    text = f"Keep {per_cent(share)}: {_amount(comparison, gap.difference)}{_speed(comparison, method, budget, timing)}"
    reasons = (
        choice,
        _rule(comparison),
        *_certainty(comparison, gap),
        *_cautions(comparison, method, share),
        *([f"Speed is not known: {timing.problem}."] if timing.problem else []),
    )
    return Recommendation(True, text, reasons, method, share, len(comparison.values(method, budget)))


def _rule(comparison: Comparison) -> str:
    return (
        "Rule: the smallest share measured from which on every 95 % interval reaches the unpruned mean "
        f"{'less' if comparison.higher_is_better else 'plus'} {_tolerance(comparison)}."
    )


def _tolerance(comparison: Comparison) -> str:
    tolerance = TOLERANCE[comparison.metric]
    return "half a point" if comparison.higher_is_better and tolerance == 0.005 else f"{tolerance:g}"


def _no_share(comparison: Comparison, method: str) -> str:
    """Return what is lost at the largest share, where no share is lossless."""
    largest = max(comparison.budgets_of(method), key=lambda budget: comparison.share(method, budget))
    lost = _amount(comparison, _difference(comparison, method, largest).difference)
    share = per_cent(comparison.share(method, largest))
    return f"No share measured comes within {_tolerance(comparison)} of the unpruned graph: at {share} it is {lost}."


def _difference(comparison: Comparison, method: str, budget: Budget) -> PairedDifference:
    """Return pruned less unpruned, paired by seed; without a common seed, the difference of the means."""
    pruned, unpruned = comparison.values(method, budget), comparison.values(comparison.unpruned)
    if set(pruned) & set(unpruned):
        return paired_difference(pruned, unpruned)
    ours, whole = comparison.estimate(method, budget), comparison.estimate(comparison.unpruned)
    assert ours is not None and whole is not None
    return PairedDifference(ours.mean - whole.mean, float("nan"), float("nan"), float("nan"), 1)


def _amount(comparison: Comparison, value: float, with_unit: bool = True) -> str:
    """Return a difference, pruned less unpruned, with a typographic minus; errors keep their sign."""
    number = f"{100 * value:+.1f}" if comparison.higher_is_better else f"{value:+.4f}"
    text = "±0" if float(number) == 0 else number.replace("-", "−")
    name = unit(comparison.metric, comparison.higher_is_better)
    return f"{text} {name if comparison.higher_is_better else name.upper()}" if with_unit else text


def _speed(comparison: Comparison, method: str, budget: Budget, timing: Timing) -> str:
    seconds = timing.seconds(comparison.cells[method, budget].values())
    if not seconds or not timing.training:
        return ""
    faster, slower = timing.training / seconds, seconds / timing.training
    if max(faster, slower) < SAME_SPEED:
        return ", training takes as long"
    return f", {faster:.1f}× faster training" if faster >= 1 else f", {slower:.1f}× slower training"


def _certainty(comparison: Comparison, gap: PairedDifference) -> Iterator[str]:
    """Yield the interval of the difference, and whether only the interval reaches the tolerance."""
    if gap.runs > 1:
        low, high = _amount(comparison, gap.low, with_unit=False), _amount(comparison, gap.high)
        yield f"The difference is paired by seed: {gap.runs} seeds, 95 % interval {low} to {high}."
    lost = -gap.difference if comparison.higher_is_better else gap.difference
    if lost > TOLERANCE[comparison.metric]:
        yield (
            f"The mean loss is more than {_tolerance(comparison)}; only the interval reaches it, and more seeds may "
            "show that it does not."
        )


def _cautions(comparison: Comparison, method: str, share: float | None) -> Iterator[str]:
    """Yield what makes the recommendation weaker than it looks."""
    budgets = comparison.budgets_of(method)
    fewest = min(*(len(comparison.values(method, b)) for b in budgets), len(comparison.values(comparison.unpruned)))
    if fewest < MIN_VERDICT_RUNS:
        known = "One run only: no interval" if fewest == 1 else "Two runs only: a poor interval"
        yield f"{known}; the difference may be chance."
    if comparison.topology_gain is not None and comparison.topology_gain.verdict in ("not worse", "worse"):
        yield "The edges themselves do not clearly help here, so any way of pruning looks lossless."
    if share == min(comparison.share(method, budget) for budget in budgets):
        yield "This is the smallest share measured; a smaller one may do as well."
