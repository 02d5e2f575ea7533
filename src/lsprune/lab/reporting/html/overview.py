"""What the page opens with: one verdict for each dataset, and a card for each study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from lsprune.lab.reporting.comparison import Comparison, StudyResults
from lsprune.lab.reporting.recommendation import recommend
from lsprune.lab.reporting.timing import timing_of
from lsprune.lab.reporting.verdict import KINDS, Verdict, main_comparisons, pruned_runs, verdict


@dataclass(frozen=True)
class Row:
    """A dataset and its verdict.

    Args:
        number: the place of the comparison among all of the page.
    """

    dataset: str
    target: str | None
    study: str
    seeds: int
    verdict: Verdict
    badge: str
    href: str
    number: int


@dataclass(frozen=True)
class Card:
    """A study: its name, what is in it, where the page shows it.

    Args:
        number: the place of its largest comparison among all of the page, for the picture; None if nothing was trained.
    """

    name: str
    title: str
    contents: str
    href: str
    number: int | None = None


def verdict_rows(studies: Sequence[StudyResults]) -> list[Row]:
    """Return one row for each dataset and target, from the comparison with most runs; the largest first."""
    comparisons = [comparison for study in studies for comparison in study.comparisons]
    return [_row(comparison, comparisons.index(comparison)) for comparison in main_comparisons(comparisons)]


def _row(comparison: Comparison, number: int) -> Row:
    result = verdict(comparison, recommend(comparison, timing_of(comparison)))
    view = {"study": comparison.study, "dataset": comparison.dataset, "target": comparison.target}
    seeds = len({seed for records in comparison.cells.values() for seed in records})
    badge, link = KINDS[result.kind], view_link(view)
    return Row(comparison.dataset, comparison.target, comparison.study, seeds, result, badge, link, number)


def study_cards(studies: Sequence[StudyResults]) -> list[Card]:
    """Return a card for each study with pruned graphs, those with most runs of them first."""
    comparisons = [comparison for study in studies for comparison in study.comparisons]
    sizes = {study.name: sum(map(pruned_runs, study.comparisons)) for study in studies}
    shown = [study for study in studies if sizes[study.name] or study.overlaps or study.sizes]
    return [_card(study, comparisons) for study in sorted(shown, key=lambda study: -sizes[study.name])]


def _card(study: StudyResults, comparisons: Sequence[Comparison]) -> Card:
    runs = f"{study.runs:,} run{'' if study.runs == 1 else 's'}"
    if not any(map(pruned_runs, study.comparisons)):
        section = "consistency" if study.overlaps else "sizes"
        datasets = [one.dataset for one in (study.overlaps or study.sizes)]
        first = datasets[0] if len(datasets) > 1 else None
        return Card(study.name, _title(study), runs, view_link({"at": section, f"{section}-dataset": first}))
    largest = max(study.comparisons, key=pruned_runs)
    methods = {name for comparison in study.comparisons for name in comparison.methods}
    contents = [_count(len(study.comparisons), "dataset"), _count(len(methods), "method"), runs]
    dataset = largest.dataset if len(study.comparisons) > 1 else None
    href = view_link({"study": study.name, "dataset": dataset, "target": largest.target if dataset else None})
    return Card(study.name, _title(study), ", ".join(contents), href, comparisons.index(largest))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _title(study: StudyResults) -> str:
    """Return the title of a study that comes with lsprune; empty for a user's own."""
    from lsprune.lab.studies import study_files  # which checks values as the reports do

    return study_files.read(study.name).title if study.name in study_files.names() else ""


def view_link(view: Mapping[str, str | None]) -> str:
    """Return the address of a view within the page; view.js reads it.

    >>> view_link({"study": "compare", "dataset": "a b&c", "target": None})
    '#study=compare&dataset=a%20b%26c'
    """
    pairs = {name: value.encode("utf8", "replace").decode() for name, value in view.items() if value is not None}
    return "#" + "&".join(f"{name}={quote(value, safe='')}" for name, value in pairs.items())
