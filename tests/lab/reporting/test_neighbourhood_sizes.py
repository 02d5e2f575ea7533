from __future__ import annotations

import pytest
from report_records import sizes

from lsprune.lab.reporting.neighbourhood_sizes import NeighbourhoodSizes
from lsprune.lab.reporting.records import methods_of
from lsprune.lab.reporting.statistics import estimate


def of(records):
    return NeighbourhoodSizes("cora", records, methods_of(records, "here"))


def test_points_are_means_over_seeds_the_smallest_share_first():
    result = of(sizes()[::-1])
    assert (result.hops, sorted(result.methods)) == ([1, 3], ["lsp-projection", "random"])
    points = result.points("random", 3)
    assert [(point.keep, point.share) for point in points] == [(0.2, 0.2), (0.6, 0.6)]
    assert points[0].variance.mean == pytest.approx(200.5)
    assert points[0].variance == estimate([201.0, 200.0])
    assert result.unpruned(1).mean == pytest.approx(10.5)


def test_hops_that_were_not_measured_have_no_points():
    records = [{**record, "variance": {"1": 1.0}} for record in sizes() if record["run"]["method"] != "unpruned"]
    result = of(records)
    assert result.points("random", 3) == []
    assert result.unpruned(1) is None
