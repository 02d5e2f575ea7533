"""Save figures as SVG for the Markdown page, and as PNG, SVG or PDF for print; equal results give equal bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprune.errors import MissingDependency, OptionError
from lsprune.files.atomic_write import atomic_write
from lsprune.lab.reporting.comparison import Comparison, StudyResults, read_studies
from lsprune.lab.reporting.figures.curves import draw_curves
from lsprune.lab.reporting.figures.sizes import LINE_SCALE, draw_sizes
from lsprune.lab.reporting.records import result_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
WIDTH_INCHES = 6.5  # the text of a printed page
# Letters in an SVG are paths, so that they look the same everywhere.
SVG_STYLE: dict[Any, Any] = {"svg.fonttype": "path", "svg.hashsalt": "lsprune"}
# Type 42 embeds whole TrueType fonts into a PDF, which journals ask for.
PRINT_STYLE: dict[Any, Any] = {
    **SVG_STYLE, "font.size": 8.0, "axes.linewidth": 0.6, "legend.fontsize": 7.0, "pdf.fonttype": 42,
    "savefig.dpi": 300,
}  # fmt: skip
# No dates and no versions, which change from one run to the next.
METADATA = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def to_svg(figure: Figure) -> bytes:
    """Return a figure as SVG for a page."""
    from matplotlib import rc_context

    with rc_context(SVG_STYLE):
        return _save(figure, "svg")


def write_figures(name: str, results: Path, out: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write the figures of a study for print, one for each dataset; return their paths.

    Everything is drawn before anything is written.

    Args:
        name: a study with a file in the folder `results`, or such a file itself.
        formats: any of png, svg and pdf.
    """
    unknown = [kind for kind in formats if kind not in FORMATS]
    if unknown or not formats:
        values = ", ".join(unknown) or "none"
        raise OptionError(f"format must be a comma-separated list of {', '.join(FORMATS)}, got {values}")
    if out.exists() and not out.is_dir():
        raise OptionError(f"out must be a folder, got the file {out}")
    files = draw_study(_read(name, results), formats)
    out.mkdir(parents=True, exist_ok=True)
    for file_name, content in files.items():
        with atomic_write(out / file_name) as handle:
            handle.write(content)
    return [out / file_name for file_name in files]


def _read(name: str, results: Path) -> StudyResults:
    path = Path(name) if name.endswith(".jsonl") else results / f"{name}.jsonl"
    if not path.is_file():
        names = ", ".join(file.stem for file in result_files(results)) or "none"
        raise OptionError(f"study must be one with results in {results} ({names}), or a .jsonl file, got {name!r}")
    return read_studies([path])[0]


def draw_study(study: StudyResults, formats: Sequence[str]) -> dict[str, bytes]:
    """Return the bytes of each figure by file name; raise OptionError if there is nothing to draw."""
    datasets: dict[str, list[Comparison]] = {}
    for comparison in study.comparisons:
        if comparison.methods:
            datasets.setdefault(comparison.dataset, []).append(comparison)
    # Validation of the first target chooses the lines; overlaps have no validation, and show all of them.
    drawings: list[tuple[str, Callable[[], Figure]]] = [
        (dataset, partial(print_curves, comparisons, comparisons[0].methods_to_draw()))
        for dataset, comparisons in datasets.items()
    ]
    drawings += [
        (comparison.dataset, partial(print_curves, [comparison], comparison.methods))
        for comparison in study.overlaps
        if comparison.methods
    ]
    drawings += [(sizes.dataset, partial(draw_sizes, sizes, WIDTH_INCHES)) for sizes in study.sizes]
    if not drawings:
        raise OptionError(f"{study.path} has no run with a pruned graph, so there is nothing to draw")
    files: dict[str, bytes] = {}
    for dataset, draw in drawings:
        stem = _file_stem("-".join(dict.fromkeys((study.path.stem, dataset))))
        stem = _unused(stem, {Path(name).stem for name in files})
        files |= {f"{stem}.{kind}": content for kind, content in _print(draw, formats).items()}
    return files


def print_curves(comparisons: Sequence[Comparison], methods: Sequence[str]) -> Figure:
    """Return the curves of a dataset in the size and line width of a printed page."""
    figure = draw_curves(comparisons, methods, title=comparisons[0].name)
    width, height = figure.get_size_inches()
    figure.set_size_inches(WIDTH_INCHES, WIDTH_INCHES * height / width)
    drawn = [line for axes in figure.axes for line in axes.get_lines()]
    for line in [*drawn, *(line for legend in figure.legends for line in legend.get_lines())]:
        line.set_linewidth(LINE_SCALE * line.get_linewidth())
        line.set_markersize(LINE_SCALE * line.get_markersize())
    return figure


def _print(draw: Callable[[], Figure], formats: Sequence[str]) -> dict[str, bytes]:
    """Return a figure in all formats, drawn and saved in the same style."""
    try:
        from matplotlib import rc_context
    except ImportError as error:
        raise MissingDependency(
            "lsprune.lab.reporting.figures needs matplotlib: pip install 'lsprune[plots]'"
        ) from error
    with rc_context(PRINT_STYLE):
        figure = draw()
        return {kind: _save(figure, kind) for kind in formats}


def _save(figure: Figure, kind: str) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format=kind, facecolor="white", metadata=METADATA[kind])
    return content.getvalue()


def _file_stem(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80] or "figure"


def _unused(stem: str, taken: set[str]) -> str:
    number, free = 2, stem
    while free in taken:
        free, number = f"{stem}-{number}", number + 1
    return free
