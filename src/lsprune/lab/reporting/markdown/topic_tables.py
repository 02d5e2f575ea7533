"""Make tables on one topic: auto-calibrated LSP, edges needed, the pruned side, shared budgets, single shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from lsprune.lab.reporting.comparison import Budget, Comparison
from lsprune.lab.reporting.formatting import per_cent
from lsprune.lab.reporting.markdown.syntax import Headings, escape, table
from lsprune.lab.reporting.markdown.tables import gain_text
from lsprune.lab.reporting.method_styles import AUTO_METHODS, BASELINE_NAMES, RANDOM_BASELINES
from lsprune.lab.reporting.statistics import MIN_VERDICT_RUNS
from lsprune.lab.studies.methods import LOCAL_RANDOM, RANDOM

MAX_SHARE = 0.501  # auto-calibrated LSP is judged by shares up to a half


def auto_table(comparisons: Sequence[Comparison], headings: Headings) -> list[str]:
    """Return the gains of auto-calibrated LSP over both random baselines at every share up to a half."""
    rows = []
    for comparison in comparisons:
        for method in AUTO_METHODS:
            for rival in comparison.random_baselines:
                gains = "; ".join(_gains(comparison, method, rival, MAX_SHARE))
                if gains:
                    rows.append([headings.link(comparison), method, escape(rival), gains])
    return table(["dataset", "method", "against", "points, 95 % interval, verdict at each share"], rows) if rows else []


def sides_table(comparisons: Sequence[Comparison], headings: Headings) -> list[str]:
    """Return the gains of methods that prune out-neighbours over their in-neighbour versions and k random ones."""
    rows = []
    for comparison in comparisons:
        for name, partner in _out_methods(comparison).items():
            for rival in dict.fromkeys((partner, _local_random_out(comparison))):
                gains = "; ".join(_gains(comparison, name, rival, 1.0)) if rival != name else ""
                if gains:
                    rows.append([headings.link(comparison), escape(name), escape(rival), gains])
    return table(["dataset", "method", "against", "gain, 95 % interval, verdict at each share"], rows) if rows else []


def shared_table(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the gains of budgets that relations share over the same pruner with a budget for each relation."""
    rows = []
    for comparison in comparisons:
        for name, partner in comparison.shared_budgets.items():
            gains = "; ".join(_gains(comparison, name, partner, 1.0))
            if gains:
                rows.append([escape(comparison.name), escape(name), escape(partner), gains])
    return table(["dataset", "method", "against", "gain, 95 % interval, verdict at each share"], rows) if rows else []


def _out_methods(comparison: Comparison) -> dict[str, str]:
    """Return the methods that prune out-neighbours, each with its partner that prunes in-neighbours, if there is one.

    The paper's presets are left out.
    """
    kinds = {name: comparison.defined[name] for name in comparison.methods}
    names = [name for name, method in kinds.items() if method.is_out and not method.is_paper_preset]
    return {name: comparison.in_neighbour_partner(name) or "" for name in names}


def _local_random_out(comparison: Comparison) -> str:
    """Return the method that keeps random out-neighbours; an empty string, which has no runs, if there is none."""
    kinds = {name: method.pruner or {} for name, method in comparison.defined.items() if method.is_out}
    return next((name for name, options in kinds.items() if options.get("pruner") == LOCAL_RANDOM), "")


def _gains(comparison: Comparison, method: str, rival: str, max_share: float) -> Iterator[str]:
    """Yield the gain at each share with enough runs."""
    for budget in comparison.budgets:
        share, gain = comparison.column_share(budget), comparison.gain(method, rival, budget)
        if share <= max_share and gain is not None and gain.runs >= MIN_VERDICT_RUNS:
            yield f"{per_cent(share)}: {gain_text(comparison, gain)} {gain.verdict}"


def needed_table(comparisons: Sequence[Comparison], headings: Headings) -> list[str]:
    """Return the share that auto-calibrated LSP needs for what random reaches at a larger one.

    Only datasets where topology matters have a row.
    """
    rows, ratios = [], []
    for comparison in comparisons:
        run = (name for name in AUTO_METHODS if name in comparison.methods and comparison.complete(name))
        method = next(run, None)
        pairs = list(_needed(comparison, method)) if method and comparison.topology_matters else []
        if not method or not pairs:
            continue
        ratios.append(fmean(ours / theirs for ours, theirs in pairs))
        shares = "; ".join(f"{per_cent(ours)} for {per_cent(theirs)}" for ours, theirs in pairs)
        rows.append([headings.link(comparison), escape(method), shares, f"{ratios[-1]:.2f}"])
    if not rows:
        return []
    rows.append(["*mean*", "", "", f"{fmean(ratios):.2f} ({len(ratios)})"])
    return table(["dataset", "method", "share needed for what random has at", "mean ratio"], rows)


def _needed(comparison: Comparison, method: str) -> Iterator[tuple[float, float]]:
    """Yield (our share, random's) for every share of random but the smallest; 100 % where no share is enough."""
    random = comparison.in_role(RANDOM)
    for budget in comparison.budgets[1:]:
        if comparison.estimate(random, budget) is not None:
            ours = comparison.share_needed(method, random, budget)
            yield ours or 1.0, comparison.column_share(budget)


def point_table(comparisons: Sequence[Comparison], headings: Headings) -> list[str]:
    """Return datasets that were run at one or two shares: the LSP that validation chooses, and the range of all."""
    pairs = ((comparison, budget) for comparison in comparisons for budget in comparison.budgets)
    rows = [
        [headings.link(comparison), *cells] for comparison, budget in pairs if (cells := _point(comparison, budget))
    ]
    heads = ["dataset", "share", "unpruned", *BASELINE_NAMES.values(), "LSP that validation chooses"]
    return table([*heads, "against the unpruned graph", "all LSP methods"], rows) if rows else []


def _point(comparison: Comparison, budget: Budget) -> list[str]:
    estimates = {name: comparison.estimate(name, budget) for name in comparison.methods}
    means = {name: estimate.mean for name, estimate in estimates.items() if estimate is not None}
    best, unpruned = comparison.best_lsp, comparison.estimate(comparison.unpruned)
    if best is None or best not in means or unpruned is None:
        return []
    gain = comparison.gain_over_unpruned(best, budget)
    lsp = [means[name] for name in comparison.lsp_methods if name in means]
    names = map(comparison.in_role, RANDOM_BASELINES)
    random = [f"{means[name]:.3f}" if name in means else "" for name in names]
    return [
        per_cent(comparison.column_share(budget)),
        f"{unpruned.mean:.3f}",
        *random,
        f"{escape(best)} {means[best]:.3f}",
        "" if gain is None else f"{gain_text(comparison, gain)} {gain.verdict}",
        f"{min(lsp):.3f} to {max(lsp):.3f}",
    ]
