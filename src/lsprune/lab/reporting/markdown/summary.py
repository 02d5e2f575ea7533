"""Summarise all datasets: levels and verdicts, lossless shares, where LSP does not help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from lsprune.lab.reporting.comparison import NO_BUDGET, Budget, Comparison
from lsprune.lab.reporting.formatting import per_cent
from lsprune.lab.reporting.markdown.syntax import Headings, block, escape, table
from lsprune.lab.reporting.markdown.tables import footnote_mark, gain_text, share_heads, unit_of
from lsprune.lab.reporting.method_styles import BASELINE_NAMES, RANDOM_BASELINES, prose_name
from lsprune.lab.reporting.statistics import MIN_VERDICT_RUNS
from lsprune.lab.studies.methods import LOCAL_RANDOM, NO_EDGES

SUMMARY_SHARES = (0.1, 0.25)
NO_LOSSLESS_SHARE = "none"
RANDOM_NAME, LOCAL_NAME = (BASELINE_NAMES[role] for role in RANDOM_BASELINES)
DIFFERS = {"worse": "is worse than", "unclear": "does not clearly differ from"}


def summary_table(comparisons: Sequence[Comparison], headings: Headings) -> list[str]:
    """Return levels and verdicts, a row for each dataset."""
    columns = (LOCAL_NAME, "best LSP", f"against {RANDOM_NAME}", f"against {LOCAL_NAME}")
    heads = [f"{per_cent(share)}: {column}" for share in SUMMARY_SHARES for column in columns]
    rows = []
    for comparison in comparisons:
        best = comparison.best_lsp
        row = [headings.link(comparison), escape(comparison.metric), _mean(comparison, comparison.unpruned)]
        row += [_mean(comparison, comparison.in_role(NO_EDGES)), _topology(comparison), escape(best or "")]
        for budget in _summary_budgets(comparison):
            row += [""] * len(columns) if budget is None or best is None else _at(comparison, best, budget)
        rows.append(row)
    return table(["dataset", "metric", "unpruned", "no edges", "topology matters", "best LSP", *heads], rows)


def other_shares(comparisons: Sequence[Comparison]) -> bool:
    """Return whether the summary shows a dataset at shares other than those of its heads."""
    budgets = [(c, budget) for c in comparisons for budget in _summary_budgets(c) if budget is not None]
    return not all(_is_summary_share(c.column_share(budget)) for c, budget in budgets)


def _at(comparison: Comparison, best: str, budget: Budget) -> list[str]:
    share = comparison.column_share(budget)
    place = "" if _is_summary_share(share) else f" at {per_cent(share)}"
    means = [_mean(comparison, name, budget) for name in (comparison.in_role(LOCAL_RANDOM), best)]
    gains = (comparison.gain(best, comparison.in_role(rival), budget) for rival in RANDOM_BASELINES)
    return [*(mean and mean + place for mean in means), *(gain.verdict if gain else "" for gain in gains)]


def _mean(comparison: Comparison, method: str, budget: Budget = NO_BUDGET) -> str:
    estimate = comparison.estimate(method, budget)
    return "" if estimate is None else f"{estimate.mean:.3f}"


def _topology(comparison: Comparison) -> str:
    if comparison.topology_gain is None:
        return ""
    verdict = comparison.topology_gain.verdict
    return {"better": "yes", "unclear": "not clearly", "worse": "no"}.get(verdict, verdict)


def _summary_budgets(comparison: Comparison) -> list[Budget | None]:
    """Return the budgets of the summary's shares; the smallest ones if the dataset was run at none of these."""
    shares = {budget: comparison.column_share(budget) for budget in comparison.budgets}
    budgets = [next((b for b, share in shares.items() if _near(share, goal)), None) for goal in SUMMARY_SHARES]
    return budgets if any(budgets) else [*comparison.budgets, *budgets][: len(SUMMARY_SHARES)]


def _is_summary_share(share: float) -> bool:
    return any(_near(share, goal) for goal in SUMMARY_SHARES)


def _near(share: float, goal: float) -> bool:
    return abs(share / goal - 1) <= 0.05


# Lossless shares


def best_lossless_table(comparisons: Sequence[Comparison], headings: Headings) -> list[str]:
    """Return the lossless shares of the random baselines and of the best LSP."""
    rows = []
    for comparison in comparisons:
        best = comparison.best_lsp
        shares = [
            _lossless(comparison, name) if name else "" for name in (*map(comparison.in_role, RANDOM_BASELINES), best)
        ]
        ratio = comparison.lossless_ratio(best) if best else None
        rows.append(
            [headings.link(comparison), _topology(comparison), *shares, "" if ratio is None else f"{ratio:.2f}"]
        )
    mean = _mean_ratio(comparisons, {comparison: comparison.best_lsp for comparison in comparisons})
    rows.append(["*mean where topology matters*", "", "", "", "", mean])
    heads = [f"lossless share of {RANDOM_NAME}", f"of {LOCAL_NAME}", "of the best LSP", "best LSP / random"]
    return table(["dataset", "topology matters", *heads], rows)


