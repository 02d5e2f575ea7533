"""Summarise measurements of neighbourhood sizes: their variance by method, number of hops and share of edges kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from lsprune.lab.reporting.records import VARIANCE, Record
from lsprune.lab.reporting.statistics import Estimate, estimate
from lsprune.lab.studies.methods import UNPRUNED, Method


@dataclass(frozen=True)
class SizePoint:
    """The variance of neighbourhood sizes where a method kept this share of the edges."""

    keep: float | None
    share: float
    variance: Estimate


@dataclass(frozen=True, eq=False)
class NeighbourhoodSizes:
    """The measurements on one dataset; records are checked.

    Args:
        defined: the methods by name, in the order in which they were run.
    """

    dataset: str
    records: Sequence[Record]
    defined: dict[str, Method]

    @cached_property
    def hops(self) -> list[int]:
        """The numbers of hops within which nodes were counted."""
        return sorted({int(hops) for record in self.records for hops in record[VARIANCE]})

    @cached_property
    def methods(self) -> list[str]:
        """The methods that pruned, in the order in which they were run."""
        return [name for name, method in self.defined.items() if method.role != UNPRUNED]

    def points(self, method: str, hops: int) -> list[SizePoint]:
        """Return a point for each budget of a method, the smallest share first."""
        cells: dict[tuple[int | None, float | None], list[Record]] = {}
        for record in self.records:
            run = record["run"]
            if run["method"] == method and str(hops) in record[VARIANCE]:
                cells.setdefault((run.get("k"), run.get("keep")), []).append(record)
        points = [
            SizePoint(
                keep,
                fmean(float(record["share"]) for record in cell),
                estimate([float(record[VARIANCE][str(hops)]) for record in cell]),
            )
            for (_, keep), cell in cells.items()
        ]
        return sorted(points, key=lambda point: point.share)

    def unpruned(self, hops: int) -> Estimate | None:
        """Return the variance on the whole graph."""
        name = next((name for name, method in self.defined.items() if method.role == UNPRUNED), "")
        points = self.points(name, hops)
        return points[-1].variance if points else None
