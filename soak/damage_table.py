"""Count what comes of damaged files, by format: `python -m soak.damage_table --cases 20000`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from soak.check import Broken
from soak.checks.bad_bytes import GROUPS, verdict
from soak.isolated import new_pool

SHOWN = 10  # failures of a kind of file at most


def count(name: str, first: int, cases: int) -> tuple[Counter[str], list[str]]:
    """Return the number of cases of a kind by verdict, and the failures."""
    counts: Counter[str] = Counter()
    failures = []
    for number in range(first, first + cases):
        try:
            counts[verdict(name, number)] += 1
        except Broken as failure:
            counts["failed"] += 1
            failures.append(f"{name}, case {number}: {failure}")
    return counts, failures


def main() -> int:
    """Print a line for each kind of file; return 1 if any case failed."""
    from soak.damaged_files import KINDS

    parser = argparse.ArgumentParser(prog="python -m soak.damage_table", description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000, help="of each kind of file")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--kinds", default="", help="comma-separated groups (default: all)")
    options = parser.parse_args()
    groups = options.kinds.split(",") if options.kinds else list(GROUPS)
    names = [name for group in groups for name in GROUPS[group]]
    print(f"{'kind of file':40} {'cases':>7} {'same':>7} {'refused':>7} {'wrong':>7} {'failed':>7}")
    failures = 0
    with ThreadPoolExecutor(options.jobs) as threads:
        for name, (counts, failed) in zip(names, threads.map(lambda n: _in_process(n, options), names), strict=True):
            figures = " ".join(f"{counts[kind]:>7,}" for kind in ("same", "refused", "wrong", "failed"))
            note = "" if KINDS[name].checked else "  no checksum"
            print(f"{name:40} {counts.total():>7,} {figures}{note}", flush=True)
            failed += [f"{name}: {counts['wrong']} wrong outputs"] if counts["wrong"] and KINDS[name].checked else []
            print("".join(f"  {failure}\n" for failure in failed[:SHOWN]), end="", flush=True)
            failures += len(failed)
    return int(failures > 0)


def _in_process(name: str, options: argparse.Namespace) -> tuple[Counter[str], list[str]]:
    with new_pool() as pool:
        return pool.submit(count, name, options.first, options.cases).result()


if __name__ == "__main__":
    sys.exit(main())
