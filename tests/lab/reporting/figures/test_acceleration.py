"""Figures of acceleration: axes for each dataset, a line for each path."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_geometric")
pytest.importorskip("matplotlib")

from timing_records import all_served, timing  # noqa: E402

from lsprune.lab.reporting.acceleration import accelerations  # noqa: E402
from lsprune.lab.reporting.figures.acceleration import draw_accelerations, draw_servings  # noqa: E402
from lsprune.lab.reporting.serving import servings  # noqa: E402


def test_each_dataset_has_axes_and_each_path_a_line():
    records = [timing(dataset=d, backend=b, share=s) for d in ("computers", "large") for b in ("ordinary", "fused")
               for s in (1.0, 0.2)]  # fmt: skip
    figure = draw_accelerations(accelerations(records))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["computers", "large"]
    lines = figure.axes[0].get_lines()[1:]
    assert len(lines) == 2
    assert lines[0].get_xydata().ravel() == pytest.approx([1.0, 1.0, 0.2, 0.3 / 1.1])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["proportional", "GAT, ordinary", "GAT, fastest"]


def test_serving_shows_accuracy_against_latency():
    figure = draw_servings(servings(all_served()))
    whole, *lines = figure.axes[0].get_lines()
    assert whole.get_ydata()[0] == pytest.approx(0.901)
    assert len(lines) == 4
    assert lines[2].get_xydata().ravel() == pytest.approx([0.5, 0.851, 0.25, 0.826, 0.1, 0.811])
