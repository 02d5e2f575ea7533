"""Print the tables of results/README.md from the JSON lines: `python results/summarise.py results/*.jsonl`."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from lsprune.lab.results import Results
from lsprune.lab.stats import compare, estimate, lossless_share


def table(path: Path) -> str:
    """One study as Markdown: accuracy by method and share, and LSP-P against local random in pairs."""
    scores: dict[tuple[str, int | None], dict[int, float]] = defaultdict(dict)
    shares: dict[int, dict[str, float]] = defaultdict(dict)
    for record in Results(path).read():
        run = record["run"]
        scores[run["method"], run["k"]][run["seed"]] = record["test"]
        if run["k"] is not None:
            shares[run["k"]][run["method"]] = record["share"]
    ks = sorted(shares)
    lines = [f"## {path.stem}", ""]
    for name in ("none", "no-edges", "basic"):
        lines.append(f"- {name}: {estimate(list(scores[name, None].values()))}")
    lines += [
        "",
        "| method | " + " | ".join(f"{shares[k]['random']:.1%}" for k in ks) + " |",
        "|---" * (len(ks) + 1) + "|",
    ]
    methods = dict.fromkeys(method for method, k in scores if k is not None)
    for method in methods:
        cells = [estimate(list(scores[method, k].values())) for k in ks]
        row = " | ".join(f"{cell.mean:.3f} [{cell.low:.3f}, {cell.high:.3f}]" for cell in cells)
        lines.append(f"| {method} | {row} |")
    pairs = [compare(scores["lsp-p", k], scores["local-random", k]) for k in ks]
    row = " | ".join(f"{100 * one.difference:+.1f} [{100 * one.low:+.1f}, {100 * one.high:+.1f}]" for one in pairs)
    lines += [f"| *lsp-p − local-random, points* | {row} |", ""]
    whole = list(scores["none", None].values())
    for method in ("random", "local-random", "lsp-p"):
        runs = {shares[k][method]: list(scores[method, k].values()) for k in ks}
        share = lossless_share(runs, whole)
        lines.append(f"- lossless share of {method}: " + ("none of these" if share is None else f"{share:.1%}"))
    return "\n".join(lines)


if __name__ == "__main__":
    print("\n\n".join(table(Path(name)) for name in sys.argv[1:]))
