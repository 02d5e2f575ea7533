"""Judge what the results claim over all datasets: what is lost, what is gained over chance, how certain that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from lsprune.lab.reporting.comparison import Budget, Comparison
from lsprune.lab.reporting.records import TOLERANCE
from lsprune.lab.reporting.statistics import MIN_VERDICT_RUNS, Estimate, PairedDifference, estimate
from lsprune.lab.studies.methods import LOCAL_RANDOM

SHARE_MARGIN = 0.1  # a share within this part of another one is called the same: 46.5 % is about a half


@dataclass(frozen=True, eq=False)
class Finding:
    """A difference on one dataset.

    Args:
        sign: 1 if it is clearly good, -1 if it is clearly bad, else 0.
    """

    comparison: Comparison
    gain: PairedDifference
    sign: int

    @property
    def name(self) -> str:
        """The dataset."""
        return self.comparison.name

    @property
    def in_points(self) -> bool:
        """Whether the difference is one of a score, which other datasets have too."""
        return self.comparison.higher_is_better


@dataclass(frozen=True, eq=False)
class Findings:
    """The same question, asked of every dataset."""

    all: Sequence[Finding]

    @cached_property
    def counts(self) -> Counter[int]:
        """The number of findings with each sign."""
        return Counter(finding.sign for finding in self.all)

    def of_sign(self, sign: int) -> list[Finding]:
        """Return the findings with a sign, the largest difference first."""
        return sorted((f for f in self.all if f.sign == sign), key=lambda f: (-f.gain.difference, f.name))

    @property
    def scores(self) -> list[Finding]:
        """The findings in points."""
        return [finding for finding in self.all if finding.in_points]

    @cached_property
    def range(self) -> tuple[float, float, float] | None:
        """The median difference of the scores, the smallest and the largest."""
        differences = [finding.gain.difference for finding in self.scores]
        return (median(differences), min(differences), max(differences)) if differences else None

    def over(self, other: Findings) -> tuple[Estimate, int] | None:
        """Return how much larger the differences of scores are than other ones, on the datasets of both.

        The interval is over datasets, not over runs. None without such a dataset.
        """
        theirs = {finding.name: finding.gain.difference for finding in other.scores}
        gaps = [f.gain.difference - theirs[f.name] for f in self.scores if f.name in theirs]
        return (estimate(gaps), len(gaps)) if gaps else None


def at_share(comparison: Comparison, share: float) -> Budget | None:
    """Return the budget with about this share; None if there is none."""
    budgets = [(abs(comparison.column_share(budget) / share - 1), budget) for budget in comparison.budgets]
    near = [pair for pair in budgets if pair[0] <= SHARE_MARGIN]
    return min(near, key=lambda pair: pair[0])[1] if near else None


def edges_matter(comparisons: Sequence[Comparison]) -> Findings:
    """Return what the whole graph gains over no edges."""
    return _each_once(comparisons, lambda c: c.topology_gain, by_verdict)


def loss(comparisons: Sequence[Comparison], method: str, share: float) -> Findings:
    """Return what a method loses at a share against the whole graph, where edges matter.

    Good: the interval excludes a loss of more than the tolerance (half a point). Bad: all of it is a larger loss.
    """

    def gain(comparison: Comparison) -> PairedDifference | None:
        budget = at_share(comparison, share)
        return None if budget is None else comparison.gain_over_unpruned(method, budget)

    return _each_once(_where_edges_matter(comparisons), gain, by_tolerance)


def gain_over_chance(comparisons: Sequence[Comparison], method: str, share: float) -> Findings:
    """Return what a method gains over k random neighbours at the same share, where edges matter."""

    def gain(comparison: Comparison) -> PairedDifference | None:
        budget = at_share(comparison, share)
        return None if budget is None else comparison.gain(method, comparison.in_role(LOCAL_RANDOM), budget)

    return _each_once(_where_edges_matter(comparisons), gain, by_verdict)


def shared_gains(comparisons: Sequence[Comparison]) -> Findings:
    """Return what budgets gain that all relations share, at every share; not those told what a relation is worth."""
    findings = []
    for comparison in comparisons:
        for name, own in comparison.shared_budgets.items():
            if not (comparison.defined[name].pruner or {}).get("importance"):
                findings += _at_every_share(comparison, name, own)
    return Findings(findings)


def side_gains(comparisons: Sequence[Comparison], method: str) -> Findings:
    """Return what a method that prunes out-neighbours gains over its partner that prunes in-neighbours, by share."""
    findings = []
    for comparison in comparisons:
        partner = comparison.in_neighbour_partner(method) if method in comparison.methods else None
        findings += _at_every_share(comparison, method, partner) if partner else []
    return Findings(findings)


def _at_every_share(comparison: Comparison, method: str, rival: str) -> list[Finding]:
    gains = [comparison.gain(method, rival, budget) for budget in comparison.budgets]
    return [_finding(comparison, gain, by_verdict) for gain in gains if gain is not None and _enough(gain)]


# Signs


def by_verdict(comparison: Comparison, gain: PairedDifference) -> int:
    """Return the sign of a difference that is clear of zero."""
    return {"better": 1, "worse": -1}.get(gain.verdict, 0)


def by_tolerance(comparison: Comparison, gain: PairedDifference) -> int:
    """Return 1 if a loss of more than the tolerance is excluded, -1 if the loss is larger, else 0."""
    tolerance = TOLERANCE[comparison.metric]
    return 1 if gain.low >= -tolerance else -1 if gain.high < -tolerance else 0


Signs = Callable[[Comparison, PairedDifference], int]


def _each_once(
    comparisons: Iterable[Comparison], gain: Callable[[Comparison], PairedDifference | None], signs: Signs
) -> Findings:
    """Return a finding for each dataset: that of most runs, where several studies have it."""
    found: dict[str, Finding] = {}
    for comparison in comparisons:
        difference = gain(comparison)
        if difference is None or not _enough(difference):
            continue
        other = found.get(comparison.name)
        if other is None or difference.runs > other.gain.runs:
            found[comparison.name] = _finding(comparison, difference, signs)
    return Findings(list(found.values()))


def _finding(comparison: Comparison, gain: PairedDifference, signs: Signs) -> Finding:
    return Finding(comparison, gain, signs(comparison, gain))


def _enough(gain: PairedDifference) -> bool:
    """Return whether there are enough runs for a verdict."""
    return gain.runs >= MIN_VERDICT_RUNS


def _where_edges_matter(comparisons: Iterable[Comparison]) -> list[Comparison]:
    return [comparison for comparison in comparisons if comparison.topology_matters]
