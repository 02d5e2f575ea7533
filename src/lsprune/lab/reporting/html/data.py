"""Turn comparisons into plain data for the page's script: estimates, relative times, the paper's points, styles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Any

from lsprune.lab.reporting import paper
from lsprune.lab.reporting.comparison import NO_BUDGET, Budget, Comparison, StudyResults
from lsprune.lab.reporting.formatting import axis_label, metric_label, short
from lsprune.lab.reporting.html.neighbourhood import neighbourhood_data
from lsprune.lab.reporting.method_descriptions import describe
from lsprune.lab.reporting.method_styles import (
    GROUPS,
    PAPER_METHODS,
    REFERENCE_LABELS,
    SIZE_METHODS,
    PageStyle,
    group_of,
    in_order,
    page_styles,
)
from lsprune.lab.reporting.neighbourhood_sizes import NeighbourhoodSizes
from lsprune.lab.reporting.recommendation import recommend
from lsprune.lab.reporting.records import Record
from lsprune.lab.reporting.statistics import Estimate
from lsprune.lab.reporting.timing import TEST, Timing, timing_of
from lsprune.lab.reporting.trade_off import trade_off
from lsprune.lab.reporting.verdict import KINDS, main_comparisons, verdict
from lsprune.lab.studies.methods import Method

Data = dict[str, Any]
FIELDS = ("test", "val", "test_max")  # metrics to choose from


def page_data(studies: Sequence[StudyResults]) -> Data:
    """Return everything that the page shows."""
    comparisons = [comparison for study in studies for comparison in study.comparisons]
    return {
        "comparisons": [comparison_data(comparison) for comparison in comparisons],
        "first": next((comparisons.index(largest) for largest in main_comparisons(comparisons)), 0),
        "about": descriptions(studies),
        "consistency": [
            overlap_data(comparison) for study in studies for comparison in study.overlaps if comparison.methods
        ],
        "sizes": [{"study": study.name, **sizes_data(sizes)} for study in studies for sizes in study.sizes],
        "neighbourhood": neighbourhood_data(),
        "groups": GROUPS,
        "sizeMethods": SIZE_METHODS,
        "paperMethods": {
            name: {"label": method.label, "style": method.style.to_dict(), "ours": method.ours}
            for name, method in PAPER_METHODS.items()
        },
    }


def descriptions(studies: Sequence[StudyResults]) -> list[tuple[str, str]]:
    """Return the names of all methods with one line about each; a name of several methods has a line of each."""
    lines: dict[str, list[str]] = {}
    for method in in_order(_defined(studies)):
        known = lines.setdefault(method.name, [])
        if (line := describe(method)) not in known:
            known.append(line)
    return [
        (name, " Or: ".join([first, *(_differing(line, first) for line in rest)]))
        for name, (first, *rest) in lines.items()
    ]


def _differing(line: str, first: str) -> str:
    """Return the sentences of a line that are not in the first one."""
    known = first.removesuffix(".").split(". ")
    return ". ".join(sentence for sentence in line.removesuffix(".").split(". ") if sentence not in known) + "."


def _defined(studies: Sequence[StudyResults]) -> Iterator[Method]:
    for study in studies:
        for part in (study.comparisons, study.overlaps, study.sizes):
            for one in part:
                yield from one.defined.values()


def comparison_data(comparison: Comparison) -> Data:
    """Return what the page shows of one dataset and target."""
    timing = timing_of(comparison)
    drawn = comparison.methods_to_draw() if comparison.methods else []
    records = [record for cell in comparison.cells.values() for record in cell.values()]
    fields = [field for field in FIELDS if all(field in record for record in records)]
    return {
        "study": comparison.study,
        "dataset": comparison.dataset,
        "target": comparison.target,
        "metric": comparison.metric,
        "higherIsBetter": comparison.higher_is_better,
        "metrics": [
            {
                "id": field,
                "name": metric_label(comparison.metric, field),
                "axis": axis_label(comparison.metric, comparison.higher_is_better, field),
            }
            for field in fields
        ],
        "references": [
            {"role": role, "name": label, **_estimates(comparison, name, NO_BUDGET, fields)}
            for role, label in REFERENCE_LABELS.items()
            if (name := comparison.in_role(role))
        ],
        "methods": _methods(comparison, drawn, fields, timing),
        "drawn": drawn,
        "timingProblem": timing.problem,
        "paper": _paper(comparison),
        "recommendation": _recommendation(comparison, timing),
        "tradeOff": _trade_off(comparison, timing),
    }


def overlap_data(comparison: Comparison) -> Data:
    """Return how much of what two samples keep is the same, by method and budget."""
    timing = Timing(problem="no model was trained")
    return {
        "study": comparison.study,
        "dataset": comparison.dataset,
        "metric": metric_label(comparison.metric),
        "methods": _methods(comparison, comparison.methods, ["test"], timing),
    }


def sizes_data(sizes: NeighbourhoodSizes) -> Data:
    """Return the variance of neighbourhood sizes by method, number of hops and share, and the paper's points."""
    methods = in_order(sizes.defined[name] for name in sizes.methods)
    first = [name for name in SIZE_METHODS if name in sizes.methods] or sizes.methods
    styles = page_styles(methods, first)
    unpruned = {hops: variance for hops in sizes.hops if (variance := sizes.unpruned(hops)) is not None}
    return {
        "dataset": sizes.dataset,
        "hops": sizes.hops,
        "unpruned": {str(hops): spread(variance) for hops, variance in unpruned.items()},
        "methods": [
            {
                "name": method.name,
                "style": styles[method.name].to_dict(),
                "lines": {
                    str(hops): [[short(p.share), *spread(p.variance)] for p in sizes.points(method.name, hops)]
                    for hops in sizes.hops
                },
            }
            for method in methods
        ],
        "paper": _short_points(paper.variance(sizes.dataset)),
    }


