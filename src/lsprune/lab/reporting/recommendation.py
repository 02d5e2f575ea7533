"""Recommend what to keep, from the whole table: no edges where they do harm, else the best method's lossless share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsprune.lab.reporting.comparison import Budget, Comparison
from lsprune.lab.reporting.formatting import per_cent, unit
from lsprune.lab.reporting.records import TOLERANCE
from lsprune.lab.reporting.statistics import MIN_VERDICT_RUNS, PairedDifference, paired_difference
from lsprune.lab.reporting.timing import Timing
from lsprune.lab.studies.methods import NO_EDGES

SAME_SPEED = 1.05  # a ratio of times below this is no difference


@dataclass(frozen=True)
class Recommendation:
    """The share to keep, and why.

    Args:
        found: whether there is a lossless share; if not, `text` says why and there is no share.
        text: one line, such as "Keep 25 % with lsp-auto: −0.4 points, 2.9× faster training".
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
    """Return the smallest lossless share of the method with the best validation metric, of whatever kind it is.

    No test metric chooses the method. Where the model does as well without any edge, that is what is recommended,
    unless the best pruned graph is clearly better still.
    """
    method = comparison.best_method
    if method is None:
        return Recommendation(False, "No recommendation: no method that prunes was run here.", ())
    choice = _choice(comparison, method)
    if not comparison.values(comparison.unpruned):
        text = "No recommendation: there is no unpruned run to compare with."
        return Recommendation(False, text, (choice,), method)
    if edges_do_harm(comparison) or edges_hardly_matter(comparison):
        return _few_edges_or_none(comparison, method, timing)
    share = share_without_clear_loss(comparison, method)
    if share is None and not comparison.complete(method):
        text = f"No recommendation yet: {method} was not run at every share."
        return Recommendation(False, text, (choice,), method)
    if share is None:
        reasons = (*_about_edges(comparison), choice, *_cautions(comparison, method, share))
        return Recommendation(False, _no_share(comparison, method), reasons, method)
    budget = next(b for b in comparison.budgets_of(method) if comparison.share(method, b) == share)
    gap = _difference(comparison, method, budget)
    text = f"Keep {per_cent(share)} with {method}: {_keeping(comparison, method, budget, timing)}"
    reasons = (
        *_about_edges(comparison),
        choice,
        *_best_lsp(comparison, method, budget),
        _rule(comparison),
        *_pairs(comparison, method, share),
        *_certainty(comparison, gap),
        *_cautions(comparison, method, share),
        *([f"Speed is not known: {timing.problem}."] if timing.problem else []),
    )
    return Recommendation(True, text, reasons, method, share, len(comparison.values(method, budget)))


def share_without_clear_loss(comparison: Comparison, method: str) -> float | None:
    """Return the smallest lossless share from which on no paired difference is clearly a loss above the tolerance.

    Runs that are paired by seed may show a loss that the interval of the mean alone does not.
    """
    lossless, smallest = comparison.lossless_share(method), None
    if lossless is None:
        return None
    for budget in reversed(comparison.budgets_of(method)):
        share, gain = comparison.share(method, budget), comparison.gain_over_unpruned(method, budget)
        clear = gain is not None and gain.verdict == "worse" and -gain.difference > TOLERANCE[comparison.metric]
        if share < lossless or clear:
            break
        smallest = share
    return smallest


def edges_do_harm(comparison: Comparison) -> bool:
    """Return whether no edges at all are clearly better than all of them; by the means where runs are few."""
    gain = comparison.topology_gain
    if gain is None:
        return False
    return gain.verdict == "worse" or (gain.runs < MIN_VERDICT_RUNS and -gain.difference > TOLERANCE[comparison.metric])


def edges_hardly_matter(comparison: Comparison) -> bool:
    """Return whether all edges are not clearly better than none, and by no more than the tolerance in the mean."""
    gain = comparison.topology_gain
    return gain is not None and gain.verdict == "unclear" and gain.difference <= TOLERANCE[comparison.metric]


