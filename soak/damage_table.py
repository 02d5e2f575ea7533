"""Count what comes of damaged files, by format: `python -m soak.damage_table --out results/damage.json`.

Of 20,012 cases of a file, 5,003 cut it short (each of our small files at every byte), 10,006 flip bits, and 5,003
remove, repeat, overwrite or insert bytes. `docs/make_promises.py` shows the counts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from soak.check import Broken
from soak.checks.bad_bytes import GROUPS, verdict
from soak.isolated import new_pool

SHOWN = 10  # failures of a kind of file at most
VERDICTS = ("same", "refused", "wrong", "failed")


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


def note(path: Path, name: str, counts: Counter[str], *, checked: bool) -> None:
    """Write the counts of a kind into a file that may hold those of others."""
    known = json.loads(path.read_text(encoding="utf8")) if path.exists() else {}
    known[name] = {"checksum": checked, "cases": counts.total(), **{kind: counts[kind] for kind in VERDICTS}}
    path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf8")


def main() -> int:
    """Print a line for each kind of file; return 1 if any case failed."""
    from soak.damaged_files import KINDS

    parser = argparse.ArgumentParser(prog="python -m soak.damage_table", description=__doc__)
    parser.add_argument("--cases", type=int, default=20_012, help="of each kind of file")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--kinds", default="", help="comma-separated groups (default: all)")
    parser.add_argument("--out", type=Path, help="write the counts to this file; others of its kinds stay")
    options = parser.parse_args()
    groups = options.kinds.split(",") if options.kinds else list(GROUPS)
    names = [name for group in groups for name in GROUPS[group]]
    print(f"{'kind of file':40} {'cases':>7} {'same':>7} {'refused':>7} {'wrong':>7} {'failed':>7}")
    failures = 0
    with ThreadPoolExecutor(options.jobs) as threads:
        for name, (counts, failed) in zip(names, threads.map(lambda n: _in_process(n, options), names), strict=True):
            figures = " ".join(f"{counts[kind]:>7,}" for kind in VERDICTS)
            mark = "" if KINDS[name].checked else "  no checksum"
            print(f"{name:40} {counts.total():>7,} {figures}{mark}", flush=True)
            failed += [f"{name}: {counts['wrong']} wrong outputs"] if counts["wrong"] and KINDS[name].checked else []
            print("".join(f"  {failure}\n" for failure in failed[:SHOWN]), end="", flush=True)
            failures += len(failed)
            if options.out is not None:
                note(options.out, name, counts, checked=KINDS[name].checked)
    return int(failures > 0)


def _in_process(name: str, options: argparse.Namespace) -> tuple[Counter[str], list[str]]:
    with new_pool() as pool:
        return pool.submit(count, name, options.first, options.cases).result()


if __name__ == "__main__":
    sys.exit(main())
