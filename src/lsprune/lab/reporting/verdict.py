"""Say in one sentence what to do on a dataset, and choose the comparison that says it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from lsprune.lab.reporting.comparison import NO_BUDGET, Budget, Comparison
from lsprune.lab.reporting.formatting import metric_name, per_cent
from lsprune.lab.reporting.recommendation import Recommendation, tolerance_text
from lsprune.lab.reporting.records import TOLERANCE
from lsprune.lab.reporting.statistics import MIN_VERDICT_RUNS, PairedDifference

BETTER, SAME, UNCLEAR, WORSE, KEEP_ALL, UNKNOWN = "better", "same", "unclear", "worse", "keep-all", "unknown"
KINDS = {  # and their labels
    BETTER: "better",
    SAME: "no loss",
    UNCLEAR: "unclear",
    WORSE: "worse",
    KEEP_ALL: "keep all edges",
    UNKNOWN: "no verdict",
}


@dataclass(frozen=True)
class Verdict:
    """What to do on a dataset, and what it costs.

    Args:
        kind: one of KINDS: what the interval says of the pruned graph against the whole one, or to keep all edges.
        before, method, after: the sentence around the name of the method, such as "keep 5 % with ", "lsp-jaccard" and
            "; accuracy 0.905 against 0.904 unpruned; unclear whether worse". The name may be empty.
    """

    kind: str
    before: str
    method: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        """The whole sentence."""
        return f"{self.before}{self.method}{self.after}"


def verdict(comparison: Comparison, advice: Recommendation) -> Verdict:
    """Return the verdict that follows from a recommendation.

    Where no share is lossless, it is to keep all edges, and the method that validation chooses is named at the largest
    share measured.
    """
    method = advice.method
    if method is None or not comparison.values(comparison.unpruned):
        return Verdict(UNKNOWN, advice.text[:1].lower() + advice.text[1:].rstrip("."))
    if advice.found and advice.share == 0.0:
        kind, after = _against_unpruned(comparison, method, NO_BUDGET)
        return Verdict(kind, "keep no edge", after=f"; {after}")
    shares = {comparison.share(method, budget): budget for budget in comparison.budgets_of(method)}
    share = advice.share if advice.found and advice.share is not None else max(shares)
    kind, after = _against_unpruned(comparison, method, shares[share])
    if advice.found:
        return Verdict(kind, f"keep {per_cent(share)} with ", method, f"; {after}")
    return Verdict(KEEP_ALL, f"keep all edges; {per_cent(share)} with ", method, f": {after}")


def _against_unpruned(comparison: Comparison, method: str, budget: Budget) -> tuple[str, str]:
    """Return the kind of the verdict, and the metric beside that of the unpruned graph with the judgement in words."""
    ours, whole = comparison.estimate(method, budget), comparison.estimate(comparison.unpruned)
    assert ours is not None and whole is not None
    kind, judgement = judge(comparison, comparison.gain_over_unpruned(method, budget))
    hint = "" if comparison.higher_is_better else " (lower is better)"
    levels = f"{metric_name(comparison.metric)} {ours.mean:.3f} against {whole.mean:.3f} unpruned"
    return kind, f"{levels}{hint}; {judgement}"


def judge(comparison: Comparison, gain: PairedDifference | None) -> tuple[str, str]:
    """Return how a gain over the unpruned graph is to be read: one of KINDS, and the same in words."""
    tolerance = TOLERANCE[comparison.metric]
    if gain is None:
        return UNCLEAR, "no seeds in common, so unclear whether worse"
    if gain.runs < MIN_VERDICT_RUNS:
        return UNCLEAR, f"{'one run' if gain.runs == 1 else f'{gain.runs} runs'} only, so unclear whether worse"
    if gain.low > 0:
        return BETTER, "clearly better"
    if gain.low >= -tolerance:
        return SAME, f"not worse by more than {tolerance_text(comparison)}"
    if gain.high >= 0:
        return UNCLEAR, "unclear whether worse"
    little = f", but by no more than {tolerance_text(comparison)}" if -gain.difference <= tolerance else ""
    return WORSE, f"clearly worse{little}"


# One comparison for each dataset


def main_comparisons(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Return for each dataset and target the comparison with most runs of pruned graphs, the largest first.

    Ties go to the first. A dataset of which no pruned graph was trained has none.
    """
    groups: dict[tuple[str, str | None], list[Comparison]] = defaultdict(list)
    for comparison in comparisons:
        if pruned_runs(comparison):
            groups[base_dataset(comparison), comparison.target].append(comparison)
    return sorted((max(group, key=pruned_runs) for group in groups.values()), key=pruned_runs, reverse=True)


def pruned_runs(comparison: Comparison) -> int:
    """Return the number of runs with a pruned graph."""
    return sum(len(records) for (_, budget), records in comparison.cells.items() if budget != NO_BUDGET)


def base_dataset(comparison: Comparison) -> str:
    """Return the dataset without the model that is named where a study has several."""
    record = next(record for records in comparison.cells.values() for record in records.values())
    return str(record["run"]["dataset"])