def _few_edges_or_none(comparison: Comparison, method: str, timing: Timing) -> Recommendation:
    """Recommend no edges; or the best pruned graph, where it is clearly better than none."""
    none, budget = comparison.in_role(NO_EDGES), comparison.best_budget(method)
    share, gain = comparison.share(method, budget), comparison.gain_over(method, budget, none)
    topology = _known(comparison.topology_gain)
    whole = _amount(comparison, _sign(comparison) * -topology.difference)
    first = f"No edges at all are better than all of them: {whole}."
    if not edges_do_harm(comparison):
        first = f"Without any edge it is {whole}, which is not clearly a loss: the edges hardly help here."
    pruned = f"{method} at {per_cent(share)}, the best pruned graph by validation"
    if gain is not None and gain.verdict == "better":
        text = f"Keep {per_cent(share)} with {method}: {_keeping(comparison, method, budget, timing)}"
        better = f"{pruned}, is {_interval(comparison, gain)} against no edges: clearly better."
        return Recommendation(
            True, text, (first, better, *_cautions(comparison, method, share)), method, share,
            len(comparison.values(method, budget)),
        )  # fmt: skip
    against = "was not run with the same seeds." if gain is None else f"is {_interval(comparison, gain)} against none."
    unclear = " (unclear)" if topology.runs > 1 and topology.high > TOLERANCE[comparison.metric] else ""
    text = f"Keep no edge: {whole}{unclear} against the unpruned graph"
    runs = len(comparison.values(none))
    reasons = (*([] if edges_do_harm(comparison) else [first]), f"{pruned}, {against}", *_few_runs(runs))
    return Recommendation(True, text, reasons, none, 0.0, runs)


def _known(gain: PairedDifference | None) -> PairedDifference:
    assert gain is not None
    return gain


def _sign(comparison: Comparison) -> int:
    return 1 if comparison.higher_is_better else -1


def _choice(comparison: Comparison, method: str) -> str:
    number = len(comparison.methods)
    return f"Method: {method}, chosen on validation among {number} method{'' if number == 1 else 's'}."


def _best_lsp(comparison: Comparison, method: str, budget: Budget) -> Iterator[str]:
    """Yield how the best LSP method compares, where another method is chosen."""
    lsp = comparison.best_lsp
    gain = None if lsp in (None, method) else comparison.gain(str(lsp), method, budget)
    if gain is not None:
        yield f"{lsp}, the best LSP method, is {_interval(comparison, gain)} against {method} at the same share."


def _about_edges(comparison: Comparison) -> Iterator[str]:
    """Yield what is lost without any edge, where that is not clear."""
    gain = comparison.topology_gain
    if gain is not None and gain.verdict == "unclear":
        lost = _amount(comparison, _sign(comparison) * -gain.difference)
        yield (
            f"Without any edge it is {lost}, which is not clearly a loss: the edges hardly help here, so any way of "
            "pruning looks lossless."
        )


def _keeping(comparison: Comparison, method: str, budget: Budget, timing: Timing) -> str:
    """Return the difference from the unpruned graph, and the speed; "unclear" if the interval holds a real loss."""
    gap = _difference(comparison, method, budget)
    most_lost, least_lost = (-gap.low, -gap.high) if comparison.higher_is_better else (gap.high, gap.low)
    holds_loss = gap.runs > 1 and most_lost > TOLERANCE[comparison.metric]
    clearly = gap.runs >= MIN_VERDICT_RUNS and least_lost > 0
    sure = " (clearly worse)" if holds_loss and clearly else " (unclear)" if holds_loss else ""
    return f"{_amount(comparison, gap.difference)}{sure}{_speed(comparison, method, budget, timing)}"


def _interval(comparison: Comparison, gain: PairedDifference) -> str:
    """Return a gain and its interval in the units of the metric, where there is one."""
    sign = _sign(comparison)
    low, high = sorted((sign * gain.low, sign * gain.high)) if gain.runs > 1 else (float("nan"),) * 2
    bounds = (_signed(comparison, bound) for bound in (low, high))
    known = f" [{', '.join(bounds)}]" if gain.runs > 1 else ""
    return f"{_amount(comparison, sign * gain.difference)}{known}"


