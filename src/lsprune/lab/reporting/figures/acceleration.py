"""Draw relative time against the share of edges kept, and the accuracy of serving against its latency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lsprune.lab.reporting.acceleration import FASTEST, ORDINARY, PATHS, Acceleration
from lsprune.lab.reporting.figures.curves import canvas
from lsprune.lab.reporting.formatting import per_cent
from lsprune.lab.reporting.method_styles import print_styles
from lsprune.lab.reporting.serving import ServingResults
from lsprune.lab.studies.methods import find_method

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0b6e69", "#c2571a", "#5b4b9a", "#8a6d00", "#b0305c", "#3b6fb6")  # one for each model
PATH_LINES = {ORDINARY: ("-", "o"), FASTEST: ("--", "s")}


def draw_accelerations(groups: Sequence[Acceleration]) -> Figure:
    """Return a figure of relative epoch times on one device, with axes for each dataset.

    Models have colours; the ordinary path is a solid line, the fastest a dashed one, and time in proportion to edges a
    dotted one.
    """
    datasets = list(dict.fromkeys(group.dataset for group in groups))
    models = list(dict.fromkeys(group.model for group in groups))
    figure, grid = canvas(len(datasets))
    handles: dict[str, Any] = {}
    for dataset, axes in zip(datasets, grid, strict=True):
        (handles["proportional"],) = axes.plot([0, 1], [0, 1], ":", color="#888888", linewidth=1)
        for group in (group for group in groups if group.dataset == dataset):
            handles |= _draw_model(axes, group, COLOURS[models.index(group.model) % len(COLOURS)])
        axes.set_title(dataset, loc="left").set_parse_math(False)
        axes.set(xlabel="Share of edges kept", ylabel="Relative epoch time", xlim=(0, 1.05), ylim=(0, None))
        _format_axes(axes)
    figure.legend(handles.values(), handles.keys(), loc="outside right upper", frameon=False, handlelength=3)
    return figure


def _draw_model(axes: Any, group: Acceleration, colour: str) -> dict[str, Any]:
    """Draw the paths of a model; return the lines by label."""
    handles = {}
    for path in PATHS:
        points = [(point.share, point.epoch) for point in group.points(path) if point.epoch is not None]
        if points:
            line, marker = PATH_LINES[path]
            label = f"{group.model.upper()}, {path}"
            look = {"linestyle": line, "marker": marker, "color": colour, "markersize": 4, "linewidth": 1.4}
            (handles[label],) = axes.plot(*zip(*points, strict=True), **look)
    return handles


def draw_servings(groups: Sequence[ServingResults]) -> Figure:
    """Return a figure of the accuracy of serving against its latency, with axes for each dataset and model."""
    figure, grid = canvas(len(groups))
    names = list(dict.fromkeys(name for group in groups for name in group.methods))
    styles, handles = print_styles([find_method(name) for name in names]), dict[str, Any]()
    for group, axes in zip(groups, grid, strict=True):
        whole, size = group.accuracy, group.batch_sizes[-1]
        if whole is not None:
            handles["whole graph"] = axes.axhline(whole.mean, color="black", linestyle=":", linewidth=1)
        slowest = 1.0
        for name in group.methods:
            points = [(p.batches[size], p.accuracy.mean) for p in group.points(name) if size in p.batches]
            if points:
                slowest = max(slowest, *(latency for latency, _ in points))
                (handles[name],) = axes.plot(*zip(*points, strict=True), **asdict(styles[name]))
        axes.set_title(f"{group.dataset}, {group.model.upper()}", loc="left").set_parse_math(False)
        axes.set(xlabel=f"Relative latency of {size:,} nodes", ylabel="Test accuracy", xlim=(0, 1.05 * slowest))
        _format_axes(axes)
    figure.legend(handles.values(), handles.keys(), loc="outside right upper", frameon=False, handlelength=3)
    return figure


def _format_axes(axes: Any) -> None:
    axes.xaxis.set_major_formatter(lambda share, _: per_cent(share))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
