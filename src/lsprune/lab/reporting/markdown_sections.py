"""Parts of the page: what consistency is, the LSP that calibrates itself, who decides, datasets run at one share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from lsprune.lab.reporting.markdown_tables import escape, in_units, per_cent, table
from lsprune.lab.reporting.panels import FEWEST, OUT, RIVALS, Budget, Panel, verdict

AUTO = ("lsp-auto-a", "lsp-auto")
MOST = 0.501  # shares up to a half are what a pruner is judged by
Link = Callable[[Panel], str]
CONSISTENCY = """\
Two samples of a class have the same edges, with noise on all vectors and a few nodes missing. The figure is the mean
Jaccard overlap of what they keep among the edges that both have (1: the same edges survive), over 28 pairs a class;
set, pairs and functions are drawn anew with every seed, and pruners learn from other samples. *position* keeps the
first edges of a list, whose order survives the noise here: a mark to reach, which few real graphs offer."""


def calibrated_table(panels: Sequence[Panel], link: Link) -> list[str]:
    """The gain of those that calibrate themselves over both rivals at every share up to a half, from enough runs."""
    rows = []
    for panel in panels:
        for method in AUTO:
            for rival in RIVALS:
                cells = "; ".join(_gains(panel, method, rival))
                if cells:
                    rows.append([link(panel), method, rival, cells])
    return table(["dataset", "method", "against", "points, 95 % interval, verdict at each share"], rows) if rows else []


def sides_table(panels: Sequence[Panel], link: Link) -> list[str]:
    """Methods whose edges belong to their sources, against themselves with targets and against k random neighbours."""
    rows = []
    for panel in panels:
        for name in (one for one in panel.methods if one.endswith(OUT)):
            for rival in dict.fromkeys((name.removesuffix(OUT), f"{RIVALS[1]}{OUT}")):
                cells = "; ".join(_gains(panel, name, rival, 1.0)) if rival != name else ""
                if cells:
                    rows.append([link(panel), escape(name), escape(rival), cells])
    return table(["dataset", "method", "against", "gain, 95 % interval, verdict at each share"], rows) if rows else []


def _gains(panel: Panel, method: str, rival: str, most: float = MOST) -> Iterator[str]:
    for budget in panel.budgets:
        share, gain = panel.column(budget), panel.gain(method, rival, budget)
        if share <= most and gain is not None and gain.runs >= FEWEST:
            yield f"{per_cent(share)}: {in_units(panel, gain)} {verdict(gain)}"


def needed_table(panels: Sequence[Panel], link: Link) -> list[str]:
    """The share that the LSP that calibrates itself needs for what random has at a larger one, where edges matter."""
    rows, ratios = [], []
    for panel in panels:
        method = next((name for name in AUTO if name in panel.methods and panel.complete(name)), None)
        pairs = list(_needed(panel, method)) if method and panel.topology_matters else []
        if not method or not pairs:
            continue
        ratios.append(fmean(ours / theirs for ours, theirs in pairs))
        said = "; ".join(f"{per_cent(ours)} for {per_cent(theirs)}" for ours, theirs in pairs)
        rows.append([link(panel), escape(method), said, f"{ratios[-1]:.2f}"])
    if not rows:
        return []
    rows.append(["*mean*", "", "", f"{fmean(ratios):.2f} ({len(ratios)})"])
    return table(["dataset", "method", "share needed for what random has at", "mean ratio"], rows)


def _needed(panel: Panel, method: str) -> Iterator[tuple[float, float]]:
    """(ours, random's) for every share of random but the smallest; all the edges where no share is enough."""
    for budget in panel.budgets[1:]:
        if panel.level("random", budget) is not None:
            yield panel.needed(method, "random", budget) or 1.0, panel.column(budget)


def point_table(panels: Sequence[Panel], link: Link) -> list[str]:
    """Datasets that were run at one or two shares: what the LSP that validation chooses has there, and all LSPs."""
    pairs = ((panel, budget) for panel in panels for budget in panel.budgets)
    rows = [[link(panel), *cells] for panel, budget in pairs if (cells := _point(panel, budget))]
    heads = ["dataset", "share", "unpruned", "random", "local random", "LSP that validation chooses"]
    return table([*heads, "against the unpruned graph", "all calibrated LSPs"], rows) if rows else []


def _point(panel: Panel, budget: Budget) -> list[str]:
    levels = {name: one.mean for name in panel.methods if (one := panel.level(name, budget)) is not None}
    best, whole = panel.best_lsp, panel.level("none")
    if best is None or best not in levels or whole is None:
        return []
    gain, ours = panel.against_whole(best, budget), [levels[name] for name in panel.ours if name in levels]
    said = "" if gain is None else f"{in_units(panel, gain)} {verdict(gain)}"
    chance = [f"{levels[name]:.3f}" if name in levels else "" for name in RIVALS]
    place = [per_cent(panel.column(budget)), f"{whole.mean:.3f}", *chance]
    return [*place, f"{escape(best)} {levels[best]:.3f}", said, f"{min(ours):.3f} to {max(ours):.3f}"]
