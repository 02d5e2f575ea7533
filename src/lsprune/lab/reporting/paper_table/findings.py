"""The headlines of the table: where our runs contradict the paper, and which figures cannot tell methods apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from lsprune.lab.reporting import paper
from lsprune.lab.reporting.comparison import NO_BUDGET, StudyResults
from lsprune.lab.reporting.paper_table.figures import Panel
from lsprune.lab.reporting.paper_table.points import LSP_LINES, OURS, median_factor, value_at
from lsprune.lab.reporting.paper_table.table import Entry, PaperTable
from lsprune.lab.reporting.paper_table.verdict import HALF, MIN_ORDERS, Order
from lsprune.lab.studies.methods import BASIC, NO_EDGES, RANDOM, UNPRUNED

ONE_POINT = 0.01
LABELS = {"lsp-p": "LSP-P", "lsp-t": "LSP-T"}


@dataclass(frozen=True)
class Finding:
    """A headline, and what it rests on."""

    headline: str
    text: str


def findings(table: PaperTable, studies: Sequence[StudyResults]) -> list[Finding]:
    """Return the findings, the contradictions first."""
    entries = [entry for entry, _ in table.plots]
    return [
        *(found for entry in entries for found in _against_random(entry)),
        *(found for entry in entries for found in _basic_model(entry)),
        *(found for entry in entries for found in _edges_do_not_matter(entry, studies)),
        *_sizes_are_those_of_random(studies),
        *_missing(entries),
    ]


def _against_random(entry: Entry) -> Iterator[Finding]:
    """Yield a finding if the published presets are not better than random where the paper has them better."""
    compared = [order for order in entry.orders if order.line in LSP_LINES]
    lost = [order for order in compared if not order.kept]
    if entry.verdict.word != "not reproduced" or len(compared) < MIN_ORDERS or len(lost) <= HALF * len(compared):
        return
    error = entry.panel.metric == "mae"
    yield Finding(
        f"On {entry.panel.title} the published presets lie {'above' if error else 'below'} random.",
        f"The paper has {' and '.join(_lines(compared))} {'below' if error else 'above'} random. In our runs they are "
        f"{'above' if error else 'below'} it at {len(lost)} of the {len(compared)} points that can be compared. There "
        f"our lines are {_gaps(entry, lost, 'ours')} apart, the paper's {_gaps(entry, lost, 'paper')}. "
        f"({'; '.join(entry.conditions)}.)",
    )


def _lines(orders: Sequence[Order]) -> list[str]:
    return [LABELS[line] for line in LSP_LINES if any(order.line == line for order in orders)]


def _gaps(entry: Entry, orders: Sequence[Order], field: str) -> str:
    """Return the smallest and the largest difference, in points of a score."""
    gaps = sorted(abs(getattr(order, field)) for order in orders)
    if entry.panel.metric == "mae":
        return f"{gaps[0]:.3g} to {gaps[-1]:.3g}"
    return f"{100 * gaps[0]:.1f} to {100 * gaps[-1]:.1f} points"


def _basic_model(entry: Entry) -> Iterator[Finding]:
    """Yield a finding if the basic model is better than the paper's model, and worse in the paper."""
    if any(order.line == BASIC and not order.kept for order in entry.orders):
        ours = {point.line: point for point in entry.points}
        yield Finding(
            f"On {entry.panel.title} plain averaging is as good as attention.",
            f"The basic model has {ours[BASIC].ours.mean:.3f} on the whole graph and the paper's model "
            f"{ours[UNPRUNED].ours.mean:.3f}; the paper has {ours[BASIC].paper:.3f} and {ours[UNPRUNED].paper:.3f}.",
        )


def _edges_do_not_matter(entry: Entry, studies: Sequence[StudyResults]) -> Iterator[Finding]:
    """Yield a finding if the model is as good without any edges, within one point of a score."""
    for comparison in (comparison for study in studies for comparison in study.comparisons):
        if (comparison.study, comparison.dataset) != (entry.panel.study, entry.panel.dataset):
            continue
        whole, empty = (
            [float(v) for v in comparison.values(comparison.in_role(role), NO_BUDGET).values()]
            for role in (UNPRUNED, NO_EDGES)
        )
        if comparison.higher_is_better and whole and empty and fmean(whole) - fmean(empty) < ONE_POINT:
            yield Finding(
                f"{entry.panel.title} cannot tell pruning methods apart.",
                f"The model has {fmean(empty):.3f} without any edge and {fmean(whole):.3f} with all of them.",
            )


def _sizes_are_those_of_random(studies: Sequence[StudyResults]) -> Iterator[Finding]:
    """Yield a finding on which pruning the paper's neighbourhood sizes are those of."""
    ratios: dict[str, list[tuple[float, float]]] = {}
    for sizes in (sizes for study in studies for sizes in study.sizes):
        curves = paper.variance(sizes.dataset)
        for method in (RANDOM, OURS["lsp-p"]):
            for hops in (hops for hops in sizes.hops if str(hops) in curves):
                for point in sizes.points(method, hops):
                    value = value_at(curves[str(hops)], point.share)
                    if value is not None and point.variance.mean > 0:
                        ratios.setdefault(method, []).append((point.variance.mean, value[0]))
    if len(ratios) == 2:
        random, lsp = (ratios[method] for method in (RANDOM, OURS["lsp-p"]))
        closer = "are those of random pruning" if median_factor(random) < median_factor(lsp) else "are those of LSP-P"
        yield Finding(
            f"The neighbourhood sizes of Figure 6 {closer}.",
            f"The paper does not say how it pruned. Over {len(random)} points our variances and its differ by a factor "
            f"of {median_factor(random):.2f} in the median for random, and of {median_factor(lsp):.0f} for the "
            "published LSP-P.",
        )


def _missing(entries: Sequence[Entry]) -> Iterator[Finding]:
    missing = [entry.panel for entry in entries if entry.verdict.word == "not run"]
    if missing:
        text = f"{len(missing)} of {len(entries)} plots have no runs: {_plots(missing)}."
        yield Finding("Not everything has been run.", text)
    open_ones = [entry.panel for entry in entries if entry.verdict.word == "not judged"]
    if open_ones:
        text = f"{len(open_ones)} of {len(entries)} plots have runs that allow no verdict: {_plots(open_ones)}."
        yield Finding("Not every run can be judged.", text)


def _plots(panels: Sequence[Panel]) -> str:
    """Return the datasets of plots, each with the number of its plots."""
    counts = Counter(panel.dataset for panel in panels)
    names = {panel.dataset: panel.title.split(",")[0] for panel in panels}
    return ", ".join(names[name] + (f" ({count} plots)" if count > 1 else "") for name, count in counts.items())
