from __future__ import annotations

import pytest
from lab_records import comparison, save

from lsprune.lab.reporting.comparison import Budget, read_studies
from lsprune.lab.reporting.figures.files import to_svg
from lsprune.lab.reporting.figures.headline import draw_headline, spread
from lsprune.lab.reporting.headline import GRAPHS, find_headline

pytest.importorskip("matplotlib")

METHODS = ("unpruned", "no-edges", "random", "local-random", "lsp-auto-labels")


@pytest.fixture
def headline(tmp_path):
    records = []
    for name in GRAPHS:
        records += comparison(dataset=name, study="choose", methods=METHODS, shares=(0.1, 0.25), seeds=3)
    for record in records:
        record["run"]["model"] = "node-gat-skip"
    return find_headline(read_studies([save(records, tmp_path / "choose.jsonl")]))


def test_lines_are_the_means_of_the_runs_and_end_at_the_whole_graph(headline):
    figure = draw_headline(headline)
    assert len(figure.axes) == len(GRAPHS)
    for axes, one, title in zip(figure.axes, headline.comparisons, GRAPHS.values(), strict=True):
        drawn = {line.get_label(): line for line in axes.lines}
        assert list(drawn) == [*headline.lines, "unpruned", "no-edges"]
        for name in headline.lines:
            means = [one.estimate(name, Budget(keep=share)).mean for share in headline.shares]
            across, up = drawn[name].get_data()
            assert list(across) == [0.1, 0.25, 1.0]
            assert list(up) == pytest.approx([*means, one.estimate("unpruned").mean])
        for role in ("unpruned", "no-edges"):
            assert set(drawn[role].get_ydata()) == {one.estimate(role).mean}
        assert axes.get_title(loc="left") == title
        assert all(axes.get_ylim()[0] < value < axes.get_ylim()[1] for line in axes.lines for value in line.get_ydata())


def test_every_line_has_its_label_beside_it_in_its_colour(headline):
    axes = draw_headline(headline).axes[0]
    labels = {text.get_text(): text for text in axes.texts}
    assert set(labels) == {"LSP.auto", "k random neighbours", "random edges", "all edges", "no edges"}
    places = sorted(text.get_position()[1] for text in labels.values())
    low, high = axes.get_ylim()
    assert min(b - a for a, b in zip(places, places[1:], strict=False)) > 0.06 * (high - low)
    assert low < places[0] and places[-1] < high
    ours = next(line for line in axes.lines if line.get_label() == "lsp-auto-labels")
    assert labels["LSP.auto"].get_color() == ours.get_color()
    assert all(text.get_position()[0] > axes.get_xlim()[0] for text in labels.values())


def test_it_says_what_was_run_and_has_the_same_bytes_every_time(headline):
    assert "(GAT with skip connections, means of 3 runs, 95 % intervals)" in draw_headline(headline).get_supxlabel()
    assert to_svg(draw_headline(headline)) == to_svg(draw_headline(headline))


def test_labels_move_apart_and_stay_in_order():
    assert spread([0.0, 0.0, 0.0], 1.0) == [-1.0, 0.0, 1.0]
    assert spread([0.0, 5.0, 5.5], 1.0) == [0.0, 4.75, 5.75]
    assert spread([1.0], 1.0) == [1.0]
