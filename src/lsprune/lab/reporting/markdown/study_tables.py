"""Make the tables of single studies, which stand in results/README.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lsprune.lab.reporting.comparison import Comparison, read_study
from lsprune.lab.reporting.formatting import difference
from lsprune.lab.reporting.markdown.syntax import table
from lsprune.lab.reporting.markdown.tables import cell, overlap_table
from lsprune.lab.reporting.method_styles import RANDOM_BASELINES, STUDY_METHOD
from lsprune.lab.reporting.neighbourhood_sizes import NeighbourhoodSizes
from lsprune.lab.reporting.statistics import PairedDifference
from lsprune.lab.studies.methods import LOCAL_RANDOM


def study_tables(path: Path) -> str:
    """Return one study as Markdown, with a table for each dataset and target."""
    study = read_study(path)
    parts: list[tuple[str, list[str]]] = [
        *((comparison.name, list(_metric_table(comparison))) for comparison in study.comparisons),
        *((comparison.name, overlap_table(comparison)) for comparison in study.overlaps),
        *((sizes.dataset, _sizes_table(sizes)) for sizes in study.sizes),
    ]
    lines = [f"## {path.stem}"]
    for name, part in parts:
        lines += ["", f"### {name}"] if len(parts) > 1 else []
        lines += ["", *part]
    return "\n".join(lines)


def _metric_table(comparison: Comparison) -> Iterator[str]:
    """Yield the metric by method and share, then gains by seed: of LSP over k random neighbours, of shared budgets."""
    yield from (f"- {name}: {comparison.estimate(name)}" for name in comparison.references)
    if not comparison.budgets:
        return
    rival = comparison.in_role(LOCAL_RANDOM)
    rows = [[name, *(cell(comparison.estimate(name, b)) for b in comparison.budgets)] for name in comparison.methods]
    if {STUDY_METHOD, rival} <= set(comparison.methods):
        rows.append(_gain_row(comparison, STUDY_METHOD, rival))
    rows += [_gain_row(comparison, name, own) for name, own in comparison.shared_budgets.items()]
    heads = [f"{comparison.column_share(budget):.1%}" for budget in comparison.budgets]
    yield from ("", *table(["method", *heads], rows), "")
    for name in (*map(comparison.in_role, RANDOM_BASELINES), STUDY_METHOD):
        if name in comparison.methods:
            share = comparison.lossless_share(name)
            yield f"- lossless share of {name}: " + ("none of these" if share is None else f"{share:.1%}")


def _gain_row(comparison: Comparison, method: str, rival: str) -> list[str]:
    """Return how much better a method is than a rival at each share; errors keep their sign."""
    higher = comparison.higher_is_better
    gains = [comparison.gain(method, rival, budget) for budget in comparison.budgets]
    plain = [gain if gain is None or higher else _negated(gain) for gain in gains]
    label = f"*{method} − {rival}, {'points' if higher else 'lower is better'}*"
    return [label, *("" if gain is None else difference(gain, higher, 1 if higher else 3) for gain in plain)]


def _negated(gain: PairedDifference) -> PairedDifference:
    return PairedDifference(0.0 - gain.difference, 0.0 - gain.high, 0.0 - gain.low, gain.p, gain.runs)  # no -0.0


def _sizes_table(sizes: NeighbourhoodSizes) -> list[str]:
    """Return the mean variance of neighbourhood sizes by method and share, for each number of hops."""
    keeps = sorted({r["run"]["keep"] for r in sizes.records if r["run"].get("keep") is not None})
    rows = []
    for hops in sizes.hops:
        unpruned = sizes.unpruned(hops)
        for method in sizes.methods:
            means = {point.keep: f"{point.variance.mean:.4g}" for point in sizes.points(method, hops)}
            last = "" if unpruned is None else f"{unpruned.mean:.4g}"
            rows.append([str(hops), method, *(means.get(keep, "") for keep in keeps), last])
    return table(["hops", "method", *(f"{keep:.0%}" for keep in keeps), "100%"], rows)
