"""Print the tables of results/README.md from the JSON lines: `python results/summarise.py results/*.jsonl`."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from lsprune.lab.results import Results
from lsprune.lab.stats import compare, estimate, lossless_share

Records = list[dict[str, Any]]
Budget = tuple[int | None, float | None]
TOLERANCE = {"accuracy": 0.005, "micro-f1": 0.005, "mae": 0.01}


def tables(path: Path) -> str:
    """One study as Markdown, a table for each dataset and target."""
    parts: dict[tuple[str, str | None], Records] = defaultdict(list)
    for record in Results(path).read():
        parts[record["run"]["dataset"], record["run"]["target"]].append(record)
    lines = [f"## {path.stem}"]
    for (dataset, target), records in parts.items():
        if len(parts) > 1:
            lines += ["", f"### {dataset}" + (f", {target}" if target else "")]
        lines += ["", *(variance(records) if "variance" in records[0] else metric(records))]
    return "\n".join(lines)


def metric(records: Records) -> list[str]:
    """The metric by method and share, and LSP-P against local random in pairs."""
    scores: dict[tuple[str, Budget], dict[int, float]] = defaultdict(dict)
    shares: dict[Budget, dict[str, float]] = defaultdict(dict)
    for record in records:
        run = record["run"]
        budget = (run["k"], run.get("keep"))
        scores[run["method"], budget][run["seed"]] = record["test"]
        if budget != (None, None):
            shares[budget][run["method"]] = record["share"]
    lines = [
        f"- {name}: {estimate(list(values.values()))}"
        for (name, budget), values in scores.items()
        if budget == (None, None)
    ]
    if not shares:
        return lines
    order = sorted(shares, key=lambda budget: next(iter(shares[budget].values())))
    heads = (f"{next(iter(shares[budget].values())):.1%}" for budget in order)
    lines += ["", "| method | " + " | ".join(heads) + " |", "|---" * (len(order) + 1) + "|"]
    methods = dict.fromkeys(method for method, budget in scores if budget != (None, None))
    for method in methods:
        cells = (cell(list(scores[method, budget].values())) for budget in order)
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    higher = records[0]["higher_is_better"]
    scale, unit = (100, "points") if higher else (1, "lower is better")
    pairs = (
        compare(scores["lsp-p", budget], scores["local-random", budget])
        if scores["lsp-p", budget] and scores["local-random", budget]
        else None
        for budget in order
    )
    row = " | ".join(difference(one, scale) for one in pairs)
    lines += [f"| *lsp-p − local-random, {unit}* | {row} |", ""]
    whole = list(scores["none", (None, None)].values())
    for method in ("random", "local-random", "lsp-p"):
        runs = {shares[b][method]: list(scores[method, b].values()) for b in order if scores[method, b]}
        tolerance = TOLERANCE[records[0]["metric"]]
        share = lossless_share(runs, whole, tolerance=tolerance, higher_is_better=higher) if runs else None
        lines.append(f"- lossless share of {method}: " + ("none of these" if share is None else f"{share:.1%}"))
    return lines


def cell(values: list[float]) -> str:
    """Mean and interval."""
    if not values:
        return ""
    one = estimate(values)
    return f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]" if one.runs > 1 else f"{one.mean:.3f}"


def difference(one: Any, scale: int) -> str:
    """A paired difference with its interval."""
    if one is None:
        return ""
    digits = 1 if scale > 1 else 3
    mean = f"{scale * one.difference:+.{digits}f}"
    return mean if one.runs < 2 else f"{mean} [{scale * one.low:+.{digits}f}, {scale * one.high:+.{digits}f}]"


def variance(records: Records) -> list[str]:
    """The mean variance of neighbourhood sizes by method and share, for each number of hops."""
    found: dict[tuple[str, str, float | None], list[float]] = defaultdict(list)
    for record in records:
        for hops, value in record["variance"].items():
            found[hops, record["run"]["method"], record["run"]["keep"]].append(value)
    keeps = sorted({keep for _, _, keep in found if keep is not None})
    lines = [
        "| hops | method | " + " | ".join(f"{keep:.0%}" for keep in keeps) + " | 100% |",
        "|---" * (len(keeps) + 3) + "|",
    ]
    for hops in records[0]["variance"]:
        whole = mean(found[hops, "none", None])
        for method in dict.fromkeys(method for _, method, keep in found if keep is not None):
            values = (mean(found[hops, method, keep]) for keep in keeps)
            row = " | ".join(f"{value:.4g}" for value in (*values, whole))
            lines.append(f"| {hops} | {method} | {row} |")
    return lines


def mean(values: list[float]) -> float:
    """The mean of the seeds."""
    return sum(values) / len(values)


if __name__ == "__main__":
    print("\n\n".join(tables(Path(name)) for name in sys.argv[1:]))
