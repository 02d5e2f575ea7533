"""Compare time and memory at each share of the edges with those of the unpruned graph, by path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from lsprune.lab.reporting.records import ACCELERATION, Record

ORDINARY, FASTEST = PATHS = ("ordinary", "fastest")
TARGET_SHARE, TARGET_RATIO = 0.2, 0.35  # a fifth of the edges should take at most this part of the time
EPOCH, INFERENCE = "epoch_seconds_min", "inference_seconds_min"


@dataclass(frozen=True)
class SpeedPoint:
    """What a share of the edges costs on one path; ratios are to the unpruned graph on the same path, None without it.

    Args:
        backend: what the path was at this share.
        memory: peak memory in training beyond the data. total_memory: with the data.
    """

    share: float
    backend: str
    epoch_seconds: float
    inference_seconds: float
    epoch: float | None
    inference: float | None
    memory: float | None
    total_memory: float | None


@dataclass(frozen=True, eq=False)
class Acceleration:
    """The measurements of one model on one dataset and one device; records are checked."""

    dataset: str
    model: str
    device: str
    records: Sequence[Record]

    @cached_property
    def errors(self) -> list[Record]:
        """The measurements that failed and were not made since."""
        return [record for record in self.records if record.get("error") is not None]

    @cached_property
    def shares(self) -> list[float]:
        """The shares that were asked for, the largest first."""
        return sorted({float(record["run"]["share"]) for record in self.records}, reverse=True)

    def tried(self, share: float) -> set[str]:
        """Return the backends that were measured at a share, those that failed included."""
        return {str(record["run"]["backend"]) for record in self.records if float(record["run"]["share"]) == share}

    def best(self, path: str, share: float, field: str, backends: set[str]) -> Record | None:
        """Return the record of the path with the least seconds at a share among some backends, if any."""
        rivals = [
            record
            for record in self.records
            if record.get("error") is None
            and float(record["run"]["share"]) == share
            and record["run"]["backend"] in backends
            and (record["run"]["backend"] == ORDINARY) == (path == ORDINARY)
        ]
        return min(rivals, key=lambda record: float(record[field]), default=None)

    def point(self, path: str, share: float) -> SpeedPoint | None:
        """Return what a share costs on a path; None if it was not measured.

        Backends compete that were measured at this share and on the unpruned graph: a series may have been cut short.
        """
        both = self.tried(share) & self.tried(1.0) or self.tried(share)
        epoch, inference = (self.best(path, share, field, both) for field in (EPOCH, INFERENCE))
        if epoch is None or inference is None:
            return None
        whole, whole_inference = (self.best(path, 1.0, field, both) for field in (EPOCH, INFERENCE))
        return SpeedPoint(
            share=float(epoch["share"]), backend=str(epoch["run"]["backend"]), epoch_seconds=float(epoch[EPOCH]),
            inference_seconds=float(inference[INFERENCE]), epoch=_ratio(epoch, whole, EPOCH),
            inference=_ratio(inference, whole_inference, INFERENCE),
            memory=_memory_ratio(epoch, whole, with_data=False),
            total_memory=_memory_ratio(epoch, whole, with_data=True),
        )  # fmt: skip

    def points(self, path: str) -> list[SpeedPoint]:
        """Return the points of a path, the largest share first."""
        return [point for share in self.shares if (point := self.point(path, share)) is not None]

    @property
    def target_met(self) -> bool | None:
        """Whether time and memory of the ordinary path are within the target; None if that was not measured."""
        point = self.point(ORDINARY, TARGET_SHARE)
        if point is None or point.epoch is None:
            return None
        return point.epoch <= TARGET_RATIO and (point.memory is None or point.memory <= TARGET_RATIO)


def accelerations(records: Iterable[Record]) -> list[Acceleration]:
    """Return the measurements by device, dataset and model, in the order in which they were made.

    Of several records with one key the last counts: what failed may have been measured again.
    """
    last = {record["key"]: record for record in records if record["task"] == ACCELERATION}
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in last.values():
        run = record["run"]
        groups.setdefault((run["dataset"], run["model"], str(record.get("device", run["device"]))), []).append(record)
    return [Acceleration(*group, records) for group, records in groups.items()]


def _ratio(record: Record, whole: Record | None, field: str) -> float | None:
    return None if whole is None else float(record[field]) / float(whole[field])


def _memory_ratio(record: Record, whole: Record | None, *, with_data: bool) -> float | None:
    peaks = [None if one is None else one.get("training_peak_bytes") for one in (record, whole)]
    if whole is None or peaks[0] is None or peaks[1] is None:
        return None
    data = (0, 0) if with_data else (record["data_bytes"], whole["data_bytes"])
    return float(peaks[0] - data[0]) / max(float(peaks[1] - data[1]), 1.0)
