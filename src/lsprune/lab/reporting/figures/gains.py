"""Draw differences with their intervals, a line for each dataset: which are clear, and which are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprune.errors import OptionError
from lsprune.lab.reporting.figures.curves import canvas
from lsprune.lab.reporting.statistics import PairedDifference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {1: "#0072B2", 0: "#777777", -1: "#D55E00"}  # good, unclear, bad
WIDTH_INCHES, ROW_INCHES, MARGIN_INCHES = 8.4, 0.25, 1.0


@dataclass(frozen=True)
class Bar:
    """A difference of a score on one dataset.

    Args:
        sign: 1 if it is clearly good, -1 if it is clearly bad, else 0.
    """

    label: str
    gain: PairedDifference
    sign: int


def draw_gains(bars: Sequence[Bar], axis: str) -> Figure:
    """Return a figure of the differences in points, the largest on top.

    Args:
        axis: what is drawn, the label of the axis.
    """
    if not bars:
        raise OptionError("bars must have at least one difference, got none")
    figure, (axes,) = canvas(1)
    figure.set_size_inches(WIDTH_INCHES, MARGIN_INCHES + ROW_INCHES * len(bars))
    ordered = sorted(bars, key=lambda bar: (bar.gain.difference, bar.label))
    for place, bar in enumerate(ordered):
        low, middle, high = (100 * value for value in (bar.gain.low, bar.gain.difference, bar.gain.high))
        axes.plot([low, high], [place, place], color=COLOURS[bar.sign], linewidth=2.0, solid_capstyle="butt")
        axes.plot([middle], [place], color=COLOURS[bar.sign], marker="o", markersize=6.0)
    axes.axvline(0, color="#000000", linewidth=1.0, zorder=1)
    axes.set_yticks(range(len(ordered)), [bar.label for bar in ordered])
    for text in axes.get_yticklabels():
        text.set_parse_math(False)
    axes.set_ylim(-0.7, len(ordered) - 0.3)
    axes.set_xlabel(axis)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(True, axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure
