"""Draw the variance of neighbourhood sizes against the share of edges kept, beside the paper's points."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lsprune.lab.reporting import paper
from lsprune.lab.reporting.figures.curves import MAX_COLUMNS
from lsprune.lab.reporting.method_styles import in_order, print_styles
from lsprune.lab.reporting.neighbourhood_sizes import NeighbourhoodSizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINE_SCALE = 0.75  # lines and markers are styled for a page that is wider


def draw_sizes(sizes: NeighbourhoodSizes, width: float) -> Figure:
    """Return a figure of this width in inches, with axes for each number of hops."""
    from matplotlib.figure import Figure

    columns = min(len(sizes.hops), MAX_COLUMNS)
    rows = -(-len(sizes.hops) // columns)
    figure = Figure(figsize=(width, 2.1 * rows + 0.3), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axes in grid[len(sizes.hops) :]:
        axes.set_visible(False)
    handles: dict[str, Any] = {}
    for hops, axes in zip(sizes.hops, grid, strict=False):
        handles |= _draw_hops(axes, sizes, hops)
    legend = figure.legend(handles.values(), handles.keys(), loc="outside right upper", frameon=False)
    for text in (*legend.get_texts(), figure.suptitle(sizes.dataset, x=0.01, ha="left")):
        text.set_parse_math(False)
    return figure


def _draw_hops(axes: Any, sizes: NeighbourhoodSizes, hops: int) -> dict[str, Any]:
    """Draw the lines of one number of hops; return them by label."""
    handles: dict[str, Any] = {}
    for name, style in print_styles(in_order(sizes.defined[name] for name in sizes.methods)).items():
        points = sizes.points(name, hops)
        look = {key: value for key, value in asdict(style).items() if key != "zorder"}
        look |= {key: LINE_SCALE * look[key] for key in ("markersize", "linewidth")}
        (handles[name],) = axes.plot([p.share for p in points], [p.variance.mean for p in points], **look)
    theirs = paper.variance(sizes.dataset).get(str(hops), [])
    if theirs:
        (handles["the paper"],) = axes.plot(*zip(*theirs, strict=True), "o", color="black", mfc="white", markersize=4)
    axes.set_title(f"{hops} hop{'' if hops == 1 else 's'}", loc="left")
    axes.set(yscale="log", xlabel="Share of edges kept", ylabel="Variance")
    axes.spines[["top", "right"]].set_visible(False)
    return handles
