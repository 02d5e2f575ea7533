"""Read the lines of result files and check each of them: the one rule that pages, reports, figures and tables share."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lsprune.errors import FormatError, LspruneWarning, OptionError
from lsprune.lab.studies.methods import Method
from lsprune.lab.studies.run import check_version

Record = dict[str, Any]
TOLERANCE = {  # a loss of this size still counts as lossless
    "accuracy": 0.005,
    "roc-auc": 0.005,
    "micro-f1": 0.005,
    "r2": 0.005,
    "mae": 0.01,
}
OVERLAP = "overlap"  # the metric, and the field, of measurements of consistency
VARIANCE = "variance"  # the field of measurements of neighbourhood sizes
ACCELERATION, SERVING = "acceleration", "serving"  # tasks of measurements of time, which `lsprune acceleration` makes
TRAINING_NUMBERS = ("val", "test", "share", "prune_seconds", "train_seconds_per_epoch")
OPTIONAL_NUMBERS = ("test_seconds", "test_max", "train_seconds", "test_mae")  # older records and other tasks lack them
OVERLAP_NUMBERS = (OVERLAP, "share", "prune_seconds")
TIMED_NUMBERS = {
    ACCELERATION: ("share", "epoch_seconds_min", "inference_seconds_min", "data_bytes"),
    SERVING: ("share", "test", "trained_test", "inference_seconds_min"),
}


def result_files(place: Path) -> list[Path]:
    """Return the file itself, or the .jsonl files of a folder in the order of their names.

    The files of trials (`*-smoke.jsonl`) are left out of a folder that has others. Raise OptionError if there is no
    such place.
    """
    if place.is_dir():
        paths = sorted(place.glob("*.jsonl"), key=lambda path: path.stem)
        return [path for path in paths if not path.stem.endswith("-smoke")] or paths
    if not place.is_file():
        raise OptionError(f"results must be files or folders that exist, got {place}")
    return [place]


def read_records(path: Path) -> Iterator[Record]:
    """Yield the checked records of a file; raise FormatError with the line number for one that cannot be used.

    An incomplete last line, which a stopped run leaves, is skipped with a warning. Empty lines count.
    """
    *lines, tail = path.read_bytes().split(b"\n")
    if tail.strip():
        message = f"{path}, line {len(lines) + 1} is incomplete and skipped; the study that writes it will repair it"
        warnings.warn(message, LspruneWarning, stacklevel=2)
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _parse(line, f"{path}, line {number}")


def _parse(line: bytes, place: str) -> Record:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{place} is damaged ({error}); correct or remove that line") from None
    if not isinstance(record, dict) or not isinstance(record.get("key"), str):
        raise FormatError(f"{place} is not a run of a study: it has no key; is this a file of results?")
    check_record(record, place)
    return record


def check_record(record: Record, place: str, *numbers: str) -> None:
    """Raise FormatError, beginning with `place`, if a record lacks a field, or one of these numbers besides."""
    if isinstance(record.get("run"), dict):
        check_version(record["run"], place)
    wrong = wrong_fields(record)
    wrong += [name for name in numbers if name not in wrong and not is_finite_number(record.get(name))]
    if wrong:
        raise FormatError(f"{place}: wrong or missing {', '.join(wrong)}; correct or remove that line")


def methods_of(records: Iterable[Record], place: str) -> dict[str, Method]:
    """Return the methods of checked records by name, in their order; raise FormatError if two have the same name."""
    methods: dict[str, Method] = {}
    for run in (record["run"] for record in records):
        method = Method(run["method"], run["pruner"], run.get("every_epoch", False), run.get("basic", False))
        if methods.setdefault(method.name, method) != method:
            pruners = f"{methods[method.name].pruner} and {method.pruner}"
            raise FormatError(f"{place}: two methods are called {method.name!r}, {pruners}; rename one of them")
    return methods


def wrong_fields(record: Record) -> list[str]:
    """Return the fields of a record that are missing or of the wrong kind."""
    run = record.get("run")
    if not isinstance(run, dict):
        return ["run"]
    return [*_wrong_run(run), *_wrong_measurements(record)]


def is_finite_number(value: object) -> bool:
    """Return whether a value is a finite number that fits a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer larger than any float
        return False


