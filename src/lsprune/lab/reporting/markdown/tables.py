"""Make the tables of one comparison: levels, gains, overlaps, times, references."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from lsprune.lab.reporting.comparison import Comparison
from lsprune.lab.reporting.formatting import difference, per_cent, unit
from lsprune.lab.reporting.markdown.syntax import escape, table
from lsprune.lab.reporting.method_styles import REFERENCE_LABELS, prose_name
from lsprune.lab.reporting.statistics import MIN_VERDICT_RUNS, Estimate, PairedDifference
from lsprune.lab.reporting.timing import timing_of

EMPHASIS = {"better": "**better**", "worse": "*worse*"}


def cell(estimate: Estimate | None) -> str:
    """Return mean and interval; an empty cell where nothing was run."""
    if estimate is None:
        return ""
    mean = f"{estimate.mean:.3f}"
    return f"{mean} [{estimate.low:.3f}, {estimate.high:.3f}]" if estimate.runs > 1 else mean


def gain_text(comparison: Comparison, gain: PairedDifference) -> str:
    """Return a gain with its interval in the unit of the comparison."""
    return difference(gain, comparison.higher_is_better)


def unit_of(comparison: Comparison) -> str:
    """Return the unit of gains."""
    return unit(comparison.metric, comparison.higher_is_better)


def share_heads(comparison: Comparison) -> list[str]:
    """Return the shares as heads of columns."""
    return [per_cent(comparison.column_share(budget)) for budget in comparison.budgets]


def level_table(comparison: Comparison) -> list[str]:
    """Return mean and interval of all methods at all shares.

    The best of a column is bold, among the methods that make the graph smaller.
    """
    columns = [{name: comparison.estimate(name, b) for name in comparison.methods} for b in comparison.budgets]
    redrawn = {name for name in comparison.methods if comparison.defined[name].every_epoch}
    best = [_best([e.mean for name, e in c.items() if e and name not in redrawn], comparison) for c in columns]
    rows = []
    for name in comparison.methods:
        row = [escape(name) + footnote_mark(name in redrawn)]
        for column, top in zip(columns, best, strict=True):
            estimate = column[name]
            bold = estimate is not None and estimate.mean == top and name not in redrawn
            row.append(f"**{cell(estimate)}**" if bold else cell(estimate))
        rows.append(row)
    return table(["method", *share_heads(comparison)], rows)


def _best(means: Sequence[float], comparison: Comparison) -> float | None:
    return (max if comparison.higher_is_better else min)(means, default=None)


def footnote_mark(redrawn: bool) -> str:
    """Return the mark of the footnote on methods that draw their edges again in every epoch."""
    return " †" if redrawn else ""


def overlap_table(comparison: Comparison) -> list[str]:
    """Return mean and interval of the overlap of all methods at all budgets."""
    pairs = zip(comparison.budgets, share_heads(comparison), strict=True)
    heads = [f"k = {budget.k}, {head}" if budget.k else head for budget, head in pairs]
    rows = [[escape(name), *(cell(comparison.estimate(name, b)) for b in comparison.budgets)]
            for name in comparison.methods]  # fmt: skip
    return table(["method", *heads], rows)


def gain_table(comparison: Comparison, rival: str) -> list[str]:
    """Return verdict, gain and interval of the LSP methods against a rival at equal share."""
    rows = []
    for name in comparison.lsp_methods:
        gains = [comparison.gain(name, rival, budget) for budget in comparison.budgets]
        cells = [
            f"{EMPHASIS.get(gain.verdict, gain.verdict)} {gain_text(comparison, gain)}" if gain else ""
            for gain in gains
        ]
        rows.append([escape(name), *cells])
    return table([f"against {escape(prose_name(comparison.defined[rival]))}", *share_heads(comparison)], rows)


def time_table(comparison: Comparison) -> list[str]:
    """Return median seconds of pruning, and the relative time of an epoch where times compare."""
    timing = timing_of(comparison)
    rows = []
    for name in comparison.methods:
        cells = [comparison.cells.get((name, budget), {}).values() for budget in comparison.budgets]
        pruning = median(record["prune_seconds"] for records in cells for record in records)
        relative = [] if timing.problem else [timing.relative(records) for records in cells]
        rows.append([escape(name), f"{pruning:.3f}", *("" if ratio is None else f"{ratio:.2f}" for ratio in relative)])
    return table(["method", "pruning, s", *([] if timing.problem else share_heads(comparison))], rows)


def time_note(comparison: Comparison) -> str:
    """Return what the table of times shows, and why it has no epochs where it has none."""
    problem = timing_of(comparison).problem
    if problem:
        return f"Median seconds of pruning. The times of epochs do not compare: {problem}."
    return (
        "Median seconds of pruning, and below the shares the time of a training epoch relative to the unpruned graph. "
        "Only runs that had the same device to themselves count."
    )


def reference_lines(comparison: Comparison) -> list[str]:
    """Return the references as a list, and what the edges are worth."""
    names = {label: name for role, label in REFERENCE_LABELS.items() if (name := comparison.in_role(role))}
    lines = [f"- {label}: {comparison.estimate(name)}" for label, name in names.items()]
    gain = comparison.topology_gain
    if gain is not None:
        unclear = f"{gain.verdict} cannot say" if gain.runs < MIN_VERDICT_RUNS else "not clearly"
        answer = "yes" if comparison.topology_matters else unclear
        worth = f"{gain_text(comparison, gain)} {unit_of(comparison)}"
        lines.append(f"- topology matters: {answer}; the edges are worth {worth}")
    return lines
