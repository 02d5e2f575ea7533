"""Draw the test metric against the share of edges kept, with 95 % bands.

matplotlib is imported when the first figure is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lsprune.errors import MissingDependency, OptionError
from lsprune.lab.reporting.comparison import Comparison
from lsprune.lab.reporting.formatting import METRIC_LABELS, per_cent
from lsprune.lab.reporting.method_styles import REFERENCE_LABELS, REFERENCE_PRINT_STYLES, PrintStyle, print_styles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BAND_OPACITY = 0.16  # of the interval of a thick line; thin ones have a third
EMPHASISED_WIDTH = 1.5
TICK_SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
MAX_COLUMNS = 3


def draw_curves(comparisons: Sequence[Comparison], methods: Sequence[str], *, title: str = "") -> Figure:
    """Return a figure of the test metric at the best validation epoch, with axes for each dataset or target.

    Args:
        methods: those drawn as lines; the unpruned graph and no edges are horizontal lines wherever they were run.
    """
    if not any(comparison.budgets_of(name) for comparison in comparisons for name in methods):
        raise OptionError("methods must have at least one point in these comparisons, got none")
    figure, grid = canvas(len(comparisons))
    defined = {name: method for comparison in comparisons for name, method in comparison.defined.items()}
    styles, references = print_styles([defined[name] for name in methods]), dict[str, Any]()
    for comparison, axes in zip(comparisons, grid, strict=True):
        references |= _draw_references(axes, comparison)
        lines = {name: _draw_line(axes, comparison, name, style) for name, style in styles.items()}
        heading = axes.set_title(title if len(comparisons) == 1 else comparison.name, loc="left", fontsize="large")
        heading.set_parse_math(False)
        _format_axes(axes, comparison, small=len(comparisons) > 1)
    order = (REFERENCE_LABELS[role] for role in REFERENCE_PRINT_STYLES)
    handles = {**{label: references[label] for label in order if label in references}, **lines}
    legend = figure.legend(handles.values(), handles.keys(), loc="outside right upper", frameon=False, handlelength=3)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return figure


def canvas(count: int) -> tuple[Figure, list[Any]]:
    """Return an empty figure with so many axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependency(
            "lsprune.lab.reporting.figures needs matplotlib: pip install 'lsprune[plots]'"
        ) from error
    columns = min(count, MAX_COLUMNS)
    rows = -(-count // columns)
    size = (8.4, 4.6) if count == 1 else (3.6 * columns + 2.2, 3.0 * rows)
    figure = Figure(figsize=size, dpi=110, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axes in grid[count:]:
        axes.set_visible(False)
    return figure, grid[:count]


def _draw_references(axes: Any, comparison: Comparison) -> dict[str, Any]:
    """Draw horizontal lines for the whole graph and for no edges; return them by label."""
    handles = {}
    for role, style in REFERENCE_PRINT_STYLES.items():
        level, label = comparison.estimate(comparison.in_role(role)), REFERENCE_LABELS[role]
        if level is None:
            continue
        if level.runs > 1:
            axes.axhspan(level.low, level.high, color=style.color, alpha=0.08, linewidth=0, zorder=1)
        handles[label] = axes.axhline(level.mean, label=label, **asdict(style))
    return handles


def _draw_line(axes: Any, comparison: Comparison, method: str, style: PrintStyle) -> Any:
    """Draw a method and its band over the shares at which it was run; return the line."""
    cells = [(comparison.share(method, b), comparison.estimate(method, b)) for b in comparison.budgets_of(method)]
    points = sorted(((share, level) for share, level in cells if share > 0 and level is not None), key=lambda p: p[0])
    shares = [share for share, _ in points]
    opacity = BAND_OPACITY if style.linewidth > EMPHASISED_WIDTH else BAND_OPACITY / 3
    axes.fill_between(
        shares, [level.low for _, level in points], [level.high for _, level in points],
        where=[level.runs > 1 for _, level in points], color=style.color, alpha=opacity, linewidth=0,
        zorder=style.zorder - 1,
    )  # fmt: skip
    (line,) = axes.plot(shares, [level.mean for _, level in points], label=method, **asdict(style))
    return line


def _format_axes(axes: Any, comparison: Comparison, small: bool) -> None:
    """Set a logarithmic axis of shares in per cent, labels and a light grid; small axes have fewer ticks."""
    axes.set_xscale("log")
    shares = [share for share in map(comparison.column_share, comparison.budgets) if share > 0]
    low, high = min(shares, default=0.05), max(shares, default=1.0)
    axes.set_xlim(low / 1.12, max(high * 1.12, low * 1.5))
    ticks = [tick for tick in TICK_SHARES if low / 1.12 <= tick <= high * 1.12 and not (small and tick == 0.75)]
    axes.set_xticks(ticks or [low])
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter(lambda share, _: per_cent(share))
    axes.set(xlabel="Share of edges kept", ylabel=METRIC_LABELS.get(comparison.metric, comparison.metric))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
