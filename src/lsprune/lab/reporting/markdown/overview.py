"""Make the page of results in short: a question, a verdict that is computed, an interval, and five pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from lsprune.lab.reporting.acceleration import ORDINARY, PATHS, TARGET_SHARE, Acceleration, accelerations
from lsprune.lab.reporting.claims import (
    Finding,
    Findings,
    edges_matter,
    gain_over_chance,
    loss,
    shared_gains,
    side_gains,
)
from lsprune.lab.reporting.comparison import Comparison
from lsprune.lab.reporting.figures import files as figure_files
from lsprune.lab.reporting.figures.gains import Bar, draw_gains
from lsprune.lab.reporting.formatting import difference, per_cent
from lsprune.lab.reporting.markdown.syntax import anchor, anchor_of, block, escape, table
from lsprune.lab.reporting.markdown.tables import cell, gain_text
from lsprune.lab.reporting.method_styles import AUTO_METHODS, LABEL_METHODS, UPPER_BOUND
from lsprune.lab.reporting.records import Record
from lsprune.lab.reporting.serving import ServingResults, servings
from lsprune.lab.reporting.statistics import MIN_VERDICT_RUNS, Estimate
from lsprune.lab.studies.methods import LOCAL_RANDOM

AUTO = AUTO_METHODS[0]
OUT = f"{AUTO}-out"
HALF, TENTH = 0.5, 0.1
SHARES = (TENTH, 0.25, HALF)
MAX_NAMES = 6  # datasets that are named in a sentence; of more, the number
NOTHING = "There are too few runs yet: a verdict takes three of each method."

HOW = """\
Each verdict is computed from the runs. Brackets are 95 % intervals; those of few runs are
[too narrow](comparison.md#how-to-read-this). *Clearly*: the whole interval is on one side of zero. Points are
hundredths of the metric. A dataset counts once for each model."""


@dataclass(frozen=True)
class Overview:
    """What the page is made of.

    Args:
        comparisons: everything that was trained.
        summarised: the comparisons of all methods, each dataset once.
        overlaps: the measurements of consistency.
        timings: the measurements of time and of serving.
        drawn: the paths of the figures that other pages show.
    """

    comparisons: Sequence[Comparison]
    summarised: Sequence[Comparison]
    overlaps: Sequence[Comparison]
    timings: Sequence[Record]
    drawn: frozenset[str]

    def parts(self, images: dict[str, bytes]) -> Iterator[str]:
        """Yield the paragraphs of the page; add its figures to the images."""
        sections = [
            *_section("Do the edges matter?", self._edges()),
            *_section("Does half of the edges cost accuracy?", self._loss(images)),
            *_section("Is it better than chance?", self._chance(images)),
            *_section("Do labels help to choose?", self._labels()),
            *_section("How few edges are enough?", self._lossless()),
            *_section("How much faster is an epoch?", self._speed()),
            *_section("Can a trained model answer from a pruned graph?", self._serving()),
            *_section("Who decides on an edge?", self._sides()),
            *_section("Do two samples keep the same edges?", self._consistency()),
            *_section("One budget for all relations?", self._relations()),
        ]
        yield from (HOW, *sections) if sections else (NOTHING,)

    def _edges(self) -> Iterator[str]:
        found = edges_matter(self.comparisons)
        if found.all:
            rest = [*found.of_sign(0), *found.of_sign(-1)]
            no = f" Not on {_names(rest)}." if rest else ""
            yield (
                f"**On {found.counts[1]} of {len(found.all)} datasets and models, clearly.**{no} Where they do not, "
                "any way of pruning looks good: train once without edges first. What follows counts only graphs where "
                "they matter."
            )

    def _loss(self, images: dict[str, bytes]) -> Iterator[str]:
        found = {share: loss(self.comparisons, AUTO, share) for share in SHARES}
        half = found[HALF]
        if half.all:
            verdicts = ((1, "Not on"), (-1, "Yes on"), (0, "Unclear on"))
            sentences = [f"{words} {_names(half.of_sign(sign))}." for sign, words in verdicts if half.of_sign(sign)]
            yield f"**{sentences[0]}** {' '.join(sentences[1:])}"
        heads = ["edges kept", "cost nothing", "unclear", "cost more", "median, points", "from", "to"]
        if any(findings.all for findings in found.values()):
            yield (
                f"`LSP.auto` without labels ({AUTO}) against all edges. *Cost nothing*: the interval excludes a loss "
                "of more than half a point (0.01 for errors). *Cost more*: all of it is a larger loss."
            )
            yield block(table(heads, [_counts(share, f, (1, 0, -1)) for share, f in found.items() if f.all]))
        yield from _picture(half, "results/overview-half.svg", f"{AUTO} at 50 %, less all edges; points", images)

    def _chance(self, images: dict[str, bytes]) -> Iterator[str]:
        found = {share: gain_over_chance(self.comparisons, AUTO, share) for share in SHARES}
        if any(findings.all for findings in found.values()):
            counts = [findings.counts for findings in found.values()]
            better, unclear, worse = (sum(count[sign] for count in counts) for sign in (1, 0, -1))
            yield (
                f"**Clearly better in {better} comparisons, clearly worse in {worse}, no clear difference in "
                f"{unclear}.** `LSP.auto` without labels ({AUTO}) against k random neighbours of each node, at the "
                "same share:"
            )
            heads = ["edges kept", "better", "unclear", "worse", "median, points", "from", "to"]
            yield block(table(heads, [_counts(share, f, (1, 0, -1)) for share, f in found.items() if f.all]))
        text = f"{AUTO} less k random neighbours, both at 10 %; points"
        yield from _picture(found[TENTH], "results/overview-chance.svg", text, images)

    def _labels(self) -> Iterator[str]:
        """Compare each method that looks at labels with the one that does not, where both were run."""
        lines, clear = [], Counter[int]()
        for name in LABEL_METHODS:
            for share in SHARES:
                without = gain_over_chance(self.comparisons, AUTO, share)
                ahead = gain_over_chance(self.comparisons, name, share).over(without)
                if ahead is not None and ahead[1] >= MIN_VERDICT_RUNS:
                    clear[(ahead[0].low > 0) - (ahead[0].high < 0)] += 1
                    lines.append(f"- {name}, {per_cent(share)} kept: {_mean(ahead[0])}, {ahead[1]} datasets and models")
        if lines:
            yes, no, unclear = (clear[sign] for sign in (1, -1, 0))
            yield (
                f"**Clearly in {yes} of {len(lines)} comparisons, clearly not in {no}, unclear in {unclear}.** Mean "
                f"gain in points over {AUTO}, which looks at no label; intervals over datasets:"
            )
            yield block(lines)

    def _lossless(self) -> Iterator[str]:
        matter = [comparison for comparison in self.summarised if comparison.topology_matters]
        ratios = {c: c.lossless_ratio(c.best_lsp) for c in matter if c.best_lsp}
        known = {comparison: ratio for comparison, ratio in ratios.items() if ratio is not None}
        if known:
            fewest = min(known, key=lambda comparison: known[comparison])
            baseline = [comparison.lossless_ratio(comparison.in_role(LOCAL_RANDOM) or "") for comparison in known]
            ratios_of_baseline = [ratio for ratio in baseline if ratio is not None]
            complete = len(ratios_of_baseline) == len(known)
            remark = f" k random neighbours need {fmean(ratios_of_baseline):.2f}." if complete else ""
            yield (
                f"**The LSP that validation chooses needs {fmean(known.values()):.2f} of the edges that random pruning "
                f"needs** to lose nothing, on average over {len(known)} datasets. From {min(known.values()):.2f} on "
                f"{escape(fewest.name)} to {max(known.values()):.2f} "
                f"([all methods](comparison.md#lossless-shares)).{remark}"
            )
            path = f"results/{anchor_of(fewest)}.svg"
            if path in self.drawn:
                yield f"![Test {fewest.metric} on {escape(fewest.name)} against the share of edges kept]({path})"

    def _speed(self) -> Iterator[str]:
        groups = accelerations(self.timings)
        devices = list(dict.fromkeys(group.device for group in groups))
        lines = [line for device in devices for line in _epochs(device, [g for g in groups if g.device == device])]
        if lines:
            share = per_cent(TARGET_SHARE)
            yield f"**With {share} of the edges**, an epoch takes this part of the time with all edges:"
            yield block(lines)
            yield "Each edge costs time, but so do nodes and kernel launches: [what limits it](acceleration.md)."
            paths = [f"results/acceleration-{anchor(device)}.svg" for device in devices]
            path = next((path for path in reversed(paths) if path in self.drawn), None)
            if path:
                yield f"![Relative epoch time against the share of edges kept]({path})"

    def _serving(self) -> Iterator[str]:
        lines = [line for group in servings(self.timings) for line in _served(group)]
        if lines:
            yield "**Trained on the whole graph, served with half of its edges** ([all shares](acceleration.md)):"
            yield block(lines)

    def _sides(self) -> Iterator[str]:
        found = side_gains(self.comparisons, OUT)
        if found.all:
            yield (
                f'**Its target (`side="in"`, the default) is clearly better in {found.counts[-1]} comparisons, its '
                f"source in {found.counts[1]}, no clear difference in {found.counts[0]}.** Its source: "
                f"{_names(found.of_sign(1)) or 'nowhere'}. [Figures](comparison.md#who-decides-on-an-edge)."
            )

    def _consistency(self) -> Iterator[str]:
        for comparison in self.overlaps:
            rival, budget = comparison.in_role(LOCAL_RANDOM), comparison.budgets[0]
            names = [name for name in comparison.methods if name != UPPER_BOUND and comparison.estimate(name, budget)]
            levels = {name: level for name in names if (level := comparison.estimate(name, budget)) is not None}
            if rival not in levels:
                continue
            best = max(levels, key=lambda name: levels[name].mean)
            yield (
                f"**{escape(best)} keeps {cell(levels[best])} of the same edges** in two noisy samples of a class, k "
                f"random neighbours {cell(levels[rival])} ({escape(comparison.name)}, {_budget(comparison)})."
            )
            path = f"results/{anchor_of(comparison)}.svg"
            if path in self.drawn:
                yield f"![Overlap of what two samples keep on {escape(comparison.name)}]({path})"

    def _relations(self) -> Iterator[str]:
        found = shared_gains(self.comparisons)
        if found.all:
            better, unclear, worse = (found.counts[sign] for sign in (1, 0, -1))
            names = ", ".join(dict.fromkeys(escape(finding.name) for finding in found.all))
            yield (
                f"**A budget that relations share is clearly better than one for each in {better} of {len(found.all)} "
                f"comparisons**, clearly worse in {worse}, unclear in {unclear} ({names})."
            )


def _section(title: str, paragraphs: Iterable[str]) -> Iterator[str]:
    """Yield a heading and its paragraphs; nothing if there are none."""
    found = list(paragraphs)
    if found:
        yield f"## {title}"
        yield from found


def _names(findings: Iterable[Finding]) -> str:
    """Return the datasets with their differences where they are few, else their number and the range."""
    listed = list(findings)
    if not listed:
        return ""
    if len(listed) <= MAX_NAMES:
        return "; ".join(
            f"{escape(finding.name)} ({gain_text(finding.comparison, finding.gain)})" for finding in listed
        )
    span = Findings(listed).range
    return f"{len(listed)} of them" + (f" ({100 * span[1]:+.2f} to {100 * span[2]:+.2f} points)" if span else "")


def _counts(share: float, findings: Findings, signs: Sequence[int]) -> list[str]:
    span = [f"{100 * value:+.2f}" for value in findings.range] if findings.range else [""] * 3
    return [per_cent(share), *(str(findings.counts[sign]) for sign in signs), *span]


def _mean(level: Estimate) -> str:
    mean, low, high = (f"{100 * value:+.2f}" for value in (level.mean, level.low, level.high))
    return f"{mean} [{low}, {high}]" if level.runs > 1 else mean


def _picture(findings: Findings, path: str, axis: str, images: dict[str, bytes]) -> Iterator[str]:
    """Draw the differences of scores; return nothing if there are fewer than two."""
    bars = [Bar(finding.name, finding.gain, finding.sign) for finding in findings.scores]
    if len(bars) > 1:
        images[path] = figure_files.to_svg(draw_gains(bars, axis))
        yield f"![Differences with their intervals: {axis}]({path})"


def _epochs(device: str, groups: Sequence[Acceleration]) -> Iterator[str]:
    """Yield a line for a device: a range over datasets for each model, on the ordinary path and on the fastest."""
    models = dict.fromkeys(group.model for group in groups)
    for path in PATHS:
        parts = []
        for model in models:
            points = [group.point(path, TARGET_SHARE) for group in groups if group.model == model]
            ratios = [point.epoch for point in points if point is not None and point.epoch is not None]
            if ratios:
                ends = [f"{value:.2f}" for value in (min(ratios), max(ratios))]
                parts.append(f"{model.upper()} {' to '.join(dict.fromkeys(ends))}")
        if parts:
            kind = "PyG's layers" if path == ORDINARY else "the fastest code at each share"
            yield f"- {escape(device)}, {kind}: {', '.join(parts)}"


def _served(group: ServingResults) -> Iterator[str]:
    """Yield a line for a model on a dataset, with the first method: no test metric chooses one."""
    points = [p for p in group.points(group.methods[0]) if abs(p.share - HALF) <= 0.05] if group.methods else []
    for point in points:
        if point.cost is not None and point.inference is not None:
            cost = difference(point.cost, True)
            where = f"{escape(group.dataset)}, {group.model.upper()}, {escape(group.device)}"
            yield f"- {where}: {cost} points, {point.inference:.2f} of the time"


def _budget(comparison: Comparison) -> str:
    budget = comparison.budgets[0]
    return f"k = {budget.k}" if budget.k else per_cent(comparison.column_share(budget))
