"""What a line of results must hold to be shown: the one check that pages, reports, figures and tables share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

Record = dict[str, Any]
TOLERANCE = {"accuracy": 0.005, "micro-f1": 0.005, "mae": 0.01}
NEEDED = ("val", "test", "share", "prune_seconds", "train_seconds_per_epoch")
TIMES = ("test_seconds", "test_max", "train_seconds")  # shown where they are numbers; older records have none
OVERLAP = "overlap"  # the metric, and the field, of measurements of consistency
OVERLAP_NEEDED = (OVERLAP, "share", "prune_seconds")


def wrong_fields(record: Record) -> list[str]:
    """The fields of a record that are missing or of the wrong kind."""
    run = record.get("run")
    if not isinstance(run, dict):
        return ["run"]
    return [*_wrong_run(run), *_wrong_facts(record)]


def is_finite_number(value: object) -> bool:
    """Whether a value is a finite number that fits a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number larger than any float
        return False


def _wrong_run(run: Record) -> Iterator[str]:
    yield from (f"run.{name}" for name in ("dataset", "method") if not isinstance(run.get(name), str))
    if type(run.get("seed")) is not int:
        yield "run.seed"
    if not isinstance(run.get("target"), str | None):
        yield "run.target"
    budgets = {name: run[name] for name in ("k", "keep") if run.get(name) is not None}
    yield from (f"run.{name}" for name, budget in budgets.items() if not is_finite_number(budget))


def _wrong_facts(record: Record) -> Iterator[str]:
    for name in ("device", "task"):
        if not isinstance(record.get(name, ""), str):
            yield name
    if not isinstance(record.get("jobs"), int | None):
        yield "jobs"
    if "variance" in record:
        yield from _wrong_variance(record)
    elif OVERLAP in record:
        yield from _wrong_overlap(record)
    else:
        yield from _wrong_training(record)


def _wrong_training(record: Record) -> Iterator[str]:
    yield from (name for name in NEEDED if not is_finite_number(record.get(name)))
    yield from (name for name in TIMES if name in record and not is_finite_number(record[name]))
    if record.get("metric") not in tuple(TOLERANCE):
        yield f"metric (one of {', '.join(TOLERANCE)})"
    if not isinstance(record.get("higher_is_better"), bool):
        yield "higher_is_better"


def _wrong_variance(record: Record) -> Iterator[str]:
    values = record["variance"]
    table = values if isinstance(values, dict) else {}
    if not table or not all(name.isdecimal() and is_finite_number(value) for name, value in table.items()):
        yield "variance"
    if not is_finite_number(record.get("share")):
        yield "share"


def _wrong_overlap(record: Record) -> Iterator[str]:
    yield from (name for name in OVERLAP_NEEDED if not is_finite_number(record.get(name)))
    if record.get("metric") != OVERLAP:
        yield f"metric ({OVERLAP})"
    if record.get("higher_is_better") is not True:
        yield "higher_is_better"