def _few_runs(fewest: int) -> Iterator[str]:
    if fewest < MIN_VERDICT_RUNS:
        known = "One run only: no interval" if fewest == 1 else "Two runs only: a poor interval"
        yield f"{known}; the difference may be chance."


def _rule(comparison: Comparison) -> str:
    return (
        "Rule: the smallest share measured from which on every 95 % interval reaches the unpruned mean "
        f"{'less' if comparison.higher_is_better else 'plus'} {tolerance_text(comparison)}."
    )


def _pairs(comparison: Comparison, method: str, share: float) -> Iterator[str]:
    """Yield that the differences in pairs asked for a larger share."""
    lossless = comparison.lossless_share(method)
    if lossless is not None and lossless < share:
        smaller, needed = per_cent(lossless), per_cent(share)
        yield f"At {smaller} this holds too, but the differences in pairs show a clear loss below {needed}."


def tolerance_text(comparison: Comparison) -> str:
    """Return the loss that still counts as lossless, in words."""
    tolerance = TOLERANCE[comparison.metric]
    return "half a point" if comparison.higher_is_better and tolerance == 0.005 else f"{tolerance:g}"


def _no_share(comparison: Comparison, method: str) -> str:
    """Return what is lost at the largest share, where no share is lossless."""
    largest = max(comparison.budgets_of(method), key=lambda budget: comparison.share(method, budget))
    lost = _amount(comparison, _difference(comparison, method, largest).difference)
    share = per_cent(comparison.share(method, largest))
    return (
        f"No share measured comes within {tolerance_text(comparison)} of the unpruned graph: at {share} it is {lost}."
    )


def _difference(comparison: Comparison, method: str, budget: Budget) -> PairedDifference:
    """Return pruned less unpruned, paired by seed; without a common seed, the difference of the means."""
    pruned, unpruned = comparison.values(method, budget), comparison.values(comparison.unpruned)
    if set(pruned) & set(unpruned):
        return paired_difference(pruned, unpruned)
    ours, whole = comparison.estimate(method, budget), comparison.estimate(comparison.unpruned)
    assert ours is not None and whole is not None
    return PairedDifference(ours.mean - whole.mean, float("nan"), float("nan"), float("nan"), 1)


def _amount(comparison: Comparison, value: float) -> str:
    """Return a difference, pruned less unpruned; that of an error says which way it goes and whether that is better."""
    if comparison.higher_is_better:
        return f"{_signed(comparison, value)} {_unit(comparison)}"
    number = f"{abs(value):.4f}"
    if float(number) == 0:
        return f"±0 {_unit(comparison)}"
    return f"{number} {_unit(comparison)} {'lower (better)' if value < 0 else 'higher (worse)'}"


def _signed(comparison: Comparison, value: float) -> str:
    """Return a difference as a number with a typographic minus; a negative one of an error is better."""
    number = f"{100 * value:+.1f}" if comparison.higher_is_better else f"{value:+.4f}"
    return "±0" if float(number) == 0 else number.replace("-", "−")


def _unit(comparison: Comparison) -> str:
    name = unit(comparison.metric, comparison.higher_is_better)
    return name if comparison.higher_is_better else name.upper()


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
        low, high = _signed(comparison, gap.low), _signed(comparison, gap.high)
        end = _unit(comparison) + ("" if comparison.higher_is_better else " (lower is better)")
        yield f"The difference is paired by seed: {gap.runs} seeds, 95 % interval {low} to {high} {end}."
    lost = -gap.difference if comparison.higher_is_better else gap.difference
    if lost > TOLERANCE[comparison.metric]:
        yield (
            f"The mean loss is more than {tolerance_text(comparison)}; only the interval reaches it, and more seeds "
            "may show that it does not."
        )


def _cautions(comparison: Comparison, method: str, share: float | None) -> Iterator[str]:
    """Yield what makes the recommendation weaker than it looks."""
    budgets = comparison.budgets_of(method)
    fewest = min(*(len(comparison.values(method, b)) for b in budgets), len(comparison.values(comparison.unpruned)))
    yield from _few_runs(fewest)
    if share == min(comparison.share(method, budget) for budget in budgets):
        yield "This is the smallest share measured; a smaller one may do as well."
