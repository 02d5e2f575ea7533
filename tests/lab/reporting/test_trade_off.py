from __future__ import annotations

import pytest
from lab_records import comparison, comparison_maker

from lsprune.lab.reporting.timing import timing_of
from lsprune.lab.reporting.trade_off import trade_off

compared = pytest.fixture(comparison_maker, name="compared")


def test_no_point_of_the_front_is_beaten_and_all_others_are(compared):
    records = comparison(methods=("unpruned", "no-edges", "random", "lsp-projection", "cosine", "dropedge"))
    panel = compared(records)
    result = trade_off(panel, timing_of(panel))
    assert result.cost == "seconds"
    points = [(point.cost, point.metric) for point in result.front]
    cells = [
        (0.1 + panel.share(*cell), panel.estimate(*cell).mean)
        for cell in panel.cells
        if cell[0] not in ("no-edges", "dropedge")
    ]
    for x, y in cells:
        beaten = any(a <= x + 1e-6 and b >= y - 1e-6 for a, b in points)
        assert beaten, (x, y)
    assert points == sorted(points) and len({y for _, y in points}) == len(points)
    shared = compared(comparison(jobs=2))
    assert trade_off(shared, timing_of(shared)).cost == "share"


def test_the_front_of_errors_goes_down(compared):
    panel = compared(comparison(mae=True))
    heights = [point.metric for point in trade_off(panel, timing_of(panel)).front]
    assert heights == sorted(heights, reverse=True) and len(heights) > 1
