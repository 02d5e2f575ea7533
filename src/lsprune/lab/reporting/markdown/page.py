"""Make the pages of results: `results/*.jsonl` in, Markdown files and their figures out, the same bytes every time.

`results.md` is the summary, `comparison.md` has the tables over all datasets, `by-dataset.md` has the rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from lsprune.errors import OptionError
from lsprune.files.atomic_write import atomic_write
from lsprune.lab.reporting.comparison import Comparison, StudyResults, read_studies
from lsprune.lab.reporting.figures import files as figure_files
from lsprune.lab.reporting.figures.curves import draw_curves
from lsprune.lab.reporting.figures.headline import draw_headline
from lsprune.lab.reporting.headline import find_headline
from lsprune.lab.reporting.markdown import paper_page
from lsprune.lab.reporting.markdown.acceleration_page import acceleration_page
from lsprune.lab.reporting.markdown.overview import Overview
from lsprune.lab.reporting.markdown.summary import (
    best_lossless_table,
    every_epoch_footnote,
    lossless_table,
    no_help_lines,
    other_shares,
    summary_table,
    verdict_counts,
)
from lsprune.lab.reporting.markdown.syntax import Headings, anchor, anchor_of, block, escape, folded
from lsprune.lab.reporting.markdown.tables import (
    gain_table,
    level_table,
    overlap_table,
    reference_lines,
    time_note,
    time_table,
    unit_of,
)
from lsprune.lab.reporting.markdown.topic_tables import (
    auto_table,
    needed_table,
    point_table,
    shared_table,
    sides_table,
)
from lsprune.lab.reporting.method_styles import AUTO_METHODS, UPPER_BOUND

HEADLINE = "results/accuracy.svg"  # the README shows it, too
SUMMARY, TABLES, DATASETS, SPEED = "results.md", "comparison.md", "by-dataset.md", "acceleration.md"
COMPARED = "compare"  # files of this name, or of one that begins with it and a hyphen, are compared in full
MIN_SUMMARY_SHARES = 3  # that a dataset is run at, to be in the summary
NOT_COMPARED = "The comparison of all methods has not been run yet."
AUTO = f"""\
Neither uses a label. `LSP(hash="auto", select="bottom")` ({AUTO_METHODS[1]}) chooses family, options and parts by
how well the kept edges survive noise. `LSP(hash="auto", weights="auto")` ({AUTO_METHODS[0]}) also prefers neighbours
that are similar to the owner, where that survives noise as well and less than a third of the edges is kept. This third
is the only value that was chosen by validation, once for all graphs."""

NEEDED = """\
The smallest share measured from which on its mean is at least what random has at a larger share; 100 % where none is
enough. The smallest share measured stands for all below it, so the true ratio may be smaller."""

SIDES = """\
An edge belongs to the node that receives its messages (`side="in"`, our default) or to the node that sends them
(`side="out"`, as in the paper's runs); the owner chooses which of its edges to keep. The gain of methods with
`side="out"` over the same method with `side="in"` at the same share, and over k random out-neighbours (points, or units
of MAE):"""

SHARED = """\
A budget that all relations share, by a common level, against the same pruner with a budget for each relation, at the
same share of all edges:"""

CONSISTENCY = f"""\
Two samples of a class have the same edges, with noise on all vectors and a few nodes missing. The number is the mean
Jaccard overlap of what they keep among the edges that both have (1: the same edges survive), over 28 pairs a class.
Set, pairs and functions are drawn again for every seed, and pruners are fitted on other samples. *{UPPER_BOUND}*
keeps the first edges of a list, whose order survives the noise here: an upper bound that few real graphs offer."""

HOW = """\
Every number is a test metric at the best validation epoch. Means are over seeds, brackets are 95 % bootstrap
intervals. Methods in one column keep the same share of the edges. Differences are paired by seed, and
**positive is better**, for errors too; points are hundredths of the metric.

- *Better*: the whole interval is above zero; *unclear*: it reaches zero; *worse*: all of it is below. One or two
  runs get no verdict.
- *k random neighbours* are the method `local-random`: each node keeps k random ones of its edges. *Random*, the method
  `random`, draws edges of the whole graph.
- *Topology matters*: the whole graph is better than no edges.
- *Lossless share*: the smallest share measured from which on every interval reaches the unpruned mean less half a
  point (0.01 for MAE); empty for a method that was not run at every share.
- *Best LSP*: the LSP method with the best **validation** metric over the runs that all of them have, among those that
  were run at every share and at least half as often as any. The paper's presets are not among them. No test metric
  chooses a method here, or a line in a plot.

Intervals of few runs are too narrow: on normal data those of 5 runs contain the true mean in 84 % of the cases, those
of 3 in 76 %, so about one in twelve (one in nine) of equal methods looks *better*."""


@dataclass(frozen=True)
class Pages:
    """Markdown by the name of its file, and the bytes of the figures that it shows, by their path beside it."""

    texts: Mapping[str, str]
    images: Mapping[str, bytes]


def write_page(results: Path, out: Path) -> list[Path]:
    """Write `out/results.md`, the pages behind it and `out/results/*.svg`; return their paths, the summary last.

    Measurements of time get a page of their own, `out/acceleration.md`, and so do the paper's figures, `out/paper.md`.
    Everything is made before anything is written.
    """
    pages = make_pages(results, quote(Path(os.path.relpath(results, out)).as_posix()))
    (out / "results").mkdir(parents=True, exist_ok=True)
    texts = {name: text.encode() for name, text in pages.texts.items()}
    files = {**pages.images, **texts}  # the pages last: their figures always exist
    for name, content in files.items():
        with atomic_write(out / name) as handle:
            handle.write(content)
    return [out / name for name in files]


def make_pages(results: Path, link: str = "../results") -> Pages:
    """Return the pages of a folder of results, the summary last.

    Args:
        link: the path from the pages to that folder.
    """
    studies = read_studies([results])
    compared = [comparison for study in studies if _is_compared(study) for comparison in study.comparisons]
    single = [study for study in studies if study.comparisons and not _is_compared(study)]
    overlaps = [comparison for study in studies for comparison in study.overlaps if comparison.budgets]
    if not (compared or single or overlaps):
        raise OptionError(f"results must be a folder with runs in files such as cora.jsonl, got {results}")
    timings = [record for study in studies for record in study.timings]
    speed, images = acceleration_page(timings, link) or ("", {})
    made = f"Made from [the lines of every run]({link}) by `lsprune study page`: do not edit."
    notes = results / "notes.md"
    noted = notes.read_text(encoding="utf8").strip() if notes.exists() else ""
    headings = Headings(compared, DATASETS)
    wide = [comparison for comparison in compared if len(comparison.budgets) >= MIN_SUMMARY_SHARES] or compared
    summarised = _each_dataset_once(wide)
    by_dataset = [
        *(["## Datasets"] if compared else []),
        *(part for comparison in compared for part in _dataset(comparison, headings.title(comparison), images)),
        *(["## Do two samples keep the same edges?", *_overlaps(overlaps, images)] if overlaps else []),
        *(["## Single studies", *_single_studies(single, images, _readme(results, link))] if single else []),
    ]
    tables = _tables(compared, wide, summarised, headings) if compared else [NOT_COMPARED]
    everything = [comparison for study in studies for comparison in study.comparisons]
    overview = Overview(everything, summarised, overlaps, timings, frozenset(images))
    behind = f"Behind it: [all methods compared]({TABLES}), with notes, and [every dataset]({DATASETS})."
    pages = {
        TABLES: ["# All methods compared", made, noted, *tables],
        DATASETS: ["# Results by dataset", made, *by_dataset],
        SUMMARY: [
            "# Results",
            f"{made} {behind}",
            _caution(noted),
            *_headline(studies, images),
            *overview.parts(images),
        ],
    }
    texts = {name: "\n\n".join(part for part in parts if part) + "\n" for name, parts in pages.items()}
    others = {SPEED: speed, paper_page.NAME: paper_page.paper_page(studies, results, link)}
    return Pages({**{name: text for name, text in others.items() if text}, **texts}, images)


def _caution(notes: str) -> str:
    """Return what the notes begin with, up to their first heading: what a reader of the summary must know."""
    before, heading, _ = notes.partition("\n## ")
    return before.strip() if heading else ""


def _headline(studies: Sequence[StudyResults], images: dict[str, bytes]) -> Iterator[str]:
    """Yield the picture that the README shows, if there are runs for it."""
    headline = find_headline(studies)
    if headline:
        images[HEADLINE] = figure_files.to_svg(draw_headline(headline))
        yield "## In one picture"
        yield f"![Test accuracy against the share of edges kept, on three graphs]({HEADLINE})"
        yield (
            f"*{escape(headline.source.label)}* is {escape(headline.source.method)} of the study "
            f"{escape(headline.source.study)}. The lines end at the whole graph, where nothing is pruned."
        )


def _is_compared(study: StudyResults) -> bool:
    return study.name == COMPARED or study.name.startswith(f"{COMPARED}-")


def _readme(results: Path, link: str) -> str:
    exists = (results / "README.md").exists()
    return f"Tables of these studies: [{escape(link)}/README.md]({link}/README.md)." if exists else ""


# The comparison of all methods


def _tables(
    comparisons: Sequence[Comparison], wide: Sequence[Comparison], summarised: Sequence[Comparison], headings: Headings
) -> Iterator[str]:
    """Yield the tables over all datasets.

    Args:
        wide: the comparisons that were run at several shares.
        summarised: each dataset of these once.
    """
    narrow = [comparison for comparison in comparisons if comparison not in wide]
    yield "## Summary"
    yield block(summary_table(summarised, headings))
    if other_shares(summarised):
        yield "A dataset that was run at neither of these shares has its smallest ones, and says so."
    yield block(best_lossless_table(summarised, headings))
    yield from _topic("## Auto-calibrated LSP", AUTO, auto_table(wide, headings))
    yield from _topic("### Edges for the same accuracy", NEEDED, needed_table(summarised, headings))
    yield from _topic("## Who decides on an edge", SIDES, sides_table(summarised, headings))
    if narrow:
        yield "## At one share"
        yield block(point_table(narrow, headings))
    yield "## Where LSP does not help"
    yield "The best LSP of each dataset against the random baselines, wherever it is not clearly better."
    lines = [line for comparison in summarised for line in no_help_lines(comparison, headings.title(comparison))]
    yield block(lines or ["- nowhere in these results"])
    yield verdict_counts(summarised)
    yield "## How to read this"
    yield HOW
    yield "## Lossless shares"
    yield from lossless_table(summarised, headings)


def _each_dataset_once(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return each dataset as it was run at most shares, so that none counts twice in a mean."""
    widest = {
        comparison.name: comparison
        for comparison in sorted(comparisons, key=lambda comparison: len(comparison.budgets))
    }
    return [comparison for comparison in comparisons if comparison is widest[comparison.name]]


def _topic(heading: str, text: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield a section, or nothing if its table is empty."""
    if lines:
        yield from (heading, text, block(lines))


def _dataset(comparison: Comparison, title: str, images: dict[str, bytes]) -> Iterator[str]:
    yield f'<a id="{anchor_of(comparison)}"></a>\n\n### {title}'
    yield block(reference_lines(comparison))
    if not comparison.budgets:
        return
    lines = comparison.methods_to_draw()
    if lines:
        yield _figure([comparison], lines, title, images)
    if comparison.best_lsp:
        yield f"Best LSP by validation: {escape(comparison.best_lsp)}."
    levels = [*level_table(comparison), "", every_epoch_footnote([comparison])]
    yield folded(f"All methods: test {comparison.metric}", levels)
    rivals = comparison.random_baselines
    if comparison.lsp_methods and rivals:
        gains = [line for rival in rivals for line in (*gain_table(comparison, rival), "")]
        yield folded(f"LSP methods against random baselines, {unit_of(comparison)}", gains)
    yield folded("Time", [time_note(comparison), "", *time_table(comparison)])


# Consistency and single studies


def _overlaps(comparisons: Sequence[Comparison], images: dict[str, bytes]) -> Iterator[str]:
    yield CONSISTENCY
    for comparison in comparisons:
        title = escape(f"{comparison.name} ({comparison.study})")
        yield _figure([comparison], comparison.methods, title, images, "Overlap of what two samples keep")
        yield block(overlap_table(comparison))


def _single_studies(studies: Sequence[StudyResults], images: dict[str, bytes], readme: str) -> Iterator[str]:
    yield "Our methods beside the paper's, at the shares of its figures."
    yield readme
    for study in studies:
        yield f"### Study {escape(study.name)}"
        for comparison in study.comparisons:
            title = [f"**{escape(comparison.name)}**", ""] if len(study.comparisons) > 1 else []
            yield block([*title, *reference_lines(comparison)])
        pruned = [comparison for comparison in study.comparisons if comparison.budgets]
        lines = pruned[0].methods_to_draw(others=4) if pruned else []
        if lines:
            yield _figure(pruned, lines, escape(study.name), images)
        if gains := shared_table(pruned):
            yield SHARED
            yield block(gains)


def _figure(
    comparisons: Sequence[Comparison], methods: Sequence[str], title: str, images: dict[str, bytes], subject: str = ""
) -> str:
    """Draw a figure, add it to the images and return its Markdown."""
    first = comparisons[0]
    stem = anchor_of(first) if len(comparisons) == 1 else anchor(first.study)
    path, number = f"results/{stem}.svg", 2
    while path in images:
        path, number = f"results/{stem}-{number}.svg", number + 1
    images[path] = figure_files.to_svg(draw_curves(comparisons, methods, title=first.name))
    return f"![{subject or f'Test {first.metric}'} on {title} against the share of edges kept]({path})"
