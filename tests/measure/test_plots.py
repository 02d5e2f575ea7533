from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP, Graph, MissingDependency, OptionError
from lsprune.measure import CollisionCurve, Spectral, plots, quadratic_error, structure

CURVES = {"LSP": {0.4: 0.7, 0.2: 0.5}, "random": {0.2: 0.1, 0.4: 0.3}}
COLLISIONS = {"projection": CollisionCurve((0.0, 1.0), (1.0, 0.4), (0.9, 0.0), chance=0.125)}


ERRORS = {"LSP": {0.5: Spectral(0.1, 0.2, 0.3, 0.4), 0.25: Spectral(0.5, 0.6, 0.7, 0.8)}}


def shapes() -> dict:
    """The structure of a graph with every second and every fourth edge, and with all."""
    graph, labels = random_graph(0, nodes=20, edges=60), np.arange(20) % 2
    found = {share: structure(graph, np.arange(60) % int(1 / share) == 0, labels) for share in (0.5, 0.25)}
    return {"some": found, "all": {1.0: structure(graph, None, labels)}}


@pytest.fixture
def matplotlib():
    return pytest.importorskip("matplotlib")


def lines(figure) -> dict[str, tuple[list[float], list[float]]]:
    found = {line.get_label(): line.get_data() for line in figure.axes[0].lines}
    return {name: tuple(np.asarray(part).tolist() for part in data) for name, data in found.items()}


def legend(figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


def every_figure() -> list:
    graph = random_graph(0)
    return [
        plots.consistency(CURVES, title="t"),
        plots.collisions(COLLISIONS, title="t"),
        plots.degrees(graph, {"LSP": LSP(k=1).mask(graph)}, title="t"),
        plots.variance(CURVES, unpruned=9.0, hops=3, title="t"),
        plots.scalar(CURVES, "Value", unpruned=0.9, title="t"),
        *(
            plots.structure(shapes(), field, unpruned=shapes()["all"][1.0], title="t")
            for field in plots.STRUCTURE_LABELS
        ),
        *(plots.spectral(ERRORS, field, title="t") for field in plots.SPECTRAL_LABELS),
    ]


def test_every_figure_can_be_saved_and_names_its_axes(matplotlib, tmp_path):
    for number, figure in enumerate(every_figure()):
        axes = figure.axes[0]
        assert axes.get_xlabel() and axes.get_ylabel() and axes.get_title(loc="left") == "t" and len(legend(figure)) > 1
        figure.savefig(tmp_path / f"{number}.png")
        assert (tmp_path / f"{number}.png").read_bytes().startswith(b"\x89PNG")


def test_points_stand_in_order_and_keep_their_names(matplotlib):
    figure = plots.consistency(CURVES)
    assert lines(figure) == {"LSP": ([0.2, 0.4], [0.5, 0.7]), "random": ([0.2, 0.4], [0.1, 0.3])}
    assert legend(figure) == ["LSP", "random"]
    assert figure.axes[0].get_ylim()[0] == 0 and figure.axes[0].get_xlim()[0] == 0


def test_negative_and_missing_values_are_drawn(matplotlib):
    figure = plots.consistency({"a": {0.1: -0.4, 0.2: float("nan"), 0.3: 0.2}})
    assert figure.axes[0].get_ylim()[0] < -0.4
    plots.consistency({"a": {0.1: float("nan")}, "b": {}})


def test_collisions_show_chance_for_edges_only(matplotlib):
    edges, keys = plots.collisions(COLLISIONS), plots.collisions(COLLISIONS, keys=True)
    assert lines(edges)["projection"] == ([0, 1], [1, 0.4]) and lines(edges)["chance"][1] == [0.125, 0.125]
    assert lines(keys) == {"projection": ([0, 1], [0.9, 0])}


def test_degrees_are_the_share_with_at_least_so_many(matplotlib):
    star = Graph.from_edges(np.array([[0] * 4, [1, 2, 3, 4]]))
    found = lines(plots.degrees(star, {"half": np.array([True, True, False, False])}))
    assert found["unpruned"][0][1:3] == [1, 4] and found["unpruned"][1][1:3] == [1, 0.2]
    assert found["half"][0][1:3] == [1, 2] and found["half"][1][1:3] == [0.6, 0.2]
    assert list(lines(plots.degrees(star, {"none": np.zeros(4, bool)}))) == ["unpruned"]
    assert lines(plots.degrees(star, {}, side="in"))["unpruned"][1][0] == 0.8
    with pytest.raises(OptionError, match="side must be one of None, 'in', 'out', got"):
        plots.degrees(star, {}, side="up")


def test_variance_is_logarithmic_and_has_its_level(matplotlib):
    figure = plots.variance(CURVES, unpruned=9.0, hops=3)
    assert figure.axes[0].get_yscale() == "log" and "3-hop" in figure.axes[0].get_ylabel()
    assert lines(figure)["unpruned"][1] == [9, 9]
    assert "unpruned" not in lines(plots.variance(CURVES))
    assert plots.variance({"gap": {0.1: float("nan"), 0.5: 2.0}}).axes[0].get_yscale() == "log"
    assert plots.variance({"none": {0.0: 0.0, 0.5: 2.0}}).axes[0].get_yscale() == "symlog"


@pytest.mark.parametrize("field", plots.STRUCTURE_LABELS)
def test_structure_is_drawn_against_the_share(matplotlib, field):
    found = shapes()
    whole = found.pop("all")[1.0]
    figure = plots.structure(found, field, unpruned=whole)
    half, quarter = (getattr(found["some"][share], field) for share in (0.5, 0.25))
    assert half != quarter
    level = getattr(whole, field)
    assert lines(figure) == {"some": ([0.25, 0.5], [quarter, half]), "unpruned": ([0, 1], [level, level])}
    low, high = figure.axes[0].get_ylim()
    assert low < min(half, quarter, level) and max(half, quarter, level) < high
    assert figure.axes[0].get_ylabel() == plots.STRUCTURE_LABELS[field]
    assert "unpruned" not in lines(plots.structure(found, field))


@pytest.mark.parametrize("at, field", list(enumerate(plots.SPECTRAL_LABELS)))
def test_spectral_errors_are_drawn_above_no_error(matplotlib, at, field):
    figure = plots.spectral(ERRORS, field)
    values = [round(0.5 + at / 10, 1), round(0.1 + at / 10, 1)]
    assert lines(figure) == {"LSP": ([0.25, 0.5], values), "unpruned": ([0, 1], [0, 0])}
    assert figure.axes[0].get_ylim()[0] < 0  # the line of no error is off the axis
    assert figure.axes[0].yaxis.get_major_formatter()(0.5) == "50 %"


def test_measures_can_be_drawn_as_they_come(matplotlib):
    graph = random_graph(0)
    found = {"none": {0.0: quadratic_error(graph, np.zeros(60, bool))}}
    assert lines(plots.spectral(found))["none"] == ([0], [1])
    empty = structure(Graph.from_edges(np.empty((2, 0), int)))
    assert np.isnan(lines(plots.structure({"none": {0.5: empty}}, "largest", unpruned=empty))["none"][1])


def test_a_scalar_has_room_for_all_it_shows(matplotlib):
    def limits(values, unpruned=None):
        return plots.scalar({"a": dict(enumerate(values))}, "v", unpruned=unpruned).axes[0].get_ylim()

    assert limits([0, 100]) == pytest.approx((-2, 105))
    assert limits([0, 100], 200) == pytest.approx((-4, 210))
    assert limits([80, 90], 70) == pytest.approx((68, 92))  # far from 0 and close together
    assert limits([5, 5]) == pytest.approx((-0.1, 5.25))
    assert limits([-4, 1])[0] < -4 and limits([-4, -3])[1] > 0
    assert limits([0]) == limits([float("nan")], float("nan")) == pytest.approx((-0.02, 1.05))


def test_what_cannot_be_drawn_is_named(matplotlib):
    found = {"LSP": {0.5: shapes()["all"][1.0]}}
    with pytest.raises(OptionError, match="field must be one of components, largest, .*, got 'degrees'"):
        plots.structure(found, "degrees")
    with pytest.raises(OptionError, match="field must be one of random_mean, "):
        plots.spectral({}, "largest")
    with pytest.raises(OptionError, match="results must hold a Spectral for each share, got Structure"):
        plots.spectral(found)
    with pytest.raises(OptionError, match="results must hold a Structure for each share, got 0.5"):
        plots.structure({"LSP": {0.5: 0.5}}, "largest")
    bare = {"LSP": {0.5: dataclasses.replace(found["LSP"][0.5], homophily=None)}}
    with pytest.raises(OptionError, match="homophily was not measured: call `structure` with labels"):
        plots.structure(bare, "homophily")
    with pytest.raises(OptionError, match="curves must hold a number for each share, got Structure"):
        plots.scalar(found, "v")


def test_many_lines_differ(matplotlib):
    figure = plots.consistency({str(n): {0.1: 0.5, 0.2: 0.6} for n in range(14)})
    looks = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in figure.axes[0].lines}
    assert len(looks) == 14


