"""Our runs beside the paper's points: for each plot the lines that both have, at the shares of our runs.

A value of the paper between two of its points is interpolated linearly. Outside of its line there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from lsprune.lab.reporting import paper
from lsprune.lab.reporting.comparison import Comparison, StudyResults
from lsprune.lab.reporting.paper_table.figures import Panel
from lsprune.lab.reporting.records import Record
from lsprune.lab.reporting.statistics import Estimate, estimate
from lsprune.lab.reporting.timing import TEST, timing_of
from lsprune.lab.studies.methods import BASIC, NO_EDGES, RANDOM, UNPRUNED

LSP_LINES = ("lsp-p", "lsp-t")
ANY = "any"  # the paper's curve of times, one for all methods
OURS = {  # our method for each line of the paper: its published preset, not the one that we recommend
    "random": RANDOM,
    "lsp-p": "lsp-projection-published",
    "lsp-t": "lsp-threshold-published",
    "basic": BASIC,
}
ENDS = {UNPRUNED: 1.0, NO_EDGES: 0.0}  # where the line of random begins and ends, by our methods
OTHER_STUDY = "only runs of other studies, whose times are not compared"
SAME_SHARE = 0.006  # shares that are closer are those of the paper's point
_OF_SETTING = ("epochs", "limit", "lr", "schedule", "weight_decay", "label_smoothing", "batch_size")


@dataclass(frozen=True)
class Setting:
    """How a point was trained.

    Args:
        short: it had fewer epochs or graphs than the figure's own study.
        rebuilt: what of the dataset is not the published one.
        options: epochs, learning rate and so on; points with the same ones compare with each other.
    """

    study: str
    epochs: int
    limit: int | None
    short: bool
    rebuilt: tuple[str, ...]
    options: tuple[object, ...]


@dataclass(frozen=True)
class Point:
    """A value of the paper and ours at one share.

    Args:
        line: the paper's name of the line, or `unpruned` and `no-edges` for the ends of random's.
        exact: the paper has a point at this share; otherwise its value is between two.
        best_test: ours at the best epoch by the test set, which is what the paper's runs took.
    """

    line: str
    share: float
    paper: float
    exact: bool
    ours: Estimate
    setting: Setting
    best_test: float | None = None


def points_of(panel: Panel, studies: Sequence[StudyResults]) -> list[Point]:
    """Return the points of a plot of a metric, by line and share.

    Where several studies have the same point, the one with full training, then the one with most seeds, then the
    figure's own study is taken. Points of short training are left out if a line of LSP has points of full training.
    """
    curves = _curves(panel)
    best: dict[tuple[str, float], tuple[tuple[bool, int, bool], Point]] = {}
    for study in studies:
        for comparison in study.comparisons:
            for point in _points_in(panel, curves, comparison):
                place = (point.line, round(point.share, 2))
                rank = (not point.setting.short, point.ours.runs, point.setting.study == panel.study)
                if place not in best or rank > best[place][0]:
                    best[place] = (rank, point)
    points = sorted((point for _, point in best.values()), key=lambda point: (point.line, point.share))
    full = [point for point in points if not point.setting.short]
    return full if any(point.line in LSP_LINES for point in full) else points


def time_points(panel: Panel, studies: Sequence[StudyResults]) -> tuple[list[Point], str]:
    """Return the points of a plot of relative test times, or none and the reason why times of runs do not compare.

    Ours is the median over the methods of the figure, since the paper has one curve for all of them.
    """
    curves, problem = _curves(panel), ""
    points: list[Point] = []
    for comparison in (comparison for study in studies for comparison in study.comparisons):
        if not _is_of(panel, _runs(comparison)) or not any(method in OURS.values() for method, _ in comparison.cells):
            continue
        if comparison.study != panel.study:
            problem = problem or OTHER_STUDY
            continue
        timing = timing_of(comparison)
        problem = timing.problem or "no pruned run had the device to itself"
        groups: dict[tuple[str, float], list[Record]] = {}
        for (method, _), cell in comparison.cells.items():
            if method in OURS.values():
                share = round(fmean(record["share"] for record in cell.values()), 3)
                groups.setdefault((BASIC if method == BASIC else ANY, share), []).extend(cell.values())
        for (line, share), records in sorted(groups.items()):
            relative, value = timing.relative(records, TEST), value_at(curves.get(line, []), share)
            if relative is not None and value is not None:
                alone = Estimate(relative, float("nan"), float("nan"), 1)
                points.append(Point(line, share, *value, alone, _setting(panel, comparison, records[0])))
    return points, "" if points else problem


def variance_points(panel: Panel, studies: Sequence[StudyResults]) -> list[Point]:
    """Return the points of a plot of neighbourhood sizes; its lines are numbers of hops, ours is random pruning."""
    curves = paper.variance(panel.dataset)
    points = []
    for sizes in (sizes for study in studies for sizes in study.sizes if sizes.dataset == panel.dataset):
        for hops in (hops for hops in sizes.hops if str(hops) in curves):
            setting = Setting(panel.study, 0, None, False, (), ())
            pairs = [(point.share, point.variance) for point in sizes.points(RANDOM, hops)]
            unpruned = sizes.unpruned(hops)
            pairs += [(1.0, unpruned)] if unpruned is not None else []
            for share, ours in pairs:
                value = value_at(curves[str(hops)], share)
                if value is not None:
                    points.append(Point(str(hops), share, *value, ours, setting))
    return points


def value_at(curve: Sequence[tuple[float, float]], share: float) -> tuple[float, bool] | None:
    """Return the paper's value at a share and whether it has a point there; None outside of the line.

    >>> value_at([(0.2, 0.7), (0.4, 0.8)], 0.4), value_at([(0.2, 0.7), (0.4, 0.8)], 0.1)
    ((0.8, True), None)
    """
    if not curve:
        return None
    near = min(curve, key=lambda point: abs(point[0] - share))
    if abs(near[0] - share) <= SAME_SHARE:
        return near[1], True
    below = [point for point in curve if point[0] < share]
    above = [point for point in curve if point[0] > share]
    if not (below and above):
        return None
    (x0, y0), (x1, y1) = max(below), min(above)
    return y0 + (y1 - y0) * (share - x0) / (x1 - x0), False


def own_points(panel: Panel) -> int:
    """Return how many points of LSP the paper's plot has; of a plot without LSP, how many it has at all."""
    if panel.metric == "variance":
        return sum(map(len, paper.variance(panel.dataset).values()))
    curves = _curves(panel)
    return sum(len(curves.get(line, ())) for line in (LSP_LINES if not panel.is_time else (ANY,)))


