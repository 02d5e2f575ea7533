from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP, Graph, MissingDependency, OptionError
from lsprune.measure import CollisionCurve, plots

CURVES = {"LSP": {0.4: 0.7, 0.2: 0.5}, "random": {0.2: 0.1, 0.4: 0.3}}
COLLISIONS = {"projection": CollisionCurve((0.0, 1.0), (1.0, 0.4), (0.9, 0.0), chance=0.125)}


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
    with pytest.raises(OptionError, match='side must be "in", "out" or None'):
        plots.degrees(star, {}, side="up")


def test_variance_is_logarithmic_and_has_its_level(matplotlib):
    figure = plots.variance(CURVES, unpruned=9.0, hops=3)
    assert figure.axes[0].get_yscale() == "log" and "3-hop" in figure.axes[0].get_ylabel()
    assert lines(figure)["unpruned"][1] == [9, 9]
    assert "unpruned" not in lines(plots.variance(CURVES))
    assert plots.variance({"gap": {0.1: float("nan"), 0.5: 2.0}}).axes[0].get_yscale() == "log"
    assert plots.variance({"none": {0.0: 0.0, 0.5: 2.0}}).axes[0].get_yscale() == "symlog"


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
