"""Figures for print: those of a study as PNG, SVG or PDF, small type, fonts inside, the same bytes every time."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprune.errors import MissingDependency, OptionError
from lsprune.files.atomic_write import atomic_write
from lsprune.lab.reporting.figures import curves, looks
from lsprune.lab.reporting.html_data import variance_data
from lsprune.lab.reporting.panels import Panel, lines_of
from lsprune.lab.reporting.records import Record
from lsprune.lab.reporting.result_lines import Source, read_sources, result_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
WIDTH = 6.5  # inches, the text of a page
THINNER = 0.75  # lines and markers, which are made for a page twice as wide
# Type 42 puts whole TrueType fonts into a PDF, which journals ask for; letters in an SVG are paths, so that they look
# the same everywhere.
STYLE: dict[Any, Any] = {
    "font.size": 8.0, "axes.linewidth": 0.6, "legend.fontsize": 7.0, "pdf.fonttype": 42, "svg.fonttype": "path",
    "svg.hashsalt": "lsprune", "savefig.dpi": 300,
}  # fmt: skip
# Nothing that changes from one run to the next: no dates, no versions.
UNDATED = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def write_figures(name: str, results: Path, out: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write the figures of a study, one for each dataset; everything is drawn before anything is written.

    Args:
        name: a study with a file in `results`, or such a file itself.
        formats: some of png, svg and pdf.
    """
    wrong = [one for one in formats if one not in FORMATS]
    if wrong or not formats:
        raise OptionError(f"format must be some of {', '.join(FORMATS)}, by commas, got {', '.join(wrong) or 'none'}")
    if out.exists() and not out.is_dir():
        raise OptionError(f"out must be a folder, got the file {out}")
    files = draw(_source(name, results), formats)
    out.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        with atomic_write(out / path) as handle:
            handle.write(content)
    return [out / path for path in files]


def _source(name: str, results: Path) -> Source:
    path = Path(name) if name.endswith(".jsonl") else results / f"{name}.jsonl"
    if not path.is_file():
        there = ", ".join(one.stem for one in result_files(results)) or "none"
        raise OptionError(f"study must be one with results in {results} ({there}), or a .jsonl file, got {name!r}")
    return read_sources([path])[0]


def draw(source: Source, formats: Sequence[str]) -> dict[str, bytes]:
    """The bytes of each file, by its name."""
    datasets: dict[str, list[Panel]] = {}
    for panel in source.panels:
        if panel.methods:
            datasets.setdefault(panel.dataset, []).append(panel)
    # The lines are those that validation chose in the first panel; a measurement has no validation, and all of them.
    drawings = [(name, partial(_curves, panels, lines_of(panels[0]))) for name, panels in datasets.items()]
    drawings += [(one.dataset, partial(_curves, [one], one.methods)) for one in source.overlaps if one.methods]
    drawings += [(name, partial(_variance, name, records)) for name, records in source.variance.items()]
    if not drawings:
        raise OptionError(f"{source.path} has no run with a pruned graph, so that there is nothing to draw")
    files: dict[str, bytes] = {}
    for dataset, drawing in drawings:
        stem = _free(_plain("-".join(dict.fromkeys((source.path.stem, dataset)))), {Path(name).stem for name in files})
        files |= {f"{stem}.{one}": content for one, content in _print(drawing, formats).items()}
    return files


def _print(drawing: Callable[[], Figure], formats: Sequence[str]) -> dict[str, bytes]:
    """One figure in all formats, drawn and saved in the same style."""
    try:
        from matplotlib import rc_context
    except ImportError as error:
        raise MissingDependency(
            "lsprune.lab.reporting.print_figures needs matplotlib: pip install 'lsprune[plots]'"
        ) from error
    with rc_context(STYLE):
        figure = drawing()
        return {one: _bytes(figure, one) for one in formats}


def _curves(panels: Sequence[Panel], methods: Sequence[str]) -> Figure:
    """The metric against the share, a panel for each target."""
    figure = curves(panels, methods, title=panels[0].name)
    wide, high = figure.get_size_inches()
    figure.set_size_inches(WIDTH, WIDTH * high / wide)
    drawn = [line for axes in figure.axes for line in axes.get_lines()]
    for line in [*drawn, *(line for legend in figure.legends for line in legend.get_lines())]:
        line.set_linewidth(THINNER * line.get_linewidth())
        line.set_markersize(THINNER * line.get_markersize())
    return figure


def _variance(dataset: str, records: list[Record]) -> Figure:
    """The variance of neighbourhood sizes against the share, a panel for each number of hops, the paper's too."""
    from matplotlib.figure import Figure

    data = variance_data(dataset, records)
    methods = {one["name"]: one["lines"] for one in data["methods"]}
    wide = min(len(data["hops"]), 3)
    high = -(-len(data["hops"]) // wide)
    figure = Figure(figsize=(WIDTH, 2.1 * high + 0.3), layout="constrained")
    grid = figure.subplots(high, wide, squeeze=False).ravel().tolist()
    for axes in grid[len(data["hops"]) :]:
        axes.set_visible(False)
    handles: dict[str, Any] = {}
    for hop, axes in zip(data["hops"], grid, strict=False):
        for name, look in looks(list(methods)).items():
            across, up = (
                list(column) for column in zip(*(point[:2] for point in methods[name][str(hop)]), strict=True)
            )
            size, line = THINNER * look.markersize, THINNER * look.linewidth
            (handles[name],) = axes.plot(
                across,
                up,
                color=look.color,
                linestyle=look.linestyle,
                marker=look.marker,
                markersize=size,
                linewidth=line,
            )
        theirs = data["paper"].get(str(hop), [])
        if theirs:
            (handles["the paper"],) = axes.plot(
                *zip(*theirs, strict=True), "o", color="black", mfc="white", markersize=4
            )
        axes.set_title(f"{hop} hop{'' if hop == 1 else 's'}", loc="left")
        axes.set(yscale="log", xlabel="Share of edges kept", ylabel="Variance")
        axes.spines[["top", "right"]].set_visible(False)
    legend = figure.legend(handles.values(), handles.keys(), loc="outside right upper", frameon=False)
    for text in (*legend.get_texts(), figure.suptitle(dataset, x=0.01, ha="left")):
        text.set_parse_math(False)
    return figure


def _bytes(figure: Figure, kind: str) -> bytes:
    target = io.BytesIO()
    figure.savefig(target, format=kind, facecolor="white", metadata=UNDATED[kind])
    return target.getvalue()


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80] or "figure"


def _free(stem: str, taken: set[str]) -> str:
    number, free = 2, stem
    while free in taken:
        free, number = f"{stem}-{number}", number + 1
    return free
