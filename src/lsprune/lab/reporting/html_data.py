"""A panel as plain data for the page: levels with intervals, times beside the unpruned, the paper's points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from statistics import fmean, median
from typing import Any

from lsprune.lab.reporting import paper
from lsprune.lab.reporting.figures import METRICS
from lsprune.lab.reporting.panels import RIVALS, WHOLE, Budget, Panel, calibrated, lines_of
from lsprune.lab.reporting.records import Record
from lsprune.lab.reporting.result_lines import side_of
from lsprune.lab.reporting.statistics import Estimate, estimate
from lsprune.lab.studies.methods import FRESH, NAMES, REFERENCES

Data = dict[str, Any]
FIELDS = ("test", "val", "test_max")
REFERENCE_NAMES = {"none": "unpruned", "no-edges": "no edges", "basic": "basic model, whole graph"}


@dataclass(frozen=True)
class Clock:
    """The unpruned graph's seconds, which those of pruned graphs are divided by; or why there are none.

    Only runs that had the device to themselves count (jobs == 1), and only on the device of the unpruned ones.
    """

    device: str | None
    train: float | None
    test: float | None
    why: str = ""

    def seconds(self, records: Iterable[Record], field: str = "train_seconds_per_epoch") -> float | None:
        """The median over the runs that compare; None if there are none."""
        if self.why:
            return None
        there = [r[field] for r in records if r.get("jobs") == 1 and r.get("device") == self.device and field in r]
        return median(there) if there else None


def clock_of(panel: Panel) -> Clock:
    """What times of a panel are compared with."""
    whole = list(panel.cells.get(("none", WHOLE), {}).values())
    alone = [record for record in whole if record.get("jobs") == 1]
    if not alone:
        return Clock(None, None, None, _why_shared(whole))
    plain = Clock(alone[0].get("device"), None, None)
    clock = Clock(plain.device, plain.seconds(alone), plain.seconds(alone, "test_seconds"))
    pruned = [records.values() for (_, budget), records in panel.cells.items() if budget != WHOLE]
    if pruned and not any(clock.seconds(records) for records in pruned):
        where = f" ({clock.device})" if clock.device else ""
        return Clock(None, None, None, f"no pruned run had the device of the unpruned ones{where} to itself")
    return clock


def _why_shared(whole: list[Record]) -> str:
    if not whole:
        return "there is no unpruned run to compare with"
    jobs = [record["jobs"] for record in whole if record.get("jobs") is not None]
    if not jobs:
        return "the runs do not say whether they had the device to themselves"
    return f"up to {max(jobs)} runs shared the device at a time"


def panel_data(panel: Panel, clock: Clock) -> Data:
    """Everything that the page shows of a panel, but for the advice."""
    there = [name for name in FIELDS if all(name in r for cell in panel.cells.values() for r in cell.values())]
    return {
        "dataset": panel.dataset,
        "target": panel.target,
        "metric": panel.metric,
        "higher": panel.higher_is_better,
        "metrics": [{"id": field, "name": metric_name(panel.metric, field)} for field in there],
        "levels": [_level(panel, name, there) for name in REFERENCES if name in panel.references],
        "methods": [_method(panel, name, there, clock) for name in sorted(panel.methods, key=_place)],
        "shown": lines_of(panel) if panel.methods else [],
        "noTimes": clock.why,
        "device": clock.device,
        "paper": _paper(panel),
    }


def metric_name(metric: str, field: str) -> str:
    """What a number is called on an axis."""
    name = METRICS.get(metric, f"Test {metric}")
    if field == "test_max":
        return f"{name}, best epoch by test (as the paper has it)"
    return name if field == "test" else name.replace("Test", "Validation", 1)


def _level(panel: Panel, name: str, fields: list[str]) -> Data:
    return {"name": REFERENCE_NAMES[name], "id": name, **_estimates(panel, name, WHOLE, fields)}


def _method(panel: Panel, name: str, fields: list[str], clock: Clock) -> Data:
    cells = [(budget, panel.cells[name, budget]) for budget in panel.budgets if (name, budget) in panel.cells]
    points = [_point(panel, name, budget, fields, clock) for budget, _ in cells]
    return {
        "name": name,
        "group": "chance" if name in RIVALS else "ours" if calibrated(name) else "other",
        "side": side_of(record for _, cell in cells for record in cell.values()),
        "fresh": name in FRESH,
        "place": look_of(name),
        "points": sorted(points, key=lambda point: point["share"]),
    }


def _point(panel: Panel, name: str, budget: Budget, fields: list[str], clock: Clock) -> Data:
    records = list(panel.cells[name, budget].values())
    train, test = clock.seconds(records), clock.seconds(records, "test_seconds")
    return {
        "share": short(panel.share(name, budget)),
        "k": budget[0],
        **_estimates(panel, name, budget, fields),
        "prune": short(median(record["prune_seconds"] for record in records)),
        "seconds": short(train),
        "train": short(train / clock.train) if train and clock.train else None,
        "apply": short(test / clock.test) if test and clock.test else None,
    }


def _estimates(panel: Panel, name: str, budget: Budget, fields: list[str]) -> Data:
    found = {field: _estimate(tuple(panel.values(name, budget, field).values())) for field in fields}
    return {field: spread(one) for field, one in found.items()}


@cache
def _estimate(values: tuple[float, ...]) -> Estimate:
    return estimate(values)


def spread(one: Estimate) -> list[float | int | None]:
    """[mean, low, high, runs]; no bounds of fewer than two runs."""
    return [short(one.mean), short(one.low), short(one.high), one.runs]


def short(value: float | None) -> float | None:
    """Six significant digits, so that the page stays small; None for what is no number.

    >>> short(0.123456789), short(float("nan"))
    (0.123457, None)
    """
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")


def look_of(name: str) -> int:
    """The number that decides colour and marker of a method, everywhere the same; other names by their letters."""
    group = [other for other in NAMES if other not in (*REFERENCES, *RIVALS) and calibrated(other) is calibrated(name)]
    return group.index(name) if name in group else len(group) + sum(map(ord, name)) % 40


def _place(name: str) -> tuple[int, str]:
    return (NAMES.index(name) if name in NAMES else len(NAMES), name)


def _paper(panel: Panel) -> Data | None:
    points = paper.curves(panel.dataset, panel.target, panel.metric)
    times = paper.curves(panel.dataset, panel.target, paper.TIME)
    return {"metric": points, "time": times} if points else None


# Consistency and neighbourhood sizes, which need no model


def overlap_data(panel: Panel) -> Data:
    """The overlap of what two samples of a class keep, of each method and share."""
    clock = Clock(None, None, None, "no model was trained")
    methods = [_method(panel, name, ["test"], clock) for name in sorted(panel.methods, key=_place)]
    return {"dataset": panel.dataset, "metric": METRICS[panel.metric], "methods": methods}


def variance_data(dataset: str, records: list[Record]) -> Data:
    """The variance of neighbourhood sizes of each method, number of hops and share, beside the paper's."""
    hops = sorted({int(name) for record in records for name in record["variance"]})
    lines: Mapping[str, Data] = {}
    for method in sorted({record["run"]["method"] for record in records}, key=_place):
        mine = [record for record in records if record["run"]["method"] == method]
        lines = {**lines, method: {str(hop): _by_share(mine, str(hop)) for hop in hops}}
    whole = lines.get("none", {})
    return {
        "dataset": dataset,
        "hops": hops,
        "whole": {hop: points[-1][1:] for hop, points in whole.items() if points},
        "methods": [
            {"name": name, "place": look_of(name), "lines": line} for name, line in lines.items() if name != "none"
        ],
        "paper": paper.variance(dataset),
    }


def _by_share(records: list[Record], hop: str) -> list[list[float | int | None]]:
    """[share, mean, low, high, runs] for each budget, the smallest share first."""
    cells: dict[Budget, list[Record]] = {}
    for record in records:
        if hop in record["variance"]:
            cells.setdefault((record["run"].get("k"), record["run"].get("keep")), []).append(record)
    points = [
        [
            short(fmean(float(r["share"]) for r in cell)),
            *spread(_estimate(tuple(float(r["variance"][hop]) for r in cell))),
        ]
        for cell in cells.values()
    ]
    return sorted(points, key=lambda point: point[0] or 0.0)
