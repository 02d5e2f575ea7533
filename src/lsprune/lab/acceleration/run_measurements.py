"""Make the measurements that a result file lacks, each once, also after an interruption."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

import torch

from lsprune.chooser.trials import Progress
from lsprune.errors import LspruneError
from lsprune.lab.acceleration.measure import measure
from lsprune.lab.acceleration.measurement import Measurement
from lsprune.lab.acceleration.pruned_graphs import PrunedGraphs, open_dataset
from lsprune.lab.studies.result_files import Results
from lsprune.lab.studies.run_study import Clock, Status
from lsprune.lab.training.environment import checked_device


def run_measurements(
    measurements: Iterable[Measurement],
    results: Results,
    *,
    budget: float | None = None,
    data: str | None = None,
    retry: bool = False,
    on_record: Callable[[Measurement, dict[str, Any]], None] | None = None,
    progress: Progress | None = None,
) -> Status:
    """Make the measurements that are missing and append each when it is done; return how many are done afterwards.

    A measurement that fails is appended with its error. If the device no longer answers after one, the rest is left to
    the next call.

    Args:
        budget: seconds; a measurement that would not end in time, if it took as long as the longest so far, is left.
        data: the folder of local datasets; default LSPRUNE_DATA.
        retry: make the measurements again whose record has an error.
        on_record: called with every measurement and its record.
        progress: called with (measurements done now, all that are missing, name of the next) before each.
    """
    wanted = list(measurements)
    for name in dict.fromkeys(measurement.device for measurement in wanted):
        checked_device(name)
    clock, opened = Clock(budget), _Opened(data)
    with results.writing():
        done = _done(results, retry)
        missing = [measurement for measurement in wanted if measurement.key not in done]
        for number, measurement in enumerate(missing):
            if not clock.may_start():
                break
            if progress is not None:
                progress(number, len(missing), str(measurement))
            begin = monotonic()
            record = measure(measurement, opened.graphs(measurement))
            results.append(record)
            clock.longest = max(clock.longest, monotonic() - begin)
            if on_record is not None:
                on_record(measurement, record)
            if record["error"] is not None and not _answers(measurement.device):
                break
        done = _done(results, False)
    return Status(len(wanted), sum(measurement.key in done for measurement in wanted))


class _Opened:
    """The dataset in use: measurements on one dataset follow each other, and a large one should not stay in memory."""

    def __init__(self, data: str | None) -> None:
        self.data = data
        self.name: tuple[str, str] = ("", "")
        self.opened: PrunedGraphs | None = None
        self.compiled_for: object = None

    def graphs(self, measurement: Measurement) -> PrunedGraphs:
        name, group = (measurement.dataset, measurement.size), (measurement.model, measurement.backend)
        if self.opened is None or name != self.name:
            self.opened = None  # free it first
            self.opened, self.name = PrunedGraphs(open_dataset(measurement.dataset, self.data, measurement.size)), name
        if (name, group) != self.compiled_for:
            torch.compiler.reset()  # else code for many models piles up, and torch gives up compiling
            self.compiled_for = name, group
        return self.opened


def _done(results: Results, retry: bool) -> set[str]:
    """Return the keys of all records; with `retry`, without those whose only records have an error."""
    return {str(record["key"]) for record in results.read() if not (retry and record.get("error") is not None)}


def _answers(device: str) -> bool:
    """Return whether the device still works: after some errors of CUDA, nothing does until the process ends."""
    try:
        torch.zeros(1, device=device).item()
        if device == "cuda":
            torch.cuda.empty_cache()
    except (RuntimeError, LspruneError):
        return False
    return True