def lines_of(panel: Panel) -> list[str]:
    """Return the names of the lines of the paper's plot."""
    return list(paper.variance(panel.dataset) if panel.metric == "variance" else _curves(panel))


def _curves(panel: Panel) -> Mapping[str, list[tuple[float, float]]]:
    return paper.curves(panel.dataset, panel.target, panel.metric)


def _points_in(
    panel: Panel, curves: Mapping[str, list[tuple[float, float]]], comparison: Comparison
) -> Iterator[Point]:
    records = _runs(comparison)
    if comparison.metric != panel.metric or not _is_of(panel, records):
        return
    lines = {method: line for line, method in OURS.items()} | {method: method for method in ENDS}
    for (method, _), cell in comparison.cells.items():
        line = lines.get(method)
        if line is None:
            continue
        share = fmean(record["share"] for record in cell.values())
        value = value_at(curves.get("random" if line in ENDS else line, []), share)
        if value is None:
            continue
        first = next(iter(cell.values()))
        yield Point(
            line, share, *value, _scaled([record["test"] for record in cell.values()], panel.scale),
            _setting(panel, comparison, first), _best_test(cell.values(), panel.scale),
        )  # fmt: skip


def _runs(comparison: Comparison) -> list[Record]:
    return [record for cell in comparison.cells.values() for record in cell.values()]


def _is_of(panel: Panel, records: Iterable[Record]) -> bool:
    """Return whether the records are of the plot's dataset, target and model."""
    first = next(iter(records), None)
    if first is None:
        return False
    run, part = first["run"], panel.part
    target = run.get("target")
    return (
        run["dataset"] == panel.dataset
        and run.get("model") == part.model
        and (target == panel.target if part.targets else target is None)
    )


def _setting(panel: Panel, comparison: Comparison, record: Record) -> Setting:
    run, part = record["run"], panel.part
    epochs, limit = run.get("epochs", part.epochs), run.get("limit")
    return Setting(
        comparison.study, epochs, limit, epochs < part.epochs or limit is not None, tuple(record.get("rebuilt", ())),
        tuple(run.get(name, getattr(part, name)) for name in _OF_SETTING),
    )  # fmt: skip


def _scaled(values: Sequence[float], scale: float) -> Estimate:
    return estimate(tuple(scale * float(value) for value in values))


def _best_test(records: Iterable[Record], scale: float) -> float | None:
    values = [scale * float(record["test_max"]) for record in records if "test_max" in record]
    return fmean(values) if values else None


def median_factor(points: Iterable[tuple[float, float]]) -> float:
    """Return the median factor between two positive numbers, whichever is larger.

    >>> median_factor([(2.0, 1.0), (1.0, 3.0), (10.0, 1.0)])
    3.0
    """
    return median(max(ours / theirs, theirs / ours) for ours, theirs in points)
