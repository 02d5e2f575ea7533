"""The page of results: `results/*.jsonl` in, one Markdown file and its figures out, the same bytes every time."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from urllib.parse import quote

from lsprune.errors import OptionError
from lsprune.files.atomic_write import atomic_write
from lsprune.lab.reporting import figures
from lsprune.lab.reporting.markdown_sections import (
    CONSISTENCY,
    calibrated_table,
    needed_table,
    point_table,
    sides_table,
)
from lsprune.lab.reporting.markdown_tables import (
    escape,
    gain_table,
    heads,
    in_units,
    level_table,
    overlap_table,
    per_cent,
    reference_lines,
    shared_device,
    table,
    time_table,
    unit,
)
from lsprune.lab.reporting.panels import (
    FEWEST,
    RIVALS,
    Budget,
    Panel,
    lines_of,
    read_overlaps,
    read_panels,
    verdict,
)
from lsprune.lab.studies.methods import FRESH

COMPARISON = "compare"  # files of this name, or of one that begins with it and a hyphen, are compared in full
SUMMARY = (0.1, 0.25)  # shares in the first table
NONE_LOSSLESS = "none"
FEWEST_SHARES = 3  # that a dataset is run at, to be in the summary
CALIBRATED = """\
Neither looks at a label: family, options and parts of `LSP(hash="auto", select="bottom")` (lsp-auto) come from how well
its choice survives noise, and `LSP(hash="auto", weights="auto")` (lsp-auto-a) prefers neighbours like the owner where
that survives noise as well and less than a third of the edges is kept. This third is the one thing that was chosen by
validation, once for all graphs."""

NEEDED = """\
The smallest share measured from which on its mean is at least what random has at a larger share; 100 % where none is
enough. The smallest share measured stands for all below it, so that the true ratio may be smaller."""

SIDES = """\
An edge belongs to the node that hears it (`side="in"`, ours) or to the one that speaks (`side="out"`, the paper's), and
its owner decides. What *-out*, the second, has beside the first at the same share, and beside k random neighbours with
the same owners (points, or units of MAE):"""

HOW = """\
Every figure is a test metric at the best validation epoch. Means are over seeds, brackets are 95 % bootstrap
intervals. Methods of one column keep the same share of the edges. Differences are in pairs by seed and turned so that
**above zero is better**, for errors too; points are hundredths of the metric.

- *Better*: the whole interval is above zero; *not worse*: it reaches zero; *worse*: all of it is below. One or two
  runs get no verdict.
- *Topology matters*: the whole graph is better than no edges.
- *Lossless share*: the smallest share measured from which on every interval reaches the unpruned mean less half a
  point (0.01 for MAE); empty for a method that was not run at every share.
- *Best LSP*: the calibrated LSP with the best **validation** metric over the runs that all of them have, among those
  that were run at every share and at least half as often as any. No test figure chooses a method here, or a line in a
  plot.

Intervals of few runs are too narrow: on normal data those of 5 runs hold the truth in 84 % of the cases, those of 3 in
76 %, so that about one in twelve (one in nine) of equal methods looks *better*."""


@dataclass(frozen=True)
class Page:
    """Markdown, and the bytes of the figures that it shows, by their path beside it."""

    text: str
    images: Mapping[str, bytes]


def write_page(results: Path, out: Path) -> list[Path]:
    """Write `out/results.md` and `out/results/*.svg`; the files. Everything is made before anything is written."""
    page = make_page(results, quote(Path(os.path.relpath(results, out)).as_posix()))
    (out / "results").mkdir(parents=True, exist_ok=True)
    files = {**page.images, "results.md": page.text.encode()}  # the page last: it never shows what is not there
    for name, content in files.items():
        with atomic_write(out / name) as handle:
            handle.write(content)
    return [out / name for name in files]


def make_page(results: Path, link: str = "../results") -> Page:
    """The page of a folder of results.

    Args:
        link: the way from the page to that folder.
    """
    studies = {path.stem: read_panels(path) for path in _files(results)}
    compared = [panel for name, panels in studies.items() if _compared(name) for panel in panels]
    single = {name: panels for name, panels in studies.items() if panels and not _compared(name)}
    overlaps = [panel for path in _files(results) for panel in read_overlaps(path) if panel.budgets]
    if not (compared or single or overlaps):
        raise OptionError(f"results must be a folder with runs in files such as cora.jsonl, got {results}")
    images: dict[str, bytes] = {}
    notes = results / "notes.md"
    parts = [
        "# Results",
        f"Made from [the lines of every run]({link}) by `lsprune study page`: do not edit.",
        *([notes.read_text(encoding="utf8").strip()] if notes.exists() else []),
        *(_comparison(compared, images) if compared else ["The comparison of all methods has not been run yet."]),
        *(["## Do two samples keep the same edges?", *_overlaps(overlaps, images)] if overlaps else []),
        *(["## Single studies", *_singles(single, images, _readme(results, link))] if single else []),
    ]
    return Page("\n\n".join(part for part in parts if part) + "\n", images)


def _files(results: Path) -> list[Path]:
    """The files of results in the order of their names; those of a trial are left out."""
    there = (path for path in results.glob("*.jsonl") if not path.stem.endswith("-smoke"))
    return sorted(there, key=lambda path: path.stem)


def _compared(name: str) -> bool:
    return name == COMPARISON or name.startswith(f"{COMPARISON}-")


def _readme(results: Path, link: str) -> str:
    there = (results / "README.md").exists()
    return f"Tables of these studies: [{escape(link)}/README.md]({link}/README.md)." if there else ""


# The comparison


def _comparison(every: Sequence[Panel], images: dict[str, bytes]) -> Iterator[str]:
    names = _names(every)
    many = [panel for panel in every if len(panel.budgets) >= FEWEST_SHARES] or every
    points, panels = [panel for panel in every if panel not in many], list(_once(many))
    yield "## Summary"
    yield _block(_summary(panels, names))
    yield (
        "A dataset that was run at neither of these shares has its smallest ones, and says so."
        if _elsewhere(panels)
        else ""
    )
    yield _block(_shares(panels, names))
    if calibrated := calibrated_table(many, lambda panel: _link(panel, names[panel])):
        yield "## The LSP that calibrates itself"
        yield CALIBRATED
        yield _block(calibrated)
    if needed := needed_table(panels, lambda panel: _link(panel, names[panel])):
        yield "### Edges for the same accuracy"
        yield NEEDED
        yield _block(needed)
    if sides := sides_table(panels, lambda panel: _link(panel, names[panel])):
        yield "## Who decides on an edge"
        yield SIDES
        yield _block(sides)
    if points:
        yield "## At one share"
        yield _block(point_table(points, lambda panel: _link(panel, names[panel])))
    yield "## Where LSP does not help"
    yield "The best LSP of each dataset against chance at the same share, wherever it is not clearly better."
    yield _block([line for panel in panels for line in _no_help(panel, names[panel])] or ["- nowhere in these results"])
    yield _count(panels)
    yield "## How to read this"
    yield HOW
    yield "## Lossless shares"
    yield from _lossless(panels, names)
    yield "## Datasets"
    for panel in every:
        yield from _section(panel, names[panel], images)


def _once(panels: Sequence[Panel]) -> Iterator[Panel]:
    """Each dataset as it was run at most shares, so that none counts twice in a mean."""
    widest = {panel.name: panel for panel in sorted(panels, key=lambda panel: len(panel.budgets))}
    return (panel for panel in panels if panel is widest[panel.name])


def _names(panels: Sequence[Panel]) -> dict[Panel, str]:
    """What each panel is called: its dataset, and its study where two have the same."""
    often = Counter(panel.name for panel in panels)
    return {p: escape(p.name if often[p.name] == 1 else f"{p.name} ({p.study})") for p in panels}


def _link(panel: Panel, name: str) -> str:
    return f"[{name}](#{_slug(panel)})"


def _slug(panel: Panel) -> str:
    return _plain("-".join(part for part in dict.fromkeys((panel.study, panel.dataset, panel.target)) if part))


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _summary(panels: Sequence[Panel], names: Mapping[Panel, str]) -> list[str]:
    """Levels and verdicts, a dataset a line."""
    columns = [f"{per_cent(share)}: {what}" for share in SUMMARY for what in ("local random", "best LSP", *_VERSUS)]
    rows = []
    for panel in panels:
        best = panel.best_lsp
        row = [_link(panel, names[panel]), escape(panel.metric), _mean(panel, "none"), _mean(panel, "no-edges")]
        row += [_matters(panel), escape(best or "")]
        for at in _summary_budgets(panel):
            row += ["", "", "", ""] if at is None or best is None else _at(panel, best, at)
        rows.append(row)
    return table(["dataset", "metric", "unpruned", "no edges", "topology matters", "best LSP", *columns], rows)


_VERSUS = ("against random", "against local random")


def _at(panel: Panel, best: str, budget: Budget) -> list[str]:
    share = panel.column(budget)
    place = "" if any(_near(share, one) for one in SUMMARY) else f" at {per_cent(share)}"
    levels = [mean and mean + place for mean in (_mean(panel, name, budget) for name in ("local-random", best))]
    gains = (panel.gain(best, rival, budget) for rival in RIVALS)
    return [*levels, *(verdict(gain) if gain else "" for gain in gains)]


def _mean(panel: Panel, method: str, budget: Budget = (None, None)) -> str:
    one = panel.level(method, budget)
    return "" if one is None else f"{one.mean:.3f}"


def _matters(panel: Panel) -> str:
    if panel.topology is None:
        return ""
    said = verdict(panel.topology)
    return {"better": "yes", "not worse": "not clearly", "worse": "no"}.get(said, said)


def _summary_budgets(panel: Panel) -> list[Budget | None]:
    """The budgets of the summary's shares; the smallest ones if the dataset was run at none of these."""
    found = [next((b for b in panel.budgets if _near(panel.column(b), share)), None) for share in SUMMARY]
    return found if any(found) else [*panel.budgets, *found][: len(SUMMARY)]


def _near(share: float, wanted: float) -> bool:
    return abs(share / wanted - 1) <= 0.05


def _elsewhere(panels: Sequence[Panel]) -> bool:
    used = [p.column(b) for p in panels for b in _summary_budgets(p) if b is not None]
    return not all(any(_near(share, one) for one in SUMMARY) for share in used)


def _shares(panels: Sequence[Panel], names: Mapping[Panel, str]) -> list[str]:
    """Lossless shares of chance and of the best LSP."""
    rows = []
    for panel in panels:
        best = panel.best_lsp
        found = [_share(panel, name) if name else "" for name in (*RIVALS, best)]
        ratio = panel.ratio(best) if best else None
        rows.append([_link(panel, names[panel]), _matters(panel), *found, "" if ratio is None else f"{ratio:.2f}"])
    mean = _mean_ratio(panels, {panel: panel.best_lsp for panel in panels})
    rows.append(["*mean where topology matters*", "", "", "", "", mean])
    lossless = ("lossless share of random", "of local random", "of the best LSP", "best LSP / random")
    return table(["dataset", "topology matters", *lossless], rows)


def _share(panel: Panel, method: str) -> str:
    """A lossless share; nothing where it cannot be known."""
    return per_cent(panel.lossless(method), NONE_LOSSLESS) if panel.ratio(method, method) is not None else ""


def _mean_ratio(panels: Sequence[Panel], methods: Mapping[Panel, str | None]) -> str:
    """The mean ratio to random where topology matters, and over how many datasets."""
    chosen = [(panel, methods[panel]) for panel in panels if panel.topology_matters]
    found = [ratio for panel, name in chosen if name and (ratio := panel.ratio(name)) is not None]
    return f"{fmean(found):.2f} ({len(found)})" if found else ""


def _no_help(panel: Panel, name: str) -> Iterator[str]:
    """Where the best LSP of a dataset is not clearly better than chance, in words."""
    if panel.topology is not None and panel.topology.runs >= FEWEST and not panel.topology_matters:
        yield f"- **{name}**: the edges themselves do not clearly help, so that no way to choose them can be told apart"
    best = panel.best_lsp
    for rival in RIVALS if best else ():
        assert best is not None
        gains = [(head, panel.gain(best, rival, b)) for head, b in zip(heads(panel), panel.budgets, strict=True)]
        for word, said in (("worse", "is worse than"), ("not worse", "does not clearly differ from")):
            there = [(head, in_units(panel, gain)) for head, gain in gains if gain and verdict(gain) == word]
            places = "; ".join(f"at {head} kept ({value} {unit(panel)})" for head, value in there)
            if places:
                yield f"- **{name}**: {escape(best)} {said} {rival} {places}"


def _count(panels: Sequence[Panel]) -> str:
    """How often each verdict came for all calibrated LSPs, the unlucky ones too."""
    said = []
    for rival in RIVALS:
        gains = [p.gain(name, rival, b) for p in panels if p.topology_matters for name in p.ours for b in p.budgets]
        found = Counter(verdict(gain) for gain in gains if gain)
        words = ", ".join(f"{found[word]} {word}" for word in ("better", "not worse", "worse"))
        said.append(f"against {rival} {words}")
    return f"All calibrated LSPs at all shares, on the datasets where topology matters: {'; '.join(said)}."


def _lossless(panels: Sequence[Panel], names: Mapping[Panel, str]) -> Iterator[str]:
    yield (
        "In brackets the ratio to random's share. *none*: no share measured is lossless, which counts as 100 % in a "
        "ratio; the smallest share measured stands for all below it. Last column: the mean ratio over the datasets "
        "where topology matters, and their number."
    )
    methods = list(dict.fromkeys(method for panel in panels for method in panel.methods))
    rows = []
    for method in methods:
        cells = [_with_ratio(panel, method) for panel in panels]
        if any(cells):
            mean = _mean_ratio(panels, dict.fromkeys(panels, method))
            rows.append([escape(method) + _mark(method), *cells, mean])
    best = {panel: panel.best_lsp for panel in panels}
    rows.append(["*best LSP*", *(_with_ratio(p, name) if (name := best[p]) else "" for p in panels)])
    rows[-1].append(_mean_ratio(panels, best))
    least = {panel: _least(panel) for panel in panels}
    rows.append(["*smallest of the LSPs* ‡", *(_with_ratio(p, name) if (name := least[p]) else "" for p in panels)])
    rows[-1].append(_mean_ratio(panels, least))
    yield _block(table(["method", *(names[panel] for panel in panels), "mean ratio"], rows))
    yield "‡ chosen by the test figures themselves, among many: the luckiest, not what to expect."
    yield _footnote(methods)


def _least(panel: Panel) -> str | None:
    """The calibrated LSP with the smallest lossless share; the first of equals."""
    shares = {name: ratio for name in panel.ours if (ratio := panel.ratio(name)) is not None}
    return min(shares, key=shares.__getitem__) if shares else None


def _with_ratio(panel: Panel, method: str) -> str:
    ratio = panel.ratio(method)
    return _share(panel, method) + ("" if ratio is None else f" ({ratio:.2f})")


def _mark(method: str) -> str:
    return " †" if method in FRESH else ""


def _footnote(methods: Sequence[str]) -> str:
    there = ", ".join(method for method in methods if method in FRESH)
    if not there:
        return ""
    return f"† {there} draws its edges anew in every epoch and is judged on the whole graph: no graph gets smaller."


def _section(panel: Panel, name: str, images: dict[str, bytes]) -> Iterator[str]:
    yield f'<a id="{_slug(panel)}"></a>\n\n### {name}'
    yield _block(reference_lines(panel))
    if not panel.budgets:
        return
    lines = lines_of(panel)
    if lines:
        yield _picture([panel], lines, name, images)
    if panel.best_lsp:
        yield f"Best LSP by validation: {escape(panel.best_lsp)}."
    table_of_all = [*level_table(panel), "", _footnote(panel.methods)]
    yield _folded(f"All methods: test {panel.metric}", table_of_all)
    there = [rival for rival in RIVALS if rival in panel.methods]
    pairs = [line for rival in there for line in (*gain_table(panel, rival), "")]
    if panel.ours and pairs:
        yield _folded(f"Calibrated LSPs against chance, {unit(panel)}", pairs)
    yield _folded("Time", [_times(panel), "", *time_table(panel)])


def _times(panel: Panel) -> str:
    if shared_device(panel):
        return (
            "Runs shared the device, or do not say that they had it to themselves, so that times of epochs do not "
            "compare: median seconds of pruning only."
        )
    return (
        "Median seconds of pruning, charged to the method; under the shares, seconds of a training epoch beside the "
        "unpruned graph's, from runs that had the same device to themselves."
    )


# Consistency


def _overlaps(panels: Sequence[Panel], images: dict[str, bytes]) -> Iterator[str]:
    yield CONSISTENCY
    for panel in panels:
        name = escape(f"{panel.name} ({panel.study})")
        yield _picture([panel], panel.methods, name, images, "Overlap of what two samples keep")
        yield _block(overlap_table(panel))


# Single studies


def _singles(studies: Mapping[str, Sequence[Panel]], images: dict[str, bytes], readme: str) -> Iterator[str]:
    yield "Ours beside the paper's methods, at the shares of its figures."
    yield readme
    for name, panels in studies.items():
        yield f"### Study {escape(name)}"
        for panel in panels:
            title = [f"**{escape(panel.name)}**", ""] if len(panels) > 1 else []
            yield _block([*title, *reference_lines(panel)])
        drawn = [panel for panel in panels if panel.budgets]
        lines = lines_of(drawn[0], others=4) if drawn else []
        if lines:
            yield _picture(drawn, lines, escape(name), images)


# Pieces


def _picture(panels: Sequence[Panel], lines: Sequence[str], name: str, images: dict[str, bytes], what: str = "") -> str:
    """The Markdown of a figure, which is drawn and put among the images."""
    first = panels[0]
    slug = _slug(first) if len(panels) == 1 else _plain(first.study)
    path, number = f"results/{slug}.svg", 2
    while path in images:
        path, number = f"results/{slug}-{number}.svg", number + 1
    images[path] = figures.svg(figures.curves(panels, lines, title=first.name))
    return f"![{what or f'Test {first.metric}'} on {name} against the share of edges kept]({path})"


def _folded(title: str, lines: Sequence[str]) -> str:
    """Lines that the reader opens; the blank line is what makes them Markdown."""
    return f"<details><summary>{escape(title)}</summary>\n\n{_block(lines).strip()}\n\n</details>"


def _block(lines: Sequence[str]) -> str:
    return "\n".join(lines)
