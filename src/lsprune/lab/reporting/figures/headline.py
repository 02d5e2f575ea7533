"""Draw the first picture: test accuracy against the share of edges kept on three graphs, with labels at the lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lsprune.lab.reporting.comparison import Budget, Comparison
from lsprune.lab.reporting.figures.curves import BAND_OPACITY, canvas
from lsprune.lab.reporting.formatting import per_cent
from lsprune.lab.reporting.headline import GRAPHS, Headline
from lsprune.lab.reporting.method_styles import (
    COLOURS,
    RANDOM_BASELINES,
    REFERENCE_PRINT_STYLES,
    PrintStyle,
    print_styles,
)
from lsprune.lab.studies.methods import NO_EDGES, UNPRUNED, catalogue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE_INCHES = (9.0, 3.3)  # about as wide as the text of a README, so that letters are as large as those of the text
LABEL_INCHES = 1.95  # of the first axes: room for labels
LABEL_GAP = 0.085  # between the middles of labels, as a share of the height of the axes
FONT_POINTS = 10.0
OURS = PrintStyle(COLOURS["h0"], 2.6, "o", 7.0, zorder=4)
LEVELS = {UNPRUNED: "all edges", NO_EDGES: "no edges"}
GREY = "#595959"


def draw_headline(headline: Headline) -> Figure:
    """Return the figure: axes for each graph, a line for each method that ends at the whole graph, and two levels."""
    figure, grid = canvas(len(headline.comparisons))
    figure.set_size_inches(*SIZE_INCHES)
    plain = (SIZE_INCHES[0] - LABEL_INCHES) / len(grid)
    grid[0].get_gridspec().set_width_ratios([plain + LABEL_INCHES, *(len(grid) - 1) * [plain]])
    for comparison, title, axes in zip(headline.comparisons, GRAPHS.values(), grid, strict=True):
        starts = {
            **{name: _draw_line(axes, comparison, name, headline) for name in headline.lines},
            **{role: _draw_level(axes, comparison, role, headline.shares[0]) for role in LEVELS},
        }
        axes.set_title(title, loc="left", fontsize=FONT_POINTS, fontweight="bold")
        room = LABEL_INCHES / (plain + LABEL_INCHES) if axes is grid[0] else 0.0
        _format_axes(axes, headline.shares, room)
        if room:
            _label(axes, starts, {**headline.lines, **LEVELS}, headline.shares[0])
    grid[0].set_ylabel("Test accuracy", fontsize=FONT_POINTS)
    about = f"Share of edges kept, %        ({headline.source.model}, means of {headline.runs} runs, 95 % intervals)"
    figure.supxlabel(about, fontsize=FONT_POINTS - 1, color=GREY)
    return figure


def _style(name: str) -> PrintStyle:
    known = catalogue()
    random = print_styles([known[baseline] for baseline in RANDOM_BASELINES])
    return {**random, **REFERENCE_PRINT_STYLES}.get(name, OURS)


def _draw_line(axes: Any, comparison: Comparison, name: str, headline: Headline) -> float:
    """Draw a method with its band, up to the whole graph; return where the line begins."""
    style = _style(name)
    levels = [comparison.estimate(name, Budget(keep=share)) for share in headline.shares]
    known = [level for level in (*levels, comparison.estimate(UNPRUNED)) if level is not None]
    shares = (*headline.shares, 1.0)
    opacity = BAND_OPACITY if style is OURS else BAND_OPACITY / 2
    axes.fill_between(
        shares, [level.low for level in known], [level.high for level in known], color=style.color, alpha=opacity,
        linewidth=0, zorder=style.zorder - 1,
    )  # fmt: skip
    axes.plot(shares, [level.mean for level in known], label=name, **asdict(style))
    return known[0].mean


def _draw_level(axes: Any, comparison: Comparison, role: str, first: float) -> float:
    """Draw the level of a reference; return it."""
    level = comparison.estimate(role)
    assert level is not None
    axes.plot([first, 1.0], [level.mean, level.mean], label=role, **asdict(_style(role)))
    return level.mean


def _format_axes(axes: Any, shares: Sequence[float], room: float) -> None:
    """Set a logarithmic axis of shares with `room` for labels on the left, as a share of the width."""
    ticks = [share for share in (*shares, 1.0) if share != 0.75]  # too near to its neighbours
    low, high = shares[0] / 1.12, 1.12
    axes.set_xscale("log")
    axes.set_xlim(low / (high / low) ** (room / (1 - room)), high)
    axes.set_xticks(ticks)
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter(lambda share, _: per_cent(share).removesuffix(" %"))
    axes.locator_params(axis="y", nbins=5)
    axes.tick_params(labelsize=FONT_POINTS - 1)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, axis="y", color="#e3e3e3", linewidth=0.6)
    axes.set_axisbelow(True)


def _label(axes: Any, starts: dict[str, float], labels: dict[str, str], first: float) -> None:
    """Write the label of each line on its left, in its colour, with a thin line to where it begins."""
    low, high = axes.get_ylim()
    names = sorted(starts, key=starts.__getitem__)
    places = spread([starts[name] for name in names], LABEL_GAP * (high - low))
    axes.set_ylim(min(low, places[0] - LABEL_GAP * (high - low)), max(high, places[-1] + LABEL_GAP * (high - low)))
    for name, place in zip(names, places, strict=True):
        colour = GREY if name == "random" else _style(name).color
        weight = "bold" if _style(name) is OURS else "normal"
        axes.annotate(
            labels[name], (first, starts[name]), (first / 1.35, place), color=colour, fontsize=FONT_POINTS - 0.5,
            fontweight=weight, ha="right", va="center", parse_math=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 4},
        )  # fmt: skip


def spread(values: Sequence[float], gap: float) -> list[float]:
    """Return places for labels as near to the sorted values as they can be, at least `gap` apart.

    >>> spread([0.0, 0.5, 9.0], gap=1.0)
    [-0.25, 0.75, 9.0]
    """
    groups: list[tuple[float, int]] = []  # mean of value - rank * gap, and size; neighbours that overlap are merged
    for rank, value in enumerate(values):
        mean, size = value - rank * gap, 1
        while groups and groups[-1][0] > mean:
            other, count = groups.pop()
            mean, size = (mean * size + other * count) / (size + count), size + count
        groups.append((mean, size))
    means = [mean for mean, size in groups for _ in range(size)]
    return [mean + rank * gap for rank, mean in enumerate(means)]
