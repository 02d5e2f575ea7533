"""Print what the study `choose` says: gains over k random neighbours by graph, and lossless shares.

    python results/choose_figures.py results/choose.jsonl
    python results/choose_figures.py results/choose.jsonl --table 0.1    # the table of docs/choosing.md

A graph counts where edges matter (all edges are ahead of none by two points) and a node can keep one edge on average.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean, median
from typing import Any

from lsprune.lab.reporting.statistics import lossless_share, paired_difference

MEAN_DEGREES = {  # edges a node, of the datasets of the study
    "cora": 3.9, "citeseer": 2.7, "pubmed": 4.5, "github": 15.3, "computers": 35.8, "cs": 8.9, "cora-ml": 5.4,
    "blogcatalog": 66.1, "flickr": 63.3, "facebook-pages": 15.2, "twitch-de": 32.2, "squirrel-filtered": 42.3,
    "chameleon-filtered": 19.9, "actor": 7.0, "tolokers": 88.3, "minesweeper": 7.9, "ppi": 27.9,
}  # fmt: skip
EDGES_MATTER, HALF_POINT = 0.02, 0.005
BASELINE, ALL, NONE = "local-random", "unpruned", "no-edges"
RANDOM, CHOOSE = "random", "choose"

MODELS = {"node-sage-skip": "SAGE", "node-gat-skip": "GAT", "ppi-gat": "GAT"}  # PPI has a GAT of its own
TABLE = ("choose", "lsp-auto", "jaccard")

Cells = dict[tuple[str, float | None], dict[int, float]]  # test metric by method, share and seed


def figures(lines: list[Mapping[str, Any]]) -> list[str]:
    """Return the report, line by line."""
    cells: dict[tuple[str, str], Cells] = defaultdict(lambda: defaultdict(dict))
    for line in lines:
        run = line["run"]
        place = MODELS.get(run["model"], run["model"]), run["dataset"]
        cells[place][run["method"], run["keep"]][run["seed"]] = line["test"]
    out = []
    for model in sorted({model for model, _ in cells}):
        shares = sorted({keep for place in cells if place[0] == model for _, keep in cells[place] if keep is not None})
        for share in shares:
            rows = _share(model, share, cells)
            out += [f"{model}, {100 * share:g} % of the edges", *rows, ""] if rows else []
        out += _lossless(model, cells)
    return out


def _share(model: str, share: float, cells: Mapping[tuple[str, str], Cells]) -> list[str]:
    out, gains, behind = [], defaultdict(list), {"all edges": [], "the best method": []}
    for (_, dataset), runs in sorted((key, runs) for key, runs in cells.items() if key[0] == model):
        base, whole, none = runs.get((BASELINE, share)), runs.get((ALL, None)), runs.get((NONE, None))
        if not base or not whole or not none:
            continue
        matter = fmean(whole.values()) - fmean(none.values()) >= EDGES_MATTER
        counts = matter and share * MEAN_DEGREES[dataset] >= 1
        levels = (fmean(values.values()) for values in (whole, none, base))
        row = f"   {dataset:20} " + "all {:.3f}  none {:.3f}  k random neighbours {:.3f}".format(*levels)
        for method in sorted({name for name, keep in runs if keep == share} - {BASELINE}):
            gain = paired_difference(runs[method, share], base)
            row += f"  {method} {100 * gain.difference:+.1f}{_interval(gain)}"
            if counts:
                gains[method].append(100 * gain.difference)
        if counts and ("choose", share) in runs:
            means = {name: fmean(values.values()) for (name, keep), values in runs.items() if keep == share}
            behind["all edges"].append(fmean(whole.values()) - means["choose"])
            behind["the best method"].append(max(means.values()) - means["choose"])
        out.append(row + ("" if counts else "  (does not count)"))
    for method, values in gains.items():
        mean = f"mean over {len(values)} graphs that count, {method}: {fmean(values):+.2f}"
        out.append(f"   {mean}, median {median(values):+.2f}, worst {min(values):+.1f}")
    for name, losses in behind.items():
        if losses:
            near = sum(loss <= HALF_POINT for loss in losses)
            out.append(
                f"   choose is within half a point of {name}, or ahead, on {near} of {len(losses)} graphs that count"
            )
    return out


def _interval(gain: Any) -> str:
    return f" [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]" if gain.runs > 1 else " (one run)"


def _lossless(model: str, cells: Mapping[tuple[str, str], Cells]) -> list[str]:
    """Return the lossless shares of random edges and of `choose`, where edges matter; none is taken as all edges."""
    out, ratios = [], []
    for (_, dataset), runs in sorted((key, runs) for key, runs in cells.items() if key[0] == model):
        whole, none = runs.get((ALL, None)), runs.get((NONE, None))
        shares = [{keep for name, keep in runs if name == method} for method in (RANDOM, CHOOSE)]
        if not whole or not none or len(shares[0]) < 2 or shares[0] != shares[1]:
            continue
        if fmean(whole.values()) - fmean(none.values()) < EDGES_MATTER:
            continue
        found = []
        for method in (RANDOM, CHOOSE):
            tests = {keep: list(runs[method, keep].values()) for keep in shares[0] if keep is not None}
            found.append(lossless_share(tests, list(whole.values())))
        ratios.append((found[1] or 1) / (found[0] or 1))
        names = ["none" if share is None else f"{100 * share:g} %" for share in found]
        out.append(f"   {dataset:20} random {names[0]:6} choose {names[1]:6} ratio {ratios[-1]:.2f}")
    if not ratios:
        return []
    return [f"{model}, smallest lossless share measured", *out, f"   mean ratio {fmean(ratios):.2f}", ""]


def table(lines: list[Mapping[str, Any]], share: float) -> list[str]:
    """Return a Markdown table of one share: a row for each graph and model, those that count first."""
    cells: dict[tuple[str, str], Cells] = defaultdict(lambda: defaultdict(dict))
    for line in lines:
        run = line["run"]
        model = MODELS.get(run["model"], run["model"])
        cells[run["dataset"], model][run["method"], run["keep"]][run["seed"]] = line["test"]
    rows = []
    for (dataset, model), runs in cells.items():
        base, whole, none = runs.get((BASELINE, share)), runs.get((ALL, None)), runs.get((NONE, None))
        if not base or not whole or not none or ("choose", share) not in runs:
            continue
        levels = [fmean(values.values()) for values in (whole, none, base)]
        counts = levels[0] - levels[1] >= EDGES_MATTER and share * MEAN_DEGREES[dataset] >= 1
        gains = [paired_difference(runs[method, share], base) for method in TABLE]
        texts = [f"{100 * gain.difference:+.1f}{_interval(gain)}" for gain in gains]
        texts = [text.replace("-", "\N{MINUS SIGN}") for text in texts]
        numbers = [f"{level:.3f}" for level in levels]
        name = f"{dataset} (does not count)" if not counts else dataset
        rows.append((not counts, dataset, model, [name, model, *numbers, *texts]))
    head = ["graph", "model", "all edges", "none", "k random neighbours", "`choose`", "`LSP.auto`", "Jaccard"]
    body = [row for *_, row in sorted(rows)]
    return ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *body)]


def main(arguments: list[str]) -> None:
    """Print the report on the files, or the table of a share."""
    files, _, share = " ".join(arguments).partition("--table")
    records = [json.loads(text) for path in files.split() for text in Path(path).read_text("utf-8").splitlines()]
    print("\n".join(table(records, float(share)) if share else figures(records)))


if __name__ == "__main__":
    main(sys.argv[1:])
