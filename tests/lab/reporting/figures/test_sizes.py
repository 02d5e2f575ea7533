from __future__ import annotations

import pytest
from report_records import sizes

from lsprune.lab.reporting import paper
from lsprune.lab.reporting.figures.sizes import draw_sizes
from lsprune.lab.reporting.neighbourhood_sizes import NeighbourhoodSizes
from lsprune.lab.reporting.records import methods_of

pytest.importorskip("matplotlib")


def of(dataset):
    return NeighbourhoodSizes(dataset, sizes(), methods_of(sizes(), "here"))


def test_every_number_of_hops_has_its_lines_and_the_papers_points():
    measured = of("cora")
    figure = draw_sizes(measured, 6.5)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == ["1 hop", "3 hops"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["random", "lsp-projection", "the paper"]
    random, _, theirs = shown[1].get_lines()
    assert list(random.get_xdata()) == [0.2, 0.6]
    assert list(random.get_ydata()) == pytest.approx([200.5, 600.5])
    assert list(zip(*theirs.get_data(), strict=True)) == paper.variance("cora")["3"]


def test_a_dataset_that_the_paper_does_not_have_is_drawn_alone():
    figure = draw_sizes(of("$x$"), 6.5)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["random", "lsp-projection"]
    assert figure.get_size_inches()[0] == 6.5