def lossless_table(comparisons: Sequence[Comparison], headings: Headings) -> Iterator[str]:
    """Yield the lossless shares of all methods on all datasets, and their footnotes."""
    yield (
        "In brackets the ratio to random's share. *none*: no share measured is lossless, which counts as 100 % in a "
        "ratio; the smallest share measured stands for all below it. Last column: the mean ratio over the datasets "
        "where topology matters, and their number."
    )
    methods = list(dict.fromkeys(method for comparison in comparisons for method in comparison.methods))
    redrawn = {
        name for comparison in comparisons for name in comparison.methods if comparison.defined[name].every_epoch
    }
    rows = [
        _lossless_row(escape(name) + footnote_mark(name in redrawn), comparisons, dict.fromkeys(comparisons, name))
        for name in methods
    ]
    rows = [row for row in rows if any(row[1:-1])]
    rows.append(
        _lossless_row("*best LSP*", comparisons, {comparison: comparison.best_lsp for comparison in comparisons})
    )
    rows.append(
        _lossless_row(
            "*smallest of the LSPs* ‡", comparisons, {comparison: _smallest(comparison) for comparison in comparisons}
        )
    )
    yield block(table(["method", *(headings.title(comparison) for comparison in comparisons), "mean ratio"], rows))
    yield "‡ chosen by the test metric itself among many methods: the luckiest, not what to expect."
    yield every_epoch_footnote(comparisons)


def _lossless_row(label: str, comparisons: Sequence[Comparison], methods: Mapping[Comparison, str | None]) -> list[str]:
    cells = [_with_ratio(comparison, method) if (method := methods[comparison]) else "" for comparison in comparisons]
    return [label, *cells, _mean_ratio(comparisons, methods)]


def _with_ratio(comparison: Comparison, method: str) -> str:
    ratio = comparison.lossless_ratio(method)
    return _lossless(comparison, method) + ("" if ratio is None else f" ({ratio:.2f})")


def _lossless(comparison: Comparison, method: str) -> str:
    """Return a lossless share; an empty cell where it cannot be known."""
    if comparison.lossless_ratio(method, method) is None:
        return ""
    return per_cent(comparison.lossless_share(method), NO_LOSSLESS_SHARE)


def _mean_ratio(comparisons: Sequence[Comparison], methods: Mapping[Comparison, str | None]) -> str:
    """Return the mean ratio to random where topology matters, and the number of datasets."""
    pairs = [(comparison, methods[comparison]) for comparison in comparisons if comparison.topology_matters]
    ratios = [ratio for comparison, name in pairs if name and (ratio := comparison.lossless_ratio(name)) is not None]
    return f"{fmean(ratios):.2f} ({len(ratios)})" if ratios else ""


def _smallest(comparison: Comparison) -> str | None:
    """Return the LSP method with the smallest lossless share; the first of equals."""
    ratios = {name: ratio for name in comparison.lsp_methods if (ratio := comparison.lossless_ratio(name)) is not None}
    return min(ratios, key=ratios.__getitem__) if ratios else None


def every_epoch_footnote(comparisons: Sequence[Comparison]) -> str:
    """Return the footnote on methods that draw their edges again in every epoch; empty without such a method."""
    pairs = [(name, comparison.defined[name]) for comparison in comparisons for name in comparison.methods]
    names = dict.fromkeys(name for name, method in pairs if method.every_epoch)
    if not names:
        return ""
    listed = ", ".join(map(escape, names))
    return f"† {listed} draws its edges again in every epoch and is tested on the whole graph: no graph gets smaller."


# Where LSP does not help


def no_help_lines(comparison: Comparison, title: str) -> Iterator[str]:
    """Yield where the best LSP of a dataset is not clearly better than a random baseline."""
    gain = comparison.topology_gain
    if gain is not None and gain.runs >= MIN_VERDICT_RUNS and not comparison.topology_matters:
        yield f"- **{title}**: the edges themselves do not clearly help, so methods to choose them cannot be compared"
    best = comparison.best_lsp
    for rival in comparison.random_baselines if best else ():
        assert best is not None
        gains = [comparison.gain(best, rival, budget) for budget in comparison.budgets]
        for verdict, words in DIFFERS.items():
            places = "; ".join(
                f"at {head} kept ({gain_text(comparison, gain)} {unit_of(comparison)})"
                for head, gain in zip(share_heads(comparison), gains, strict=True)
                if gain and gain.verdict == verdict
            )
            if places:
                baseline = escape(prose_name(comparison.defined[rival]))
                yield f"- **{title}**: {escape(best)} {words} {baseline} {places}"


def verdict_counts(comparisons: Sequence[Comparison]) -> str:
    """Return how often each verdict occurs for all LSP methods, not only for the best."""
    parts = []
    cells = [(c, m, b) for c in comparisons if c.topology_matters for m in c.lsp_methods for b in c.budgets]
    for rival in RANDOM_BASELINES:
        gains = [comparison.gain(method, comparison.in_role(rival), budget) for comparison, method, budget in cells]
        counts = Counter(gain.verdict for gain in gains if gain)
        words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("better", "unclear", "worse"))
        parts.append(f"against {BASELINE_NAMES[rival]} {words}")
    return f"All LSP methods at all shares, on the datasets where topology matters: {'; '.join(parts)}."