def test_no_points_are_named(matplotlib):
    for curves in ({}, {"a": {}}):
        with pytest.raises(OptionError, match="curves must have at least one point"):
            plots.consistency(curves)


def test_importing_the_module_does_not_import_matplotlib():
    code = "import sys, lsprune.measure.plots; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_matplotlib_the_command_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependency, match=r"pip install 'lsprune\[plots\]'"):
        plots.consistency(CURVES)


def test_several_plots_share_a_figure(matplotlib):
    ring = Graph.from_edges(np.array([[0, 1, 2], [1, 2, 0]]))
    figure, axes = plots.canvas(1, 3)
    drawn = [
        plots.scalar({"LSP": {0.5: 1.0}}, "first", axes=axes[0]),
        plots.consistency({"LSP": {0.5: 1.0}}, measure="second", axes=axes[1]),
        plots.degrees(ring, {"LSP": np.array([True, True, False])}, axes=axes[2]),
    ]
    assert all(one is figure for one in drawn)
    assert [one.get_ylabel() for one in figure.axes][:2] == ["first", "second"]
    assert all(one.get_legend() for one in figure.axes)


def test_intervals_are_drawn_from_top_to_bottom(matplotlib):
    figure = plots.intervals(
        {"up": (1.0, 0.5, 1.5), "down": (-1.0, -2.0, -0.5), "unclear $x$": (0.1, -1.0, 1.2)}, "gain"
    )
    axes = figure.axes[0]
    places = {label.get_text(): place for label, place in zip(axes.get_yticklabels(), axes.get_yticks(), strict=True)}
    assert places["up"] > places["down"] and axes.get_xlabel() == "gain"
    colours = [line.get_color() for line in axes.lines[0:6:2]]
    assert len(set(colours)) == 3  # better, worse, unclear
    with pytest.raises(OptionError, match="at least one name"):
        plots.intervals({}, "gain")
