"""Serving is compared with the whole graph, seed by seed."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_geometric")

from timing_records import all_served  # noqa: E402

from lsprune.lab.reporting.serving import servings  # noqa: E402


def test_accuracy_and_latency_are_relative_to_the_whole_graph():
    (group,) = servings(all_served())
    assert group.accuracy.mean == pytest.approx(0.901) and group.accuracy.runs == 3
    assert group.methods == ["lsp-auto", "lsp-projection", "random", "local-random"]
    points = {round(point.share, 6): point for point in group.points("random")}
    assert list(points) == [0.5, 0.25, 0.1]
    assert points[0.5].cost.difference == pytest.approx(-0.05)
    assert points[0.5].inference == pytest.approx(0.6 / 1.1)
    assert points[0.1].batches == pytest.approx({1: 0.1, 1024: 0.1})


def test_without_the_whole_graph_nothing_is_relative():
    (group,) = servings(record for record in all_served() if record["run"]["method"] != "unpruned")
    point = group.points("lsp-auto")[0]
    assert group.accuracy is None and point.cost is None and point.inference is None and point.batches == {}


def test_failures_are_left_out():
    records = [{**record, "error": "no"} for record in all_served()]
    assert servings(records) == []
