"""Markdown of the numbers of a study: tables, lists and the figures in them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, median

from lsprune.lab.reporting.panels import FEWEST, WHOLE, Panel, make_panel, overlap_panel, read_parts, verdict
from lsprune.lab.reporting.records import OVERLAP, Record
from lsprune.lab.reporting.statistics import Comparison, Estimate
from lsprune.lab.studies.methods import FRESH, REFERENCES


def escape(text: str) -> str:
    """The text as Markdown shows it: no markup, no HTML, no end of a table's cell.

    >>> escape("a|b <i>")
    'a\\\\|b &lt;i&gt;'
    """
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~$!])", r"\\\1", plain)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table; cells are Markdown already."""
    return [_row(heads), "|---" * len(heads) + "|", *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def per_cent(share: float | None, none: str = "") -> str:
    """A share in three digits.

    >>> per_cent(0.2571)
    '25.7 %'
    """
    return none if share is None else f"{100 * share:.3g} %"


def cell(one: Estimate | None) -> str:
    """Mean and interval; nothing where nothing was run."""
    if one is None:
        return ""
    return f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]" if one.runs > 1 else f"{one.mean:.3f}"


def difference(gain: Comparison | None, scale: int, digits: int = 3) -> str:
    """A paired difference with its interval, in points (scale 100) or as it is (1)."""
    if gain is None:
        return ""
    mean = f"{scale * gain.difference:+.{digits}f}"
    return mean if gain.runs < 2 else f"{mean} [{scale * gain.low:+.{digits}f}, {scale * gain.high:+.{digits}f}]"


def in_units(panel: Panel, gain: Comparison) -> str:
    """A paired difference with its interval in points of a score, or in the units of an error."""
    return difference(gain, 100, 2) if panel.higher_is_better else difference(gain, 1)


def unit(panel: Panel) -> str:
    """What differences are in."""
    return "points" if panel.higher_is_better else panel.metric


def heads(panel: Panel) -> list[str]:
    """The shares at the top of a table's columns."""
    return [per_cent(panel.column(budget)) for budget in panel.budgets]


def level_table(panel: Panel) -> list[str]:
    """Mean and interval of all methods at all shares; the best of a column is bold, of those that prune for good."""
    columns = [{name: panel.level(name, budget) for name in panel.methods} for budget in panel.budgets]
    tops = [_top([one.mean for name, one in c.items() if one and name not in FRESH], panel) for c in columns]
    rows = []
    for name in panel.methods:
        row = [escape(name) + (" †" if name in FRESH else "")]
        for column, top in zip(columns, tops, strict=True):
            one = column[name]
            best = one is not None and one.mean == top and name not in FRESH
            row.append(f"**{cell(one)}**" if best else cell(one))
        rows.append(row)
    return table(["method", *heads(panel)], rows)


def _top(means: Sequence[float], panel: Panel) -> float | None:
    return (max if panel.higher_is_better else min)(means, default=None)


def overlap_table(panel: Panel) -> list[str]:
    """Mean and interval of the overlap of all methods at all budgets."""
    names = [f"k = {k}, {head}" if k else head for (k, _), head in zip(panel.budgets, heads(panel), strict=True)]
    rows = [[escape(name), *(cell(panel.level(name, budget)) for budget in panel.budgets)] for name in panel.methods]
    return table(["method", *names], rows)


def gain_table(panel: Panel, rival: str) -> list[str]:
    """The calibrated LSPs against a rival at equal share: verdict, difference, interval."""
    rows = []
    for name in panel.ours:
        gains = [panel.gain(name, rival, budget) for budget in panel.budgets]
        rows.append(
            [escape(name), *(f"{_marked(verdict(gain))} {in_units(panel, gain)}" if gain else "" for gain in gains)]
        )
    return table([f"against {rival}", *heads(panel)], rows)


def _marked(word: str) -> str:
    return {"better": "**better**", "worse": "*worse*"}.get(word, word)


