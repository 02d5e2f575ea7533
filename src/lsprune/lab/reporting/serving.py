"""Compare serving from pruned graphs with serving from the whole graph: accuracy and latency."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

from lsprune.lab.reporting.records import SERVING, Record
from lsprune.lab.reporting.statistics import Estimate, PairedDifference, estimate, paired_difference
from lsprune.lab.studies.methods import UNPRUNED


@dataclass(frozen=True)
class ServingPoint:
    """A method at a share: accuracy over seeds, its paired difference to the whole graph, and relative latency.

    Args:
        batches: for each number of nodes in a mini-batch, the latency relative to the whole graph.
    """

    method: str
    share: float
    accuracy: Estimate
    cost: PairedDifference | None
    inference: float | None
    batches: dict[int, float]


@dataclass(frozen=True, eq=False)
class ServingResults:
    """What one model on one dataset and device was served from; records are checked and have no error."""

    dataset: str
    model: str
    device: str
    records: Sequence[Record]

    @cached_property
    def whole(self) -> dict[int, Record]:
        """The records of the unpruned graph by seed."""
        return {record["run"]["seed"]: record for record in self.records if record["run"]["method"] == UNPRUNED}

    @cached_property
    def methods(self) -> list[str]:
        """The methods that pruned, in the order in which they were served."""
        return list(dict.fromkeys(r["run"]["method"] for r in self.records if r["run"]["method"] != UNPRUNED))

    @cached_property
    def batch_sizes(self) -> list[int]:
        """The numbers of nodes in mini-batches."""
        return sorted({int(batch["nodes"]) for record in self.records for batch in record["batches"]})

    @property
    def accuracy(self) -> Estimate | None:
        """The accuracy on the whole graph."""
        return estimate([float(record["test"]) for record in self.whole.values()]) if self.whole else None

    def points(self, method: str) -> list[ServingPoint]:
        """Return a point for each share of a method, the largest first."""
        shares = sorted({r["run"]["share"] for r in self.records if r["run"]["method"] == method}, reverse=True)
        return [self._point(method, share) for share in shares]

    def _point(self, method: str, share: float) -> ServingPoint:
        cell = {
            record["run"]["seed"]: record
            for record in self.records
            if (record["run"]["method"], record["run"]["share"]) == (method, share)
        }
        both = [seed for seed in cell if seed in self.whole]
        scores = [{seed: float(records[seed]["test"]) for seed in both} for records in (cell, self.whole)]
        ratios = [cell[s]["inference_seconds_min"] / self.whole[s]["inference_seconds_min"] for s in both]
        return ServingPoint(
            method=method, share=fmean(float(record["share"]) for record in cell.values()),
            accuracy=estimate([float(record["test"]) for record in cell.values()]),
            cost=paired_difference(scores[0], scores[1]) if both else None,
            inference=median(ratios) if both else None,
            batches={size: median(self._batch_ratio(cell, s, size) for s in both) for size in self.batch_sizes}
            if both
            else {},
        )  # fmt: skip

    def _batch_ratio(self, cell: dict[int, Record], seed: int, size: int) -> float:
        pruned, whole = (_batch_seconds(records[seed], size) for records in (cell, self.whole))
        return pruned / whole


def servings(records: Iterable[Record]) -> list[ServingResults]:
    """Return what was served by dataset, model and device; of several records with one key the last counts."""
    last = {record["key"]: record for record in records if record["task"] == SERVING}
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in last.values():
        if record.get("error") is None:
            run = record["run"]
            device = str(record.get("device", run["device"]))
            groups.setdefault((run["dataset"], run["model"], device), []).append(record)
    return [ServingResults(*group, records) for group, records in groups.items()]


def _batch_seconds(record: Record, size: int) -> float:
    return next(float(batch["seconds_median"]) for batch in record["batches"] if batch["nodes"] == size)
