"""Look up the paper's own points, from a packaged copy of every number in its figures."""

from __future__ import annotations

import csv
from collections import defaultdict
from functools import cache
from importlib.resources import files

Points = dict[str, list[tuple[float, float]]]  # (share of edges kept, value) of each method, the smallest share first
TIME = "relative-test-time"


def curves(dataset: str, target: str | None, metric: str) -> Points:
    """Return the points of a figure; an empty dict where the paper has no such figure.

    A dataset with a single target in the paper is found without naming it: our records do not name it either.

    >>> curves("cora", None, "accuracy")["basic"]
    [(1.0, 0.81)]
    >>> curves("proteins", None, "accuracy")
    {}
    """
    figures = {name: lines for (data, name, kind), lines in _all().items() if (data, kind) == (dataset, metric)}
    if target is None and len(figures) == 1:
        return next(iter(figures.values()))
    return figures.get(target or "", {})


def variance(dataset: str) -> Points:
    """Return the variance of neighbourhood sizes for each number of hops."""
    return _all().get((dataset, "", "variance"), {})


@cache
def _all() -> dict[tuple[str, str, str], Points]:
    points: dict[tuple[str, str, str], Points] = defaultdict(lambda: defaultdict(list))
    text = (files("lsprune.lab.reporting") / "paper.csv").read_text(encoding="utf8")
    for row in csv.DictReader(text.splitlines()):
        line = row["hops"] or row["method"]
        points[row["dataset"], row["target"], row["metric"]][line].append(
            (float(row["edges_kept"]), float(row["value"]))
        )
    return {key: {line: sorted(values) for line, values in lines.items()} for key, lines in points.items()}
