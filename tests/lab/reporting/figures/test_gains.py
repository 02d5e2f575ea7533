from __future__ import annotations

import pytest

from lsprune.errors import OptionError
from lsprune.lab.reporting.figures.gains import COLOURS, Bar, draw_gains
from lsprune.lab.reporting.statistics import PairedDifference

pytest.importorskip("matplotlib")

BARS = [
    Bar("cora", PairedDifference(-0.02, -0.03, -0.01, 0.1, 5), -1),
    Bar("$x$", PairedDifference(0.04, 0.02, 0.05, 0.1, 5), 1),
    Bar("cs", PairedDifference(0.0, -0.01, 0.01, 1.0, 5), 0),
]


def test_each_difference_is_a_line_in_points_with_the_largest_on_top():
    axes = draw_gains(BARS, "points").axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["cora", "cs", "$x$"]
    intervals = [line for line in axes.get_lines() if len(line.get_xdata()) == 2 and line.get_linewidth() == 2.0]
    assert [list(line.get_xdata()) for line in intervals] == [[-3, -1], [-1, 1], [2, 5]]
    assert [line.get_color() for line in intervals] == [COLOURS[-1], COLOURS[0], COLOURS[1]]
    assert axes.get_xlabel() == "points"


def test_more_differences_make_a_taller_figure():
    assert draw_gains(BARS * 4, "points").get_size_inches()[1] > draw_gains(BARS, "points").get_size_inches()[1]


def test_nothing_to_draw_is_an_error():
    with pytest.raises(OptionError, match="at least one difference"):
        draw_gains([], "points")
