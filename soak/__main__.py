"""The command line of the long checks: `python -m soak --minutes 60`."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import sys
from pathlib import Path

from soak.checks import CHECKS
from soak.runner import Plan, record, run_jobs, table

PACKAGES = ("numpy", "numba", "scipy", "pyarrow", "pyspark")


def main() -> int:
    """Run the checks that were asked for; return 1 if any of them failed."""
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--minutes", type=float, help="stop after this time (default: 60, or none with --cases)")
    parser.add_argument("--cases", type=int, help="stop after this many cases of each check")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--checks", default=",".join(CHECKS), help="comma-separated names (default: all)")
    parser.add_argument("--out", type=Path, help="write what was tried to this file; others of its checks stay")
    parser.add_argument("--add", action="store_true", help="with --out: add to the counts there, of other cases")
    options = parser.parse_args()
    names = options.checks.split(",")
    if unknown := [name for name in names if name not in CHECKS]:
        parser.error(f"no check is called {unknown[0]!r}; there are {', '.join(CHECKS)}")
    minutes = options.minutes if options.minutes is not None or options.cases else 60.0
    plan = Plan(None if minutes is None else 60 * minutes, options.cases, options.first)
    tallies = run_jobs(names, plan, options.jobs)
    checks = [CHECKS[name] for name in names]
    print(table(checks, tallies))
    if options.out is not None:
        earlier = json.loads(options.out.read_text(encoding="utf8")) if options.out.exists() else None
        options.out.write_text(record(checks, tallies, _versions(), earlier, add=options.add), encoding="utf8")
    return int(any(tally.failures for tally in tallies.values()))


def _versions() -> dict[str, str]:
    installed = {distribution.name.lower(): distribution.version for distribution in importlib.metadata.distributions()}
    return {name: installed[name] for name in PACKAGES if name in installed}


if __name__ == "__main__":
    sys.exit(main())