def time_table(panel: Panel) -> list[str]:
    """Median seconds of pruning; and of an epoch beside the unpruned, where runs had the device to themselves."""
    whole = _alone(panel.cells.get(("none", WHOLE), {}).values())
    device = whole[0].get("device") if whole else None
    base = _epoch(whole, device)
    rows = []
    for name in panel.methods:
        done = [panel.cells.get((name, budget), {}).values() for budget in panel.budgets]
        pruning = median(record["prune_seconds"] for records in done for record in records)
        epochs = [_epoch(_alone(records), device) for records in done]
        beside = [f"{seconds / base:.2f}" if base and seconds else "" for seconds in epochs] if base else []
        rows.append([escape(name), f"{pruning:.3f}", *beside])
    return table(["method", "pruning, s", *(heads(panel) if base else [])], rows)


def shared_device(panel: Panel) -> bool:
    """Whether no unpruned run is known to have had the device to itself, so that times say nothing."""
    return not _alone(panel.cells.get(("none", WHOLE), {}).values())


def _alone(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if record.get("jobs") == 1]


def _epoch(records: Iterable[Record], device: str | None) -> float | None:
    there = [record["train_seconds_per_epoch"] for record in records if record.get("device") == device]
    return median(there) if there else None


def reference_lines(panel: Panel) -> list[str]:
    """The levels that everything is compared with, as a list."""
    names = {"none": "unpruned", "no-edges": "no edges", "basic": "basic (plain averaging, whole graph)"}
    lines = [f"- {names[name]}: {panel.level(name)}" for name in REFERENCES if name in panel.references]
    worth = panel.topology
    if worth is not None:
        few = f"{verdict(worth)} cannot say" if worth.runs < FEWEST else "not clearly"
        matters = "yes" if panel.topology_matters else few
        lines.append(f"- topology matters: {matters}; the edges are worth {in_units(panel, worth)} {unit(panel)}")
    return lines


# The tables of results/README.md


def study_tables(path: Path) -> str:
    """One study as Markdown, a table for each dataset and target."""
    parts, lines = read_parts(path), [f"## {path.stem}"]
    for (dataset, target), records in parts.items():
        if len(parts) > 1:
            lines += ["", f"### {dataset}" + (f", {target}" if target else "")]
        if "variance" in records[0]:
            lines += ["", *_variance(records)]
        elif OVERLAP in records[0]:
            lines += ["", *overlap_table(overlap_panel(path, dataset, target, records))]
        else:
            lines += ["", *_metric(make_panel(path, dataset, target, records))]
    return "\n".join(lines)


def _metric(panel: Panel) -> Iterator[str]:
    """The metric by method and share, and LSP-P against local random in pairs."""
    yield from (f"- {name}: {panel.level(name)}" for name in panel.references)
    if not panel.budgets:
        return
    scale, digits, unit_name = (100, 1, "points") if panel.higher_is_better else (1, 3, "lower is better")
    rows = [[name, *(cell(panel.level(name, budget)) for budget in panel.budgets)] for name in panel.methods]
    pairs = [panel.gain("lsp-p", "local-random", budget) for budget in panel.budgets]
    plain = [one if one is None or panel.higher_is_better else _turned(one) for one in pairs]
    rows.append([f"*lsp-p − local-random, {unit_name}*", *(difference(one, scale, digits) for one in plain)])
    yield from ("", *table(["method", *(f"{panel.column(b):.1%}" for b in panel.budgets)], rows), "")
    for method in ("random", "local-random", "lsp-p"):
        share = panel.lossless(method)
        yield f"- lossless share of {method}: " + ("none of these" if share is None else f"{share:.1%}")


def _turned(gain: Comparison) -> Comparison:
    """The difference the other way round."""
    return Comparison(0.0 - gain.difference, 0.0 - gain.high, 0.0 - gain.low, gain.p, gain.runs)  # no -0.0


def _variance(records: Sequence[Record]) -> list[str]:
    """The mean variance of neighbourhood sizes by method and share, for each number of hops."""
    found: dict[tuple[str, str, float | None], list[float]] = defaultdict(list)
    for record in records:
        for hops, value in record["variance"].items():
            found[hops, record["run"]["method"], record["run"]["keep"]].append(value)
    keeps = sorted({keep for _, _, keep in found if keep is not None})
    rows = []
    for hops in records[0]["variance"]:
        for method in dict.fromkeys(method for _, method, keep in found if keep is not None):
            cells = [found[hops, method, keep] for keep in keeps] + [found[hops, "none", None]]
            rows.append([hops, method, *(f"{fmean(values):.4g}" for values in cells)])
    return table(["hops", "method", *(f"{keep:.0%}" for keep in keeps), "100%"], rows)
