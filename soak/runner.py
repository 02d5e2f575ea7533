"""Run checks for a while: each gets its share of the time, cases are numbered, failures are collected."""

from __future__ import annotations

import dataclasses
import itertools
import json
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from soak.check import CannotRun, Check

MAX_FAILURES_KEPT = 20  # of one check; all are counted
_COUNTS = ("cases", "comparisons", "failures", "seconds")


@dataclass
class Tally:
    """What a check has tried so far."""

    cases: int = 0
    comparisons: int = 0
    failures: int = 0
    seconds: float = 0.0
    messages: list[str] = field(default_factory=list)
    cannot_run: str = ""

    def add(self, other: Tally) -> None:
        """Add what another process has tried."""
        self.cases += other.cases
        self.comparisons += other.comparisons
        self.failures += other.failures
        self.seconds += other.seconds
        self.messages = (self.messages + other.messages)[:MAX_FAILURES_KEPT]
        self.cannot_run = self.cannot_run or other.cannot_run


@dataclass(frozen=True)
class Plan:
    """What one process does: the cases first, first + step, ... of every check, until the time or the cases are up."""

    seconds: float | None
    cases: int | None
    first: int
    step: int = 1


def try_case(check: Check, number: int, tally: Tally) -> None:
    """Try one case in an empty folder and add what came of it to the tally."""
    folder = Path(tempfile.mkdtemp(prefix=f"soak-{check.name}-"))
    begin = time.perf_counter()
    try:
        tally.comparisons += check.run_case(number, folder)
        tally.cases += 1
    except CannotRun as reason:
        tally.cannot_run = str(reason)
    except Exception as error:
        tally.cases += 1
        tally.failures += 1
        place = traceback.extract_tb(error.__traceback__)[-1]
        message = f"case {number}: {type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
        if len(tally.messages) < MAX_FAILURES_KEPT:
            tally.messages.append(message)
    finally:
        tally.seconds += time.perf_counter() - begin
        shutil.rmtree(folder, ignore_errors=True)


def run_plan(
    checks: Sequence[Check], plan: Plan, started: Callable[[str, int], None] | None = None
) -> dict[str, Tally]:
    """Try cases of the check that is furthest behind its share of the time, until the plan is done."""
    tallies = {check.name: Tally() for check in checks}
    numbers = {check.name: itertools.count(plan.first, plan.step) for check in checks}
    end = None if plan.seconds is None else time.perf_counter() + plan.seconds
    while end is None or time.perf_counter() < end:
        open_checks = [check for check in checks if not _done(tallies[check.name], plan)]
        if not open_checks:
            break
        check = min(open_checks, key=lambda check: tallies[check.name].seconds / check.share)
        number = next(numbers[check.name])
        if started is not None:
            started(check.name, number)
        try_case(check, number, tallies[check.name])
    return tallies


def _done(tally: Tally, plan: Plan) -> bool:
    return bool(tally.cannot_run) or (plan.cases is not None and tally.cases >= plan.cases)


def _work(names: Sequence[str], plan: Plan, place: Path) -> dict[str, Tally]:
    """Run a plan in a process of its own, which notes the case that it is at."""
    from soak.checks import CHECKS

    def note(name: str, number: int) -> None:
        place.write_text(f"{name}, case {number}", encoding="utf8")

    return run_plan([CHECKS[name] for name in names], plan, note)


def run_jobs(names: Sequence[str], plan: Plan, jobs: int) -> dict[str, Tally]:
    """Run a plan in several processes, each with every `jobs`-th case, and return the sum of what they tried."""
    total = {name: Tally() for name in names}
    with tempfile.TemporaryDirectory() as notes:
        places = [Path(notes) / f"{job}" for job in range(jobs)]
        cases = None if plan.cases is None else -(-plan.cases // jobs)
        with ProcessPoolExecutor(jobs) as pool:
            plans = [dataclasses.replace(plan, cases=cases, first=plan.first + job, step=jobs) for job in range(jobs)]
            futures = [pool.submit(_work, names, part, place) for part, place in zip(plans, places, strict=True)]
            for future, place in zip(futures, places, strict=True):
                try:
                    tallies = future.result()
                except BrokenProcessPool:
                    died = place.read_text(encoding="utf8") if place.exists() else "before the first case"
                    raise SystemExit(f"a process died; at that time it was at: {died}") from None
                for name, tally in tallies.items():
                    total[name].add(tally)
    return total


def table(checks: Iterable[Check], tallies: dict[str, Tally]) -> str:
    """Return what was tried as lines of text, then the failures."""
    rows = [("promise", "check", "cases", "comparisons", "failures", "minutes")]
    failures = []
    for check in checks:
        tally = tallies[check.name]
        counts = (f"{tally.cases:,}", f"{tally.comparisons:,}", f"{tally.failures:,}", f"{tally.seconds / 60:.1f}")
        rows.append((check.promise, check.name, *(counts if not tally.cannot_run else ("not run", "", "", ""))))
        failures += [f"{check.name}: {message}" for message in tally.messages]
        failures += [f"{check.name} was not run: {tally.cannot_run}"] if tally.cannot_run else []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, *failures])


def record(
    checks: Iterable[Check], tallies: dict[str, Tally], versions: dict[str, str],
    earlier: dict[str, Any] | None = None, *, add: bool = False,
) -> str:  # fmt: skip
    """Return what was tried as JSON, for `docs/make_promises.py`.

    Checks that were not run, or cannot be run here, stay as an earlier record has them, and so does its note until all
    of its checks were run again. With `add`, counts are added to those of the earlier record.
    """
    today = time.strftime("%Y-%m-%d")
    about = {"python": sys.version.split()[0], **versions}
    counted = dict(earlier["checks"]) if earlier else {}
    ran = list(checks)
    for check in ran:
        tally = tallies[check.name]
        known = counted.get(check.name, {})
        if tally.cannot_run and known.get("cases"):
            continue
        counted[check.name] = {
            "promise": check.promise, "about": check.about, "date": today, "cases": tally.cases,
            "comparisons": tally.comparisons, "failures": tally.failures, "seconds": round(tally.seconds),
            "cannot_run": tally.cannot_run,
        }  # fmt: skip
        if add and known:
            counted[check.name] |= {key: known[key] + counted[check.name][key] for key in _COUNTS}
    entire = {"date": today, "versions": about, "checks": counted}
    if earlier and "note" in earlier and set(counted) - {check.name for check in ran}:
        entire["note"] = earlier["note"]
    return json.dumps(entire, indent=1) + "\n"
