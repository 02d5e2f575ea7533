"""Compare the times of runs with those of the unpruned graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from lsprune.lab.reporting.comparison import NO_BUDGET, Comparison
from lsprune.lab.reporting.records import Record

TRAINING, TEST = "train_seconds_per_epoch", "test_seconds"


@dataclass(frozen=True)
class Timing:
    """The median seconds of the unpruned graph on one device, or the reason why times do not compare.

    Only runs that had the device to themselves count (jobs = 1), and only those on the device of the unpruned runs.
    """

    device: str | None = None
    training: float | None = None
    test: float | None = None
    problem: str = ""

    def seconds(self, records: Iterable[Record], field: str = TRAINING) -> float | None:
        """Return the median over the runs that compare; None if there are none."""
        if self.problem:
            return None
        alone = [r[field] for r in records if r.get("jobs") == 1 and r.get("device") == self.device and field in r]
        return median(alone) if alone else None

    def relative(self, records: Iterable[Record], field: str = TRAINING) -> float | None:
        """Return the median time over that of the unpruned graph; None if they do not compare."""
        seconds, unpruned = self.seconds(records, field), self.training if field == TRAINING else self.test
        return seconds / unpruned if seconds and unpruned else None


def timing_of(comparison: Comparison) -> Timing:
    """Return what the times of a comparison are measured against."""
    unpruned = list(comparison.cells.get((comparison.unpruned, NO_BUDGET), {}).values())
    alone = [record for record in unpruned if record.get("jobs") == 1]
    if not alone:
        return Timing(problem=_why_shared(unpruned))
    device = Timing(alone[0].get("device"))
    timing = Timing(device.device, device.seconds(alone), device.seconds(alone, TEST))
    pruned = [records.values() for (_, budget), records in comparison.cells.items() if budget != NO_BUDGET]
    if pruned and not any(timing.seconds(records) for records in pruned):
        where = f" ({timing.device})" if timing.device else ""
        return Timing(problem=f"no pruned run had the device of the unpruned ones{where} to itself")
    return timing


def _why_shared(unpruned: list[Record]) -> str:
    if not unpruned:
        return "there is no unpruned run to compare with"
    jobs = [record["jobs"] for record in unpruned if record.get("jobs") is not None]
    if not jobs:
        return "the runs do not say whether they had the device to themselves"
    return f"up to {max(jobs)} runs shared the device at a time"