def _wrong_run(run: Record) -> Iterator[str]:
    yield from (f"run.{name}" for name in ("dataset", "method") if not isinstance(run.get(name), str))
    if type(run.get("seed")) is not int:
        yield "run.seed"
    if not isinstance(run.get("target"), str | None):
        yield "run.target"
    if not isinstance(run.get("model", ""), str):
        yield "run.model"
    yield from (f"run.{name}" for name in ("every_epoch", "basic") if not isinstance(run.get(name, False), bool))
    pruner = run.get("pruner")
    if pruner is not None and not (isinstance(pruner, dict) and isinstance(pruner.get("pruner"), str)):
        yield "run.pruner"
    budgets = {name: run[name] for name in ("k", "keep") if run.get(name) is not None}
    yield from (f"run.{name}" for name, budget in budgets.items() if not is_finite_number(budget))


def _wrong_measurements(record: Record) -> Iterator[str]:
    for name in ("device", "task"):
        if not isinstance(record.get(name, ""), str):
            yield name
    if not isinstance(record.get("jobs"), int | None):
        yield "jobs"
    rebuilt = record.get("rebuilt", [])
    if not (isinstance(rebuilt, list) and all(isinstance(name, str) for name in rebuilt)):
        yield "rebuilt"
    if record.get("task") in TIMED_NUMBERS:
        yield from _wrong_timing(record)
    elif VARIANCE in record:
        yield from _wrong_variance(record)
    elif OVERLAP in record:
        yield from _wrong_overlap(record)
    else:
        yield from _wrong_training(record)


def _wrong_training(record: Record) -> Iterator[str]:
    yield from (name for name in TRAINING_NUMBERS if not is_finite_number(record.get(name)))
    yield from (name for name in OPTIONAL_NUMBERS if name in record and not is_finite_number(record[name]))
    if record.get("metric") not in tuple(TOLERANCE):
        yield f"metric (one of {', '.join(TOLERANCE)})"
    if not isinstance(record.get("higher_is_better"), bool):
        yield "higher_is_better"


def _wrong_timing(record: Record) -> Iterator[str]:
    run = record["run"]
    names = ("model", "backend", "device") if record["task"] == ACCELERATION else ("model", "device")
    yield from (f"run.{name}" for name in names if not isinstance(run.get(name), str))
    if not is_finite_number(run.get("share")):
        yield "run.share"
    if not isinstance(record.get("error"), str | None):
        yield "error"
    if record.get("error") is not None:  # a measurement that failed has no figures
        return
    yield from (name for name in TIMED_NUMBERS[record["task"]] if not is_finite_number(record.get(name)))
    if record["task"] == SERVING:
        batches = record.get("batches")
        fields = ("nodes", "seconds_min", "seconds_median")
        if not isinstance(batches, list) or not all(is_finite_number(b.get(f)) for b in batches for f in fields):
            yield "batches"


def _wrong_variance(record: Record) -> Iterator[str]:
    values = record[VARIANCE]
    by_hops = values if isinstance(values, dict) else {}
    if not by_hops or not all(hops.isdecimal() and is_finite_number(value) for hops, value in by_hops.items()):
        yield VARIANCE
    if not is_finite_number(record.get("share")):
        yield "share"


def _wrong_overlap(record: Record) -> Iterator[str]:
    yield from (name for name in OVERLAP_NUMBERS if not is_finite_number(record.get(name)))
    if record.get("metric") != OVERLAP:
        yield f"metric ({OVERLAP})"
    if record.get("higher_is_better") is not True:
        yield "higher_is_better"