def spread(estimate: Estimate) -> list[float | int | None]:
    """Return [mean, low, high, runs]; the bounds are None for fewer than two runs."""
    return [short(estimate.mean), short(estimate.low), short(estimate.high), estimate.runs]


def side_of(records: Iterable[Record]) -> str:
    """Return the side that a method pruned, in or out; empty where it has none or records differ."""
    pruners = [record.get("pruner") for record in records]
    sides = {pruner.get("side") if isinstance(pruner, dict) else None for pruner in pruners}
    side = sides.pop() if len(sides) == 1 else None
    return side if side in ("in", "out") else ""


def _methods(comparison: Comparison, drawn: list[str], fields: list[str], timing: Timing) -> list[Data]:
    methods = in_order(comparison.defined[name] for name in comparison.methods)
    styles = page_styles(methods, drawn)
    return [_method(comparison, name, styles[name], fields, timing) for name in styles]


def _method(comparison: Comparison, name: str, style: PageStyle, fields: list[str], timing: Timing) -> Data:
    method, budgets = comparison.defined[name], comparison.budgets_of(name)
    points = [_point(comparison, name, budget, fields, timing) for budget in budgets]
    return {
        "name": name,
        "group": group_of(method),
        "side": side_of(record for budget in budgets for record in comparison.cells[name, budget].values()),
        "everyEpoch": method.every_epoch,
        "style": style.to_dict(),
        "points": sorted(points, key=lambda point: point["share"]),
    }


def _point(comparison: Comparison, name: str, budget: Budget, fields: list[str], timing: Timing) -> Data:
    records = list(comparison.cells[name, budget].values())
    return {
        "share": short(comparison.share(name, budget)),
        "k": budget.k,
        **_estimates(comparison, name, budget, fields),
        "pruningSeconds": short(median(record["prune_seconds"] for record in records)),
        "epochSeconds": short(timing.seconds(records)),
        "trainingTime": short(timing.relative(records)),
        "testTime": short(timing.relative(records, TEST)),
    }


def _estimates(comparison: Comparison, name: str, budget: Budget, fields: list[str]) -> Data:
    estimates = {field: comparison.estimate(name, budget, field) for field in fields}
    return {field: spread(estimate) for field, estimate in estimates.items() if estimate is not None}


def _paper(comparison: Comparison) -> Data | None:
    points = paper.curves(comparison.dataset, comparison.target, comparison.metric)
    times = paper.curves(comparison.dataset, comparison.target, paper.TIME)
    return {"metric": _short_points(points), "time": _short_points(times)} if points else None


def _short_points(lines: paper.Points) -> Data:
    """Return the paper's points with as many digits as ours."""
    return {name: [[short(share), short(value)] for share, value in points] for name, points in lines.items()}


def _recommendation(comparison: Comparison, timing: Timing) -> Data:
    advice = recommend(comparison, timing)
    judged = verdict(comparison, advice)
    return {
        "kind": judged.kind,
        "badge": KINDS[judged.kind],
        "verdict": judged.after.strip(";: ") if advice.found else judged.text,
        "found": advice.found,
        "text": advice.text,
        "reasons": advice.reasons,
        "method": advice.method,
        "share": short(advice.share),
        "runs": advice.runs,
    }


def _trade_off(comparison: Comparison, timing: Timing) -> Data:
    result = trade_off(comparison, timing)
    front = [
        {"method": p.method, "share": short(p.share), "cost": short(p.cost), "metric": short(p.metric)}
        for p in result.front
    ]
    return {"cost": result.cost, "front": front}
